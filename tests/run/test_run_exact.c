/* SPDX-License-Identifier: MIT */
/* What a run says against exact answers, and that what it says is of the right draws. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include <saltus/sample.h>
#include "models/states.h"
#include "run/parts/record.h"
#include "stats/variation.h"
#include "tiny_models.h"

enum { CHAINS = 6, DRAWS = 3000, MOST = 64 };

static sal_run *run_it(sal_model *model, sal_run_options options)
{
    sal_run *run = NULL;
    sal_error err;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    return run;
}

static sal_model *tiny_model(const char *name)
{
    sal_space *space = tiny_space_make(tiny_space_named(name));
    sal_model *model = tiny_formula(space, SAL_F64);
    sal_space_destroy(space);
    return model;
}

static const sal_run_options kept = { .sampler = "gibbs",
                                      .chains = CHAINS,
                                      .warmup = 100,
                                      .draws = DRAWS,
                                      .record.draws = true,
                                      .threads = 1 };

/* Shares of pairs of states, and covariances, straight from the draws. */
static void plain_pairs(const sal_run *run, const sal_space *space, double *pairs,
                        double *covariance)
{
    int64_t V = space->n_variables, N = space->width, R = space->n_states;
    int bytes;
    const uint8_t *draws = sal_run_draws(run, &bytes);
    double n = (double)CHAINS * DRAWS, mean[MOST] = { 0 }, x[MOST];
    for (int64_t d = 0; d < CHAINS * DRAWS; d++) {
        int32_t codes[MOST];
        int64_t rows[MOST], at = 0;
        for (int64_t v = 0; v < V; at += space->variables[v++].states) {
            codes[v] = draws[d * V + v];
            rows[v] = at + codes[v];
        }
        for (int64_t k = 0; k < V * V; k++) {
            pairs[rows[k / V] * R + rows[k % V]] += 1 / n;
        }
        ck_assert_int_eq(sal_space_embed(space, 1, codes, x, NULL), SAL_OK);
        for (int64_t k = 0; k < N * N; k++) {
            covariance[k] += x[k / N] * x[k % N] / n;
            mean[k / N] += k % N == 0 ? x[k / N] / n : 0;
        }
    }
    for (int64_t k = 0; k < N * N; k++) {
        covariance[k] -= mean[k / N] * mean[k % N];
    }
}

START_TEST(errors_are_those_of_the_draws)
{
    sal_model *model = tiny_model("mixed");
    const sal_space *space = model->space;
    int64_t R = space->n_states, V = space->n_variables, N = space->width;
    double p[MOST], q[MOST], *work = calloc(4 * MOST * MOST, sizeof *work);
    double *pairs = work, *mine = work + MOST * MOST, *exact_covariance = work + 2 * MOST * MOST;
    double *covariance = work + 3 * MOST * MOST, sum = 0, pair_sum = 0, square = 0;
    sal_run *run = run_it(model, kept);
    sal_run_errors e;
    sal_error err;
    sal_exact exact;
    ck_ok(sal_model_exact(model, NULL, &exact, p, pairs, exact_covariance, &err), &err);
    ck_ok(sal_run_marginals(run, q, &err), &err);
    ck_ok(sal_run_measure_errors(run, p, pairs, &e, &err), &err);
    plain_pairs(run, space, mine, covariance);
    for (int64_t a = 0; a < R; a++) {
        sum += fabs(p[a] - q[a]);
    }
    /* over all i and j; the diagonal blocks of both are the marginals' errors */
    for (int64_t a = 0; a < R * R; a++) {
        pair_sum += fabs(pairs[a] - mine[a]);
    }
    for (int64_t a = 0; a < N * N; a++) {
        square += pow(exact_covariance[a] - covariance[a], 2);
    }
    ck_assert_double_eq_tol(e.marginal_mean, sum / (double)R, 1e-12);
    ck_assert_double_eq_tol(e.marginal_l1, sum / (double)V, 1e-12);
    ck_assert_double_eq_tol(e.pair_l1, (pair_sum + sum) / (double)(V * (V + 1)), 1e-12);
    ck_assert_double_eq_tol(e.covariance, sqrt(square), 1e-9);
    ck_assert(e.marginal_max >= e.marginal_mean && e.marginal_max <= e.marginal_l1);
    ck_assert(e.pair_l1 > 0 && e.pair_l1 < 0.1 && e.covariance > 0);
    ck_ok(sal_run_measure_errors(run, p, NULL, &e, &err), &err);
    ck_assert(isnan(e.pair_l1) && isnan(e.covariance));
    ck_ok(sal_run_measure_errors(run, q, NULL, &e, &err), &err);
    ck_assert_double_eq(e.marginal_mean, 0);
    sal_run_destroy(run);
    sal_model_destroy(model);
    free(work);
}
END_TEST

