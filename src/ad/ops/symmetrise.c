/* SPDX-License-Identifier: MIT */
/* (J + J') / 2 of a square matrix. Attributes: none, or ints = a group for each row, any numbers;
 * then entries of two rows of one group, the diagonal among them, are 0. */
#include "ad/ops/ops.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *J = &context->in[0]->shape;
    if (J->rank != 2 || J->dim[0] != J->dim[1]) {
        return sali_shape_fail(node, context, "a square matrix [n, n]");
    }
    node->shape = *J;
    return sali_expect_attributes(node, node->n_ints ? J->dim[0] : 0, 0, context->err);
}

static inline bool is_cleared(const sali_node *node, int64_t i, int64_t j)
{
    return node->n_ints > 0 && node->ints[i] == node->ints[j];
}

static void forward(const sali_call *call)
{
    int64_t n = call->out.shape->dim[0];
    for (int64_t c = 0; c < call->chains; c++) {
        const real *J = (const real *)call->in[0].value + c * n * n;
        real *S = (real *)call->out.value + c * n * n;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j <= i; j++) {
                bool cleared = is_cleared(call->node, i, j);
                S[i * n + j] = S[j * n + i] = cleared ? 0 : (J[i * n + j] + J[j * n + i]) / 2;
            }
        }
    }
}

/* The adjoint of J is the symmetric part of the output's adjoint, 0 where entries are cleared. */
static void backward(const sali_call *call)
{
    int64_t n = call->out.shape->dim[0];
    for (int64_t c = 0; c < call->chains; c++) {
        const real *g = (const real *)call->out.adjoint + c * n * n;
        real *to = (real *)call->in[0].adjoint + c * n * n;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                bool cleared = is_cleared(call->node, i, j);
                to[i * n + j] += cleared ? 0 : (g[i * n + j] + g[j * n + i]) / 2;
            }
        }
    }
}

static sali_op_term term(const sali_term_place *p)
{
    int64_t n = p->in[0]->shape.dim[0], i = p->k / n, j = p->k % n;
    return (sali_op_term){ .count = 2,
                           .factor = is_cleared(p->node, i, j) ? 0 : 0.5,
                           .n = 1,
                           .at = { p->t == 0 ? p->k : j * n + i } };
}

const sali_op RN(sali_op_symmetrise) = {
    .name = "symmetrise",
    .arity = 1,
    .test_low = -2,
    .test_high = 2,
    .doc = "(J + J') / 2",
    .term = term,
    .shape = shape,
    .degree = sali_degree_mixing,
    .forward = forward,
    .backward = backward,
};
