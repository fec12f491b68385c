/* SPDX-License-Identifier: MIT */
/* Distributions between independent variables and a model. */
#include <math.h>

#include "alloc_fail.h"
#include "bridge_check.h"
#include "models/structure/couplings.h"
#include "models/tape_model.h"

#define R_MOST 64

/* ---- values */

static void expect_f(const sal_model *model, const double *want, double tolerance, double beta,
                     const char *name)
{
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < states_count(model->space); i++) {
        bool same = want[i] == -INFINITY ? f[i] == -INFINITY
                                         : fabs(f[i] - want[i]) <= tolerance * (1 + fabs(want[i]));
        ck_assert_msg(same, "%s, beta %g, state %d: %.17g, expected %.17g", name, beta, (int)i,
                      f[i], want[i]);
    }
}

static void check_values(sal_model *model, const char *name)
{
    const double betas[] = { 0.37, 1e-3, 0.9, 1 };
    double log_base[R_MOST], want[TINY_MOST_STATES];
    double tolerance = sal_model_dtype(model) == SAL_F64 ? 1e-12 : 1e-5;
    sali_bridge bridge;
    sal_error err;
    random_base(model->space, 0.8, log_base);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    for (int k = 0; k < 4; k++) {
        sali_bridge_set(&bridge, betas[k]);
        between(model, log_base, betas[k], want);
        expect_f(bridge.model, want, betas[k] < 1 ? tolerance : 0, betas[k], name);
    }
    between(model, log_base, 1, want);
    bool forbids = false;
    for (int64_t i = 0; i < states_count(model->space); i++) {
        forbids |= want[i] == -INFINITY;
    }
    if (!forbids) {
        sali_bridge_set(&bridge, 0);
        between(model, log_base, 0, want);
        expect_f(bridge.model, want, tolerance, 0, name);
    }
    sali_bridge_free(&bridge);
}

START_TEST(f_is_the_mixture_of_both_ends)
{
    for_every_tiny(SAL_F64, check_values);
    for_every_tiny(SAL_F32, check_values);
}
END_TEST

/* ---- differences and gradients */

static void check_differences(sal_model *model, const char *name)
{
    const sal_space *space = model->space;
    double log_base[R_MOST], f[TINY_MOST_STATES], delta[R_MOST], present;
    int32_t codes[TINY_MOST_REALS];
    sali_bridge bridge;
    sal_error err;
    random_base(space, 0.8, log_base);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    sali_bridge_set(&bridge, 0.37);
    between(model, log_base, 0.37, f);
    for (int64_t i = 0; i < states_count(space); i++) {
        state_codes(space, i, codes);
        if (f[i] == -INFINITY) {
            continue;
        }
        ck_ok(sal_model_evaluate(bridge.model, 1, codes, &present, NULL, delta, &err), &err);
        for (int64_t v = 0, at = 0; v < space->n_variables; v++) {
            int32_t now = codes[v];
            for (codes[v] = 0; codes[v] < space->variables[v].states; codes[v]++, at++) {
                double want = f[state_of(space, codes)] - f[i];
                ck_assert_msg(delta[at] == want || fabs(delta[at] - want) < 1e-11,
                              "%s: difference %.17g, expected %.17g", name, delta[at], want);
            }
            codes[v] = now;
        }
    }
    sali_bridge_free(&bridge);
}

START_TEST(differences_are_those_of_the_mixture)
{
    for_every_tiny(SAL_F64, check_differences);
}
END_TEST

/* Against central differences at the states, where ordinal variables have their kinks. */
static void check_gradient(sal_model *model, const char *name)
{
    const sal_space *space = model->space;
    int64_t N = space->width;
    double log_base[R_MOST], x[TINY_MOST_REALS], g[TINY_MOST_REALS], f, up, down, h = 1e-5;
    int32_t codes[TINY_MOST_REALS];
    sali_bridge bridge;
    sal_error err;
    random_base(space, 0.8, log_base);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    sali_bridge_set(&bridge, 0.37);
    for (int64_t i = 0; i < states_count(space) && strncmp(name, "tables", 6) != 0; i += 5) {
        state_codes(space, i, codes);
        ck_ok(sal_space_embed(space, 1, codes, x, &err), &err);
        ck_ok(sal_model_evaluate_at(bridge.model, 1, x, &f, g, &err), &err);
        for (int64_t k = 0; k < N; k++) {
            double at = x[k];
            x[k] = at + h;
            ck_ok(sal_model_evaluate_at(bridge.model, 1, x, &up, NULL, &err), &err);
            x[k] = at - h;
            ck_ok(sal_model_evaluate_at(bridge.model, 1, x, &down, NULL, &err), &err);
            x[k] = at;
            ck_assert_msg(fabs(g[k] - (up - down) / (2 * h)) < 1e-7, "%s: %.12g, expected %.12g",
                          name, g[k], (up - down) / (2 * h));
        }
    }
    sali_bridge_free(&bridge);
}

START_TEST(gradients_match_central_differences)
{
    for_every_tiny(SAL_F64, check_gradient);
}
END_TEST

