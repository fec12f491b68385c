/* SPDX-License-Identifier: MIT */
/* What samplers share among shards, and own. */
#ifndef SALI_SHARED_H
#define SALI_SHARED_H

#include "models/structure/couplings.h"
#include "samplers/sampler.h"

/* Couplings (models/structure/couplings.h) that belong to `object` (core/object.h). *out is NULL,
 * with SAL_OK, if f has none that are wished for. Returns: SAL_ERR_MEMORY. */
sal_status sali_own_couplings(void *object, const sal_model *model, sali_couplings_wish wish,
                              sali_couplings **out, sal_error *err);

#endif
