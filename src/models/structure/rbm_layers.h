/* SPDX-License-Identifier: MIT */
/* The layers of an RBM as a model's structure. */
#ifndef SALI_RBM_LAYERS_H
#define SALI_RBM_LAYERS_H

#include "models/structure/affine_form.h"
#include "models/structure.h"
#include "models/structure/sum_form.h"

/* f = b'v + g sum u(units) with u softplus, the square or the function of dReLU units, with one g
 * for all units, and perhaps a rest. */
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
 * are Gaussian, with any g, or dReLU units (rbm_softmax.c). */
extern const sali_structure sali_softmax_layers_f32, sali_softmax_layers_f64;
extern const sali_structure sali_weighed_softmax_layers_f32, sali_weighed_softmax_layers_f64;
extern const sali_structure sali_normal_layers_f32, sali_normal_layers_f64;
extern const sali_structure sali_drelu_layers_f32, sali_drelu_layers_f64;
extern const sali_structure sali_weighed_drelu_layers_f32, sali_weighed_drelu_layers_f64;

#ifdef SALI_REAL_BITS

#include "core/memory.h"
#include "core/real.h"
#include "core/vector/drelu.h"

/* The numbers of a form in the model's type, at the parameters of `version`. */
typedef struct layer_numbers {
    const sal_model *model;
    const sali_rbm_form *form;
    sali_sum_reader sum;
    uint64_t version;
    int64_t reals, hidden; /* of b and c */
    double g;
    real *b, *c;
    double *bias; /* [hidden] c before it is rounded */
    /* [hidden] of dReLU units, see sali_drelu, and scratch; NULL: units of another kind */
    double *delta, *plus, *minus, *t;
    real *scratch; /* of products with W */
} layer_numbers;

/* Set to [p->hidden] to the values of input `k` of the hidden units' node, which has as many, or
 * one for all. */
static inline void layer_numbers_load(const layer_numbers *p, int k, double *to)
{
    const sali_params *params = p->sum.tape->params;
    const sali_program *program = params->program;
    const int32_t node = program->nodes[p->form->sum.core].in[k];
    for (int64_t i = 0; i < p->hidden; i++) {
        to[i] =
            sali_load(program->dtype, params->value[node], program->steps[node].size == 1 ? 0 : i);
    }
}

/* Copy g, b, c and what dReLU units have from p->sum, which has read the present parameters. */
static inline void layer_numbers_take(layer_numbers *p)
{
    p->g = p->sum.weight[0];
    for (int64_t i = 0; i < p->reals; i++) {
        p->b[i] = (real)p->sum.linear[i];
    }
    sali_affine_form_bias(&p->form->units, p->sum.tape->params, p->bias);
    for (int64_t k = 0; k < p->hidden; k++) {
        p->c[k] = (real)p->bias[k];
    }
    if (p->delta) {
        layer_numbers_load(p, 1, p->delta);
        layer_numbers_load(p, 2, p->t);
        sali_drelu_sides(p->hidden, p->t, p->plus, p->minus);
    }
    p->version = sali_model_version(p->model);
}

/* Read parameters that have changed. */
static inline void layer_numbers_follow(layer_numbers *p)
{
    if (p->version != sali_model_version(p->model)) {
        sali_sum_reader_update(&p->sum);
        layer_numbers_take(p);
    }
}

/* Set *p to the numbers of a model with a form, with arrays of `memory`; close it in any case.
 * Returns: SAL_ERR_MEMORY, without a message. */
static inline sal_status layer_numbers_open(const sal_model *model, int64_t chains,
                                            sali_memory *memory, layer_numbers *p)
{
    const sali_tape_model *tape = sali_model_tape(model);
    const sali_rbm_form *form = model->structure_data;
    *p = (layer_numbers){
        .model = model, .form = form, .reals = model->space->width, .hidden = form->units.size
    };
    p->bias = SALI_TAKE(memory, double, p->hidden);
    if (tape->program->steps[form->sum.core].op->hidden == SALI_HIDES_DRELU) {
        p->delta = SALI_TAKE(memory, double, p->hidden);
        p->plus = SALI_TAKE(memory, double, p->hidden);
        p->minus = SALI_TAKE(memory, double, p->hidden);
        p->t = SALI_TAKE(memory, double, p->hidden);
    }
    p->b = SALI_TAKE(memory, real, p->reals);
    p->c = SALI_TAKE(memory, real, p->hidden);
    p->scratch =
        SALI_TAKE(memory, real, 1 + sali_affine_form_scratch(&form->units, tape->program, chains));
    sal_status status = sali_memory_status(memory, NULL);
    status = status ? status : sali_sum_reader_open(tape, &form->sum, &p->sum);
    if (status == SAL_OK) {
        layer_numbers_take(p);
    }
    return status;
}

static inline void layer_numbers_close(layer_numbers *p)
{
    sali_sum_reader_close(&p->sum);
}

/* y real [n x hidden]: the inputs factor W x + c of the hidden units at x, real [n x reals]. */
static inline void layer_numbers_inputs(const layer_numbers *p, int64_t n, const real *x, real *y)
{
    const real factor = (real)p->form->units.factor;
    sali_affine_form_multiply(&p->form->units, p->sum.tape->params, n, x, p->scratch, y);
    for (int64_t c = 0; c < n; c++, y += p->hidden) {
        for (int64_t k = 0; k < p->hidden; k++) {
            y[k] = factor * y[k] + p->c[k];
        }
    }
}

/* x real [n x reals]: W'y at y, real [n x hidden], without `factor`. */
static inline void layer_numbers_turned(const layer_numbers *p, int64_t n, const real *y, real *x)
{
    sali_affine_form_multiply_turned(&p->form->units, p->sum.tape->params, n, y, p->scratch, x);
}

#endif
#endif
