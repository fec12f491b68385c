/* SPDX-License-Identifier: MIT */
/* The relaxation baselines: the law of their draws against quadrature, and what is kept of a point
 * between steps. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "run/run.h"
#include "transition.h"

#define T 0.5 /* their default temperature */

/* f of two variables b in {0, 1}: field[0] b_0 + field[1] b_1 + coupling b_0 b_1, and its gradient
 * with respect to b. */
typedef struct pair {
    double field[2], coupling;
    bool spin; /* the reals are 2 b - 1 */
    bool hole; /* b = (1, 1) is forbidden, and nothing near it */
} pair;

static double pair_f(const double *x, double *gradient, void *data)
{
    const pair *p = data;
    double b[2], slope = p->spin ? 0.5 : 1;
    for (int i = 0; i < 2; i++) {
        b[i] = p->spin ? (x[i] + 1) / 2 : x[i];
    }
    for (int i = 0; gradient && i < 2; i++) {
        gradient[i] = slope * (p->field[i] + p->coupling * b[1 - i]);
    }
    return p->hole && b[0] == 1 && b[1] == 1
               ? -INFINITY
               : p->field[0] * b[0] + p->field[1] * b[1] + p->coupling * b[0] * b[1];
}

static sal_model *pair_model(pair *p)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    sal_block block = { .name = "x", .kind = p->spin ? SAL_SPIN : SAL_BINARY, .count = 2 };
    sal_callback callback = { .f = pair_f, .data = p, .has_gradient = true };
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

/* Probabilities of the four orthants of y under exp(beta f(sigmoid(y / T)) - |y|^2 / 2). */
static void orthants(const pair *p, double beta, double *probability)
{
    const int n = 600; /* midpoints over [-6, 6]: none at 0 */
    double total = 0;
    memset(probability, 0, 4 * sizeof *probability);
    for (int k = 0; k < n * n; k++) {
        double y[2] = { -6 + 12 * (k / n + 0.5) / n, -6 + 12 * (k % n + 0.5) / n };
        double s[2] = { 1 / (1 + exp(-y[0] / T)), 1 / (1 + exp(-y[1] / T)) };
        double f = p->field[0] * s[0] + p->field[1] * s[1] + p->coupling * s[0] * s[1];
        double density = exp(beta * f - (y[0] * y[0] + y[1] * y[1]) / 2);
        probability[2 * (y[0] > 0) + (y[1] > 0)] += density;
        total += density;
    }
    for (int k = 0; k < 4; k++) {
        probability[k] /= total;
    }
}

static sali_sampler_settings settings_of(const char *specification, double step_size)
{
    sali_sampler_settings settings = { .step_size = step_size };
    sal_error err;
    ck_ok(sali_specification_values(specification, sali_sampler_find(specification)->settings,
                                    settings.values, &err),
          &err);
    return settings;
}

static void many_steps(bench *b, int steps)
{
    for (int k = 0; k < steps; k++) {
        sali_engine(b->sampler)->step(b->self, b->chains);
    }
}

/* Shares of the four states among the chains. */
static void shares(const bench *b, double *share)
{
    memset(share, 0, 4 * sizeof *share);
    for (int64_t c = 0; c < b->chains->n; c++) {
        share[state_of(b->chains->space, b->chains->codes + 2 * c)] += 1 / (double)b->chains->n;
    }
}

/* 5 standard errors of a share of n independent chains. */
static double room(double p, int64_t n)
{
    return 5 * sqrt(p * (1 - p) / (double)n);
}

