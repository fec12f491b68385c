/* SPDX-License-Identifier: MIT */
/* Distributions between a factorised one and a model: f_beta = (1 - beta) log p_0 + beta f. */
#ifndef SALI_BRIDGE_H
#define SALI_BRIDGE_H

#include "models/model.h"

/* `model` is a model like any other, whose version rises with each change of beta. For a tape it is
 * a tape too, with the parameters that `of` has when it is made, and beta as one more; otherwise it
 * evaluates both and holds `of`. */
typedef struct sali_bridge {
    sal_model *model;
    int32_t parameter; /* a tape: that of beta; else -1 */
} sali_bridge;

/* At beta = 1. `log_base` [R] is checked (sali_base_create). Returns: SAL_ERR_MEMORY, and what
 * making a tape returns. */
sal_status sali_bridge_create(sal_model *of, const double *log_base, sali_bridge *bridge,
                              sal_error *err);
void sali_bridge_free(sali_bridge *bridge);

/* Set beta in [0, 1]; nobody else may use the model meanwhile. At 0, f_beta is log p_0 where f is
 * finite; elsewhere a tape gives NaN. Cost: what depends on beta alone is computed again. */
void sali_bridge_set(sali_bridge *bridge, double beta);

#endif
