/* SPDX-License-Identifier: MIT */
/* State that all shards of a run share: couplings, and pieces that warm-up adapts. A sampler's
 * `share` lists its pieces; SALI_SHARED_FUNCTIONS, the engine's functions of the shared state, loop
 * over this list. */
#ifndef SALI_SHARED_H
#define SALI_SHARED_H

#include "core/object.h"
#include "models/structure/couplings.h"
#include "samplers/sampler.h"

/* How warm-up adapts one piece: the functions of an engine of the same names (samplers/sampler.h),
 * with the piece in the place of the shared state. */
typedef struct sali_adaptive {
    sal_status (*adapt)(void *piece, const sali_warmup *warmup, bool *changed, sal_error *err);
    int64_t (*state)(void *piece, sali_state_item *items);
    sal_status (*changed)(void *piece, const sali_warmup *at, sal_error *err); /* or NULL */
} sali_adaptive;

/* The most pieces of a sampler. */
#define SALI_PIECES 2

/* The first member of a sampler's shared object (core/object.h), to which the pieces belong. */
typedef struct sali_shared {
    sali_couplings *couplings; /* NULL: f has no couplings that pay, or the sampler uses none */
    int n;                     /* pieces */
    void *piece[SALI_PIECES];
    const sali_adaptive *how[SALI_PIECES];
} sali_shared;

/* Append a piece to the list; does nothing if `piece` is NULL. */
static inline void sali_shared_list(sali_shared *s, void *piece, const sali_adaptive *how)
{
    if (piece) {
        s->piece[s->n] = piece;
        s->how[s->n++] = how;
    }
}

/* Engines' functions of a shared state that begins with a sali_shared. */
#define SALI_SHARED_FUNCTIONS                                                            \
    .unshare = sali_object_free, .adapt = sali_shared_adapt, .state = sali_shared_state, \
    .changed = sali_shared_changed
sal_status sali_shared_adapt(void *shared, const sali_warmup *warmup, bool *changed,
                             sal_error *err);
int64_t sali_shared_state(void *shared, void *self, sali_state_item *items);
sal_status sali_shared_changed(void *shared, const sali_warmup *at, sal_error *err);

/* Create couplings (models/structure/couplings.h) that belong to `object` (core/object.h). *out is
 * NULL, with SAL_OK, if f has no couplings such as `wish` asks for. Returns: SAL_ERR_MEMORY. */
sal_status sali_own_couplings(void *object, const sal_model *model, sali_couplings_wish wish,
                              sali_couplings **out, sal_error *err);

#endif
