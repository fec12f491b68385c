/* SPDX-License-Identifier: MIT */
/* log det(A_S) over the rows and columns that s selects. Between 0 and 1,
 *
 *     f(s) = log det M(s) - sum_i (1 - s_i) log A_ii = sum_i s_i log A_ii + log det(I + E C E),
 *
 * see masked.h: sum_i s_i log A_ii, plus the logarithm of the multilinear extension of det(C_S +
 * I). With I + E C E = L L':
 *
 *     df/ds_i  = log A_ii - |L^-1 E C_.i|^2
 *     df/dA_ij = (E M^-1 E)_ij, and on the diagonal (M^-1)_ii - (1 - s_i) / A_ii.
 *
 * Where s_i = 0, the derivative is log A_ii - (1 - 1/v) with 1/v the part of A_ii that the
 * selection leaves unexplained; where s_i = 1, log A_ii + 1 - v. The factor is made again in the
 * backward pass: keeping it would take k^2 numbers a chain. */
#include <string.h>

#include "ad/ops/masked.h"

/* log A_ii [n], and E C or its triangular solution [k, n]. */
static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    int64_t n = in[0]->shape.dim[0];
    return masked_size(n) + n + n * n;
}

static void log_diagonal(const masked *m, real *to)
{
    for (int64_t i = 0; i < m->n; i++) {
        to[i] = (real)(m->r[i] > 0 ? log((double)m->A[i * m->n + i]) : NAN);
    }
}

/* NaN for a selection over which A is not positive definite. */
static void forward(const sali_call *call)
{
    masked m = masked_begin(&call->in[1], call->scratch);
    log_diagonal(&m, m.rest);
    for (int64_t c = 0; c < call->chains; c++) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        double sum = masked_factor(&m, s) ? 0 : NAN;
        for (int64_t a = 0; a < m.k; a++) {
            sum += (double)s[m.index[a]] * (double)m.rest[m.index[a]] +
                   2 * log((double)m.M[a * m.k + a]);
        }
        ((real *)call->out.value)[c] = (real)sum;
    }
}

/* X = L^-1 E C, [k, n]. */
static void solve_rows(const masked *m, real *X)
{
    for (int64_t a = 0; a < m->k; a++) {
        const real *row = m->A + m->index[a] * m->n;
#pragma omp simd
        for (int64_t i = 0; i < m->n; i++) {
            X[a * m->n + i] = m->er[a] * row[i] * m->r[i];
        }
        X[a * m->n + m->index[a]] = 0;
    }
    if (m->k > 0) {
        BLAS(trsm)
        (CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)m->k, (int)m->n, 1,
         m->M, (int)m->k, X, (int)m->n);
    }
}

/* Add g df/ds to `to` [n]; X [k, n] is room. */
static void pull_selection(const masked *m, real g, const real *log_a, real *X, real *to)
{
    solve_rows(m, X);
#pragma omp simd
    for (int64_t i = 0; i < m->n; i++) {
        to[i] += g * log_a[i];
    }
    for (int64_t a = 0; a < m->k; a++) {
        const real *x = X + a * m->n;
#pragma omp simd
        for (int64_t i = 0; i < m->n; i++) {
            to[i] -= g * x[i] * x[i];
        }
    }
}

/* Add g df/dA to `to` [n, n]. Overwrites the factor in m->M by the inverse. */
static void pull_matrix(masked *m, real g, const real *s, real *to)
{
    int k = (int)m->k, info = 0;
    if (k > 0) {
        LAPACK(potri)("U", &k, m->M, &k, &info, 1);
    }
    for (int64_t a = 0; a < m->k; a++) {
        int64_t i = m->index[a];
        for (int64_t b = 0; b < a; b++) {
            real term = g * m->er[a] * m->er[b] * m->M[a * m->k + b];
            to[i * m->n + m->index[b]] += term;
            to[m->index[b] * m->n + i] += term;
        }
        to[i * m->n + i] += g * m->r[i] * m->r[i] * (m->M[a * m->k + a] - 1 + s[i]);
    }
}

/* NaN adjoints for a selection over which A is not positive definite. */
static void backward(const sali_call *call)
{
    masked m = masked_begin(&call->in[1], call->scratch);
    real *log_a = m.rest, *X = m.rest + m.n;
    log_diagonal(&m, log_a);
    for (int64_t c = 0; c < call->chains; c++) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        real g = ((const real *)call->out.adjoint)[c];
        if (g == 0) {
            continue;
        }
        g = masked_factor(&m, s) ? g : (real)NAN;
        if (call->in[0].adjoint) {
            pull_selection(&m, g, log_a, X, (real *)call->in[0].adjoint + c * call->in[0].stride);
        }
        if (call->in[1].adjoint) {
            pull_matrix(&m, g, s, call->in[1].adjoint);
        }
    }
}

const sali_op RN(sali_op_masked_logdet) = {
    .name = "masked_logdet",
    .arity = 2,
    .param_inputs = 1u << 1,
    .symmetric_inputs = 1u << 1,
    .test_low = 0,
    .test_high = 1,
    .doc = "log det of A's rows and columns with s_i = 1",
    .shape = form_shape,
    .degree = sali_degree_nonlinear,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
