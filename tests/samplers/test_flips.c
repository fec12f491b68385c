/* SPDX-License-Identifier: MIT */
/* The factorised kernel's loops over two-level variables against sums written out, for every
 * instruction set of the machine and both types. */
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/element.h"
#include "core/rng.h"
#include "samplers/flips.h"

#define MOST 2000
#define BEHIND (-77)

/* One chain's arrays, of the element type but for codes, with one element behind the end, which
 * must stay. */
static double g[MOST + 1], y[MOST + 1], w[MOST + 1], t[MOST + 1], p[MOST + 1], u[MOST + 1];
static double x_new[MOST + 1], norm;
static int32_t code[MOST + 1], code_new[MOST + 1];

/* What is tried. */
typedef struct setup {
    sal_dtype dtype;
    sali_isa isa;
    int64_t n;
    bool weighted;
    const sali_flip_kernel *kernel;
    sali_flips flips;
    double epsilon;
    char what[80];
} setup;

static void fill(const setup *s, double scale, uint64_t step, double *to)
{
    double z[MOST];
    sali_stream stream = { .seed = 5, .step = step, .purpose = SALI_RNG_TEST };
    sali_rng_normal(&stream, s->n, z);
    for (int64_t k = 0; k < s->n; k++) {
        sali_store(s->dtype, to, k, scale * z[k]);
    }
}

static void make_arrays(setup *s)
{
    fill(s, 8, 1, g);
    fill(s, 1, 2, y);
    for (int64_t k = 0; k < s->n; k++) {
        code[k] = k * 7 % 3 == 0;
        sali_store(s->dtype, u, k, ((double)(k * 37 % 64) + 0.5) / 64);
        sali_store(s->dtype, w, k, 0.5 + (double)(k % 5));
    }
    code_new[s->n] = BEHIND;
    sali_store(s->dtype, t, s->n, BEHIND);
    sali_store(s->dtype, p, s->n, BEHIND);
    sali_store(s->dtype, x_new, s->n, BEHIND);
}

static void begin(setup *s)
{
    s->kernel =
        s->dtype == SAL_F32 ? &sali_flip_kernels_f32[s->isa] : &sali_flip_kernels_f64[s->isa];
    s->epsilon = s->dtype == SAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    s->flips = (sali_flips){
        .n = s->n,
        .code = code,
        .lo = -1,
        .hi = 2,
        .alpha = 0.5,
        .beta = 0.25,
        .b = 0.125,
        .g = g,
        .y = y,
        .w = s->weighted ? w : NULL,
        .t = t,
        .p = p,
        .norm = &norm,
    };
    snprintf(s->what, sizeof s->what, "type %d, instructions %d, %d variables%s", (int)s->dtype,
             (int)s->isa, (int)s->n, s->weighted ? ", weighted" : "");
    make_arrays(s);
}

/* What a kernel returns, with the logarithm of the norm times `sign`. */
static double whole(double (*kernel)(const sali_flips *f), const sali_flips *f, int sign)
{
    norm = 1;
    double sum = kernel(f);
    return sum + sign * log(norm);
}

static void for_all(void (*check)(setup *s))
{
    static const int64_t more[] = { 119, 121, 239, 241, 479,  480,  481,
                                    959, 960, 961, 975, 1919, 1921, MOST };
    for (int dtype = 0; dtype < 2; dtype++) {
        for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
            for (int64_t k = 1; k < 71 + (int64_t)(sizeof more / sizeof *more); k++) {
                for (int weighted = 0; weighted < 2; weighted++) {
                    setup s = { .dtype = dtype ? SAL_F64 : SAL_F32,
                                .isa = isa,
                                .n = k < 71 ? k : more[k - 71],
                                .weighted = weighted };
                    begin(&s);
                    check(&s);
                }
            }
        }
    }
}

/* Log-odds of flip k by the text: a (x' - x) + b (x'^2 - x^2) w, a = alpha g + beta w y. */
static double odds_of(const setup *s, int64_t k)
{
    double weight = s->weighted ? sali_load(s->dtype, w, k) : 1;
    double a = 0.5 * sali_load(s->dtype, g, k) + 0.25 * weight * sali_load(s->dtype, y, k);
    double up = a * 3 + 0.125 * weight * (4 - 1);
    return code[k] ? -up : up;
}

