/* SPDX-License-Identifier: MIT */
/* Shape rules: every op refuses what does not fit, by name, with shapes and the caller's place; and
 * survives attributes that a hostile file may hold. */
#define TEST_FORKS 0
#include "test.h"

#include "ad/tape.h"
#include "core/alloc.h"
#include "op_cases.h"

/* A wrong use, and a part of its message. */
typedef struct bad_case {
    op_case use;
    const char *text;
} bad_case;

#define BAD_BROADCAST(name)                                                         \
    { { .op = SALI_OP_##name, .in = { V(4, 3), P(4) } }, "shapes [4, 3] and [4]" }, \
    {                                                                               \
        { .op = SALI_OP_##name, .in = { V(3), P(3) }, INTS(1) }, "attributes"       \
    }
#define BAD_UNARY(name)                                                 \
    {                                                                   \
        { .op = SALI_OP_##name, .in = { V(3) }, INTS(1) }, "attributes" \
    }
#define BAD_REDUCTION(name)                                                   \
    { { .op = SALI_OP_##name, .in = { V(3, 2) }, INTS(2) }, "shape [3, 2]" }, \
        { { .op = SALI_OP_##name, .in = { V(3) }, INTS(-2) }, "axis" },       \
    {                                                                         \
        { .op = SALI_OP_##name, .in = { V(3) } }, "attributes"                \
    }

/* clang-format off */
static const bad_case bad_cases[] = {
    { { .op = SALI_OP_state, INTS(1) }, "attributes" },
    { { .op = SALI_OP_param, .shape = SHAPE(3, 0) }, "sizes >= 1" },
    { { .op = SALI_OP_param, .shape = { .rank = 5 } }, "rank" },
    { { .op = SALI_OP_param, .shape = { .rank = -1 } }, "rank" },
    { { .op = SALI_OP_param, .shape = SHAPE(INT64_MAX, 2) }, "sizes" },
    { { .op = SALI_OP_param, .shape = SHAPE(1 << 20, 1 << 20) }, "too many" },
    { { .op = SALI_OP_constant, .shape = SHAPE(3), .n_reals = 2 }, "2 real attributes" },
    BAD_BROADCAST(add),
    BAD_BROADCAST(sub),
    BAD_BROADCAST(mul),
    BAD_BROADCAST(div),
    BAD_UNARY(scale),
    BAD_UNARY(exp),
    BAD_UNARY(log),
    BAD_UNARY(softplus),
    BAD_UNARY(sigmoid),
    BAD_UNARY(silu),
    BAD_UNARY(gelu),
    { { .op = SALI_OP_elu, .in = { V(3) } }, "attributes" },
    { { .op = SALI_OP_drelu, .in = { V(3), P(4), P(3) } }, "the shape of a, or one number" },
    { { .op = SALI_OP_drelu, .in = { V(2, 3), P(2, 3), P(3, 2) } }, "the shape of a" },
    { { .op = SALI_OP_drelu, .in = { V(3), V(3), P(3) } }, "must not depend" },
    { { .op = SALI_OP_drelu, .in = { V(3), P(3), V(1) } }, "must not depend" },
    { { .op = SALI_OP_drelu, .in = { V(3), P(3), P(3) }, INTS(1) }, "attributes" },
    { { .op = SALI_OP_elu, .in = { V(3) }, .n_reals = 1, .reals = { HUGE_VAL } }, "alpha inf" },
    { { .op = SALI_OP_elu, .in = { V(3) }, .n_reals = 1, .reals = { (double)NAN } }, "finite" },
    BAD_UNARY(tanh),
    BAD_UNARY(square),
    { { .op = SALI_OP_cumsum, .in = { V(3, 2) }, INTS(2) }, "shape [3, 2]" },
    { { .op = SALI_OP_softmax, .in = { V(3) }, INTS(-2) }, "axis" },
    { { .op = SALI_OP_batched_matmul, .in = { V(2, 3, 2), P(2, 3, 2) } },
      "[2, 3, 2] and [2, 3, 2]; expected as many matrices" },
    { { .op = SALI_OP_batched_matmul, .in = { V(2, 3, 2), P(1, 2, 2) } }, "[1, 2, 2]" },
    { { .op = SALI_OP_batched_matmul, .in = { V(3, 2), P(2, 3) } }, "as many matrices" },
    { { .op = SALI_OP_transpose, .in = { V(3, 2) }, INTS(0, 2) }, "two different axes" },
    { { .op = SALI_OP_transpose, .in = { V(3, 2) }, INTS(1, 1) }, "shape [3, 2]" },
    { { .op = SALI_OP_transpose, .in = { V(3, 2) }, INTS(0, INT64_MAX) }, "two different axes" },
    { { .op = SALI_OP_transpose, .in = { V(3, 2) }, INTS(0) }, "attributes" },
    BAD_UNARY(sqrt),
    BAD_UNARY(log1p),
    BAD_UNARY(abs),
    BAD_UNARY(relu),
    BAD_UNARY(lgamma),
    { { .op = SALI_OP_clamp, .in = { V(3) }, .n_reals = 1 }, "attributes" },
    { { .op = SALI_OP_clamp, .in = { V(3) }, .n_reals = 2, .reals = { 1, 0.5 } }, "low <= high" },
    { { .op = SALI_OP_clamp, .in = { V(3) }, .n_reals = 2, .reals = { (double)NAN, 1 } }, "low" },
    { { .op = SALI_OP_pow, .in = { V(3) } }, "attributes" },
    { { .op = SALI_OP_pow, .in = { V(3) }, .n_reals = 1, .reals = { HUGE_VAL } }, "exponent inf" },
    { { .op = SALI_OP_pow, .in = { V(3) }, .n_reals = 1, .reals = { (double)NAN } }, "finite" },
    BAD_BROADCAST(minimum),
    BAD_BROADCAST(maximum),
    { { .op = SALI_OP_where, .in = { V(3), V(3), P(2) } }, "shapes [3] and [3] and [2]" },
    { { .op = SALI_OP_where, .in = { V(4), V(1), P(2, 3) } }, "equal sizes" },
    { { .op = SALI_OP_where, .in = { V(3), P(3), P(3) }, INTS(0) }, "attributes" },
    BAD_REDUCTION(max),
    BAD_REDUCTION(sum),
    BAD_REDUCTION(mean),
    BAD_REDUCTION(logsumexp),
    { { .op = SALI_OP_dot, .in = { V(3), P(4) } }, "shapes [3] and [4]" },
    { { .op = SALI_OP_dot, .in = { V(3, 1), P(3) } }, "shapes [3, 1] and [3]" },
    { { .op = SALI_OP_matvec, .in = { P(3, 4), V(3) } }, "shapes [3, 4] and [3]" },
    { { .op = SALI_OP_matvec, .in = { P(4), V(4) } }, "a matrix" },
    { { .op = SALI_OP_matmul, .in = { P(3, 4), V(3, 4) } }, "shapes [3, 4] and [3, 4]" },
    { { .op = SALI_OP_matmul, .in = { P(3, 4), V(4) } }, "matrices" },
    { { .op = SALI_OP_symmetrise, .in = { P(3, 4) } }, "shape [3, 4]" },
    { { .op = SALI_OP_symmetrise, .in = { P(3) } }, "square" },
    { { .op = SALI_OP_quad, .in = { V(3), P(4, 4) } }, "shapes [3] and [4, 4]" },
    { { .op = SALI_OP_quad, .in = { V(3), V(3, 3) } }, "must not depend on the state" },
    { { .op = SALI_OP_edges, .in = { V(3), P(2) }, INTS(0, 1) }, "one weight for each pair" },
    { { .op = SALI_OP_edges, .in = { V(3), P(1) }, INTS(0, 3) }, "index 3; expected 0 to 2" },
    { { .op = SALI_OP_edges, .in = { V(3), P(1) }, INTS(-1, 0) }, "index -1" },
    { { .op = SALI_OP_edges, .in = { V(3), V(1) }, INTS(0, 1) }, "must not depend" },
    { { .op = SALI_OP_edges, .in = { V(3, 1), P(1) }, INTS(0, 1) }, "shapes [3, 1] and [1]" },
    { { .op = SALI_OP_table, .in = { V(3), P(2) }, INTS(1, 1, 0) }, "the state" },
    { { .op = SALI_OP_table, .in = { STATE, P(2, 1) }, INTS(1, 1, 0) }, "[24] and [2, 1]" },
    { { .op = SALI_OP_table, .in = { STATE, P(3) }, INTS(1, 1, 0) }, "2 entries" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) } }, "number of factors" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(0, 1) }, "number of factors" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(INT64_MAX, 1, 0) }, "number of factors" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(1, -1, 0) }, "factor 0 has no scope" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(2, 1, 0) }, "factor 1 has no scope" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(1, INT64_MAX, 0) }, "no scope" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(1, 1, 0, 7) }, "1 integers after" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(1, 1, 20) }, "variable 20; expected" },
    { { .op = SALI_OP_table, .in = { STATE, P(2) }, INTS(1, 1, -1) }, "variable -1" },
    { { .op = SALI_OP_table, .in = { STATE, P(4) }, INTS(1, 2, 3, 3) }, "variable 3 twice" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 1, 2, 2), P(3) }, INTS(1, 0) },
      "[2, 3, 4] and [3, 1, 2, 2] and [3]" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 2, 2), P(2) }, INTS(1, 0) }, "bias [O]" },
    { { .op = SALI_OP_conv2d, .in = { V(6, 4), P(3, 6, 1, 1), P(3) }, INTS(1, 0) }, "an image" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 4, 2), P(3) }, INTS(1, 0) }, "no larger" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 2, 2), P(3) }, INTS(0, 0) }, "stride >= 1" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 2, 2), P(3) }, INTS(1, -1) }, "padding" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 2, 2), P(3) }, INTS(1, INT64_MAX) },
      "padding" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 2, 2), P(3) }, INTS(1, 1 << 20) }, "2^31" },
    { { .op = SALI_OP_conv2d, .in = { V(2, 3, 4), P(3, 2, 2, 2), P(3) }, INTS(1) }, "attributes" },
    { { .op = SALI_OP_conv2d, .in = { V(1, 2, 2), V(1, 1, 2, 2), P(1) }, INTS(1, 0) },
      "must not depend" },
    { { .op = SALI_OP_conv2d, .in = { V(1, 2, 2), P(1, 1, 2, 2), V(1) }, INTS(1, 0) },
      "must not depend" },
    { { .op = SALI_OP_avg_pool2d, .in = { V(2, 3, 4) }, INTS(4, 1) }, "within it" },
    { { .op = SALI_OP_avg_pool2d, .in = { V(2, 3, 4) }, INTS(2, 0) }, "stride >= 1" },
    { { .op = SALI_OP_avg_pool2d, .in = { V(2, 3) }, INTS(1, 1) }, "an image" },
    { { .op = SALI_OP_avg_pool2d, .in = { V(2, 3, 4) } }, "attributes" },
    { { .op = SALI_OP_max_pool2d, .in = { V(2, 3, 4) }, INTS(4, 1) }, "within it" },
    { { .op = SALI_OP_max_pool2d, .in = { V(2, 3, 4) } }, "attributes" },
    { { .op = SALI_OP_masked_logdet, .in = { V(3), P(4, 4) } }, "shapes [3] and [4, 4]" },
    { { .op = SALI_OP_masked_logdet, .in = { V(3), P(3, 4) } }, "a square matrix" },
    { { .op = SALI_OP_masked_logdet, .in = { V(3), V(3, 3) } }, "must not depend" },
    { { .op = SALI_OP_masked_logdet, .in = { V(3), P(3, 3) } }, "no symmetrise node" },
    { { .op = SALI_OP_masked_logdet, .in = { V(3), P(3, 3) }, INTS(1) }, "attributes" },
    { { .op = SALI_OP_ridge_logdet, .in = { V(3), P(4, 4) } }, "shapes [3] and [4, 4]" },
    { { .op = SALI_OP_ridge_logdet, .in = { V(3), V(3, 3) } }, "must not depend" },
    { { .op = SALI_OP_ridge_logdet, .in = { V(3), P(3, 3) } }, "no symmetrise node" },
    { { .op = SALI_OP_ridge_logdet, .in = { V(3), P(3, 3) }, INTS(1) }, "attributes" },
    { { .op = SALI_OP_ridge_quad_inverse, .in = { V(3), P(3), P(3) } }, "a square matrix" },
    { { .op = SALI_OP_ridge_quad_inverse, .in = { V(3), P(3, 3), V(3) } }, "must not depend" },
    { { .op = SALI_OP_masked_quad_inverse, .in = { V(3), P(3, 3), P(4) } }, "and [4]; expected" },
    { { .op = SALI_OP_masked_quad_inverse, .in = { V(3), P(3), P(3) } }, "a square matrix" },
    { { .op = SALI_OP_masked_quad_inverse, .in = { V(3), P(3, 3), V(3) } }, "must not depend" },
    { { .op = SALI_OP_masked_quad_inverse, .in = { V(3), P(3, 3), P(3) } }, "no symmetrise node" },
    { { .op = SALI_OP_max_coverage, .in = { V(3), P(4, 3) } }, "shapes [3] and [4, 3]" },
    { { .op = SALI_OP_max_coverage, .in = { V(3), P(3) } }, "a matrix" },
    { { .op = SALI_OP_max_coverage, .in = { V(3), V(3, 2) } }, "must not depend" },
    { { .op = SALI_OP_max_coverage, .in = { V(3), P(3, 2) }, INTS(1) }, "attributes" },
    { { .op = SALI_OP_at_most, .in = { V(3) } }, "attributes" },
    { { .op = SALI_OP_at_most, .in = { V(3) }, .n_reals = 1, .reals = { NAN } }, "the limit is NaN" },
    { { .op = SALI_OP_expected_coverage, .in = { V(3), P(4, 3) } }, "shapes [3] and [4, 3]" },
    { { .op = SALI_OP_expected_coverage, .in = { V(3), V(3, 2) } }, "must not depend" },
    { { .op = SALI_OP_expected_coverage, .in = { V(3), P(3, 2) }, INTS(1) }, "attributes" },
    { { .op = SALI_OP_concat, .in = { V(3, 2), P(2, 3) }, INTS(1) }, "[3, 2] and [2, 3]" },
    { { .op = SALI_OP_concat, .in = { V(3, 2), P(3) }, INTS(0) }, "equal sizes" },
    { { .op = SALI_OP_concat, .in = { V(3), P(3) }, INTS(1) }, "axis" },
    { { .op = SALI_OP_concat, .in = { V(3), P(3) }, INTS(-1) }, "axis" },
    { { .op = SALI_OP_concat, .in = { SCALAR('V'), SCALAR('P') }, INTS(0) }, "axis" },
    { { .op = SALI_OP_concat, .in = { V(3), P(3) } }, "attributes" },
    { { .op = SALI_OP_gather, .in = { V(3) }, INTS(0) }, "at least one index" },
    { { .op = SALI_OP_gather, .in = { V(3) }, INTS(1, 0) }, "axis" },
    { { .op = SALI_OP_gather, .in = { V(3) }, INTS(INT64_MIN, 0) }, "axis" },
    { { .op = SALI_OP_gather, .in = { V(3) }, INTS(0, 3) }, "index 3; expected 0 to 2" },
    { { .op = SALI_OP_gather, .in = { V(3) }, INTS(0, 1, -1) }, "index -1" },
    { { .op = SALI_OP_reshape, .in = { V(4, 3) }, INTS(5, 2) }, "shape [4, 3]" },
    { { .op = SALI_OP_reshape, .in = { V(4) }, INTS(1, 1, 1, 1, 4) }, "at most 4 axes" },
    { { .op = SALI_OP_reshape, .in = { V(4) }, INTS(INT64_MAX, INT64_MAX) }, "as many" },
    { { .op = SALI_OP_reshape, .in = { V(4) }, INTS(-2, -2) }, "as many" },
    { { .op = SALI_OP_slice, .in = { V(4, 3) }, INTS(2, 0, 1) }, "axis" },
    { { .op = SALI_OP_slice, .in = { V(4, 3) }, INTS(1, 2, 2) }, "shape [4, 3]" },
    { { .op = SALI_OP_slice, .in = { V(4) }, INTS(0, INT64_MAX, 2) }, "start" },
    { { .op = SALI_OP_slice, .in = { V(4) }, INTS(0, 2, INT64_MAX) }, "start" },
    { { .op = SALI_OP_slice, .in = { V(4) }, INTS(0, 0, 0) }, "length" },
    { { .op = SALI_OP_slice, .in = { V(4) }, INTS(0, 0) }, "attributes" },
};
/* clang-format on */
#define BAD_CASES ((int)(sizeof bad_cases / sizeof *bad_cases))

