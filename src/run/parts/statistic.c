/* SPDX-License-Identifier: MIT */
/* The model's statistic (models/statistic.h) over the draws of a run. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/statistic.h"
#include "run/parts/record.h"
#include "run/sync.h"

typedef struct statistic {
    sal_run *run;
    int64_t row0;
    sali_running *of; /* [chains of this rank; at rank 0 all chains] moments over the draws */
    int32_t *inner;   /* [n_shards x V of the owner] scratch */
} statistic;

/* The model that knows its own states: the one inside, if the one given is clamped. */
static const sal_model *statistic_model(const sal_run *run)
{
    return sali_clamp_inner(run->base);
}

static bool is_wanted(const sal_run *run)
{
    return statistic_model(run)->statistic && !run->endless;
}

static sal_status create(void *self, sal_error *err)
{
    statistic *s = self;
    sal_run *run = s->run;
    s->of = SALI_TAKE(&run->memory, sali_running, sali_run_rows(run, false, &s->row0));
    s->inner =
        SALI_TAKE(&run->memory, int32_t, run->n_shards * statistic_model(run)->space->n_variables);
    return sali_memory_status(&run->memory, err);
}

/* The statistic at codes [V of base]; inner [V of the owner] is scratch. */
static double statistic_of(const sal_run *run, const int32_t *codes, int32_t *inner)
{
    const sal_model *model = statistic_model(run);
    sali_clamp_expand(run->base, 1, codes, inner);
    return model->statistic->of(model, inner);
}

/* Add the statistic of each chain's draw to its moments. */
static void draw(void *self, sali_run_shard *shard, int64_t draw)
{
    const statistic *s = self;
    const sali_chains *chains = shard->chains;
    int32_t *inner = s->inner + shard->k * statistic_model(s->run)->space->n_variables;
    for (int64_t g = 0; g < shard->groups; g++) {
        const int64_t c = g * s->run->replicas;
        sali_run_expand(s->run, 1, chains->codes + c * chains->space->n_variables, shard->full);
        sali_running_add(&s->of[shard->first + g - s->row0], draw + 1,
                         statistic_of(s->run, shard->full, inner));
    }
}

/* Set the mean and the standard deviation over the draws of all chains. */
static void pool_draws(const statistic *of, sal_run_summary *s)
{
    const sal_run *run = of->run;
    double chains = (double)run->options.chains, n = (double)run->draws_made;
    double mean = 0, squares = 0;
    for (int64_t c = 0; c < run->options.chains; c++) {
        mean += of->of[c].mean / chains;
    }
    for (int64_t c = 0; c < run->options.chains; c++) {
        double off = of->of[c].mean - mean;
        squares += of->of[c].squares + n * off * off;
    }
    s->statistic_mean = n > 0 ? mean : NAN;
    s->statistic_deviation = chains * n > 1 ? sqrt(squares / (chains * n - 1)) : NAN;
}

static sal_status finish(void *self, sal_error *err)
{
    const statistic *s = self;
    return sali_sync_rows(s->run, s->row0, s->of, 1, 1, sizeof *s->of, err);
}

/* Report the statistic over all draws, at the best state, and at the best decoded state. */
static sal_status summarise(const void *self, sal_run_summary *summary, sal_error *err)
{
    const statistic *s = self;
    const sal_run *run = s->run;
    summary->statistic = statistic_model(run)->statistic->name;
    pool_draws(s, summary);
    int32_t *codes = SALI_NEW_ARRAY(int32_t, run->base->space->n_variables);
    int32_t *inner = SALI_NEW_ARRAY(int32_t, statistic_model(run)->space->n_variables);
    sal_status status = codes && inner ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && sal_run_best(run, codes, NULL, NULL) == SAL_OK) {
        summary->statistic_best = statistic_of(run, codes, inner);
    }
    if (status == SAL_OK && sal_run_decoded(run, codes, NULL, NULL) == SAL_OK) {
        summary->statistic_decoded = statistic_of(run, codes, inner);
    }
    sali_free(codes);
    sali_free(inner);
    return status;
}

const sali_run_part sali_part_statistic = {
    .name = "statistic",
    .replayed = true,
    .wanted = is_wanted,
    .size = sizeof(statistic),
    .create = create,
    .draw = draw,
    .finish = finish,
    .summarise = summarise,
};
