/* SPDX-License-Identifier: MIT */
/* Runs that were stopped and go on: the same bits as if they had never stopped. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "same_runs.h"

enum { WARMUP = 310, STEPS = 600 };

/* ---- stopping */

/* In warm-up, a window after its anchor; and after it, at an anchor of samplers that have one each
 * window. */
static const int64_t stops[] = { 290, 400 };
enum { N_STOPS = sizeof stops / sizeof *stops };

static void check_sampler(const sali_sampler *sampler, sal_model *model)
{
    static const char *const none[] = { "", NULL };
    const char *const *variants =
        sali_engine(sampler)->variants ? sali_engine(sampler)->variants : none;
    for (int i = 0; variants[i]; i++) {
        char text[128], where[300];
        const sali_sampler *found;
        sali_sampler_settings settings;
        snprintf(text, sizeof text, "%s%s%s", sampler->name, *variants[i] ? ":" : "", variants[i]);
        if (sali_sampler_choose(text, model, 0, &found, &settings, NULL) != SAL_OK) {
            continue;
        }
        snprintf(where, sizeof where, "%s on %s", text, sal_model_name(model));
        /* one anchor in warm-up, after 275 steps, and two later, at which draws are under way */
        sal_run_options options = { .sampler = text,
                                    .chains = 6,
                                    .warmup = WARMUP,
                                    .draws = STEPS / 3,
                                    .thin = 3,
                                    .seed = 5,
                                    .record.best = i % 2 == 0 };
        int first = TEST_SANITIZED ? i % 2 : 0, n = TEST_SANITIZED ? 1 : N_STOPS;
        check_stops(where, model, options, n, stops + first, 1);
    }
}

static void check_all(sal_model *model)
{
    const sali_sampler *sampler;
    for (int64_t i = 0; (sampler = sali_sampler_at(i)); i++) {
        check_sampler(sampler, model);
    }
    sal_model_destroy(model);
}

static sal_model *ready_made(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    return model;
}

/* Formulas that samplers evaluate, pairwise ones that they follow, structures, forbidden states. */
START_TEST(every_sampler_goes_on_on_formulas)
{
    check_all(tiny_formula_over(_i ? "mixed" : "spin", _i ? SAL_F64 : SAL_F32));
}
END_TEST

START_TEST(every_sampler_goes_on_on_ready_made_models)
{
    static const char *const models[] = { "potts-dense:dim=4,states=3",
                                          "ising:side=5,theta=0.2,bias=0.2",
                                          "crf:tokens=2,labels=3,features=2,scale=0.7,seed=2" };
    check_all(ready_made(models[_i]));
}
END_TEST

/* ---- other kinds of runs */

/* Stops before and after each anchor of warm-up and of the draws. */
static const int64_t many_stops[] = { 1, 100, 260, 300, 310, 500, 700 };
enum { N_MANY_STOPS = sizeof many_stops / sizeof *many_stops };

static void check_run(const char *specification, sal_run_options options)
{
    sal_model *model = ready_made(specification);
    options.warmup = WARMUP;
    options.draws = STEPS;
    options.seed = 11;
    check_stops(specification, model, options, N_MANY_STOPS, many_stops, 1);
    sal_model_destroy(model);
}

START_TEST(tempered_runs_go_on)
{
    static const double temperatures[] = { 1, 1.5, 2.5 };
    const sal_run_options options[] = {
        { .sampler = "gibbs",
          .tempering = { .replicas = 4, .swap_every = 7 },
          .thin = 1,
          .chains = 3 },
        { .sampler = "ncg", .tempering.replicas = 3, .thin = 1, .chains = 3, .record.best = true },
        { .tempering = { .replicas = 3, .temperatures = temperatures, .swap_every = 5 },
          .thin = 1,
          .chains = 3 },
    };
    check_run("ising:side=4,theta=0.4", options[_i]);
}
END_TEST