/* Record a use of an op with operands as they are. */
static sal_expr record(sal_tape *tape, const op_case *use)
{
    sal_expr in[OP_INPUTS] = { { 0 } };
    for (int k = 0; k < op_inputs(use); k++) {
        in[k] = op_operand_of(tape, use, k);
    }
    return sali_record(tape, &(sali_node_spec){ .op = use->op,
                                                .n_in = op_inputs(use),
                                                .in = in,
                                                .n_ints = use->n_ints,
                                                .ints = use->ints,
                                                .n_reals = use->n_reals,
                                                .reals = use->reals,
                                                .name = use->op == SALI_OP_param ? "p" : NULL,
                                                .shape = &use->shape,
                                                .file = __FILE__,
                                                .line = __LINE__ });
}

static sal_tape *new_tape(void)
{
    sal_space *space = op_space();
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    return tape;
}

START_TEST(wrong_use_is_refused_by_name_shape_and_place)
{
    const bad_case *bad = &bad_cases[_i];
    sal_tape *tape = new_tape();
    sal_error err = { 0 };
    sal_expr y = record(tape, &bad->use);
    ck_assert_int_eq(y.node, -1);
    ck_assert_int_ne(sal_tape_check(tape, &err), SAL_OK);
    ck_assert_msg(strstr(err.message, bad->text) != NULL, "'%s' lacks '%s'", err.message,
                  bad->text);
    char name[64];
    snprintf(name, sizeof name, "%s: ", sali_op_f64(bad->use.op)->name);
    ck_assert_msg(strstr(err.message, name) != NULL, "'%s' does not name the op", err.message);
    ck_assert_msg(strstr(err.message, "test_op_errors.c:") != NULL, "'%s' has no place",
                  err.message);
    sal_tape_destroy(tape);
}
END_TEST

