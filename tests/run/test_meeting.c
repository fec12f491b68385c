/* SPDX-License-Identifier: MIT */
/* Meeting times of coupled chains: their bound is above the exact distance, pairs that met stay
 * together, and nothing is said where pairs did not meet. */
#include "test.h"

#include <math.h>

#include <saltus/meeting.h>
#include "alloc_fail.h"
#include "run/coupling/coupling.h"
#include "run_helpers.h"

enum { PAIRS = TEST_SANITIZED ? 300 : 2000, TIMES = 50 };

static sal_model *opened(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static sal_meeting meeting_of(sal_model *model, const sal_run_options *options,
                              const sal_meeting_options *m, int64_t *tau)
{
    sal_meeting result;
    sal_error err;
    ck_ok(sal_meeting_times(model, options, m, tau, &result, &err), &err);
    return result;
}

/* ---- the bound against the exact distance */

static const char *const models[] = { "ising:side=2,theta=0.3", "potts:side=2,states=3,theta=0.4",
                                      "rbm:visible=2,hidden=2", "formula over spin",
                                      "formula over label" };
/* Where pairs meet by moves that say which variables change: spins without fields can stay opposite
 * for ever. */
static const bool without_symmetry[] = { false, true, false, false, true };
#define N_MODELS ((int)(sizeof models / sizeof *models))

static sal_model *model_at(int k)
{
    const char *over = "formula over ";
    return strncmp(models[k], over, strlen(over)) == 0
               ? tiny_formula_over(models[k] + strlen(over), SAL_F64)
               : opened(models[k]);
}

/* The samplers, and where all their pairs meet. */
enum { ALWAYS, WITHOUT_SYMMETRY, UNKNOWN };
static const struct {
    const char *name;
    int meets;
} samplers[] = {
    { "gibbs", ALWAYS },
    { "gibbs:scan=random", ALWAYS },
    { "gibbs:block=2", UNKNOWN },
    { "block-gibbs", ALWAYS },
    { "ncg", ALWAYS },
    { "ncg:cycle=3", ALWAYS },
    { "dlmc", ALWAYS },
    { "gwg", ALWAYS },
    { "gwg:hops=2", WITHOUT_SYMMETRY },
    { "lb", ALWAYS },
    { "mh-uniform", WITHOUT_SYMMETRY },
};
#define N_SAMPLERS ((int)(sizeof samplers / sizeof *samplers))

/* The total variation between the law of a chain after t steps from a uniform start and the model,
 * for t = 0 .. TIMES. */
static void exact_distances(const sal_model *model, const sal_run_options *options,
                            double *distance)
{
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], law[TINY_MOST_STATES];
    transition *P = calloc(TIMES, sizeof *P);
    ck_ok(
        sali_sampler_choose(options->sampler, model, options->step_size, &sampler, &settings, &err),
        &err);
    const int64_t n = states_count(model->space), pieces = pieces_of(sampler, model, &settings);
    ck_assert_int_le(pieces, TIMES);
    for (int64_t k = 0; k < pieces; k++) {
        P[k] = transition_make(sampler, model, &settings, 1, (uint64_t)k);
    }
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < n; i++) {
        law[i] = 1 / (double)n;
    }
    for (int64_t t = 0; t <= TIMES; t++) {
        double next[TINY_MOST_STATES] = { 0 };
        distance[t] = 0;
        for (int64_t i = 0; i < n; i++) {
            distance[t] += fabs(law[i] - pi[i]) / 2;
            for (int64_t j = 0; j < n; j++) {
                next[j] += law[i] * P[t % pieces].P[i * n + j];
            }
        }
        memcpy(law, next, sizeof law);
    }
    for (int64_t k = 0; k < pieces; k++) {
        transition_free(&P[k]);
    }
    free(P);
}