static void check_end(sal_model *model, const char *name)
{
    const sal_space *space = model->space;
    double log_base[R_MOST], f[2], g[2][TINY_MOST_REALS];
    int32_t codes[TINY_MOST_REALS];
    sali_bridge bridge;
    sal_error err;
    random_base(space, 0.8, log_base);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    for (int64_t i = 0; i < states_count(space); i += 3) {
        state_codes(space, i, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f[0], g[0], NULL, &err), &err);
        ck_ok(sal_model_evaluate(bridge.model, 1, codes, &f[1], g[1], NULL, &err), &err);
        for (int64_t k = 0; k < space->width && f[0] > -INFINITY; k++) {
            ck_assert_msg(g[0][k] == g[1][k], "%s: %.17g, expected %.17g", name, g[1][k], g[0][k]);
        }
    }
    sali_bridge_free(&bridge);
}

START_TEST(at_beta_1_the_gradient_is_the_model_s_own)
{
    for_every_tiny(SAL_F64, check_end);
    for_every_tiny(SAL_F32, check_end);
}
END_TEST

/* ---- what samplers know of the model */

static sal_model *builtin(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

START_TEST(a_tape_keeps_its_fast_paths)
{
    sal_model *model = builtin("ising:side=3,theta=0.3,bias=0.2", SAL_F64);
    double log_base[R_MOST], f;
    int32_t codes[9] = { 1, 0, 1, 1, 0, 0, 1, 0, 1 };
    sali_bridge bridge;
    sal_error err;
    random_base(model->space, 0.8, log_base);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    ck_assert(bridge.model->multilinear);
    ck_assert(bridge.model->trackable);
    sali_couplings *pairs = NULL;
    ck_ok(sali_couplings_create(bridge.model, SALI_BIT_COUPLINGS, &pairs, &err), &err);
    ck_assert_ptr_nonnull(pairs);
    sali_bridge_set(&bridge, 0.4);
    ck_ok(sal_model_evaluate(bridge.model, 1, codes, &f, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(sali_couplings_value(sali_couplings_values(pairs), codes), f, 1e-12);
    sali_couplings_destroy(pairs);
    sali_bridge_free(&bridge);
    sal_model_destroy(model);
}
END_TEST

START_TEST(parameters_are_those_of_the_time_of_making)
{
    sal_model *model = builtin("rbm:visible=4,hidden=3,scale=0.9", SAL_F64);
    double b[4] = { 1, -1, 2, 0.5 }, log_base[8], before[TINY_MOST_STATES];
    sali_bridge bridge;
    sal_error err;
    random_base(model->space, 0.5, log_base);
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    between(model, log_base, 0.6, before);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    sali_bridge_set(&bridge, 0.6);
    ck_ok(sal_model_set_params(model, "b", (double[4]){ 0 }, &err), &err);
    expect_f(bridge.model, before, 1e-12, 0.6, "rbm");
    sali_bridge_free(&bridge);
    sal_model_destroy(model);
}
END_TEST

START_TEST(a_parameter_called_like_beta_stays_itself)
{
    const double levels[] = { 0.25, 0.5 };
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr own = sal_param(tape, "bridge.beta", SAL_SCALAR);
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, sal_mul(own, sal_sum(sal_state(tape))), &model, &err), &err);
    ck_ok(sal_model_set_params(model, NULL, levels, &err), &err);
    check_values(model, "a parameter of that name");
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* f = tanh of s times a matrix that a chain of nodes makes of parameter a, and b's. */
static sal_model *matrix_of_a(void)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    double C[16];
    sal_model *model = NULL;
    sal_error err;
    tiny_normals(51, 16, 1, C);
    sal_tape *tape = sal_tape_create(space, SAL_F32);
    sal_expr a = sal_param(tape, "a", SAL_SCALAR), b = sal_param(tape, "b", SAL_SHAPE(4));
    sal_expr A = sal_mul(sal_exp(sal_square(a)), sal_constant(tape, C, SAL_SHAPE(16)));
    sal_expr h = sal_matvec(sal_reshape(A, SAL_SHAPE(4, 4)), sal_state(tape));
    sal_expr f = sal_add(sal_sum(sal_tanh(h)), sal_dot(b, sal_state(tape)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sal_model_set_params(model, "b", (double[4]){ 1, -2, 0.5, 3 }, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(one_parameter_set_is_all_parameters_set)
{
    sal_model *models[] = { matrix_of_a(), matrix_of_a() };
    int32_t codes[16 * 4]; /* matrices are rearranged for many states */
    double a = 0.7, f[2][16], g[2][16 * 4];
    sal_error err;
    for (int64_t i = 0; i < 16; i++) {
        state_codes(models[0]->space, i, codes + 4 * i);
    }
    sali_params *params = sali_model_tape(models[1])->params;
    uint64_t version = params->version;
    ck_ok(sal_model_set_params(models[0], "a", &a, &err), &err);
    sali_params_set_one(params, sali_program_find(params->program, "a"), &a);
    ck_assert(params->version > version);
    for (int k = 0; k < 2; k++) {
        ck_ok(sal_model_evaluate(models[k], 16, codes, f[k], g[k], NULL, &err), &err);
        sal_model_destroy(models[k]);
    }
    ck_assert_mem_eq(f[0], f[1], sizeof f[0]);
    ck_assert_mem_eq(g[0], g[1], sizeof g[0]);
}
END_TEST

START_TEST(a_clamped_model_has_a_bridge)
{
    sal_model *model = builtin("ising:side=2,theta=0.3,bias=0.2", SAL_F64), *clamped = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 2 }, (int32_t[]){ 1 }, &clamped, &err), &err);
    check_values(clamped, "clamped");
    check_differences(clamped, "clamped");
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

/* The bridge of a clamped model has the hard limits that the model has, which samplers may leave
 * out. */
START_TEST(limits_are_left_out_of_a_clamped_model_s_bridge)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr ones = sal_sum(sal_state(tape));
    sal_model *model = NULL, *clamped = NULL;
    sali_evaluator *open = NULL;
    sali_bridge bridge;
    double log_base[R_MOST], x[TINY_MOST_REALS], f, slots[R_MOST];
    int32_t codes[TINY_MOST_REALS] = { 1, 1 };
    sal_error err;
    ck_ok(sal_model_from_tape(tape, sal_add(ones, sal_at_most(ones, 1)), &model, &err), &err);
    ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 0 }, (int32_t[]){ 1 }, &clamped, &err), &err);
    random_base(clamped->space, 0.8, log_base);
    ck_ok(sali_bridge_create(clamped, log_base, &bridge, &err), &err);
    ck_assert(clamped->limited && bridge.model->limited);
    ck_ok(sali_evaluator_create(bridge.model, 1, SALI_WANT_DIFFERENCES | SALI_WANT_NO_LIMITS, &open,
                                &err),
          &err);
    sali_model_embed(bridge.model, 1, codes, x);
    sali_differences(open, 1, codes, x, &f, slots);
    ck_assert(isfinite(f));
    sali_evaluator_destroy(open);
    sali_bridge_free(&bridge);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* ---- transitions */

