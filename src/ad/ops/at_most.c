/* SPDX-License-Identifier: MIT */
/* A hard limit: 0 where a <= most, -inf where a > most, NaN where a is NaN. The one attribute is
 * reals = { most }. The derivative counts as 0 everywhere. For a workspace that leaves limits out
 * (call->unlimited) the value is 0 everywhere. */
#include <math.h>
#include <string.h>

#include "ad/ops/elementwise.h"
#include "core/error.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 0, 1, context->err);
    if (status != SAL_OK) {
        return status;
    }
    if (isnan(node->reals[0])) {
        return sali_fail(context->err, SAL_ERR_ARGUMENT,
                         "at_most: the limit is NaN; expected a number");
    }
    node->shape = context->in[0]->shape;
    return SAL_OK;
}

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real most = (real)call->node->reals[0], forbidden = -(real)INFINITY;
    const real *x = call->in[0].value;
    real *y = (real *)call->out.value;
    if (call->unlimited) {
        memset(y, 0, (size_t)n * sizeof *y);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real above = x[i] > most ? forbidden : x[i];
        y[i] = x[i] <= most ? 0 : above;
    }
}

static void backward(const sali_call *call)
{
    (void)call;
}

const sali_op RN(sali_op_at_most) = {
    .name = "at_most",
    .arity = 1,
    .limit = true,
    .layout = SALI_LAYOUT_SAME,
    .test_low = -2,
    .test_high = 2,
    .doc = "0 where a <= most, else -inf: a hard limit",
    .shape = shape,
    .degree = sali_degree_nonlinear,
    .forward = forward,
    .backward = backward,
    .change = RN(sali_change_elementwise),
};
