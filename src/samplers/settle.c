/* SPDX-License-Identifier: MIT */
#include "samplers/settle.h"

/* Their steps are numbered from here on. */
#define FIRST_STEP (UINT64_C(1) << 62)

bool sali_settles(const sal_model *model)
{
    return sali_sampler_serves(sali_sampler_find("gibbs"), model);
}

sal_status sali_settling_open(sali_settling *s, const sal_model *model, sal_error *err)
{
    const sali_sampler *gibbs = NULL;
    *s = (sali_settling){ .model = model };
    sal_status status = sali_sampler_choose("gibbs", model, 0, &gibbs, &s->settings, err);
    return status ? status : sali_sampler_share(gibbs, model, &s->settings, &s->shared, err);
}

void sali_settling_close(sali_settling *s)
{
    sali_sampler_unshare(sali_sampler_find("gibbs"), s->shared);
    s->shared = NULL;
}

sal_status sali_settling_chains(const sali_settling *s, int64_t n, uint64_t seed,
                                sali_chains **chains, sal_error *err)
{
    return sali_chains_create(s->model, n, sali_sampler_wants(sali_sampler_find("gibbs")), seed,
                              chains, err);
}

sal_status sali_settle(const sali_settling *s, sali_chains *chains, int64_t sweeps, int64_t most,
                       int64_t number, sal_error *err)
{
    const sali_sampler *gibbs = sali_sampler_find("gibbs");
    int64_t steps = sweeps * chains->space->n_variables;
    void *self = NULL;
    sal_status status = sali_sampler_open(gibbs, &s->settings, s->shared, chains, &self, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_chains_embed(chains);
    sali_engine(gibbs)->refresh(self, chains);
    steps = sali_engine(gibbs)->follows(self) || steps < most ? steps : most;
    for (int64_t c = 0; c < chains->n; c++) {
        chains->step[c] = FIRST_STEP + (uint64_t)(number * steps);
    }
    sali_sampler_steps(gibbs, self, chains, steps);
    sali_engine(gibbs)->destroy(self);
    return SAL_OK;
}
