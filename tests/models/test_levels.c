/* SPDX-License-Identifier: MIT */
/* Formulas f(x, t) with the level t held: the same f, gradients and parameters as with t given. */
#include "test.h"

#include <math.h>

#include <saltus/saltus.h>
#include "ad/workspace.h"
#include "alloc_fail.h"
#include "models/levels/levels.h"

#define ROWS 6

static const char *const specifications[] = {
    "usps-conv:levels=3,base=1,channels=2,units=5",
    "conv:height=9,width=8,channels=2,levels=2,units=3,states=3,base=1,project=2",
    "conv:height=8,width=8,channels=2,levels=2,units=3,kind=spin,base=1,quadratic=1",
    "resnet:height=8,width=8,channels=2,levels=4,units=3",
    "mlp:visible=7,hidden=4,levels=5,units=2,base=1",
    "mlp:visible=3,hidden=4,levels=1,units=2,base=1,kind=spin",
    "mlp:visible=4,hidden=4,levels=2,units=2,states=4",
};
enum { SPECIFICATIONS = sizeof specifications / sizeof *specifications };

static sal_model *make(const char *specification)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    const int64_t n = sal_model_parameters_size(model);
    double *flat = malloc((size_t)n * sizeof *flat);
    ck_ok(sal_model_get_params(model, NULL, flat, &err), &err);
    for (int64_t k = 0; k < n; k++) { /* those that start at zero too */
        flat[k] += 0.3 * sin(0.7 * (double)k);
    }
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    free(flat);
    return model;
}

/* f of the rows, its gradient by the state and, with weights 1 .. n, by the parameters. */
static void evaluate(const sal_model *model, const int32_t *codes, double *f, double *by_state,
                     double *by_params)
{
    const sali_tape_model *tape = sali_model_tape(model);
    const int64_t N = model->space->width;
    double weight[ROWS], *x = calloc((size_t)(ROWS * N), sizeof *x);
    sali_workspace *ws = NULL;
    sal_error err;
    for (int c = 0; c < ROWS; c++) {
        weight[c] = 1 + c;
    }
    sali_model_embed(model, ROWS, codes, x);
    ck_ok(sali_workspace_create(tape->program, tape->params, ROWS,
                                SALI_WANT_STATE_GRADIENT | SALI_WANT_PARAM_GRADIENT, &ws, &err),
          &err);
    sali_workspace_gradient(ws, ROWS, codes, x, f, by_state);
    sali_workspace_param_zero(ws);
    sali_workspace_param_gradient(ws, ROWS, codes, x, weight, NULL);
    sali_workspace_param_flat(ws, by_params);
    sali_workspace_destroy(ws);
    free(x);
}

static void check_level(const sal_model *joint, const sal_model *level, int32_t t)
{
    const int64_t V = level->space->n_variables, N = level->space->width;
    const int64_t n = sal_model_parameters_size(joint), N_all = joint->space->width;
    int32_t *codes = calloc((size_t)(ROWS * V), sizeof *codes);
    int32_t *all = calloc((size_t)(ROWS * (V + 1)), sizeof *all);
    double f[2][ROWS], *g[2], *p[2];
    ck_assert_int_eq(joint->space->n_variables, V + 1);
    ck_assert_int_eq(sal_model_parameters_size(level), n);
    for (int k = 0; k < 2; k++) {
        g[k] = calloc((size_t)(ROWS * N_all), sizeof **g);
        p[k] = calloc((size_t)n, sizeof **p);
    }
    for (int64_t c = 0; c < ROWS; c++) {
        for (int64_t v = 0; v < V; v++) {
            const int32_t states = level->space->variables[v].states;
            codes[c * V + v] = all[c * (V + 1) + v] = (int32_t)((c + v * v + v / 3) % states);
        }
        all[c * (V + 1) + V] = t;
    }
    evaluate(joint, all, f[0], g[0], p[0]);
    evaluate(level, codes, f[1], g[1], p[1]);
    double largest = 0;
    for (int64_t k = 0; k < n; k++) {
        largest = fmax(largest, fabs(p[0][k]));
    }
    for (int64_t c = 0; c < ROWS; c++) {
        ck_assert_double_eq_tol(f[0][c], f[1][c], 1e-12 * (1 + fabs(f[0][c])));
        for (int64_t i = 0; i < N; i++) {
            ck_assert_double_eq_tol(g[0][c * N_all + i], g[1][c * N + i], 1e-11);
        }
    }
    ck_assert_double_gt(largest, 0.1);
    for (int64_t k = 0; k < n; k++) {
        ck_assert_double_eq_tol(p[0][k], p[1][k], 1e-12 * largest);
    }
    for (int k = 0; k < 2; k++) {
        free(g[k]);
        free(p[k]);
    }
    free(codes);
    free(all);
}

START_TEST(a_level_held_gives_the_same_f)
{
    sal_error err;
    sal_model *joint = make(specifications[_i]), *model = NULL;
    ck_ok(sali_levels_create(joint, &model, &err), &err);
    const sali_levels *levels = sali_model_levels(model);
    ck_assert_ptr_nonnull(levels);
    ck_assert_int_eq(levels->n, sal_model_levels(joint));
    sal_model_destroy(joint); /* it is held */
    for (int64_t t = 0; t < levels->n; t++) {
        check_level(levels->joint, levels->at[t], (int32_t)t);
    }
    sal_model_destroy(model);
}
END_TEST

