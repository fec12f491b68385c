/* SPDX-License-Identifier: MIT */
/* Single-site samplers beyond the contract: balancing functions, balls, what is tuned in warm-up.
 */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "samplers/local/ball.h"
#include "samplers/kernels.h"
#include "run/run.h"
#include "samplers/local/single_site_sampler.h"
#include "samplers/local/uniform_ball.h"
#include "transition.h"

/* ---- balancing functions */

static double log_g(sal_dtype dtype, int which, double log_t)
{
    double in[1], out[1];
    sali_balance balance = sali_balance_of(dtype, which);
    sali_store(dtype, in, 0, log_t);
    balance.log_g(balance.context, 1, in, out);
    return sali_load(dtype, out, 0);
}

START_TEST(balancing_functions_are_balanced_without_overflow)
{
    static const double log_t[] = { 0, 1e-3, 0.7, 30, 90, 800, 1e5, 1e30 };
    sal_dtype dtype = _i == 0 ? SAL_F64 : SAL_F32;
    double tolerance = dtype == SAL_F64 ? 1e-14 : 1e-6;
    for (int which = 0; which < SALI_BALANCES; which++) {
        for (size_t k = 0; k < sizeof log_t / sizeof *log_t; k++) {
            double up = log_g(dtype, which, log_t[k]), down = log_g(dtype, which, -log_t[k]);
            ck_assert_msg(fabs(up - down - log_t[k]) <= tolerance * fmax(1, log_t[k]),
                          "%s: g(t) / g(1/t) = exp(%g) at t = exp(%g)", sali_balance_names[which],
                          up - down, log_t[k]);
        }
        ck_assert(log_g(dtype, which, -INFINITY) == -INFINITY);
        ck_assert(isnan(log_g(dtype, which, NAN)));
    }
    ck_assert_double_eq_tol(log_g(dtype, SALI_BALANCE_SQRT, 3), 1.5, tolerance);
    ck_assert_double_eq_tol(log_g(dtype, SALI_BALANCE_BARKER, 3), -log1p(exp(-3)), tolerance);
    ck_assert_double_eq_tol(log_g(dtype, SALI_BALANCE_MIN, 3), 0, tolerance);
    ck_assert_double_eq_tol(log_g(dtype, SALI_BALANCE_MAX, 3), 3, tolerance);
}
END_TEST

/* ---- the draw from a row */

START_TEST(rounding_never_picks_a_move_without_weight)
{
    enum { MOVES = 300 };
    float log_weight[MOVES], weight[MOVES];
    double partial[MOVES / SALI_MOVE_BLOCK + 1];
    sali_move_row row = { .log_weight = log_weight, .weight = weight, .partial = partial };
    for (int k = 0; k < MOVES; k++) {
        log_weight[k] = k > 70 && k < 100 ? -0.1f * (float)k : -INFINITY;
    }
    sali_site_kernels_f32.prepare(MOVES, &row);
    for (int k = -60; k < -20; k++) {
        ck_assert_int_eq(sali_site_kernels_f32.pick(MOVES, &row, 1 - ldexp(1, k)), 99);
    }
    ck_assert_int_eq(sali_site_kernels_f32.pick(MOVES, &row, 1), 99);
    ck_assert_int_eq(sali_site_kernels_f32.pick(MOVES, &row, 0), 71);
}
END_TEST

/* ---- balls */

static sal_space *space_of(sal_kind kind, int64_t count, int32_t states)
{
    sal_space *space = sal_space_create();
    sal_block block = { .name = "x", .kind = kind, .count = count, .states = states };
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    return space;
}

