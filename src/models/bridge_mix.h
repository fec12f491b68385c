/* SPDX-License-Identifier: MIT */
/* The bridge of a model that is no tape: both ends are evaluated. */
#ifndef SALI_BRIDGE_MIX_H
#define SALI_BRIDGE_MIX_H

#include "models/model.h"

/* (1 - beta) base + beta target, beta = 1; `base` is taken over, `target` held. Both are over the
 * same space, in the same type. */
sal_status sali_bridge_mix(sal_model *target, sal_model *base, sal_model **out, sal_error *err);
void sali_bridge_mix_set(sal_model *mix, double beta);

#endif
