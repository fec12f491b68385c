/* SPDX-License-Identifier: MIT */
/* What sal_sample refuses, and how it says so; running out of memory. */
#include "test.h"

#include <math.h>
#include <stdint.h>

#include <saltus/sample.h>
#include "alloc_fail.h"
#include "samplers/sampler.h"
#include "tiny_models.h"

static sal_model *binary_model(void)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    sal_space_destroy(space);
    return model;
}

/* sal_sample must fail so, and leave *run alone. */
static void check_refused(sal_model *model, const sal_run_options *options, sal_status status,
                          const char *text)
{
    sal_run *mark = (sal_run *)&mark, *run = mark;
    sal_error err;
    ck_fails(sal_sample(model, options, &run, &err), status, &err, text);
    ck_assert_ptr_eq(run, mark);
    ck_assert_int_eq(sal_sample(model, options, &run, NULL), status); /* err may be NULL */
}

START_TEST(options_out_of_range_are_named)
{
    static const struct {
        sal_run_options options;
        const char *text;
    } cases[] = {
        { { .chains = -1 }, "chains" },
        { { .draws = -5 }, "draws" },
        { { .thin = -1 }, "thin" },
        { { .threads = -2 }, "threads" },
        { { .sampler = "gwg:radius=-2" }, "radius" },
        { { .sampler = "gwg:radius=1.5" }, "radius" },
        { { .sampler = "gwg:raduis=1" }, "no setting 'raduis'" },
        { { .sampler = "ncg", .step_size = -0.1 }, "step_size" },
        { { .sampler = "ncg", .step_size = NAN }, "step_size" },
        { { .sampler = "ncg", .step_size = INFINITY }, "step_size" },
        { { .sampler = "gibbs", .step_size = 0.1 }, "no step size" },
        { { .sampler = "gwg", .step_size = 0.1 }, "no step size" },
        { { .sampler = "ncg:radius=1" }, "no setting 'radius'" },
        { { .warmup = -2 }, "warmup" },
        { { .clamps.n = -1 }, "clamps.n" },
        { { .clamps.n = 1 }, "clamps.variables" },
        { { .draws = INT64_C(1) << 39, .thin = INT64_C(1) << 39 }, "thin" },
    };
    sal_model *model = binary_model();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_refused(model, &cases[k].options, SAL_ERR_ARGUMENT, cases[k].text);
    }
    check_refused(NULL, NULL, SAL_ERR_ARGUMENT, "model");
    sal_model_destroy(model);
}
END_TEST

/* A refusal names every sampler that serves the model, none cut short. */
static void check_names_who_can(sal_model *model, const sal_run_options *options)
{
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (sali_sampler_serves(sali_sampler_at(k), model)) {
            check_refused(model, options, SAL_ERR_UNSUPPORTED, sali_sampler_at(k)->name);
        }
    }
}

START_TEST(model_of_other_variables_is_told_who_can)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_formula(space, SAL_F64);
    sal_run_options options = { .sampler = "r-mala" };
    check_refused(model, &options, SAL_ERR_UNSUPPORTED, "does not move");
    check_names_who_can(model, &options);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(unknown_sampler_is_told_the_known_ones)
{
    sal_model *model = binary_model();
    sal_run_options options = { .sampler = "metropolis" };
    check_refused(model, &options, SAL_ERR_ARGUMENT, "'metropolis'");
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        check_refused(model, &options, SAL_ERR_ARGUMENT, sali_sampler_at(k)->name);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(clamp_mistakes_are_named)
{
    static const int64_t variables[] = { 9, 0, 0, 1, 2, 3 };
    static const int32_t codes[] = { 0, 2, 0, 1, 0, 1 };
    sal_model *model = binary_model();
    sal_run_options options = { .clamps = { .variables = variables, .codes = codes, .n = 1 } };
    check_refused(model, &options, SAL_ERR_ARGUMENT, "variable 9");
    options.clamps.variables++;
    options.clamps.codes++;
    check_refused(model, &options, SAL_ERR_ARGUMENT, "code 2");
    options.clamps.variables++;
    options.clamps.codes++;
    options.clamps.n = 4;
    check_refused(model, &options, SAL_ERR_ARGUMENT, "leave one free");
    sal_model_destroy(model);
}
END_TEST

START_TEST(init_out_of_range_is_named)
{
    static const int32_t init[] = { 0, 1, 0, 1, 0, 0, 2, 0 };
    sal_model *model = binary_model();
    sal_run_options options = { .chains = 2, .init = init };
    check_refused(model, &options, SAL_ERR_ARGUMENT, "init");
    check_refused(model, &options, SAL_ERR_ARGUMENT, "chain 1");
    sal_model_destroy(model);
}
END_TEST

/* ---- models that misbehave */

/* `bad` where all four are 1, else the number of ones. */
static double f_bad_at_ones(const double *x, double *gradient, void *bad)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += x[i];
        if (gradient) {
            gradient[i] = 1;
        }
    }
    return sum == 4 ? *(double *)bad : sum;
}