START_TEST(balls_have_the_sizes_of_the_paper)
{
    sal_space *space = space_of(SAL_BINARY, 20, 2), *labels = space_of(SAL_CATEGORICAL, 9, 4);
    sali_uniform_ball ball;
    sal_error err;
    ck_assert_int_eq(sali_ball_size(space, 1), 20);
    ck_assert_int_eq(sali_ball_size(space, 3), 20 + 190 + 1140);
    ck_assert_int_gt(sali_ball_size(space, 10), SALI_BALL_MOST);
    ck_assert_int_gt(sali_ball_size(space, 1000), SALI_BALL_MOST);
    ck_ok(sali_uniform_ball_create(space, 3, &ball, &err), &err);
    ck_assert_double_eq_tol(exp(sali_uniform_ball_log_size(&ball)), 1 + 20 + 190 + 1140, 1e-8);
    sali_uniform_ball_free(&ball);
    ck_ok(sali_uniform_ball_create(labels, 2, &ball, &err), &err);
    ck_assert_double_eq_tol(exp(sali_uniform_ball_log_size(&ball)), 1 + 27 + 36 * 9, 1e-8);
    sali_uniform_ball_free(&ball);
    sal_space_destroy(space);
    sal_space_destroy(labels);
}
END_TEST

static void refused(sal_model *model, const char *sampler, const char *why)
{
    sal_run_options options = { .sampler = sampler, .chains = 1, .warmup = -1, .draws = 1 };
    sal_run *run = NULL;
    sal_error err;
    ck_assert_int_eq(sal_sample(model, &options, &run, &err), SAL_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, why), "%s", err.message);
}

START_TEST(balls_too_large_and_balls_with_hops_are_refused)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=20", SAL_F64, &model, &err), &err);
    refused(model, "gwg:ball=3", "65536");
    refused(model, "gwg:ball=2,hops=2", "not both");
    refused(model, "gwg:ball=2,hops=adapt", "not both");
    sal_model_destroy(model);
}
END_TEST

/* ---- what warm-up tunes */

static double tuned(const sal_run *run)
{
    double *values;
    ck_assert_int_eq(tuned_values(run->sampler, run->shared, &values), 1);
    return values[0];
}

static sal_run *run_it(sal_model *model, const char *sampler, int threads)
{
    sal_run_options options = { .sampler = sampler,
                                .chains = 64,
                                .warmup = 3000,
                                .draws = 400,
                                .seed = 7,
                                .threads = threads };
    sal_run *run = NULL;
    sal_error err;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    return run;
}

static double acceptance_of(const sal_run *run)
{
    sal_run_summary summary;
    sal_error err;
    ck_ok(sal_run_summarise(run, &summary, &err), &err);
    return summary.acceptance_rate;
}

/* The tuned value lies inside its range, gives about the target acceptance, is the same for any
 * number of threads, and given as a setting it is kept. */
static void check_tuning(const char *specification, const char *sampler, const char *key,
                         double target, double tolerance)
{
    char given[64];
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    sal_run *one = run_it(model, sampler, 1), *two = run_it(model, sampler, 2);
    ck_assert_double_gt(tuned(one), 1);
    ck_assert_double_eq(tuned(one), round(tuned(one)));
    ck_assert_double_eq(tuned(one), tuned(two));
    ck_assert_double_eq(acceptance_of(one), acceptance_of(two));
    ck_assert_msg(fabs(acceptance_of(one) - target) < tolerance, "%s: acceptance %g with %s %g",
                  sampler, acceptance_of(one), key, tuned(one));
    snprintf(given, sizeof given, "%s:%s=%g", sampler, key, tuned(one) + 1);
    sal_run *other = run_it(model, given, 1);
    ck_assert_double_eq(tuned(other), tuned(one) + 1);
    sal_run_destroy(one);
    sal_run_destroy(two);
    sal_run_destroy(other);
    sal_model_destroy(model);
}

START_TEST(mh_uniform_tunes_its_radius)
{
    check_tuning("ising:side=12,theta=0.1", "mh-uniform", "radius", 0.234, 0.08);
}
END_TEST

START_TEST(paths_tune_their_length)
{
    static const char *const samplers[] = { "pafs", "pas" };
    static const char *const models[] = { "ising:side=8,theta=0.25", "ising:side=8,theta=0.35" };
    check_tuning(models[_i], samplers[_i], "length", 0.574, 0.06);
}
END_TEST

