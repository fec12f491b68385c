/* SPDX-License-Identifier: MIT */
/* y'D (I + D G D)^-1 D y, D = diag(s). With w = (I + D G D)^-1 D y, which is kept,
 *
 *     f        = w'D y
 *     df/ds_i  = 2 w_i^2 / s_i, 0 where s_i = 0
 *     df/dy    = 2 D w, df/dG_ij = -(s_i w_i) (s_j w_j). */
#include "ad/ops/ridge.h"

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    return ridge_size(in[0]->shape.dim[0]);
}

/* w by way of t = L^-1 D y; returns t't = f. */
static real solve_ridge(const ridge *r, const real *s, const real *y, real *w)
{
    for (int64_t a = 0; a < r->k; a++) {
        w[a] = s[r->index[a]] * y[r->index[a]];
    }
    return cholesky_solve(r->k, r->M, w);
}

/* NaN, with a NaN w, if I + D G D is not positive definite. */
static void forward(const sali_call *call)
{
    ridge r = ridge_begin(call->in[1].shape->dim[0], call->scratch);
    real *w = call->saved;
    for (int64_t c = 0; c < call->chains; c++, w += r.n) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        if (ridge_factor(&r, call->in[1].value, s)) {
            ((real *)call->out.value)[c] = solve_ridge(&r, s, call->in[2].value, w);
            continue;
        }
        ((real *)call->out.value)[c] = (real)NAN;
        for (int64_t a = 0; a < r.k; a++) {
            w[a] = (real)NAN;
        }
    }
}

/* Add g df/ds to to_s [n] (NULL: not wanted), and g df/dG and g df/dy to the adjoints of G and y,
 * as far as they are wanted. */
static void add_gradient(const sali_call *call, const ridge *r, real g, const real *s,
                         const real *w, real *to_s)
{
    real *to_G = call->in[1].adjoint, *to_y = call->in[2].adjoint;
    for (int64_t a = 0; a < r->k; a++) {
        int64_t i = r->index[a];
        if (to_s) {
            to_s[i] += 2 * g * w[a] * w[a] / s[i];
        }
        if (to_y) {
            to_y[i] += 2 * g * s[i] * w[a];
        }
        for (int64_t b = 0; to_G && b < r->k; b++) {
            int64_t j = r->index[b];
            to_G[i * r->n + j] -= g * s[i] * w[a] * s[j] * w[b];
        }
    }
}

static void backward(const sali_call *call)
{
    ridge r = ridge_begin(call->in[1].shape->dim[0], call->scratch);
    const real *w = call->saved;
    for (int64_t c = 0; c < call->chains; c++, w += r.n) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        real g = ((const real *)call->out.adjoint)[c], *to_s = call->in[0].adjoint;
        if (g != 0) {
            ridge_select(&r, s);
            add_gradient(call, &r, g, s, w, to_s ? to_s + c * call->in[0].stride : NULL);
        }
    }
}

const sali_op RN(sali_op_ridge_quad_inverse) = {
    .name = "ridge_quad_inverse",
    .arity = 3,
    .param_inputs = 1u << 1 | 1u << 2,
    .symmetric_inputs = 1u << 1,
    .test_low = 0,
    .test_high = 1,
    .doc = "y'D (I + D G D)^-1 D y, D = diag(s)",
    .shape = cholesky_quad_shape,
    .degree = sali_degree_nonlinear,
    .saved_size = sali_saved_as_first,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