/* A real attribute that an op does not know. */
START_TEST(superfluous_attributes_are_refused)
{
    op_case use = op_cases[_i];
    sal_error err = { 0 };
    sal_tape *tape = new_tape();
    use.n_reals++;
    ck_assert_int_eq(record(tape, &use).node, -1);
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_SHAPE, &err, sali_op_f64(use.op)->name);
    ck_assert_ptr_nonnull(strstr(err.message, "test_op_errors.c:"));
    sal_tape_destroy(tape);
}
END_TEST

/* sal_operation_at, which other languages call. */
START_TEST(operations_by_name_are_checked)
{
    const int64_t one = 1;
    const struct {
        sal_operation use;
        const char *text;
    } bad[] = {
        { { .op = "gelo", .n_in = 1 }, "gelo: there is no such operation" },
        { { .n_in = 1 }, "there is no such operation" },
        { { .op = "exp", .n_in = 2 }, "exp: wrong number of inputs" },
        { { .op = "state", .n_in = 1 }, "state: wrong number of inputs" },
        { { .op = "exp", .n_in = 1, .n_ints = -1, .ints = &one }, "exp: a list of attributes" },
        { { .op = "exp", .n_in = 1, .n_ints = 1 }, "exp: a list of attributes" },
        { { .op = "scale", .n_in = 1, .n_reals = 1 }, "scale: a list of attributes" },
        { { .op = "sum", .n_in = 1, .n_ints = 1, .ints = &one }, "sum: " },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        sal_tape *tape = new_tape();
        sal_error err = { 0 };
        sal_operation use = bad[k].use;
        use.in = (sal_expr[]){ sal_state(tape), sal_state(tape) };
        ck_assert_int_eq(sal_operation_at("user.c", 7, &use).node, -1);
        ck_assert_int_ne(sal_tape_check(tape, &err), SAL_OK);
        ck_assert_msg(strstr(err.message, bad[k].text) && strstr(err.message, "user.c:7"), "'%s'",
                      err.message);
        sal_tape_destroy(tape);
    }
    ck_assert_int_eq(sal_operation_at("", 0, NULL).node, -1);
    ck_assert_int_eq(sal_operation_at("", 0, &(sal_operation){ .op = "exp" }).node, -1);
}
END_TEST

