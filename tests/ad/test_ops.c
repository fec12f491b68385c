/* SPDX-License-Identifier: MIT */
/* The contract of every op: derivatives against differences, float against double, batches against
 * single chains, replays, zero adjoints. The cases are data: op_cases.h. */
#define TEST_FORKS 0
#include "test.h"

#include <math.h>

#include "ad/polynomial.h"
#include "ad/workspace.h"
#include "alloc_fail.h"
#include "core/alloc.h"
#include "core/vector/blas.h"
#include "op_cases.h"

/* More than one tile of the ops that work on tiles of chains, and not a multiple. */
#define CHAINS 19

/* A case as a program that runs. */
typedef struct fixture {
    sali_program *program;
    sali_params *params;
    sali_workspace *ws;
    double *flat; /* the parameters */
    double x[CHAINS * OP_WIDTH];
} fixture;

static fixture *fixture_create(const op_case *test, sal_dtype dtype)
{
    sal_error err = { 0 };
    fixture *f = calloc(1, sizeof *f);
    sal_space *space = op_space();
    sal_tape *tape = sal_tape_create(space, dtype);
    /* what f adds to the op's result is to stay where it was recorded */
    sal_tape_set_passes(tape, SAL_PASS_DEFAULT & ~(uint32_t)SAL_PASS_CONSTANTS);
    sal_expr y = op_record(tape, test);
    ck_ok(sali_program_create(tape, y, &f->program, &err), &err);
    ck_ok(sali_params_create(f->program, &f->params, &err), &err);
    ck_ok(sali_workspace_create(f->program, f->params, CHAINS,
                                SALI_WANT_STATE_GRADIENT | SALI_WANT_PARAM_GRADIENT, &f->ws, &err),
          &err);
    const sali_op *op = sali_op_f64(test->op);
    f->flat = calloc((size_t)f->program->parameters_size + 1, sizeof(double));
    for (int64_t k = 0; k < f->program->parameters_size; k++) {
        f->flat[k] = op_number(500 + k, op->test_low, op->test_high);
    }
    sali_params_set(f->params, f->flat);
    for (int64_t k = 0; k < CHAINS * OP_WIDTH; k++) {
        f->x[k] = op_number(k, 0.05, 0.95);
    }
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return f;
}

static void fixture_destroy(fixture *f)
{
    sali_workspace_destroy(f->ws);
    sali_params_destroy(f->params);
    sali_program_destroy(f->program);
    free(f->flat);
    free(f);
}

/* f and its gradients in double, whatever the program computes with. NULL: not wanted. */
static void evaluate(fixture *f, int64_t chains, const double *x, double *value, double *gradient)
{
    int64_t n = chains * OP_WIDTH;
    if (f->program->dtype == SAL_F64) {
        double to[CHAINS * OP_WIDTH];
        sali_workspace_gradient(f->ws, chains, NULL, x, value, gradient ? gradient : to);
        return;
    }
    float narrow[CHAINS * OP_WIDTH] = { 0 }, to[CHAINS * OP_WIDTH];
    for (int64_t k = 0; k < n; k++) {
        narrow[k] = (float)x[k];
    }
    sali_workspace_gradient(f->ws, chains, NULL, narrow, value, to);
    for (int64_t k = 0; gradient && k < n; k++) {
        gradient[k] = (double)to[k];
    }
}

static double chain_weight(int64_t c)
{
    return op_number(2000 + c, -1, 1);
}

/* Gather weight_c df_c / dparameters of chains first .. first + chains - 1. value [chains]: f, or
 * NULL. */
static void gather_parameters(fixture *f, int64_t first, int64_t chains, double *value)
{
    double weight[CHAINS];
    float narrow[CHAINS * OP_WIDTH];
    const double *x = f->x + first * OP_WIDTH;
    for (int64_t k = 0; k < chains * OP_WIDTH; k++) {
        narrow[k] = (float)x[k];
    }
    for (int64_t c = 0; c < chains; c++) {
        weight[c] = chain_weight(first + c);
    }
    bool wide = f->program->dtype == SAL_F64;
    sali_workspace_param_gradient(f->ws, chains, NULL, wide ? (const void *)x : narrow, weight,
                                  value);
}

