/* SPDX-License-Identifier: MIT */
/* Parallel tempering: balance of swaps, what comes out of tempered runs, the ladder. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <saltus/io.h>
#include "run/parts/step_size.h"
#include "run/parts/tempering.h"
#include "run_helpers.h"

#define TOLERANCE 1e-12

/* ---- the swap by itself */

static double swap_probability(const sal_space *space, double beta_a, double beta_b, double f_a,
                               double f_b)
{
    return sali_swap_probability(space, sali_swap_log_ratio(beta_a, beta_b, f_a, f_b));
}

/* On the joint space of two replicas, for every pair of states: pi_a(i) pi_b(j) P((i,j) -> (j,i))
 * is the flow back. */
static void check_swap_balance(const sal_model *model, double beta_a, double beta_b,
                               const char *where)
{
    int64_t n = states_count(model->space);
    double f[TINY_MOST_STATES], a[TINY_MOST_STATES], b[TINY_MOST_STATES];
    states_probabilities(model, beta_a, f, a);
    states_probabilities(model, beta_b, f, b);
    states_probabilities(model, 1, f, (double[TINY_MOST_STATES]){ 0 });
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double there = a[i] * b[j] * swap_probability(model->space, beta_a, beta_b, f[i], f[j]);
            double back = a[j] * b[i] * swap_probability(model->space, beta_a, beta_b, f[j], f[i]);
            ck_assert_msg(fabs(there - back) < TOLERANCE, "%s: %d and %d: %.15g, back %.15g", where,
                          (int)i, (int)j, there, back);
            ck_assert(isfinite(f[i] + f[j]) || there == 0);
        }
    }
}

