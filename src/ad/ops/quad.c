/* SPDX-License-Identifier: MIT */
/* s'Ss for a symmetric S that does not depend on the state. Y = S s is one product over the batch,
 * with S arranged for it at each update, and is kept: the gradient 2 Y costs nothing more. S itself
 * gets sum_c g_c s_c s_c'. */
#include <math.h>
#include <string.h>

#include "ad/change.h"
#include "ad/ops/matrix.h"
#include "ad/ops/panels.h"

/* Multilinear if S is zero between coordinates of one variable, so that such coordinates do not
 * meet. */
static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    (void)node;
    const sali_node *S = in[1];
    if (in_degree[0] == SALI_CONSTANT) {
        return SALI_CONSTANT;
    }
    bool apart = S->n_ints > 0 && sali_names_variables(in[0], in_degree[0], space);
    for (int64_t i = 1; apart && in[0]->op == SALI_OP_state && i < S->n_ints; i++) {
        apart = S->ints[i] == S->ints[i - 1] ||
                sali_space_owner(space, i) != sali_space_owner(space, i - 1);
    }
    return apart ? SALI_MULTILINEAR : SALI_GENERAL;
}

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    return chains * in[0]->shape.dim[0];
}

static int64_t prepared_size(const sali_node *node, const sali_node *const *in)
{
    int64_t n = in[0]->shape.dim[0];
    (void)node;
    return panels_size(n, n);
}

static void prepare(const sali_call *call, void *prepared)
{
    int64_t n = call->in[1].shape->dim[0];
    if (call->in[1].value) {
        panels_pack(n, n, call->in[1].value, n, 1, prepared);
    }
}

/* Few chains use BLAS and more chains the panels: their results differ by rounding. */
SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->in[0].size;
    const real *s = call->in[0].value;
    real *Y = call->saved, *out = (real *)call->out.value;
    if (call->chains >= PANEL_ROWS) {
        panels_product(call->chains, n, n, s, call->prepared, false, Y);
    } else {
        gemm(PLAIN, PLAIN, call->chains, n, n, s, call->in[1].value, 0, Y);
    }
    for (int64_t c = 0; c < call->chains; c++, s += n, Y += n) {
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++) {
            sum += s[i] * Y[i];
        }
        out[c] = sum;
    }
}

/* to[c] += factor g[c] x[c] for the rows [n] of all chains. */
static inline void add_rows(int64_t chains, int64_t n, real factor, const real *g, const real *x,
                            real *to)
{
    for (int64_t c = 0; c < chains; c++, x += n, to += n) {
        real gc = factor * g[c];
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            to[i] += sali_pull(gc, x[i]);
        }
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->in[0].size;
    const real *g = call->out.adjoint;
    if (call->in[0].adjoint) {
        add_rows(call->chains, n, 2, g, call->saved, call->in[0].adjoint);
    }
    if (call->in[1].adjoint) {
        real *weighted = call->scratch;
        memset(weighted, 0, (size_t)(call->chains * n) * sizeof *weighted);
        add_rows(call->chains, n, 1, g, call->in[0].value, weighted);
        gemm(TURNED, PLAIN, n, n, call->chains, weighted, call->in[0].value, 1,
             call->in[1].adjoint);
    }
}

/* If s_j rises by r, f rises by r (2 Y_j + S_jj r), Y by r times row j of S, and the gradient by
 * this row times 2 g r. */
SALI_CLONES static sali_change_outcome change(sali_change *ch)
{
    int64_t n = ch->call->in[0].size;
    const real *S = ch->call->in[1].value;
    real *Y = ch->call->saved, *gradient = ch->gradient, *out = (real *)ch->call->out.value;
    real g = gradient ? 2 * *(const real *)ch->call->out.adjoint : 0;
    if (!ch->affine || !isfinite(*out)) {
        return SALI_CHANGE_ROW;
    }
    change_save_row(ch, n);
    if (gradient) {
        change_save_gradient(ch, n);
    }
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        int64_t j = ch->in[0]->index[k];
        real rise = change_rise(ch, 0, k);
        const real *row = S + j * n;
        *out += rise * (2 * Y[j] + row[j] * rise);
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            Y[i] += rise * row[i];
        }
        for (int64_t i = 0; gradient && i < n; i++) {
            gradient[i] += g * rise * row[i];
        }
    }
    return SALI_CHANGE_DONE;
}

/* S is symmetric, so each product s_i s_j has one term, of factor 2 below the diagonal. */
static sali_op_term term(const sali_term_place *p)
{
    int64_t n = p->in[0]->shape.dim[0], i = p->t / n, j = p->t % n;
    return (sali_op_term){ .count = n * n,
                           .factor = j < i    ? 2
                                     : j == i ? 1
                                              : 0,
                           .n = 3,
                           .input = { 0, 0, 1 },
                           .at = { i, j, p->t } };
}

const sali_op RN(sali_op_quad) = {
    .name = "quad",
    .arity = 2,
    .changes_gradient = true,
    .params_by_inputs = true,
    .param_inputs = 1u << 1,
    .symmetric_inputs = 1u << 1,
    .test_low = -2,
    .test_high = 2,
    .doc = "s'Ss",
    .term = term,
    .shape = form_shape,
    .degree = degree,
    .saved_size = sali_saved_as_first,
    .scratch_size = scratch_size,
    .prepared_size = prepared_size,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
    .change = change,
};
