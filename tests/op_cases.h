/* What the contract tests of ops share: for every op of ad/ops.def, tapes that use it in several
 * configurations, as data. An op without a case fails test_ops. */
#ifndef OP_CASES_H
#define OP_CASES_H

#include "ad/tape.h"

/* An operand: 'V' depends on the state (numbers between test_low and test_high while the state's
 * reals are in 0 .. 1), 'P' is a parameter, 'S' the state itself. 0: there is none. */
typedef struct op_operand {
    char kind;
    sal_shape shape;
} op_operand;

typedef struct op_case {
    sali_op_id op;
    op_operand in[2];
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
    ELEMENTWISE(tanh),
    ELEMENTWISE(square),
    REDUCTION(sum),
    REDUCTION(mean),
    REDUCTION(logsumexp),
    { .op = SALI_OP_dot, .in = { V(7), V(7) } },
    { .op = SALI_OP_dot, .in = { V(7), P(7) } },
    { .op = SALI_OP_dot, .in = { P(7), V(7) } },
    { .op = SALI_OP_dot, .in = { P(7), P(7) } },
    { .op = SALI_OP_matvec, .in = { P(3, 5), V(5) } },
    { .op = SALI_OP_matvec, .in = { P(1, 5), V(5) } },
    { .op = SALI_OP_matvec, .in = { P(5, 1), V(1) } },
    { .op = SALI_OP_matvec, .in = { V(3, 4), P(4) } },
    { .op = SALI_OP_matvec, .in = { V(3, 4), V(4) } },
    { .op = SALI_OP_matvec, .in = { P(3, 4), P(4) } },
    { .op = SALI_OP_matmul, .in = { P(2, 3), V(3, 4) } },
    { .op = SALI_OP_matmul, .in = { V(2, 3), P(3, 4) } },
    { .op = SALI_OP_matmul, .in = { V(2, 3), V(3, 4) } },
    { .op = SALI_OP_matmul, .in = { V(1, 3), P(3, 1) } },
    { .op = SALI_OP_matmul, .in = { P(3, 1), V(1, 4) } },
    { .op = SALI_OP_matmul, .in = { P(2, 3), P(3, 4) } },
    { .op = SALI_OP_symmetrise, .in = { P(4, 4) } },
    { .op = SALI_OP_symmetrise, .in = { V(3, 3) } },
    { .op = SALI_OP_quad, .in = { V(5), P(5, 5) } },
    { .op = SALI_OP_quad, .in = { P(5), P(5, 5) } },
    { .op = SALI_OP_quad, .in = { STATE, P(OP_WIDTH, OP_WIDTH) } },
    { .op = SALI_OP_edges, .in = { V(20), P(5) }, INTS(0, 1, 1, 2, 2, 2, 1, 0, 19, 3) },
    { .op = SALI_OP_edges, .in = { P(6), P(3) }, INTS(0, 1, 5, 5, 2, 1) },
    { .op = SALI_OP_edges, .in = { STATE, P(4) }, INTS(0, 1, 1, 12, 15, 23, 18, 2) },
    { .op = SALI_OP_table, .in = { STATE, P(27) },
      INTS(5, 3, 0, 17, 12, 2, 17, 18, 1, 15, 0, 2, 19, 18) },
    { .op = SALI_OP_table, .in = { STATE, P(12) }, INTS(1, 4, 16, 19, 18, 13) },
    { .op = SALI_OP_reshape, .in = { V(4, 3) }, INTS(2, 6) },
    { .op = SALI_OP_reshape, .in = { P(1) }, .n_ints = 0 },
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

/* An operand on the tape. State-dependent ones are affine in a part of the state; the parts of two
 * operands overlap. */
static inline sal_expr op_operand_of(sal_tape *tape, const op_case *test, int k)
{
    const op_operand *operand = &test->in[k];
    const sali_op *op = sali_op_f64(test->op);
    int64_t size = sali_shape_size(&operand->shape);
    if (operand->kind == 'S') {
        return sal_state(tape);
    }
    if (operand->kind == 'P') {
        return sal_param(tape, k == 0 ? "first" : "second", operand->shape);
    }
    sal_expr part = sal_slice(sal_state(tape), 0, (OP_WIDTH - size) / (k + 2), size);
    sal_expr unit = sal_reshape(part, operand->shape);
    return sal_add(sal_scale(unit, op->test_high - op->test_low), sal_scalar(tape, op->test_low));
}

/* f = sum c y for the op's output y, with an array c of irregular coefficients. */
static inline sal_expr op_record(sal_tape *tape, const op_case *test)
{
    const sali_op *op = sali_op_f64(test->op);
    sal_expr in[2] = { { 0 } };
    for (int k = 0; k < op->arity; k++) {
        in[k] = op_operand_of(tape, test, k);
    }
    if (test->op == SALI_OP_quad) { /* its matrix must be symmetric */
        in[1] =
            sali_record(tape, &(sali_recipe){ .op = SALI_OP_symmetrise, .n_in = 1, .in = &in[1] });
    }
    sal_expr y = sali_record(tape, &(sali_recipe){ .op = test->op,
                                                   .n_in = op->arity,
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