static void parameter_gradient(fixture *f, double *gradient)
{
    double value[CHAINS];
    sali_workspace_param_zero(f->ws);
    gather_parameters(f, 0, CHAINS, value);
    sali_workspace_param_reduce(&f->ws, 1, 1, gradient);
}

static const char *label(const op_case *test)
{
    static char text[400];
    char a[SALI_SHAPE_TEXT], b[SALI_SHAPE_TEXT];
    snprintf(text, sizeof text, "%s of %c%s %c%s", sali_op_f64(test->op)->name,
             test->in[0].kind ? test->in[0].kind : ' ', sali_shape_text(&test->in[0].shape, a),
             test->in[1].kind ? test->in[1].kind : ' ', sali_shape_text(&test->in[1].shape, b));
    return text;
}

/* |got - want| <= tolerance (1 + max |want|), element by element. */
static void check_close(const op_case *test, const char *what, int64_t n, const double *got,
                        const double *want, double tolerance)
{
    double scale = 1;
    for (int64_t k = 0; k < n; k++) {
        scale = fmax(scale, fabs(want[k]));
    }
    for (int64_t k = 0; k < n; k++) {
        ck_assert_msg(fabs(got[k] - want[k]) <= tolerance * scale,
                      "%s: %s %lld is %.17g, not %.17g", label(test), what, (long long)k, got[k],
                      want[k]);
    }
}

START_TEST(every_op_has_a_case)
{
    for (int id = 0; id < SALI_OP_COUNT; id++) {
        bool found = false;
        for (int k = 0; k < OP_CASES; k++) {
            found |= op_cases[k].op == (sali_op_id)id;
        }
        ck_assert_msg(found, "%s: add cases to op_cases.h", sali_op_f64((sali_op_id)id)->name);
    }
}
END_TEST

START_TEST(every_record_is_complete)
{
    for (int id = 0; id < SALI_OP_COUNT; id++) {
        const sali_op *op = sali_op_f64((sali_op_id)id), *narrow = sali_op_f32((sali_op_id)id);
        ck_assert_str_eq(op->name, narrow->name);
        ck_assert_ptr_nonnull(op->doc);
        ck_assert_ptr_nonnull(op->shape);
        bool computes = op->arity != 0 && !op->alias;
        ck_assert_msg(!computes || (op->forward && op->backward), "%s: no kernels", op->name);
    }
}
END_TEST

/* Central differences with one step of Richardson's extrapolation, as a weighted sum of values:
 * the error is O(h^4). Ops with kinks are affine between them, which one must not step over. */
static double step_size(const op_case *test)
{
    return op_is_kinked(test->op) ? 0x1p-20 : 0x1p-10;
}
static const double steps[] = { 0.5, -0.5, 1, -1 };
static const double factors[] = { 4.0 / 3, -4.0 / 3, -1.0 / 6, 1.0 / 6 };

START_TEST(state_gradient_matches_differences)
{
    const op_case *test = &op_cases[_i];
    const double h = step_size(test);
    fixture *f = fixture_create(test, SAL_F64);
    double value[CHAINS], gradient[CHAINS * OP_WIDTH], expected[CHAINS * OP_WIDTH] = { 0 };
    for (int64_t i = 0; i < OP_WIDTH; i++) {
        for (int k = 0; k < 4; k++) {
            double x[CHAINS * OP_WIDTH];
            memcpy(x, f->x, sizeof x);
            for (int64_t c = 0; c < CHAINS; c++) {
                x[c * OP_WIDTH + i] += h * steps[k];
            }
            evaluate(f, CHAINS, x, value, NULL);
            for (int64_t c = 0; c < CHAINS; c++) {
                expected[c * OP_WIDTH + i] += factors[k] / h * value[c];
            }
        }
    }
    evaluate(f, CHAINS, f->x, value, gradient);
    check_close(test, "state derivative", CHAINS * OP_WIDTH, gradient, expected, 1e-8);
    fixture_destroy(f);
}
END_TEST

