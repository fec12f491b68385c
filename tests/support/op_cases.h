/* SPDX-License-Identifier: MIT */
/* What the contract tests of ops share: for every op of ad/ops.def, tapes that use it in several
 * configurations, as data. An op without a case fails test_ops. */
#ifndef OP_CASES_H
#define OP_CASES_H

#include <math.h>

#include "ad/tape.h"

/* An operand: 'V' depends on the state (numbers between test_low and test_high while the state's
 * reals are in 0 .. 1), 'P' is a parameter, 'C' a constant that is mostly zeros, 'S' the state
 * itself. 0: there is none. */
typedef struct op_operand {
    char kind;
    sal_shape shape;
} op_operand;

#define OP_INPUTS 3
typedef struct op_case {
    sali_op_id op;
    op_operand in[OP_INPUTS];
    int64_t n_ints, ints[24];
    int64_t n_reals;
    double reals[4];
    sal_shape shape; /* of a leaf */
} op_case;

#define SHAPE(...)                                                                        \
    {                                                                                     \
        .rank = (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), .dim = { \
            __VA_ARGS__                                                                   \
        }                                                                                 \
    }
#define V(...)                  \
    {                           \
        'V', SHAPE(__VA_ARGS__) \
    }
#define P(...)                  \
    {                           \
        'P', SHAPE(__VA_ARGS__) \
    }
#define C(...)                  \
    {                           \
        'C', SHAPE(__VA_ARGS__) \
    }
#define SCALAR(kind)  \
    {                 \
        kind,         \
        {             \
            .rank = 0 \
        }             \
    }
#define STATE         \
    {                 \
        'S', SHAPE(0) \
    }
#define INTS(...)                                                              \
    .n_ints = (int64_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
    .ints = { __VA_ARGS__ }

/* Every kind of variable: 12 binary (0 ..), 3 spins (12 ..), 2 ordinal of two levels (15, 16), 2
 * categorical of three states (17, 18) and one of a single state (19). */
#define OP_VARIABLES 20
#define OP_WIDTH 24
static inline sal_space *op_space(void)
{
    sal_space *space = sal_space_create();
    const sal_block blocks[] = {
        { .name = "binary", .kind = SAL_BINARY, .count = 12 },
        { .name = "spin", .kind = SAL_SPIN, .count = 3 },
        { .name = "grid",
          .kind = SAL_ORDINAL,
          .count = 2,
          .states = 2,
          .levels = (double[]){ -1, 2.5 } },
        { .name = "label", .kind = SAL_CATEGORICAL, .count = 2, .states = 3 },
        { .name = "single", .kind = SAL_CATEGORICAL, .count = 1, .states = 1 },
    };
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        sal_space_add(space, &blocks[b], NULL);
    }
    return space;
}

#define ELEMENTWISE(name)                                                                 \
    { .op = SALI_OP_##name,                                                               \
      .in = { V(4, 3) },                                                                  \
      .n_reals = SALI_OP_##name == SALI_OP_scale,                                         \
      .reals = { -1.75 } },                                                               \
        { .op = SALI_OP_##name,                                                           \
          .in = { SCALAR('V') },                                                          \
          .n_reals = SALI_OP_##name == SALI_OP_scale,                                     \
          .reals = { 0.5 } },                                                             \
    {                                                                                     \
        .op = SALI_OP_##name, .in = { P(5) }, .n_reals = SALI_OP_##name == SALI_OP_scale, \
        .reals = {                                                                        \
            2                                                                             \
        }                                                                                 \
    }

