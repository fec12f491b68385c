/* SPDX-License-Identifier: MIT */
/* a where a > 0, else alpha (exp(a) - 1). Attributes: reals = { alpha }. The derivative at 0 is
 * alpha. */
#include <math.h>

#include "ad/ops/elementwise.h"
#include "core/error.h"
#include "core/vector/vmath.h"

enum { BLOCK = 512 };

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 0, 1, context->err);
    if (status != SAL_OK) {
        return status;
    }
    if (!isfinite(node->reals[0])) {
        return sali_fail(context->err, SAL_ERR_ARGUMENT, "elu: alpha %g; expected a finite number",
                         node->reals[0]);
    }
    node->shape = context->in[0]->shape;
    return SAL_OK;
}

SALI_CLONES static void values(int64_t n, real alpha, const real *x, real *y)
{
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t end = n - first < BLOCK ? n : first + BLOCK;
        RN(sali_vexpm1)(end - first, x + first, y + first);
#pragma omp simd
        for (int64_t i = first; i < end; i++) {
            y[i] = x[i] > 0 ? x[i] : alpha * y[i]; /* a NaN stays one */
        }
    }
}

static void forward(const sali_call *call)
{
    values(call->chains * call->out.size, (real)call->node->reals[0], call->in[0].value,
           (real *)call->out.value);
}

/* Below 0 the slope is alpha exp(x) = y + alpha. */
SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real alpha = (real)call->node->reals[0];
    const real *x = call->in[0].value, *y = call->out.value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] += sali_pull(g[i], x[i] > 0 ? 1 : y[i] + alpha);
    }
}

const sali_op RN(sali_op_elu) = {
    .name = "elu",
    .arity = 1,
    .layout = SALI_LAYOUT_SAME,
    .test_low = -4,
    .test_high = 4,
    .doc = "a where a > 0, else alpha (exp(a) - 1)",
    .shape = shape,
    .degree = sali_degree_nonlinear,
    .forward = forward,
    .backward = backward,
    .change = RN(sali_change_elementwise),
};
