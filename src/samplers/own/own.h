/* SPDX-License-Identifier: MIT */
/* Samplers of the caller's own: a public descriptor (saltus/sampler.h) as a record like the
 * library's, so that nothing else has to know of them. */
#ifndef SALI_OWN_H
#define SALI_OWN_H

#include "samplers/sampler.h"

struct sal_random {
    sali_stream stream;
    uint32_t next;     /* number to be taken */
    double buffer[16]; /* those from next & ~15 on, once they were asked for */
};

/* What is right with all descriptors of a list that ends with NULL (or is NULL): that functions and
 * names are there, and no name twice or known to the library. SAL_ERR_ARGUMENT says which is not.
 */
sal_status sali_own_check(const sal_sampler_descriptor *const *own, sal_error *err);

/* The one of a specification's name, or NULL. */
const sal_sampler_descriptor *sali_own_find(const sal_sampler_descriptor *const *own,
                                            const char *specification);

/* A record for it, to be given to sali_free; NULL when out of memory. `settings->own` of its
 * settings is the descriptor. */
sali_sampler *sali_own_record(const sal_sampler_descriptor *d);

/* Functions of such a record (own.c, own_tuning.c). */
sal_status sali_own_create(const sali_chains *chains, const sali_sampler_settings *settings,
                           void *shared, void **self, sal_error *err);
void sali_own_destroy(void *self);
void sali_own_refresh(void *self, sali_chains *chains);
void sali_own_step(void *self, sali_chains *chains);
void sali_own_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q);

/* Shared state: the numbers that it tunes; all at `standard` at first. */
typedef struct sali_own_shared {
    const sal_sampler_descriptor *descriptor;
    double values[SAL_SAMPLER_PARAMETERS];
    int64_t n;
    double tuned[SAL_SAMPLER_TUNED];
} sali_own_shared;

sal_status sali_own_share(const sal_model *model, const sali_sampler_settings *settings,
                          void **shared, sal_error *err);
sal_status sali_own_adapt(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err);
int64_t sali_own_state(void *shared, void *self, sali_state_item *items);

#endif