#define BROADCAST(name)                                                   \
    { .op = SALI_OP_##name, .in = { V(4, 3), V(4, 3) } },                 \
        { .op = SALI_OP_##name, .in = { V(4, 3), P(3) } },                \
        { .op = SALI_OP_##name, .in = { P(3), V(4, 3) } },                \
        { .op = SALI_OP_##name, .in = { V(4, 1), V(3) } },                \
        { .op = SALI_OP_##name, .in = { V(3), P(4, 1) } },                \
        { .op = SALI_OP_##name, .in = { V(1), P(5) } },                   \
        { .op = SALI_OP_##name, .in = { P(1), V(5) } },                   \
        { .op = SALI_OP_##name, .in = { SCALAR('V'), P(2, 3) } },         \
        { .op = SALI_OP_##name, .in = { SCALAR('V'), SCALAR('P') } },     \
        { .op = SALI_OP_##name, .in = { SCALAR('V'), SCALAR('V') } },     \
        { .op = SALI_OP_##name, .in = { V(2, 3, 2), P(3, 1) } },          \
        { .op = SALI_OP_##name, .in = { P(2, 2, 2, 2), V(2, 1, 2) } },    \
        { .op = SALI_OP_##name, .in = { V(2, 1, 3, 1), V(1, 2, 1, 2) } }, \
    {                                                                     \
        .op = SALI_OP_##name, .in = { P(2, 3), P(3) }                     \
    }

#define REDUCTION(name)                                           \
    { .op = SALI_OP_##name, .in = { V(20) }, INTS(-1) },          \
        { .op = SALI_OP_##name, .in = { V(20) }, INTS(0) },       \
        { .op = SALI_OP_##name, .in = { V(2, 3, 2) }, INTS(-1) }, \
        { .op = SALI_OP_##name, .in = { V(2, 3, 2) }, INTS(0) },  \
        { .op = SALI_OP_##name, .in = { V(2, 3, 2) }, INTS(1) },  \
        { .op = SALI_OP_##name, .in = { V(2, 3, 2) }, INTS(2) },  \
        { .op = SALI_OP_##name, .in = { V(1, 1) }, INTS(0) },     \
        { .op = SALI_OP_##name, .in = { P(4, 3) }, INTS(0) },     \
    {                                                             \
        .op = SALI_OP_##name, .in = { P(4, 3) }, INTS(1)          \
    }

#define POWER(p)                                                           \
    {                                                                      \
        .op = SALI_OP_pow, .in = { V(4, 3) }, .n_reals = 1, .reals = { p } \
    }

/* clang-format off */
static const op_case op_cases[] = {
    { .op = SALI_OP_state },
    { .op = SALI_OP_param, .shape = SHAPE(2, 3) },
    { .op = SALI_OP_constant, .shape = SHAPE(3), .n_reals = 3, .reals = { 1, -2, 0.5 } },
    BROADCAST(add),
    BROADCAST(sub),
    BROADCAST(mul),
    BROADCAST(div),
    ELEMENTWISE(scale),
    ELEMENTWISE(exp),
    ELEMENTWISE(log),
    ELEMENTWISE(softplus),
    { .op = SALI_OP_softplus, .in = { P(700) } },
    ELEMENTWISE(sigmoid),
    ELEMENTWISE(silu),
    ELEMENTWISE(gelu),
    { .op = SALI_OP_gelu, .in = { P(700) } },
    { .op = SALI_OP_at_most, .in = { V(4, 3) }, .n_reals = 1, .reals = { 9 } },
    { .op = SALI_OP_at_most, .in = { SCALAR('V') }, .n_reals = 1, .reals = { 8.5 } },
    { .op = SALI_OP_at_most, .in = { P(5) }, .n_reals = 1, .reals = { HUGE_VAL } },
    { .op = SALI_OP_elu, .in = { V(4, 3) }, .n_reals = 1, .reals = { 1 } },
    { .op = SALI_OP_elu, .in = { SCALAR('V') }, .n_reals = 1, .reals = { -0.5 } },
    { .op = SALI_OP_elu, .in = { P(5) }, .n_reals = 1, .reals = { 1.75 } },
    { .op = SALI_OP_drelu, .in = { V(4, 3), P(4, 3), P(4, 3) } },
    { .op = SALI_OP_drelu, .in = { V(5), SCALAR('P'), P(5) } },
    { .op = SALI_OP_drelu, .in = { V(5), P(5), P(1) } },
    { .op = SALI_OP_drelu, .in = { SCALAR('V'), SCALAR('P'), SCALAR('P') } },
    { .op = SALI_OP_drelu, .in = { V(20), P(20), C(20) } },
    { .op = SALI_OP_drelu, .in = { P(300), P(300), P(300) } },
    ELEMENTWISE(tanh),
    ELEMENTWISE(square),
    ELEMENTWISE(sin),
    { .op = SALI_OP_sin, .in = { P(700) } },
    ELEMENTWISE(cos),
    { .op = SALI_OP_cos, .in = { P(700) } },
    ELEMENTWISE(erf),
    { .op = SALI_OP_erf, .in = { P(700) } },
    ELEMENTWISE(sqrt),
    ELEMENTWISE(log1p),
    ELEMENTWISE(abs),
    ELEMENTWISE(relu),
    ELEMENTWISE(lgamma),
    { .op = SALI_OP_lgamma, .in = { P(300) } },
    { .op = SALI_OP_clamp, .in = { V(4, 3) }, .n_reals = 2, .reals = { -0.5, 0.25 } },
    { .op = SALI_OP_clamp, .in = { V(20) }, .n_reals = 2, .reals = { -HUGE_VAL, 0 } },
    { .op = SALI_OP_clamp, .in = { P(5) }, .n_reals = 2, .reals = { 0, 0 } },
    POWER(0), POWER(0.5), POWER(1), POWER(1.5), POWER(2), POWER(3), POWER(4), POWER(-0.5),
    POWER(-1), POWER(-2), POWER(-3), POWER(-0.75),
    { .op = SALI_OP_pow, .in = { P(600) }, .n_reals = 1, .reals = { 2.5 } },
    BROADCAST(minimum),
    BROADCAST(maximum),
    { .op = SALI_OP_where, .in = { V(4, 3), V(4, 3), V(4, 3) } },
    { .op = SALI_OP_where, .in = { P(4, 3), V(4, 3), P(4, 3) } },
    { .op = SALI_OP_where, .in = { V(3), P(4, 1), V(4, 3) } },
    { .op = SALI_OP_where, .in = { P(4, 1), V(1, 3), SCALAR('P') } },
    { .op = SALI_OP_where, .in = { SCALAR('V'), P(2, 1, 3, 1), V(2, 1, 2) } },
    { .op = SALI_OP_where, .in = { P(3), P(2, 3), P(2, 1) } },
    REDUCTION(max),
    REDUCTION(sum),
    REDUCTION(mean),
    REDUCTION(logsumexp),
    REDUCTION(cumsum),
    REDUCTION(softmax),
    { .op = SALI_OP_dot, .in = { V(7), V(7) } },
    { .op = SALI_OP_dot, .in = { V(7), P(7) } },
    { .op = SALI_OP_dot, .in = { P(7), V(7) } },
    { .op = SALI_OP_dot, .in = { P(7), P(7) } },
    { .op = SALI_OP_matvec, .in = { P(3, 5), V(5) } },
    { .op = SALI_OP_matvec, .in = { P(1, 5), V(5) } },
    { .op = SALI_OP_matvec, .in = { P(32, 16), V(16) } },
    { .op = SALI_OP_matvec, .in = { P(37, 20), V(20) } },
    { .op = SALI_OP_matvec, .in = { P(5, 1), V(1) } },
    { .op = SALI_OP_matvec, .in = { V(3, 4), P(4) } },
    { .op = SALI_OP_matvec, .in = { V(3, 4), V(4) } },
    { .op = SALI_OP_matvec, .in = { P(3, 4), P(4) } },
    { .op = SALI_OP_matvec, .in = { C(16, 20), V(20) } },
    { .op = SALI_OP_matvec, .in = { C(3, 16), V(16) } },
    { .op = SALI_OP_matmul, .in = { P(2, 3), V(3, 4) } },
    { .op = SALI_OP_matmul, .in = { V(2, 3), P(3, 4) } },
    { .op = SALI_OP_matmul, .in = { V(2, 3), V(3, 4) } },
    { .op = SALI_OP_matmul, .in = { V(1, 3), P(3, 1) } },
    { .op = SALI_OP_matmul, .in = { P(3, 1), V(1, 4) } },
    { .op = SALI_OP_matmul, .in = { P(2, 3), P(3, 4) } },
    { .op = SALI_OP_matmul, .in = { C(8, 6), V(6, 4) } },
    { .op = SALI_OP_matmul, .in = { V(3, 8), C(8, 6) } },
    { .op = SALI_OP_batched_matmul, .in = { V(2, 2, 3), V(2, 3, 3) } },
    { .op = SALI_OP_batched_matmul, .in = { P(3, 4, 2), V(3, 2, 3) } },
    { .op = SALI_OP_batched_matmul, .in = { V(3, 2, 2), P(3, 2, 5) } },
    { .op = SALI_OP_batched_matmul, .in = { V(2, 1, 4), P(2, 4, 1) } },
    { .op = SALI_OP_batched_matmul, .in = { P(2, 2, 3), P(2, 3, 4) } },
    { .op = SALI_OP_symmetrise, .in = { P(4, 4) } },
    { .op = SALI_OP_symmetrise, .in = { V(3, 3) } },
    { .op = SALI_OP_symmetrise, .in = { P(4, 4) }, INTS(0, 1, 1, 5) },
    { .op = SALI_OP_symmetrise, .in = { V(3, 3) }, INTS(2, -1, 2) },
    { .op = SALI_OP_quad, .in = { V(5), P(5, 5) } },
    { .op = SALI_OP_quad, .in = { P(5), P(5, 5) } },
    { .op = SALI_OP_quad, .in = { STATE, P(OP_WIDTH, OP_WIDTH) } },
    { .op = SALI_OP_edges, .in = { V(20), P(5) }, INTS(0, 1, 1, 2, 2, 2, 1, 0, 19, 3) },
    { .op = SALI_OP_edges, .in = { P(6), P(3) }, INTS(0, 1, 5, 5, 2, 1) },
    { .op = SALI_OP_edges, .in = { STATE, P(4) }, INTS(0, 1, 1, 12, 15, 23, 18, 2) },
    { .op = SALI_OP_table, .in = { STATE, P(27) },
      INTS(5, 3, 0, 17, 12, 2, 17, 18, 1, 15, 0, 2, 19, 18) },
    { .op = SALI_OP_table, .in = { STATE, P(12) }, INTS(1, 4, 16, 19, 18, 13) },
    { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 2, 3), P(3) }, INTS(1, 0) },
    { .op = SALI_OP_conv2d, .in = { V(1, 4, 6), P(2, 1, 3, 3), P(2) }, INTS(1, 1) },
    { .op = SALI_OP_conv2d, .in = { V(1, 4, 6), P(8, 1, 3, 3), P(8) }, INTS(1, 1) },
    { .op = SALI_OP_conv2d, .in = { V(3, 2, 4), P(17, 3, 1, 1), P(17) }, INTS(1, 0) },
    { .op = SALI_OP_conv2d, .in = { V(1, 5, 4), P(2, 1, 4, 4), P(2) }, INTS(2, 1) },
    { .op = SALI_OP_conv2d, .in = { V(2, 3, 3), P(1, 2, 2, 2), P(1) }, INTS(3, 2) },
    { .op = SALI_OP_conv2d, .in = { V(24, 1, 1), P(2, 24, 1, 1), P(2) }, INTS(1, 0) },
    { .op = SALI_OP_conv2d, .in = { P(2, 3, 3), P(3, 2, 2, 2), P(3) }, INTS(1, 1) },
    { .op = SALI_OP_avg_pool2d, .in = { V(2, 3, 4) }, INTS(2, 1) },
    { .op = SALI_OP_avg_pool2d, .in = { V(1, 4, 5) }, INTS(2, 2) },
    { .op = SALI_OP_avg_pool2d, .in = { V(2, 3, 3) }, INTS(3, 1) },
    { .op = SALI_OP_avg_pool2d, .in = { P(1, 3, 3) }, INTS(1, 2) },
    { .op = SALI_OP_max_pool2d, .in = { V(2, 3, 4) }, INTS(2, 1) },
    { .op = SALI_OP_max_pool2d, .in = { V(1, 4, 5) }, INTS(2, 2) },
    { .op = SALI_OP_max_pool2d, .in = { V(2, 3, 3) }, INTS(3, 1) },
    { .op = SALI_OP_max_pool2d, .in = { P(1, 3, 3) }, INTS(1, 2) },
    { .op = SALI_OP_masked_logdet, .in = { V(5), P(5, 5) } },
    { .op = SALI_OP_masked_logdet, .in = { V(1), P(1, 1) } },
    { .op = SALI_OP_masked_logdet, .in = { P(4), P(4, 4) } },
    { .op = SALI_OP_masked_quad_inverse, .in = { V(5), P(5, 5), P(5) } },
    { .op = SALI_OP_masked_quad_inverse, .in = { V(1), P(1, 1), P(1) } },
    { .op = SALI_OP_masked_quad_inverse, .in = { P(4), P(4, 4), P(4) } },
    { .op = SALI_OP_ridge_logdet, .in = { V(5), P(5, 5) } },
    { .op = SALI_OP_ridge_logdet, .in = { V(1), P(1, 1) } },
    { .op = SALI_OP_ridge_logdet, .in = { P(4), P(4, 4) } },
    { .op = SALI_OP_ridge_quad_inverse, .in = { V(5), P(5, 5), P(5) } },
    { .op = SALI_OP_ridge_quad_inverse, .in = { V(1), P(1, 1), P(1) } },
    { .op = SALI_OP_ridge_quad_inverse, .in = { P(4), P(4, 4), P(4) } },
    { .op = SALI_OP_max_coverage, .in = { V(6), P(6, 5) } },
    { .op = SALI_OP_max_coverage, .in = { V(1), P(1, 3) } },
    { .op = SALI_OP_max_coverage, .in = { P(4), P(4, 7) } },
    { .op = SALI_OP_expected_coverage, .in = { V(6), P(6, 5) } },
    { .op = SALI_OP_expected_coverage, .in = { V(1), P(1, 3) } },
    { .op = SALI_OP_expected_coverage, .in = { P(4), P(4, 7) } },
    { .op = SALI_OP_concat, .in = { V(2, 3), P(2, 1), V(2, 2) }, INTS(1) },
    { .op = SALI_OP_concat, .in = { P(2, 1, 2), V(2, 3, 2) }, INTS(1) },
    { .op = SALI_OP_concat, .in = { V(1, 3), P(2, 3), V(1, 3) }, INTS(0) },
    { .op = SALI_OP_concat, .in = { V(2, 1, 2), P(2, 1, 1) }, INTS(2) },
    { .op = SALI_OP_concat, .in = { V(5) }, INTS(0) },
    { .op = SALI_OP_concat, .in = { P(2), P(3) }, INTS(0) },
    { .op = SALI_OP_gather, .in = { V(4, 3) }, INTS(0, 3, 0, 3, 1, 0) },
    { .op = SALI_OP_gather, .in = { V(4, 3) }, INTS(1, 2) },
    { .op = SALI_OP_gather, .in = { V(2, 3, 2) }, INTS(1, 0, 2, 2, 1) },
    { .op = SALI_OP_gather, .in = { P(5) }, INTS(0, 4, 4) },
    { .op = SALI_OP_reshape, .in = { V(4, 3) }, INTS(2, 6) },
    { .op = SALI_OP_reshape, .in = { P(1) }, .n_ints = 0 },
    { .op = SALI_OP_transpose, .in = { V(4, 3) }, INTS(0, 1) },
    { .op = SALI_OP_transpose, .in = { V(2, 3, 2) }, INTS(2, 0) },
    { .op = SALI_OP_transpose, .in = { V(3, 2, 2) }, INTS(0, 1) },
    { .op = SALI_OP_transpose, .in = { V(3, 2, 4) }, INTS(1, 2) },
    { .op = SALI_OP_transpose, .in = { P(2, 2, 3, 2) }, INTS(1, 3) },
    { .op = SALI_OP_slice, .in = { V(4, 3) }, INTS(0, 1, 2) },
    { .op = SALI_OP_slice, .in = { V(4, 3) }, INTS(1, 2, 1) },
    { .op = SALI_OP_slice, .in = { V(2, 3, 2) }, INTS(1, 0, 2) },
    { .op = SALI_OP_slice, .in = { P(5) }, INTS(0, 4, 1) },
};
/* clang-format on */
#define OP_CASES ((int)(sizeof op_cases / sizeof *op_cases))

/* Numbers that look random, the same in float and double: multiples of 1/256 in [low, high). */
static inline double op_number(int64_t index, double low, double high)
{
    uint64_t bits = ((uint64_t)index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    double unit = (double)(bits >> 56) / 256;
    return (double)(int64_t)((low + (high - low) * unit) * 256) / 256;
}

/* Number of operands. */
static inline int op_inputs(const op_case *test)
{
    int n = 0;
    while (n < OP_INPUTS && test->in[n].kind) {
        n++;
    }
    return n;
}

/* Ops with kinks, where derivatives jump: at 0, at a bound, or where two elements are equal. */
static inline bool op_is_kinked(sali_op_id op)
{
    return op == SALI_OP_abs || op == SALI_OP_relu || op == SALI_OP_elu || op == SALI_OP_clamp ||
           op == SALI_OP_minimum || op == SALI_OP_maximum || op == SALI_OP_max ||
           op == SALI_OP_where || op == SALI_OP_max_coverage || op == SALI_OP_max_pool2d ||
           op == SALI_OP_expected_coverage;
}

/* Plus a small number for each element, so that no two elements of the operands 0 and 1 are equal
 * and none is 0 or a bound: operands are multiples of (high - low)/256, and these 1/64 of that. */
static inline sal_expr op_off_kinks(sal_tape *tape, const op_case *test, int k, sal_expr x)
{
    const sali_op *op = sali_op_f64(test->op);
    const sal_shape *shape = &test->in[k].shape;
    double shift[64];
    for (int64_t i = 0; i < sali_shape_size(shape); i++) {
        shift[i] = (op->test_high - op->test_low) / 16384 * (double)(i + (k == 1 ? 33 : 1));
    }
    return sal_add(x, sal_constant(tape, shift, *shape));
}

/* A constant of which one entry in 17 is not 0. */
static inline sal_expr op_sparse(sal_tape *tape, const sal_shape *shape)
{
    double values[512] = { 0 };
    for (int64_t i = 3; i < sali_shape_size(shape); i += 17) {
        values[i] = op_number(i, -2, 2);
    }
    return sal_constant(tape, values, *shape);
}

/* An operand on the tape. State-dependent ones are affine in a part of the state; the parts of two
 * operands overlap. */
static inline sal_expr op_operand_of(sal_tape *tape, const op_case *test, int k)
{
    static const char *const names[OP_INPUTS] = { "first", "second", "third" };
    const op_operand *operand = &test->in[k];
    const sali_op *op = sali_op_f64(test->op);
    int64_t size = sali_shape_size(&operand->shape);
    if (operand->kind == 'S') {
        return sal_state(tape);
    }
    if (operand->kind == 'P') {
        return sal_param(tape, names[k], operand->shape);
    }
    if (operand->kind == 'C') {
        return op_sparse(tape, &operand->shape);
    }
    sal_expr part = sal_slice(sal_state(tape), 0, (OP_WIDTH - size) / (k + 2), size);
    sal_expr unit = sal_reshape(part, operand->shape);
    return sal_add(sal_scale(unit, op->test_high - op->test_low), sal_scalar(tape, op->test_low));
}

/* x made what the op demands of operand k besides its shape. */
static inline sal_expr op_suitable(sal_tape *tape, const op_case *test, int k, sal_expr x)
{
    const sali_op *op = sali_op_f64(test->op);
    if (op_is_kinked(test->op)) {
        x = op_off_kinks(tape, test, k, x);
    }
    if (test->op == SALI_OP_where && k == 0) {
        return sal_relu(x); /* a condition that is 0 now and then */
    }
    if (!((op->symmetric_inputs >> k) & 1)) {
        return x;
    }
    if (test->op != SALI_OP_quad) { /* positive definite */
        int64_t n = test->in[k].shape.dim[0];
        double dominant[64] = { 0 };
        for (int64_t i = 0; i < n; i++) {
            dominant[i * n + i] = 0.5 * (double)n + 0.25 * (double)i;
        }
        x = sal_add(x, sal_constant(tape, dominant, test->in[k].shape));
    }
    return sali_record(tape, &(sali_node_spec){ .op = SALI_OP_symmetrise, .n_in = 1, .in = &x });
}

/* f = sum c y for the op's output y, with an array c of irregular coefficients. */
static inline sal_expr op_record(sal_tape *tape, const op_case *test)
{
    sal_expr in[OP_INPUTS] = { { 0 } };
    for (int k = 0; k < op_inputs(test); k++) {
        in[k] = op_suitable(tape, test, k, op_operand_of(tape, test, k));
    }
    sal_expr y =
        sali_record(tape, &(sali_node_spec){ .op = test->op,
                                             .n_in = op_inputs(test),
                                             .in = in,
                                             .n_ints = test->n_ints,
                                             .ints = test->ints,
                                             .n_reals = test->n_reals,
                                             .reals = test->reals,
                                             .name = test->op == SALI_OP_param ? "p" : NULL,
                                             .shape = &test->shape,
                                             .file = __FILE__,
                                             .line = __LINE__ });
    double c[1024];
    sal_shape shape = sal_expr_shape(y);
    for (int64_t i = 0; shape.rank >= 0 && i < sali_shape_size(&shape); i++) {
        c[i] = op_number(1000 + i, 0.5, 2);
    }
    return sal_sum(sal_mul(sal_constant(tape, c, shape), y));
}

#endif
