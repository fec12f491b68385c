/* SPDX-License-Identifier: MIT */
/* Samplers on counts, above all on those without a cap, whose states cannot be listed. */
#include "count_helpers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "alloc_fail.h"
#include "chi_square.h"
#include "models/states.h"
#include "samplers/start.h"
#include "stats/rhat.h"
#include "transition.h"

/* ---- gwg without a cap: one variable, codes 0 .. RANGE - 1 */

#define RANGE 24

/* Chains c at codes c mod RANGE of the first variable and 1 of all others. */
static sali_chains *chains_on_a_line(const sal_model *model, const sali_sampler *sampler, int64_t n,
                                     double beta, void **self)
{
    sal_error err;
    sali_chains *chains = NULL;
    sali_sampler_settings settings = { .step_size = 1 };
    ck_ok(sali_specification_values(sampler->name, sampler->settings, settings.values, &err), &err);
    ck_ok(sali_chains_create(model, n, sali_sampler_wants(sampler), 31415, &chains, &err), &err);
    ck_ok(sali_sampler_open(sampler, &settings, NULL, chains, self, &err), &err);
    int64_t V = model->space->n_variables;
    for (int64_t c = 0; c < n; c++) {
        for (int64_t v = 0; v < V; v++) {
            chains->codes[c * V + v] = v == 0 ? (int32_t)(c % RANGE) : 1;
        }
        chains->id[c] = (uint32_t)c;
        chains->beta[c] = beta;
    }
    sali_chains_embed(chains);
    sali_engine(sampler)->refresh(*self, chains);
    return chains;
}

/* log q of the first variable going from code x to x + shift, by the text: the softmax of half the
 * first-order differences over the moves that exist. */
static double log_q_by_the_text(const sal_model *model, double beta, int32_t x, int shift)
{
    int64_t V = model->space->n_variables;
    int32_t codes[4] = { x, 1, 1, 1 };
    double gradient[4], f, sum = 0;
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, gradient, NULL, &err), &err);
    for (int64_t v = 0; v < V; v++) {
        sum += exp(beta * gradient[v] / 2) + (codes[v] > 0 ? exp(-beta * gradient[v] / 2) : 0);
    }
    return x + shift < 0 ? -INFINITY : beta * gradient[0] * shift / 2 - log(sum);
}

/* log q(x -> x + shift) of the sampler, for chains that sit at x = 0 .. RANGE - 1. */
static void log_q_of(const sali_sampler *sampler, void *self, sali_chains *chains, int shift,
                     double *log_q)
{
    int64_t V = chains->space->n_variables;
    int32_t to[RANGE * 4];
    memcpy(to, chains->codes, (size_t)(RANGE * V) * sizeof *to);
    for (int64_t c = 0; c < RANGE; c++) {
        to[c * V] += shift;
    }
    sali_engine(sampler)->log_q(self, chains, to, log_q);
}

static void check_neighbours(const sal_model *model, double beta, double tolerance)
{
    const sali_sampler *gwg = sali_sampler_find("gwg");
    void *self = NULL;
    double up[RANGE], down[RANGE], far[RANGE], stay[RANGE];
    sali_chains *chains = chains_on_a_line(model, gwg, RANGE, beta, &self);
    log_q_of(gwg, self, chains, 1, up);
    log_q_of(gwg, self, chains, -1, down);
    log_q_of(gwg, self, chains, 2, far);
    log_q_of(gwg, self, chains, 0, stay);
    for (int32_t x = 0; x < RANGE; x++) {
        ck_assert_double_eq_tol(up[x], log_q_by_the_text(model, beta, x, 1), tolerance);
        ck_assert_double_eq(far[x], -INFINITY);
        ck_assert_double_eq(stay[x], -INFINITY);
        if (x > 0) {
            ck_assert_double_eq_tol(down[x], log_q_by_the_text(model, beta, x, -1), tolerance);
        }
    }
    ck_assert_double_eq(down[0], -INFINITY);
    sali_engine(gwg)->destroy(self);
    sali_chains_destroy(chains);
}

