/* SPDX-License-Identifier: MIT */
/* Denoising chains of conditional energies: against enumeration where states can be counted, and a
 * training that learns. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include <saltus/saltus.h>
#include "ad/workspace.h"
#include "models/exact/exact.h"
#include "models/levels/levels.h"
#include "models/states.h"
#include "run/trajectory/trajectory.h"
#include "train/objectives/denoising.h"
#include "train/trajectory_file.h"
#include "temp_dir.h"

#define BITS 4
#define STATES 16 /* of binary variables */
#define LEVELS 2

static const double keep[] = { 1, 0.6, 0 };
static const double shares[BITS] = { 0.3, 0.6, 0.5, 0.2 };

/* log p_0 by the shares of code 1. */
static void base_of(double log_base[2 * BITS])
{
    for (int v = 0; v < BITS; v++) {
        log_base[2 * v] = log(1 - shares[v]);
        log_base[2 * v + 1] = log(shares[v]);
    }
}

static sal_model *make(const char *specification, double scale)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    const int64_t n = sal_model_parameters_size(model);
    double *flat = calloc((size_t)n, sizeof *flat);
    for (int64_t k = 0; k < n; k++) {
        flat[k] = scale * sin(0.9 * (double)k);
    }
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    free(flat);
    return model;
}

static sal_trajectory *chain_of(const sal_model *model, const int64_t *steps, const char *sampler)
{
    double log_base[2 * BITS];
    sali_noise *noise = NULL;
    sal_error err;
    sal_space *space = sali_levels_space(model);
    base_of(log_base);
    ck_ok(sali_noise_create(space, LEVELS, keep, log_base, &noise, &err), &err);
    sal_space_destroy(space);
    sal_trajectory *t =
        sali_trajectory_of_noise(sal_model_parameters_size(model), noise, steps, NULL, sampler);
    ck_assert_ptr_nonnull(t);
    return t;
}

/* log q(to | from) of one more level of noise, written out. */
static double log_q(int level, const int32_t *from, const int32_t *to)
{
    const double kept = keep[level + 1] / keep[level];
    double sum = 0;
    for (int v = 0; v < BITS; v++) {
        const double drawn = to[v] ? shares[v] : 1 - shares[v];
        sum += log((from[v] == to[v] ? kept : 0) + (1 - kept) * drawn);
    }
    return sum;
}

static void codes_of(int64_t state, int32_t codes[BITS])
{
    for (int v = 0; v < BITS; v++) {
        codes[v] = (int32_t)(state >> (BITS - 1 - v) & 1);
    }
}

/* f_t of all states. */
static void energies(const sal_model *joint, int32_t level, double f[STATES])
{
    int32_t codes[STATES * (BITS + 1)];
    sal_error err;
    for (int64_t i = 0; i < STATES; i++) {
        codes_of(i, codes + i * (BITS + 1));
        codes[i * (BITS + 1) + BITS] = level;
    }
    ck_ok(sal_model_evaluate(joint, STATES, codes, f, NULL, NULL, &err), &err);
}

/* p(x_t | x_(t+1)) [x_(t+1)][x_t], and log Z_t(x_(t+1)). */
static void conditional(const sal_model *joint, int level, double p[STATES][STATES],
                        double log_z[STATES])
{
    double f[STATES];
    int32_t x[BITS], above[BITS];
    energies(joint, level, f);
    for (int64_t j = 0; j < STATES; j++) {
        double sum = 0;
        codes_of(j, above);
        for (int64_t i = 0; i < STATES; i++) {
            codes_of(i, x);
            p[j][i] = exp(f[i] + log_q(level, x, above));
            sum += p[j][i];
        }
        for (int64_t i = 0; i < STATES; i++) {
            p[j][i] /= sum;
        }
        log_z[j] = log(sum);
    }
}

/* ---- the noise */

/* Frequencies of one level more against q, and what the coupling says of q. */
START_TEST(noise_is_as_it_says)
{
    enum { DRAWS = 40000 };
    sal_model *model = make("mlp:visible=4,hidden=2,levels=2,units=1,layers=1", 0);
    sal_trajectory *t = chain_of(model, (const int64_t[]){ 1, 1 }, "dlmcf");
    double uniform[2 * BITS], field[BITS];
    for (int level = 0; level < LEVELS; level++) {
        int32_t from[BITS], to[BITS];
        int64_t counts[STATES] = { 0 };
        double chi_square = 0;
        codes_of(5, from);
        for (int k = 0; k < DRAWS; k++) {
            const sali_stream stream = {
                .seed = 3, .chain = (uint32_t)k, .step = (uint64_t)level, .purpose = SALI_RNG_NOISE
            };
            int64_t state = 0;
            sali_noise_add(t->noise, level, level + 1, &stream, uniform, from, to);
            for (int v = 0; v < BITS; v++) {
                state = 2 * state + to[v];
            }
            counts[state]++;
        }
        for (int64_t j = 0; j < STATES; j++) {
            codes_of(j, to);
            const double expected = DRAWS * exp(log_q(level, from, to));
            chi_square += pow((double)counts[j] - expected, 2) / expected;
            const double constant = sali_noise_field(t->noise, level, to, SAL_F64, field);
            for (int64_t i = 0; i < STATES; i++) {
                double linear = constant;
                codes_of(i, from);
                for (int v = 0; v < BITS; v++) {
                    linear += field[v] * from[v];
                }
                ck_assert_double_eq_tol(linear, log_q(level, from, to), 1e-12);
            }
            codes_of(5, from);
        }
        ck_assert_double_lt(chi_square, 37.7); /* 15 degrees of freedom, 1 in 1000 */
    }
    sal_trajectory_destroy(t);
    sal_model_destroy(model);
}
END_TEST

