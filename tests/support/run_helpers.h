/* SPDX-License-Identifier: MIT */
/* Running samplers in tests, and what their draws should be. */
#ifndef RUN_HELPERS_H
#define RUN_HELPERS_H

#include "chi_square.h"
#include "run/parts/record.h"
#include "transition.h"

static inline sal_model *tiny_formula_over(const char *space_name, sal_dtype dtype)
{
    sal_space *space = tiny_space_make(tiny_space_named(space_name));
    sal_model *model = tiny_formula(space, dtype);
    sal_space_destroy(space);
    return model;
}

static inline sal_run *run_it(sal_model *model, const sal_run_options *options)
{
    sal_run *run = NULL;
    sal_error err;
    ck_ok(sal_sample(model, options, &run, &err), &err);
    return run;
}

/* sal_sample must fail so. */
static inline void run_refused(sal_model *model, const sal_run_options *options, sal_status status,
                               const char *text)
{
    sal_run *mark = (sal_run *)&mark, *run = mark;
    sal_error err;
    ck_fails(sal_sample(model, options, &run, &err), status, &err, text);
    ck_assert_ptr_eq(run, mark);
}

static inline sal_run_summary summary_of(const sal_run *run)
{
    sal_run_summary s;
    sal_error err;
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    return s;
}

/* p-value of the last states of many chains, which are independent, against the exact
 * probabilities. */
static inline double last_states_p(const sal_model *model, const sal_run *run)
{
    int64_t n = states_count(model->space), V = model->space->n_variables, chains, draws;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], counts[TINY_MOST_STATES] = { 0 };
    sal_error err;
    sal_run_size(run, &chains, &draws, &V);
    int32_t *last = malloc((size_t)(chains * V) * sizeof *last);
    ck_ok(sal_run_last(run, last, &err), &err);
    states_probabilities(model, 1, f, pi);
    for (int64_t c = 0; c < chains; c++) {
        counts[state_of(model->space, last + c * V)]++;
    }
    for (int64_t i = 0; i < n; i++) {
        pi[i] *= (double)chains;
    }
    free(last);
    return chi_square_p((int)n, counts, pi);
}

/* Whether the sampler is exact and does not couple its chains. */
static inline bool can_be_tempered(const sali_sampler *sampler)
{
    return !sampler->unadjusted && !(sali_engine(sampler)->coupled);
}

/* Draws that a run made of each chain. */
static inline int64_t draws_of(const sal_run *run)
{
    int64_t draws;
    sal_run_size(run, NULL, &draws, NULL);
    return draws;
}

#endif
