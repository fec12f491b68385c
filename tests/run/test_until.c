/* SPDX-License-Identifier: MIT */
/* Runs that end when their draws are good enough, or when their time is over. */
#include "test.h"

#include <math.h>
#include <time.h>

#include "same_runs.h"

static sal_model *opened(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

/* The figures of a run without an aim of so many draws. */
static sal_run_summary plain(sal_model *model, sal_run_options options, int64_t draws)
{
    options.until = NULL;
    options.draws = draws;
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    sal_run_destroy(run);
    s.model = s.sampler = NULL;
    return s;
}

static void same_figure(const char *what, double a, double b)
{
    ck_assert_msg((isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(b), "%s: %.17g, %.17g",
                  what, a, b);
}

/* Two-level, many states, counts with moments of their own. */
static const struct {
    const char *model, *sampler, *until;
    double ess, rhat; /* what it says; 0, infinity: nothing */
} aims[] = {
    { "ising:side=4,theta=0.1", "gwg", "ess=900", 900, INFINITY },
    { "potts:side=3,states=4,theta=0.2", "gibbs", "rhat=1.02", 0, 1.02 },
    { "poisson:dim=4", "gwg", "ess=500,rhat=1.05", 500, 1.05 },
};
enum { AIMS = sizeof aims / sizeof *aims };

static bool is_good(const sal_run_summary *s, int k)
{
    return (aims[k].ess == 0 || (s->ess_total >= aims[k].ess && s->rhat_max <= 1.1)) &&
           s->rhat_max <= aims[k].rhat;
}

/* It ends at the first of 100, 200, 400 .. draws at which a run of so many draws is good enough,
 * and with that run's figures. */
START_TEST(it_ends_at_the_first_look_that_is_good_enough)
{
    sal_model *model = opened(aims[_i].model);
    const sal_run_options options = {
        .sampler = aims[_i].sampler, .warmup = 200, .seed = 4, .until = aims[_i].until
    };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_of(run);
    ck_assert(s.reached && !s.stopped);
    ck_assert_str_eq(s.until, aims[_i].until);
    ck_assert_int_gt(s.draws, 100); /* else the loop below sees nothing */
    for (int64_t look = 100; look < s.draws; look *= 2) {
        const sal_run_summary before = plain(model, options, look);
        ck_assert_msg(!is_good(&before, _i), "%d draws were enough", (int)look);
    }
    const sal_run_summary same = plain(model, options, s.draws);
    ck_assert(is_good(&same, _i) && !same.until && !same.reached);
    same_figure("ESS", s.ess_total, same.ess_total);
    same_figure("R-hat", s.rhat_max, same.rhat_max);
    same_figure("mean f", s.log_prob_mean, same.log_prob_mean);
    same_figure("acceptance", s.acceptance_rate, same.acceptance_rate);
    ck_assert_int_eq(s.unchanged, same.unchanged);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Chains that stay in two modes have a large ESS each, which says nothing. */
START_TEST(chains_that_disagree_do_not_reach_an_ess)
{
    sal_model *model = opened("ising:side=5,theta=0.4");
    const sal_run_options options = {
        .sampler = "gwg", .draws = 800, .seed = 1, .until = "ess=200"
    };
    char text[SAL_WARNING_SIZE];
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_of(run);
    ck_assert_double_gt(s.rhat_max, 1.1);
    ck_assert_double_gt(s.ess_total, 200);
    ck_assert(!s.reached && !s.stopped && s.draws == 800);
    ck_assert(sal_run_warning(&s, text, sizeof text) && strstr(text, "did not come to ess=200"));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* The last draws are looked at, whatever their number; and nothing is cut by being shown. */
START_TEST(the_last_draw_is_a_look)
{
    sal_model *model = opened("ising:side=3,theta=0.1");
    sal_run_options options = { .sampler = "gibbs", .draws = 130, .thin = 9, .until = "ess=300" };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_of(run);
    ck_assert(s.reached && s.draws == 130);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* A run that came to its aim goes on to a farther one as if it had had that from the start. */
START_TEST(a_farther_aim_goes_on)
{
    sal_model *model = opened("ising:side=4,theta=0.1");
    sal_run_options options = { .sampler = "gwg", .warmup = 300, .until = "ess=3000" };
    options.record.draws = true;
    sal_run *whole = run_it(model, &options);
    options.until = "ess=300";
    sal_run *part = run_it(model, &options);
    sal_run_options rest = options_of(part);
    rest.until = "ess=3000";
    sal_run *gone_on = run_it(model, &rest);
    ck_assert_int_lt(summary_of(part).draws, summary_of(whole).draws);
    same_runs("a farther aim", whole, gone_on);
    sal_run_destroy(whole);
    sal_run_destroy(part);
    sal_run_destroy(gone_on);
    sal_model_destroy(model);
}
END_TEST

/* Also where a look and an anchor, after 25 times 256 steps, are one. */
START_TEST(what_came_to_its_aim_ends_there_when_it_is_resumed)
{
    sal_model *model = opened("ising:side=4,theta=0.1");
    sal_run_options options = { .sampler = "ncg", .warmup = 100, .thin = 64, .until = "ess=200" };
    options.record.draws = true;
    sal_run *run = run_it(model, &options);
    ck_assert_int_eq(run->steps % 256, 0);
    sal_run_options rest = options_of(run);
    ck_assert_str_eq(rest.until, options.until); /* as it was given */
    sal_run *again = run_it(model, &rest);
    same_runs("resumed", run, again);
    sal_run_destroy(run);
    sal_run_destroy(again);
    sal_model_destroy(model);
}
END_TEST

START_TEST(bad_aims_are_refused)
{
    static const char *const texts[][2] = {
        { "ess=0", "ess=N, rhat=X" }, { "rhat=1", "more than 1" }, { "rhat=0.9", "more than 1" },
        { "ess=-5", "ess" },          { "ess=many", "ess=many" },  { "", "ess" },
        { "draws=100", "'draws'" },   { "ess=nan", "ess" },
    };
    sal_model *model = opened("ising:side=3");
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const sal_run_options options = { .until = texts[k][0] };
        run_refused(model, &options, SAL_ERR_ARGUMENT, texts[k][1]);
    }
    sal_run_options options = { .until = "ess=10", .annealing.on = true };
    run_refused(model, &options, SAL_ERR_ARGUMENT, "annealing");
    options = (sal_run_options){ .seconds = -1 };
    run_refused(model, &options, SAL_ERR_ARGUMENT, "seconds");
    options = (sal_run_options){ .seconds = 1, .annealing = { .on = true, .coolings = 2 } };
    run_refused(model, &options, SAL_ERR_ARGUMENT, "a time of the run");
    sal_model_destroy(model);
}
END_TEST

/* ---- time */

static int sleep_at_the_end(int64_t done, int64_t total, void *data)
{
    (void)data;
    if (done == total) {
        nanosleep(&(struct timespec){ .tv_sec = 2, .tv_nsec = 100000000 }, NULL);
    }
    return 0;
}

/* A run that has made all its draws was not stopped, though its time is over by then. */
START_TEST(the_time_does_not_stop_what_is_over)
{
    sal_model *model = opened("ising:side=3,theta=0.1");
    const sal_run_options options = { .sampler = "gibbs",
                                      .draws = 5,
                                      .warmup = -1,
                                      .seconds = 2,
                                      .callbacks.progress = sleep_at_the_end };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_of(run);
    ck_assert(!s.stopped && s.draws == 5);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* The time stops the run, on a busy machine perhaps before its first draw; what it drew is what it
 * would have drawn, and R-hat is that of the two halves of what there is. */
START_TEST(the_time_stops_it)
{
    sal_model *model = opened("ising:side=4,theta=0.1");
    sal_run_options options = { .sampler = "gibbs", .chains = 2, .draws = 1 << 22, .seconds = 0.3 };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_of(run);
    ck_assert(s.stopped && !s.reached && !s.until);
    ck_assert_int_lt(s.draws, options.draws);
    ck_assert(s.draws < 2000 || s.rhat_max < 1.1);
    options.draws = s.draws < 200 ? s.draws : 200;
    options.seconds = 0;
    sal_run *same = options.draws > 0 ? run_it(model, &options) : NULL;
    for (int64_t c = 0; c < 2 && same; c++) {
        ck_assert_mem_eq(sal_run_log_probs(run) + c * s.draws,
                         sal_run_log_probs(same) + c * options.draws,
                         (size_t)options.draws * sizeof(double));
    }
    sal_run_destroy(run);
    sal_run_destroy(same);
    sal_model_destroy(model);
}
END_TEST

static Suite *until_suite(void)
{
    Suite *suite = suite_create("until");
    TCase *tcase = tcase_create("until");
    tcase_add_loop_test(tcase, it_ends_at_the_first_look_that_is_good_enough, 0, AIMS);
    tcase_add_test(tcase, chains_that_disagree_do_not_reach_an_ess);
    tcase_add_test(tcase, the_last_draw_is_a_look);
    tcase_add_test(tcase, a_farther_aim_goes_on);
    tcase_add_test(tcase, what_came_to_its_aim_ends_there_when_it_is_resumed);
    tcase_add_test(tcase, bad_aims_are_refused);
    tcase_add_test(tcase, the_time_stops_it);
    tcase_add_test(tcase, the_time_does_not_stop_what_is_over);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(until_suite());
}
