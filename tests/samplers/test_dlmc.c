/* SPDX-License-Identifier: MIT */
/* The weights of dlmc and dlmcf against the text at all magnitudes, and first tries of theirs.
 * test_proposals compares proposals, test_samplers has the matrices. */
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include <saltus/io.h>
#include <saltus/sample.h>
#include "core/element.h"
#include "core/space.h"
#include "samplers/langevin/dlmc.h"

#define MOST_SLOTS 64

/* ---- weights */

/* A space of one kind of variable, of which every slot but that of staying gets a log t. */
typedef struct weights_case {
    sal_space *space;
    sal_dtype dtype;
    sali_dlmc_rates rates;
    int balance;
    int32_t codes[MOST_SLOTS];
    double scratch[4][MOST_SLOTS], row[MOST_SLOTS];
    double d[MOST_SLOTS];
} weights_case;

static const double magnitudes[] = { -INFINITY, -800, -200, -90, -30, -3,  -0.4,
                                     0,         1e-3, 0.7,  20,  95,  300, 900 };
enum { MAGNITUDES = sizeof magnitudes / sizeof *magnitudes };

static long double g_of(long double t, int balance)
{
    return balance == 0   ? sqrtl(t)
           : balance == 1 ? t / (1 + t)
           : balance == 2 ? fminl(t, 1)
           : t == 0       ? 0
                          : fmaxl(t, 1);
}

/* log p of one variable's `n` moves by the text, and of staying in the last place:
 * p = nu (1 - exp(-tau g / nu)) or min(tau g, nu), and staying is what is left. */
static void by_the_text(const weights_case *w, int64_t n, const double *d, double *log_p)
{
    const long double tau = expl((long double)w->rates.log_tau);
    long double sum = 1;
    for (int64_t k = 0; k < n; k++) {
        sum += expl((long double)d[k]);
    }
    long double stay = 1 / sum;
    for (int64_t k = 0; k < n; k++) {
        const long double t = expl((long double)d[k]), nu = t / sum;
        const long double r = t == 0 ? 0 : tau * g_of(t, w->balance) / nu;
        stay += nu * (w->rates.euler ? 1 - fminl(r, 1) : expl(-r));
        log_p[k] = (double)logl(nu * (w->rates.euler ? fminl(r, 1) : -expm1l(-r)));
    }
    log_p[n] = (double)logl(stay);
}

static void make_weights(weights_case *w)
{
    for (int64_t k = 0; k < w->space->slots; k++) {
        sali_store(w->dtype, w->row, k, w->d[k]);
    }
    w->rates.weight = w->scratch[0];
    w->rates.rate = w->scratch[1];
    w->rates.largest = w->scratch[2];
    w->rates.stay = w->scratch[3];
    w->rates.balance = sali_balance_of(w->dtype, w->balance);
    if (w->dtype == SAL_F32) {
        sali_dlmc_weights_f32(w->space, &w->rates, w->codes, (float *)(void *)w->row);
    } else {
        sali_dlmc_weights_f64(w->space, &w->rates, w->codes, w->row);
    }
}

/* log p of the row, moves and staying. */
static void of_the_row(const weights_case *w, int64_t v, int64_t n, double *log_p)
{
    const sali_variable *variable = &w->space->variables[v];
    const int64_t skipped = n > 1 && variable->states > 0 ? w->codes[v] : -1;
    double largest = 0, sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const double t = sali_load(w->dtype, w->row, variable->slot + k);
        ck_assert(k != skipped || t == 0);
        log_p[k] = k == skipped ? -INFINITY : t;
        largest = fmax(largest, log_p[k]);
    }
    log_p[n] = 0;
    for (int64_t k = 0; k <= n; k++) {
        sum += exp(log_p[k] - largest);
    }
    for (int64_t k = 0; k <= n; k++) {
        log_p[k] -= largest + log(sum);
    }
}

/* Moves are as exact as the largest log t; staying has an absolute error where moves are all but
 * certain. */
static void check_weights(weights_case *w)
{
    const double epsilon = w->dtype == SAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    make_weights(w);
    for (int64_t v = 0; v < w->space->n_variables; v++) {
        const sali_variable *variable = &w->space->variables[v];
        const int64_t n = sali_is_two_level(variable) ? 1 : sali_entries(variable->states);
        double want[MOST_SLOTS], got[MOST_SLOTS], size = 1;
        for (int64_t k = 0; k < n; k++) {
            const double d = fabs(w->d[variable->slot + k]);
            size = d < INFINITY ? fmax(size, d) : size;
        }
        by_the_text(w, n, w->d + variable->slot, want);
        of_the_row(w, v, n, got);
        for (int64_t k = 0; k <= n; k++) {
            const double room = 8 * epsilon * fmax(size, fabs(want[k]));
            const double rest = k == n ? fabs(exp(got[k]) - exp(want[k])) : INFINITY;
            ck_assert_msg(got[k] == want[k] || fabs(got[k] - want[k]) < room || rest < 4 * epsilon,
                          "states %d, balance %d, euler %d, tau %g: log p %.15g, not %.15g",
                          variable->states, w->balance, w->rates.euler, exp(w->rates.log_tau),
                          got[k], want[k]);
        }
    }
}

