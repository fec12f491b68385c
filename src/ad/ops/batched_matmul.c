/* SPDX-License-Identifier: MIT */
/* A_b B_b of each matrix of a batch: [b, m, k] times [b, k, n]. */
#include "ad/change.h"
#include "ad/ops/matrix.h"

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

/* The matrices of one chain and one element of the batch. */
typedef struct batch_place {
    int64_t m, k, n;
    int64_t A, B, out; /* where they begin */
} batch_place;

static batch_place place_of(const sali_call *call, int64_t chain, int64_t b)
{
    const sal_shape *A = call->in[0].shape, *B = call->in[1].shape;
    int64_t m = A->dim[1], k = A->dim[2], n = B->dim[2];
    return (batch_place){ .m = m,
                          .k = k,
                          .n = n,
                          .A = chain * call->in[0].stride + b * m * k,
                          .B = chain * call->in[1].stride + b * k * n,
                          .out = chain * call->out.size + b * m * n };
}

static void forward(const sali_call *call)
{
    const real *A = call->in[0].value, *B = call->in[1].value;
    int64_t batch = call->out.shape->dim[0];
    for (int64_t i = 0; i < call->chains * batch; i++) {
        batch_place p = place_of(call, i / batch, i % batch);
        gemm(PLAIN, PLAIN, p.m, p.n, p.k, A + p.A, B + p.B, 0, (real *)call->out.value + p.out);
    }
}

static void backward(const sali_call *call)
{
    const real *A = call->in[0].value, *B = call->in[1].value, *g = call->out.adjoint;
    real *to_A = call->in[0].adjoint, *to_B = call->in[1].adjoint;
    int64_t batch = call->out.shape->dim[0];
    for (int64_t i = 0; i < call->chains * batch; i++) {
        batch_place p = place_of(call, i / batch, i % batch);
        if (to_A) {
            gemm(PLAIN, TURNED, p.m, p.k, p.n, g + p.out, B + p.B, 1, to_A + p.A);
        }
        if (to_B) {
            gemm(TURNED, PLAIN, p.k, p.n, p.m, A + p.A, g + p.out, 1, to_B + p.B);
        }
    }
}

/* One operand stays, few elements of the other move, as in matmul. */
SALI_CLONES static sali_change_outcome change(sali_change *ch)
{
    int moving = ch->in[0]->n > 0 ? 0 : 1;
    const real *still = ch->call->in[1 - moving].value;
    if (ch->in[1 - moving]->n != 0 || !ch->affine) {
        return SALI_CHANGE_ROW;
    }
    change_save_row(ch, 0);
    for (int64_t l = 0; l < ch->in[moving]->n; l++) {
        int64_t size = ch->call->in[moving].size / ch->call->out.shape->dim[0];
        int64_t b = ch->in[moving]->index[l] / size, at = ch->in[moving]->index[l] % size;
        batch_place p = place_of(ch->call, 0, b);
        change_product(p.m, p.k, p.n, moving, at, change_rise(ch, moving, l),
                       still + (moving == 0 ? p.B : p.A), (real *)ch->call->out.value + p.out);
    }
    return SALI_CHANGE_DONE;
}

static sali_op_term term(const sali_term_place *p)
{
    int64_t rows = p->node->shape.dim[1], columns = p->node->shape.dim[2];
    int64_t length = p->in[1]->shape.dim[1];
    int64_t matrix = p->k / (rows * columns), column = p->k % columns;
    return (sali_op_term){ .count = length,
                           .factor = 1,
                           .n = 2,
                           .input = { 0, 1 },
                           .at = { p->k / columns * length + p->t,
                                   (matrix * length + p->t) * columns + column } };
}

const sali_op RN(sali_op_batched_matmul) = {
    .name = "batched_matmul",
    .arity = 2,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_j A_bij B_bjk",
    .term = term,
    .reach = SALI_REACHES_MANY,
    .shape = shape,
    .degree = sali_degree_bilinear,
    .forward = forward,
    .backward = backward,
    .change = change,
};
