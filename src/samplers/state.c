/* SPDX-License-Identifier: MIT */
/* The state of samplers, shared and of shards: creating, listing and restoring it. */
#include <string.h>

#include "samplers/sampler.h"

sal_status sali_sampler_share(const sali_sampler *sampler, const sal_model *model,
                              const sali_sampler_settings *settings, void **shared, sal_error *err)
{
    sali_sampler_settings own = *settings;
    own.sampler = sampler;
    return sali_engine(sampler)->share ? sali_engine(sampler)->share(model, &own, shared, err)
                                       : SAL_OK;
}

sal_status sali_sampler_open(const sali_sampler *sampler, const sali_sampler_settings *settings,
                             void *shared, sali_chains *chains, void **self, sal_error *err)
{
    sali_sampler_settings own = *settings;
    own.sampler = sampler;
    for (int64_t c = 0; c < chains->n; c++) {
        chains->step_size[c] = settings->step_size;
    }
    chains->stay = sampler->engine /* a user's sampler is taken as it is */
                       ? sali_stay_probability(chains->space, sampler->engine->local)
                       : 0;
    return sali_engine(sampler)->create(chains, &own, shared, self, err);
}

void sali_sampler_unshare(const sali_sampler *sampler, void *shared)
{
    if (shared) {
        sali_engine(sampler)->unshare(shared);
    }
}

void sali_sampler_close(const sali_sampler *sampler, void *self)
{
    if (self) {
        sali_engine(sampler)->destroy(self);
    }
}

int64_t sali_sampler_items(const sali_sampler *sampler, void *shared, void *self, unsigned what,
                           sali_state_item items[SALI_MOST_STATE])
{
    int64_t n = 0, all = sali_engine(sampler)->state
                             ? sali_engine(sampler)->state(shared, self, items)
                             : 0;
    for (int64_t k = 0; k < all; k++) {
        if (items[k].kept & what) {
            items[n++] = items[k];
        }
    }
    return n;
}

void sali_sampler_forget(const sali_sampler *sampler, void *self)
{
    sali_state_item items[SALI_MOST_STATE];
    for (int64_t n = sali_sampler_items(sampler, NULL, self, SALI_STATE_KEPT, items); n > 0; n--) {
        const sali_state_item *item = &items[n - 1];
        memset(item->data, 0, (size_t)item->count * sali_state_bytes(item->type));
    }
}

sal_status sali_sampler_restore(const sali_sampler *sampler, void *shared, const sali_warmup *at,
                                sali_run_state_reader *reader, sal_error *err)
{
    sali_state_item items[SALI_MOST_STATE];
    int64_t filled = 0, n = sali_sampler_items(sampler, shared, NULL, SALI_STATE_KEPT, items);
    sal_status status = SAL_OK;
    for (int round = 0; status == SAL_OK && filled < n && round < 2; round++) {
        status = sali_run_state_fill(reader, n - filled, items + filled, err);
        status = status || !sali_engine(sampler)->changed
                     ? status
                     : sali_engine(sampler)->changed(shared, at, err);
        filled = n;
        n = sali_sampler_items(sampler, shared, NULL, SALI_STATE_KEPT, items);
    }
    return status;
}