START_TEST(step_sizes_go_on)
{
    const sal_run_options options[] = {
        { .sampler = "ncg", .step_size_rule = SAL_STEP_SIZE_SEARCH },
        { .sampler = "ncg", .step_size = 0.3 },
        { .sampler = "pavg", .tempering.replicas = 2, .step_size_rule = SAL_STEP_SIZE_SEARCH },
        { .sampler = "avg:momentum=0.8,correction=0.5" },
        { .sampler = "pavg:momentum=0.8" },
        { .sampler = "dlmc:radius=search" },
        { .sampler = "pavg:momentum=0.8,correction=0.5,preconditioner=empirical",
          .tempering.replicas = 2 },
    };
    check_run("ising:side=3,theta=0.4", options[_i]);
}
END_TEST

/* Anchors between two changes of the ladder, in both stages of a search, and while states are
 * collected with another step size. */
START_TEST(long_warm_ups_go_on)
{
    static const int64_t at[] = { 300, 600, 1100 };
    const sal_run_options options[] = {
        { .sampler = "ncg", .step_size_rule = SAL_STEP_SIZE_SEARCH, .chains = 5 },
        { .sampler = "ncg", .tempering.replicas = 4, .chains = 3 },
        { .sampler = "pavg", .tempering.replicas = 2, .step_size_rule = SAL_STEP_SIZE_SEARCH },
        { .sampler = "pavg:preconditioner=empirical,adapt-step-size=0.5",
          .step_size = 4,
          .chains = 5 },
    };
    sal_model *model = ready_made("ising:side=3,theta=0.4");
    sal_run_options of_this = options[_i];
    of_this.warmup = 1500;
    of_this.draws = 100;
    of_this.seed = 11;
    check_stops(of_this.sampler, model, of_this, sizeof at / sizeof *at, at, 1);
    sal_model_destroy(model);
}
END_TEST

START_TEST(annealing_goes_on)
{
    const sal_run_options options[] = { { .sampler = "ncg", .annealing.on = true, .thin = 1 },
                                        { .sampler = "gwg", .annealing.on = true, .thin = 1 } };
    check_run("max-cut:nodes=12,degree=3,seed=2", options[_i]);
}
END_TEST

START_TEST(clamped_runs_go_on)
{
    static const int64_t variables[] = { 2, 7 };
    static const int32_t codes[] = { 1, 0 };
    const sal_run_options options = { .clamps = {
                                          .n = 2, .variables = variables, .codes = codes } };
    check_run("ising:side=4,theta=0.2", options);
}
END_TEST

/* Starts are not kept, but the random streams depend on them. */
START_TEST(runs_from_given_starts_go_on)
{
    static const int32_t init[2 * 16] = { 1, 0, 1, 1, 0, 0, 1 };
    const sal_run_options options[] = {
        { .sampler = "gibbs", .chains = 2, .init = init },
        { .sampler = "lsb1", .chains = 2, .init = init },
        { .sampler = "gibbs", .chains = 2, .init = init, .thin = 1, .tempering.replicas = 3 },
    };
    check_run("ising:side=4,theta=0.2", options[_i]);
}
END_TEST

/* Counts without a cap have moments; two threads; a model with a statistic. */
START_TEST(counts_and_threads_go_on)
{
    sal_model *model = tiny_formula_over("count", SAL_F64);
    const int64_t at[] = { 400 };
    check_stops("counts", model,
                (sal_run_options){ .sampler = "gwg", .warmup = WARMUP, .draws = STEPS }, 1, at, 2);
    sal_model_destroy(model);
    model = ready_made("rbm:visible=4,hidden=3,scale=0.9");
    check_stops("threads", model, (sal_run_options){ .chains = 70, .warmup = 30, .draws = 600 }, 1,
                at, 2);
    sal_model_destroy(model);
}
END_TEST

/* What is learned can be given, and then goes on as it was given. */
START_TEST(tuned_runs_go_on)
{
    static const char *const samplers[] = { "pavg", "ncg", "pas", "gibbs:scan=adaptive", "lsb1" };
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    sal_run_options options = { .sampler = samplers[_i], .warmup = 200, .draws = 10 };
    sal_run *run = run_it(model, &options);
    sal_tuning *tuning = NULL;
    sal_error err;
    ck_ok(sal_run_tuning(run, &tuning, &err), &err);
    sal_run_destroy(run);
    options.warmup = WARMUP;
    options.draws = STEPS;
    options.tuning = tuning;
    check_stops(samplers[_i], model, options, N_STOPS, stops, 1);
    sal_tuning_destroy(tuning);
    sal_model_destroy(model);
}
END_TEST

