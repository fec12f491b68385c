/* SPDX-License-Identifier: MIT */
/* A B: [m, k] times [k, n]. With B fixed, the batch's rows are stacked: one product [chains m, k]
 * times [k, n], with B arranged for it at each update; else it is one product for each chain. A
 * constant that is mostly zeros has a plan. */
#include "ad/ops/panels.h"
#include "ad/ops/product.h"
#include "ad/ops/sparse_product.h"
#include "ad/sparse.h"

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

/* B in panels; nothing if A does not vary or B does, or the product has a plan. */
static int64_t prepared_size(const sali_node *node, const sali_node *const *in)
{
    sali_sparse sparse;
    bool none = !in[0]->varying || in[1]->varying || sali_is_sparse_product(node, in, &sparse);
    return none ? 1 : panel_pair_size(in[1]->shape.dim[0], in[1]->shape.dim[1]);
}

/* Does nothing where no panels are needed, see prepared_size. */
static void prepare(const sali_call *call, void *prepared)
{
    const real *B = call->in[1].value;
    if (call->node->varying && B && call->in[1].stride == 0 && !call->plan) {
        const sal_shape *shape = call->in[1].shape;
        panel_pair_pack(shape->dim[0], shape->dim[1], B, shape->dim[1], 1, prepared);
    }
}

/* Whether the panels of B are used: with few rows BLAS is, whose results differ by rounding. */
static bool takes_panels(const sali_call *call, const matrix_product *p)
{
    return call->in[0].stride > 0 && call->in[1].stride == 0 && p->times == 1 && p->m >= PANEL_ROWS;
}

static void forward(const sali_call *call)
{
    const matrix_product p = stacked_product(call);
    if (call->plan) {
        RN(sali_sparse_forward)(call);
    } else if (takes_panels(call, &p)) {
        panel_pair_product(p.m, p.k, p.n, call->in[0].value, call->prepared,
                           (real *)call->out.value);
    } else {
        products_forward(call, p);
    }
}

static void backward(const sali_call *call)
{
    const matrix_product p = stacked_product(call);
    if (call->plan) {
        RN(sali_sparse_backward)(call);
        return;
    }
    if (call->in[0].adjoint && takes_panels(call, &p)) {
        panel_pair_pull(p.m, p.k, p.n, call->out.adjoint, call->prepared, call->in[0].adjoint);
    } else if (call->in[0].adjoint) {
        products_pull_left(call, p);
    }
    if (call->in[1].adjoint) {
        products_pull_right(call, p);
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
    .prepared_size = prepared_size,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
    .change = change,
};
