/* SPDX-License-Identifier: MIT */
#include "samplers/settle.h"

/* Number of the first burn-in step: above the number of any other step of a chain. */
#define FIRST_STEP (UINT64_C(1) << 62)

static const char *name_of(const sal_model *model)
{
    return model->space->fixed ? "pair-gibbs" : model->space->unbounded ? "lb" : "gibbs";
}

bool sali_settles(const sal_model *model)
{
    return !model->space->unbounded &&
           sali_sampler_serves(sali_sampler_find(name_of(model)), model);
}

sal_status sali_settling_open(sali_settling *s, const sal_model *model, sal_error *err)
{
    *s = (sali_settling){ .model = model };
    sal_status status =
        sali_sampler_choose(name_of(model), model, 0, &s->sampler, &s->settings, err);
    return status ? status : sali_sampler_share(s->sampler, model, &s->settings, &s->shared, err);
}

void sali_settling_close(sali_settling *s)
{
    if (s->sampler) {
        sali_sampler_unshare(s->sampler, s->shared);
    }
    s->shared = NULL;
}

sal_status sali_settling_chains(const sali_settling *s, int64_t n, uint64_t seed,
                                sali_chains **chains, sal_error *err)
{
    return sali_chains_create(s->model, n, sali_sampler_wants(s->sampler), seed, chains, err);
}

sal_status sali_settle(const sali_settling *s, sali_chains *chains, int64_t sweeps, int64_t most,
                       int64_t number, sal_error *err)
{
    int64_t steps = sweeps * chains->space->n_variables;
    void *self = NULL;
    sal_status status = sali_sampler_open(s->sampler, &s->settings, s->shared, chains, &self, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_chains_embed(chains);
    sali_engine(s->sampler)->refresh(self, chains);
    steps = sali_engine(s->sampler)->follows(self) || steps < most ? steps : most;
    for (int64_t c = 0; c < chains->n; c++) {
        chains->step[c] = FIRST_STEP + (uint64_t)(number * steps);
    }
    sali_sampler_steps(s->sampler, self, chains, steps);
    sali_engine(s->sampler)->destroy(self);
    return SAL_OK;
}