START_TEST(proposals_are_those_of_the_paper)
{
    const char *specs[] = { "poisson:dim=1,rate=6", "poisson:dim=3,rate=2.5,interaction=0.3" };
    for (int k = 0; k < 2; k++) {
        sal_model *model = builtin(specs[k], SAL_F64), *single = builtin(specs[k], SAL_F32);
        check_neighbours(model, 1, 1e-12);
        check_neighbours(model, 0.6, 1e-12);
        check_neighbours(single, 1, 1e-4);
        sal_model_destroy(model);
        sal_model_destroy(single);
    }
}
END_TEST

/* Probabilities of one step from x down, up, and of staying, by Metropolis-Hastings; f is that of
 * the Poisson distribution itself, without the library. */
static void exact_step(const sal_model *model, double rate, double beta, int32_t x, double *p)
{
    p[2] = 1;
    for (int k = 0; k < 2; k++) {
        int shift = k ? 1 : -1;
        double q = exp(log_q_by_the_text(model, beta, x, shift)), rise;
        if (x + shift < 0) {
            p[k] = 0;
            continue;
        }
        rise = beta * (k ? log(rate / (x + 1)) : log(x / rate));
        double back = log_q_by_the_text(model, beta, x + shift, -shift);
        p[k] = 0.75 * q * fmin(1, exp(rise + back) / q); /* 1 / (4 V) of the steps stay */
        p[2] -= p[k];
    }
}

/* One step from each of many chains, against the exact probabilities; and those against detailed
 * balance with the Poisson weights. */
static void check_steps(sal_dtype dtype, double beta)
{
    enum { REPLICAS = 2000, N = RANGE * REPLICAS };
    const double rate = 6;
    const sali_sampler *gwg = sali_sampler_find("gwg");
    sal_model *model = builtin("poisson:dim=1,rate=6", dtype);
    sal_model *exact = builtin("poisson:dim=1,rate=6", SAL_F64);
    void *self = NULL;
    double counts[RANGE][3] = { { 0 } }, fisher = 0, flow = 0;
    sali_chains *chains = chains_on_a_line(model, gwg, N, beta, &self);
    sali_engine(gwg)->step(self, chains);
    ck_assert_int_eq(chains->bad_chain, -1);
    for (int64_t c = 0; c < N; c++) {
        int32_t x = (int32_t)(c % RANGE), moved = chains->codes[c] - x;
        ck_assert_int_le(abs(moved), 1);
        counts[x][moved == 0 ? 2 : moved > 0]++;
    }
    for (int32_t x = 0; x < RANGE; x++) {
        double p[3], expected[3], log_pi = beta * (x * log(rate) - lgamma(x + 1.0));
        exact_step(exact, rate, beta, x, p);
        if (x > 0) {
            ck_assert_double_eq_tol(flow, exp(log_pi) * p[0], 1e-12 * flow);
        }
        flow = exp(log_pi) * p[1];
        for (int k = 0; k < 3; k++) { /* 1 minus a sum: rounding is not a possible move */
            expected[k] = p[k] > 1e-12 ? p[k] * REPLICAS : 0;
        }
        double value = chi_square_p(3, counts[x], expected);
        ck_assert_msg(value > 1e-6 / RANGE, "from %d: p = %g", x, value);
        fisher -= 2 * log(value);
    }
    ck_assert_double_gt(chi_square_survival(2 * RANGE, fisher), 1e-6);
    sali_engine(gwg)->destroy(self);
    sali_chains_destroy(chains);
    sal_model_destroy(model);
    sal_model_destroy(exact);
}

START_TEST(steps_follow_the_exact_probabilities)
{
    check_steps(SAL_F64, 1);
    check_steps(SAL_F64, 0.6);
    check_steps(SAL_F32, 1);
}
END_TEST

START_TEST(counts_stop_at_the_largest_code)
{
    enum { N = 200 };
    const sali_sampler *gwg = sali_sampler_find("gwg");
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    void *self = NULL;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "n", .kind = SAL_COUNT, .count = 1 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F32);
    sal_expr f = sal_sum(sal_scale(sal_state(tape), 0.5));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sali_chains *chains = chains_on_a_line(model, gwg, N, 1, &self);
    for (int64_t c = 0; c < N; c++) {
        chains->codes[c] = SAL_COUNT_MOST - 1;
    }
    sali_chains_embed(chains);
    sali_engine(gwg)->refresh(self, chains);
    int stayed = 0;
    for (int step = 0; step < 20; step++) {
        sali_engine(gwg)->step(self, chains);
        for (int64_t c = 0; c < N; c++) {
            ck_assert_int_le(chains->codes[c], SAL_COUNT_MOST);
            stayed += chains->codes[c] == SAL_COUNT_MOST;
        }
    }
    ck_assert_int_gt(stayed, 0);
    ck_assert_int_eq(chains->bad_chain, -1);
    sali_engine(gwg)->destroy(self);
    sali_chains_destroy(chains);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* ---- all samplers that need no cap, against themselves under a cap that is out of reach */