START_TEST(parameter_gradient_matches_differences)
{
    const op_case *test = &op_cases[_i];
    const double h = step_size(test);
    fixture *f = fixture_create(test, SAL_F64);
    int64_t n = f->program->parameters_size;
    double *gradient = calloc((size_t)n + 1, sizeof *gradient);
    double *expected = calloc((size_t)n + 1, sizeof *expected);
    for (int64_t i = 0; i < n; i++) {
        double kept = f->flat[i];
        for (int k = 0; k < 4; k++) {
            double value[CHAINS];
            f->flat[i] = kept + h * steps[k];
            sali_params_set(f->params, f->flat);
            evaluate(f, CHAINS, f->x, value, NULL);
            for (int64_t c = 0; c < CHAINS; c++) {
                expected[i] += factors[k] / h * chain_weight(c) * value[c];
            }
        }
        f->flat[i] = kept;
    }
    sali_params_set(f->params, f->flat);
    parameter_gradient(f, gradient);
    check_close(test, "parameter derivative", n, gradient, expected, 1e-8);
    free(gradient);
    free(expected);
    fixture_destroy(f);
}
END_TEST

START_TEST(float_agrees_with_double)
{
    const op_case *test = &op_cases[_i];
    fixture *wide = fixture_create(test, SAL_F64), *narrow = fixture_create(test, SAL_F32);
    int64_t n = wide->program->parameters_size;
    double value[2][CHAINS], gradient[2][CHAINS * OP_WIDTH], *parameters[2];
    for (int k = 0; k < 2; k++) {
        fixture *f = k == 0 ? wide : narrow;
        parameters[k] = calloc((size_t)n + 1, sizeof(double));
        evaluate(f, CHAINS, f->x, value[k], gradient[k]);
        parameter_gradient(f, parameters[k]);
    }
    check_close(test, "f32 value", CHAINS, value[1], value[0], 1e-5);
    check_close(test, "f32 state derivative", CHAINS * OP_WIDTH, gradient[1], gradient[0], 1e-5);
    check_close(test, "f32 parameter derivative", n, parameters[1], parameters[0], 1e-5);
    free(parameters[0]);
    free(parameters[1]);
    fixture_destroy(wide);
    fixture_destroy(narrow);
}
END_TEST

static void compare_batch_with_singles(const op_case *test, sal_dtype dtype, double tolerance)
{
    fixture *f = fixture_create(test, dtype);
    int64_t n = f->program->parameters_size;
    double value[2][CHAINS], gradient[2][CHAINS * OP_WIDTH];
    double *parameters[2] = { calloc((size_t)n + 1, sizeof(double)),
                              calloc((size_t)n + 1, sizeof(double)) };
    evaluate(f, CHAINS, f->x, value[0], gradient[0]);
    parameter_gradient(f, parameters[0]);
    sali_workspace_param_zero(f->ws);
    for (int64_t c = 0; c < CHAINS; c++) {
        evaluate(f, 1, f->x + c * OP_WIDTH, value[1] + c, gradient[1] + c * OP_WIDTH);
        gather_parameters(f, c, 1, &value[1][c]);
    }
    sali_workspace_param_reduce(&f->ws, 1, 1, parameters[1]);
    check_close(test, "single value", CHAINS, value[1], value[0], tolerance);
    check_close(test, "single gradient", CHAINS * OP_WIDTH, gradient[1], gradient[0], tolerance);
    check_close(test, "single parameters", n, parameters[1], parameters[0], tolerance);
    free(parameters[0]);
    free(parameters[1]);
    fixture_destroy(f);
}