/* All kinds of variables: labels and spins. */
START_TEST(couplings_are_linear_for_labels_and_spins)
{
    static const char *const specifications[] = { "mlp:visible=3,hidden=2,levels=3,states=4",
                                                  "mlp:visible=3,hidden=2,levels=3,kind=spin" };
    sal_model *model = make(specifications[_i], 0);
    sal_space *space = sali_levels_space(model);
    const int64_t R = space->n_states, N = space->width, K = space->variables[0].states;
    double *log_base = calloc((size_t)R, sizeof *log_base), usual[4], x[12], field[12];
    sali_noise *noise = NULL;
    sal_error err;
    for (int64_t k = 0; k < R; k++) {
        log_base[k] = log((1 + (double)(k % K)) * 2 / (double)(K * (K + 1)));
    }
    sali_noise_usual(3, usual);
    ck_ok(sali_noise_create(space, 3, usual, log_base, &noise, &err), &err);
    for (int64_t pair = 0; pair < K * K * K * K * K * K; pair++) {
        int32_t from[3], to[3];
        int64_t rest = pair;
        double want = 0, got;
        const double kept = usual[2] / usual[1];
        for (int v = 0; v < 3; v++, rest /= K * K) {
            from[v] = (int32_t)(rest % K);
            to[v] = (int32_t)(rest / K % K);
            want += log((from[v] == to[v] ? kept : 0) + (1 - kept) * exp(log_base[v * K + to[v]]));
        }
        ck_ok(sal_space_embed(space, 1, from, x, &err), &err);
        got = sali_noise_field(noise, 1, to, SAL_F64, field);
        for (int64_t i = 0; i < N; i++) {
            got += field[i] * x[i];
        }
        ck_assert_double_eq_tol(got, want, 1e-12);
    }
    sali_noise_destroy(noise);
    sal_space_destroy(space);
    sal_model_destroy(model);
    free(log_base);
}
END_TEST

START_TEST(usual_schedules_fall_from_one_to_zero)
{
    for (int64_t levels = 1; levels < 40; levels++) {
        double usual[41];
        sali_noise_usual(levels, usual);
        ck_assert_double_eq(usual[0], 1);
        ck_assert_double_eq(usual[levels], 0);
        for (int64_t t = 0; t < levels; t++) {
            ck_assert_double_lt(usual[t + 1], usual[t]);
            ck_assert_double_ge(sali_noise_usual_steps(levels, t), 1);
        }
    }
}
END_TEST

/* ---- the distribution */

/* Draws from scratch against the chain's distribution by enumeration: with many steps at each level
 * they are the model's. */
START_TEST(draws_are_of_the_enumerated_distribution)
{
    enum { CHAINS = 400, DRAWS = 100 };
    static const char *const samplers[] = { "dlmcf:balance=barker", "gwg", "ncg" };
    double p[LEVELS][STATES][STATES], log_z[STATES], now[STATES], next[STATES], chi_square = 0;
    int64_t counts[STATES] = { 0 };
    int32_t x[BITS];
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=2,units=2,layers=1", 1.3), *rows = NULL;
    sal_trajectory *t = chain_of(joint, (const int64_t[]){ 60, 60 }, samplers[_i]);
    for (int64_t j = 0; j < STATES; j++) {
        codes_of(j, x);
        now[j] = 1;
        for (int v = 0; v < BITS; v++) {
            now[j] *= x[v] ? shares[v] : 1 - shares[v];
        }
    }
    for (int level = LEVELS - 1; level >= 0; level--) {
        conditional(joint, level, p[level], log_z);
        memset(next, 0, sizeof next);
        for (int64_t k = 0; k < STATES * STATES; k++) {
            next[k % STATES] += now[k / STATES] * p[level][k / STATES][k % STATES];
        }
        memcpy(now, next, sizeof now);
    }
    ck_ok(sal_trajectory_model(t, joint, &rows, &err), &err);
    ck_assert_int_eq(sal_space_variables(sal_model_space(rows)), BITS);
    const sal_run_options o = {
        .trajectory = t, .chains = CHAINS, .draws = DRAWS, .record.draws = true, .seed = 7
    };
    sal_run *run = NULL;
    sal_run_summary s;
    /* the model over x and t stands for that over x */
    ck_ok(sal_sample(_i == 1 ? joint : rows, &o, &run, &err), &err);
    int bytes;
    const uint8_t *codes = sal_run_draws(run, &bytes);
    for (int64_t k = 0; k < CHAINS * DRAWS; k++) {
        int64_t state = 0;
        for (int v = 0; v < BITS; v++) {
            state = 2 * state + codes[k * BITS + v];
        }
        counts[state]++;
    }
    for (int64_t i = 0; i < STATES; i++) {
        chi_square +=
            pow((double)counts[i] - CHAINS * DRAWS * now[i], 2) / (CHAINS * DRAWS * now[i]);
    }
    ck_assert_msg(chi_square < 37.7, "chi-square %g with 15 degrees of freedom", chi_square);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_int_eq(s.levels, LEVELS);
    ck_assert_int_eq(s.warmup, 0);
    sal_trajectory_destroy(t); /* a run may live longer */
    sal_run_destroy(run);
    sal_model_destroy(rows);
    sal_model_destroy(joint);
}
END_TEST

/* ---- the bound */