/* Parameters reach all levels. */
START_TEST(levels_share_parameters)
{
    sal_error err;
    sal_model *joint = make(specifications[4]), *model = NULL;
    ck_ok(sali_levels_create(joint, &model, &err), &err);
    const sali_levels *levels = sali_model_levels(model);
    const int64_t n = sal_model_parameters_size(joint);
    double *flat = malloc((size_t)n * sizeof *flat);
    ck_ok(sal_model_get_params(joint, NULL, flat, &err), &err);
    for (int64_t k = 0; k < n; k++) {
        flat[k] = cos((double)k);
    }
    ck_ok(sal_model_set_params(joint, NULL, flat, &err), &err);
    ck_ok(sali_levels_share_params(levels, &err), &err);
    for (int64_t t = 0; t < levels->n; t++) {
        check_level(joint, levels->at[t], (int32_t)t);
    }
    free(flat);
    sal_model_destroy(model);
    sal_model_destroy(joint);
}
END_TEST

/* The convolution takes what a level adds to its channels: as many ops as the net without levels,
 * beside those of the RBM and of the last layer. */
START_TEST(convolutions_take_the_biases_of_levels)
{
    sal_error err;
    sal_model *joint = make(specifications[0]), *model = NULL;
    ck_ok(sali_levels_create(joint, &model, &err), &err);
    const sali_program *program = sali_model_tape(sali_model_levels(model)->at[1])->program;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        for (int32_t k = 0; k < node->n_in; k++) {
            ck_assert_msg(node->op != SALI_OP_add ||
                              program->nodes[node->in[k]].op != SALI_OP_conv2d,
                          "node %d adds to a convolution", i);
        }
    }
    sal_model_destroy(model);
    sal_model_destroy(joint);
}
END_TEST

/* A convolution of one channel that is added to several is not their bias. */
START_TEST(what_spreads_a_convolution_is_no_bias)
{
    sal_error err;
    sal_space *space = sal_space_create();
    const sal_block blocks[] = {
        { .name = "x", .kind = SAL_BINARY, .count = 16 },
        { .name = "t", .kind = SAL_CATEGORICAL, .count = 1, .states = 2 }
    };
    const double weight[9] = { 1, -1, 2, 0.5, 1, 0, 3, 1, -2 }, bias[3] = { 0.1, 0.7, -1 };
    for (int b = 0; b < 2; b++) {
        ck_ok(sal_space_add(space, &blocks[b], &err), &err);
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), x = sal_reshape(sal_slice(s, 0, 0, 16), SAL_SHAPE(1, 4, 4));
    sal_expr y = sal_conv2d(x, sal_constant(tape, weight, SAL_SHAPE(1, 1, 3, 3)),
                            sal_constant(tape, bias, SAL_SHAPE(1)), 1, 1);
    sal_expr more = sal_add(y, sal_constant(tape, bias, SAL_SHAPE(3, 1, 1)));
    sal_expr level = sal_dot(sal_param(tape, "l", SAL_SHAPE(2)), sal_slice(s, 0, 16, 2));
    sal_model *joint = NULL, *model = NULL;
    ck_ok(sal_model_from_tape(tape, sal_add(sal_sum(sal_silu(more)), level), &joint, &err), &err);
    ck_ok(sal_model_set_params(joint, "l", (const double[]){ 0.4, -0.3 }, &err), &err);
    ck_ok(sali_levels_create(joint, &model, &err), &err);
    for (int32_t t = 0; t < 2; t++) {
        check_level(joint, sali_model_levels(model)->at[t], t);
    }
    sal_model_destroy(model);
    sal_model_destroy(joint);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(models_without_levels_are_refused)
{
    sal_error err;
    sal_model *model = make("mlp:visible=7,hidden=4"), *levels = NULL;
    ck_assert_int_eq(sali_levels_create(model, &levels, &err), SAL_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "whose last block is one categorical variable"));
    ck_assert_ptr_null(levels);
    ck_assert_ptr_null(sali_model_levels(model));
    sal_model_destroy(model);
}
END_TEST

START_TEST(failed_allocations_leave_nothing)
{
    sal_error err;
    sal_model *joint = make("mlp:visible=3,hidden=2,levels=2,units=2"), *model = NULL;
    ck_alloc_sweep(sali_levels_create(joint, &model, &err), sal_model_destroy(model));
    sal_model_destroy(joint);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("levels");
    TCase *tests = tcase_create("levels");
    tcase_add_loop_test(tests, a_level_held_gives_the_same_f, 0, SPECIFICATIONS);
    tcase_add_test(tests, levels_share_parameters);
    tcase_add_test(tests, convolutions_take_the_biases_of_levels);
    tcase_add_test(tests, what_spreads_a_convolution_is_no_bias);
    tcase_add_test(tests, models_without_levels_are_refused);
    tcase_add_test(tests, failed_allocations_leave_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return test_main(make_suite());
}
