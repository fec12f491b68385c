/* SPDX-License-Identifier: MIT */
/* The layers of an RBM as a model's structure. */
#ifndef SALI_RBM_LAYERS_H
#define SALI_RBM_LAYERS_H

#include "models/structure/affine_form.h"
#include "models/structure.h"
#include "models/structure/sum_form.h"

/* f = b'v + g sum softplus(units), g the same for all. */
typedef struct sali_rbm_form {
    sali_sum_form sum;
    sali_affine_form units;
} sali_rbm_form;

/* By type; structure data is a sali_rbm_form. Bridges have any g. */
extern const sali_structure sali_rbm_layers_f32, sali_rbm_layers_f64;
extern const sali_structure sali_bridge_layers_f32, sali_bridge_layers_f64;

#endif