/* All rows equal to one state: the bound's mean against that by enumeration. */
static void check_bound(sal_model *joint, const sal_trajectory *t, int64_t state, double tolerance)
{
    enum { ROWS = 1500 };
    double p[STATES][STATES], log_z[LEVELS][STATES], f[LEVELS][STATES], exact = 0;
    uint8_t *codes = malloc(ROWS * BITS);
    int32_t x[BITS], y[BITS], z[BITS];
    sal_bound bound;
    sal_error err;
    for (int level = 0; level < LEVELS; level++) {
        conditional(joint, level, p, log_z[level]);
        energies(joint, level, f[level]);
    }
    codes_of(state, x);
    for (int64_t j = 0; j < STATES; j++) {
        for (int64_t k = 0; k < STATES; k++) {
            double base = 0;
            codes_of(j, y);
            codes_of(k, z);
            for (int v = 0; v < BITS; v++) {
                base += log(z[v] ? shares[v] : 1 - shares[v]);
            }
            exact += exp(log_q(0, x, y) + log_q(1, y, z)) *
                     (base + f[0][state] - log_z[0][j] + f[1][j] - log_z[1][k]);
        }
    }
    for (int64_t i = 0; i < ROWS * BITS; i++) {
        codes[i] = (uint8_t)x[i % BITS];
    }
    const sal_bound_options o = { .effort = 8, .seed = 5 };
    ck_ok(sal_denoising_bound(joint, t, ROWS, codes, &o, &bound, &err), &err);
    ck_assert_double_ge(bound.forward, exact - 4 * bound.forward_error - tolerance);
    ck_assert_double_le(bound.reverse, exact + 4 * bound.reverse_error + tolerance);
    ck_assert_double_eq_tol(bound.forward, exact, 4 * bound.forward_error + tolerance);
    ck_assert_double_eq_tol(bound.reverse, exact, 4 * bound.reverse_error + 10 * tolerance);
    ck_assert_double_eq_tol(bound.gap, bound.forward - bound.reverse, 1e-9);
    free(codes);
}

START_TEST(the_bound_is_that_by_enumeration)
{
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=2,units=2,layers=1", 1);
    sal_trajectory *t = chain_of(joint, (const int64_t[]){ 4, 4 }, "dlmcf:balance=barker");
    check_bound(joint, t, 3 * _i, 0.01);
    sal_trajectory_destroy(t);
    sal_model_destroy(joint);
}
END_TEST

/* f_t = log p_0 at every level: the model is p_0, whatever the path of the noise. */
START_TEST(the_bound_of_a_null_net_is_exact)
{
    enum { ROWS = 64 };
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=2,units=2,base=1", 0);
    sal_trajectory *t = chain_of(joint, (const int64_t[]){ 4, 4 }, "dlmcf:balance=barker");
    double logits[BITS], exact = 0;
    uint8_t codes[ROWS * BITS];
    sal_bound bound;
    for (int v = 0; v < BITS; v++) {
        logits[v] = log(shares[v] / (1 - shares[v]));
    }
    ck_ok(sal_model_set_params(joint, "base", logits, &err), &err);
    for (int i = 0; i < ROWS * BITS; i++) {
        codes[i] = (uint8_t)(i / 3 % 2);
        exact += log(codes[i] ? shares[i % BITS] : 1 - shares[i % BITS]) / ROWS;
    }
    ck_ok(sal_denoising_bound(joint, t, ROWS, codes, NULL, &bound, &err), &err);
    ck_assert_double_eq_tol(bound.forward, exact, 1e-9);
    ck_assert_double_eq_tol(bound.reverse, exact, 1e-9);
    sal_trajectory_destroy(t);
    sal_model_destroy(joint);
}
END_TEST

/* ---- training */

/* Rows of four bits: all states, of uneven frequencies. */
static sal_data rows_of(int64_t n)
{
    sal_data data = { .rows = n, .variables = BITS, .codes = malloc((size_t)(n * BITS)) };
    for (int64_t r = 0; r < n; r++) {
        int32_t x[BITS];
        codes_of(r % 2 == 0 ? r / 2 % STATES : r % 7 == 0 ? 6 : r % 3 == 0 ? 9 : r % 5 * 3, x);
        for (int v = 0; v < BITS; v++) {
            data.codes[r * BITS + v] = (uint8_t)x[v];
        }
    }
    return data;
}

/* Shares of states among rows. */
static void shares_of(const sal_data *data, double share[STATES])
{
    memset(share, 0, STATES * sizeof *share);
    for (int64_t r = 0; r < data->rows; r++) {
        int64_t state = 0;
        for (int v = 0; v < BITS; v++) {
            state = 2 * state + data->codes[r * BITS + v];
        }
        share[state] += 1 / (double)data->rows;
    }
}

/* log q(to | from) with the trained noise. */
static double noise_log_q(const sali_noise *noise, int level, int64_t from, int64_t to)
{
    int32_t x[BITS], y[BITS];
    double field[BITS];
    codes_of(from, x);
    codes_of(to, y);
    double sum = sali_noise_field(noise, level, y, SAL_F64, field);
    for (int v = 0; v < BITS; v++) {
        sum += field[v] * x[v];
    }
    return sum;
}

/* sum_i weight[i] df/dparameters at all states, [parameters]. */
static void add_params(const sal_model *joint, const int32_t *codes, const double *weight,
                       double *gradient)
{
    const sali_tape_model *tape = sali_model_tape(joint);
    double *x = calloc((size_t)(STATES * joint->space->width), sizeof *x);
    sali_workspace *ws = NULL;
    sal_error err;
    sali_model_embed(joint, STATES, codes, x);
    ck_ok(sali_workspace_create(tape->program, tape->params, STATES, SALI_WANT_PARAM_GRADIENT, &ws,
                                &err),
          &err);
    sali_workspace_param_zero(ws);
    sali_workspace_param_gradient(ws, STATES, codes, x, weight, NULL);
    sali_workspace_param_flat(ws, gradient);
    sali_workspace_destroy(ws);
    free(x);
}

/* The change of each parameter by one small step along the gradient, against enumeration: levels in
 * equal shares, the data's noise, exact conditionals in the place of the chains. */
