/* SPDX-License-Identifier: MIT */
/* Products of matrices [m, k] and [k, n], one or `batch` of them in each chain: matmul.c and
 * batched_matmul.c. The last two axes of a shape are the matrix. */
#ifndef SALI_PRODUCT_H
#define SALI_PRODUCT_H

#include "ad/change.h"
#include "ad/ops/matrix.h"

typedef struct matrix_product {
    int64_t times, batch; /* number of products, in all and in each chain; */
    int64_t m, k, n;      /* sizes of each */
} matrix_product;

/* The call's products, one for each matrix of each chain. */
static matrix_product product_of(const sali_call *call)
{
    const sal_shape *A = call->in[0].shape, *B = call->in[1].shape;
    int64_t batch = A->rank > 2 ? A->dim[0] : 1;
    return (matrix_product){ .times = call->chains * batch,
                             .batch = batch,
                             .m = A->dim[A->rank - 2],
                             .k = A->dim[A->rank - 1],
                             .n = B->dim[B->rank - 1] };
}

/* Where the matrices of product i begin. */
typedef struct product_place {
    int64_t A, B, out;
} product_place;

static inline product_place place_of(const sali_call *call, const matrix_product *p, int64_t i)
{
    int64_t chain = i / p->batch, b = i % p->batch;
    return (product_place){ .A = chain * call->in[0].stride + b * p->m * p->k,
                            .B = chain * call->in[1].stride + b * p->k * p->n,
                            .out = i * p->m * p->n };
}

static inline void products_forward(const sali_call *call, matrix_product p)
{
    const real *A = call->in[0].value, *B = call->in[1].value;
    for (int64_t i = 0; i < p.times; i++) {
        product_place at = place_of(call, &p, i);
        gemm(PLAIN, PLAIN, p.m, p.n, p.k, A + at.A, B + at.B, 0, (real *)call->out.value + at.out);
    }
}

/* Add g B' of each product to the adjoint of A. */
static inline void products_pull_left(const sali_call *call, matrix_product p)
{
    const real *B = call->in[1].value, *g = call->out.adjoint;
    for (int64_t i = 0; i < p.times; i++) {
        product_place at = place_of(call, &p, i);
        gemm(PLAIN, TURNED, p.m, p.k, p.n, g + at.out, B + at.B, 1,
             (real *)call->in[0].adjoint + at.A);
    }
}

/* Add A' g of each product to the adjoint of B. */
static inline void products_pull_right(const sali_call *call, matrix_product p)
{
    const real *A = call->in[0].value, *g = call->out.adjoint;
    for (int64_t i = 0; i < p.times; i++) {
        product_place at = place_of(call, &p, i);
        gemm(TURNED, PLAIN, p.k, p.n, p.m, A + at.A, g + at.out, 1,
             (real *)call->in[1].adjoint + at.B);
    }
}

/* Update C = A B after element `at` of A (moving = 0) or of B (moving = 1) rose; `still` is the
 * other matrix, which did not change. A_ij adds rise times row j of B to row i of C; B_jc adds rise
 * times column j of A to column c. */
static inline void raise_product(const matrix_product *p, int moving, int64_t at, real rise,
                                 const real *still, real *C)
{
    for (int64_t c = 0; moving == 0 && c < p->n; c++) {
        C[at / p->k * p->n + c] += rise * still[at % p->k * p->n + c];
    }
    for (int64_t i = 0; moving == 1 && i < p->m; i++) {
        C[i * p->n + at % p->n] += rise * still[i * p->k + at / p->n];
    }
}

/* Updates the output if few elements of one operand changed, and none of the other. */
SALI_CLONES static sali_change_outcome products_change(sali_change *ch)
{
    int moving = ch->in[0]->n > 0 ? 0 : 1;
    const real *still = ch->call->in[1 - moving].value;
    matrix_product p = product_of(ch->call);
    int64_t size = moving == 0 ? p.m * p.k : p.k * p.n;
    if (ch->in[1 - moving]->n != 0 || !ch->affine) {
        return SALI_CHANGE_ROW;
    }
    change_save_row(ch, 0);
    for (int64_t l = 0; l < ch->in[moving]->n; l++) {
        int64_t b = ch->in[moving]->index[l] / size, at = ch->in[moving]->index[l] % size;
        product_place place = place_of(ch->call, &p, b);
        raise_product(&p, moving, at, change_rise(ch, moving, l),
                      still + (moving == 0 ? place.B : place.A),
                      (real *)ch->call->out.value + place.out);
    }
    return SALI_CHANGE_DONE;
}

/* Term t of an element is A_it B_tj, with the indices of the element's matrix in a batch. */
static sali_op_term products_term(const sali_term_place *p)
{
    const sal_shape *A = &p->in[0]->shape, *out = &p->node->shape;
    int64_t length = A->dim[A->rank - 1], columns = out->dim[out->rank - 1];
    int64_t matrix = p->k / (A->dim[A->rank - 2] * columns);
    return (sali_op_term){ .count = length,
                           .factor = 1,
                           .n = 2,
                           .input = { 0, 1 },
                           .at = { p->k / columns * length + p->t,
                                   (matrix * length + p->t) * columns + p->k % columns } };
}

#endif
