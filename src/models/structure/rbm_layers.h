/* SPDX-License-Identifier: MIT */
/* The layers of an RBM as a model's structure. */
#ifndef SALI_RBM_LAYERS_H
#define SALI_RBM_LAYERS_H

#include "models/structure/affine_form.h"
#include "models/structure.h"
#include "models/structure/sum_form.h"

/* f = b'v + g sum softplus(units), or b'v + g sum units^2, with one g for all units, and perhaps a
 * rest. */
typedef struct sali_rbm_form {
    sali_sum_form sum;
    sali_affine_form units;
    /* Of bridges from independent variables that are not linear in their reals: f also has (1 - g /
     * end) times the kinks [R] of the states (models/base.h), where g is `end` at the bridge's end.
     * NULL: there are none. The rest is these kinks then. */
    const double *kinks;
    double end;
} sali_rbm_form;

/* By type of the model; structure data is a sali_rbm_form. Weighed layers have any g, as bridges
 * do, or a rest. */
extern const sali_structure sali_rbm_layers_f32, sali_rbm_layers_f64;
extern const sali_structure sali_weighed_layers_f32, sali_weighed_layers_f64;

/* The same for visible units with any number of states, without a rest; and for hidden units that
 * are Gaussian, with any g (rbm_softmax.c). */
extern const sali_structure sali_softmax_layers_f32, sali_softmax_layers_f64;
extern const sali_structure sali_weighed_softmax_layers_f32, sali_weighed_softmax_layers_f64;
extern const sali_structure sali_normal_layers_f32, sali_normal_layers_f64;

#endif