START_TEST(relaxed_chains_draw_the_thresholded_density)
{
    static const char *const samplers[] = { "r-mala", "r-hmc", "r-hmc:leapfrog=2" };
    enum { CHAINS = 20000 };
    pair p = { { 1.5, -0.7 }, 1.2, _i == 1, false };
    sal_model *model = pair_model(&p);
    for (int s = 0; s < 3; s++) {
        for (int hot = 0; hot < 2; hot++) {
            double expected[4], found[4], beta = hot ? 0.6 : 1;
            sali_sampler_settings settings = settings_of(samplers[s], p.spin ? 2.4 : 0.6);
            bench b = bench_open(sali_sampler_find(samplers[s]), model, &settings, beta, CHAINS, 0);
            many_steps(&b, 60);
            shares(&b, found);
            orthants(&p, beta, expected);
            double acceptance = sali_chains_take_sums(b.chains).acceptance / (60.0 * CHAINS);
            ck_assert(acceptance > 0.5 && acceptance < 0.999);
            for (int k = 0; k < 4; k++) {
                ck_assert_msg(fabs(found[k] - expected[k]) < room(expected[k], CHAINS),
                              "%s, beta %g: share %g of state %d, expected %g", samplers[s], beta,
                              found[k], k, expected[k]);
            }
            bench_close(&b);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* A leapfrog step keeps the energy up to eps^(3/2) if its slopes are the density's; else it loses
 * eps^(1/2). */
START_TEST(small_steps_are_nearly_always_accepted)
{
    pair p = { { 3, -4 }, 2.5, _i == 1, false };
    sal_model *model = pair_model(&p);
    sali_sampler_settings settings = settings_of("r-mala", p.spin ? 0.012 : 0.003);
    bench b = bench_open(sali_sampler_find("r-mala"), model, &settings, 1, 400, 0);
    many_steps(&b, 50);
    double acceptance = sali_chains_take_sums(b.chains).acceptance / (50.0 * 400);
    ck_assert_msg(acceptance > 0.9995 && acceptance < 1, "acceptance %.6f", acceptance);
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* Whether two benches make the same 40 steps; `between` may disturb the second. */
static bool alike(bench *a, bench *b, void (*between)(bench *b))
{
    bool same = true;
    size_t bytes = (size_t)(a->chains->n * a->chains->space->n_variables) * sizeof(int32_t);
    for (int k = 0; k < 40; k++) {
        many_steps(a, 1);
        many_steps(b, 1);
        same &= memcmp(a->chains->codes, b->chains->codes, bytes) == 0;
        if (between) {
            between(b);
        }
    }
    return same;
}

static bool steps_alike(const char *first, const sal_model *model_a, double eps_a,
                        const char *second, const sal_model *model_b, double eps_b,
                        void (*between)(bench *b))
{
    sali_sampler_settings a_settings = settings_of(first, eps_a);
    sali_sampler_settings b_settings = settings_of(second, eps_b);
    bench a = bench_open(sali_sampler_find(first), model_a, &a_settings, 1, 50, 0);
    bench b = bench_open(sali_sampler_find(second), model_b, &b_settings, 1, 50, 0);
    bool same = alike(&a, &b, between);
    bench_close(&a);
    bench_close(&b);
    return same;
}

static void refresh(bench *b)
{
    sali_engine(b->sampler)->refresh(b->self, b->chains);
}

/* Turn all codes and turn them back, with a refresh at each. */
static void disturb(bench *b)
{
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t k = 0; k < b->chains->n * b->chains->space->n_variables; k++) {
            b->chains->codes[k] ^= 1;
        }
        sali_chains_embed(b->chains);
        refresh(b);
    }
}

START_TEST(one_leapfrog_step_is_mala)
{
    pair p = { { 1.5, -0.7 }, 1.2, false, false };
    sal_model *model = pair_model(&p);
    ck_assert(steps_alike("r-mala", model, 0.6, "r-hmc:leapfrog=1", model, 0.6, NULL));
    ck_assert(!steps_alike("r-mala", model, 0.6, "r-hmc:leapfrog=2", model, 0.6, NULL));
    ck_assert(!steps_alike("r-mala", model, 0.6, "r-mala", model, 0.9, NULL));
    sal_model_destroy(model);
}
END_TEST

START_TEST(spins_with_four_times_the_step_give_the_same_chain)
{
    static const char *const samplers[] = { "r-mala", "r-hmc", "d-svgd" };
    pair binary = { { 1.5, -0.7 }, 1.2, false, false }, spin = binary;
    spin.spin = true;
    sal_model *a = pair_model(&binary), *b = pair_model(&spin);
    for (int s = 0; s < 3; s++) {
        ck_assert(steps_alike(samplers[s], a, 0.4, samplers[s], b, 1.6, NULL));
    }
    sal_model_destroy(a);
    sal_model_destroy(b);
}
END_TEST

START_TEST(points_are_kept_while_the_codes_are_theirs)
{
    static const char *const samplers[] = { "r-mala", "r-hmc", "d-svgd" };
    pair p = { { 1.5, -0.7 }, 1.2, false, false };
    sal_model *model = pair_model(&p);
    for (int s = 0; s < 3; s++) {
        ck_assert(steps_alike(samplers[s], model, 0.6, samplers[s], model, 0.6, refresh));
        ck_assert(!steps_alike(samplers[s], model, 0.6, samplers[s], model, 0.6, disturb));
    }
    sal_model_destroy(model);
}
END_TEST

/* Points made from codes lie in their orthant: a step of almost no size leaves the codes. */
START_TEST(points_are_made_from_codes)
{
    static const char *const samplers[] = { "r-mala", "r-hmc", "d-svgd" };
    pair p = { { 1.5, -0.7 }, 1.2, false, false };
    sal_model *model = pair_model(&p);
    for (int s = 0; s < 3; s++) {
        sali_sampler_settings settings = settings_of(samplers[s], 1e-12);
        bench b = bench_open(sali_sampler_find(samplers[s]), model, &settings, 1, 400, 0);
        many_steps(&b, 1);
        for (int64_t c = 0; c < 400; c++) {
            ck_assert_int_eq(state_of(model->space, b.chains->codes + 2 * c), c % 4);
        }
        bench_close(&b);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(forbidden_states_are_not_entered)
{
    static const char *const samplers[] = { "r-mala", "r-hmc", "d-svgd" };
    pair p = { { 2, 2 }, 0, false, true };
    sal_model *model = pair_model(&p);
    for (int s = 0; s < 3; s++) {
        sali_sampler_settings settings = settings_of(samplers[s], 0.5);
        bench b = bench_open(sali_sampler_find(samplers[s]), model, &settings, 1, 40, 0);
        for (int64_t c = 3; c < 40; c += 4) { /* leave it */
            state_codes(model->space, 0, b.chains->codes + 2 * c);
        }
        sali_chains_embed(b.chains);
        refresh(&b);
        for (int k = 0; k < 60; k++) {
            many_steps(&b, 1);
            for (int64_t c = 0; c < 40; c++) {
                ck_assert(b.chains->f[c] > -INFINITY);
            }
        }
        bench_close(&b);
    }
    sal_model_destroy(model);
}
END_TEST

/* Particles approximate the target: weights take back most of what the relaxation changes. Without
 * repulsion all of them would end in the same state. */
START_TEST(stein_particles_spread_over_the_target)
{
    enum { PARTICLES = 200 };
    pair p = { { 1, -0.6 }, 0, false, false };
    double f[4], pi[4], found[4];
    sal_model *model = pair_model(&p);
    sali_sampler_settings settings = settings_of("d-svgd", 0.5);
    bench b = bench_open(sali_sampler_find("d-svgd"), model, &settings, 1, PARTICLES, 0);
    states_probabilities(model, 1, f, pi);
    many_steps(&b, 500);
    shares(&b, found);
    for (int k = 0; k < 4; k++) {
        ck_assert_msg(fabs(found[k] - pi[k]) < 0.06, "share %g of state %d, probability %g",
                      found[k], k, pi[k]);
    }
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* All particles are in one shard, and the same bits come out for any number of threads. */
START_TEST(runs_do_not_depend_on_threads)
{
    static const char *const samplers[] = { "r-mala", "r-hmc", "d-svgd" };
    pair p = { { 1, -0.6 }, 0.5, false, false };
    sal_model *model = pair_model(&p);
    for (int s = 0; s < 3; s++) {
        double kept[2][80 * 30];
        for (int k = 0; k < 2; k++) {
            sal_run_options options = {
                .sampler = samplers[s], .chains = 80, .warmup = 30, .draws = 30, .threads = 1 + k
            };
            sal_run *run = NULL;
            sal_error err;
            ck_ok(sal_sample(model, &options, &run, &err), &err);
            ck_assert_int_eq(run->n_shards == 1, s == 2);
            memcpy(kept[k], sal_run_log_probs(run), sizeof kept[k]);
            sal_run_destroy(run);
        }
        ck_assert_mem_eq(kept[0], kept[1], sizeof kept[0]);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(baselines_and_unadjusted_samplers_say_that_they_are_not_exact)
{
    static const char *const names[] = { "dula", "una", "r-mala", "r-hmc", "d-svgd" };
    sal_sampler_info info;
    int found = 0;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        for (int n = 0; n < 5; n++) {
            found += strcmp(info.name, names[n]) == 0 && !info.exact;
        }
    }
    ck_assert_int_eq(found, 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("relaxations");
    TCase *tcase = tcase_create("relaxations");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, relaxed_chains_draw_the_thresholded_density, 0, 2);
    tcase_add_loop_test(tcase, small_steps_are_nearly_always_accepted, 0, 2);
    tcase_add_test(tcase, one_leapfrog_step_is_mala);
    tcase_add_test(tcase, spins_with_four_times_the_step_give_the_same_chain);
    tcase_add_test(tcase, points_are_kept_while_the_codes_are_theirs);
    tcase_add_test(tcase, points_are_made_from_codes);
    tcase_add_test(tcase, forbidden_states_are_not_entered);
    tcase_add_test(tcase, stein_particles_spread_over_the_target);
    tcase_add_test(tcase, runs_do_not_depend_on_threads);
    tcase_add_test(tcase, baselines_and_unadjusted_samplers_say_that_they_are_not_exact);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