static double log_one_more(double odds)
{
    return fmax(odds, 0) + log1p(exp(-fabs(odds)));
}

static void check_prepared(setup *s)
{
    double sum = whole(s->kernel->prepare, &s->flips, 1), want = 0;
    for (int64_t k = 0; k < s->n; k++) {
        double odds = sali_load(s->dtype, t, k), given = odds_of(s, k);
        double chance = 1 / (1 + exp(-odds)), got = sali_load(s->dtype, p, k);
        ck_assert_msg(fabs(odds - given) <= 30 * s->epsilon * (1 + fabs(given)),
                      "%s: t[%d] = %.17g, not %.17g", s->what, (int)k, odds, given);
        ck_assert_msg(fabs(got - chance) <= 4 * s->epsilon * chance, "%s: p[%d] = %.17g, not %.17g",
                      s->what, (int)k, got, chance);
        want += log_one_more(odds);
    }
    ck_assert_msg(fabs(sum - want) <= 16 * s->epsilon * ((double)s->n + want),
                  "%s: sum %.17g, not %.17g", s->what, sum, want);
    ck_assert(sali_load(s->dtype, t, s->n) == BEHIND && sali_load(s->dtype, p, s->n) == BEHIND);
    static double p_again[MOST + 1];
    sali_flips again = s->flips;
    again.p = p_again;
    again.g = again.y = NULL;
    sali_store(s->dtype, p_again, s->n, BEHIND);
    ck_assert_msg(whole(s->kernel->normalise, &again, 1) == sum, "%s: another sum from t", s->what);
    ck_assert_mem_eq(p, p_again, (size_t)(s->n + 1) * sali_dtype_size(s->dtype));
}

START_TEST(flips_are_prepared_as_the_text_says)
{
    for_all(check_prepared);
}
END_TEST

static void check_drawn(setup *s)
{
    s->kernel->prepare(&s->flips);
    s->flips.u = u;
    s->flips.code_new = code_new;
    s->flips.x_new = x_new;
    double sum = s->kernel->draw(&s->flips), want = 0, size = 0;
    for (int64_t k = 0; k < s->n; k++) {
        bool flips = sali_load(s->dtype, u, k) < sali_load(s->dtype, p, k);
        ck_assert_msg(code_new[k] == (flips ? 1 - code[k] : code[k]), "%s: code %d", s->what,
                      (int)k);
        ck_assert_msg(sali_load(s->dtype, x_new, k) == (code_new[k] ? 2 : -1), "%s: real %d",
                      s->what, (int)k);
        want += flips ? sali_load(s->dtype, t, k) : 0;
        size += fabs(sali_load(s->dtype, t, k));
    }
    ck_assert_msg(fabs(sum - want) <= 1e-13 * size, "%s: drawn %.17g, not %.17g", s->what, sum,
                  want);
    ck_assert(code_new[s->n] == BEHIND && sali_load(s->dtype, x_new, s->n) == BEHIND);
    s->flips.to = code_new;
    double weighed = s->kernel->weigh(&s->flips);
    ck_assert_msg(fabs(weighed - want) <= 1e-13 * size, "%s: weighed %.17g, not %.17g", s->what,
                  weighed, want);
}

START_TEST(drawn_flips_are_those_of_the_uniforms_and_weigh_the_same)
{
    for_all(check_drawn);
}
END_TEST

