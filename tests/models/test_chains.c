/* SPDX-License-Identifier: MIT */
/* Models that are chains: their densities written out, exact answers against enumeration and
 * against Rabiner's scaled recursions, exact draws. */
#include "alloc_fail.h"
#include "exact_answers.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "models/zoo/builtin.h"
#include "models/structure/chain.h"
#include "models/clamp.h"
#include "models/zoo/fhmm.h"
#include "models/zoo/hmm.h"
#include "models/statistic.h"
#include "transition.h"

static sal_model *open_builtin(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    return model;
}

static double f_of(const sal_model *model, const int32_t *codes)
{
    double f;
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

/* ---- densities */

static double log_normal(double y, double mean, double sigma)
{
    return -0.5 * pow((y - mean) / sigma, 2) - log(sigma * sqrt(2 * acos(-1.0)));
}

/* log p(z, y), a product of conditional probabilities. */
static double hmm_density(const sali_hmm *m, const int32_t *z)
{
    double p = 1.0 / (double)m->states, sum = 0;
    for (int64_t t = 0; t < m->length; t++) {
        if (t > 0) {
            p *= z[t] == z[t - 1] ? m->p : (1 - m->p) / (double)(m->states - 1);
        }
        sum += log_normal(m->y[t], m->means[z[t]], m->sigma);
    }
    return sum + log(p);
}

START_TEST(hmm_is_the_joint_density)
{
    sal_model *model = open_builtin("hmm:length=4,states=3,sigma=0.7,p=0.8,seed=3");
    int32_t z[4];
    for (int64_t state = 0; state < 81; state++) {
        state_codes(model->space, state, z);
        ck_assert_double_eq_tol(f_of(model, z), hmm_density(model->statistic_data, z), 1e-12);
    }
    ck_assert(sal_model_is_multilinear(model));
    sal_model_destroy(model);
}
END_TEST

/* Runs of a state have mean length 1 / (1 - p), and all states are as frequent. */
START_TEST(hmm_data_are_drawn_from_the_model)
{
    sal_model *model = open_builtin("hmm:length=40000,states=3,sigma=0.001,p=0.9,seed=4");
    const sali_hmm *m = model->statistic_data;
    int64_t stays = 0, count[3] = { 0 }, before = -1;
    double square = 0;
    for (int64_t t = 0; t < m->length; t++) {
        int64_t z = 0;
        for (int64_t k = 1; k < 3; k++) {
            z = fabs(m->y[t] - m->means[k]) < fabs(m->y[t] - m->means[z]) ? k : z;
        }
        stays += z == before;
        before = z;
        count[z]++;
        square += pow((m->y[t] - m->means[z]) / m->sigma, 2);
    }
    /* standard deviations: .0015, .0091 (correlation time 2 / (1 - .85) = 13.3), .0071 */
    ck_assert_double_eq_tol((double)stays / (double)m->length, 0.9, 0.006);
    ck_assert_double_eq_tol(square / (double)m->length, 1, 0.03);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq_tol((double)count[k] / (double)m->length, 1.0 / 3, 0.04);
    }
    sal_model_destroy(model);
}
END_TEST

static sali_content series(int64_t n, const double *y)
{
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    content.array = (sal_array){ .ndim = 2, .shape = { n, 1 }, .count = n, .values = (double *)y };
    return content;
}

START_TEST(hmm_of_a_file_has_its_data_and_their_quantiles)
{
    static const double y[] = { 5, -1, 2, 8, 0, 3 }; /* sorted: -1 0 2 3 5 8 */
    static const double means[] = { 0, 3, 8 };
    sali_content content = series(6, y);
    sal_model *model = NULL;
    sal_error err;
    int32_t z[] = { 2, 0, 0, 2, 0, 1 };
    ck_ok(sali_builtin_make("hmm:length=77,states=3,sigma=2", &content, SAL_F64, &model, &err),
          &err);
    const sali_hmm *m = model->statistic_data;
    ck_assert_int_eq(m->length, 6);
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq(m->y[k], y[k]);
        ck_assert_double_eq(m->means[k / 2], means[k / 2]);
    }
    ck_assert_double_eq_tol(f_of(model, z), hmm_density(m, z), 1e-12);
    sal_model_destroy(model);
}
END_TEST