/* The mean of the distance over independent samples, by listing all samples of up to 6 draws from
 * three states. */
START_TEST(the_noise_of_independent_draws_is_their_expected_distance)
{
    const double p[] = { 0.5, 0.35, 0.15 };
    for (int draws = 1; draws <= 6; draws++) {
        double expected = 0;
        int count = (int)round(pow(3, draws));
        for (int sample = 0; sample < count; sample++) {
            double q[3] = { 0 }, weight = 1;
            for (int d = 0, rest = sample; d < draws; d++, rest /= 3) {
                q[rest % 3] += 1.0 / draws;
                weight *= p[rest % 3];
            }
            expected += weight * sali_total_variation(3, p, q);
        }
        ck_assert_double_eq_tol(sali_total_variation_noise(3, p, draws), expected, 1e-12);
    }
    ck_assert_double_eq(sali_total_variation_noise(2, (double[]){ 1, 0 }, 5), 0);
    ck_assert_double_eq(sali_total_variation(2, (double[]){ 1, 0 }, (double[]){ 0, 1 }), 1);
    /* many draws: the mean absolute deviation of a normal */
    double large = sali_total_variation_noise(2, (double[]){ 0.3, 0.7 }, 100000000);
    ck_assert_double_eq_tol(large, sqrt(2 * 0.21 / M_PI / 1e8), 1e-9);
}
END_TEST

START_TEST(total_variation_is_that_of_the_states_drawn)
{
    sal_model *model = tiny_model("mixed"), *flat = NULL;
    const sal_space *space = model->space;
    int64_t V = space->n_variables, count = (int64_t)sali_states_count(space);
    double shares[TINY_MOST_STATES] = { 0 }, distance = 0, f;
    sal_run *run = run_it(model, kept);
    sal_run_variation tv;
    sal_error err;
    sal_exact exact;
    int bytes;
    const uint8_t *draws = sal_run_draws(run, &bytes);
    for (int64_t d = 0; d < CHAINS * DRAWS; d++) {
        int64_t index = 0;
        for (int64_t v = 0; v < V; v++) {
            index = index * space->variables[v].states + draws[d * V + v];
        }
        shares[index] += 1.0 / (CHAINS * DRAWS);
    }
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    for (int64_t i = 0; i < count; i++) {
        int32_t codes[16];
        sali_states_at(space, i, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        distance += fabs(shares[i] - exp(f - exact.log_z)) / 2;
    }
    ck_ok(sal_run_total_variation(run, 0, 0, &tv, &err), &err);
    ck_assert_double_eq_tol(tv.distance, distance, 1e-12);
    ck_assert_double_eq(tv.states, (double)count);
    ck_assert(tv.distance < 2 * tv.ideal && tv.distance > 0.3 * tv.ideal);
    ck_fails(sal_run_total_variation(run, count - 1, 0, &tv, &err), SAL_ERR_UNSUPPORTED, &err,
             "states");
    sal_run_destroy(run);

    /* draws of another distribution are far off */
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_sum(sal_state(tape)), 0.0), &flat, &err), &err);
    run = run_it(flat, kept);
    sal_model_destroy(run->model);
    run->model = sali_model_hold(model);
    sal_model_destroy(run->base);
    run->base = sali_model_hold(model);
    ck_ok(sal_run_total_variation(run, 0, 0, &tv, &err), &err);
    ck_assert(tv.distance > 3 * tv.ideal);
    sal_run_destroy(run);
    sal_tape_destroy(tape);
    sal_model_destroy(flat);
    sal_run_options none = kept;
    none.record.draws = false;
    run = run_it(model, none);
    ck_fails(sal_run_total_variation(run, 0, 0, &tv, &err), SAL_ERR_ARGUMENT, &err, "record.draws");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Variables clamped by the run, and a model that was clamped before, give the same draws. */
