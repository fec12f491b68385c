/* A B: [m, k] times [k, n]. With B fixed, the batch's rows are stacked: one product [chains m, k]
 * times [k, n]; else it is one product for each chain. */
#include "ad/ops/matrix.h"

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
    for (int64_t c = 0; c < p.times; c++) {
        gemm(PLAIN, PLAIN, p.m, p.n, p.k, (const real *)A->value + c * A->stride,
             (const real *)B->value + c * B->stride, 0, (real *)call->out.value + c * p.m * p.n);
    }
}

static void backward(const sali_call *call)
{
    const sali_arg *A = &call->in[0], *B = &call->in[1];
    matrix_product p = product_of(call);
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

const sali_op RN(sali_op_matmul) = {
    .name = "matmul",
    .arity = 2,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_j A_ij B_jk",
    .shape = shape,
    .degree = sali_degree_bilinear,
    .forward = forward,
    .backward = backward,
};