START_TEST(batch_agrees_with_single_chains)
{
    compare_batch_with_singles(&op_cases[_i], SAL_F64, 1e-12);
    compare_batch_with_singles(&op_cases[_i], SAL_F32, 1e-6);
}
END_TEST

START_TEST(parameter_gradient_needs_no_value_of_f)
{
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        fixture *f = fixture_create(&op_cases[_i], (sal_dtype)dtype);
        size_t bytes = (size_t)f->program->parameters_size * sizeof(double);
        double *parameters[2] = { malloc(bytes + 1), malloc(bytes + 1) };
        sali_workspace_param_zero(f->ws); /* in a fresh workspace: no values are left from before */
        gather_parameters(f, 0, CHAINS, NULL);
        sali_workspace_param_reduce(&f->ws, 1, 1, parameters[0]);
        parameter_gradient(f, parameters[1]);
        ck_assert_mem_eq(parameters[0], parameters[1], bytes);
        free(parameters[0]);
        free(parameters[1]);
        fixture_destroy(f);
    }
}
END_TEST

START_TEST(replays_are_bitwise_equal_and_allocate_nothing)
{
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        fixture *f = fixture_create(&op_cases[_i], (sal_dtype)dtype);
        size_t bytes = (size_t)f->program->parameters_size * sizeof(double);
        double value[2][CHAINS], gradient[2][CHAINS * OP_WIDTH];
        double *parameters[2] = { malloc(bytes + 1), malloc(bytes + 1) };
        int64_t before = alloc_count();
        for (int k = 0; k < 2; k++) {
            evaluate(f, CHAINS, f->x, value[k], gradient[k]);
            parameter_gradient(f, parameters[k]);
        }
        ck_assert_int_eq(alloc_count(), before);
        ck_assert_mem_eq(value[0], value[1], sizeof value[0]);
        ck_assert_mem_eq(gradient[0], gradient[1], sizeof gradient[0]);
        ck_assert_mem_eq(parameters[0], parameters[1], bytes);
        free(parameters[0]);
        free(parameters[1]);
        fixture_destroy(f);
    }
}
END_TEST

/* ---- zero adjoints: the backward kernel by itself, on infinite inputs */

/* Products that BLAS computes: their matrices must be finite, for 0 times inf is NaN there. */
static bool needs_finite(sali_op_id op)
{
    return op == SALI_OP_matvec || op == SALI_OP_matmul || op == SALI_OP_batched_matmul ||
           op == SALI_OP_quad || op == SALI_OP_conv2d;
}

static double *filled(int64_t n, double number)
{
    double *to = sali_alloc(n, sizeof *to);
    for (int64_t k = 0; k < n; k++) {
        to[k] = number;
    }
    return to;
}

/* Forward, and backward with an output whose adjoints are all `adjoint`. Buffers hold anything
 * before. */
static void run_with_adjoint(const sali_op *op, const sali_node *const *in, sali_call call,
                             double adjoint)
{
    int64_t n = call.chains * call.out.size;
    call.out.value = filled(n, NAN);
    call.out.adjoint = filled(n, adjoint);
    call.saved = filled(op->saved_size ? call.chains * op->saved_size(call.node, in) : 0, NAN);
    call.scratch = filled(op->scratch_size ? op->scratch_size(call.node, in, call.chains) : 0, NAN);
    double *prepared = filled(op->prepare ? op->prepared_size(call.node, in) : 0, NAN);
    if (op->prepare) {
        op->prepare(&call, prepared);
    }
    call.prepared = prepared;
    op->forward(&call);
    op->backward(&call);
    sali_free(prepared);
    sali_free((void *)call.out.value);
    sali_free(call.out.adjoint);
    sali_free(call.saved);
    sali_free(call.scratch);
}

/* An op by itself, with inputs that are all `value` and have adjoints that are all `adjoint`. */
typedef struct lone_op {
    const op_case *test;
    fixture *f;
    const sali_op *op;
    const sali_node *node, *in[3];
    sali_arg args[3];
    int64_t chains, size;
} lone_op;