static void for_all_rates(weights_case *w)
{
    static const double taus[] = { 1e-8, 1e-3, 0.3, 2, 900 };
    for (int k = 0; k < 5 * SALI_BALANCES * 2; k++) {
        w->rates.log_tau = log(taus[k % 5]);
        w->balance = k / 5 % SALI_BALANCES;
        w->rates.euler = k / 5 / SALI_BALANCES;
        for (w->dtype = SAL_F32;; w->dtype = SAL_F64) {
            check_weights(w);
            if (w->dtype == SAL_F64) {
                break;
            }
        }
    }
}

START_TEST(flips_weigh_what_the_text_says)
{
    weights_case w = { .space = sal_space_create() };
    sal_error err;
    ck_ok(sal_space_add(w.space,
                        &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = MAGNITUDES }, &err),
          &err);
    memcpy(w.d, magnitudes, sizeof magnitudes);
    for_all_rates(&w);
    sal_space_destroy(w.space);
}
END_TEST

/* Variables of four states, at one of which they are, and counts without a cap. */
static void check_levels(sal_kind kind, int32_t states)
{
    weights_case w = { .space = sal_space_create() };
    const int64_t entries = sali_entries(states), n = MAGNITUDES;
    sal_error err;
    ck_ok(sal_space_add(w.space,
                        &(sal_block){ .name = "s", .kind = kind, .count = n, .states = states },
                        &err),
          &err);
    for (int64_t k = 0; k < n * entries; k++) {
        w.d[k] = magnitudes[(k * 5 + k / 7) % MAGNITUDES];
    }
    for (int64_t v = 0; v < n; v++) {
        w.codes[v] = (int32_t)(v % entries);
        if (states > 0) {
            w.d[v * entries + w.codes[v]] = -INFINITY;
        }
    }
    for_all_rates(&w);
    sal_space_destroy(w.space);
}

START_TEST(levels_weigh_what_the_text_says)
{
    check_levels(SAL_CATEGORICAL, 4);
    check_levels(SAL_ORDINAL, 3);
    check_levels(SAL_COUNT, 0);
}
END_TEST

/* ---- runs with all defaults */

static void run_and_summarise(const char *specification, const char *sampler, int64_t warmup,
                              sal_run_summary *summary)
{
    const sal_run_options options = {
        .sampler = sampler, .chains = 4, .warmup = warmup, .draws = 100, .seed = 3, .threads = 1
    };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F32, &model, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_summarise(run, summary, &err), &err);
    sal_run_destroy(run);
    sal_model_destroy(model);
}

static const char *const both[] = { "dlmc", "dlmc:balance=barker", "dlmcf",
                                    "dlmcf:balance=barker" };

/* With two states each, the marginal of the jump process satisfies detailed balance by itself. */
START_TEST(independent_bits_are_never_rejected)
{
    for (int k = 0; k < 4; k++) {
        sal_run_summary s;
        run_and_summarise("bernoulli:dim=10000", both[k], 250, &s);
        ck_assert_double_gt(s.acceptance_rate, 0.99);
        ck_assert_double_gt(s.mean_jump, 10000 * 0.3);
    }
}
END_TEST

START_TEST(time_is_adapted_to_the_acceptance_wherever_chains_start)
{
    static const char *const models[] = { "ising:side=50", "potts:side=20,states=4",
                                          "ising:side=50,theta=0.4" };
    for (int k = 0; k < 12; k++) {
        sal_run_summary s;
        run_and_summarise(models[k / 4], both[k % 4], 600, &s);
        ck_assert_msg(fabs(s.acceptance_rate - 0.574) < 0.1, "%s, %s: acceptance %g", models[k / 4],
                      both[k % 4], s.acceptance_rate);
        ck_assert_double_gt(s.mean_jump, 5);
    }
}
END_TEST

static Suite *dlmc_suite(void)
{
    Suite *suite = suite_create("dlmc");
    TCase *tcase = tcase_create("dlmc");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, flips_weigh_what_the_text_says);
    tcase_add_test(tcase, levels_weigh_what_the_text_says);
    tcase_add_test(tcase, independent_bits_are_never_rejected);
    tcase_add_test(tcase, time_is_adapted_to_the_acceptance_wherever_chains_start);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(dlmc_suite());
}