START_TEST(hops_are_tuned)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=12,theta=0.25", SAL_F64, &model, &err), &err);
    sal_run *one = run_it(model, "gwg:hops=adapt", 1), *two = run_it(model, "gwg:hops=adapt", 2);
    ck_assert_double_gt(tuned(one), 1);
    ck_assert_double_eq(tuned(one), round(tuned(one)));
    ck_assert_double_eq(tuned(one), tuned(two));
    ck_assert_double_eq(acceptance_of(one), acceptance_of(two));
    ck_assert_msg(fabs(acceptance_of(one) - 0.574) < 0.1, "acceptance %g with %g hops",
                  acceptance_of(one), tuned(one));
    sal_run_destroy(one);
    sal_run_destroy(two);
    sal_model_destroy(model);
}
END_TEST

/* ---- paths */

/* Weights that underflow next to the largest, or are lost in sums with it, still have their turn in
 * a path of pafs: it never ends early, and probabilities add up. */
START_TEST(paths_go_on_to_weights_that_underflow)
{
    enum { V = 5, LENGTH = 3 };
    static const struct {
        sal_dtype dtype;
        double slopes[V], tolerance;
    } cases[] = { { SAL_F32, { 0, 400, -300, 700, 1 }, 1e-5 },
                  { SAL_F64, { 0, 11, -44, 66, 1 }, 1e-13 },
                  { SAL_F64, { 0, 3, -5, 7, 1 }, 1e-13 } };
    sal_space *space = space_of(SAL_BINARY, V, 2);
    const sali_sampler *pafs = sali_sampler_find("pafs");
    sali_sampler_settings settings = { 0 };
    sal_model *model = NULL;
    sal_error err;
    int32_t from[V], to[V];
    sal_tape *tape = sal_tape_create(space, cases[_i].dtype);
    sal_expr f = sal_dot(sal_constant(tape, cases[_i].slopes, SAL_SHAPE(V)), sal_state(tape));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sali_specification_values("pafs:length=3", pafs->settings, settings.values, &err), &err);
    transition t = transition_make(pafs, model, &settings, 1, 0);
    for (int64_t i = 0; i < t.n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < t.n; j++) {
            int changed = 0;
            state_codes(space, i, from);
            state_codes(space, j, to);
            for (int v = 0; v < V; v++) {
                changed += from[v] != to[v];
            }
            sum += exp(t.log_q[i * t.n + j]);
            ck_assert((changed >= 1 && changed <= LENGTH) || t.log_q[i * t.n + j] == -INFINITY);
        }
        ck_assert_double_eq_tol(sum, 1, cases[_i].tolerance);
    }
    transition_free(&t);
    sal_tape_destroy(tape);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- gradients that follow moves */

/* Gradients are followed, and f and the gradient of all chains are those of their evaluation. */
static void check_followed(bench *b, const char *where)
{
    sali_chains *chains = b->chains;
    sali_single_site *g = b->self;
    int64_t N = chains->space->width;
    sal_dtype dtype = chains->model->dtype;
    double tolerance = dtype == SAL_F64 ? 1e-11 : 2e-4;
    double f[8];
    ck_assert_msg(sali_followed_gradient_active(&g->followed), "%s", where);
    memcpy(f, chains->f, (size_t)chains->n * sizeof *f);
    sali_chains_start(chains, true);
    for (int64_t c = 0; c < chains->n; c++) {
        ck_assert_msg(fabs(chains->f[c] - f[c]) <= tolerance, "%s: f is %g, not %g", where, f[c],
                      chains->f[c]);
        for (int64_t k = 0; k < N; k++) {
            double now = sali_load(dtype, sali_followed_gradient_now(&g->followed, chains, c), k);
            double anew = sali_load(dtype, sali_row(chains, chains->gradient, c, N), k);
            ck_assert_msg(fabs(now - anew) <= tolerance, "%s: gradient is %g, not %g", where, now,
                          anew);
        }
    }
}