static void check_bound(sal_model *model, int s, bool meets, int64_t lag, const char *where)
{
    const bool size = sali_sampler_find(samplers[s].name)->has_step_size;
    const sal_run_options options = {
        .sampler = samplers[s].name, .seed = 11, .step_size = size ? 0.5 : 0, .warmup = 20
    };
    const int64_t most = meets ? 4000 : 200;
    const sal_meeting_options m = { .pairs = PAIRS, .lag = lag, .most_steps = most };
    double distance[TIMES + 1], bound, error;
    int64_t *tau = malloc(PAIRS * sizeof *tau), unmet = 0;
    const sal_meeting r = meeting_of(model, &options, &m, tau);
    exact_distances(model, &options, distance);
    for (int64_t c = 0; c < PAIRS; c++) {
        ck_assert_msg(tau[c] == -1 || (tau[c] > r.lag && tau[c] <= most), "%s", where);
        unmet += tau[c] == -1;
    }
    ck_assert_int_eq(r.not_met, unmet);
    ck_assert_msg(unmet == 0 || !meets, "%s: %d not met", where, (int)unmet);
    for (int64_t t = 0; t <= TIMES; t++) {
        sal_meeting_bound(PAIRS, tau, r.lag, t, &bound, &error);
        ck_assert_msg(isnan(bound) == (unmet > 0) && isnan(error) == (unmet > 0), "%s", where);
        /* no pair of n shows what happens with a probability of 8 / n with a chance of exp(-8) */
        const double largest = bound + 4 * error + 8. / PAIRS;
        ck_assert_msg(unmet > 0 || distance[t] <= largest, "%s, t %d: %g > %g +- %g", where, (int)t,
                      distance[t], bound, error);
    }
    free(tau);
}

