/* SPDX-License-Identifier: MIT */
/* y_S' B_S^-1 y_S over the rows and columns that s selects. Between 0 and 1, f(s) = y'E M(s)^-1 E y
 * with B as A in masked.h. In units of B's diagonal, v_i = y_i / sqrt(B_ii) and
 * u = (I + E C E)^-1 E v:
 *
 *     f        = u'E v
 *     df/ds_i  = z_i^2 with z = v - C E u, which is u_i / e_i where s_i != 0
 *     df/dy    = 2 E w, df/dB_ij = -(E w)_i (E w)_j, and on the diagonal -w_i^2, w = T^-1/2 u.
 *
 * Where s_i = 0, z_i is the residual of y_i given the selection. u is kept. */
#include <string.h>

#include "ad/ops/masked.h"

/* A sum of rows [n]. */
static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    int64_t n = in[0]->shape.dim[0];
    return masked_size(n) + n;
}

/* u = M^-1 E v, by way of t = L^-1 E v; returns t't = f. */
static real solve_masked(const masked *m, const real *y, real *u)
{
    for (int64_t a = 0; a < m->k; a++) {
        u[a] = m->er[a] * y[m->index[a]];
    }
    return cholesky_solve(m->k, m->M, u);
}

/* NaN, with a NaN u, for a selection over which B is not positive definite. */
static void forward(const sali_call *call)
{
    masked m = masked_begin(&call->in[1], call->scratch);
    real *u = call->saved;
    for (int64_t c = 0; c < call->chains; c++, u += m.n) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        if (masked_factor(&m, s)) {
            ((real *)call->out.value)[c] = solve_masked(&m, call->in[2].value, u);
            continue;
        }
        ((real *)call->out.value)[c] = (real)NAN;
        for (int64_t a = 0; a < m.k; a++) {
            u[a] = (real)NAN;
        }
    }
}

/* Add g df/ds_i = g z_i^2 to `to` [n]; uses m->rest. */
static void pull_selection(const masked *m, real g, const real *y, const real *u, real *to)
{
    real *sum = m->rest; /* A E w, of which the unselected elements count */
    memset(sum, 0, (size_t)m->n * sizeof *sum);
    for (int64_t a = 0; a < m->k; a++) {
        const real *row = m->A + m->index[a] * m->n;
        const real weight = m->er[a] * u[a];
#pragma omp simd
        for (int64_t i = 0; i < m->n; i++) {
            sum[i] += weight * row[i];
        }
    }
    for (int64_t i = 0, a = 0; i < m->n; i++) {
        bool selected = a < m->k && m->index[a] == i;
        real z = selected ? u[a] / m->e[a] : m->r[i] * (y[i] - sum[i]);
        to[i] += g * z * z;
        a += selected;
    }
}

/* Add g df/dB to `to` [n, n]; it is zero but for rows and columns with s_i != 0. */
static void pull_matrix(const masked *m, real g, const real *u, real *to)
{
    for (int64_t a = 0; a < m->k; a++) {
        real *row = to + m->index[a] * m->n;
        real w = m->r[m->index[a]] * u[a];
        for (int64_t b = 0; b < m->k; b++) {
            row[m->index[b]] -= a == b ? g * w * w : g * m->e[a] * w * m->er[b] * u[b];
        }
    }
}

static void backward(const sali_call *call)
{
    masked m = masked_begin(&call->in[1], call->scratch);
    const real *u = call->saved;
    for (int64_t c = 0; c < call->chains; c++, u += m.n) {
        real g = ((const real *)call->out.adjoint)[c];
        if (g == 0) {
            continue;
        }
        masked_select(&m, (const real *)call->in[0].value + c * call->in[0].stride);
        if (call->in[0].adjoint) {
            pull_selection(&m, g, call->in[2].value, u,
                           (real *)call->in[0].adjoint + c * call->in[0].stride);
        }
        if (call->in[1].adjoint) {
            pull_matrix(&m, g, u, call->in[1].adjoint);
        }
        for (int64_t a = 0; call->in[2].adjoint && a < m.k; a++) {
            ((real *)call->in[2].adjoint)[m.index[a]] += 2 * g * m.er[a] * u[a];
        }
    }
}

const sali_op RN(sali_op_masked_quad_inverse) = {
    .name = "masked_quad_inverse",
    .arity = 3,
    .param_inputs = 1u << 1 | 1u << 2,
    .symmetric_inputs = 1u << 1,
    .test_low = 0,
    .test_high = 1,
    .doc = "y'B^-1 y over the rows and columns with s_i = 1",
    .shape = cholesky_quad_shape,
    .degree = sali_degree_nonlinear,
    .saved_size = sali_saved_as_first,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