START_TEST(a_clamped_model_is_sampled_like_any_other)
{
    sal_model *model = tiny_model("mixed"), *clamped = NULL;
    const int64_t variables[] = { 1, 3 };
    const int32_t codes[] = { 1, 2 };
    double p[MOST], q[MOST];
    int bytes;
    sal_error err;
    sal_exact exact;
    sal_run_options options = kept;
    ck_ok(sal_model_clamp(model, 2, variables, codes, &clamped, &err), &err);
    sal_run *inside = run_it(clamped, options);
    options.clamps.n = 2;
    options.clamps.variables = variables;
    options.clamps.codes = codes;
    sal_run *outside = run_it(model, options);
    int64_t V = model->space->n_variables, free_variables = V - 2;
    const uint8_t *a = sal_run_draws(inside, &bytes), *b = sal_run_draws(outside, &bytes);
    for (int64_t d = 0; d < CHAINS * DRAWS; d++) {
        for (int64_t v = 0, k = 0; v < V; v++) {
            int32_t want = v == 1 ? 1 : v == 3 ? 2 : a[d * free_variables + k++];
            ck_assert_int_eq(b[d * V + v], want);
        }
    }
    sal_run_errors e;
    sal_run_variation tv[2];
    ck_ok(sal_model_exact(clamped, NULL, &exact, p, NULL, NULL, &err), &err);
    ck_ok(sal_run_marginals(inside, q, &err), &err);
    ck_ok(sal_run_measure_errors(inside, p, NULL, &e, &err), &err);
    ck_assert_double_lt(e.marginal_max, 0.05);
    ck_ok(sal_run_total_variation(inside, 0, 0, &tv[0], &err), &err);
    ck_ok(sal_run_total_variation(outside, 0, 0, &tv[1], &err), &err);
    ck_assert_double_eq(tv[0].distance, tv[1].distance);
    sal_run_destroy(inside);
    sal_run_destroy(outside);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

static int stop_soon(int64_t done, int64_t total, void *data)
{
    (void)total;
    (void)data;
    return done >= 600;
}

START_TEST(a_stopped_run_holds_the_first_draws_of_the_whole_one)
{
    sal_model *model = tiny_model("mixed");
    int64_t V = model->space->n_variables, chains, draws, variables;
    int bytes;
    sal_run_options options = kept;
    sal_run *whole = run_it(model, options);
    options.callbacks.progress = stop_soon;
    sal_run *stopped = run_it(model, options);
    sal_run_size(stopped, &chains, &draws, &variables);
    ck_assert(draws > 100 && draws < DRAWS && chains == CHAINS && variables == V);
    const uint8_t *a = sal_run_draws(whole, &bytes), *b = sal_run_draws(stopped, &bytes);
    for (int64_t c = 0; c < chains; c++) {
        ck_assert_mem_eq(b + c * draws * V, a + c * DRAWS * V, (size_t)(draws * V));
        ck_assert_mem_eq(sal_run_log_probs(stopped) + c * draws,
                         sal_run_log_probs(whole) + c * DRAWS, (size_t)draws * sizeof(double));
        ck_assert_mem_eq(sali_run_record(stopped)->distance + c * draws,
                         sali_run_record(whole)->distance + c * DRAWS,
                         (size_t)draws * sizeof(double));
    }
    sal_run_destroy(whole);
    sal_run_destroy(stopped);
    sal_model_destroy(model);
}
END_TEST

START_TEST(the_summary_counts_effective_draws_and_times_in_steps)
{
    sal_model *model = NULL;
    sal_error err;
    sal_run_summary s[2];
    ck_ok(sal_model_open("ising:side=3,theta=0.1", 0, &model, &err), &err);
    for (int k = 0; k < 2; k++) {
        sal_run *run = run_it(model, (sal_run_options){ .sampler = "gwg",
                                                        .chains = 4,
                                                        .threads = 1,
                                                        .draws = 20000 / (k ? 4 : 1),
                                                        .thin = k ? 4 : 1 });
        ck_ok(sal_run_summarise(run, &s[k], &err), &err);
        ck_assert_double_eq_tol(s[k].ess_per_step, s[k].ess_total / (4 * 20000), 1e-12);
        ck_assert(s[k].ess_total >= 4 * s[k].ess_min && s[k].ess_total <= 4 * s[k].ess_max);
        /* two estimates of one thing */
        ck_assert_double_eq_tol(s[k].ess_per_step * s[k].autocorrelation_time, 1, 0.2);
        sal_run_destroy(run);
    }
    ck_assert_double_eq_tol(s[1].autocorrelation_time / s[0].autocorrelation_time, 1, 0.3);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_exact");
    TCase *tcase = tcase_create("run_exact");
    tcase_add_test(tcase, errors_are_those_of_the_draws);
    tcase_add_test(tcase, the_noise_of_independent_draws_is_their_expected_distance);
    tcase_add_test(tcase, total_variation_is_that_of_the_states_drawn);
    tcase_add_test(tcase, a_clamped_model_is_sampled_like_any_other);
    tcase_add_test(tcase, a_stopped_run_holds_the_first_draws_of_the_whole_one);
    tcase_add_test(tcase, the_summary_counts_effective_draws_and_times_in_steps);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
