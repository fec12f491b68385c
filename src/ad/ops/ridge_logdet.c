/* SPDX-License-Identifier: MIT */
/* log det(I + D G D), D = diag(s). With H the inverse of that matrix,
 *
 *     df/ds_i  = 2 (1 - H_ii) / s_i, 0 where s_i = 0; at most 2 at s_i = 1, whatever G
 *     df/dG_ij = s_i H_ij s_j.
 *
 * The factor is made again in the backward pass: keeping it would take k^2 numbers a chain. */
#include "ad/ops/ridge.h"

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    return ridge_size(in[0]->shape.dim[0]);
}

/* NaN if I + D G D is not positive definite. */
static void forward(const sali_call *call)
{
    ridge r = ridge_begin(call->in[1].shape->dim[0], call->scratch);
    for (int64_t c = 0; c < call->chains; c++) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        double sum = ridge_factor(&r, call->in[1].value, s) ? 0 : NAN;
        for (int64_t a = 0; a < r.k; a++) {
            sum += 2 * log((double)r.M[a * r.k + a]);
        }
        ((real *)call->out.value)[c] = (real)sum;
    }
}

/* Add g df/ds to to_s [n] (NULL: not wanted) and g df/dG to G's adjoint, from the inverse H in
 * r->M. A NaN g makes these NaN. */
static void add_gradient(const sali_call *call, const ridge *r, real g, const real *s, real *to_s)
{
    real *to_G = call->in[1].adjoint;
    for (int64_t a = 0; a < r->k; a++) {
        int64_t i = r->index[a];
        const real *row = r->M + a * r->k;
        if (to_s) {
            to_s[i] += g * 2 * (1 - row[a]) / s[i];
        }
        for (int64_t b = 0; to_G && b <= a; b++) {
            int64_t j = r->index[b];
            real term = g * s[i] * row[b] * s[j];
            to_G[i * r->n + j] += term;
            to_G[j * r->n + i] += a == b ? 0 : term;
        }
    }
}

static void backward(const sali_call *call)
{
    ridge r = ridge_begin(call->in[1].shape->dim[0], call->scratch);
    for (int64_t c = 0; c < call->chains; c++) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        real g = ((const real *)call->out.adjoint)[c];
        real *to_s = call->in[0].adjoint;
        if (g == 0) {
            continue;
        }
        bool good = ridge_factor(&r, call->in[1].value, s);
        int k = (int)r.k, info = 0;
        if (good && k > 0) {
            LAPACK(potri)("U", &k, r.M, &k, &info, 1);
        }
        add_gradient(call, &r, good ? g : (real)NAN, s,
                     to_s ? to_s + c * call->in[0].stride : NULL);
    }
}

const sali_op RN(sali_op_ridge_logdet) = {
    .name = "ridge_logdet",
    .arity = 2,
    .param_inputs = 1u << 1,
    .symmetric_inputs = 1u << 1,
    .test_low = 0,
    .test_high = 1,
    .doc = "log det(I + D G D), D = diag(s)",
    .shape = form_shape,
    .degree = sali_degree_nonlinear,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
