/* SPDX-License-Identifier: MIT */
/* The distribution of a run's draws over all states, against enumeration. */
#include <math.h>

#include "core/memory.h"
#include "core/error.h"
#include "models/exact/exact.h"
#include "models/states.h"
#include "run/parts/record.h"
#include "run/results/results.h"
#include "stats/variation.h"

/* Add up the shares of all states among the draws in shares [states], zero before. */
static sal_status count_states(const sal_run *run, double *shares, sal_error *err)
{
    const sal_space *space = run->model->space;
    int64_t C = run->options.chains, V = run->base->space->n_variables;
    double share = 1 / ((double)C * (double)run->draws_made);
    sali_memory memory = { 0 };
    int32_t *full = SALI_TAKE(&memory, int32_t, V), *codes = SALI_TAKE(&memory, int32_t, V);
    sal_status status = sali_memory_status(&memory, err);
    for (int64_t k = 0; status == SAL_OK && k < C * run->draws_made; k++) {
        for (int64_t v = 0; v < V; v++) {
            full[v] = sali_run_draw(run, k / run->draws_made, k % run->draws_made, v);
        }
        sali_run_restrict(run, 1, full, codes);
        shares[sali_states_index(space, codes)] += share;
    }
    sali_memory_free(&memory);
    return status;
}

/* Set *out: the distance of the draws from the exact distribution of `states` states, and the
 * distance that `ess` independent draws would have. */
static sal_status compare_draws(const sal_run *run, int64_t states, int threads, double ess,
                                sal_run_variation *out, sal_error *err)
{
    double *p = SALI_NEW_ARRAY(double, states), log_z;
    double *q = SALI_NEW_ARRAY(double, states);
    sal_status status = p && q ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sali_enumerate_table(run->model, states, threads, p, &log_z, err);
    status = status ? status : count_states(run, q, err);
    if (status == SAL_OK) {
        for (int64_t i = 0; i < states; i++) {
            p[i] = exp(p[i]);
        }
        out->states = (double)states;
        out->distance = sali_total_variation(states, p, q);
        out->ideal = isnan(ess)
                         ? NAN
                         : sali_total_variation_noise(states, p, ess < 1 ? 1 : (int64_t)round(ess));
    }
    sali_free(p);
    sali_free(q);
    return status;
}

sal_status sal_run_total_variation(const sal_run *run, int64_t limit, int threads,
                                   sal_run_variation *variation, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_total_variation", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    double states = sali_states_count(run->model->space);
    sal_run_summary summary;
    limit = limit ? limit : SAL_ENUMERATION_LIMIT;
    if (!sali_run_record(run)->draws || run->draws_made == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s",
                         sali_run_record(run)->draws
                             ? "the run was stopped before its first draw"
                             : "the run kept no draws; set record.draws in its options");
    }
    if (run->model->space->unbounded) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: states of counts without a cap cannot be listed; give them a cap",
                         run->model->name);
    }
    if (!(states <= (double)limit)) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s has %.6g states, more than the limit of %lld", run->model->name,
                         states, (long long)limit);
    }
    sal_status status = sal_run_summarise(run, &summary, err);
    return status ? status
                  : compare_draws(run, (int64_t)states, threads, summary.ess_total, variation, err);
}
