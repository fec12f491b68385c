/* SPDX-License-Identifier: MIT */
#include "samplers/shared.h"

static void destroy_couplings(void *couplings)
{
    sali_couplings_destroy(couplings);
}

sal_status sali_own_couplings(void *object, const sal_model *model, sali_couplings_wish wish,
                              sali_couplings **out, sal_error *err)
{
    sal_status status = sali_couplings_create(model, wish, out, err);
    status = status ? status : sali_object_own(object, *out, destroy_couplings, err);
    if (status != SAL_OK) {
        *out = NULL;
    }
    return status;
}

sal_status sali_shared_adapt(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err)
{
    const sali_shared *s = shared;
    sal_status status = SAL_OK;
    for (int k = 0; status == SAL_OK && k < s->n; k++) {
        status = s->how[k]->adapt(s->piece[k], warmup, changed, err);
    }
    return status;
}

int64_t sali_shared_state(void *shared, void *self, sali_state_item *items)
{
    const sali_shared *s = shared;
    int64_t n = 0;
    (void)self;
    for (int k = 0; s && k < s->n; k++) {
        n += s->how[k]->state(s->piece[k], items + n);
    }
    return n;
}

sal_status sali_shared_changed(void *shared, const sali_warmup *at, sal_error *err)
{
    const sali_shared *s = shared;
    sal_status status = SAL_OK;
    for (int k = 0; status == SAL_OK && k < s->n; k++) {
        status = s->how[k]->changed ? s->how[k]->changed(s->piece[k], at, err) : SAL_OK;
    }
    return status;
}
