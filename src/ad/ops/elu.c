/* SPDX-License-Identifier: MIT */
/* a where a > 0, else alpha (exp(a) - 1). Attributes: reals = { alpha }. The derivative at 0 is
 * alpha. */
#include <math.h>

#include "ad/ops/ops.h"
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

/* y = elu(x) for n numbers, a block at a time, so that the block stays in the cache. */
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

#define VALUES(n, x, y) values(n, p, x, y)
#define SLOPE(x, y) ((x) > 0 ? 1 : (y) + p) /* below 0 it is alpha exp(x) = y + alpha */
#include "ad/ops/unary.h"

const sali_op RN(sali_op_elu) = {
    UNARY_FIELDS(elu, "a where a > 0, else alpha (exp(a) - 1)", -4, 4),
    .shape = shape,
    .degree = sali_degree_nonlinear,
};
