/* SPDX-License-Identifier: MIT */
/* A B: [m, k] times [k, n]. With B fixed, the batch's rows are stacked: one product [chains m, k]
 * times [k, n]; else it is one product for each chain. A constant that is mostly zeros has a plan.
 */
#include "ad/change.h"
#include "ad/ops/matrix.h"
#include "ad/ops/sparse_product.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *A = &context->in[0]->shape, *B = &context->in[1]->shape;
    if (A->rank != 2 || B->rank != 2 || A->dim[1] != B->dim[0] || !fits_blas(A) || !fits_blas(B)) {
        return sali_shape_fail(node, context, "matrices [m, k] and [k, n]");
    }
    node->shape = SAL_SHAPE(A->dim[0], B->dim[1]);
    return sali_expect_attributes(node, 0, 0, context->err);
}

typedef struct matrix_product {
    int64_t times;   /* how many products, */
    int64_t m, k, n; /* each of this size */
} matrix_product;

static matrix_product product_of(const sali_call *call)
{
    const sal_shape *A = call->in[0].shape, *B = call->in[1].shape;
    matrix_product p = { .times = call->chains, .m = A->dim[0], .k = A->dim[1], .n = B->dim[1] };
    if (call->in[1].stride == 0 && p.m <= INT_MAX / call->chains) {
        p.m *= p.times;
        p.times = 1;
    }
    return p;
}

static void forward(const sali_call *call)
{
    const sali_arg *A = &call->in[0], *B = &call->in[1];
    matrix_product p = product_of(call);
    if (call->plan) {
        RN(sali_sparse_forward)(call);
        return;
    }
    for (int64_t c = 0; c < p.times; c++) {
        gemm(PLAIN, PLAIN, p.m, p.n, p.k, (const real *)A->value + c * A->stride,
             (const real *)B->value + c * B->stride, 0, (real *)call->out.value + c * p.m * p.n);
    }
}

static void backward(const sali_call *call)
{
    const sali_arg *A = &call->in[0], *B = &call->in[1];
    matrix_product p = product_of(call);
    if (call->plan) {
        RN(sali_sparse_backward)(call);
        return;
    }
    for (int64_t c = 0; c < p.times; c++) {
        const real *g = (const real *)call->out.adjoint + c * p.m * p.n;
        if (A->adjoint) {
            gemm(PLAIN, TURNED, p.m, p.k, p.n, g, (const real *)B->value + c * B->stride, 1,
                 (real *)A->adjoint + c * A->stride);
        }
        if (B->adjoint) {
            gemm(TURNED, PLAIN, p.k, p.n, p.m, (const real *)A->value + c * A->stride, g, 1,
                 (real *)B->adjoint + c * B->stride);
        }
    }
}

/* One operand stays, few elements of the other move. */
SALI_CLONES static sali_change_outcome change(sali_change *ch)
{
    const sali_call *call = ch->call;
    int moving = ch->in[0]->n > 0 ? 0 : 1;
    int64_t k = call->in[0].shape->dim[1], m = call->in[0].shape->dim[0];
    int64_t n = call->in[1].shape->dim[1];
    const real *still = call->in[1 - moving].value;
    real *out = (real *)call->out.value;
    if (call->plan) {
        return RN(sali_sparse_change)(ch);
    }
    if (ch->in[1 - moving]->n != 0 || !ch->affine) {
        return SALI_CHANGE_ROW;
    }
    change_save_row(ch, 0);
    for (int64_t l = 0; l < ch->in[moving]->n; l++) {
        change_product(m, k, n, moving, ch->in[moving]->index[l], change_rise(ch, moving, l), still,
                       out);
    }
    return SALI_CHANGE_DONE;
}

static sali_op_term term(const sali_term_place *p)
{
    int64_t length = p->in[1]->shape.dim[0], columns = p->node->shape.dim[1];
    return (
        sali_op_term){ .count = length,
                       .factor = 1,
                       .n = 2,
                       .input = { 0, 1 },
                       .at = { p->k / columns * length + p->t, p->t * columns + p->k % columns } };
}

const sali_op RN(sali_op_matmul) = {
    .name = "matmul",
    .arity = 2,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_j A_ij B_jk",
    .term = term,
    .reach = SALI_REACHES_MANY_UNPLANNED,
    .shape = shape,
    .degree = sali_degree_bilinear,
    .scratch_size = RN(sali_sparse_scratch),
    .plan_create = RN(sali_sparse_plan),
    .forward = forward,
    .backward = backward,
    .change = change,
};