static void check_following(const char *specification, const char *name, sal_dtype dtype)
{
    sal_model *model = NULL;
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    double theta = 0.3;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    ck_ok(sali_sampler_choose(name, model, 0, &sampler, &settings, &err), &err);
    bench b = bench_open(sampler, model, &settings, 0.7, 5, 3 * 4096 - 1500);
    check_followed(&b, name);
    sali_engine(sampler)->steps(b.self, b.chains, 1400); /* 100 before they are made anew, */
    check_followed(&b, name);
    sali_engine(sampler)->steps(b.self, b.chains, 300); /* and 200 after */
    check_followed(&b, name);
    if (strncmp(specification, "potts:", 6) == 0) {
        ck_ok(sal_model_set_params(model, "theta", &theta, &err), &err);
        sali_engine(sampler)->refresh(b.self, b.chains);
        check_followed(&b, name);
        sali_engine(sampler)->steps(b.self, b.chains, 100);
        check_followed(&b, name);
    }
    bench_close(&b);
    sal_model_destroy(model);
}

START_TEST(followed_gradients_are_those_of_the_states)
{
    static const char *const samplers[] = { "gwg", "gwg:hops=3", "gwg:ball=2", "gwg:balance=min" };
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        for (int f32 = 0; f32 < 2; f32++) {
            sal_dtype dtype = f32 ? SAL_F32 : SAL_F64;
            check_following("potts-dense:dim=6,states=3,scale=0.3", samplers[k], dtype);
            check_following("potts:side=3,states=4,theta=0.2", samplers[k], dtype);
        }
    }
}
END_TEST

/* sum_e K_e s_i s_j s_k of six spins, by gathers, with the passes of the set. */
static sal_model *cubic(uint32_t passes)
{
    static const int64_t index[3][4] = { { 0, 1, 2, 5 }, { 3, 2, 4, 0 }, { 4, 5, 3, 1 } };
    static const double K[] = { 0.7, -0.4, 1.1, 0.2 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 6 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_tape_set_passes(tape, passes);
    sal_expr product = sal_constant(tape, K, SAL_SHAPE(4));
    for (int k = 0; k < 3; k++) {
        product = sal_mul(product, sal_gather(sal_state(tape), 0, 4, index[k]));
    }
    ck_ok(sal_model_from_tape(tape, sal_sum(product), &model, &err), &err);
    ck_assert_int_eq(sal_model_is_multilinear(model), passes == SAL_PASS_DEFAULT);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* Products of three are tables, by which samplers move as by the formula as it was written. */
START_TEST(products_of_three_move_as_written)
{
    static const char *const samplers[] = { "lb", "gibbs", "gwg", "gwg:hops=2", "ncg" };
    sal_model *whole = cubic(SAL_PASS_DEFAULT);
    sal_model *written = cubic(SAL_PASS_DEFAULT & ~SAL_PASS_PRODUCTS);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        const sali_sampler *sampler;
        sali_sampler_settings settings;
        sal_error err;
        ck_ok(sali_sampler_choose(samplers[k], whole, 0, &sampler, &settings, &err), &err);
        transition t = transition_make(sampler, whole, &settings, 0.8, 0);
        transition want = transition_make(sampler, written, &settings, 0.8, 0);
        for (int64_t at = 0; at < t.n * t.n; at++) {
            ck_assert_msg(fabs(t.P[at] - want.P[at]) < 1e-12, "%s: %g instead of %g", samplers[k],
                          t.P[at], want.P[at]);
        }
        sali_transition_free(&t);
        sali_transition_free(&want);
    }
    sal_model_destroy(whole);
    sal_model_destroy(written);
}
END_TEST

static Suite *single_site_suite(void)
{
    Suite *suite = suite_create("single_site");
    TCase *tcase = statistics_create("single_site");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, balancing_functions_are_balanced_without_overflow, 0, 2);
    tcase_add_test(tcase, rounding_never_picks_a_move_without_weight);
    tcase_add_test(tcase, balls_have_the_sizes_of_the_paper);
    tcase_add_test(tcase, hops_are_tuned);
    tcase_add_test(tcase, balls_too_large_and_balls_with_hops_are_refused);
    tcase_add_test(tcase, mh_uniform_tunes_its_radius);
    tcase_add_loop_test(tcase, paths_tune_their_length, 0, 2);
    tcase_add_loop_test(tcase, paths_go_on_to_weights_that_underflow, 0, 3);
    tcase_add_test(tcase, followed_gradients_are_those_of_the_states);
    tcase_add_test(tcase, products_of_three_move_as_written);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(single_site_suite());
}