START_TEST(swaps_are_balanced_for_the_joint_target)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
            sal_model *model = tiny_models[m].make(space, SAL_F64);
            if (model) {
                check_swap_balance(model, 1, 0.6, tiny_models[m].name);
                check_swap_balance(model, 0.7, 0.05, tiny_models[m].name);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(forbidden_states_are_not_swapped)
{
    ck_assert_double_eq(sali_swap_log_ratio(1, 0.5, -INFINITY, 3), -INFINITY);
    ck_assert_double_eq(sali_swap_log_ratio(1, 0.5, 3, -INFINITY), -INFINITY);
    ck_assert_double_eq(sali_swap_log_ratio(1, 0.5, -INFINITY, -INFINITY), -INFINITY);
    ck_assert_double_eq(sali_swap_log_ratio(1, 0.25, 2, 6), 0.75 * 4);
}
END_TEST

/* Chains of 4 replicas, at all states in turn. */
typedef struct swapping {
    bench b;
    sali_swaps swaps;
    sali_memory memory; /* of the swaps */
} swapping;

static const double betas[] = { 1, 0.7, 0.4, 0.1 };

static swapping swapping_open(const sal_model *model, int64_t groups)
{
    const sali_sampler *gibbs = sali_sampler_find("gibbs");
    sali_sampler_settings settings = { .step_size = 1 };
    sal_error err;
    swapping s = { .b = bench_open(gibbs, model, &settings, 1, 4 * groups, 77) };
    for (int64_t c = 0; c < 4 * groups; c++) {
        s.b.chains->beta[c] = betas[c % 4];
        s.b.chains->id[c] = (uint32_t)c;
    }
    ck_ok(sali_swaps_create(&s.swaps, &s.memory, s.b.chains, 4, &err), &err);
    return s;
}

static void swapping_close(swapping *s)
{
    sali_memory_free(&s->memory);
    bench_close(&s->b);
}

/* The numbers of the states that chains are in, whose codes, embedding and f must agree. */
static void read_states(const sali_chains *chains, int64_t *states)
{
    int64_t V = chains->space->n_variables, N = chains->space->width;
    double f;
    double x[TINY_MOST_REALS];
    sal_error err;
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *codes = chains->codes + c * V;
        states[c] = state_of(chains->space, codes);
        ck_ok(sal_model_evaluate(chains->model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_ok(sal_space_embed(chains->space, 1, codes, x, &err), &err);
        ck_assert_double_eq_tol(chains->f[c], f, 1e-12);
        ck_assert_mem_eq((const double *)chains->x + c * N, x, (size_t)N * sizeof *x);
    }
}

/* Each pair of the parity swaps exactly if its uniform number says so; nothing else moves. */
START_TEST(pairs_swap_by_their_ratio_and_parity)
{
    enum { GROUPS = 300 };
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (int parity = 0; parity < 2; parity++) {
        swapping s = swapping_open(model, GROUPS);
        sali_chains *chains = s.b.chains;
        int64_t before[4 * GROUPS], after[4 * GROUPS], tried = 0, made = 0;
        double f[4 * GROUPS], probability = 0, sum = 0;
        read_states(chains, before);
        memcpy(f, chains->f, sizeof f);
        sali_swap(&s.swaps, chains, parity);
        read_states(chains, after);
        for (int64_t c = 0; c < 4 * GROUPS; c++) {
            if (c % 4 % 2 != parity || c % 4 == 3) {
                bool first = c % 4 == 0, last = c % 4 == 3 && parity == 1;
                ck_assert(!(first || last) || after[c] == before[c]);
                continue;
            }
            sali_stream u = sali_chains_stream(chains, c, SALI_RNG_SWAP);
            double p =
                swap_probability(model->space, betas[c % 4], betas[c % 4 + 1], f[c], f[c + 1]);
            bool swap = sali_rng_uniform_at(&u, 0) < p;
            ck_assert_int_eq(after[c], before[swap ? c + 1 : c]);
            ck_assert_int_eq(after[c + 1], before[swap ? c : c + 1]);
            tried++;
            made += swap;
            probability += p;
        }
        for (int r = 0; r < 3; r++) {
            ck_assert_int_eq(s.swaps.tried[r], r % 2 == parity ? GROUPS : 0);
            tried -= s.swaps.tried[r];
            made -= s.swaps.made[r];
            sum += s.swaps.probability[r];
        }
        ck_assert_int_eq(tried, 0);
        ck_assert_int_eq(made, 0);
        ck_assert_double_eq_tol(sum, probability, 1e-9);
        swapping_close(&s);
    }
    sal_model_destroy(model);
}
END_TEST

/* A walker that went up to the hottest slot and came back has made one round trip. */
START_TEST(round_trips_are_counted)
{
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    swapping s = swapping_open(model, 1);
    for (int64_t c = 0; c < 4; c++) {
        s.b.chains->beta[c] = 1; /* all swaps are made */
    }
    for (int k = 0; k < 8; k++) { /* each state goes round in 8 swaps */
        sali_swap(&s.swaps, s.b.chains, k % 2);
    }
    int64_t once = s.swaps.round_trips; /* of those that were not at the hot end too late */
    ck_assert(once >= 1 && once <= 4);
    for (int k = 0; k < 8; k++) {
        sali_swap(&s.swaps, s.b.chains, k % 2);
    }
    ck_assert_int_eq(s.swaps.round_trips - once, 4); /* from now on all four */
    swapping_close(&s);
    sal_model_destroy(model);
}
END_TEST

/* ---- steps and swaps together */

/* The distribution over the joint states of three replicas. */
typedef struct joint {
    int64_t n;
    double *p; /* [n^3] */
} joint;

static const double three[] = { 1, 0.6, 0.2 };

/* One step of replica r by the matrix P. */
static void step_replica(joint *j, int r, const double *P)
{
    int64_t n = j->n, stride = r == 0 ? n * n : r == 1 ? n : 1;
    double *row = malloc((size_t)n * sizeof *row);
    for (int64_t base = 0; base < n * n * n; base++) {
        if (base / stride % n != 0) {
            continue;
        }
        for (int64_t to = 0; to < n; to++) {
            row[to] = 0;
            for (int64_t from = 0; from < n; from++) {
                double p = j->p[base + from * stride];
                row[to] += p > 0 ? p * P[from * n + to] : 0;
            }
        }
        for (int64_t to = 0; to < n; to++) {
            j->p[base + to * stride] = row[to];
        }
    }
    free(row);
}

/* The swap of replicas r and r + 1. */
static void swap_replicas(const sal_space *space, joint *j, int r, const double *f)
{
    int64_t n = j->n, stride = r == 0 ? n * n : n, next = r == 0 ? n : 1;
    for (int64_t at = 0; at < n * n * n; at++) {
        int64_t a = at / stride % n, b = at / next % n, other = at + (b - a) * (stride - next);
        if (a < b) { /* each pair of states once */
            double there = j->p[at] * swap_probability(space, three[r], three[r + 1], f[a], f[b]);
            double back = j->p[other] * swap_probability(space, three[r], three[r + 1], f[b], f[a]);
            j->p[at] += back - there;
            j->p[other] += there - back;
        }
    }
}

static void fill_product(joint *j, double pi[3][TINY_MOST_STATES])
{
    int64_t n = j->n;
    for (int64_t at = 0; at < n * n * n; at++) {
        j->p[at] = pi[0][at / (n * n)] * pi[1][at / n % n] * pi[2][at % n];
    }
}

/* A sweep of steps, even swaps, a sweep, odd swaps: the product target stays what it is. */
static void check_composition(const sali_sampler *sampler, const sal_model *model,
                              const sali_sampler_settings *settings)
{
    joint j = { .n = states_count(model->space) }, target = { .n = j.n };
    int64_t cube = j.n * j.n * j.n, pieces = pieces_of(sampler, model, settings);
    double pi[3][TINY_MOST_STATES], f[TINY_MOST_STATES];
    j.p = malloc((size_t)cube * sizeof *j.p);
    target.p = malloc((size_t)cube * sizeof *target.p);
    for (int r = 0; r < 3; r++) {
        states_probabilities(model, three[r], f, pi[r]);
    }
    states_probabilities(model, 1, f, pi[0]);
    fill_product(&j, pi);
    fill_product(&target, pi);
    for (int parity = 0; parity < 2; parity++) {
        for (int64_t piece = 0; piece < pieces; piece++) {
            for (int r = 0; r < 3; r++) {
                transition t = transition_make(sampler, model, settings, three[r], (uint64_t)piece);
                step_replica(&j, r, t.P);
                transition_free(&t);
            }
        }
        swap_replicas(model->space, &j, parity, f);
        for (int64_t at = 0; at < cube; at++) {
            ck_assert_msg(fabs(j.p[at] - target.p[at]) < TOLERANCE, "%s: %.15g, expected %.15g",
                          sampler->name, j.p[at], target.p[at]);
        }
    }
    free(j.p);
    free(target.p);
}

START_TEST(steps_and_swaps_leave_the_product_invariant)
{
    sal_model *model = tiny_formula_over("label", SAL_F64);
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sali_sampler_settings settings;
        char text[96];
        settings_at(sampler, model->space, 0, &settings, text, sizeof text);
        if (can_be_tempered(sampler) && has_matrix(sampler) &&
            sali_sampler_check(sampler, &settings, model, NULL) == SAL_OK) {
            check_composition(sampler, model, &settings);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- whole runs */

/* The last states of many chains are independent: with 7 samplers or more, a correct one fails with
 * a probability of about 1e-5 over the choice of seed. */
START_TEST(tempered_draws_follow_the_target)
{
    static const double temperatures[] = { 1, 1.6, 4 };
    const char *spaces[] = { "mixed", "factors" };
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_space *space = tiny_space_make(tiny_space_named(spaces[_i]));
        sal_model *model = _i ? tiny_tables(space, SAL_F64) : tiny_formula(space, SAL_F64);
        sal_run_options options = {
            .sampler = sampler->name,
            .chains = TEST_CHAINS(1500),
            .warmup = 120,
            .draws = 1,
            .tempering = { .replicas = 3, .temperatures = temperatures, .swap_every = 3 },
            .threads = 1,
            .seed = 12
        };
        if (can_be_tempered(sampler) && sali_sampler_serves(sampler, model)) {
            sal_run *run = run_it(model, &options);
            double p = last_states_p(model, run);
            ck_assert_msg(p > 1e-6, "%s: p = %g", sampler->name, p);
            ck_assert(isfinite(sal_run_log_probs(run)[0]));
            sal_run_destroy(run);
        }
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* What is kept of a chain's way stays at its temperature when states are exchanged. */
START_TEST(tempered_draws_with_momentum_follow_the_target)
{
    static const char *const samplers[] = { "avg:momentum=0.8,correction=0.5",
                                            "pavg:momentum=0.8,correction=0.5" };
    static const double temperatures[] = { 1, 1.6, 4 };
    sal_space *space = tiny_space_make(tiny_space_named("factors"));
    sal_model *model = tiny_tables(space, SAL_F64);
    sal_run_options options = {
        .sampler = samplers[_i],
        .chains = TEST_CHAINS(3000),
        .warmup = 120,
        .draws = 1,
        .tempering = { .replicas = 3, .temperatures = temperatures, .swap_every = 3 },
        .threads = 1,
        .seed = 12
    };
    sal_run *run = run_it(model, &options);
    double p = last_states_p(model, run);
    ck_assert_msg(p > 1e-6, "%s: p = %g", samplers[_i], p);
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* A lattice with two modes of unlike weight, which differ in all variables; chains start in the
 * lighter one. */
static sal_model *two_modes(double *magnetisation)
{
    enum { V = 9 };
    sal_model *model = NULL;
    sal_error err;
    double total = 0, weighted = 0;
    ck_ok(sal_model_open("ising:side=3,theta=0.45,bias=0.08", SAL_F64, &model, &err), &err);
    for (int32_t i = 0; i < 1 << V; i++) {
        int32_t codes[V];
        double f, sum = 0;
        for (int v = 0; v < V; v++) {
            codes[v] = i >> v & 1;
            sum += codes[v] / (double)V;
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        total += exp(f);
        weighted += exp(f) * sum;
    }
    *magnetisation = weighted / total;
    return model;
}

static double mean_of_codes(const sal_run *run)
{
    double marginals[32], sum = 0;
    sal_error err;
    ck_ok(sal_run_marginals(run, marginals, &err), &err);
    for (int v = 0; v < 9; v++) {
        sum += marginals[2 * v + 1] / 9;
    }
    return sum;
}

START_TEST(tempering_crosses_between_modes)
{
    double exact;
    static const int32_t init[4 * 9] = { 0 };
    sal_model *model = two_modes(&exact);
    sal_run_options options = {
        .sampler = "gibbs", .draws = 4000, .init = init, .thin = 9, .threads = 1
    };
    sal_run *plain = run_it(model, &options);
    ck_assert_double_gt(exact, 0.75);
    ck_assert_double_gt(exact - mean_of_codes(plain), 0.3);
    sal_run_destroy(plain);
    options.tempering.replicas = 6;
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert_double_eq_tol(mean_of_codes(run), exact, 0.02);
    ck_assert_double_lt(s.rhat_max, 1.05);
    ck_assert_double_gt(s.round_trips, 50);
    ck_assert_int_eq(s.replicas, 6);
    ck_assert(s.temperatures[0] == 1 && s.temperatures[5] > 2);
    char text[SAL_ERROR_SIZE];
    ck_assert(!sal_run_warning(&s, text, sizeof text));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(swap_rates_are_even)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=8,theta=0.3", SAL_F32, &model, &err), &err);
    for (int64_t replicas = 8; replicas <= 14; replicas += 6) {
        sal_run_options options = {
            .sampler = "gibbs", .tempering.replicas = replicas, .chains = 8, .threads = 1
        };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        for (int64_t r = 0; r + 1 < replicas; r++) {
            double mean = 1 - s.barrier / (double)(replicas - 1);
            ck_assert_msg(fabs(s.swap_rates[r] - mean) < 0.1, "pair %d: %g, mean %g", (int)r,
                          s.swap_rates[r], mean);
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* What was counted at rates of 0.8, 0.5 and 0.3, with f of this deviation at the hot end. */
static void count_swaps(sali_swaps *swaps, double deviation)
{
    static const double rates[] = { 0.8, 0.5, 0.3 };
    for (int r = 0; r < 3; r++) {
        swaps->tried[r] = 1000;
        swaps->probability[r] = 1000 * rates[r];
    }
    swaps->f_count = 101;
    swaps->f_sum = 0;
    swaps->f_squares = 100 * deviation * deviation;
}

/* The first update takes the hot end, wherever it is, and a geometric ladder; the second one shares
 * the rejection evenly up to the same end, cooler or hotter than before. */
START_TEST(the_ladder_reaches_to_its_hot_end)
{
    static const double deviations[] = { 1.5, 4, 60, 400 };
    const double barrier[] = { 0, 0.2, 0.7, 1.4 };
    sal_space *space = tiny_space_make(&tiny_spaces[0]);
    sal_model *model = tiny_models[0].make(space, SAL_F64);
    for (int k = 0; k < 4; k++) {
        swapping s = swapping_open(model, 1);
        sali_swaps *const all[] = { &s.swaps };
        sali_ladder ladder = { 0 };
        sal_error err;
        ck_ok(sali_ladder_create(&ladder, &s.memory, 4, NULL, &err), &err);
        count_swaps(&s.swaps, deviations[k]);
        sali_ladder_update(&ladder, 1, all);
        const double last = ladder.beta[3];
        ck_assert_double_eq_tol(last, 0.5 / deviations[k], 1e-12); /* f / T varies by 1/2 */
        ck_assert_double_eq_tol(ladder.beta[1], cbrt(last), 1e-12);
        memcpy(ladder.beta, betas, sizeof betas);
        count_swaps(&s.swaps, deviations[k]);
        sali_ladder_update(&ladder, 1, all);
        ck_assert_double_eq(ladder.beta[0], 1);
        ck_assert_double_eq_tol(ladder.beta[3], last, 1e-12);
        /* each part of the way has as much of the barrier, linear in log beta on either ladder */
        double at[4];
        for (int r = 0; r < 4; r++) {
            int i = 0;
            while (i < 2 && betas[i + 1] > ladder.beta[r]) {
                i++;
            }
            at[r] = barrier[i] + (barrier[i + 1] - barrier[i]) * log(betas[i] / ladder.beta[r]) /
                                     log(betas[i] / betas[i + 1]);
        }
        ck_assert_double_eq_tol(at[1], at[3] / 3, 1e-12);
        ck_assert_double_eq_tol(at[2], at[3] * 2 / 3, 1e-12);
        swapping_close(&s);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(too_few_replicas_are_reported)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=10,theta=0.5", SAL_F32, &model, &err), &err);
    sal_run_options options = {
        .sampler = "gibbs", .tempering.replicas = 2, .draws = 200, .threads = 1
    };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    char text[SAL_ERROR_SIZE];
    ck_assert(sal_run_warning(&s, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "swap too rarely"));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(same_bits_on_any_number_of_threads)
{
    static const int threads[] = { 1, 2, 7 };
    sal_model *model = tiny_formula_over("mixed", SAL_F32);
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_run_options options = { .sampler = sampler->name,
                                    .chains = 50,
                                    .warmup = 100,
                                    .draws = 60,
                                    .thin = 1,
                                    .tempering = { .replicas = 3, .swap_every = 2 },
                                    .record.draws = true,
                                    .seed = 4 };
        sal_run *runs[3];
        for (int t = 0; can_be_tempered(sampler) && sali_sampler_serves(sampler, model) && t < 3;
             t++) {
            int bytes;
            options.threads = threads[t];
            runs[t] = run_it(model, &options);
            sal_run_summary first = summary_of(runs[0]), s = summary_of(runs[t]);
            ck_assert_mem_eq(sal_run_draws(runs[0], &bytes), sal_run_draws(runs[t], &bytes),
                             50 * 60 * 7);
            ck_assert_mem_eq(sal_run_log_probs(runs[0]), sal_run_log_probs(runs[t]),
                             50 * 60 * sizeof(double));
            ck_assert_mem_eq(first.temperatures, s.temperatures, 3 * sizeof(double));
            ck_assert_mem_eq(first.swap_rates, s.swap_rates, 2 * sizeof(double));
            ck_assert_mem_eq(sali_run_step_sizes(runs[0])->value,
                             sali_run_step_sizes(runs[t])->value, 3 * sizeof(double));
        }
        for (int t = 0; can_be_tempered(sampler) && sali_sampler_serves(sampler, model) && t < 3;
             t++) {
            sal_run_destroy(runs[t]);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* The chains that are drawn from have the temperature 1, their replicas those of the ladder, to the
 * end; one replica is no tempering. */
/* Ladders of few chains are cut into parts, which shards have; those of many chains are whole. The
 * first chains have the same random streams in both: their draws are the same. */
START_TEST(cut_ladders_draw_what_whole_ones_do)
{
    enum { REPLICAS = 36, DRAWS = 160 };
    static const char *const samplers[] = { "gibbs", "ncg" };
    double temperatures[REPLICAS];
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=4,theta=0.4", SAL_F64, &model, &err), &err);
    for (int r = 0; r < REPLICAS; r++) {
        temperatures[r] = pow(1.07, r);
    }
    for (int k = 0; k < 4; k++) {
        sal_run_options options = {
            .sampler = samplers[k / 2],
            .step_size = k / 2 ? 0.3 : 0,
            .chains = 1 + k % 2,
            .draws = DRAWS,
            .warmup = 40,
            .tempering = { .replicas = REPLICAS, .temperatures = temperatures, .swap_every = 3 },
            .record.draws = true,
            .threads = 2
        };
        const int64_t chains = options.chains;
        sal_run *cut = run_it(model, &options);
        options.chains = 32;
        sal_run *whole = run_it(model, &options);
        ck_assert(sali_run_has_seams(cut) && !sali_run_has_seams(whole));
        ck_assert_int_gt(cut->n_shards, chains);
        for (int64_t at = 0; at < chains * DRAWS; at++) {
            for (int64_t v = 0; v < 16; v++) {
                const int64_t c = at / DRAWS, draw = at % DRAWS;
                ck_assert_msg(sali_run_draw(cut, c, draw, v) == sali_run_draw(whole, c, draw, v),
                              "%s, %d chains: draw %d of chain %d", options.sampler, (int)chains,
                              (int)draw, (int)c);
            }
        }
        ck_assert_double_gt(summary_of(cut).round_trips, 0);
        ck_assert_double_gt(summary_of(cut).swap_rate_min, 0.3);
        sal_run_destroy(cut);
        sal_run_destroy(whole);
    }
    sal_model_destroy(model);
}
END_TEST

/* What is tuned for draws is learned at temperature 1, which one part of the ladder has. */
START_TEST(parts_of_a_ladder_learn_from_the_coldest_slot)
{
    static const char *const samplers[] = { "gibbs:scan=adaptive", "lsb1", "pavg",
                                            "gwg:hops=adapt" };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ordinal-poly4:dim=3", SAL_F64, &model, &err), &err);
    for (int k = 0; k < 4; k++) {
        const sal_run_options options = { .sampler = samplers[k],
                                          .chains = 1,
                                          .draws = 20,
                                          .warmup = 400,
                                          .tempering.replicas = 40,
                                          .threads = 2 };
        sal_run *run = run_it(model, &options);
        ck_assert(sali_run_has_seams(run) && run->n_shards == 2);
        for (int64_t shard = 0; shard < 2; shard++) {
            ck_assert_double_eq(sali_chains_coldest(run->shards[shard].chains), 1);
        }
        ck_assert_double_lt(run->shards[1].chains->beta[0], 1);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(slots_keep_their_temperatures)
{
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    sal_run_options options = {
        .sampler = "ncg", .chains = 5, .tempering.replicas = 4, .draws = 50
    };
    sal_run *run = run_it(model, &options);
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_chains *chains = run->shards[k].chains;
        for (int64_t c = 0; c < chains->n; c++) {
            ck_assert_double_eq(chains->beta[c], sali_run_ladder(run)->beta[c % 4]);
            ck_assert_double_eq(chains->step_size[c], sali_run_step_sizes(run)->value[c % 4]);
            ck_assert_uint_eq(chains->id[c], (uint32_t)(run->shards[k].first * 4 + c));
        }
    }
    ck_assert_double_eq(sali_run_ladder(run)->beta[0], 1);
    sal_run_destroy(run);
    options.tempering.replicas = 1;
    run = run_it(model, &options);
    options.tempering.replicas = 0;
    sal_run *other = run_it(model, &options);
    ck_assert_mem_eq(sal_run_log_probs(run), sal_run_log_probs(other), 5 * 50 * sizeof(double));
    ck_assert(isnan(summary_of(run).swap_rate_min));
    sal_run_destroy(run);
    sal_run_destroy(other);
    sal_model_destroy(model);
}
END_TEST

START_TEST(replicas_start_at_init_and_keep_clamped_codes)
{
    static const int64_t variables[] = { 5, 1 };
    static const int32_t codes[] = { 2, 1 };
    static const int32_t init[2 * 7] = { 1, 1, 1, 3, 1, 2, 0, 0, 1, 0, 2, 0, 2, 0 };
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_run_options options = { .sampler = "gibbs",
                                .chains = 2,
                                .warmup = -1,
                                .draws = 1,
                                .thin = 1,
                                .init = init,
                                .tempering = { .replicas = 3, .swap_every = 100 },
                                .clamps = { .n = 2, .variables = variables, .codes = codes } };
    int32_t last[2 * 7];
    sal_error err;
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_last(run, last, &err), &err);
    for (int c = 0; c < 2; c++) { /* one step of Gibbs moves variable 0 only */
        ck_assert_mem_eq(last + 7 * c + 1, init + 7 * c + 1, 6 * sizeof *init);
    }
    sal_run_destroy(run);
    options.init = NULL;
    options.draws = 300;
    options.record.draws = true;
    options.tempering.swap_every = 0;
    run = run_it(model, &options);
    int bytes;
    const uint8_t *draws = sal_run_draws(run, &bytes);
    for (int64_t d = 0; d < 2 * 300; d++) {
        ck_assert(draws[7 * d + 5] == 2 && draws[7 * d + 1] == 1);
    }
    ck_ok(sal_run_last(run, last, &err), &err);
    for (int v = 0; v < 7; v++) {
        ck_assert_int_eq(last[7 + v], draws[(300 + 299) * 7 + v]);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(mistakes_are_named)
{
    static const double falling[] = { 1, 3, 2 }, cold[] = { 0.5, 1 }, nan[] = { 1, NAN };
    const struct {
        sal_run_options options;
        const char *text;
    } cases[] = {
        { { .tempering.replicas = -1 }, "replicas" },
        { { .tempering.replicas = 1001 }, "replicas" },
        { { .tempering = { .replicas = 3, .temperatures = falling } }, "number 3 is 2" },
        { { .tempering = { .replicas = 2, .temperatures = cold } }, "number 1 is 0.5" },
        { { .tempering = { .replicas = 2, .temperatures = nan } }, "temperatures" },
        { { .tempering.temperatures = falling }, "replicas is 0" },
        { { .tempering = { .replicas = 2, .swap_every = -1 } }, "swap_every" },
        { { .tempering.replicas = 2, .annealing.on = true }, "not both" },
        { { .tempering.replicas = 1000, .chains = INT64_C(1) << 31 }, "chains" },
    };
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run_refused(model, &cases[k].options, SAL_ERR_ARGUMENT, cases[k].text);
    }
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_run_options options = { .sampler = sampler->name, .tempering.replicas = 2 };
        if (!can_be_tempered(sampler) && sali_sampler_serves(sampler, model)) {
            run_refused(model, &options, SAL_ERR_UNSUPPORTED, sampler->name);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- real networks (UAI evaluations), whose modes plain Gibbs does not join */

static double marginal_error(const sal_run *run, const char *path);

START_TEST(real_networks_are_sampled_right)
{
    static const struct {
        const char *name;
        int64_t replicas, warmup, draws;
    } cases[] = { { "DBN_11", 12, 1000, 4000 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char path[64], exact[64];
        snprintf(path, sizeof path, "data/uai/%s.uai", cases[k].name);
        snprintf(exact, sizeof exact, "data/uai/%s.mar.json", cases[k].name);
        const char *found = test_data(path);
        if (!found) {
            return;
        }
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(found, 0, &model, &err), &err);
        sal_run_options options = { .sampler = "gibbs",
                                    .tempering.replicas = cases[k].replicas,
                                    .draws = cases[k].draws };
        sal_run *run = run_it(model, &options);
        double error = marginal_error(run, test_data(exact));
        ck_assert_msg(error < 0.02, "%s: mean absolute error %g", cases[k].name, error);
        ck_assert_double_lt(summary_of(run).rhat_max, 1.1);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* Mean absolute error of marginals of variables with two states, against the file's. */
static double marginal_error(const sal_run *run, const char *path)
{
    static double marginals[4096], exact[4096];
    int64_t chains, draws, V, n = 0;
    double sum = 0;
    sal_error err;
    FILE *file = fopen(path, "r");
    int c;
    ck_assert_ptr_nonnull(file);
    while ((c = fgetc(file)) != EOF && c != ']') { /* to the lists: "marginals": [[p, q], .. */
        if (c == '[' && fscanf(file, " [%lf , %lf]", &exact[n], &exact[n + 1]) == 2) {
            for (n += 2; fscanf(file, " , [%lf , %lf]", &exact[n], &exact[n + 1]) == 2; n += 2) {
            }
            break;
        }
    }
    fclose(file);
    sal_run_size(run, &chains, &draws, &V);
    ck_assert_int_eq(n, 2 * V);
    ck_ok(sal_run_marginals(run, marginals, &err), &err);
    for (int64_t k = 0; k < n; k++) {
        sum += fabs(marginals[k] - exact[k]) / (double)n;
    }
    return sum;
}

static Suite *tempering_suite(void)
{
    Suite *suite = suite_create("tempering");
    TCase *tcase = statistics_create("swaps");
    tcase_set_timeout(tcase, 240);
    tcase_add_test(tcase, swaps_are_balanced_for_the_joint_target);
    tcase_add_test(tcase, forbidden_states_are_not_swapped);
    tcase_add_test(tcase, pairs_swap_by_their_ratio_and_parity);
    tcase_add_test(tcase, round_trips_are_counted);
    tcase_add_test(tcase, steps_and_swaps_leave_the_product_invariant);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("runs");
    tcase_set_timeout(tcase, 240);
    tcase_add_loop_test(tcase, tempered_draws_follow_the_target, 0, 2);
    tcase_add_loop_test(tcase, tempered_draws_with_momentum_follow_the_target, 0, 2);
    tcase_add_test(tcase, tempering_crosses_between_modes);
    tcase_add_test(tcase, swap_rates_are_even);
    tcase_add_test(tcase, the_ladder_reaches_to_its_hot_end);
    tcase_add_test(tcase, too_few_replicas_are_reported);
    tcase_add_test(tcase, real_networks_are_sampled_right);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("threads");
    tcase_set_timeout(tcase, 240);
    tcase_add_test(tcase, same_bits_on_any_number_of_threads);
    tcase_add_test(tcase, cut_ladders_draw_what_whole_ones_do);
    tcase_add_test(tcase, parts_of_a_ladder_learn_from_the_coldest_slot);
    tcase_add_test(tcase, slots_keep_their_temperatures);
    tcase_add_test(tcase, replicas_start_at_init_and_keep_clamped_codes);
    tcase_add_test(tcase, mistakes_are_named);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(tempering_suite());
}
