/* SPDX-License-Identifier: MIT */
/* a^p for a fixed number. Attributes: reals = { p }. A negative a needs a whole p, else NaN; a NaN
 * stays one, also for p = 0. At 0: the power function's own derivative, p 0^(p-1), infinite for
 * 0 < p < 1. The exponents of COMMON are products and roots; the power function does the rest. */
#include <math.h>

#include "ad/ops/unary.h"
#include "core/error.h"
#include "core/vector/vmath.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 0, 1, context->err);
    if (status != SAL_OK) {
        return status;
    }
    if (!isfinite(node->reals[0])) {
        return sali_fail(context->err, SAL_ERR_ARGUMENT, "pow: exponent %g; expected a finite one",
                         node->reals[0]);
    }
    node->shape = context->in[0]->shape;
    return SAL_OK;
}

static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    return node->reals[0] == 0   ? SALI_CONSTANT
           : node->reals[0] == 1 ? in_degree[0]
                                 : sali_degree_nonlinear(node, in, in_degree, space);
}

/* Exponents, and the values by them. Adding 0 makes a negative zero positive. */
#define COMMON(X)                      \
    X(0, x[i] == x[i] ? 1 : x[i])      \
    X(0.5, square_root(x[i] + 0))      \
    X(1, x[i])                         \
    X(2, x[i] * x[i])                  \
    X(3, x[i] * x[i] * x[i])           \
    X(-0.5, 1 / square_root(x[i] + 0)) \
    X(-1, 1 / x[i])                    \
    X(-2, 1 / (x[i] * x[i]))

#define POWER_LOOP(exponent, formula)     \
    if (p == (exponent)) {                \
        for (int64_t i = 0; i < n; i++) { \
            y[i] = formula;               \
        }                                 \
        return;                           \
    }

SALI_CLONES static void power_values(int64_t n, const real *x, double p, real *y)
{
    COMMON(POWER_LOOP)
    RN(sali_vpow)(n, x, (real)p, y);
}

static void forward(const sali_call *call)
{
    power_values(call->chains * call->out.size, call->in[0].value, call->node->reals[0],
                 (real *)call->out.value);
}

/* The slope is p x^(p - 1), by a second power, a block at a time; zero for p = 0. */
SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const double p = call->node->reals[0];
    const real *x = call->in[0].value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
    real below[VALUES_BLOCK]; /* x^(p - 1) */
    for (int64_t first = 0; p != 0 && first < n; first += VALUES_BLOCK) {
        int64_t length = n - first < VALUES_BLOCK ? n - first : VALUES_BLOCK;
        power_values(length, x + first, p - 1, below);
#pragma omp simd
        for (int64_t i = 0; i < length; i++) {
            to[first + i] += sali_pull(g[first + i], (real)p * below[i]);
        }
    }
}

/* Terms of the first and the second power; other powers have none. */
static sali_op_term term(const sali_term_place *p)
{
    double power = p->node->reals[0];
    return (sali_op_term){ .count = power == 1 || power == 2,
                           .factor = 1,
                           .n = power == 2 ? 2 : 1,
                           .at = { p->k, p->k } };
}

const sali_op RN(sali_op_pow) = {
    UNARY_FIELDS(pow, "a^p", 0.5, 2),
    .term = term,
    .shape = shape,
    .degree = degree,
};