/* A complete run goes on to more draws; one that is stopped again and again does too. */
START_TEST(more_draws_and_many_stops)
{
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    sal_run_options options = {
        .warmup = WARMUP, .draws = 300, .thin = 2, .seed = 3, .record.draws = true
    };
    sal_run *part = run_it(model, &options);
    options.draws = 700;
    sal_run *whole = run_it(model, &options);
    const sal_run_options start = options;
    options = options_of(part);
    options.draws = 700;
    sal_run *longer = run_it(model, &options);
    same_runs("more draws", whole, longer);
    sal_run_destroy(longer);
    sal_run_destroy(part);
    part = run_until(model, start, 20);
    for (int64_t at = 200; at < 1600; at += 350) {
        sal_run *next = run_until(model, options_of(part), at);
        sal_run_destroy(part);
        part = next;
    }
    options = options_of(part);
    longer = run_it(model, &options);
    same_runs("many stops", whole, longer);
    sal_run_destroy(whole);
    sal_run_destroy(part);
    sal_run_destroy(longer);
    sal_model_destroy(model);
}
END_TEST

/* ---- what is refused */

START_TEST(other_runs_are_refused)
{
    sal_model *model = ready_made("ising:side=3,theta=0.3"), *other = NULL;
    sal_run_options options = { .sampler = "ncg", .warmup = 30, .draws = 600 };
    options.record.draws = true;
    sal_run *run = run_until(model, options, 500);
    const sal_run_options good = options_of(run);
    options = good;
    options.chains = 5;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "chains 4 and is to go on with 5");
    options = good;
    options.seed = 9;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "seed 0 and is to go on with 9");
    options = good;
    options.sampler = "mana";
    run_refused(model, &options, SAL_ERR_ARGUMENT, "is to go on with mana");
    options = good;
    options.step_size = 0.5;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "step_size");
    options = good;
    options.draws = 300;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "draws is 300, but the run has made 512");
    options = good;
    options.clamps.n = 1;
    options.clamps.variables = &(int64_t){ 1 };
    options.clamps.codes = &(int32_t){ 1 };
    run_refused(model, &options, SAL_ERR_ARGUMENT, "other clamped variables");
    other = ready_made("ising:side=3,theta=0.31");
    run_refused(other, &good, SAL_ERR_ARGUMENT, "another model");
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_model_destroy(other);
}
END_TEST

static Suite *resume_suite(void)
{
    Suite *suite = suite_create("resume");
    TCase *samplers = tcase_create("samplers"), *runs = tcase_create("runs");
    tcase_add_loop_test(samplers, every_sampler_goes_on_on_formulas, 0, 2);
    tcase_add_loop_test(samplers, every_sampler_goes_on_on_ready_made_models, 0, 3);
    tcase_add_loop_test(runs, tempered_runs_go_on, 0, 3);
    tcase_add_loop_test(runs, step_sizes_go_on, 0, 7);
    tcase_add_loop_test(runs, long_warm_ups_go_on, 0, 4);
    tcase_add_loop_test(runs, annealing_goes_on, 0, 2);
    tcase_add_test(runs, clamped_runs_go_on);
    tcase_add_loop_test(runs, runs_from_given_starts_go_on, 0, 3);
    tcase_add_test(runs, counts_and_threads_go_on);
    tcase_add_loop_test(runs, tuned_runs_go_on, 0, 5);
    tcase_add_test(runs, more_draws_and_many_stops);
    tcase_add_test(runs, other_runs_are_refused);
    suite_add_tcase(suite, samplers);
    suite_add_tcase(suite, runs);
    return suite;
}

int main(void)
{
    return test_main(resume_suite());
}
