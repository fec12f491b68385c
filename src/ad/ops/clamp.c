/* SPDX-License-Identifier: MIT */
/* min(max(a, low), high). Attributes: reals = { low, high }. The derivative is 1 between the bounds
 * and 0 outside and at them. */
#include <math.h>

#include "ad/ops/unary.h"
#include "core/error.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 0, 2, context->err);
    if (status != SAL_OK) {
        return status;
    }
    if (!(node->reals[0] <= node->reals[1])) {
        return sali_fail(context->err, SAL_ERR_ARGUMENT,
                         "clamp: bounds %g and %g; expected low <= "
                         "high",
                         node->reals[0], node->reals[1]);
    }
    node->shape = context->in[0]->shape;
    return SAL_OK;
}

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real low = (real)call->node->reals[0], high = (real)call->node->reals[1];
    const real *x = call->in[0].value;
    real *y = (real *)call->out.value;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real raised = x[i] < low ? low : x[i]; /* a NaN stays one */
        y[i] = raised > high ? high : raised;
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real low = (real)call->node->reals[0], high = (real)call->node->reals[1];
    const real *x = call->in[0].value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] += ((x[i] > low) & (x[i] < high)) ? g[i] : 0;
    }
}

const sali_op RN(sali_op_clamp) = {
    UNARY_FIELDS(clamp, "min(max(a, low), high)", -1, 1),
    .shape = shape,
    .degree = sali_degree_nonlinear,
};
