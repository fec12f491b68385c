/* SPDX-License-Identifier: MIT */
/* The model's statistic (models/statistic.h) over the draws of a run. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/statistic.h"
#include "run/run.h"

/* The model that knows its own states: the one inside, if the one given is clamped. */
static const sal_model *owner(const sal_run *run)
{
    return sali_clamp_inner(run->base);
}

sal_status sali_statistic_create(sal_run *run, sal_error *err)
{
    if (!owner(run)->statistic) {
        return SAL_OK;
    }
    run->statistic = SALI_TAKE(&run->memory, sali_running, run->rows);
    for (int64_t k = 0; k < run->n_shards; k++) {
        run->shards[k].inner = SALI_TAKE(&run->memory, int32_t, owner(run)->space->n_variables);
    }
    return sali_memory_status(&run->memory, err);
}

/* At codes [V of base]; inner [V of the owner] is scratch. */
static double statistic_of(const sal_run *run, const int32_t *codes, int32_t *inner)
{
    const sal_model *model = owner(run);
    sali_clamp_expand(run->base, 1, codes, inner);
    return model->statistic->of(model, inner);
}

void sali_statistic_note(sal_run *run, sali_run_shard *shard, const int32_t *codes, int64_t row,
                         int64_t draw)
{
    if (run->statistic) {
        sali_run_expand(run, 1, codes, shard->full);
        sali_running_add(&run->statistic[row], draw + 1,
                         statistic_of(run, shard->full, shard->inner));
    }
}

/* Mean and deviation over the draws of all chains. */
static void pool(const sal_run *run, sal_run_summary *s)
{
    double chains = (double)run->options.chains, n = (double)run->draws_made;
    double mean = 0, squares = 0;
    for (int64_t c = 0; c < run->options.chains; c++) {
        mean += run->statistic[c].mean / chains;
    }
    for (int64_t c = 0; c < run->options.chains; c++) {
        double off = run->statistic[c].mean - mean;
        squares += run->statistic[c].squares + n * off * off;
    }
    s->statistic_mean = n > 0 ? mean : NAN;
    s->statistic_deviation = chains * n > 1 ? sqrt(squares / (chains * n - 1)) : NAN;
}

sal_status sali_statistic_summarise(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    s->statistic_mean = s->statistic_deviation = s->statistic_best = s->statistic_decoded = NAN;
    if (!run->statistic) {
        return SAL_OK;
    }
    s->statistic = owner(run)->statistic->name;
    pool(run, s);
    int32_t *codes = SALI_NEW_ARRAY(int32_t, run->base->space->n_variables);
    int32_t *inner = SALI_NEW_ARRAY(int32_t, owner(run)->space->n_variables);
    sal_status status = codes && inner ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && sal_run_best(run, codes, NULL, NULL) == SAL_OK) {
        s->statistic_best = statistic_of(run, codes, inner);
    }
    if (status == SAL_OK && sal_run_decoded(run, codes, NULL, NULL) == SAL_OK) {
        s->statistic_decoded = statistic_of(run, codes, inner);
    }
    sali_free(codes);
    sali_free(inner);
    return status;
}
