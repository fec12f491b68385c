/* SPDX-License-Identifier: MIT */
/* A B: [m, k] times [k, n]. With B fixed, the batch's rows are stacked: one product [chains m, k]
 * times [k, n]; else it is one product for each chain. A constant that is mostly zeros has a plan.
 */
#include "ad/ops/product.h"
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

/* The call's products: with B fixed one, of the rows of all chains, if BLAS can count them; else
 * one a chain. */
static matrix_product stacked_product(const sali_call *call)
{
    matrix_product p = product_of(call);
    if (call->in[1].stride == 0 && p.m <= INT_MAX / call->chains) {
        p.m *= p.times;
        p.times = 1;
    }
    return p;
}

static void forward(const sali_call *call)
{
    if (call->plan) {
        RN(sali_sparse_forward)(call);
    } else {
        products_forward(call, stacked_product(call));
    }
}

static void backward(const sali_call *call)
{
    if (call->plan) {
        RN(sali_sparse_backward)(call);
    } else {
        products_backward(call, stacked_product(call));
    }
}

static sali_change_outcome change(sali_change *ch)
{
    return ch->call->plan ? RN(sali_sparse_change)(ch) : products_change(ch);
}

const sali_op RN(sali_op_matmul) = {
    .name = "matmul",
    .arity = 2,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_j A_ij B_jk",
    .term = products_term,
    .reach = SALI_REACHES_MANY_UNPLANNED,
    .shape = shape,
    .degree = sali_degree_bilinear,
    .scratch_size = RN(sali_sparse_scratch),
    .plan_create = RN(sali_sparse_plan),
    .forward = forward,
    .backward = backward,
    .change = change,
};
