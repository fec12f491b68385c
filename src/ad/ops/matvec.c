/* SPDX-License-Identifier: MIT */
/* A x: [m, n] times [n]. With A fixed and x varying it is one product X A' over the batch,
 * with A arranged for it at each update; a constant A that is mostly zeros has a plan instead. */
#include "ad/change.h"
#include "ad/ops/matrix.h"
#include "ad/ops/panels.h"
#include "ad/ops/sparse_product.h"
#include "ad/sparse.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *A = &context->in[0]->shape, *x = &context->in[1]->shape;
    if (A->rank != 2 || x->rank != 1 || A->dim[1] != x->dim[0] || !fits_blas(A)) {
        return sali_shape_fail(node, context, "a matrix [m, n] and a vector [n]");
    }
    node->shape = SAL_SHAPE(A->dim[0]);
    return sali_expect_attributes(node, 0, 0, context->err);
}

/* A' for forward, and A for the adjoint of x, in panels; nothing if A varies or has a plan. */
static int64_t prepared_size(const sali_node *node, const sali_node *const *in)
{
    int64_t m = node->shape.dim[0], n = in[1]->shape.dim[0];
    sali_sparse sparse;
    bool none = in[0]->varying || sali_is_sparse_product(node, in, &sparse);
    return none ? 1 : panel_pair_size(n, m);
}

/* Does nothing where no panels are needed, see prepared_size. */
static void prepare(const sali_call *call, void *prepared)
{
    const real *A = call->in[0].value;
    int64_t m = call->in[0].shape->dim[0], n = call->in[0].shape->dim[1];
    if (A && call->in[0].stride == 0 && !call->plan) {
        panel_pair_pack(n, m, A, 1, n, prepared);
    }
}

/* With A fixed, few chains use BLAS and more chains the panels: their results differ by
 * rounding. */
static void forward(const sali_call *call)
{
    const sali_arg *A = &call->in[0], *x = &call->in[1];
    int64_t m = A->shape->dim[0], n = A->shape->dim[1];
    real *out = (real *)call->out.value;
    if (call->plan) {
        RN(sali_sparse_forward)(call);
        return;
    }
    if (A->stride == 0 && call->chains >= PANEL_ROWS) {
        panel_pair_product(call->chains, n, m, x->value, call->prepared, out);
        return;
    }
    if (A->stride == 0) {
        gemm(PLAIN, TURNED, call->chains, m, n, x->value, A->value, 0, out);
        return;
    }
    for (int64_t c = 0; c < call->chains; c++) {
        gemv(PLAIN, m, n, (const real *)A->value + c * A->stride,
             (const real *)x->value + c * x->stride, 0, out + c * m);
    }
}

/* A += g x' of one chain. */
static void add_outer(int64_t m, int64_t n, const real *g, const real *x, real *A)
{
    BLAS(ger)(CblasRowMajor, (int)m, (int)n, 1, g, 1, x, 1, A, (int)n);
}

static void backward(const sali_call *call)
{
    const sali_arg *A = &call->in[0], *x = &call->in[1];
    int64_t m = A->shape->dim[0], n = A->shape->dim[1];
    const real *g = call->out.adjoint;
    if (call->plan) {
        RN(sali_sparse_backward)(call);
        return;
    }
    if (A->stride == 0) {
        if (A->adjoint) {
            gemm(TURNED, PLAIN, m, n, call->chains, g, x->value, 1, A->adjoint);
        }
        if (x->adjoint && call->chains >= PANEL_ROWS) {
            panel_pair_pull(call->chains, n, m, g, call->prepared, x->adjoint);
        } else if (x->adjoint) {
            gemm(PLAIN, PLAIN, call->chains, n, m, g, A->value, 1, x->adjoint);
        }
        return;
    }
    for (int64_t c = 0; c < call->chains; c++, g += m) {
        if (A->adjoint) {
            add_outer(m, n, g, (const real *)x->value + c * x->stride,
                      (real *)A->adjoint + c * A->stride);
        }
        if (x->adjoint) {
            gemv(TURNED, m, n, (const real *)A->value + c * A->stride, g, 1,
                 (real *)x->adjoint + c * x->stride);
        }
    }
}

/* With A fixed, adds for each changed x_j the rise times column j of A. */
SALI_CLONES static sali_change_outcome change(sali_change *ch)
{
    int64_t m = ch->call->out.size, n = ch->call->in[1].size;
    const real *A = ch->call->in[0].value;
    real *out = (real *)ch->call->out.value;
    if (ch->call->plan) {
        return RN(sali_sparse_change)(ch);
    }
    if (ch->in[0]->n != 0 || !ch->affine) {
        return SALI_CHANGE_ROW;
    }
    change_save_row(ch, 0);
    for (int64_t k = 0; k < ch->in[1]->n; k++) {
        real rise = change_rise(ch, 1, k);
        const real *column = A + ch->in[1]->index[k];
        for (int64_t i = 0; i < m; i++) {
            out[i] += rise * column[i * n];
        }
    }
    return SALI_CHANGE_DONE;
}

static sali_op_term term(const sali_term_place *p)
{
    int64_t n = p->in[1]->shape.dim[0];
    return (sali_op_term){
        .count = n, .factor = 1, .n = 2, .input = { 0, 1 }, .at = { p->k * n + p->t, p->t }
    };
}

const sali_op RN(sali_op_matvec) = {
    .name = "matvec",
    .arity = 2,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_j A_ij x_j",
    .term = term,
    .reach = SALI_REACHES_MANY_UNPLANNED,
    .shape = shape,
    .degree = sali_degree_bilinear,
    .scratch_size = RN(sali_sparse_scratch),
    .plan_create = RN(sali_sparse_plan),
    .prepared_size = prepared_size,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
    .change = change,
};
