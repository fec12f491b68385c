/* SPDX-License-Identifier: MIT */
/* The bridge of a model that is no tape, or is clamped: both ends are evaluated. */
#ifndef SALI_BRIDGE_MIX_H
#define SALI_BRIDGE_MIX_H

#include "models/model.h"

/* A model of f = (1 - beta) base + beta target, at beta = 1. Takes over `base`, also on failure,
 * and holds `target`. Both are over the same space, in the same type. */
sal_status sali_bridge_mix(sal_model *target, sal_model *base, sal_model **out, sal_error *err);
void sali_bridge_mix_set(sal_model *mix, double beta);

#endif