#define FAR_CHAINS 24
#define FAR_STEPS 40

static bench bench_on_counts(const sali_sampler *sampler, const sal_model *model,
                             const sali_sampler_settings *settings)
{
    bench b = { .sampler = sampler };
    sal_error err;
    ck_ok(sali_chains_create(model, FAR_CHAINS, sali_sampler_wants(sampler), 2718, &b.chains, &err),
          &err);
    if (sali_engine(sampler)->share) {
        ck_ok(sali_sampler_share(sampler, model, settings, &b.shared, &err), &err);
    }
    ck_ok(sali_sampler_open(sampler, settings, b.shared, b.chains, &b.self, &err), &err);
    int64_t V = model->space->n_variables;
    for (int64_t c = 0; c < FAR_CHAINS; c++) {
        for (int64_t v = 0; v < V; v++) {
            b.chains->codes[c * V + v] = (int32_t)((c + 2 * v) % 5); /* 0: the border */
        }
        b.chains->id[c] = (uint32_t)c;
        b.chains->beta[c] = c % 2 ? 0.6 : 1;
    }
    sali_chains_embed(b.chains);
    sali_engine(sampler)->refresh(b.self, b.chains);
    return b;
}

/* log q of moves of one variable by -2 .. 2 from where the chains are. */
static void same_proposals(bench *open, bench *capped, const char *where)
{
    int64_t V = open->chains->space->n_variables, n = FAR_CHAINS * V;
    int32_t to[FAR_CHAINS * 4];
    for (int k = 0; k < 5 * V; k++) {
        double one[FAR_CHAINS], other[FAR_CHAINS];
        memcpy(to, open->chains->codes, (size_t)n * sizeof *to);
        for (int64_t at = k / 5; at < n; at += V) {
            to[at] = to[at] + k % 5 > 2 ? to[at] + k % 5 - 2 : 0;
        }
        sali_engine(open->sampler)->log_q(open->self, open->chains, to, one);
        sali_engine(capped->sampler)->log_q(capped->self, capped->chains, to, other);
        for (int c = 0; c < FAR_CHAINS; c++) {
            ck_assert_msg(one[c] == other[c] || fabs(one[c] - other[c]) < 1e-11,
                          "%s, chain %d: log q %g, with a cap %g", where, c, one[c], other[c]);
        }
    }
}

static void same_steps(bench *open, bench *capped, const char *where)
{
    int64_t n = FAR_CHAINS * open->chains->space->n_variables, moved = 0;
    for (int step = 0; step < FAR_STEPS; step++) {
        sali_engine(open->sampler)->step(open->self, open->chains);
        sali_engine(capped->sampler)->step(capped->self, capped->chains);
        for (int64_t k = 0; k < n; k++) {
            ck_assert_msg(open->chains->codes[k] == capped->chains->codes[k],
                          "%s, step %d: code %d, with a cap %d", where, step,
                          open->chains->codes[k], capped->chains->codes[k]);
        }
        for (int c = 0; c < FAR_CHAINS; c++) {
            double one = open->chains->log_ratio[c], other = capped->chains->log_ratio[c];
            ck_assert_msg(one == other || fabs(one - other) < 1e-10,
                          "%s, step %d: log ratio %g, with a cap %g", where, step, one, other);
            moved += open->chains->accepted[c];
        }
    }
    ck_assert_int_gt(moved, FAR_STEPS);
    ck_assert_int_eq(open->chains->bad_chain, -1);
}

