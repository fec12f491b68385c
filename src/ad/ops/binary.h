/* Elementwise ops of two operands, with broadcasting. An op file defines
 *
 *     static inline real value(real a, real b);
 *     static inline real slope_a(real a, real b);    d value / da
 *     static inline real slope_b(real a, real b);    d value / db
 *
 * includes this file, and ends in BINARY_RECORD.
 *
 * Broadcasting is a nest of loops over the output, in which an operand that is stretched along an
 * axis has stride 0 there. The chains are one more axis: an operand that does not depend on the
 * state has stride 0 along it. Axes of size 1 are dropped and neighbours that run on are merged, so
 * that the innermost loop is long. The plan is the nest of one state; a call adds the chains. */
#ifndef SALI_BINARY_H
#define SALI_BINARY_H

#include "ad/ops/ops.h"
#include "core/alloc.h"
#include "core/error.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef struct loop_axis {
    int64_t count;
    int64_t a, b; /* strides of the operands */
} loop_axis;

/* Innermost axis first. Its strides are 0 or 1, and not both 0. */
typedef struct loop_nest {
    int32_t rank;
    loop_axis axis[SAL_MAX_RANK + 1];
} loop_nest;

static void nest_append(loop_nest *nest, loop_axis next)
{
    loop_axis *last = &nest->axis[nest->rank - 1];
    if (next.count == 1) {
        return;
    }
    if (last->count == 1) {
        *last = next;
    } else if (next.a == last->a * last->count && next.b == last->b * last->count) {
        last->count *= next.count;
    } else {
        nest->axis[nest->rank++] = next;
    }
}

static sal_status plan_create(const sali_node *node, const sali_node *const *in,
                              const sal_space *space, void **plan, sal_error *err)
{
    (void)space;
    loop_nest *made = SALI_NEW(loop_nest);
    if (!made) {
        return sali_fail_memory(err);
    }
    *made = (loop_nest){ .rank = 1, .axis[0] = { .count = 1, .a = 1, .b = 1 } };
    const sal_shape *a = &in[0]->shape, *b = &in[1]->shape;
    int64_t stride_a = 1, stride_b = 1;
    for (int32_t i = 1; i <= node->shape.rank; i++) {
        int64_t count_a = i <= a->rank ? a->dim[a->rank - i] : 1;
        int64_t count_b = i <= b->rank ? b->dim[b->rank - i] : 1;
        nest_append(made, (loop_axis){ .count = node->shape.dim[node->shape.rank - i],
                                       .a = count_a > 1 ? stride_a : 0,
                                       .b = count_b > 1 ? stride_b : 0 });
        stride_a *= count_a;
        stride_b *= count_b;
    }
    *plan = made;
    return SAL_OK;
}

/* A walk over the rows (innermost loops) of a call. */
typedef struct row_walk {
    loop_nest nest;
    int64_t rows, length;
    int64_t a, b; /* where the operands' parts of this row begin */
    int64_t index[SAL_MAX_RANK + 1];
} row_walk;

static inline row_walk walk_begin(const sali_call *call)
{
    row_walk walk = { .nest = *(const loop_nest *)call->plan };
    nest_append(
        &walk.nest,
        (loop_axis){ .count = call->chains, .a = call->in[0].stride, .b = call->in[1].stride });
    walk.length = walk.nest.axis[0].count;
    walk.rows = call->chains * call->out.size / walk.length;
    return walk;
}

static inline void walk_next(row_walk *walk)
{
    for (int32_t k = 1; k < walk->nest.rank; k++) {
        const loop_axis *axis = &walk->nest.axis[k];
        walk->a += axis->a;
        walk->b += axis->b;
        if (++walk->index[k] < axis->count) {
            return;
        }
        walk->a -= axis->count * axis->a;
        walk->b -= axis->count * axis->b;
        walk->index[k] = 0;
    }
}

/* One row, for strides known when it is compiled. */
ALWAYS_INLINE void row_values(int64_t n, const real *a, int64_t step_a, const real *b,
                              int64_t step_b, real *out)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        out[i] = value(a[i * step_a], b[i * step_b]);
    }
}

/* One row of operand k's adjoint, which begins at `to`; an operand of stride 0 gets the sum. */
ALWAYS_INLINE void row_pull(int k, int64_t n, const real *g, const real *a, int64_t step_a,
                            const real *b, int64_t step_b, real *to)
{
    real sum = 0;
    if ((k == 0 ? step_a : step_b) == 0) {
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++) {
            real x = a[i * step_a], y = b[i * step_b];
            sum += sali_pull(g[i], k == 0 ? slope_a(x, y) : slope_b(x, y));
        }
        *to += sum;
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real x = a[i * step_a], y = b[i * step_b];
        to[i] += sali_pull(g[i], k == 0 ? slope_a(x, y) : slope_b(x, y));
    }
}

SALI_CLONES static void forward(const sali_call *call)
{
    row_walk walk = walk_begin(call);
    const loop_axis *inner = &walk.nest.axis[0];
    for (int64_t r = 0; r < walk.rows; r++, walk_next(&walk)) {
        const real *a = (const real *)call->in[0].value + walk.a;
        const real *b = (const real *)call->in[1].value + walk.b;
        real *out = (real *)call->out.value + r * walk.length;
        if (inner->a && inner->b) {
            row_values(walk.length, a, 1, b, 1, out);
        } else if (inner->a) {
            row_values(walk.length, a, 1, b, 0, out);
        } else {
            row_values(walk.length, a, 0, b, 1, out);
        }
    }
}

ALWAYS_INLINE void pull(const sali_call *call, int k)
{
    row_walk walk = walk_begin(call);
    const loop_axis *inner = &walk.nest.axis[0];
    for (int64_t r = 0; r < walk.rows; r++, walk_next(&walk)) {
        const real *a = (const real *)call->in[0].value + walk.a;
        const real *b = (const real *)call->in[1].value + walk.b;
        const real *g = (const real *)call->out.adjoint + r * walk.length;
        real *to = (real *)call->in[k].adjoint + (k == 0 ? walk.a : walk.b);
        if (inner->a && inner->b) {
            row_pull(k, walk.length, g, a, 1, b, 1, to);
        } else if (inner->a) {
            row_pull(k, walk.length, g, a, 1, b, 0, to);
        } else {
            row_pull(k, walk.length, g, a, 0, b, 1, to);
        }
    }
}

/* One operand after the other: they may be the same node, with one adjoint. */
SALI_CLONES static void backward(const sali_call *call)
{
    if (call->in[0].adjoint) {
        pull(call, 0);
    }
    if (call->in[1].adjoint) {
        pull(call, 1);
    }
}

#define BINARY_RECORD(op_name, formula, low, high, degree_rule) \
    const sali_op RN(sali_op_##op_name) = {                     \
        .name = #op_name,                                       \
        .arity = 2,                                             \
        .test_low = (low),                                      \
        .test_high = (high),                                    \
        .doc = formula,                                         \
        .shape = sali_shape_broadcast,                          \
        .degree = degree_rule,                                  \
        .plan_create = plan_create,                             \
        .forward = forward,                                     \
        .backward = backward,                                   \
    }

#endif