/* In one pass and in two: the same flips, and the same log q. */
static void check_at_once(setup *s)
{
    static double x_again[MOST + 1];
    static int32_t code_again[MOST + 1];
    sali_flips once = s->flips;
    once.t = once.p = NULL;
    once.u = s->flips.u = u;
    once.code_new = code_again;
    once.x_new = x_again;
    s->flips.code_new = code_new;
    s->flips.x_new = x_new;
    code_again[s->n] = BEHIND;
    sali_store(s->dtype, x_again, s->n, BEHIND);
    double log_norm = whole(s->kernel->prepare, &s->flips, 1);
    double want = s->kernel->draw(&s->flips) - log_norm;
    double got = whole(s->kernel->propose, &once, -1);
    double tolerance = 16 * s->epsilon * ((double)s->n + log_norm);
    ck_assert_msg(fabs(got - want) <= tolerance, "%s: proposed %.17g, not %.17g", s->what, got,
                  want);
    for (int64_t k = 0; k <= s->n; k++) {
        ck_assert_msg(code_again[k] == code_new[k] &&
                          sali_load(s->dtype, x_again, k) == sali_load(s->dtype, x_new, k),
                      "%s: variable %d", s->what, (int)k);
    }
    once.to = code_new;
    once.u = NULL;
    once.code_new = NULL;
    once.x_new = NULL;
    got = whole(s->kernel->judge, &once, -1);
    ck_assert_msg(fabs(got - want) <= tolerance, "%s: judged %.17g, not %.17g", s->what, got, want);
}

START_TEST(flips_in_one_pass_are_those_of_two)
{
    for_all(check_at_once);
}
END_TEST

/* A flip that is forbidden never happens and costs nothing; what is no number shows in the sum. */
static void check_limits(setup *s)
{
    int64_t k = s->n / 2;
    code[k] = 0;
    sali_store(s->dtype, g, k, -INFINITY);
    double sum = whole(s->kernel->prepare, &s->flips, 1), want = 0;
    for (int64_t i = 0; i < s->n; i++) {
        want += i == k ? 0 : log_one_more(sali_load(s->dtype, t, i));
    }
    ck_assert_msg(sali_load(s->dtype, p, k) < 1e-37, "%s: forbidden, but has %g", s->what,
                  sali_load(s->dtype, p, k));
    ck_assert_msg(fabs(sum - want) <= 16 * s->epsilon * ((double)s->n + want),
                  "%s: sum %.17g, not %.17g", s->what, sum, want);
    sali_store(s->dtype, g, k, INFINITY);
    ck_assert(whole(s->kernel->prepare, &s->flips, 1) == INFINITY);
    ck_assert(sali_load(s->dtype, p, k) == 1);
    sali_store(s->dtype, g, k, NAN);
    ck_assert_msg(isnan(whole(s->kernel->prepare, &s->flips, 1)), "%s: NaN is lost", s->what);
    s->flips.to = code;
    ck_assert_msg(isnan(whole(s->kernel->judge, &s->flips, -1)), "%s: NaN is lost", s->what);
}

START_TEST(flips_without_bounds_are_certain_and_nan_is_seen)
{
    for_all(check_limits);
}
END_TEST

/* Even odds have the largest factors, 2. A norm that comes with factors keeps them. */
static void check_room(setup *s)
{
    const double before = 60 * log(2), want = (double)s->n * log(2);
    memset(g, 0, sizeof g);
    memset(y, 0, sizeof y);
    s->flips.b = 0;
    s->flips.to = code;
    norm = 0x1p60;
    double sum = s->kernel->prepare(&s->flips) + log(norm) - before;
    ck_assert_msg(fabs(sum - want) <= 1e-12 * (want + before), "%s: prepared %.17g, not %.17g",
                  s->what, sum, want);
    norm = 0x1.8p60;
    sum = s->kernel->judge(&s->flips) - log(norm) + before + log(1.5);
    ck_assert_msg(fabs(sum + want) <= 1e-12 * (want + before), "%s: judged %.17g, not %.17g",
                  s->what, sum, -want);
}

START_TEST(norms_of_even_odds_have_room)
{
    for_all(check_room);
}
END_TEST

static Suite *flips_suite(void)
{
    Suite *suite = suite_create("flips");
    TCase *tcase = tcase_create("flips");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, flips_are_prepared_as_the_text_says);
    tcase_add_test(tcase, drawn_flips_are_those_of_the_uniforms_and_weigh_the_same);
    tcase_add_test(tcase, flips_in_one_pass_are_those_of_two);
    tcase_add_test(tcase, flips_without_bounds_are_certain_and_nan_is_seen);
    tcase_add_test(tcase, norms_of_even_odds_have_room);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(flips_suite());
}
