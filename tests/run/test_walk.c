/* SPDX-License-Identifier: MIT */
/* Chains that stand still walk down to the typical set before step sizes are adapted. */
#include "test.h"

#include <math.h>

#include "alloc_fail.h"
#include "run_helpers.h"

/* f = -5 (sum s - 90)^2 of a hundred binary variables: a random start has f near -8000 and slopes
 * of 400, which promise of a flip more than it does. */
enum { DIM = 100, WANTED = 90, STEEPNESS = 5 };

static sal_model *steep_model(void)
{
    sal_error err;
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "x", .kind = SAL_BINARY, .count = DIM };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    sal_expr off = sal_sub(sal_sum(sal_state(tape)), sal_scalar(tape, WANTED));
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_square(off), -STEEPNESS), &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* Mean of f and its deviation, over the numbers of ones. */
static double exact_mean(double *deviation)
{
    double Z = 0, sum = 0, squares = 0;
    for (int k = 0; k <= DIM; k++) {
        double f = -STEEPNESS * pow(k - WANTED, 2);
        double p = exp(f + lgamma(DIM + 1) - lgamma(k + 1) - lgamma(DIM - k + 1));
        Z += p;
        sum += p * f;
        squares += p * f * f;
    }
    *deviation = sqrt(squares / Z - pow(sum / Z, 2));
    return sum / Z;
}

static const char *const samplers[] = { "ncg", "avg" };
enum { SAMPLERS = sizeof samplers / sizeof *samplers };

START_TEST(steep_models_are_sampled_where_their_mass_is)
{
    sal_model *model = steep_model();
    double deviation, mean = exact_mean(&deviation);
    sal_run *run = run_it(
        model,
        &(sal_run_options){
            .sampler = samplers[_i], .chains = 8, .warmup = 1000, .draws = 1000, .seed = 1 });
    double f = summary_of(run).log_prob_mean;
    ck_assert_msg(fabs(f - mean) < deviation, "%s: mean f %g, exact %g +- %g", samplers[_i], f,
                  mean, deviation);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* At random states first-order differences are right within a hundredth, and draws never come from
 * there. */
START_TEST(usual_sampler_is_chosen_where_draws_come_from)
{
    sal_model *model = steep_model();
    const char *name = NULL;
    sal_error err;
    ck_ok(sali_sampler_usual(model, true, &name, &err), &err);
    ck_assert_str_eq(name, "gibbs");
    sal_model_destroy(model);
}
END_TEST

static int stop_at(int64_t done, int64_t total, void *data)
{
    (void)total;
    return done >= *(const int64_t *)data;
}

/* The same bits with another number of threads, and stopped while chains walk, behind the anchor
 * that is there. */
START_TEST(walks_do_not_depend_on_threads_or_stops)
{
    sal_model *model = steep_model();
    const sal_run_options options = { .sampler = samplers[_i],
                                      .chains = 70,
                                      .warmup = 2400,
                                      .draws = 300,
                                      .threads = 1,
                                      .record.draws = true };
    sal_run *whole = run_it(model, &options);
    int64_t at = 540, draws = options.chains * options.draws * DIM;
    sal_run_options half = options, rest;
    half.callbacks.progress = stop_at;
    half.callbacks.progress_data = &at;
    sal_run *part = run_it(model, &half);
    sal_error err;
    ck_ok(sal_run_state_options(sal_run_last_state(part), &rest, &err), &err);
    rest.record.draws = true;
    rest.threads = 2;
    sal_run *gone_on = run_it(model, &rest);
    ck_assert_mem_eq(sali_run_record(whole)->draws, sali_run_record(gone_on)->draws,
                     (size_t)(draws * sali_run_record(whole)->draw_bytes));
    sal_run_destroy(whole);
    sal_run_destroy(part);
    sal_run_destroy(gone_on);
    sal_model_destroy(model);
}
END_TEST

/* ---- a model of which each value costs an evaluation */

enum { MANY = 3000 };

/* f = sum s, with a gradient that says the opposite so loudly that ncg never moves from zeros. */
static double misleading(const double *x, double *gradient, void *data)
{
    double f = 0;
    ++*(int64_t *)data;
    for (int v = 0; v < MANY; v++) {
        f += x[v];
        if (gradient) {
            gradient[v] = -1000;
        }
    }
    return f;
}

/* All walks together have as many steps as warm-up, and each goes on with other variables: a third
 * of them are drawn, to 1 with probability 0.73. */
static void check_costly(sal_model *model, const int64_t *evaluations)
{
    const int64_t V = MANY;
    int32_t *codes = calloc((size_t)V, sizeof *codes), ones = 0;
    sal_error err;
    sal_run *run = run_it(model, &(sal_run_options){ .sampler = "ncg",
                                                     .chains = 1,
                                                     .warmup = 1000,
                                                     .draws = 1,
                                                     .threads = 1,
                                                     .init = codes });
    ck_assert_int_lt(*evaluations, 2500);
    ck_ok(sal_run_last(run, codes, &err), &err);
    for (int64_t v = 0; v < V; v++) {
        ones += codes[v];
    }
    ck_assert_msg(ones > 670 && ones < 790, "%d of 1000 variables are 1, expected about 731", ones);
    sal_run_destroy(run);
    free(codes);
}

START_TEST(walks_are_no_longer_than_warm_up)
{
    int64_t evaluations = 0;
    sal_error err;
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "x", .kind = SAL_BINARY, .count = MANY };
    ck_ok(sal_space_add(space, &block, &err), &err);
    const sal_callback callback = { .f = misleading, .data = &evaluations, .has_gradient = true };
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    check_costly(model, &evaluations);
    sal_model_destroy(model);
}
END_TEST

/* A warm-up of little more than one window has a walk too. */
START_TEST(short_warm_ups_have_a_walk)
{
    sal_model *model = steep_model();
    sal_run *run = run_it(
        model,
        &(sal_run_options){ .sampler = "ncg", .chains = 8, .warmup = 40, .draws = 1, .seed = 1 });
    ck_assert_double_gt(summary_of(run).log_prob_mean, -1000);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static sal_status sample(sal_model *model, const sal_run_options *options)
{
    sal_run *run = NULL;
    sal_error err;
    sal_status status = sal_sample(model, options, &run, &err);
    sal_run_destroy(run);
    return status;
}

START_TEST(no_memory_for_a_walk_is_an_error)
{
    sal_model *model = steep_model();
    const sal_run_options options = {
        .sampler = "ncg", .chains = 2, .warmup = 200, .draws = 1, .threads = 1
    };
    ck_alloc_sweep(sample(model, &options), (void)0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("walk");
    TCase *tcase = tcase_create("walk");
    tcase_add_loop_test(tcase, steep_models_are_sampled_where_their_mass_is, 0, SAMPLERS);
    tcase_add_loop_test(tcase, walks_do_not_depend_on_threads_or_stops, 0, SAMPLERS);
    tcase_add_test(tcase, usual_sampler_is_chosen_where_draws_come_from);
    tcase_add_test(tcase, walks_are_no_longer_than_warm_up);
    tcase_add_test(tcase, short_warm_ups_have_a_walk);
    tcase_add_test(tcase, no_memory_for_a_walk_is_an_error);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
