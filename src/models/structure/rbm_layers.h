/* SPDX-License-Identifier: MIT */
/* The layers of an RBM as a model's structure. */
#ifndef SALI_RBM_LAYERS_H
#define SALI_RBM_LAYERS_H

#include "models/structure/affine_form.h"
#include "models/structure.h"
#include "models/structure/sum_form.h"

/* f = b'v + g sum softplus(units), with one g for all units, and perhaps a rest. */
typedef struct sali_rbm_form {
    sali_sum_form sum;
    sali_affine_form units;
} sali_rbm_form;

/* By type of the model; structure data is a sali_rbm_form. Weighed layers have any g, as bridges
 * do, or a rest. */
extern const sali_structure sali_rbm_layers_f32, sali_rbm_layers_f64;
extern const sali_structure sali_weighed_layers_f32, sali_weighed_layers_f64;

#endif
