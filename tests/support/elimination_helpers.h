/* SPDX-License-Identifier: MIT */
/* Oracles by name, their answers, models, and random numbers. */
#ifndef ELIMINATION_HELPERS_H
#define ELIMINATION_HELPERS_H

#include "test.h"

#include <math.h>
#include <saltus/saltus.h>
#include "core/rng.h"

static const sal_exact_options by_elimination = { .oracle = "elimination" };
static const sal_exact_options by_enumeration = { .oracle = "enumeration" };

static inline double *new_numbers(int64_t n)
{
    double *made = malloc((size_t)(n > 0 ? n : 1) * sizeof *made);
    ck_assert_ptr_nonnull(made);
    return made;
}

static inline sal_model *open_model(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static inline int64_t count_states(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    int64_t R = 0;
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        R += sal_space_states(space, v);
    }
    return R;
}

static inline void ck_close(int64_t n, const double *got, const double *want, double tolerance)
{
    for (int64_t k = 0; k < n; k++) {
        ck_assert_msg(fabs(got[k] - want[k]) <= tolerance,
                      "%lld of %lld: got %.17g, expected %.17g", (long long)k, (long long)n, got[k],
                      want[k]);
    }
}

/* Both oracles say the same; the tolerance is relative for log Z and the mean. */
static inline sal_exact check_oracles(const sal_model *model, double tolerance)
{
    int64_t R = count_states(model), N = sal_space_width(sal_model_space(model));
    int64_t size = R + R * R + N * N;
    double *want = new_numbers(size), *got = new_numbers(size);
    sal_exact truth, exact;
    sal_error err;
    ck_ok(sal_model_exact(model, &by_enumeration, &truth, want, want + R, want + R + R * R, &err),
          &err);
    ck_ok(sal_model_exact(model, &by_elimination, &exact, got, got + R, got + R + R * R, &err),
          &err);
    ck_assert_str_eq(exact.oracle, "elimination");
    ck_assert_double_eq_tol(exact.log_z, truth.log_z, tolerance * (1 + fabs(truth.log_z)));
    ck_assert_double_eq_tol(exact.log_prob_mean, truth.log_prob_mean,
                            tolerance * (1 + fabs(truth.log_prob_mean)));
    ck_close(R + R * R, got, want, tolerance);
    ck_close(N * N, got + R + R * R, want + R + R * R, 10 * tolerance); /* levels of up to 3 */
    free(want);
    free(got);
    return exact;
}

static uint64_t counter;

static inline double uniform(void)
{
    return sali_rng_uniform_at(
        &(sali_stream){ .seed = 5, .step = counter++, .purpose = SALI_RNG_TEST }, 0);
}

static inline int64_t below(int64_t n)
{
    return (int64_t)(uniform() * (double)n);
}

#endif