START_TEST(bad_files_are_refused)
{
    static double y[] = { 1, 2, NAN, 4 };
    sali_content content = series(4, y);
    sal_model *model = NULL;
    sal_error err;
    const char *names[] = { "hmm", "crf", "fhmm" };
    for (int k = 0; k < 3; k++) {
        ck_fails(sali_builtin_make(names[k], &content, 0, &model, &err), SAL_ERR_DATA, &err,
                 "number 3 is not finite");
    }
    y[2] = 3;
    content.array.shape[0] = content.array.shape[1] = 2;
    ck_fails(sali_builtin_make("hmm", &content, 0, &model, &err), SAL_ERR_DATA, &err, "one column");
    ck_fails(sali_builtin_make("fhmm", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "one column");
    content.array.shape[0] = content.array.shape[1] = content.array.count = 0;
    ck_fails(sali_builtin_make("hmm", &content, 0, &model, &err), SAL_ERR_DATA, &err, "0 numbers");
    ck_fails(sali_builtin_make("crf", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "a row for each token");
    ck_fails(sal_model_open("hmm:length=1000000,states=200", 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "1000000 steps of 200 states");
    ck_fails(sal_model_open("crf:tokens=100000,labels=100", 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "100000 tokens with 100 labels");
    ck_assert_ptr_null(model);
}
END_TEST

/* f from features given here and the model's own weights, by thesis eq. 21. */
START_TEST(crf_is_the_sum_of_its_features)
{
    static const double b[] = { 1, 0, 0.5, 2, -1, 3 };
    double lambda[9], mu[6];
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    sal_model *model = NULL;
    sal_error err;
    int32_t y[3];
    content.array = (sal_array){ .ndim = 2, .shape = { 3, 2 }, .count = 6, .values = (double *)b };
    ck_ok(sali_builtin_make("crf:labels=3", &content, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_get_params(model, "lambda", lambda, &err), &err);
    ck_ok(sal_model_get_params(model, "mu", mu, &err), &err);
    for (int64_t state = 0; state < 27; state++) {
        double sum = 0;
        state_codes(model->space, state, y);
        for (int i = 0; i < 3; i++) {
            sum += b[2 * i] * mu[y[i]] + b[2 * i + 1] * mu[3 + y[i]];
            sum += i > 0 ? lambda[3 * y[i - 1] + y[i]] : 0;
        }
        ck_assert_double_eq_tol(f_of(model, y), sum, 1e-13);
    }
    ck_assert(sal_model_is_multilinear(model));
    ck_assert_double_ne(lambda[1], lambda[3]); /* directions differ */
    sal_model_destroy(model);
}
END_TEST

/* ---- exact answers */

static void check_oracle(const sal_model *model, double tolerance, const char *where)
{
    static answers want, got;
    int64_t R = model->space->n_states;
    ask(model, "enumeration", &want);
    ask(model, NULL, &got);
    ck_assert_str_eq(got.exact.oracle, "forward-backward");
    double scale = fmax(1, fabs(want.exact.log_z));
    ck_assert_msg(fabs(got.exact.log_z - want.exact.log_z) < tolerance * scale, "%s: log Z %.16g",
                  where, got.exact.log_z);
    ck_assert_msg(fabs(got.exact.log_prob_mean - want.exact.log_prob_mean) < tolerance * scale,
                  "%s: E f %.16g, %.16g", where, got.exact.log_prob_mean, want.exact.log_prob_mean);
    for (int64_t a = 0; a < R * R; a++) {
        ck_assert_msg(fabs(got.pairs[a] - want.pairs[a]) < tolerance, "%s: pair %d, %d: %g, not %g",
                      where, (int)(a / R), (int)(a % R), got.pairs[a], want.pairs[a]);
        ck_assert_double_eq_tol(got.marginals[a / R], want.marginals[a / R], tolerance);
    }
}

static const char *const small_chains[] = {
    "hmm:length=7,states=4,sigma=0.8,p=0.7,seed=1",
    "hmm:length=1,states=5",
    "hmm:length=6,states=3,sigma=3,p=0.000001",
    "crf:tokens=8,labels=3,features=4,seed=5",
    "crf:tokens=5,labels=6,scale=3",
    "crf:tokens=1,labels=4",
    "fhmm:length=4,factors=4,sigma=0.7,p=0.8,v=0.2,seed=3",
    "fhmm:length=2,factors=3",
    "fhmm:length=12,factors=1,v=0.6",
};
#define N_SMALL ((int)(sizeof small_chains / sizeof *small_chains))

START_TEST(forward_backward_equals_enumeration)
{
    for (int k = 0; k < N_SMALL; k++) {
        sal_model *model = open_builtin(small_chains[k]);
        check_oracle(model, 1e-12, small_chains[k]);
        sal_model_destroy(model);
    }
}
END_TEST

/* Some variables fixed: ends, whole slices, neighbours, single bits. */
START_TEST(clamped_chains_have_the_free_variables_answers)
{
    static const int64_t variables[] = { 0, 2, 3, 4, 5, 6, 7 };
    static const int32_t codes[] = { 1, 0, 1, 1, 0, 1, 0 };
    static const int64_t from[] = { 0, 1, 0, 3 }, count[] = { 1, 2, 3, 4 };
    for (int k = 0; k < N_SMALL; k++) {
        sal_model *model = open_builtin(small_chains[k]), *clamped = NULL;
        sal_error err;
        for (int j = 0; j < 4; j++) {
            const int64_t *fixed = variables + from[j];
            if (fixed[count[j] - 1] >= model->space->n_variables ||
                model->space->n_variables == 1) {
                continue;
            }
            ck_ok(sal_model_clamp(model, count[j], fixed, codes + from[j], &clamped, &err), &err);
            check_oracle(clamped, 1e-12, small_chains[k]);
            sal_model_destroy(clamped);
        }
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(extreme_potentials_neither_overflow_nor_vanish)
{
    static const char *const specifications[] = {
        "hmm:length=6,states=4,sigma=0.001,p=0.999999,spread=30",
        "fhmm:length=4,factors=3,sigma=0.001,p=0.000001,v=0.000001",
        "crf:tokens=6,labels=4,scale=1000",
    };
    for (int k = 0; k < 3; k++) {
        sal_model *model = open_builtin(specifications[k]);
        check_oracle(model, 1e-9, specifications[k]);
        sal_model_destroy(model);
    }
}
END_TEST

/* The recursions of Rabiner 1989 with scaled probabilities: log Z, and p(z_t = 0 | y) [T]. */
static double scaled_recursions(const sali_hmm *m, double *first)
{
    int64_t T = m->length, K = m->states;
    double *a = calloc((size_t)(T * K), sizeof *a), *c = calloc((size_t)T, sizeof *c);
    double b[16], next[16], log_z = 0, leave = (1 - m->p) / (double)(K - 1);
    for (int64_t t = 0; t < T; t++) {
        for (int64_t j = 0; j < K; j++) {
            double sum = t == 0 ? 1.0 / (double)K : 0;
            for (int64_t i = 0; t > 0 && i < K; i++) {
                sum += a[(t - 1) * K + i] * (i == j ? m->p : leave);
            }
            a[t * K + j] = sum * exp(log_normal(m->y[t], m->means[j], m->sigma));
            c[t] += a[t * K + j];
        }
        for (int64_t j = 0; j < K; j++) {
            a[t * K + j] /= c[t];
        }
        log_z += log(c[t]);
    }
    for (int64_t t = T - 1; t >= 0; t--) {
        for (int64_t i = 0; i < K; i++) {
            b[i] = t == T - 1 ? 1 : 0;
            for (int64_t j = 0; t < T - 1 && j < K; j++) {
                b[i] += (i == j ? m->p : leave) * next[j];
            }
        }
        for (int64_t j = 0; j < K; j++) {
            next[j] = b[j] * exp(log_normal(m->y[t], m->means[j], m->sigma)) / c[t];
        }
        first[t] = a[t * K] * b[0];
    }
    free(a);
    free(c);
    return log_z;
}

START_TEST(long_chains_agree_with_scaled_recursions)
{
    enum { T = 1000, K = 5 };
    sal_model *model = open_builtin("hmm:length=1000,states=5,sigma=0.6,p=0.95,seed=8");
    double *marginals = calloc(T * K, sizeof *marginals), first[T];
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
    double log_z = scaled_recursions(model->statistic_data, first);
    ck_assert_double_eq_tol(exact.log_z, log_z, 1e-9);
    for (int t = 0; t < T; t++) {
        double sum = 0;
        for (int k = 0; k < K; k++) {
            sum += marginals[t * K + k];
        }
        ck_assert_double_eq_tol(sum, 1, 1e-13);
        ck_assert_double_eq_tol(marginals[t * K], first[t], 1e-11);
    }
    free(marginals);
    sal_model_destroy(model);
}
END_TEST

START_TEST(the_largest_factorial_chain_is_served_and_the_next_refused)
{
    sal_model *model = open_builtin("fhmm:length=16,factors=20");
    sal_exact_options options = { .oracle = "forward-backward" };
    double *marginals = calloc(2 * 17 * 20, sizeof *marginals);
    sal_exact exact;
    sal_error err;
    const struct sali_chain_rule *rule = model->structure->chain;
    sali_chain_shape shape = rule->shape(model);
    ck_assert_double_eq(sali_chain_states(&shape), 1 << 20);
    sal_model_destroy(model);
    model = open_builtin("fhmm:length=17,factors=20");
    ck_fails(sal_model_exact(model, &options, &exact, marginals, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err,
             "forward-backward: it has 17 slices of 1.04858e+06 states, more than 16777216 in all");
    sal_model_destroy(model);
    model = open_builtin("fhmm:length=2,factors=1000");
    ck_fails(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, "2 slices of 1.07151e+301 states");
    sal_model_destroy(model);
    model = open_builtin("ising:side=2");
    ck_fails(sal_model_exact(model, &options, &exact, marginals, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "not known to be a chain");
    sal_model_destroy(model);
    free(marginals);
}
END_TEST

START_TEST(too_many_pairs_and_no_distribution_are_refused)
{
    sal_model *model = open_builtin("fhmm:length=100,factors=10");
    double *pairs = calloc(2000 * 2000, sizeof *pairs), mu[4] = { NAN };
    sal_exact exact = { .log_z = 7 };
    sal_error err;
    ck_fails(sal_model_exact(model, NULL, &exact, NULL, pairs, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, "marginals alone can be had");
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    free(pairs);
    sal_model_destroy(model);
    model = open_builtin("crf:tokens=2,labels=2,features=2");
    ck_ok(sal_model_set_params(model, "mu", mu, &err), &err);
    exact.log_z = 7;
    ck_fails(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), SAL_ERR_MODEL, &err,
             "log Z is -inf: f is NaN");
    ck_assert_double_eq(exact.log_z, 7);
    sal_model_destroy(model);
}
END_TEST

START_TEST(answers_follow_parameters_and_single_precision)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("crf:tokens=5,labels=3,features=2", SAL_F32, &model, &err), &err);
    check_oracle(model, 1e-5, "single precision");
    double lambda[9] = { 1, -2, 0.5, 3, 0, -1, 0.25, 2, -0.75 };
    ck_ok(sal_model_set_params(model, "lambda", lambda, &err), &err);
    check_oracle(model, 1e-5, "other weights");
    sal_model_destroy(model);
}
END_TEST

static sal_status exact_once(const sal_model *model)
{
    double marginals[32], pairs[32 * 32];
    sal_exact exact;
    return sal_model_exact(model, NULL, &exact, marginals, pairs, NULL, NULL);
}

static sal_status make_once(const char *specification)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(specification, 0, &model, NULL);
    sal_model_destroy(model);
    return status;
}

static sal_status make_of_series_once(const char *specification)
{
    static const double y[] = { 5, -1, 2 };
    sali_content content = series(3, y);
    sal_model *model = NULL;
    sal_status status = sali_builtin_make(specification, &content, 0, &model, NULL);
    sal_model_destroy(model);
    return status;
}

START_TEST(allocation_failures_are_reported)
{
    static const char *const tiny[] = { "hmm:length=3,states=2", "crf:tokens=3,labels=2",
                                        "fhmm:length=3,factors=2" };
    for (int k = 0; k < 3; k++) {
        sal_model *model = open_builtin(tiny[k]), *clamped = NULL;
        sal_error err;
        ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 1 }, (int32_t[]){ 1 }, &clamped, &err), &err);
        ck_alloc_sweep(exact_once(clamped), (void)0);
        ck_alloc_sweep(make_once(tiny[k]), (void)0);
        ck_alloc_sweep(make_of_series_once(tiny[k]), (void)0);
        sal_model_destroy(clamped);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- exact draws */

/* Block Gibbs draws the whole chain: from any state the next one has the target's distribution. */
static void check_independent(const sal_model *model, const char *where)
{
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose("block-gibbs", model, 0, &sampler, &settings, &err), &err);
    ck_assert_int_eq(pieces_of(sampler, model, &settings), 1);
    for (int hot = 0; hot < 2; hot++) {
        transition t = transition_make(sampler, model, &settings, hot ? 0.4 : 1, 0);
        for (int64_t i = 0; i < t.n * t.n; i++) {
            ck_assert_msg(fabs(t.P[i] - t.pi[i % t.n]) < 1e-12, "%s: from %d to %d", where,
                          (int)(i / t.n), (int)(i % t.n));
        }
        transition_free(&t);
    }
}

START_TEST(draws_are_from_the_target_itself)
{
    static const char *const specifications[] = {
        "hmm:length=3,states=4,sigma=0.8,p=0.7,seed=1",
        "crf:tokens=4,labels=2,features=3,seed=5",
        "crf:tokens=1,labels=7,scale=3",
    };
    for (int k = 0; k < 3; k++) {
        sal_model *model = open_builtin(specifications[k]);
        check_independent(model, specifications[k]);
        sal_model_destroy(model);
    }
}
END_TEST

/* Draws of a workspace that is open follow the parameters, and the temperatures. */
START_TEST(draws_follow_parameters_and_temperatures)
{
    enum { CHAINS = 400 };
    static const struct {
        double pull, beta; /* mu of label 1, and inverse temperature: one changes at a time */
    } steps[] = { { 2, 1 }, { -2, 1 }, { -2, 0.2 }, { 2, 0.2 }, { 2, 1 } };
    static const double b = 1;
    static int64_t piece[CHAINS];
    static double beta[CHAINS];
    static int32_t codes[CHAINS], to[CHAINS];
    static sali_stream streams[CHAINS];
    sali_content content = series(1, &b);
    sal_model *model = NULL;
    sal_error err;
    void *ws = NULL;
    ck_ok(sali_builtin_make("crf:labels=2", &content, 0, &model, &err), &err);
    ck_ok(model->structure->open(model, CHAINS, &ws, &err), &err);
    for (int k = 0; k < 5; k++) {
        double mu[2] = { 0, steps[k].pull }, ones = 0;
        if (k == 0 || steps[k].pull != steps[k - 1].pull) {
            ck_ok(sal_model_set_params(model, "mu", mu, &err), &err);
        }
        for (uint32_t c = 0; c < CHAINS; c++) {
            beta[c] = steps[k].beta;
            streams[c] = (sali_stream){ .seed = 9, .chain = c, .purpose = SALI_RNG_TEST };
        }
        sali_piece at = { .n = CHAINS, .piece = piece, .beta = beta, .codes = codes };
        model->structure->draw(ws, &at, streams, to);
        for (int c = 0; c < CHAINS; c++) {
            ones += to[c];
        }
        /* standard deviation at most .025 */
        double p = 1 / (1 + exp(-steps[k].beta * steps[k].pull));
        ck_assert_double_eq_tol(ones / CHAINS, p, 0.08);
    }
    model->structure->close(ws);
    sal_model_destroy(model);
}
END_TEST

/* Draws of clamped chains are those of the free variables. */
START_TEST(clamped_draws_are_from_the_target_itself)
{
    static const char *const specifications[] = { "hmm:length=5,states=3,sigma=0.8,p=0.7,seed=1",
                                                  "crf:tokens=5,labels=3,features=3,seed=5",
                                                  "fhmm:length=5,factors=1,v=0.4" };
    for (int k = 0; k < 3; k++) {
        sal_model *model = open_builtin(specifications[k]), *clamped = NULL;
        sal_error err;
        ck_ok(sal_model_clamp(model, 2, (int64_t[]){ 1, 4 }, (int32_t[]){ 1, 0 }, &clamped, &err),
              &err);
        check_independent(clamped, specifications[k]);
        sal_model_destroy(clamped);
        sal_model_destroy(model);
    }
}
END_TEST

/* Runs of a clamped model, by its one chain, and by classes where several factors are left. */
START_TEST(clamped_chains_are_sampled)
{
    static const char *const specifications[] = { "hmm:length=6,states=3,sigma=1,p=0.6,seed=2",
                                                  "fhmm:length=4,factors=2,sigma=1,p=0.6,v=0.4" };
    for (int k = 0; k < 2; k++) {
        sal_model *model = open_builtin(specifications[k]), *clamped = NULL;
        sal_run_options options = {
            .sampler = "block-gibbs", .chains = 16, .draws = 2000, .warmup = 100, .seed = 3
        };
        sal_run *run = NULL;
        static answers a;
        sal_run_errors errors;
        sal_error err;
        ck_ok(sal_model_clamp(model, 2, (int64_t[]){ 1, 5 }, (int32_t[]){ 1, 0 }, &clamped, &err),
              &err);
        ask(clamped, NULL, &a);
        ck_ok(sal_sample(clamped, &options, &run, &err), &err);
        ck_ok(sal_run_measure_errors(run, a.marginals, NULL, &errors, &err), &err);
        ck_assert_double_lt(errors.marginal_max, 0.02); /* 32000 draws */
        sal_run_destroy(run);
        sal_model_destroy(clamped);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- the reconstruction error */

START_TEST(reconstruction_error_is_the_norm_of_what_is_left)
{
    static const double y[] = { 5, -1, 2, 8, 0, 3 };
    static const int32_t z[] = {
        2, 0, 0, 2, 0, 1
    }; /* means 0, 3, 8: -3, -1, 2, 0, 0, 0 are left */
    static const int32_t x[] = { 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0 };
    sali_content content = series(6, y);
    sal_model *model = NULL;
    sal_error err;
    double sum = 0;
    ck_ok(sali_builtin_make("hmm:states=3", &content, SAL_F64, &model, &err), &err);
    ck_assert_double_eq_tol(model->statistic->of(model, z), sqrt(14), 1e-14);
    sal_model_destroy(model);
    ck_ok(sali_builtin_make("fhmm:length=9,factors=2", &content, SAL_F64, &model, &err), &err);
    const sali_fhmm *m = model->statistic_data;
    for (int t = 0; t < 6; t++) {
        sum += pow(y[t] - m->W_0 - x[2 * t] * m->W[0] - x[2 * t + 1] * m->W[1], 2);
    }
    ck_assert_double_eq_tol(model->statistic->of(model, x), sqrt(sum), 1e-13);
    sal_model_destroy(model);
}
END_TEST

/* Mean and deviation from the draws themselves. */
static void check_statistic(sal_model *model, const sal_model *whole,
                            const sal_run_options *options)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_error err;
    int bytes;
    int64_t chains, draws, V;
    double sum = 0, squares = 0, value;
    int32_t codes[16], full[16];
    ck_ok(sal_sample(model, options, &run, &err), &err);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    const uint8_t *drawn = sal_run_draws(run, &bytes);
    sal_run_size(run, &chains, &draws, &V);
    ck_assert_int_eq(bytes, 1);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < chains * draws; k++) {
            for (int64_t v = 0; v < V; v++) {
                codes[v] = drawn[k * V + v];
            }
            sali_clamp_expand(model, 1, codes, full);
            value = whole->statistic->of(whole, full);
            sum += pass == 0 ? value : 0;
            squares += pass == 1 ? pow(value - sum / (double)(chains * draws), 2) : 0;
        }
    }
    ck_assert_str_eq(s.statistic, "reconstruction error");
    ck_assert_double_eq_tol(s.statistic_mean, sum / (double)(chains * draws), 1e-12);
    ck_assert_double_gt(s.statistic_deviation, 0.01);
    ck_assert_double_eq_tol(s.statistic_deviation, sqrt(squares / (double)(chains * draws - 1)),
                            1e-12);
    if (options->annealing.on) {
        ck_ok(sal_run_best(run, codes, NULL, &err), &err);
        sali_clamp_expand(model, 1, codes, full);
        ck_assert_double_eq(s.statistic_best, whole->statistic->of(whole, full));
    } else {
        ck_assert(isnan(s.statistic_best));
    }
    sal_run_destroy(run);
}

START_TEST(runs_report_the_statistic_of_their_draws)
{
    static const int64_t variables[] = { 0, 3 };
    static const int32_t codes[] = { 2, 1 };
    sal_model *model = open_builtin("hmm:length=8,states=3"), *clamped = NULL;
    sal_model *plain = open_builtin("ising:side=2");
    sal_run_options options = { .chains = 5, .draws = 40, .warmup = 10, .record.draws = true };
    sal_run *run = NULL;
    sal_run_summary s;
    sal_error err;
    ck_ok(sal_model_clamp(model, 2, variables, codes, &clamped, &err), &err);
    check_statistic(model, model, &options);
    check_statistic(clamped, model, &options);
    options.annealing.on = true;
    check_statistic(model, model, &options);
    check_statistic(clamped, model, &options);
    options.clamps.n = 2;
    options.clamps.variables = variables;
    options.clamps.codes = codes;
    check_statistic(model, model, &options);
    options = (sal_run_options){ .chains = 2, .draws = 4 };
    ck_ok(sal_sample(plain, &options, &run, &err), &err);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_ptr_null(s.statistic);
    ck_assert(isnan(s.statistic_mean) && isnan(s.statistic_deviation) && isnan(s.statistic_best));
    sal_run_destroy(run);
    sal_model_destroy(plain);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

static int destroyed;

static void count_destroyed(void *data)
{
    destroyed += *(int *)data;
}

START_TEST(a_statistic_frees_its_data)
{
    static const sali_statistic statistic = { .name = "none", .destroy = count_destroyed };
    int weight = 3;
    sal_model *model = open_builtin("ising:side=2");
    sali_model_set_statistic(model, &statistic, &weight);
    sal_model_destroy(model);
    ck_assert_int_eq(destroyed, 3);
}
END_TEST

static sal_status run_once(sal_model *model)
{
    sal_run_options options = {
        .chains = 2, .draws = 4, .warmup = 4, .annealing.on = true, .threads = 1
    };
    sal_run *run = NULL;
    sal_run_summary s;
    sal_status status = sal_sample(model, &options, &run, NULL);
    status = status ? status : sal_run_summarise(run, &s, NULL);
    sal_run_destroy(run);
    return status;
}

START_TEST(allocation_failures_of_runs_are_reported)
{
    sal_model *model = open_builtin("hmm:length=3,states=2");
    ck_alloc_sweep(run_once(model), (void)0);
    sal_model_destroy(model);
}
END_TEST

static Suite *chains_suite(void)
{
    Suite *suite = suite_create("chains");
    TCase *tcase = tcase_create("chains");
    tcase_add_test(tcase, hmm_is_the_joint_density);
    tcase_add_test(tcase, hmm_data_are_drawn_from_the_model);
    tcase_add_test(tcase, hmm_of_a_file_has_its_data_and_their_quantiles);
    tcase_add_test(tcase, bad_files_are_refused);
    tcase_add_test(tcase, crf_is_the_sum_of_its_features);
    tcase_add_test(tcase, forward_backward_equals_enumeration);
    tcase_add_test(tcase, clamped_chains_have_the_free_variables_answers);
    tcase_add_test(tcase, extreme_potentials_neither_overflow_nor_vanish);
    tcase_add_test(tcase, long_chains_agree_with_scaled_recursions);
    tcase_add_test(tcase, the_largest_factorial_chain_is_served_and_the_next_refused);
    tcase_add_test(tcase, too_many_pairs_and_no_distribution_are_refused);
    tcase_add_test(tcase, answers_follow_parameters_and_single_precision);
    tcase_add_test(tcase, allocation_failures_are_reported);
    tcase_add_test(tcase, draws_are_from_the_target_itself);
    tcase_add_test(tcase, draws_follow_parameters_and_temperatures);
    tcase_add_test(tcase, clamped_draws_are_from_the_target_itself);
    tcase_add_test(tcase, clamped_chains_are_sampled);
    tcase_add_test(tcase, reconstruction_error_is_the_norm_of_what_is_left);
    tcase_add_test(tcase, runs_report_the_statistic_of_their_draws);
    tcase_add_test(tcase, a_statistic_frees_its_data);
    tcase_add_test(tcase, allocation_failures_of_runs_are_reported);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(chains_suite());
}