START_TEST(the_gradient_is_that_by_enumeration)
{
    enum { ROWS = 48000, THREE = 3 };
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=3,units=2,layers=1", 0.8);
    sal_data data = rows_of(ROWS);
    const int64_t n = sal_model_parameters_size(joint);
    double *before = calloc((size_t)n, sizeof *before), *after = calloc((size_t)n, sizeof *after);
    double *want = calloc((size_t)n, sizeof *want), *gradient = calloc((size_t)n, sizeof *gradient);
    double share[STATES], largest = 0;
    sal_trainer *trainer = NULL;
    sal_train_report report;
    const sal_train_options o = { .objective = SAL_DENOISING,
                                  .sampler = "gwg",
                                  .optimiser = { .method = SAL_SGD, .momentum = -1 },
                                  .learning_rate = 1e-3,
                                  .iterations = 1,
                                  .steps = 40,
                                  .batch = ROWS };
    ck_ok(sal_model_get_params(joint, NULL, before, &err), &err);
    ck_ok(sal_trainer_create(joint, &data, &o, &trainer, &err), &err);
    sal_trainer_report(trainer, &report);
    const sali_noise *noise = report.trajectory->noise;
    shares_of(&data, share);
    /* weights of states at each level: the noisy data's, less those of the conditionals */
    for (int level = 0; level < THREE; level++) {
        double above[STATES] = { 0 }, weight[STATES], f[STATES];
        int32_t codes[STATES * (BITS + 1)];
        energies(joint, level, f);
        for (int64_t k = 0; k < STATES * STATES; k++) {
            above[k % STATES] +=
                share[k / STATES] * exp(noise_log_q(noise, level, k / STATES, k % STATES));
        }
        memcpy(weight, share, sizeof weight);
        for (int64_t j = 0; j < STATES; j++) {
            double p[STATES], sum = 0;
            for (int64_t i = 0; i < STATES; i++) {
                sum += p[i] = exp(f[i] + noise_log_q(noise, level, i, j));
            }
            for (int64_t i = 0; i < STATES; i++) {
                weight[i] -= above[j] * p[i] / sum;
            }
        }
        for (int64_t i = 0; i < STATES; i++) {
            codes_of(i, codes + i * (BITS + 1));
            codes[i * (BITS + 1) + BITS] = level;
        }
        add_params(joint, codes, weight, gradient);
        for (int64_t k = 0; k < n; k++) {
            want[k] += gradient[k] / THREE;
        }
        memcpy(share, above, sizeof share);
    }
    ck_ok(sal_trainer_run(trainer, 1, &err), &err);
    ck_ok(sal_model_get_params(joint, NULL, after, &err), &err);
    for (int64_t k = 0; k < n; k++) {
        const double got = (after[k] - before[k]) / o.learning_rate;
        largest = fmax(largest, fabs(want[k]));
        ck_assert_msg(fabs(got - want[k]) < 0.015, "parameter %d: %g, expected %g", (int)k, got,
                      want[k]);
    }
    ck_assert_double_gt(largest, 0.1);
    sal_trainer_destroy(trainer);
    sal_model_destroy(joint);
    free(data.codes);
    free(before);
    free(after);
    free(want);
    free(gradient);
}
END_TEST

static int64_t state_at(const int32_t *codes)
{
    int64_t state = 0;
    for (int v = 0; v < BITS; v++) {
        state = 2 * state + codes[v];
    }
    return state;
}

/* Pairs x_t, x_(t+1) of the rows of each level against what the noise makes of the data. */
START_TEST(rows_have_the_noise_of_their_levels)
{
    enum { ROWS = 48000, THREE = 3 };
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=3,units=2,layers=1", 0.8);
    sal_data data = rows_of(ROWS);
    sal_trainer *t = NULL;
    const sal_train_options o = { .objective = SAL_DENOISING, .batch = ROWS };
    static double counts[THREE][STATES][STATES];
    double share[STATES];
    for (int64_t i = 0; i < ROWS * BITS; i++) { /* 0011 and 1100, which noise turns into others */
        data.codes[i] = i / BITS % 2 == (i % BITS < 2);
    }
    ck_ok(sal_trainer_create(joint, &data, &o, &t, &err), &err);
    const sali_denoising_training *own = t->own;
    sali_buffer_choose(t);
    memset(counts, 0, sizeof counts);
    for (int64_t k = 0; k < t->n_shards; k++) {
        t->objective->begin_shard(t, k);
        for (int64_t c = t->shards[k].first; c < t->shards[k].first + t->shards[k].n; c++) {
            counts[t->shards[k].level][state_at(own->codes + c * BITS)]
                  [state_at(t->buffer.codes + c * BITS)]++;
        }
    }
    shares_of(&data, share);
    for (int level = 0; level < THREE; level++) {
        double above[STATES] = { 0 }, chi_square = 0, cells = 0;
        for (int64_t k = 0; k < STATES * STATES; k++) {
            const int64_t from = k / STATES, to = k % STATES;
            const double p = share[from] * exp(noise_log_q(own->path->noise, level, from, to));
            const double expected = p * ROWS / THREE;
            above[to] += p;
            ck_assert(expected > 0 || counts[level][from][to] == 0);
            if (expected >= 5) {
                chi_square += pow(counts[level][from][to] - expected, 2) / expected;
                cells++;
            }
        }
        ck_assert_double_gt(cells, 20);
        ck_assert_msg(chi_square < cells + 5 * sqrt(2 * cells),
                      "level %d: chi-square %g of %g cells", level, chi_square, cells);
        memcpy(share, above, sizeof share);
    }
    sal_trainer_destroy(t);
    sal_model_destroy(joint);
    free(data.codes);
}
END_TEST

static sal_train_options learning(int64_t iterations)
{
    return (sal_train_options){ .objective = SAL_DENOISING,
                                .learning_rate = 0.05,
                                .iterations = iterations,
                                .averaging = 0.99,
                                .rate.schedule = SAL_RATE_COSINE,
                                .steps = 6,
                                .batch = 144,
                                .seed = 4 };
}