/* pi P = pi of every piece of a sampler, pi from the formula. */
static void check_invariance(sal_model *model, const char *specification)
{
    double log_base[R_MOST], f[TINY_MOST_STATES];
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sali_bridge bridge;
    sal_error err;
    random_base(model->space, 0.8, log_base);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    sali_bridge_set(&bridge, 0.3);
    between(model, log_base, 0.3, f);
    int64_t n = states_count(model->space);
    double log_z = log_sum(n, f);
    ck_ok(sali_sampler_choose(specification, bridge.model, 0, &sampler, &settings, &err), &err);
    int64_t pieces = pieces_of(sampler, bridge.model, &settings);
    for (int64_t p = 0; p < pieces; p++) {
        transition t = transition_make(sampler, bridge.model, &settings, 1, (uint64_t)p);
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++) {
                sum += exp(f[i] - log_z) * t.P[i * n + j];
            }
            ck_assert_double_eq_tol(sum, exp(f[j] - log_z), 1e-12);
        }
        transition_free(&t);
    }
    sali_bridge_free(&bridge);
}

START_TEST(steps_leave_the_distribution_between_invariant)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_formula(space, SAL_F64);
    check_invariance(model, "gwg");
    check_invariance(model, "ncg");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(allocation_failures_leave_nothing_behind)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *models[] = { tiny_formula(space, SAL_F64), tiny_callback(space, SAL_F64) };
    double log_base[R_MOST];
    sal_error err;
    random_base(space, 0.8, log_base);
    for (int k = 0; k < 2; k++) {
        sali_bridge bridge = { 0 };
        ck_alloc_sweep(sali_bridge_create(models[k], log_base, &bridge, &err),
                       sali_bridge_free(&bridge));
        sal_model_destroy(models[k]);
    }
    sal_space_destroy(space);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("bridge");
    TCase *tc = tcase_create("bridge");
    tcase_add_test(tc, f_is_the_mixture_of_both_ends);
    tcase_add_test(tc, differences_are_those_of_the_mixture);
    tcase_add_test(tc, gradients_match_central_differences);
    tcase_add_test(tc, at_beta_1_the_gradient_is_the_model_s_own);
    tcase_add_test(tc, a_tape_keeps_its_fast_paths);
    tcase_add_test(tc, parameters_are_those_of_the_time_of_making);
    tcase_add_test(tc, a_parameter_called_like_beta_stays_itself);
    tcase_add_test(tc, one_parameter_set_is_all_parameters_set);
    tcase_add_test(tc, a_clamped_model_has_a_bridge);
    tcase_add_test(tc, limits_are_left_out_of_a_clamped_model_s_bridge);
    tcase_add_test(tc, steps_leave_the_distribution_between_invariant);
    tcase_add_test(tc, allocation_failures_leave_nothing_behind);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return test_main(make());
}