START_TEST(without_a_cap_samplers_do_as_under_a_far_one)
{
    sal_model *open = builtin("poisson:dim=3,rate=2,interaction=0.1", SAL_F64);
    sal_model *capped = builtin("poisson:dim=3,rate=2,interaction=0.1,cap=30", SAL_F64);
    const sali_sampler *sampler;
    int cases = 0;
    for (int64_t i = 0; (sampler = sali_sampler_at(i)) != NULL; i++) {
        sali_sampler_settings settings;
        char where[96];
        for (int k = 0; settings_at(sampler, open->space, k, &settings, where, sizeof where); k++) {
            if (sali_sampler_check(sampler, &settings, open, NULL) != SAL_OK ||
                sali_sampler_check(sampler, &settings, capped, NULL) != SAL_OK) {
                continue;
            }
            bench a = bench_on_counts(sampler, open, &settings);
            bench b = bench_on_counts(sampler, capped, &settings);
            same_proposals(&a, &b, where);
            same_steps(&a, &b, where);
            bench_close(&a);
            bench_close(&b);
            cases++;
        }
    }
    ck_assert_int_gt(cases, 20);
    sal_model_destroy(open);
    sal_model_destroy(capped);
}
END_TEST

/* ---- runs */

static sal_run *sample(sal_model *model, const sal_run_options *options)
{
    sal_error err;
    sal_run *run = NULL;
    ck_ok(sal_sample(model, options, &run, &err), &err);
    return run;
}

/* p-value, and mean and variance within five standard errors, of n independent counts. */
static void check_distribution(int64_t n, const int32_t *x, int64_t stride, int levels,
                               const double *pmf, const char *where)
{
    double counts[200] = { 0 }, expected[200], mean = 0, variance = 0, m = 0, s = 0, fourth = 0;
    for (int k = 0; k < levels; k++) {
        expected[k] = pmf[k] * (double)n;
        mean += k * pmf[k];
    }
    for (int k = 0; k < levels; k++) {
        variance += (k - mean) * (k - mean) * pmf[k];
        fourth += pow(k - mean, 4) * pmf[k];
    }
    for (int64_t c = 0; c < n; c++) {
        ck_assert_int_lt(x[c * stride], levels);
        counts[x[c * stride]]++;
        m += x[c * stride] / (double)n;
        s += (x[c * stride] - mean) * (x[c * stride] - mean) / (double)n;
    }
    ck_assert_double_eq_tol(m, mean, 5 * sqrt(variance / (double)n));
    ck_assert_double_eq_tol(s, variance, 5 * sqrt((fourth - variance * variance) / (double)n));
    double p = chi_square_p(levels, counts, expected);
    ck_assert_msg(p > 1e-5, "%s: p = %g", where, p);
}

/* Marginal of the first variable of the model: probabilities by recursion, the chain of neighbours
 * by a sum over the second. */
static void poisson_pmf(double rate, double interaction, bool coupled, int levels, double *pmf)
{
    double weight[200] = { 1 }, total = 0;
    for (int k = 1; k < levels; k++) {
        weight[k] = weight[k - 1] * rate / k;
    }
    for (int k = 0; k < levels; k++) {
        pmf[k] = weight[k];
        double sum = 0;
        for (int j = 0; coupled && j < levels; j++) {
            sum += weight[j] * exp(-interaction * k * j);
        }
        pmf[k] *= coupled ? sum : 1;
        total += pmf[k];
    }
    for (int k = 0; k < levels; k++) {
        pmf[k] /= total;
    }
}

/* Without a cap a window would be ignored: it is refused, and the message says what can be done.
 * With one, moves are wider than 1. */
START_TEST(windows_need_a_cap)
{
    const char *const windows[] = { "gwg:radius=50", "lb:radius=2", "pas:radius=3", "pafs:radius=2",
                                    "lsb1:radius=2" };
    sal_model *open = builtin("poisson:dim=1,rate=6", SAL_F64);
    sal_model *capped = builtin("poisson:dim=1,rate=6,cap=30", SAL_F64);
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++) {
        sal_run *run = NULL;
        sal_error err;
        sal_run_options o = { .sampler = windows[k], .draws = 200, .warmup = 100 };
        ck_fails(sal_sample(open, &o, &run, &err), SAL_ERR_UNSUPPORTED, &err, "give them a cap");
        ck_assert_msg(strstr(err.message, "with these settings") &&
                          strstr(err.message, "take mh-uniform with a radius"),
                      "%s", err.message);
        ck_ok(sal_sample(capped, &o, &run, &err), &err);
        sal_run_summary s;
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        double jump = s.mean_jump / s.acceptance_rate;
        ck_assert_msg(jump > 1.1, "%s: mean jump of accepted moves %g", windows[k], jump);
        sal_run_destroy(run);
    }
    sal_run *run = NULL;
    sal_error err;
    sal_run_options o = { .sampler = "gwg:radius=1", .draws = 5, .warmup = 5 };
    ck_ok(sal_sample(open, &o, &run, &err), &err);
    sal_run_destroy(run);
    sal_model_destroy(open);
    sal_model_destroy(capped);
}
END_TEST