START_TEST(parameter_names_are_checked)
{
    const char *bad[] = { "", "a b", "na\xc3\xafve", "x\n", NULL };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        sal_tape *tape = new_tape();
        sal_error err = { 0 };
        sal_param(tape, bad[k], SAL_SCALAR);
        ck_fails(sal_tape_check(tape, &err), SAL_ERR_ARGUMENT, &err, "param: a name");
        sal_tape_destroy(tape);
    }
}
END_TEST

START_TEST(ordinal_variables_of_many_states_have_no_tables)
{
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    ck_ok(sal_space_add(space,
                        &(sal_block){ .name = "o", .kind = SAL_ORDINAL, .count = 2, .states = 5 },
                        &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_table(tape, sal_param(tape, "T", SAL_SHAPE(5)), 1, ((int64_t[]){ 0, 1 }),
              ((int64_t[]){ 1 }));
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_SHAPE, &err,
             "variable 1, which is ordinal with 5 states");
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(too_large_tables_are_refused)
{
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    ck_ok(sal_space_add(
              space,
              &(sal_block){ .name = "c", .kind = SAL_CATEGORICAL, .count = 4, .states = 1 << 20 },
              &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_table(tape, sal_param(tape, "T", SAL_SHAPE(5)), 1, ((int64_t[]){ 0, 4 }),
              ((int64_t[]){ 0, 1, 2, 3 }));
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_SHAPE, &err, "too many states");
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* What its terms say of the last node, which was recorded: indices of its inputs. */
static void check_term(const sal_tape *tape)
{
    const sali_node *node = &tape->nodes[tape->n_nodes - 1], *in[8];
    const sali_op *op = sali_op_f64(node->op);
    for (int32_t k = 0; k < node->n_in; k++) {
        in[k] = &tape->nodes[node->in[k]];
    }
    if (op->term) {
        sali_op_term term = op->term(&(sali_term_place){ node, in, 0, 0 });
        ck_assert_int_ge(term.n, 1);
        ck_assert_int_le(term.n, 3);
    }
}

/* Attributes of any number and value, on operands of every shape in the cases: either the op says
 * no, or its shape is one. */
START_TEST(hostile_attributes_are_survived)
{
    static const int64_t numbers[] = { 0,  0,  1,         1,         2,         3,  4,  5,
                                       -1, 19, INT64_MAX, INT64_MIN, 1LL << 31, 12, 23, -2 };
    static const double reals[] = { 0, 1, 2, -7, 1e300, -1e300, NAN, INFINITY };
    for (int64_t round = 0; round < 300; round++) {
        op_case use = op_cases[_i];
        int64_t seed = round * 100;
        use.n_ints = (int64_t)op_number(seed, 0, 10);
        for (int64_t k = 0; k < use.n_ints; k++) {
            use.ints[k] = numbers[(int)op_number(seed + 1 + k, 0, 16)];
        }
        use.n_reals = (int64_t)op_number(seed + 50, 0, 4);
        for (int64_t k = 0; k < use.n_reals && round % 2; k++) {
            use.reals[k] = reals[(int)op_number(seed + 51 + k, 0, 8)];
        }
        sal_tape *tape = new_tape();
        sal_expr y = record(tape, &use);
        sal_shape shape = sal_expr_shape(y);
        ck_assert_int_le(shape.rank, SAL_MAX_RANK);
        for (int32_t i = 0; i < shape.rank; i++) {
            ck_assert_int_ge(shape.dim[i], 1);
        }
        if (tape->status == SAL_OK) {
            check_term(tape);
        }
        sal_tape_destroy(tape);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("op_errors");
    TCase *wrong = tcase_create("wrong use");
    tcase_add_loop_test(wrong, superfluous_attributes_are_refused, 0, OP_CASES);
    tcase_add_loop_test(wrong, wrong_use_is_refused_by_name_shape_and_place, 0, BAD_CASES);
    tcase_add_test(wrong, operations_by_name_are_checked);
    tcase_add_test(wrong, parameter_names_are_checked);
    tcase_add_test(wrong, ordinal_variables_of_many_states_have_no_tables);
    tcase_add_test(wrong, too_large_tables_are_refused);
    tcase_add_loop_test(wrong, hostile_attributes_are_survived, 0, OP_CASES);
    suite_add_tcase(suite, wrong);
    return test_main(suite);
}
