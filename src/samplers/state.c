#include "samplers/sampler.h"

sal_status sali_sampler_restore(const sali_sampler *sampler, void *shared, const sali_warmup *at,
                                sali_state_fetch *fetch, void *context, sal_error *err)
{
    sali_state_item items[SALI_MOST_STATE];
    int64_t filled = 0, n = sampler->state ? sampler->state(shared, items) : 0;
    sal_status status = SAL_OK;
    for (int round = 0; status == SAL_OK && filled < n && round < 2; round++) {
        status = sali_state_fill(n - filled, items + filled, fetch, context, err);
        status = status ? status : sampler->restored(shared, at, err);
        filled = n;
        n = status == SAL_OK ? sampler->state(shared, items) : 0;
    }
    return status;
}