START_TEST(draws_have_the_poisson_distribution)
{
    enum { CHAINS = 4000, LEVELS = 60 };
    const struct {
        const char *model;
        sal_dtype dtype;
        double rate, interaction;
    } cases[] = {
        { "poisson:dim=1,rate=6", SAL_F64, 6, 0 },
        { "poisson:dim=2,rate=0.4", SAL_F64, 0.4, 0 },
        { "poisson:dim=2,rate=6", SAL_F32, 6, 0 },
        { "poisson:dim=2,rate=5,interaction=0.15", SAL_F64, 5, 0.15 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t V;
        double pmf[LEVELS];
        sal_model *model = builtin(cases[k].model, cases[k].dtype);
        sal_run_options options = {
            .chains = CHAINS, .warmup = 600, .draws = 1, .record.draws = true, .seed = 11
        };
        sal_run *run = sample(model, &options); /* one draw a chain: all independent */
        int bytes;
        const int32_t *draws = sal_run_draws(run, &bytes);
        ck_assert_int_eq(bytes, 4);
        V = sal_space_variables(sal_model_space(model));
        poisson_pmf(cases[k].rate, cases[k].interaction, V > 1, LEVELS, pmf);
        for (int64_t v = 0; v < V; v++) {
            check_distribution(CHAINS, draws + v, V, LEVELS, pmf, cases[k].model);
        }
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(every_sampler_without_a_cap_draws_the_distribution)
{
    enum { CHAINS = 2000, LEVELS = 40 };
    static const char *const specs[] = {
        "mh-uniform",     "lb:balance=max", "pas:length=2",
        "pafs",           "gwg:hops=2",     "gwg:ball=2",
        "gwg:hops=adapt", "dlmc",           "dlmcf:balance=barker"
    };
    double pmf[LEVELS];
    poisson_pmf(3, 0.2, true, LEVELS, pmf);
    sal_model *model = builtin("poisson:dim=2,rate=3,interaction=0.2", SAL_F64);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        sal_run_options options = { .sampler = specs[k],
                                    .chains = CHAINS,
                                    .warmup = 300,
                                    .draws = 1,
                                    .record.draws = true,
                                    .seed = 5 };
        int bytes;
        sal_run *run = sample(model, &options);
        const int32_t *draws = sal_run_draws(run, &bytes);
        for (int64_t v = 0; v < 2; v++) {
            check_distribution(CHAINS, draws + v, 2, LEVELS, pmf, specs[k]);
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(marginals_are_the_histogram_of_the_draws)
{
    enum { CHAINS = 3, DRAWS = 101, V = 3 };
    sal_model *model = builtin("poisson:dim=3,rate=62", SAL_F64);
    const int64_t variable = 1;
    const int32_t code = 70;
    sal_run_options options = { .chains = CHAINS,
                                .warmup = 2000,
                                .draws = DRAWS,
                                .record.draws = true,
                                .clamps = { .n = 1, .variables = &variable, .codes = &code } };
    sal_run *run = sample(model, &options);
    double found[V * SAL_COUNT_LEVELS], want[V * SAL_COUNT_LEVELS] = { 0 };
    int bytes;
    sal_error err;
    const int32_t *draws = sal_run_draws(run, &bytes);
    ck_ok(sal_run_marginals(run, found, &err), &err);
    for (int64_t k = 0; k < (int64_t)CHAINS * DRAWS; k++) {
        for (int64_t v = 0; v < V; v++) {
            int32_t x = draws[k * V + v];
            want[v * SAL_COUNT_LEVELS + (x < SAL_COUNT_LEVELS ? x : SAL_COUNT_LEVELS - 1)] +=
                1.0 / (CHAINS * DRAWS);
        }
    }
    for (int64_t k = 0; k < (int64_t)V * SAL_COUNT_LEVELS; k++) {
        ck_assert_double_eq_tol(found[k], want[k], 1e-12);
    }
    ck_assert_double_gt(found[SAL_COUNT_LEVELS - 1], 0.1); /* some are past the last entry */
    ck_assert_double_gt(found[SAL_COUNT_LEVELS - 2], 0);
    ck_assert_double_eq(found[2 * SAL_COUNT_LEVELS - 1], 1);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* R-hat of the half-chains' values [chains x draws], by its definition. */
static double split_rhat(int64_t chains, int64_t draws, const int32_t *x, int64_t stride)
{
    double halves[64 * 100];
    int64_t n = draws / 2;
    ck_assert(draws % 2 == 0 && 2 * chains * n <= 64 * 100);
    for (int64_t c = 0; c < chains; c++) {
        for (int64_t k = 0; k < draws; k++) {
            halves[c * draws + k] = x[(c * draws + k) * stride];
        }
    }
    return sali_rhat(2 * chains, n, halves);
}

START_TEST(rhat_of_counts_is_that_of_their_values)
{
    enum { CHAINS = 4, DRAWS = 200 };
    sal_model *model = builtin("poisson:dim=1,rate=100", SAL_F64);
    const int32_t init[CHAINS] = { 3, 100, 100, 2000 };
    sal_run_options options = {
        .chains = CHAINS, .warmup = -1, .draws = DRAWS, .init = init, .record.draws = true
    };
    sal_run *run = sample(model, &options);
    sal_run_summary s;
    sal_error err;
    char text[SAL_ERROR_SIZE];
    int bytes;
    const int32_t *draws = sal_run_draws(run, &bytes);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_int_eq(s.rhat_variable, 0);
    ck_assert_int_eq(s.rhat_code, -1);
    ck_assert_int_eq(s.disagreeing, 1);
    double want = split_rhat(CHAINS, DRAWS, draws, 1);
    ck_assert_double_eq_tol(s.rhat_max, want, 1e-9 * want);
    ck_assert(sal_run_warning(&s, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "for variable 0;"));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(chains_that_agree_are_not_suspected)
{
    sal_model *model = builtin("poisson:dim=3,rate=8", SAL_F64);
    sal_run_options options = { .chains = 8, .draws = 4000, .thin = 10 };
    sal_run *run = sample(model, &options);
    sal_run_summary s;
    sal_error err;
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_double_lt(s.rhat_max, 1.05);
    ck_assert_int_eq(s.disagreeing, 0);
    ck_assert_double_gt(s.mean_jump, 0.3); /* a jump is of 1 */
    /* A 12th of the accepted steps stays; the error is one of 320,000 steps. */
    ck_assert_double_eq_tol(s.mean_jump / s.acceptance_rate, 11. / 12, 4 * sqrt(11. / 320000) / 12);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(random_starts_are_small)
{
    sal_space *space = mixed();
    bool seen[10] = { false };
    for (uint64_t seed = 0; seed < 200; seed++) {
        int32_t codes[7];
        sali_stream stream = { .seed = seed, .purpose = SALI_RNG_INIT };
        sali_random_codes(space, &stream, codes);
        for (int64_t v = 2; v < 5; v++) {
            ck_assert(codes[v] >= 0 && codes[v] < 10);
            seen[codes[v]] = true;
        }
    }
    for (int k = 0; k < 10; k++) {
        ck_assert(seen[k]);
    }
    sal_space_destroy(space);
}
END_TEST

static sal_status sample_and_look(sal_model *model)
{
    sal_run_options options = {
        .chains = 3, .warmup = 20, .draws = 8, .threads = 1, .record.draws = true
    };
    double marginals[2 * SAL_COUNT_LEVELS];
    sal_run_summary s;
    sal_run *run = NULL;
    sal_status status = sal_sample(model, &options, &run, NULL);
    if (status == SAL_OK) {
        status = sal_run_marginals(run, marginals, NULL);
        status = status ? status : sal_run_summarise(run, &s, NULL);
        sal_run_destroy(run);
    }
    return status;
}

START_TEST(running_out_of_memory_is_reported)
{
    sal_model *model = builtin("poisson:dim=2", SAL_F64);
    ck_alloc_sweep(sample_and_look(model), (void)0);
    sal_model_destroy(model);
}
END_TEST

/* ---- who moves them */

START_TEST(samplers_that_list_states_refuse_counts_without_a_cap)
{
    sal_model *open = builtin("poisson:dim=2", SAL_F64),
              *capped = builtin("poisson:cap=9", SAL_F64);
    sal_error err;
    sal_run *run = NULL;
    const char *names[] = { "gibbs", "ncg" };
    const char *single_site[] = { "mh-uniform", "lb", "gwg", "pas", "pafs" };
    for (int k = 0; k < 2; k++) {
        sal_run_options options = { .sampler = names[k], .draws = 10, .warmup = 10 };
        ck_fails(sal_sample(open, &options, &run, &err), SAL_ERR_UNSUPPORTED, &err,
                 "it does not move counts without a cap; samplers that can: mh-uniform, lb");
        sal_run_destroy(sample(capped, &options));
    }
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        bool both = false;
        for (size_t n = 0; n < sizeof single_site / sizeof *single_site; n++) {
            both |= strcmp(info.name, single_site[n]) == 0;
        }
        if (both || strcmp(info.name, "ncg") == 0) {
            ck_assert_uint_eq(info.kinds & ~(unsigned)SAL_MOVES_FIXED,
                              SAL_MOVES_FINITE | (both ? SAL_MOVES_UNBOUNDED : 0));
        }
    }
    ck_assert_double_eq(sali_default_step_size(open->space, 0.2), 0.2);
    ck_assert_double_eq(sali_default_step_size(capped->space, 0.2), 0.2);
    sal_model_destroy(open);
    sal_model_destroy(capped);
}
END_TEST

START_TEST(listing_states_needs_a_cap)
{
    sal_model *open = builtin("poisson:dim=2", SAL_F64);
    sal_error err;
    sal_exact exact;
    sal_run_errors errors;
    double marginals[2] = { 0 };
    ck_assert(isinf(sali_states_count(open->space)));
    ck_fails(sal_model_exact(open, NULL, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "it has counts without a cap");
    sal_run_options options = { .draws = 10, .warmup = 10, .record.draws = true };
    sal_run *run = sample(open, &options);
    sal_run_variation variation;
    ck_fails(sal_run_total_variation(run, 0, 1, &variation, &err), SAL_ERR_UNSUPPORTED, &err,
             "give them a cap");
    ck_fails(sal_run_measure_errors(run, marginals, NULL, &errors, &err), SAL_ERR_UNSUPPORTED, &err,
             "give them a cap");
    sal_run_destroy(run);
    sal_model_destroy(open);
}
END_TEST

START_TEST(the_extension_needs_a_cap)
{
    sal_model *open = builtin("poisson:dim=2", SAL_F64),
              *capped = builtin("poisson:dim=1,cap=2", SAL_F64);
    const double theta[] = { 0.5, 0.25, 0.25, 0 };
    sal_extension extension;
    sal_error err;
    ck_fails(sal_model_extension(open, NULL, theta, &extension, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "cap");
    ck_ok(sal_model_extension(capped, NULL, theta, &extension, NULL, NULL, &err), &err);
    double f1 = log(5), f2 = 2 * log(5) - log(2);
    ck_assert_double_eq_tol(extension.F, 0.25 * f1 + 0.25 * f2, 1e-14);
    sal_model_destroy(open);
    sal_model_destroy(capped);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("count_samplers");
    TCase *tcase = statistics_create("count_samplers");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, proposals_are_those_of_the_paper);
    tcase_add_test(tcase, steps_follow_the_exact_probabilities);
    tcase_add_test(tcase, counts_stop_at_the_largest_code);
    tcase_add_test(tcase, windows_need_a_cap);
    tcase_add_test(tcase, draws_have_the_poisson_distribution);
    tcase_add_test(tcase, without_a_cap_samplers_do_as_under_a_far_one);
    tcase_add_test(tcase, every_sampler_without_a_cap_draws_the_distribution);
    tcase_add_test(tcase, marginals_are_the_histogram_of_the_draws);
    tcase_add_test(tcase, rhat_of_counts_is_that_of_their_values);
    tcase_add_test(tcase, chains_that_agree_are_not_suspected);
    tcase_add_test(tcase, random_starts_are_small);
    tcase_add_test(tcase, running_out_of_memory_is_reported);
    tcase_add_test(tcase, samplers_that_list_states_refuse_counts_without_a_cap);
    tcase_add_test(tcase, listing_states_needs_a_cap);
    tcase_add_test(tcase, the_extension_needs_a_cap);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