static lone_op lone_op_create(const op_case *test, double value, double adjoint)
{
    fixture *f = fixture_create(test, SAL_F64);
    const sali_node *nodes = f->program->nodes; /* f = sum(c y) */
    const int32_t at = nodes[nodes[f->program->output].in[0]].in[1];
    lone_op o = { .test = test,
                  .f = f,
                  .op = sali_op_f64(test->op),
                  .node = &nodes[at],
                  .chains = nodes[at].varying ? CHAINS : 1,
                  .size = f->program->steps[at].size };
    for (int32_t k = 0; k < o.node->n_in; k++) {
        o.in[k] = &nodes[o.node->in[k]];
        o.args[k].size = f->program->steps[o.node->in[k]].size;
        o.args[k].stride = o.in[k]->varying ? o.args[k].size : 0;
        o.args[k].shape = &o.in[k]->shape;
        o.args[k].value = filled(o.chains * o.args[k].size, value);
        o.args[k].adjoint = filled(o.chains * o.args[k].size, adjoint);
    }
    return o;
}

static void lone_op_destroy(lone_op *o)
{
    for (int32_t k = 0; k < o->node->n_in; k++) {
        sali_free((void *)o->args[k].value);
        sali_free(o->args[k].adjoint);
    }
    fixture_destroy(o->f);
}

static void lone_op_run(lone_op *o, bool lattice, double adjoint)
{
    static const int32_t codes[CHAINS * OP_VARIABLES];
    const sali_call call = { .node = o->node,
                             .plan = o->f->program->steps[o->node - o->f->program->nodes].plan,
                             .chains = o->chains,
                             .codes = lattice ? codes : NULL,
                             .in = o->args,
                             .out = { .stride = o->node->varying ? o->size : 0,
                                      .size = o->size,
                                      .shape = &o->node->shape } };
    run_with_adjoint(o->op, o->in, call, adjoint);
}

START_TEST(zero_adjoint_contributes_zero_even_times_infinity)
{
    const op_case *test = &op_cases[_i];
    lone_op o = lone_op_create(test, needs_finite(test->op) ? 2 : (double)INFINITY, 1.5);
    for (int lattice = 0; o.op->backward && lattice < 2; lattice++) {
        lone_op_run(&o, lattice, 0);
        for (int32_t k = 0; k < o.node->n_in; k++) {
            for (int64_t e = 0; e < (o.in[k]->varying ? o.chains : 1) * o.args[k].size; e++) {
                double got = ((double *)o.args[k].adjoint)[e];
                ck_assert_msg(got == 1.5, "%s: input %d got %g", label(test), k, got - 1.5);
            }
        }
    }
    lone_op_destroy(&o);
}
END_TEST

/* Where an op sets the adjoint of input 0, what was there before does not matter. */
START_TEST(a_fresh_adjoint_is_set)
{
    const op_case *test = &op_cases[_i];
    if (!sali_op_f64(test->op)->sets_fresh) {
        return;
    }
    lone_op added = lone_op_create(test, 0.3, 0), set = lone_op_create(test, 0.3, NAN);
    set.args[0].fresh = true;
    lone_op_run(&added, false, 2);
    lone_op_run(&set, false, 2);
    for (int64_t e = 0; e < added.chains * added.args[0].size; e++) {
        ck_assert_double_eq(((double *)set.args[0].adjoint)[e],
                            ((double *)added.args[0].adjoint)[e]);
    }
    lone_op_destroy(&added);
    lone_op_destroy(&set);
}
END_TEST

/* ---- what an op says that it is */

/* Element k of a node at the last replay of one chain. */
static double element(const fixture *f, int32_t i, int64_t k)
{
    const sali_node *node = &f->program->nodes[i];
    int32_t from = f->program->steps[i].storage;
    if (!node->varying) {
        return sali_load(SAL_F64, f->params->value[i], k);
    }
    const double *values = sali_workspace_values(f->ws, from);
    int64_t pixels = node->pixel_major ? node->shape.dim[1] * node->shape.dim[2] : 1;
    int64_t at = node->pixel_major ? k % pixels * node->shape.dim[0] + k / pixels : k;
    return (values ? values : f->x)[at];
}

