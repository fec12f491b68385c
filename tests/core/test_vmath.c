/* SPDX-License-Identifier: MIT */
/* vmath against the long double C library, for every instruction set of this machine. */
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/rng.h"
#include "core/vector/vmath.h"
#include "core/vector/vmath_table.h"

static long double sigmoid_reference(long double x)
{
    return 1 / (1 + expl(-x));
}

static long double softplus_reference(long double x)
{
    return fmaxl(x, 0) + log1pl(expl(-fabsl(x)));
}

static long double lgamma_reference(long double x)
{
    return lgammal(x);
}

typedef struct function {
    const char *name;
    void (*f32)(int64_t n, const float *x, float *y);
    void (*f64)(int64_t n, const double *x, double *y);
    long double (*reference)(long double x);
    double ulps; /* promised */
    enum { OF_RESULT, RELATIVE, OF_ONE_IF_NEGATIVE } unit;
} function;

/* A result that is the neighbour of the right one can be a trace more than 1 ulp away. */
#define SLEEF_ULPS 1.0001

/* The functions of one instruction set. */
#define FUNCTIONS 11
static void functions_of(sali_isa isa, function f[FUNCTIONS])
{
    const sali_vmath_table *t = &sali_vmath_tables[isa];
    f[0] = (function){ "exp", t->exp_f32, t->exp_f64, expl, SLEEF_ULPS, OF_RESULT };
    f[1] = (function){ "log", t->log_f32, t->log_f64, logl, SLEEF_ULPS, OF_RESULT };
    f[2] = (function){ "log1p", t->log1p_f32, t->log1p_f64, log1pl, SLEEF_ULPS, OF_RESULT };
    f[3] = (function){ "tanh", t->tanh_f32, t->tanh_f64, tanhl, SLEEF_ULPS, OF_RESULT };
    f[4] = (function){ "sigmoid", t->sigmoid_f32, t->sigmoid_f64, sigmoid_reference, 2, RELATIVE };
    f[5] =
        (function){ "softplus", t->softplus_f32, t->softplus_f64, softplus_reference, 2, RELATIVE };
    f[6] = (function){ "lgamma",         t->lgamma_f32, t->lgamma_f64,
                       lgamma_reference, SLEEF_ULPS,    OF_ONE_IF_NEGATIVE };
    f[7] = (function){ "expm1", t->expm1_f32, t->expm1_f64, expm1l, SLEEF_ULPS, OF_RESULT };
    f[8] = (function){ "erf", t->erf_f32, t->erf_f64, erfl, 2, OF_RESULT };
    f[9] = (function){ "sin", t->sin_f32, t->sin_f64, sinl, SLEEF_ULPS, OF_RESULT };
    f[10] = (function){ "cos", t->cos_f32, t->cos_f64, cosl, SLEEF_ULPS, OF_RESULT };
}

/* What a type's numbers look like: FLT_MANT_DIG, FLT_MIN_EXP, FLT_MAX and their like. */
typedef struct format {
    int digits, lowest;
    double largest;
} format;

static const format f32 = { FLT_MANT_DIG, FLT_MIN_EXP, FLT_MAX };
static const format f64 = { DBL_MANT_DIG, DBL_MIN_EXP, DBL_MAX };

/* |got - want| in units in the last place of `want`, or in units of epsilon `least` if that is more
 * (for numbers that are not denormal); infinite when a NaN, an infinity or a zero's sign is wrong.
 */
static double error_in_ulps(double got, long double want, format type, long double least)
{
    bool same_sign = !signbit(got) == !signbit(want);
    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    }
    if (isinf(got)) {
        return same_sign && fabsl(want) > type.largest ? 0 : INFINITY;
    }
    if (isinf(want) || (want == 0 && got == 0 && !same_sign)) {
        return INFINITY;
    }
    int exponent = type.lowest;
    if (want != 0) {
        frexpl(want, &exponent);
        exponent = exponent < type.lowest ? type.lowest : exponent;
    }
    long double unit = ldexpl(1, exponent - type.digits);
    unit = fmaxl(unit, ldexpl(least, 1 - type.digits));
    return (double)(fabsl(got - want) / unit);
}

/* What a function's error is measured by, at least. */
static long double least_of(const function *f, long double x, long double want)
{
    if (f->unit == RELATIVE) {
        return fabsl(want);
    }
    return f->unit == OF_ONE_IF_NEGATIVE && x < 0 ? fmaxl(1, fabsl(want)) : 0;
}