static sal_model *callback_model(double (*f)(const double *, double *, void *), void *data,
                                 bool has_gradient)
{
    sal_callback callback = { .f = f, .data = data, .has_gradient = has_gradient };
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

START_TEST(model_without_gradient_is_told_who_can)
{
    double zero = 0;
    sal_model *model = callback_model(f_bad_at_ones, &zero, false);
    sal_run_options options = { .draws = 10, .warmup = 10 };
    sal_run *run = NULL;
    sal_run_summary s;
    sal_error err;
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (sali_sampler_at(k)->needs_gradient) {
            options.sampler = sali_sampler_at(k)->name;
            check_refused(model, &options, SAL_ERR_UNSUPPORTED, options.sampler);
            check_refused(model, &options, SAL_ERR_UNSUPPORTED, "gradient");
            check_names_who_can(model, &options);
        }
    }
    options.sampler = NULL;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_str_eq(s.sampler, "gibbs");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(nan_and_plus_infinity_stop_the_run)
{
    static const int32_t zeros[5 * 4] = { 0 };
    static const int32_t ones[2 * 4] = { 0, 0, 0, 0, 1, 1, 1, 1 };
    double bad[] = { NAN, INFINITY };
    static const char *const words[] = { "NaN", "+inf" };
    for (int b = 0; b < 2; b++) {
        sal_model *model = callback_model(f_bad_at_ones, &bad[b], true);
        for (int64_t k = 0; sali_sampler_at(k); k++) {
            if (!sali_sampler_serves(sali_sampler_at(k), model)) {
                continue;
            }
            sal_run_options options = { .sampler = sali_sampler_at(k)->name,
                                        .chains = 5,
                                        .init = zeros };
            check_refused(model, &options, SAL_ERR_MODEL, words[b]);
            check_refused(model, &options, SAL_ERR_MODEL, "chain ");
            check_refused(model, &options, SAL_ERR_MODEL, "step ");
            check_refused(model, &options, SAL_ERR_MODEL, "state 1 1 1 1");
            options.chains = 2;
            options.init = ones;
            check_refused(model, &options, SAL_ERR_MODEL, "chain 1, step 0");
        }
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(model_without_feasible_state_names_factors)
{
    static const int32_t states[] = { 2, 2 };
    static const int64_t begin[] = { 0, 1, 3, 5 }, scope[] = { 0, 0, 1, 0, 1 };
    /* Factor 0 allows all; 1 wants the variables equal, 2 different. */
    const double tables[] = { 0, 0, 0, -INFINITY, -INFINITY, 0, -INFINITY, 0, 0, -INFINITY };
    sal_model *model = NULL;
    sal_run_options options = { 0 };
    sal_error err;
    sal_run *run = NULL;
    ck_ok(sal_model_from_factors(2, states, 3, begin, scope, tables, SAL_F32, &model, &err), &err);
    check_refused(model, &options, SAL_ERR_MODEL, "no state with finite f");
    ck_fails(sal_sample(model, &options, &run, &err), SAL_ERR_MODEL, &err, "factors that forbid");
    ck_assert(strstr(err.message, ": 1;") || strstr(err.message, ": 2;"));
    sal_model_destroy(model);
    double nowhere = -INFINITY; /* a callback cannot tell why */
    model = callback_model(f_bad_at_ones, &nowhere, true);
    static const int32_t ones[4 * 4] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    options = (sal_run_options){ .init = ones, .draws = 10, .warmup = 10 };
    ck_ok(sal_sample(model, &options, &run, &err), &err); /* starts elsewhere */
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- memory */

/* Run and look at everything that allocates. */
static sal_status sample_and_look(sal_model *model, const sal_run_options *options)
{
    double marginals[32];
    sal_run_summary s;
    sal_run *mark = (sal_run *)&mark, *run = mark;
    sal_status status = sal_sample(model, options, &run, NULL);
    if (status != SAL_OK) {
        ck_assert_ptr_eq(run, mark);
        return status;
    }
    status = sal_run_marginals(run, marginals, NULL);
    status = status ? status : sal_run_summarise(run, &s, NULL);
    sal_run_destroy(run);
    return status;
}

START_TEST(running_out_of_memory_is_reported)
{
    static const int64_t variable = 1;
    static const int32_t code = 1, init[3 * 6] = { 1, 2, 0, 1, 1, 1, 1, 0, 0, 1, 0 };
    sal_space *space = tiny_space_make(tiny_space_named("factors"));
    sal_model *model = tiny_tables(space, SAL_F64);
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        sal_run_options options = { .sampler = sali_sampler_at(k)->name,
                                    .chains = 3,
                                    .warmup = 60,
                                    .draws = 8,
                                    .threads = 1,
                                    .record.draws = true };
        if (k % 2 == 0) { /* given starts and a clamped variable, or neither */
            options.init = init;
            options.clamps.n = 1;
            options.clamps.variables = &variable;
            options.clamps.codes = &code;
        }
        ck_alloc_sweep(sample_and_look(model, &options), (void)0);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* What goes around a sampler: replicas, annealing, votes, errors, tuning out of a run and in. */
static sal_status sample_and_use(sal_model *model, const sal_run_options *options)
{
    double marginals[32], pairs[32 * 32] = { 0 };
    int32_t codes[8];
    sal_run_errors errors;
    sal_run_variation variation;
    sal_tuning *mark = (sal_tuning *)&mark, *tuning = mark;
    sal_run *run = NULL, *again = NULL;
    sal_run_options second = *options;
    sal_status status = sal_sample(model, options, &run, NULL);
    if (status != SAL_OK) {
        ck_assert_ptr_null(run);
        return status;
    }
    status = sal_run_marginals(run, marginals, NULL);
    status = status ? status : sal_run_best(run, codes, NULL, NULL);
    status = status ? status : sal_run_vote(run, codes, NULL, NULL);
    status = status ? status : sal_run_vote_by_dimension(run, 0, codes, NULL);
    status = status ? status : sal_run_measure_errors(run, marginals, pairs, &errors, NULL);
    status = status ? status : sal_run_total_variation(run, 0, 1, &variation, NULL);
    status = status ? status : sal_run_tuning(run, &tuning, NULL);
    sal_run_destroy(run);
    if (status != SAL_OK) {
        ck_assert_ptr_eq(tuning, mark);
        return status;
    }
    second.tuning = tuning;
    second.step_size_rule = SAL_STEP_SIZE_USUAL;
    status = sal_sample(model, &second, &again, NULL);
    sal_tuning_destroy(tuning);
    sal_run_destroy(again);
    return status;
}

START_TEST(running_out_of_memory_around_a_sampler_is_reported)
{
    static const char *const samplers[] = { "gibbs:scan=adaptive", "gwg", "lsb1",
                                            "mh-uniform",          "pas", "pavg" };
    sal_space *space = tiny_space_make(tiny_space_named("factors"));
    sal_model *model = tiny_tables(space, SAL_F64);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options options = { .sampler = samplers[k],
                                    .chains = 2,
                                    .warmup = 60,
                                    .draws = 8,
                                    .thin = 2,
                                    .threads = 1,
                                    .record = { .best = true, .draws = true } };
        if (!sali_sampler_serves(sali_sampler_find(samplers[k]), model)) {
            continue;
        }
        if (!TEST_SANITIZED || k % 2) { /* each sampler one of the two, to save time there */
            options.tempering.replicas = 3;
            ck_alloc_sweep(sample_and_use(model, &options), (void)0);
        }
        options.tempering.replicas = 0;
        options.annealing.on = true;
        if (!TEST_SANITIZED || k % 2 == 0) {
            ck_alloc_sweep(sample_and_use(model, &options), (void)0);
        }
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static Suite *errors_suite(void)
{
    Suite *suite = suite_create("run_errors");
    TCase *tcase = tcase_create("errors");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, options_out_of_range_are_named);
    tcase_add_test(tcase, model_of_other_variables_is_told_who_can);
    tcase_add_test(tcase, unknown_sampler_is_told_the_known_ones);
    tcase_add_test(tcase, clamp_mistakes_are_named);
    tcase_add_test(tcase, init_out_of_range_is_named);
    tcase_add_test(tcase, model_without_gradient_is_told_who_can);
    tcase_add_test(tcase, nan_and_plus_infinity_stop_the_run);
    tcase_add_test(tcase, model_without_feasible_state_names_factors);
    tcase_add_test(tcase, running_out_of_memory_is_reported);
    tcase_add_test(tcase, running_out_of_memory_around_a_sampler_is_reported);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(errors_suite());
}
