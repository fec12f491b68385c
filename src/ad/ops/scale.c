/* SPDX-License-Identifier: MIT */
/* factor * a for a fixed number. Attributes: reals = { factor }. */
#include "ad/ops/elementwise.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    node->shape = context->in[0]->shape;
    return sali_expect_attributes(node, 0, 1, context->err);
}

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real factor = (real)call->node->reals[0];
    const real *x = call->in[0].value;
    real *y = (real *)call->out.value;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = factor * x[i];
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real factor = (real)call->node->reals[0];
    const real *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] += sali_pull(g[i], factor);
    }
}

static sali_op_term term(const sali_term_place *p)
{
    return (sali_op_term){ .count = 1, .factor = p->node->reals[0], .n = 1, .at = { p->k } };
}

const sali_op RN(sali_op_scale) = {
    .name = "scale",
    .arity = 1,
    .linear = true,
    .layout = SALI_LAYOUT_SAME,
    .test_low = -2,
    .test_high = 2,
    .doc = "factor a",
    .term = term,
    .shape = shape,
    .degree = sali_degree_linear,
    .forward = forward,
    .backward = backward,
    .change = RN(sali_change_elementwise),
};
