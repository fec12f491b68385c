/* SPDX-License-Identifier: MIT */
/* Annealed importance sampling against log Z by enumeration, and its errors against many seeds. */
#include <math.h>

#include "alloc_fail.h"
#include "bridge_check.h"
#include "run/ais/ais.h"
#include "stats/log_mean_exp.h"

#define R_MOST 64

static sal_model *builtin(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

static sal_ais_estimate estimate_of(sal_model *model, const sal_ais_options *options,
                                    double *log_weights)
{
    sal_ais_estimate e;
    sal_error err;
    ck_ok(sal_ais(model, options, &e, log_weights, &err), &err);
    return e;
}

static void refused(sal_model *model, const sal_ais_options *options, sal_status status,
                    const char *text)
{
    sal_ais_estimate e = { .log_z = 7 };
    sal_error err;
    ck_fails(sal_ais(model, options, &e, NULL, &err), status, &err, text);
    ck_assert(e.log_z == 7);
}

/* Independent draws [n x V] from a tiny model. */
static int32_t *exact_draws(const sal_model *model, int64_t n, uint64_t lot)
{
    int64_t V = model->space->n_variables;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    int32_t *codes = malloc((size_t)(n * V) * sizeof *codes);
    double *u = malloc((size_t)n * sizeof *u);
    sali_stream stream = { .seed = 77, .step = lot, .purpose = SALI_RNG_TEST };
    sali_rng_uniform_f64(&stream, n, u);
    states_probabilities(model, 1, f, pi);
    for (int64_t c = 0; c < n; c++) {
        int64_t state = 0;
        for (double left = u[c] - pi[0]; left > 0 && state + 1 < states_count(model->space);) {
            left -= pi[++state];
        }
        state_codes(model->space, state, codes + c * V);
    }
    free(u);
    return codes;
}

/* ---- estimates of log Z */

static void expect_log_z(sal_model *model, sal_ais_options options, double log_z, const char *name)
{
    sal_ais_estimate e = estimate_of(model, &options, NULL);
    ck_assert_msg(fabs(e.log_z - log_z) <= 4 * e.standard_error,
                  "%s: %.6g, exactly %.6g, standard error %.3g", name, e.log_z, log_z,
                  e.standard_error);
    ck_assert_msg(e.standard_error > 0 && e.standard_error < 0.3, "%s: standard error %.3g", name,
                  e.standard_error);
    ck_assert_msg(fabs(e.jackknife / e.standard_error - 1) < 0.2, "%s: errors %.3g and %.3g", name,
                  e.jackknife, e.standard_error);
}

/* p_0 of the states that the model allows. */
static double allowed(const sal_model *model, const double *log_base)
{
    double f[TINY_MOST_STATES], log_p0[TINY_MOST_STATES], sum = 0;
    between(model, log_base, 1, f);
    between(model, log_base, 0, log_p0);
    for (int64_t i = 0; i < states_count(model->space); i++) {
        sum += f[i] > -INFINITY ? exp(log_p0[i]) : 0;
    }
    return sum;
}

static void check_estimate(sal_model *model, const char *name)
{
    double log_base[R_MOST], log_z = tiny_log_z(model);
    random_base(model->space, 0.5, log_base);
    sal_ais_options options = {
        .chains = TEST_SANITIZED ? 400 : 800, .temperatures = 40, .seed = 3, .threads = 1
    };
    expect_log_z(model, options, log_z, name);
    options.log_base = log_base;
    options.schedule = SAL_AIS_SIGMOID;
    expect_log_z(model, options, log_z, name);
    int32_t *from = exact_draws(model, options.chains, 1);
    options.reverse_from = from;
    options.schedule = SAL_AIS_GEOMETRIC;
    expect_log_z(model, options, log_z - log(allowed(model, log_base)), name);
    free(from);
}

START_TEST(log_z_is_within_four_standard_errors)
{
    for_every_tiny(SAL_F64, check_estimate);
    for_every_tiny(SAL_F32, check_estimate);
}
END_TEST

/* With their weights, the states at the end are samples of the model. */
START_TEST(weighted_ends_are_samples_of_the_model)
{
    enum { CHAINS = 4000 };
    static int32_t ends[CHAINS * TINY_MOST_REALS];
    static double log_weights[CHAINS];
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    const sal_ais_options options = {
        .chains = CHAINS, .temperatures = 4, .seed = 3, .threads = 2, .ends = ends
    };
    estimate_of(model, &options, log_weights);
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < 16; i++) {
        double hits = 0, all = 0, squares = 0;
        for (int64_t c = 0; c < CHAINS; c++) {
            double w = exp(log_weights[c]), hit = state_of(space, ends + c * 4) == i;
            hits += w * hit;
            all += w;
            squares += w * w * (hit - pi[i]) * (hit - pi[i]);
        }
        ck_assert_double_eq_tol(hits / all, pi[i], 4 * sqrt(squares) / all);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(every_exact_sampler_will_do)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    double log_z = tiny_log_z(model);
    const sali_sampler *sampler;
    int tried = 0;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_ais_options options = { .chains = 400,
                                    .temperatures = 30,
                                    .steps = 2,
                                    .sampler = sampler->name,
                                    .seed = 5,
                                    .threads = 1 };
        if (sampler->unadjusted || sali_engine(sampler)->coupled) {
            refused(model, &options, SAL_ERR_UNSUPPORTED, sampler->name);
        } else if (sali_sampler_serves(sampler, model)) {
            expect_log_z(model, options, log_z, sampler->name);
            tried++;
        }
    }
    ck_assert_int_ge(tried, 10);
    static const char *const irreversible[] = { "avg:momentum=0.7,correction=0.5",
                                                "pavg:momentum=0.7" };
    for (int k = 0; k < 2; k++) {
        sal_ais_options options = { .chains = 400,
                                    .temperatures = 30,
                                    .steps = 2,
                                    .sampler = irreversible[k],
                                    .seed = 5,
                                    .threads = 1 };
        expect_log_z(model, options, log_z, irreversible[k]);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(ready_made_models_agree_with_enumeration)
{
    for (int k = 0; k < N_TINY_BUILTINS; k++) {
        sal_model *model = tiny_builtin(k, SAL_F64);
        sal_ais_options options = { .chains = 800, .temperatures = 200, .seed = 2, .threads = 1 };
        expect_log_z(model, options, tiny_log_z(model), tiny_builtins[k]);
        sal_model_destroy(model);
    }
}
END_TEST

/* log Z of an RBM, its visible units summed out for each of the 2^H states of the hidden ones. */
static double rbm_log_z(int V, int H, const double *W, const double *b, const double *c)
{
    double *f = malloc(sizeof *f << H);
    for (int h = 0; h < 1 << H; h++) {
        f[h] = 0;
        for (int j = 0; j < H; j++) {
            f[h] += h >> j & 1 ? c[j] : 0;
        }
        for (int i = 0; i < V; i++) {
            double a = b[i];
            for (int j = 0; j < H; j++) {
                a += h >> j & 1 ? W[j * V + i] : 0;
            }
            f[h] += fmax(a, 0) + log1p(exp(-fabs(a)));
        }
    }
    double log_z = log_sum((int64_t)1 << H, f);
    free(f);
    return log_z;
}

START_TEST(an_rbm_agrees_with_the_sum_over_hidden_states)
{
    enum { V = 60, H = 10 };
    sal_model *model = builtin("rbm:visible=60,hidden=10,scale=0.25", 0);
    double W[V * H], b[V], c[H];
    sal_error err;
    tiny_normals(60, V, 0.7, b);
    tiny_normals(61, H, 0.5, c);
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    ck_ok(sal_model_get_params(model, "W", W, &err), &err);
    double log_z = rbm_log_z(V, H, W, b, c);
    sal_ais_options options = { .chains = TEST_CHAINS(160), .temperatures = 400, .seed = 1 };
    expect_log_z(model, options, log_z, "rbm");
    sal_model_destroy(model);
}
END_TEST

/* Without a sampler: draws of layers and chains where there are such, between the base and the
 * model too, and what a run would take otherwise. */
START_TEST(layers_and_chains_are_drawn_by_default)
{
    static const struct {
        const char *model, *sampler;
    } cases[] = { { "rbm:visible=8,hidden=3", "block-gibbs" },
                  { "fhmm:length=5,factors=2", "block-gibbs" },
                  { "ising:side=3,theta=0.2", "gwg" },
                  { "mlp:visible=9,hidden=5,layers=1,units=6", "gwg" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = builtin(cases[k].model, 0);
        sal_ais_options o = { .chains = 10, .temperatures = 20, .seed = 4 };
        sal_ais_estimate usual = estimate_of(model, &o, NULL);
        ck_assert_str_eq(usual.sampler, cases[k].sampler);
        o.sampler = cases[k].sampler;
        ck_assert_double_eq(usual.log_z, estimate_of(model, &o, NULL).log_z);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- weights and their errors */

START_TEST(errors_are_honest)
{
    sal_space *space = tiny_space_make(tiny_space_named("spin"));
    sal_model *model = tiny_formula(space, SAL_F64);
    double log_z = tiny_log_z(model), sum = 0, squares = 0;
    int seeds = 200;
    for (int k = 0; k < seeds; k++) {
        sal_ais_options options = {
            .chains = 200, .temperatures = 20, .seed = (uint64_t)k, .threads = 1
        };
        sal_ais_estimate e = estimate_of(model, &options, NULL);
        double z = (e.log_z - log_z) / e.standard_error;
        sum += z;
        squares += z * z;
    }
    /* Of 200 normals, sum z^2 / 200 has standard deviation 0.1, and the mean 0.07. */
    ck_assert_msg(fabs(sum / seeds) < 0.3, "mean z %g", sum / seeds);
    ck_assert_msg(squares / seeds > 0.65 && squares / seeds < 1.4, "mean z^2 %g", squares / seeds);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* Mean of exp(sign (log w - log Z)), which must be 1. */
static void expect_unbiased(sal_model *model, const sal_ais_options *options, double sign)
{
    int64_t n = options->chains;
    double *w = malloc((size_t)n * sizeof *w), log_z = tiny_log_z(model), sum = 0, squares = 0;
    estimate_of(model, options, w);
    for (int64_t c = 0; c < n; c++) {
        double ratio = exp(sign * (w[c] - log_z));
        sum += ratio;
        squares += ratio * ratio;
    }
    double mean = sum / (double)n, error = sqrt((squares / (double)n - mean * mean) / (double)n);
    ck_assert_msg(fabs(mean - 1) < 4 * error, "mean %g, standard error %g", mean, error);
    ck_assert_msg(error < 0.05, "standard error %g", error);
    free(w);
}

START_TEST(weights_are_unbiased_both_ways)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    double log_base[R_MOST];
    random_base(space, 0.5, log_base);
    for (int64_t T = 8; T <= 32; T *= 2) {
        sal_ais_options options = { .chains = 20000,
                                    .temperatures = T,
                                    .steps = 2,
                                    .log_base = log_base,
                                    .seed = (uint64_t)T,
                                    .threads = 1 };
        expect_unbiased(model, &options, 1);
        int32_t *from = exact_draws(model, options.chains, (uint64_t)T);
        options.reverse_from = from;
        expect_unbiased(model, &options, -1);
        free(from);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(forward_is_below_and_reverse_above)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    double log_z = tiny_log_z(model), forward = 0, reverse = 0;
    for (uint64_t k = 0; k < 200; k++) {
        sal_ais_options options = { .chains = 4, .temperatures = 3, .seed = k, .threads = 1 };
        int32_t *from = exact_draws(model, 4, 100 + k);
        forward += (estimate_of(model, &options, NULL).log_z - log_z) / 200;
        options.reverse_from = from;
        reverse += (estimate_of(model, &options, NULL).log_z - log_z) / 200;
        free(from);
    }
    ck_assert_msg(forward < -0.02, "forward is off by %g", forward);
    ck_assert_msg(reverse > 0.02, "reverse is off by %g", reverse);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* Bennett's estimate from both directions: no bias to speak of, a smaller error than either
 * direction's, and a standard error that is right. */
START_TEST(both_ways_are_better_than_one)
{
    enum { FORWARD = 30, REVERSE = 10, REPEATS = 400 };
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    double log_z = tiny_log_z(model), bias = 0, error = 0, one_way = 0, claimed = 0;
    for (uint64_t k = 0; k < REPEATS; k++) {
        double w[FORWARD], v[REVERSE], both, standard_error;
        sal_error err;
        sal_ais_options options = { .chains = FORWARD, .temperatures = 3, .seed = k, .threads = 1 };
        int32_t *from = exact_draws(model, REVERSE, 1000 + k);
        double forward = estimate_of(model, &options, w).log_z;
        options.reverse_from = from;
        options.chains = REVERSE;
        double reverse = estimate_of(model, &options, v).log_z;
        ck_ok(sal_ais_bennett(FORWARD, w, REVERSE, v, &both, &standard_error, &err), &err);
        bias += (both - log_z) / REPEATS;
        error += pow(both - log_z, 2) / REPEATS;
        one_way += fmin(pow(forward - log_z, 2), pow(reverse - log_z, 2)) / REPEATS;
        claimed += standard_error * standard_error / REPEATS;
        free(from);
    }
    ck_assert_msg(fabs(bias) < 4 * sqrt(error / REPEATS), "bias %g", bias);
    ck_assert_msg(fabs(error / claimed - 1) < 0.25, "squared error %g, claimed %g", error, claimed);
    ck_assert_msg(error < 2 * one_way, "squared error %g, of the better way %g", error, one_way);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(weights_of_no_use_are_refused)
{
    const double good[2] = { 1, 2 }, dead[2] = { -INFINITY, -INFINITY }, bad[2] = { 1, NAN };
    double log_z = 7, error = 7;
    sal_error err;
    ck_fails(sal_ais_bennett(0, good, 2, good, &log_z, &error, &err), SAL_ERR_ARGUMENT, &err,
             "0 forward chains");
    ck_fails(sal_ais_bennett(2, bad, 2, good, &log_z, &error, &err), SAL_ERR_ARGUMENT, &err,
             "forward chain 1 is nan");
    ck_fails(sal_ais_bennett(2, dead, 2, good, &log_z, &error, &err), SAL_ERR_ARGUMENT, &err,
             "all 2 forward chains are dead");
    ck_fails(sal_ais_bennett(2, good, 2, dead, &log_z, &error, &err), SAL_ERR_ARGUMENT, &err,
             "reverse chain 0 is -inf");
    ck_assert(log_z == 7 && error == 7);
    ck_ok(sal_ais_bennett(1, good, 1, good, &log_z, &error, &err), &err);
    ck_assert(fabs(log_z - 1) < 1e-9 && isnan(error));
    const double far[2] = { 3002, 3003 };
    ck_ok(sal_ais_bennett(2, good, 2, far, &log_z, &error, &err), &err);
    ck_assert(fabs(log_z - 1502) < 1e-9 && error == INFINITY);
}
END_TEST

/* A model of independent variables, f = log p_0 + 2.5. */
static sal_model *factorised(const sal_space *space, double *log_base)
{
    double weights[TINY_MOST_REALS], constant = 2.5;
    sal_model *model = NULL;
    sal_error err;
    random_base(space, 0.8, log_base);
    for (int64_t v = 0; v < space->n_variables; v++) {
        weights[v] = log_base[2 * v + 1] - log_base[2 * v];
        constant += log_base[2 * v];
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f =
        sal_dot(sal_constant(tape, weights, SAL_SHAPE(space->n_variables)), sal_state(tape));
    ck_ok(sal_model_from_tape(tape, sal_add(f, sal_scalar(tape, constant)), &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

START_TEST(weights_from_the_model_itself_are_exact)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    double log_base[R_MOST], w[40];
    sal_model *model = factorised(space, log_base);
    sal_ais_options options = { .chains = 40, .temperatures = 50, .log_base = log_base };
    sal_ais_estimate e = estimate_of(model, &options, w);
    for (int c = 0; c < 40; c++) {
        ck_assert_double_eq_tol(w[c], 2.5, 1e-11);
    }
    ck_assert_double_eq_tol(e.log_z, 2.5, 1e-11);
    ck_assert(e.standard_error < 1e-11);
    ck_assert_double_eq_tol(e.ess, 40, 1e-8);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(forbidden_starts_have_weight_zero)
{
    sal_space *space = tiny_space_make(tiny_space_named("label"));
    sal_model *model = tiny_tables(space, SAL_F64);
    double w[300], f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    int64_t n = states_count(space), forbidden = 0, dead = 0;
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < n; i++) {
        forbidden += f[i] == -INFINITY;
    }
    ck_assert_int_gt(forbidden, 0);
    sal_ais_options options = { .chains = 300, .temperatures = 20, .seed = 4 };
    sal_ais_estimate e = estimate_of(model, &options, w);
    for (int c = 0; c < 300; c++) {
        dead += w[c] == -INFINITY;
    }
    ck_assert_int_eq(dead, e.dead);
    double share = (double)forbidden / (double)n, sd = sqrt(share * (1 - share) / 300);
    ck_assert_double_eq_tol((double)dead / 300, share, 4 * sd);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(results_do_not_depend_on_threads)
{
    sal_model *model = builtin("rbm:visible=30,hidden=8,scale=0.4", 0);
    double w[3][70];
    sal_ais_options options = { .chains = 70, .temperatures = 30, .seed = 9 };
    for (int k = 0; k < 3; k++) {
        options.threads = k == 2 ? 7 : k + 1;
        estimate_of(model, &options, w[k]);
    }
    ck_assert_mem_eq(w[0], w[1], sizeof w[0]);
    ck_assert_mem_eq(w[0], w[2], sizeof w[0]);
    options.seed = 10;
    estimate_of(model, &options, w[1]);
    ck_assert_mem_ne(w[0], w[1], sizeof w[0]);
    sal_model_destroy(model);
}
END_TEST

START_TEST(log_means_and_their_errors)
{
    const double a[] = { 1000 + log(1), 1000 + log(2), 1000 + log(6), -INFINITY };
    sali_log_mean m = sali_log_mean_exp(4, a);
    /* weights 1, 2, 6, 0: mean 2.25, variance (1.5625 + .0625 + 14.0625 + 5.0625) / 3 */
    ck_assert_double_eq_tol(m.value, 1000 + log(2.25), 1e-12);
    ck_assert_double_eq_tol(m.standard_error, sqrt(20.75 / 3 / 4) / 2.25, 1e-13);
    ck_assert_double_eq_tol(m.ess, 81.0 / 41, 1e-12);
    double theta[] = { log(8.0 / 3), log(7.0 / 3), log(3.0 / 3), log(9.0 / 3) }, mean = 0, sum = 0;
    for (int k = 0; k < 4; k++) {
        mean += theta[k] / 4;
    }
    for (int k = 0; k < 4; k++) {
        sum += (theta[k] - mean) * (theta[k] - mean);
    }
    ck_assert_double_eq_tol(m.jackknife, sqrt(0.75 * sum), 1e-12);
    ck_assert(isnan(sali_log_mean_exp(1, a).standard_error));
    ck_assert(isnan(sali_log_mean_exp(1, a).jackknife));
}
END_TEST

START_TEST(schedules_rise_from_0_to_1)
{
    for (int s = SAL_AIS_LINEAR; s <= SAL_AIS_GEOMETRIC; s++) {
        double last = 0, first = sali_ais_beta((sal_ais_schedule)s, 1, 100);
        ck_assert(sali_ais_beta((sal_ais_schedule)s, 0, 100) == 0);
        for (int t = 1; t <= 100; t++) {
            double beta = sali_ais_beta((sal_ais_schedule)s, t, 100);
            ck_assert(beta > last);
            last = beta;
        }
        ck_assert(last == 1);
        double end = 1 - sali_ais_beta((sal_ais_schedule)s, 99, 100);
        double ratio = s == SAL_AIS_GEOMETRIC ? pow(100, 0.99) : 1;
        ck_assert_double_eq_tol(end / first, ratio, 1e-9 * ratio);
    }
    double y = 1 / (1 + exp(2.0)), low = 1 / (1 + exp(4.0)), high = 1 / (1 + exp(-4.0));
    ck_assert_double_eq_tol(sali_ais_beta(SAL_AIS_SIGMOID, 25, 100), (y - low) / (high - low),
                            1e-14);
}
END_TEST

/* ---- options and mistakes */

static int stop_at_3(int64_t done, int64_t total, void *data)
{
    ck_assert_int_eq(total, 10);
    *(int64_t *)data = done;
    return done == 3;
}

START_TEST(progress_can_stop_it)
{
    sal_model *model = builtin("ising:side=3", 0);
    int64_t seen = 0;
    sal_ais_options options = {
        .temperatures = 10, .chains = 2, .progress = stop_at_3, .progress_data = &seen
    };
    sal_ais_estimate e = estimate_of(model, &options, NULL);
    ck_assert(e.stopped);
    ck_assert(isnan(e.log_z));
    ck_assert_int_eq(seen, 3);
    options.sampler = "gibbs"; /* which accepts always: of the steps that were made */
    e = estimate_of(model, &options, NULL);
    ck_assert(e.stopped);
    ck_assert(e.acceptance_rate == 1);
    sal_model_destroy(model);
}
END_TEST

/* The numbers of the chains of a path, which key their random numbers, [chains]. */
static void chain_numbers(sal_model *model, const sal_ais_options *options, uint32_t *id)
{
    sali_ais ais = { 0 };
    sal_error err;
    ck_ok(sali_ais_prepare(&ais, model, options, &err), &err);
    for (int64_t k = 0; k < ais.n_shards; k++) {
        for (int64_t c = 0; c < ais.shards[k].n; c++) {
            id[ais.shards[k].first + c] = ais.shards[k].chains->id[c];
        }
    }
    sali_ais_free(&ais);
}

START_TEST(both_ways_have_random_numbers_of_their_own)
{
    enum { CHAINS = 70 };
    sal_model *model = builtin("ising:side=3", 0);
    uint32_t forward[CHAINS], reverse[CHAINS];
    int32_t from[CHAINS * 9] = { 0 };
    sal_ais_options options = { .chains = CHAINS, .temperatures = 10, .seed = 5 };
    chain_numbers(model, &options, forward);
    options.reverse_from = from;
    chain_numbers(model, &options, reverse);
    for (int c = 0; c < CHAINS; c++) {
        ck_assert_uint_eq(forward[c], c);
        for (int d = 0; d < CHAINS; d++) {
            ck_assert_uint_ne(reverse[c], forward[d]);
            ck_assert(c == d || reverse[c] != reverse[d]);
        }
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(bad_options_are_refused)
{
    sal_model *model = builtin("ising:side=3", 0);
    double base[18] = { [4] = -INFINITY };
    int32_t from[18] = { [11] = 2 };
    sal_ais_options o = { .chains = -1 };
    refused(model, &o, SAL_ERR_ARGUMENT, "chains is -1; expected an integer from 1 to");
    o = (sal_ais_options){ .temperatures = -2 };
    refused(model, &o, SAL_ERR_ARGUMENT, "temperatures is -2");
    o = (sal_ais_options){ .steps = -3 };
    refused(model, &o, SAL_ERR_ARGUMENT, "steps is -3");
    o = (sal_ais_options){ .schedule = (sal_ais_schedule)9 };
    refused(model, &o, SAL_ERR_ARGUMENT, "schedule is 9");
    o = (sal_ais_options){ .sampler = "nonsense" };
    refused(model, &o, SAL_ERR_ARGUMENT, "nonsense");
    o = (sal_ais_options){ .sampler = "dula" };
    refused(model, &o, SAL_ERR_UNSUPPORTED, "'dula' is approximate");
    o = (sal_ais_options){ .step_size = 0.3 };
    refused(model, &o, SAL_ERR_ARGUMENT, "'gwg' has no step size");
    o = (sal_ais_options){ .log_base = base };
    refused(model, &o, SAL_ERR_ARGUMENT, "sum to 2");
    base[0] = base[1] = base[2] = base[3] = log(0.5);
    refused(model, &o, SAL_ERR_ARGUMENT, "log-probability -inf of state 0 of variable 2");
    o = (sal_ais_options){ .chains = 2, .reverse_from = from };
    refused(model, &o, SAL_ERR_ARGUMENT, "2");
    sal_model_destroy(model);
    model = builtin("mixture:dim=9", 0);
    o = (sal_ais_options){ .sampler = "block-gibbs" };
    refused(model, &o, SAL_ERR_UNSUPPORTED,
            "not the distributions between it and independent variables");
    sal_model_destroy(model);
    model = builtin("poisson:dim=3", 0);
    refused(model, NULL, SAL_ERR_UNSUPPORTED, "without a cap");
    sal_model_destroy(model);
}
END_TEST

static double wild(const double *x, double *gradient, void *data)
{
    (void)gradient;
    double value = *(const double *)data;
    return x[0] + x[1] > 1 ? value : 0;
}

/* A callback over 4 binary variables that has `value` where the first two are 1. */
static sal_model *wild_model(double *value)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_callback callback = { .f = wild, .data = value };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

START_TEST(what_must_not_be_is_an_error)
{
    double value = NAN;
    sal_model *model = wild_model(&value);
    sal_ais_options options = { .temperatures = 5, .chains = 50 };
    refused(model, &options, SAL_ERR_MODEL, "f is NaN at the state 1 1");
    value = INFINITY;
    refused(model, &options, SAL_ERR_MODEL, "f is +inf at the state 1 1");
    value = -INFINITY;
    sal_ais_estimate e = estimate_of(model, &options, NULL);
    ck_assert_int_gt(e.dead, 0);
    ck_assert_int_lt(e.dead, 50);
    int32_t from[8] = { 0, 0, 0, 0, 1, 1, 0, 0 };
    options = (sal_ais_options){ .chains = 2, .temperatures = 5, .reverse_from = from };
    refused(model, &options, SAL_ERR_ARGUMENT, "f is -inf at the state where chain 1");
    double low = log1p(-1e-9),
           base[8] = { log(1e-9), low, log(1e-9), low, log(0.5), log(0.5), log(0.5), log(0.5) };
    options = (sal_ais_options){ .chains = 50, .temperatures = 5, .log_base = base };
    refused(model, &options, SAL_ERR_MODEL, "the starts of all 50 chains");
    sal_model_destroy(model);
}
END_TEST

START_TEST(allocation_failures_are_errors)
{
    sal_model *model = builtin("ising:side=3,theta=0.3", 0);
    sal_ais_options options = {
        .temperatures = 2, .chains = 3, .threads = 1, .sampler = "mh-uniform"
    };
    sal_ais_estimate e;
    sal_error err;
    ck_alloc_sweep(sal_ais(model, &options, &e, NULL, &err), (void)0);
    sal_model_destroy(model);
}
END_TEST

/* ---- log-likelihoods */

START_TEST(base_probabilities_keep_away_from_0_and_1)
{
    sal_space *space = tiny_space_make(&(tiny_space){ "x", 2, { TINY_BINARY(3), TINY_LABEL(1) } });
    uint8_t codes[] = { 0, 1, 1, 2, 0, 1, 0, 2, 0, 1, 1, 2, 0, 1, 1, 1 };
    sal_data data = { .rows = 4, .variables = 4, .codes = codes };
    double base[9], log_prob[4], e = 0.02 / 3, left = 0.98 / (1 - 2 * e);
    const double want[] = {
        0.99, 0.01, 0.01, 0.99, 0.25, 0.75, e, e + left * (0.25 - e), e + left * (0.75 - e)
    };
    sal_error err;
    ck_ok(sal_base_fit(space, &data, base, &err), &err);
    for (int k = 0; k < 9; k++) {
        ck_assert_double_eq_tol(exp(base[k]), want[k], 1e-14);
    }
    ck_ok(sal_base_log_prob(space, base, &data, log_prob, NULL, &err), &err);
    for (int r = 0; r < 4; r++) {
        double sum = log(0.99) + log(0.99) + log(r == 1 ? 0.25 : 0.75) + log(want[r < 3 ? 8 : 7]);
        ck_assert_double_eq_tol(log_prob[r], sum, 1e-13);
    }
    /* Rows that count as often as their weight says. */
    double weight[] = { 1, 2, 1, 4 }, weighted[9];
    uint8_t repeated[] = { 0, 1, 1, 2, 0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 1, 2,
                           0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1 };
    sal_data often = { .rows = 8, .variables = 4, .codes = repeated };
    data.weight = weight;
    ck_ok(sal_base_fit(space, &data, weighted, &err), &err);
    ck_ok(sal_base_fit(space, &often, base, &err), &err);
    for (int k = 0; k < 9; k++) {
        ck_assert_double_eq_tol(weighted[k], base[k], 1e-14);
    }
    ck_assert_double_eq_tol(exp(base[4]), 0.25, 1e-14);
    weight[2] = 0;
    ck_fails(sal_base_fit(space, &data, base, &err), SAL_ERR_ARGUMENT, &err,
             "sal_base_fit: data row 2 has the weight 0");
    data.weight = NULL;
    codes[7] = 3;
    ck_fails(sal_base_fit(space, &data, base, &err), SAL_ERR_ARGUMENT, &err,
             "data row 1, variable 3: code 3; expected 0 to 2");
    data.variables = 8;
    ck_fails(sal_base_fit(space, &data, base, &err), SAL_ERR_ARGUMENT, &err,
             "the data have 8 variables; the model has 4");
    sal_space_destroy(space);
}
END_TEST

START_TEST(log_likelihood_is_mean_f_less_log_z)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    enum { ROWS = 600 };
    uint8_t codes[4 * ROWS];
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], sum = 0, squares = 0;
    sal_data data = { .rows = ROWS, .variables = 4, .codes = codes };
    sal_likelihood l;
    sal_error err;
    states_probabilities(model, 1, f, pi);
    for (int r = 0; r < ROWS; r++) {
        int state = (7 * r * r + 3) % 16;
        for (int v = 0; v < 4; v++) {
            codes[4 * r + v] = (uint8_t)(state >> (3 - v) & 1);
        }
        sum += f[state];
        squares += f[state] * f[state];
    }
    double mean = sum / ROWS, variance = (squares - sum * mean) / (ROWS - 1);
    ck_ok(sal_log_likelihood(model, &data, 1.5, 0.2, &l, &err), &err);
    ck_assert_double_eq_tol(l.mean_f, mean, 1e-12);
    ck_assert_double_eq_tol(l.mean, mean - 1.5, 1e-12);
    ck_assert_double_eq_tol(l.data_error, sqrt(variance / ROWS), 1e-12);
    ck_assert_double_eq_tol(l.standard_error, sqrt(variance / ROWS + 0.04), 1e-12);
    /* Weights: of equal ones nothing changes; two rows of weights 3 and 1. */
    double weight[ROWS];
    for (int r = 0; r < ROWS; r++) {
        weight[r] = 7;
    }
    data.weight = weight;
    ck_ok(sal_log_likelihood(model, &data, 1.5, 0.2, &l, &err), &err);
    ck_assert_double_eq_tol(l.mean, mean - 1.5, 1e-12);
    ck_assert_double_eq_tol(l.data_error, sqrt(variance / ROWS), 1e-12);
    data.rows = 2;
    weight[0] = 3;
    weight[1] = 1;
    double a = f[3], b = f[10], m = 0.75 * a + 0.25 * b;
    ck_ok(sal_log_likelihood(model, &data, 1.5, 0, &l, &err), &err);
    ck_assert_double_eq_tol(l.mean_f, m, 1e-12);
    ck_assert_double_eq_tol(l.data_error,
                            sqrt(2 * (pow(0.75 * (a - m), 2) + pow(0.25 * (b - m), 2))), 1e-12);
    data.weight = NULL;
    ck_fails(sal_log_likelihood(model, &data, NAN, 0, &l, &err), SAL_ERR_ARGUMENT, &err,
             "log Z nan");
    codes[5] = 2;
    ck_fails(sal_log_likelihood(model, &data, 0, 0, &l, &err), SAL_ERR_ARGUMENT, &err,
             "data row 1, variable 1: code 2");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("ais");
    TCase *tc = tcase_create("ais");
    tcase_add_test(tc, weighted_ends_are_samples_of_the_model);
    tcase_add_test(tc, every_exact_sampler_will_do);
    tcase_add_test(tc, ready_made_models_agree_with_enumeration);
    tcase_add_test(tc, an_rbm_agrees_with_the_sum_over_hidden_states);
    tcase_add_test(tc, layers_and_chains_are_drawn_by_default);
    tcase_add_test(tc, errors_are_honest);
    tcase_add_test(tc, forward_is_below_and_reverse_above);
    tcase_add_test(tc, both_ways_are_better_than_one);
    tcase_add_test(tc, weights_of_no_use_are_refused);
    tcase_add_test(tc, weights_from_the_model_itself_are_exact);
    tcase_add_test(tc, forbidden_starts_have_weight_zero);
    tcase_add_test(tc, results_do_not_depend_on_threads);
    tcase_add_test(tc, log_means_and_their_errors);
    tcase_add_test(tc, schedules_rise_from_0_to_1);
    tcase_add_test(tc, progress_can_stop_it);
    tcase_add_test(tc, both_ways_have_random_numbers_of_their_own);
    tcase_add_test(tc, bad_options_are_refused);
    tcase_add_test(tc, what_must_not_be_is_an_error);
    tcase_add_test(tc, allocation_failures_are_errors);
    tcase_add_test(tc, base_probabilities_keep_away_from_0_and_1);
    tcase_add_test(tc, log_likelihood_is_mean_f_less_log_z);
    suite_add_tcase(suite, tc);
    tc = statistics_create("estimates");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, log_z_is_within_four_standard_errors);
    tcase_add_test(tc, weights_are_unbiased_both_ways);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return test_main(make());
}