/* What is trained draws what it was trained on, and the bound says so. */
START_TEST(training_learns_the_distribution)
{
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=16,levels=3,units=8,layers=1", 0.3), *rows = NULL;
    sal_data data = rows_of(2100);
    sal_train_options o = learning(2500);
    sal_trainer *trainer = NULL;
    sal_train_report report;
    sal_run *run = NULL;
    sal_bound bound;
    double share[STATES], distance = 0, entropy = 0, count[STATES] = { 0 };
    int bytes;
    ck_ok(sal_trainer_create(joint, &data, &o, &trainer, &err), &err);
    ck_ok(sal_trainer_run(trainer, o.iterations, &err), &err);
    sal_trainer_report(trainer, &report);
    ck_assert_int_eq(report.levels, 3);
    ck_assert_ptr_null(report.samples);
    ck_ok(sal_trajectory_model(report.trajectory, joint, &rows, &err), &err);
    const sal_run_options run_options = {
        .trajectory = report.trajectory, .chains = 200, .draws = 50, .record.draws = true
    };
    ck_ok(sal_sample(rows, &run_options, &run, &err), &err);
    const uint8_t *codes = sal_run_draws(run, &bytes);
    for (int64_t k = 0; k < 10000; k++) {
        int64_t state = 0;
        for (int v = 0; v < BITS; v++) {
            state = 2 * state + codes[k * BITS + v];
        }
        count[state] += 1e-4;
    }
    shares_of(&data, share);
    for (int64_t i = 0; i < STATES; i++) {
        distance += fabs(count[i] - share[i]) / 2;
        entropy -= share[i] > 0 ? share[i] * log(share[i]) : 0;
    }
    ck_assert_msg(distance < 0.06, "total variation %g", distance);
    ck_ok(sal_denoising_bound(joint, report.trajectory, data.rows, data.codes, NULL, &bound, &err),
          &err);
    ck_assert_double_lt(bound.reverse, -entropy + 0.01);
    ck_assert_msg(bound.reverse > -entropy - 0.15, "bound %g, entropy %g", bound.reverse, entropy);
    sal_run_destroy(run);
    sal_trainer_destroy(trainer);
    sal_model_destroy(rows);
    sal_model_destroy(joint);
    free(data.codes);
}
END_TEST

/* The same bits on any number of threads, and after a resume; and files that are read back. */
START_TEST(trainings_resume_to_the_same_bits)
{
    sal_error err;
    const char *const architecture = "mlp:visible=4,hidden=3,levels=2,units=2,layers=1";
    sal_data data = rows_of(300);
    double *params[3];
    temp_dir_make();
    for (int way = 0; way < 3; way++) {
        sal_model *joint = make(architecture, 0.3);
        sal_train_options o = learning(20);
        const int64_t n = sal_model_parameters_size(joint);
        sal_trainer *trainer = NULL;
        o.threads = way == 1 ? 1 : 2;
        ck_ok(sal_trainer_create(joint, &data, &o, &trainer, &err), &err);
        ck_ok(sal_trainer_run(trainer, way == 2 ? 9 : 20, &err), &err);
        if (way == 2) {
            ck_ok(sal_trainer_save(trainer, temp_dir, &err), &err);
            sal_trainer_destroy(trainer);
            sal_model_destroy(joint);
            joint = make(architecture, 0.1);
            ck_ok(sal_trainer_create(joint, &data, &o, &trainer, &err), &err);
            ck_ok(sal_trainer_load(trainer, temp_dir, &err), &err);
            ck_ok(sal_trainer_run(trainer, 11, &err), &err);
        }
        params[way] = calloc((size_t)n, sizeof **params);
        ck_ok(sal_model_get_params(joint, NULL, params[way], &err), &err);
        ck_assert_msg(memcmp(params[way], params[0], (size_t)n * sizeof **params) == 0, "way %d",
                      way);
        sal_trainer_destroy(trainer);
        sal_model_destroy(joint);
    }
    for (int way = 0; way < 3; way++) {
        free(params[way]);
    }
    free(data.codes);
}
END_TEST

/* One flip a step does not follow an energy that 16 pixels agree in: the level runs away, and gets
 * more steps; from the third time on the learning rate is halved, too. Also after a resume. */
START_TEST(a_level_that_runs_away_gets_more_steps_and_a_smaller_rate)
{
    enum { PIXELS = 16, ROWS = 200, ITERATIONS = 400 };
    static uint8_t codes[ROWS * PIXELS];
    sal_data data = { .rows = ROWS, .variables = PIXELS, .codes = codes };
    const sal_train_options o = { .objective = SAL_DENOISING,
                                  .sampler = "gwg",
                                  .steps = 1,
                                  .learning_rate = 0.05,
                                  .iterations = ITERATIONS,
                                  .batch = 40 };
    sal_error err;
    sal_model *models[2];
    sal_trainer *t[2] = { NULL };
    int64_t most = 0;
    for (int i = 0; i < ROWS * PIXELS; i++) {
        codes[i] = i / PIXELS % 2 == 1;
    }
    temp_dir_make();
    for (int k = 0; k < 2; k++) {
        models[k] = make("mlp:visible=16,hidden=8,levels=2,units=8,layers=1", 0.1);
        ck_ok(sal_trainer_create(models[k], &data, &o, &t[k], &err), &err);
    }
    ck_ok(sal_trainer_run(t[0], ITERATIONS / 2, &err), &err);
    ck_ok(sal_trainer_save(t[0], temp_dir, &err), &err);
    ck_ok(sal_trainer_run(t[0], ITERATIONS / 2, &err), &err);
    ck_ok(sal_trainer_load(t[1], temp_dir, &err), &err);
    ck_ok(sal_trainer_run(t[1], ITERATIONS / 2, &err), &err);
    const sali_denoising_training *own[] = { t[0]->own, t[1]->own };
    for (int level = 0; level < 2; level++) {
        const int64_t steps = own[0]->path->noise_steps[level];
        ck_assert_int_eq(own[1]->path->noise_steps[level], steps);
        most = steps > most ? steps : most;
    }
    ck_assert_int_gt(most, 3);
    sal_train_report report;
    sal_trainer_report(t[1], &report);
    ck_assert_int_eq(report.disturbed, own[0]->back.all);
    ck_assert_int_gt(report.disturbed, 2);
    for (int k = 0; k < 2; k++) {
        ck_assert_double_eq(t[k]->optimiser.learning_rate,
                            ldexp(o.learning_rate, 2 - (int)report.disturbed));
    }
    ck_assert_int_eq(t[0]->optimiser.n, t[1]->optimiser.n);
    ck_assert_mem_eq(t[0]->values, t[1]->values, (size_t)t[0]->optimiser.n * sizeof *t[0]->values);
    for (int k = 0; k < 2; k++) {
        sal_trainer_destroy(t[k]);
        sal_model_destroy(models[k]);
    }
}
END_TEST

