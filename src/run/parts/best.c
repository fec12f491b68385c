/* SPDX-License-Identifier: MIT */
/* The best state that each chain met. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "models/clamp.h"
#include "run/run.h"

sal_status sali_best_create(sal_run *run, sali_run_shard *shard, bool own, sal_error *err)
{
    int64_t n = shard->chains->n;
    shard->best = SALI_TAKE(&run->memory, double, n);
    if (own || sal_comm_rank(run->ranks.comm) == 0) {
        shard->best_codes = SALI_TAKE(&run->memory, int32_t, n * shard->chains->space->n_variables);
    }
    for (int64_t c = 0; shard->best && c < n; c++) {
        shard->best[c] = -INFINITY;
    }
    return sali_memory_status(&run->memory, err);
}

void sali_best_note(sali_run_shard *shard)
{
    const sali_chains *chains = shard->chains;
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->f[c] > shard->best[c]) {
            shard->best[c] = chains->f[c] + 0.0; /* 0 for -0, which nobody wants to read */
            memcpy(shard->best_codes + c * V, chains->codes + c * V,
                   (size_t)V * sizeof *chains->codes);
        }
    }
}

const sali_run_shard *sali_best_of_all(const sal_run *run, bool decoded, int64_t *chain,
                                       double *largest)
{
    const sali_run_shard *found = NULL;
    *largest = -INFINITY;
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_run_shard *shard = &run->shards[k];
        const double *worth = decoded ? shard->decoded : shard->best;
        for (int64_t c = 0; worth && c < shard->chains->n; c++) {
            if (worth[c] > *largest) {
                *largest = worth[c];
                found = shard;
                *chain = c;
            }
        }
    }
    return found;
}

sal_status sal_run_best(const sal_run *run, int32_t *codes, double *log_prob, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_best", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    double largest;
    int64_t c;
    const sali_run_shard *found = sali_best_of_all(run, false, &c, &largest);
    if (!found) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "the run noted no best state: it needs annealing or record.best, and a step "
            "after warm-up");
    }
    if (codes) {
        sali_run_expand(run, 1, found->best_codes + c * run->model->space->n_variables, codes);
    }
    if (log_prob) {
        *log_prob = largest;
    }
    return SAL_OK;
}