static double term_value(const fixture *f, int32_t i, const sali_op_term *term)
{
    double x = term->factor;
    for (int j = 0; x != 0 && j < term->n; j++) {
        x = sali_term_take(term, j, x,
                           element(f, f->program->nodes[i].in[term->input[j]], term->at[j]));
    }
    return x;
}

/* Of all inputs that any term multiplies, term 0 has an element: by it analyses find degrees. */
static void check_first_term(const fixture *f, int32_t i, const sali_op_term *term)
{
    sali_op_term first = sali_term_of(f->program, i, 0, 0);
    ck_assert_int_eq(term->count, first.count);
    for (int j = 0; term->n > 1 && j < term->n; j++) {
        bool has = false;
        for (int l = 0; l < first.n; l++) {
            has |= first.input[l] == term->input[j] || first.end >= SALI_IF_NOT_ZERO;
        }
        ck_assert(has && first.n == term->n);
    }
}

/* One term at a time, and with all of them, of the nodes that the op makes. */
START_TEST(an_op_is_the_sum_of_its_terms)
{
    const op_case *test = &op_cases[_i];
    if (!sali_op_f64(test->op)->term) {
        return;
    }
    fixture *f = fixture_create(test, SAL_F64);
    double value;
    sal_error err;
    int nodes = 0;
    sali_workspace_destroy(f->ws);
    ck_ok(sali_workspace_create(f->program, f->params, 1, SALI_WANT_ALL_VALUES, &f->ws, &err),
          &err);
    sali_workspace_value(f->ws, 1, NULL, f->x, &value);
    for (int32_t i = 0; i < f->program->n_nodes; i++) {
        int64_t terms = sali_terms_of(f->program, i);
        nodes += f->program->nodes[i].op == test->op;
        for (int64_t k = 0; terms > 0 && k < f->program->steps[i].size; k++) {
            double sum = 0, want = element(f, i, k);
            for (int64_t t = 0; t < terms; t++) {
                sali_op_term term = sali_term_of(f->program, i, k, t);
                check_first_term(f, i, &term);
                sum += term_value(f, i, &term);
            }
            ck_assert_msg(fabs(sum - want) <= 1e-12 * (1 + fabs(want)),
                          "%s: element %lld is %.17g, its terms %.17g", label(test), (long long)k,
                          want, sum);
        }
    }
    ck_assert_int_gt(nodes, 0);
    fixture_destroy(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops");
    TCase *list = tcase_create("list");
    tcase_add_test(list, every_op_has_a_case);
    tcase_add_test(list, every_record_is_complete);
    suite_add_tcase(suite, list);
    TCase *contract = tcase_create("contract");
    tcase_add_loop_test(contract, state_gradient_matches_differences, 0, OP_CASES);
    tcase_add_loop_test(contract, parameter_gradient_matches_differences, 0, OP_CASES);
    tcase_add_loop_test(contract, float_agrees_with_double, 0, OP_CASES);
    tcase_add_loop_test(contract, batch_agrees_with_single_chains, 0, OP_CASES);
    tcase_add_loop_test(contract, parameter_gradient_needs_no_value_of_f, 0, OP_CASES);
    tcase_add_loop_test(contract, replays_are_bitwise_equal_and_allocate_nothing, 0, OP_CASES);
    tcase_add_loop_test(contract, a_fresh_adjoint_is_set, 0, OP_CASES);
    tcase_add_loop_test(contract, zero_adjoint_contributes_zero_even_times_infinity, 0, OP_CASES);
    tcase_add_loop_test(contract, an_op_is_the_sum_of_its_terms, 0, OP_CASES);
    suite_add_tcase(suite, contract);
    return test_main(suite);
}