/* What a level may lag behind grows with the number of pixels: twice as many nats as for 256 or
 * fewer are running away there, and nothing unusual among 784. */
START_TEST(large_pictures_may_lag_by_more)
{
    enum { ROWS = 20, MOST = 784 };
    static const struct {
        const char *architecture;
        int64_t pixels;
        double gap;
        bool away;
    } cases[] = { { "mlp:visible=16,hidden=2,levels=2,units=1,layers=1", 16, 8, true },
                  { "mlp:visible=256,hidden=2,levels=2,units=1,layers=1", 256, 8, true },
                  { "mlp:visible=784,hidden=2,levels=2,units=1,layers=1", 784, 8, false },
                  { "mlp:visible=784,hidden=2,levels=2,units=1,layers=1", 784, 24, true } };
    static uint8_t codes[ROWS * MOST];
    sal_error err;
    for (int i = 0; i < ROWS * MOST; i++) {
        codes[i] = i % 3 == 0;
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sal_data data = { .rows = ROWS, .variables = cases[k].pixels, .codes = codes };
        const sal_train_options o = {
            .objective = SAL_DENOISING, .learning_rate = 1e-4, .iterations = 9, .batch = 8
        };
        sal_model *model = make(cases[k].architecture, 0.1);
        sal_trainer *t = NULL;
        ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
        ck_ok(sal_trainer_run(t, 1, &err), &err);
        sali_denoising_training *own = t->own;
        own->back.gap[1] = cases[k].gap;
        ck_ok(sal_trainer_run(t, 1, &err), &err);
        ck_assert_msg(own->back.times[1] == cases[k].away, "case %d: went back %d times", (int)k,
                      (int)own->back.times[1]);
        ck_assert_int_eq(own->back.times[0], 0);
        sal_trainer_destroy(t);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- patience */

typedef struct judged {
    const sal_data *test;
    double bounds[100], best[292];
    int n, best_at;
} judged;

static int note_report(const sal_train_report *r, void *data)
{
    judged *j = data;
    const sal_bound_options o = { .effort = 0.25, .seed = 4 };
    sal_bound bound;
    sal_error err;
    ck_ok(sal_denoising_bound((sal_model *)r->model, r->trajectory, 100, j->test->codes, &o, &bound,
                              &err),
          &err);
    ck_assert_double_eq(bound.reverse, r->log_likelihood);
    ck_assert_int_lt(j->n, 100);
    if (j->n == 0 || bound.reverse > j->bounds[j->best_at]) {
        j->best_at = j->n;
        ck_ok(sal_model_get_params(r->model, NULL, j->best, &err), &err);
    }
    ck_assert(r->best == (j->best_at == j->n));
    j->bounds[j->n++] = bound.reverse;
    return 0;
}

/* Training stops where the bound on held-out rows no longer rises, and the model is the best one.
 */
START_TEST(patience_is_by_the_bound)
{
    sal_error err;
    sal_data data = rows_of(60), test = rows_of(300);
    sal_model *joint = make("mlp:visible=4,hidden=16,levels=3,units=8,layers=1", 0.3);
    judged j = { .test = &test };
    double params[292];
    sal_train_options o = learning(2000);
    o.batch = 48;
    o.report_every = 20;
    o.ptt.test = &test;
    o.ptt.patience = 3;
    o.callbacks.report = note_report;
    o.callbacks.report_data = &j;
    ck_assert_int_le(sal_model_parameters_size(joint), 292);
    ck_ok(sal_train(joint, &data, &o, &err), &err);
    ck_ok(sal_model_get_params(joint, NULL, params, &err), &err);
    ck_assert_int_gt(j.n, 3);
    ck_assert_int_lt(j.n, 99);
    ck_assert_int_eq(j.n - 1 - j.best_at, 3);
    ck_assert_mem_eq(params, j.best, (size_t)sal_model_parameters_size(joint) * sizeof *params);
    o.ptt.test = NULL;
    ck_assert_int_eq(sal_train(joint, &data, &o, &err), SAL_ERR_ARGUMENT);
    sal_model_destroy(joint);
    free(data.codes);
    free(test.codes);
}
END_TEST

START_TEST(chains_are_read_as_they_were_written)
{
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=2,units=2,layers=1", 1);
    sal_trajectory *t = chain_of(joint, (const int64_t[]){ 7, 4 }, "ncg"), *read = NULL;
    const sal_train_report report = { .iteration = 3 };
    double log_z, error;
    sal_trajectory_level level;
    temp_dir_make();
    t->noise_step_sizes[1] = 0.25;
    ck_ok(sali_trajectory_save(t, temp_dir, joint, &report, &err), &err);
    ck_ok(sal_trajectory_open(temp_dir, joint, &read, &err), &err);
    ck_assert_int_eq(read->noise->T, LEVELS);
    for (int k = 0; k < LEVELS; k++) {
        ck_assert_int_eq(read->noise_steps[k], t->noise_steps[k]);
        ck_assert_double_eq(read->noise_step_sizes[k], t->noise_step_sizes[k]);
        ck_assert_double_eq(read->noise->keep[k], keep[k]);
    }
    for (int k = 0; k < 2 * BITS; k++) {
        ck_assert_double_eq_tol(read->noise->log_base[k], t->noise->log_base[k], 1e-15);
    }
    ck_assert_str_eq(read->sampler, "ncg");
    ck_fails(sal_trajectory_log_z(read, joint, &log_z, &error, &err), SAL_ERR_UNSUPPORTED, &err,
             "it has no log Z");
    ck_assert(!sal_trajectory_level_at(read, 0, &level));
    sal_trajectory_destroy(read);
    sal_trajectory_destroy(t);
    sal_model_destroy(joint);
}
END_TEST

/* Pixels are 0 before the noise is taken away, and 1 after it: one flip a step. A verdict draws
 * with twice the steps at each level, too: where these are too few, the draws are others, and it
 * says so.
 */
START_TEST(verdicts_know_whether_the_steps_suffice)
{
    enum { PIXELS = 12, ROWS = 100 };
    sal_error err;
    double base[2 * PIXELS], log_base[2 * PIXELS];
    uint8_t codes[ROWS * PIXELS];
    sal_data data = { .rows = ROWS, .variables = PIXELS, .codes = codes };
    sal_model *joint = make("mlp:visible=12,hidden=2,levels=2,units=1,layers=1,base=1", 0);
    sal_space *space = sali_levels_space(joint);
    for (int v = 0; v < PIXELS; v++) {
        base[2 * v] = 0;
        base[2 * v + 1] = 5;
        log_base[2 * v] = log(0.9);
        log_base[2 * v + 1] = log(0.1);
    }
    for (int i = 0; i < ROWS * PIXELS; i++) {
        codes[i] = i % 7 != 0;
    }
    ck_ok(sal_model_set_params(joint, "base", base, &err), &err);
    temp_dir_make();
    for (int few = 0; few < 2; few++) {
        const int64_t steps[] = { few ? 2 : 40, few ? 2 : 40 };
        const sal_train_report report = { .iteration = 3 };
        const sal_verdict_inputs inputs = { .train = &data,
                                            .test = &data,
                                            .sampling.directory = temp_dir };
        sali_noise *noise = NULL;
        sal_verdict v;
        char text[512];
        ck_ok(sali_noise_create(space, LEVELS, keep, log_base, &noise, &err), &err);
        sal_trajectory *t =
            sali_trajectory_of_noise(sal_model_parameters_size(joint), noise, steps, NULL, "gwg");
        ck_assert_ptr_nonnull(t);
        ck_ok(sali_trajectory_save(t, temp_dir, joint, &report, &err), &err);
        ck_ok(sal_verdict_judge(joint, &inputs, &v, NULL, &err), &err);
        sal_verdict_sentence(&v, text, sizeof text);
        ck_assert(v.steps.judged);
        ck_assert_msg(v.steps.differs == few, "shortfall %.4f (%.4f)", v.steps.shortfall.value,
                      v.steps.shortfall.standard_error);
        ck_assert_int_eq(v.reason == SAL_VERDICT_STEPS_MATTER, few);
        ck_assert_int_eq(strstr(text, "with twice the steps at each level are others") != NULL,
                         few);
        sal_trajectory_destroy(t);
    }
    sal_space_destroy(space);
    sal_model_destroy(joint);
}
END_TEST

/* ---- bad input */

START_TEST(what_has_no_levels_is_refused)
{
    sal_error err;
    sal_data data = rows_of(300);
    sal_model *plain = make("mlp:visible=4,hidden=3", 0.3);
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=2,units=2", 0.3);
    sal_model *counts = make("mlp:visible=4,hidden=3,levels=2,kind=ordinal,states=3", 0.3);
    const struct {
        sal_model *model;
        sal_train_options o;
        sal_status status;
        const char *text;
    } cases[] = {
        { plain, { 0 }, SAL_ERR_UNSUPPORTED, "is over no levels" },
        { counts, { 0 }, SAL_ERR_UNSUPPORTED, "of kind ordinal with 3 states" },
        { joint, { .batch = 31 }, SAL_ERR_ARGUMENT, "a batch of 31 rows for 2 levels" },
        { joint, { .sampler = "gibbs" }, SAL_ERR_UNSUPPORTED, "gibbs is none" },
        { joint, { .sampler = "mana" }, SAL_ERR_UNSUPPORTED, "mana" },
        { joint, { .magnitude_penalty = 1 }, SAL_ERR_ARGUMENT, "magnitude_penalty does not go" },
        { joint, { .centring = SAL_CENTRING_ON }, SAL_ERR_ARGUMENT, "centring does not go" },
        { joint, { .ptt.reservoir = 100 }, SAL_ERR_ARGUMENT, "ptt.reservoir" },
        { joint, { .buffer.restart = 0.1 }, SAL_ERR_ARGUMENT, "buffer.restart" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_train_options o = cases[k].o;
        o.objective = SAL_DENOISING;
        ck_fails(sal_train(cases[k].model, &data, &o, &err), cases[k].status, &err, cases[k].text);
    }
    sal_model_destroy(plain);
    sal_model_destroy(joint);
    sal_model_destroy(counts);
    free(data.codes);
}
END_TEST

START_TEST(runs_and_bounds_refuse_what_does_not_fit)
{
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=2,units=2", 0.3), *rows = NULL;
    sal_model *other = make("mlp:visible=4,hidden=3,levels=3,units=2", 0.3);
    sal_trajectory *t = chain_of(joint, (const int64_t[]){ 1, 1 }, "ncg");
    const int32_t init[BITS] = { 0 };
    const uint8_t codes[BITS + 1] = { 0, 1, 2, 0, 0 };
    const sal_bound_options negative = { .effort = -1 };
    sal_run *run = NULL;
    sal_bound bound;
    ck_ok(sal_trajectory_model(t, joint, &rows, &err), &err);
    sal_run_options o = { .trajectory = t, .chains = 1, .draws = 2 };
    ck_fails(sal_sample(other, &o, &run, &err), SAL_ERR_ARGUMENT, &err, "another model");
    const char *oracle = NULL;
    double cost;
    ck_fails(sali_exact_cost(rows, &oracle, &cost, &err), SAL_ERR_UNSUPPORTED, &err,
             "is a denoising chain");
    o.sampler = "hamming-ball"; /* it asks the model, which does not know of the coupling */
    ck_fails(sal_sample(rows, &o, &run, &err), SAL_ERR_UNSUPPORTED, &err, "hamming-ball is none");
    o.sampler = "gibbs";
    ck_fails(sal_sample(joint, &o, &run, &err), SAL_ERR_UNSUPPORTED, &err, "gibbs is none");
    o.sampler = NULL;
    o.init = init;
    ck_fails(sal_sample(rows, &o, &run, &err), SAL_ERR_ARGUMENT, &err, "starting states");
    ck_fails(sal_trajectory_model(t, other, &rows, &err), SAL_ERR_ARGUMENT, &err, "another model");
    ck_fails(sal_denoising_bound(other, t, 1, codes, NULL, &bound, &err), SAL_ERR_ARGUMENT, &err,
             "another model");
    ck_fails(sal_denoising_bound(joint, t, 1, codes, NULL, &bound, &err), SAL_ERR_ARGUMENT, &err,
             "row 0, variable 2: code 2");
    ck_fails(sal_denoising_bound(joint, t, 0, codes, NULL, &bound, &err), SAL_ERR_ARGUMENT, &err,
             "0 rows");
    ck_fails(sal_denoising_bound(joint, t, 1, codes, &negative, &bound, &err), SAL_ERR_ARGUMENT,
             &err, "effort -1");
    sal_trajectory_destroy(t);
    t = chain_of(joint, (const int64_t[]){ 1, 1 }, "rlsa");
    ck_fails(sal_denoising_bound(joint, t, 1, codes + 1, NULL, &bound, &err), SAL_ERR_ARGUMENT,
             &err, "code 2");
    const uint8_t zeros[BITS] = { 0 };
    ck_fails(sal_denoising_bound(joint, t, 1, zeros, NULL, &bound, &err), SAL_ERR_UNSUPPORTED, &err,
             "rlsa is none");
    sal_trajectory_destroy(t);
    sal_model_destroy(rows);
    sal_model_destroy(other);
    sal_model_destroy(joint);
}
END_TEST

/* Files are hostile. */
START_TEST(damaged_chains_are_refused)
{
    static const char *const files[] = {
        "{}",
        "[1]",
        "{\"saltus_denoising\": 2}",
        "{\"saltus_denoising\": 1, \"keep\": [1, 0.5]}",
        "{\"saltus_denoising\": 1, \"sampler\": \"ncg\", \"keep\": [1, 0.5, 0], \"steps\": [1, 1], "
        "\"step_sizes\": [0, 0], \"log_base\": [0, 0, 0, 0, 0, 0, 0, 0]}",
        "{\"saltus_denoising\": 1, \"sampler\": \"ncg\", \"keep\": [1, 2, 0], \"steps\": [1, 1], "
        "\"step_sizes\": [0, 0], \"log_base\": [-0.6931471805599453, -0.6931471805599453, "
        "-0.6931471805599453, -0.6931471805599453, -0.6931471805599453, -0.6931471805599453, "
        "-0.6931471805599453, -0.6931471805599453]}",
        "{\"saltus_denoising\": 1, \"sampler\": \"ncg\", \"keep\": [1, 0.5, 0], \"steps\": [1, 0], "
        "\"step_sizes\": [0, 0], \"log_base\": [-0.6931471805599453, -0.6931471805599453, "
        "-0.6931471805599453, -0.6931471805599453, -0.6931471805599453, -0.6931471805599453, "
        "-0.6931471805599453, -0.6931471805599453]}",
        "{\"saltus_denoising\": 1, \"sampler\": \"ncg\", \"keep\": [1, 0.5, 0], \"steps\": [1, 1], "
        "\"step_sizes\": [0, -1], \"log_base\": [-0.6931471805599453, -0.6931471805599453, "
        "-0.6931471805599453, -0.6931471805599453, -0.6931471805599453, -0.6931471805599453, "
        "-0.6931471805599453, -0.6931471805599453]}",
    };
    sal_error err;
    sal_model *joint = make("mlp:visible=4,hidden=3,levels=2,units=2", 0.3);
    sal_trajectory *read = NULL;
    temp_dir_make();
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        FILE *file = fopen(temp_path("denoising.json"), "w");
        fputs(files[k], file);
        fclose(file);
        ck_assert_msg(sal_trajectory_open(temp_dir, joint, &read, &err) == SAL_ERR_DATA, "file %d",
                      (int)k);
        ck_assert_ptr_null(read);
    }
    sal_model_destroy(joint);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("denoising");
    TCase *tests = tcase_create("denoising");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, noise_is_as_it_says);
    tcase_add_loop_test(tests, couplings_are_linear_for_labels_and_spins, 0, 2);
    tcase_add_test(tests, usual_schedules_fall_from_one_to_zero);
    tcase_add_loop_test(tests, draws_are_of_the_enumerated_distribution, 0, 3);
    tcase_add_test(tests, the_bound_of_a_null_net_is_exact);
    tcase_add_test(tests, rows_have_the_noise_of_their_levels);
    tcase_add_test(tests, trainings_resume_to_the_same_bits);
    tcase_add_test(tests, a_level_that_runs_away_gets_more_steps_and_a_smaller_rate);
    tcase_add_test(tests, large_pictures_may_lag_by_more);
    tcase_add_test(tests, patience_is_by_the_bound);
    tcase_add_test(tests, chains_are_read_as_they_were_written);
    tcase_add_test(tests, verdicts_know_whether_the_steps_suffice);
    tcase_add_test(tests, what_has_no_levels_is_refused);
    tcase_add_test(tests, runs_and_bounds_refuse_what_does_not_fit);
    tcase_add_test(tests, damaged_chains_are_refused);
    suite_add_tcase(suite, tests);
    TCase *many = statistics_create("enumeration");
    tcase_set_timeout(many, 120);
    tcase_add_loop_test(many, the_bound_is_that_by_enumeration, 0, 2);
    tcase_add_test(many, the_gradient_is_that_by_enumeration);
    tcase_add_test(many, training_learns_the_distribution);
    suite_add_tcase(suite, many);
    return suite;
}

int main(void)
{
    return test_main(make_suite());
}