/* Arguments: special values, every size from denormal to huge (random bits), and dense in the
 * ranges where the functions vary. */
static const double special[] = { 0.0,      -0.0,     1.0,       -1.0,      INFINITY, -INFINITY,
                                  NAN,      FLT_MIN,  FLT_MAX,   -FLT_MAX,  DBL_MIN,  DBL_MAX,
                                  -DBL_MAX, 0x1p-149, -0x1p-149, 0x1p-1074, 88.7,     88.8,
                                  -103.9,   -104.1,   709.7,     709.8,     -745.1,   -745.2,
                                  1e30,     1e37,     2e38,      1e300,     1e307,    1.5e308 };
#define SPECIALS ((int64_t)(sizeof special / sizeof *special))
#define RANDOM 60000
#define ARGUMENTS (SPECIALS + 4 * RANDOM)

static double spread(int64_t k, double uniform)
{
    static const double half_width[] = { 0.01, 1.5, 120, 800 };
    return half_width[k % 4] * (2 * uniform - 1);
}

static void arguments_f64(double *x)
{
    sali_stream stream = { 20, 0, 0, SALI_RNG_TEST };
    memcpy(x, special, sizeof special);
    sali_rng_words(&stream, 0, 4 * RANDOM, (uint32_t *)(x + SPECIALS));
    stream.step = 1;
    sali_rng_uniform_f64(&stream, 2 * RANDOM, x + SPECIALS + 2 * RANDOM);
    for (int64_t k = SPECIALS + 2 * RANDOM; k < ARGUMENTS; k++) {
        x[k] = spread(k, x[k]);
    }
}

static void arguments_f32(float *x)
{
    sali_stream stream = { 21, 0, 0, SALI_RNG_TEST };
    for (int64_t k = 0; k < SPECIALS; k++) {
        x[k] = (float)special[k];
    }
    sali_rng_words(&stream, 0, 2 * RANDOM, (uint32_t *)(x + SPECIALS));
    stream.step = 1;
    sali_rng_uniform_f32(&stream, 2 * RANDOM, x + SPECIALS + 2 * RANDOM);
    for (int64_t k = SPECIALS + 2 * RANDOM; k < ARGUMENTS; k++) {
        x[k] = (float)spread(k, x[k]);
    }
}

START_TEST(f32_is_within_its_promised_error)
{
    float *x = malloc(ARGUMENTS * sizeof *x), *y = malloc(ARGUMENTS * sizeof *y);
    arguments_f32(x);
    for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
        function f[FUNCTIONS];
        functions_of(isa, f);
        for (int i = 0; i < FUNCTIONS; i++) {
            f[i].f32(ARGUMENTS, x, y);
            for (int64_t k = 0; k < ARGUMENTS; k++) {
                if (f[i].reference == lgamma_reference && x[k] >= 4e36F && isinf(y[k])) {
                    continue; /* the one early overflow that the header states */
                }
                long double want = f[i].reference(x[k]);
                double error = error_in_ulps(y[k], want, f32, least_of(&f[i], x[k], want));
                if (!(error < f[i].ulps)) {
                    ck_abort_msg("isa %d: %s(%a) = %a, not %La: %g ulp", (int)isa, f[i].name, x[k],
                                 y[k], want, error);
                }
            }
        }
    }
    free(x);
    free(y);
}
END_TEST

START_TEST(f64_is_within_its_promised_error)
{
    double *x = malloc(ARGUMENTS * sizeof *x), *y = malloc(ARGUMENTS * sizeof *y);
    arguments_f64(x);
    for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
        function f[FUNCTIONS];
        functions_of(isa, f);
        for (int i = 0; i < FUNCTIONS; i++) {
            f[i].f64(ARGUMENTS, x, y);
            for (int64_t k = 0; k < ARGUMENTS; k++) {
                long double want = f[i].reference(x[k]);
                double error = error_in_ulps(y[k], want, f64, least_of(&f[i], x[k], want));
                if (!(error < f[i].ulps)) {
                    ck_abort_msg("isa %d: %s(%a) = %a, not %La: %g ulp", (int)isa, f[i].name, x[k],
                                 y[k], want, error);
                }
            }
        }
    }
    free(x);
    free(y);
}
END_TEST

