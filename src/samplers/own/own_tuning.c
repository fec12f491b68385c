/* SPDX-License-Identifier: MIT */
/* What the caller's own samplers tune in warm-up: a few numbers, shared by all shards. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/own/own.h"

sal_status sali_own_share(const sal_model *model, const sali_sampler_settings *settings,
                          void **shared, sal_error *err)
{
    (void)model;
    sali_own_shared *s = SALI_NEW(sali_own_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    s->descriptor = settings->own;
    memcpy(s->values, settings->values, sizeof s->values);
    for (; s->descriptor->tuned[s->n].name; s->n++) {
        s->tuned[s->n] = s->descriptor->tuned[s->n].standard;
    }
    *shared = s;
    return SAL_OK;
}

sal_status sali_own_adapt(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err)
{
    sali_own_shared *s = shared;
    double tuned[SAL_SAMPLER_TUNED];
    sal_sampler_window window = {
        .acceptance_rate = sali_warmup_acceptance(warmup),
        .jump = sali_warmup_jump(warmup),
        .steps = warmup->window,
        .done = warmup->done,
        .total = warmup->total == SALI_WARMUP_ENDLESS ? 0 : warmup->total,
        .values = s->values,
    };
    memcpy(tuned, s->tuned, sizeof tuned);
    s->descriptor->adapt(&window, tuned, s->descriptor->data);
    for (int64_t k = 0; k < s->n; k++) {
        const sal_sampler_parameter *p = &s->descriptor->tuned[k];
        if (isnan(tuned[k])) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s': adapt made '%s' NaN",
                             s->descriptor->name, p->name);
        }
        tuned[k] = fmax(p->low, fmin(p->high, p->whole ? round(tuned[k]) : tuned[k]));
    }
    if (memcmp(tuned, s->tuned, (size_t)s->n * sizeof *tuned) != 0) {
        memcpy(s->tuned, tuned, (size_t)s->n * sizeof *tuned);
        *changed = true;
    }
    return SAL_OK;
}

int64_t sali_own_state(void *shared, void *self, sali_state_item *items)
{
    sali_own_shared *s = shared;
    (void)self;
    for (int64_t k = 0; s && k < s->n; k++) {
        const sal_sampler_parameter *p = &s->descriptor->tuned[k];
        sali_state_item item = sali_state_f64(p->name, 1, &s->tuned[k]);
        item.whole = p->whole;
        items[k] = sali_state_for(SALI_STATE_TUNED | SALI_STATE_KEPT,
                                  sali_state_within(item, p->low, p->high));
    }
    return s ? s->n : 0;
}
