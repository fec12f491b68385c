/* SPDX-License-Identifier: MIT */
/* Distributions between a factorised distribution p_0 and a model:
 * f_beta = (1 - beta) log p_0 + beta f. */
#ifndef SALI_BRIDGE_H
#define SALI_BRIDGE_H

#include "models/model.h"

/* `model` can be used as any other model; its version rises with each change of beta. If `of` is a
 * tape, clamped or not, `model` is a tape with a copy of the parameters of `of`, and beta as one
 * more, clamped alike; otherwise `model` holds `of` and evaluates both ends. */
typedef struct sali_bridge {
    sal_model *model;
    int32_t parameter; /* index of beta among the parameters of a tape; else -1 */
} sali_bridge;

/* Create the bridge of `of`, at beta = 1. `log_base` [R] is a result of sali_base_create. Returns:
 * SAL_ERR_MEMORY, and what sal_model_from_tape returns. */
sal_status sali_bridge_create(sal_model *of, const double *log_base, sali_bridge *bridge,
                              sal_error *err);
void sali_bridge_free(sali_bridge *bridge);

/* Set beta in [0, 1]; nobody else may use the model meanwhile. At 0, f_beta is log p_0 where f is
 * finite; elsewhere a tape gives NaN. Cost: only nodes that do not depend on the state are
 * recomputed. */
void sali_bridge_set(sali_bridge *bridge, double beta);

#endif