/* Powers that ops take; others of the same function. */
static const double exponents[] = { -3, -2, -1, -0.5, 1.0 / 3, 0.5, 1.5, 2, 3, 7, 40.25 };
#define EXPONENTS ((int)(sizeof exponents / sizeof *exponents))

START_TEST(powers_are_within_their_promised_error)
{
    static double x[ARGUMENTS], y[ARGUMENTS];
    static float xf[ARGUMENTS], yf[ARGUMENTS];
    arguments_f64(x);
    arguments_f32(xf);
    for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
        for (int e = 0; e < EXPONENTS; e++) {
            float narrow = (float)exponents[e];
            sali_vmath_tables[isa].pow_f64(ARGUMENTS, x, exponents[e], y);
            sali_vmath_tables[isa].pow_f32(ARGUMENTS, xf, narrow, yf);
            for (int64_t k = 0; k < ARGUMENTS; k += 17) {
                double error = error_in_ulps(y[k], powl(x[k], exponents[e]), f64, 0);
                double errorf = error_in_ulps(yf[k], powl(xf[k], narrow), f32, 0);
                ck_assert_msg(error < SLEEF_ULPS, "isa %d: pow(%a, %g) = %a: %g ulp", (int)isa,
                              x[k], exponents[e], y[k], error);
                ck_assert_msg(errorf < SLEEF_ULPS, "isa %d: pow(%a, %g) = %a: %g ulp", (int)isa,
                              (double)xf[k], exponents[e], (double)yf[k], errorf);
            }
        }
    }
}
END_TEST

START_TEST(no_element_depends_on_n_or_position)
{
    enum { MOST = 70, SHIFTS = 3 };
    static float x[ARGUMENTS], one[MOST + SHIFTS], many[MOST + 1];
    static double xd[ARGUMENTS], oned[MOST + SHIFTS], manyd[MOST + 1];
    arguments_f32(x);
    arguments_f64(xd);
    for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
        function f[FUNCTIONS];
        functions_of(isa, f);
        for (int i = 0; i < FUNCTIONS; i++) {
            for (int k = 0; k < MOST + SHIFTS; k++) {
                f[i].f32(1, x + k, one + k);
                f[i].f64(1, xd + k, oned + k);
            }
            for (int n = 0; n <= MOST; n++) {
                size_t size = (size_t)n;
                for (int shift = 0; shift < SHIFTS; shift++) {
                    many[n] = 42;
                    manyd[n] = 42;
                    f[i].f32(n, x + shift, many);
                    f[i].f64(n, xd + shift, manyd);
                    ck_assert_mem_eq(many, one + shift, size * sizeof *many);
                    ck_assert_mem_eq(manyd, oned + shift, size * sizeof *manyd);
                    ck_assert(many[n] == 42 && manyd[n] == 42);
                }
            }
        }
    }
}
END_TEST

/* Also that the public names lead to the best instruction set's functions. */
#define CHECK_IN_PLACE(name)                 \
    {                                        \
        memcpy(y, x, sizeof y);              \
        memcpy(yd, xd, sizeof yd);           \
        sali_v##name##_f32(N, y, y);         \
        sali_v##name##_f64(N, yd, yd);       \
        best->name##_f32(N, x, z);           \
        best->name##_f64(N, xd, zd);         \
        ck_assert_mem_eq(y, z, sizeof y);    \
        ck_assert_mem_eq(yd, zd, sizeof yd); \
    }

START_TEST(in_place_equals_out_of_place)
{
    enum { N = 1003 };
    static float x[ARGUMENTS], y[N], z[N];
    static double xd[ARGUMENTS], yd[N], zd[N];
    const sali_vmath_table *best = &sali_vmath_tables[sali_isa_best()];
    arguments_f32(x);
    arguments_f64(xd);
    SALI_VMATH_LIST(CHECK_IN_PLACE)
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("vmath");
    TCase *c = tcase_create("vmath");
    tcase_add_test(c, f32_is_within_its_promised_error);
    tcase_add_test(c, f64_is_within_its_promised_error);
    tcase_add_test(c, powers_are_within_their_promised_error);
    tcase_add_test(c, no_element_depends_on_n_or_position);
    tcase_add_test(c, in_place_equals_out_of_place);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    return test_main(suite());
}