START_TEST(the_bound_is_above_the_exact_distance)
{
    sal_model *model = model_at(_i);
    for (int s = 0; s < N_SAMPLERS; s++) {
        const bool meets = samplers[s].meets == ALWAYS ||
                           (samplers[s].meets == WITHOUT_SYMMETRY && without_symmetry[_i]);
        for (int64_t lag = 0; lag <= 3; lag += 1 + 2 * (lag == 1)) {
            char where[160];
            snprintf(where, sizeof where, "%s, %s, lag %d", models[_i], samplers[s].name, (int)lag);
            if (sal_sampler_find(samplers[s].name, model, 0, NULL, NULL) == SAL_OK) {
                check_bound(model, s, meets, lag, where);
            }
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* With a lag of one sweep and independent variables, a pair has met after one sweep, and a chain is
 * at the model after one. */
START_TEST(independent_variables_meet_in_a_sweep)
{
    sal_model *model = opened("formula:x: spin[5]; b = 0.5; b sum(i: x[i])");
    const sal_run_options options = { .sampler = "gibbs" };
    int64_t tau[40];
    double bound;
    const sal_meeting r =
        meeting_of(model, &options, &(sal_meeting_options){ .pairs = 40, .lag = 1 }, tau);
    ck_assert_int_eq(r.lag, 5); /* rounded up */
    ck_assert_int_eq(r.pairs, 40);
    ck_assert_int_eq(r.not_met, 0);
    ck_assert_int_eq(r.warmup, 1000);
    ck_assert_int_eq(r.most_steps, 20000);
    for (int c = 0; c < 40; c++) {
        ck_assert(tau[c] > 5 && tau[c] <= 10);
    }
    ck_assert(r.median >= 1 && r.median <= 5 && r.warmed_up == 0 && r.steps_01 <= 5);
    ck_assert(r.steps_25 <= r.steps_05 && r.steps_05 <= r.steps_01);
    sal_meeting_bound(40, tau, r.lag, (int64_t)r.steps_05, &bound, NULL);
    ck_assert(bound <= .05);
    sal_meeting_bound(40, tau, r.lag, (int64_t)r.steps_05 - 1, &bound, NULL);
    ck_assert(bound > .05);
    sal_model_destroy(model);
}
END_TEST

START_TEST(the_bound_is_the_mean_of_rounded_times)
{
    const int64_t tau[] = { 13, 16, 17, 30 };
    double bound, error;
    sal_meeting_bound(4, tau, 10, 10, &bound, &error); /* 0, 0, 0, 1 */
    ck_assert_double_eq(bound, .25);
    ck_assert_double_eq_tol(error, .25, 1e-15);
    sal_meeting_bound(4, tau, 10, 0, &bound, NULL); /* 1, 1, 1, 2 */
    ck_assert_double_eq(bound, 1);
    sal_meeting_bound(4, tau, 10, 6, &bound, NULL); /* 0, 0, 1, 2 */
    ck_assert_double_eq(bound, .75);
    sal_meeting_bound(1, tau, 10, 3, &bound, &error);
    ck_assert(bound == 0 && isnan(error));
    sal_meeting_bound(2, (const int64_t[]){ 13, -1 }, 10, 6, &bound, &error);
    ck_assert(isnan(bound) && isnan(error));
}
END_TEST

/* ---- pairs that met */

/* Every sampler that keeps more of a chain than codes keeps a row for each chain; and pairs that
 * have met stay together. */
START_TEST(pairs_that_met_stay_together)
{
    static const char *const names[] = { "gibbs",       "gibbs:scan=shuffled",
                                         "block-gibbs", "avg",
                                         "pavg",        "avg:momentum=0.3",
                                         "ncg",         "lb",
                                         "dlmc",        "gwg" };
    sal_model *model = model_at(2);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const sal_run_options options = { .sampler = names[k], .chains = 70, .warmup = -1 };
        int64_t tau[70];
        sali_coupling c;
        sal_error err;
        ck_ok(sali_coupling_open(model, &options, 5, false, 12, tau, &c, &err), &err);
        ck_ok(sali_coupling_advance(&c, 2000, &err), &err);
        ck_assert_msg(sali_coupling_unmet(&c) < 70 || k == 5, "%s", names[k]);
        for (int64_t step = 0; step < 300; step++) {
            for (int64_t s = 0; s < c.x->n_shards; s++) {
                const sali_run_shard *x = &c.x->shards[s], *y = &c.y->shards[s];
                for (int64_t i = 0; i < x->chains->n; i++) {
                    ck_assert_msg(tau[x->first + i] < 0 || sali_coupling_is_met(&c, s, i), "%s",
                                  names[k]);
                }
                ck_assert_uint_eq(x->chains->step[0], y->chains->step[0]);
                sali_coupling_step(&c, s);
            }
        }
        sali_coupling_close(&c);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_samplers_keep_has_a_row_for_each_chain)
{
    sal_model *model = model_at(2);
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sali_sampler_settings settings;
        sali_state_item items[SALI_MOST_STATE];
        char text[96];
        for (int o = 0; settings_at(sampler, model->space, o, &settings, text, sizeof text); o++) {
            if (sali_sampler_check(sampler, &settings, model, NULL) != SAL_OK) {
                continue;
            }
            bench b = bench_open(sampler, model, &settings, 1, 5, 0);
            const int64_t n = sali_sampler_items(sampler, NULL, b.self, SALI_STATE_KEPT, items);
            for (int64_t i = 0; i < n; i++) {
                ck_assert_msg(items[i].count % 5 == 0, "%s: %s", text, items[i].name);
            }
            bench_close(&b);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* Both starts of a pair, and the pairs, are different. */
START_TEST(starts_are_independent)
{
    sal_model *model = opened("ising:side=6,theta=0.1");
    const sal_run_options options = { .sampler = "gibbs", .chains = 50, .warmup = -1 };
    int64_t tau[50];
    sali_coupling c;
    sal_error err;
    ck_ok(sali_coupling_open(model, &options, 5, true, 36, tau, &c, &err), &err);
    ck_assert_int_eq(c.x->n_shards, 50);
    for (int64_t k = 0; k < 50; k++) {
        const int32_t *x = c.x->shards[k].chains->codes, *y = c.y->shards[k].chains->codes;
        const int32_t *next = c.x->shards[(k + 1) % 50].chains->codes;
        int same = 0, alike = 0;
        for (int v = 0; v < 36; v++) {
            same += x[v] == y[v];
            alike += x[v] == next[v];
        }
        ck_assert(same < 33 && alike < 33);
        ck_assert_uint_eq(c.x->shards[k].chains->seed, c.y->shards[k].chains->seed);
        ck_assert_uint_ne(c.x->shards[k].chains->seed, c.x->shards[(k + 1) % 50].chains->seed);
        ck_assert_uint_eq(c.y->shards[k].chains->step[0], 36);
    }
    sali_coupling_close(&c);
    sal_model_destroy(model);
}
END_TEST

/* ---- bits */

START_TEST(times_do_not_depend_on_threads)
{
    static const char *const names[] = { "gibbs", "gibbs:scan=shuffled", "avg", "pavg", NULL };
    sal_model *model = opened("ising:side=3,theta=0.1");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        int64_t first[90], tau[90];
        sal_run_options options = { .sampler = names[k], .seed = 3, .threads = 1, .warmup = 100 };
        const sal_meeting_options m = { .pairs = 90, .most_steps = 3000 };
        const sal_meeting one = meeting_of(model, &options, &m, first);
        for (options.threads = 1; options.threads <= 7; options.threads += 3) {
            const sal_meeting r = meeting_of(model, &options, &m, tau);
            ck_assert_msg(memcmp(tau, first, sizeof tau) == 0, "%s", names[k]);
            ck_assert_int_eq(r.lag, one.lag);
        }
        options.seed = 4;
        meeting_of(model, &options, &m, tau);
        ck_assert(memcmp(tau, first, sizeof tau) != 0);
    }
    sal_model_destroy(model);
}
END_TEST

/* A tuning in place of a warm-up gives the same pairs. */
START_TEST(a_tuning_is_the_warm_up)
{
    sal_model *model = opened("ising:side=3,theta=0.1");
    int64_t first[30], tau[30];
    sal_tuning *tuning = NULL;
    sal_error err;
    sal_run_options options = { .sampler = "avg", .seed = 3, .warmup = 150 };
    const sal_meeting_options m = { .pairs = 30 };
    meeting_of(model, &options, &m, first);
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_tuning(run, &tuning, &err), &err);
    options.tuning = tuning;
    meeting_of(model, &options, &m, tau);
    ck_assert(memcmp(tau, first, sizeof tau) == 0);
    sal_tuning_destroy(tuning);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(clamped_variables_do_not_move)
{
    static const int64_t variables[] = { 0, 4 };
    static const int32_t codes[] = { 1, 1 };
    sal_model *model = opened("ising:side=3,theta=0.5");
    sal_run_options options = { .sampler = "gibbs" };
    const sal_meeting free = meeting_of(model, &options, NULL, NULL);
    options.clamps = (sal_clamps){ 2, variables, codes };
    const sal_meeting clamped = meeting_of(model, &options, NULL, NULL);
    ck_assert_int_eq(free.lag % 9, 0);
    ck_assert_int_eq(clamped.lag % 7, 0);
    ck_assert_int_eq(clamped.not_met, 0);
    sal_model_destroy(model);
}
END_TEST

/* ---- no meetings */

/* Two wells that Gibbs steps do not leave. */
START_TEST(pairs_that_do_not_meet_give_no_bound)
{
    sal_model *model = opened("ising:side=3,theta=3");
    const sal_run_options options = { .sampler = "gibbs", .seed = 1 };
    for (int64_t lag = 0; lag <= 9; lag += 9) {
        const sal_meeting_options m = { .lag = lag, .most_steps = 2000 };
        const sal_meeting r = meeting_of(model, &options, &m, NULL);
        ck_assert_int_gt(r.not_met, 20);
        ck_assert_int_lt(r.not_met, 80);
        ck_assert_int_eq(r.lag, 9);
        ck_assert(isnan(r.warmed_up) && isnan(r.warmed_up_error));
        ck_assert(isnan(r.steps_25) && isnan(r.steps_05) && isnan(r.steps_01));
    }
    sal_model_destroy(model);
}
END_TEST

static int stop_at(int64_t done, int64_t total, void *data)
{
    (void)total;
    return done >= *(int64_t *)data;
}

START_TEST(progress_can_stop_it)
{
    sal_model *model = opened("ising:side=3,theta=3");
    int64_t when = 512;
    const sal_run_options options = {
        .sampler = "gibbs", .callbacks = { .progress = stop_at, .progress_data = &when }
    };
    const sal_meeting r = meeting_of(model, &options, &(sal_meeting_options){ .lag = 9 }, NULL);
    ck_assert_int_gt(r.not_met, 20);
    const sal_run_options warm = { .sampler = "ncg",
                                   .callbacks = { .progress = stop_at, .progress_data = &when } };
    sal_error err;
    sal_meeting untouched = { .pairs = 7 };
    ck_fails(sal_meeting_times(model, &warm, NULL, NULL, &untouched, &err), SAL_ERR_ARGUMENT, &err,
             "stopped in the warm-up");
    ck_assert_int_eq(untouched.pairs, 7);
    sal_model_destroy(model);
}
END_TEST

/* ---- failures */

static void refused(sal_model *model, sal_run_options options, sal_meeting_options m,
                    sal_status status, const char *text)
{
    sal_meeting result = { .pairs = 7 };
    int64_t tau = 7;
    sal_error err;
    ck_fails(sal_meeting_times(model, &options, &m, &tau, &result, &err), status, &err, text);
    ck_assert(result.pairs == 7 && tau == 7);
}

START_TEST(bad_options_are_refused)
{
    const sal_meeting_options none = { 0 };
    sal_model *model = opened("ising:side=3,theta=0.1");
    const int32_t init[36] = { 0 };
    const struct {
        sal_run_options options;
        const char *text;
    } cases[] = {
        { { .draws = 5 }, "draws: " },
        { { .thin = 5 }, "thin: " },
        { { .until = "ess=10" }, "until: " },
        { { .seconds = 1 }, "time: " },
        { { .tempering.replicas = 3 }, "tempering: " },
        { { .annealing.on = true }, "anneal: " },
        { { .init = init }, "init: " },
        { { .record.draws = true }, "record: " },
        { { .sampler = "none" }, "none" },
        { { .chains = -1 }, "chains" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        refused(model, cases[k].options, none, SAL_ERR_ARGUMENT, cases[k].text);
    }
    refused(NULL, (sal_run_options){ 0 }, none, SAL_ERR_ARGUMENT, "model is NULL");
    const sal_run_options gibbs = { .sampler = "gibbs" };
    refused(model, gibbs, (sal_meeting_options){ .pairs = -1 }, SAL_ERR_ARGUMENT, "pairs is -1");
    refused(model, gibbs, (sal_meeting_options){ .lag = -1 }, SAL_ERR_ARGUMENT, "lag is -1");
    refused(model, gibbs, (sal_meeting_options){ .most_steps = -1 }, SAL_ERR_ARGUMENT,
            "most_steps is -1");
    refused(model, gibbs, (sal_meeting_options){ .lag = 80, .most_steps = 80 }, SAL_ERR_ARGUMENT,
            "lag is 81; expected less than most_steps, 80");
    refused(model, (sal_run_options){ .sampler = "dula" }, none, SAL_ERR_UNSUPPORTED,
            "'dula' is approximate");
    refused(model, (sal_run_options){ .sampler = "d-svgd" }, none, SAL_ERR_UNSUPPORTED, "'d-svgd'");
    refused(model, (sal_run_options){ .sampler = "ncg:schedule=polynomial" }, none,
            SAL_ERR_UNSUPPORTED, "leave the schedule out");
    sal_model_destroy(model);
}
END_TEST

static sal_status whole(sal_model *model)
{
    const sal_run_options options = { .sampler = "avg", .chains = 2, .warmup = 5, .threads = 1 };
    sal_meeting result;
    int64_t tau[3];
    return sal_meeting_times(model, &options, &(sal_meeting_options){ .pairs = 3 }, tau, &result,
                             NULL);
}

START_TEST(allocation_failures_are_errors)
{
    sal_model *model = opened("ising:side=2,theta=0.1");
    ck_alloc_sweep(whole(model), (void)0);
    sal_model_destroy(model);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("meeting");
    TCase *tc = tcase_create("meeting");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, the_bound_is_above_the_exact_distance, 0, N_MODELS);
    tcase_add_test(tc, independent_variables_meet_in_a_sweep);
    tcase_add_test(tc, the_bound_is_the_mean_of_rounded_times);
    tcase_add_test(tc, pairs_that_met_stay_together);
    tcase_add_test(tc, what_samplers_keep_has_a_row_for_each_chain);
    tcase_add_test(tc, starts_are_independent);
    tcase_add_test(tc, times_do_not_depend_on_threads);
    tcase_add_test(tc, a_tuning_is_the_warm_up);
    tcase_add_test(tc, clamped_variables_do_not_move);
    tcase_add_test(tc, pairs_that_do_not_meet_give_no_bound);
    tcase_add_test(tc, progress_can_stop_it);
    tcase_add_test(tc, bad_options_are_refused);
    tcase_add_test(tc, allocation_failures_are_errors);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return test_main(make());
}
