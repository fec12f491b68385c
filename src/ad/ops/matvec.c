/* A x: [m, n] times [n]. With A fixed and x varying it is one product X A' over the batch. */
#include "ad/ops/matrix.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *A = &context->in[0]->shape, *x = &context->in[1]->shape;
    if (A->rank != 2 || x->rank != 1 || A->dim[1] != x->dim[0] || !fits_blas(A)) {
        return sali_shape_fail(node, context, "a matrix [m, n] and a vector [n]");
    }
    node->shape = SAL_SHAPE(A->dim[0]);
    return sali_expect_attributes(node, 0, 0, context->err);
}

static void forward(const sali_call *call)
{
    const sali_arg *A = &call->in[0], *x = &call->in[1];
    int64_t m = A->shape->dim[0], n = A->shape->dim[1];
    real *out = (real *)call->out.value;
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
    if (A->stride == 0) {
        if (A->adjoint) {
            gemm(TURNED, PLAIN, m, n, call->chains, g, x->value, 1, A->adjoint);
        }
        if (x->adjoint) {
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

const sali_op RN(sali_op_matvec) = {
    .name = "matvec",
    .arity = 2,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_j A_ij x_j",
    .shape = shape,
    .degree = sali_degree_bilinear,
    .forward = forward,
    .backward = backward,
};
