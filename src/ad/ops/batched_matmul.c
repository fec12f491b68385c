/* SPDX-License-Identifier: MIT */
/* A_b B_b of each matrix of a batch: [b, m, k] times [b, k, n]. */
#include "ad/ops/product.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *A = &context->in[0]->shape, *B = &context->in[1]->shape;
    if (A->rank != 3 || B->rank != 3 || A->dim[0] != B->dim[0] || A->dim[2] != B->dim[1] ||
        !fits_blas(A) || !fits_blas(B)) {
        return sali_shape_fail(node, context, "as many matrices [b, m, k] as [b, k, n]");
    }
    node->shape = SAL_SHAPE(A->dim[0], A->dim[1], B->dim[2]);
    return sali_expect_attributes(node, 0, 0, context->err);
}

static void forward(const sali_call *call)
{
    products_forward(call, product_of(call));
}

static void backward(const sali_call *call)
{
    const matrix_product p = product_of(call);
    if (call->in[0].adjoint) {
        products_pull_left(call, p);
    }
    if (call->in[1].adjoint) {
        products_pull_right(call, p);
    }
}

const sali_op RN(sali_op_batched_matmul) = {
    .name = "batched_matmul",
    .arity = 2,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_j A_bij B_bjk",
    .term = products_term,
    .reach = SALI_REACHES_MANY,
    .shape = shape,
    .degree = sali_degree_bilinear,
    .forward = forward,
    .backward = backward,
    .change = products_change,
};
