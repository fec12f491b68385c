/* SPDX-License-Identifier: MIT */
/* Sparse couplings: scores and frequencies against enumeration, and trainings that activate and
 * remove couplings of a model that is known. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "core/rng.h"
#include "models/tape_model.h"
#include "stats/pairs.h"
#include "train/sparsity.h"
#include "train/trainer.h"

/* ---- Potts models that can be enumerated: V sites, Q labels */

enum { Q = 3, MOST_V = 6, MOST_N = Q * MOST_V, MOST_STATES = 729 };

typedef struct potts {
    int V;
    double h[MOST_N], J[MOST_N * MOST_N]; /* J symmetric, [V Q x V Q] */
} potts;

static int states_of(const potts *p)
{
    return p->V == 3 ? 27 : MOST_STATES;
}

static int label(int state, int i)
{
    for (; i > 0; i--) {
        state /= Q;
    }
    return state % Q;
}

static double f_of(const potts *p, int state)
{
    const int N = p->V * Q;
    double f = 0;
    for (int i = 0; i < p->V; i++) {
        int k = i * Q + label(state, i);
        f += p->h[k];
        for (int j = 0; j < i; j++) {
            f += p->J[k * N + j * Q + label(state, j)];
        }
    }
    return f;
}

/* The probabilities of all states; returns log Z. */
static double enumerate(const potts *p, double *probability)
{
    double Z = 0;
    for (int s = 0; s < states_of(p); s++) {
        Z += probability[s] = exp(f_of(p, s));
    }
    for (int s = 0; s < states_of(p); s++) {
        probability[s] /= Z;
    }
    return log(Z);
}

static bool has(int state, int k, int l)
{
    return label(state, k / Q) == k % Q && label(state, l / Q) == l % Q;
}

static double frequency(const potts *p, const double *probability, int k, int l)
{
    double sum = 0;
    for (int s = 0; s < states_of(p); s++) {
        sum += has(s, k, l) ? probability[s] : 0;
    }
    return sum;
}

static void set(potts *p, int k, int l, double value)
{
    p->J[k * p->V * Q + l] = p->J[l * p->V * Q + k] = value;
}

static double noise(uint32_t k)
{
    const sali_stream stream = { .seed = 5, .step = 1, .purpose = SALI_RNG_TEST };
    return 2 * sali_rng_uniform_at(&stream, k) - 1;
}

static potts random_potts(int V)
{
    potts p = { .V = V };
    for (int k = 0; k < V * Q; k++) {
        p.h[k] = noise((uint32_t)k);
        for (int l = 0; l < k / Q * Q; l++) {
            set(&p, k, l, 1.5 * noise((uint32_t)(100 + k * MOST_N + l)));
        }
    }
    return p;
}

/* ---- scores */

/* What is lost by a removed coupling is the divergence of the models with and without it. */
START_TEST(removal_loses_what_enumeration_loses)
{
    const potts p = random_potts(3);
    double with[27], without[27];
    const double log_z = enumerate(&p, with);
    for (int k = Q; k < 3 * Q; k++) {
        for (int l = 0; l < k / Q * Q; l++) {
            potts less = p;
            const double J = p.J[k * 3 * Q + l], f = frequency(&p, with, k, l);
            set(&less, k, l, 0);
            const double change = enumerate(&less, without) - log_z;
            double divergence = 0, rows = 0, likelihood = 0;
            for (int s = 0; s < 27; s++) {
                const double row = (1 + s % 5) / 78.0; /* data of any kind */
                divergence += with[s] * log(with[s] / without[s]);
                likelihood += row * log(without[s] / with[s]);
                rows += has(s, k, l) ? row : 0;
            }
            ck_assert_double_eq_tol(sali_removal_loss(J, f), divergence, 1e-12);
            ck_assert_double_eq_tol(sali_removal_loss(J, f) - J * f, change, 1e-12);
            /* of data whose frequency is another one than the model's */
            ck_assert_double_eq_tol(likelihood, J * (f - rows) - sali_removal_loss(J, f), 1e-12);
        }
    }
    ck_assert(sali_removal_loss(0, 0.3) == 0);
    ck_assert(isfinite(sali_removal_loss(-600, 0.3)) && isfinite(sali_removal_loss(600, 0.3)));
}
END_TEST

/* The gain is that of the best value of the coupling. */
START_TEST(activation_gains_what_enumeration_gains)
{
    potts p = random_potts(3), data = random_potts(3);
    double before[27], after[27], rows[27];
    for (int k = 0; k < 3 * Q; k++) {
        data.h[k] = noise((uint32_t)(1000 + k));
    }
    enumerate(&data, rows);
    for (int k = Q; k < 3 * Q; k++) {
        for (int l = 0; l < k / Q * Q; l++) {
            set(&p, k, l, 0);
            enumerate(&p, before);
            const double f = frequency(&p, rows, k, l), own = frequency(&p, before, k, l);
            const double best = log(f * (1 - own) / (own * (1 - f)));
            double gain[3] = { 0 };
            for (int t = 0; t < 3; t++) {
                potts more = p;
                set(&more, k, l, best + 0.01 * (t - 1));
                enumerate(&more, after);
                for (int s = 0; s < 27; s++) {
                    gain[t] += rows[s] * log(after[s] / before[s]);
                }
            }
            ck_assert_double_eq_tol(gain[1], sali_activation_gain(f, own), 1e-12);
            ck_assert(gain[1] > gain[0] && gain[1] > gain[2]);
        }
    }
    ck_assert_double_eq_tol(sali_activation_gain(0, 0.25), -log(0.75), 1e-15);
    ck_assert(sali_activation_gain(1, 1) == 0 && sali_activation_gain(0.3, 0.3) == 0);
}
END_TEST

/* ---- frequencies */

/* Of variables with different numbers of states, weighted and not, against loops written out. */
START_TEST(frequencies_are_those_of_the_rows)
{
    enum { V = 3, ROWS = 500, S = 2 + 4 + 3, PAIRS = 4 * 2 + 3 * 6 };
    static const int states[V] = { 2, 4, 3 };
    static uint8_t codes[ROWS * V];
    static int32_t wide[ROWS * V];
    static double weight[ROWS];
    sal_error err;
    sal_space *space = sal_space_create();
    ck_assert_ptr_nonnull(space);
    for (int i = 0; i < V; i++) {
        const char name[] = { (char)('a' + i), '\0' };
        const sal_block block = {
            .name = name, .kind = SAL_CATEGORICAL, .count = 1, .states = states[i]
        };
        ck_ok(sal_space_add(space, &block, &err), &err);
    }
    double total = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < V; i++) {
            codes[r * V + i] = (uint8_t)((r * 7 / (i + 2) + r * i) % states[i]);
            wide[r * V + i] = codes[r * V + i];
        }
        total += weight[r] = 0.25 + r % 4;
    }
    sali_memory memory = { 0 };
    sali_pairs pairs;
    sali_pair_frequencies f[2], again;
    ck_ok(sali_pairs_create(&pairs, &memory, space, ROWS, &err), &err);
    ck_assert(pairs.n == PAIRS && pairs.states == S);
    for (int k = 0; k < 2; k++) {
        ck_ok(sali_pairs_frequencies(&pairs, &memory, &f[k], &err), &err);
    }
    ck_ok(sali_pairs_frequencies(&pairs, &memory, &again, &err), &err);
    sali_pairs_count_rows(&pairs, ROWS, codes, weight, total, 1, &f[0]);
    sali_pairs_count_states(&pairs, ROWS, wide, 1, &f[1]);
    int64_t e = 0;
    double c[2][PAIRS], sums[5] = { 0 };
    for (int i = 0, k = 0; i < V; i++) {
        for (int a = 0; a < states[i]; a++, k++) {
            for (int j = 0, l = 0; j < i; j++) {
                for (int b = 0; b < states[j]; b++, l++, e++) {
                    double both[2] = { 0 }, one[2] = { 0 }, other[2] = { 0 };
                    for (int r = 0; r < ROWS; r++) {
                        const double w[2] = { weight[r] / total, 1.0 / ROWS };
                        for (int t = 0; t < 2; t++) {
                            const bool x = codes[r * V + i] == a, y = codes[r * V + j] == b;
                            both[t] += x && y ? w[t] : 0;
                            one[t] += x ? w[t] : 0;
                            other[t] += y ? w[t] : 0;
                        }
                    }
                    for (int t = 0; t < 2; t++) {
                        ck_assert_double_eq_tol(f[t].pair[e], both[t], 1e-12);
                        ck_assert_double_eq_tol(f[t].single[k], one[t], 1e-12);
                        ck_assert_double_eq_tol(f[t].single[l], other[t], 1e-12);
                        c[t][e] = both[t] - one[t] * other[t];
                    }
                }
            }
        }
    }
    ck_assert_int_eq(e, PAIRS);
    for (int k = 0; k < PAIRS; k++) {
        sums[0] += c[0][k] / PAIRS;
        sums[1] += c[1][k] / PAIRS;
    }
    for (int k = 0; k < PAIRS; k++) {
        const double x = c[0][k] - sums[0], y = c[1][k] - sums[1];
        sums[2] += x * x;
        sums[3] += y * y;
        sums[4] += x * y;
    }
    ck_assert_double_eq_tol(sali_pairs_correlation(&pairs, &f[0], &f[1]),
                            sums[4] / sqrt(sums[2] * sums[3]), 1e-10);
    for (int threads = 2; threads < 8; threads += 5) {
        sali_pairs_count_rows(&pairs, ROWS, codes, weight, total, threads, &again);
        ck_assert_mem_eq(again.pair, f[0].pair, PAIRS * sizeof(double));
        ck_assert_mem_eq(again.single, f[0].single, S * sizeof(double));
    }
    sali_pairs_count_states(&pairs, 1, wide, 1, &again); /* one row: all are constant */
    ck_assert(isnan(sali_pairs_correlation(&pairs, &f[0], &again)));
    sali_memory_free(&memory);
    sal_space_destroy(space);
}
END_TEST

/* ---- trainings on data of a planted model */

enum { V = 6, N = V * Q, COUPLINGS = V * (V - 1) / 2 * Q * Q, ROWS = 4000, SIZE = N * N + N };

/* Couplings of the planted model: pairs of states of different sites. */
static const int planted[][2] = { { 4, 0 }, { 8, 5 }, { 11, 3 }, { 15, 7 }, { 16, 2 } };
enum { PLANTED = sizeof planted / sizeof *planted };

static potts plant(void)
{
    potts p = { .V = V };
    for (int k = 0; k < N; k++) {
        p.h[k] = 0.3 * noise((uint32_t)k);
    }
    for (int k = 0; k < PLANTED; k++) {
        set(&p, planted[k][0], planted[k][1], k % 2 ? -2.5 : 2);
    }
    return p;
}

static sal_data planted_rows(void)
{
    static double probability[MOST_STATES];
    const potts p = plant();
    enumerate(&p, probability);
    sal_data data = { .rows = ROWS, .variables = V, .codes = calloc(ROWS, V) };
    for (int r = 0; r < ROWS; r++) {
        double u = (r + 0.5) / ROWS; /* a systematic sample has hardly any noise */
        int s = 0;
        while (s < MOST_STATES - 1 && u > probability[s]) {
            u -= probability[s++];
        }
        for (int i = 0; i < V; i++) {
            data.codes[r * V + i] = (uint8_t)label(s, i);
        }
    }
    return data;
}

static sal_train_options usual(sal_sparsity method)
{
    return (sal_train_options){ .sampler = "gibbs",
                                .steps = -1,
                                .batch = 2000,
                                .buffer.chains = 2000,
                                .optimiser = { .method = SAL_SGD, .momentum = -1 },
                                .learning_rate = 0.3,
                                .iterations = 2000,
                                .report_every = 50,
                                .sparsity = { .method = method, .share = 0.01 },
                                .seed = 2,
                                .threads = 2 };
}

/* A model without couplings, or with those of J [N x N]. */
static sal_model *new_model(const double *J)
{
    static const double zeros[N * N];
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("potts-dense:dim=6,states=3", SAL_F64, &model, &err), &err);
    ck_ok(sal_model_set_params(model, "J", J ? J : zeros, &err), &err);
    ck_ok(sal_model_set_params(model, "h", zeros, &err), &err);
    return model;
}

/* The share of couplings that are not 0, each of which has two equal elements; those within a site
 * do not count. */
static double count_active(const double *J)
{
    int active = 0;
    for (int k = 0; k < N; k++) {
        for (int l = 0; l < k / Q * Q; l++) {
            ck_assert_mem_eq(&J[k * N + l], &J[l * N + k], sizeof *J);
            active += J[k * N + l] != 0;
        }
    }
    return (double)active / COUPLINGS;
}

typedef struct reports {
    int n;
    double density[200], pearson[200];
    bool reached;
} reports;

/* Inactive couplings are exactly 0 at each report. */
static int note(const sal_train_report *r, void *data)
{
    static double J[N * N];
    reports *all = data;
    sal_error err;
    ck_ok(sal_model_get_params(r->model, "J", J, &err), &err);
    ck_assert_msg(count_active(J) <= r->density + 1e-12, "%g, %g", count_active(J), r->density);
    ck_assert_int_lt(all->n, 200);
    all->density[all->n] = r->density;
    all->pearson[all->n++] = r->pearson;
    all->reached = r->reached;
    return 0;
}

/* A training of the planted rows that is run piece by piece. */
typedef struct training {
    sal_data data;
    sal_model *model;
    sal_trainer *t;
} training;

/* Training begins at the couplings J, or at none. The trainer refers to x->data. */
static void begin(training *x, const sal_train_options *o, const double *J)
{
    sal_error err;
    *x = (training){ .data = planted_rows(), .model = new_model(J) };
    ck_ok(sal_trainer_create(x->model, &x->data, o, &x->t, &err), &err);
}

static void run(const training *x, int64_t iterations)
{
    sal_error err;
    ck_ok(sal_trainer_run(x->t, iterations, &err), &err);
}

static void get_couplings(const training *x, double *J)
{
    sal_error err;
    ck_ok(sal_model_get_params(x->model, "J", J, &err), &err);
}

static void end(training *x)
{
    sal_trainer_destroy(x->t);
    sal_model_destroy(x->model);
    free(x->data.codes);
}

/* Train; J [N x N] receives the couplings. Returns the iterations made. */
static int64_t train(sal_train_options o, reports *all, double *J)
{
    sal_train_report r;
    o.callbacks.report = note;
    o.callbacks.report_data = all;
    training x;
    begin(&x, &o, NULL);
    run(&x, INT64_MAX);
    sal_trainer_report(x.t, &r);
    get_couplings(&x, J);
    end(&x);
    return r.iteration;
}

/* All planted couplings are active, with their signs, and at least so large. */
static void check_planted(const double *J, double least)
{
    for (int k = 0; k < PLANTED; k++) {
        const double found = J[planted[k][0] * N + planted[k][1]];
        ck_assert_msg((k % 2 ? -found : found) >= least, "coupling %d: %g", k, found);
    }
}

/* Whether the planted model couples the sites of states k and l. */
static bool are_coupled(int k, int l)
{
    bool coupled = false;
    for (int i = 0; i < PLANTED; i++) {
        coupled |= planted[i][0] / Q == k / Q && planted[i][1] / Q == l / Q;
    }
    return coupled;
}

/* Few couplings suffice, the planted ones among them; training ends at the first step at which the
 * correlation is reached. */
START_TEST(activation_finds_the_planted_couplings)
{
    static double J[N * N];
    reports all = { 0 };
    sal_train_options o = usual(SAL_SPARSITY_ACTIVATE);
    o.pearson = 0.98;
    const int64_t made = train(o, &all, J);
    ck_assert(all.reached && made < o.iterations && made % 10 == 0);
    const double density = all.density[all.n - 1];
    ck_assert(all.pearson[all.n - 1] >= o.pearson);
    ck_assert_double_eq_tol(count_active(J), density, 1e-12);
    ck_assert_msg(density >= 5.0 / COUPLINGS && density < 0.1, "density %g", density);
    for (int k = 1; k < all.n; k++) {
        ck_assert(all.density[k] >= all.density[k - 1]);
    }
    check_planted(J, 0.3);
}
END_TEST

/* The ladder of trajectory tempering is one of sparse models, and its log Z stays right. */
START_TEST(activation_goes_with_trajectory_tempering)
{
    static double J[N * N], probability[MOST_STATES];
    sal_error err;
    sal_train_options o = usual(SAL_SPARSITY_ACTIVATE);
    o.objective = SAL_PTT;
    o.batch = 200;
    o.ptt.reservoir = 2000;
    o.buffer.chains = 0;
    o.iterations = o.report_every = 60;
    o.pearson = 0.99;
    training x;
    sal_train_report r;
    begin(&x, &o, NULL);
    run(&x, INT64_MAX);
    sal_trainer_report(x.t, &r);
    get_couplings(&x, J);
    ck_assert(r.density > 0 && r.density < 0.15 && count_active(J) > 0);
    ck_assert(count_active(J) <= r.density + 1e-12 && r.trajectory);
    potts p = { .V = V };
    memcpy(p.J, J, sizeof J);
    ck_ok(sal_model_get_params(x.model, "h", p.h, &err), &err);
    for (int k = 0; k < N; k++) { /* couplings of a site with itself are fields */
        p.h[k] += J[k * N + k] / 2;
    }
    const double log_z = enumerate(&p, probability);
    ck_assert_msg(fabs(r.log_z - log_z) < 5 * r.log_z_error, "%g +- %g, %g", r.log_z, r.log_z_error,
                  log_z);
    end(&x);
}
END_TEST

/* The first step takes the couplings with the largest gains under independent sites. */
START_TEST(a_step_activates_the_largest_gains)
{
    static double J[N * N], gain[N * N];
    sal_train_options o = usual(SAL_SPARSITY_ACTIVATE);
    o.sparsity.share = 7.5 / COUPLINGS; /* 8 */
    o.sparsity.every = 3;
    o.iterations = 3;
    training x;
    begin(&x, &o, NULL);
    sal_trainer *t = x.t;
    ck_assert_int_eq(t->sparsity.n_active, 0);
    run(&x, 3);
    ck_assert_int_eq(t->sparsity.n_active, 8);
    double least = INFINITY, most = 0;
    for (int k = 0, e = 0; k < N; k++) {
        for (int l = 0; l < k / Q * Q; l++, e++) {
            double f[2] = { 0 };
            for (int r = 0; r < ROWS; r++) {
                f[0] +=
                    x.data.codes[r * V + k / Q] == k % Q && x.data.codes[r * V + l / Q] == l % Q;
            }
            for (int64_t c = 0; c < o.batch; c++) {
                f[1] += t->buffer.codes[c * V + k / Q] == k % Q &&
                        t->buffer.codes[c * V + l / Q] == l % Q;
            }
            f[0] = (f[0] + 1.0 / (Q * Q)) / (ROWS + 1); /* one row of uniform states more */
            f[1] = (f[1] / (double)o.batch * ROWS + 1.0 / (Q * Q)) / (ROWS + 1);
            gain[e] = f[0] * log(f[0] / f[1]) + (1 - f[0]) * log((1 - f[0]) / (1 - f[1]));
            least = t->sparsity.active[e] ? fmin(least, gain[e]) : least;
            most = t->sparsity.active[e] ? most : fmax(most, gain[e]);
        }
    }
    ck_assert_msg(least > most, "%g, %g", least, most);
    ck_assert(count_active(t->values) == 0); /* they are learned from the next update on */
    t->options.iterations = 6;
    run(&x, 1);
    memcpy(J, t->values, sizeof J);
    ck_assert_double_eq_tol(count_active(J), 8.0 / COUPLINGS, 1e-12);
    end(&x);
}
END_TEST

/* A model with all couplings has them in another gauge, so that other states may be left of the
 * planted pairs of sites, but no other pairs. Momentum, averages and weight decay do not move what
 * was removed. */
START_TEST(decimation_leaves_the_planted_couplings)
{
    static double J[N * N];
    for (int method = 0; method < 2; method++) {
        reports all = { 0 };
        sal_train_options o = usual(SAL_SPARSITY_DECIMATE);
        o.sparsity = (sal_sparsity_options){ SAL_SPARSITY_DECIMATE, 0.1, 5, 10.5 / COUPLINGS };
        o.averaging = 0.9;
        o.pearson = 0.95;
        o.optimiser.method = method ? SAL_ADAMW : SAL_SGD;
        o.optimiser.momentum = 0.5;
        o.optimiser.weight_decay = 1e-4;
        o.learning_rate = method ? 0.03 : 0.1;
        const int64_t made = train(o, &all, J);
        ck_assert(all.reached && made < o.iterations && made % 5 == 0);
        ck_assert_double_eq_tol(count_active(J), 10.0 / COUPLINGS, 1e-12);
        ck_assert_double_eq_tol(all.density[all.n - 1], 10.0 / COUPLINGS, 1e-12);
        ck_assert(all.density[0] > 0.2 && all.pearson[all.n - 1] >= 0.95);
        for (int k = 0; k < N; k++) {
            for (int l = 0; l < k / Q * Q; l++) {
                ck_assert_msg(J[k * N + l] == 0 || are_coupled(k, l), "%d, %d", k, l);
            }
        }
    }
}
END_TEST

/* A step of decimation removes the couplings that lose least, from all arrays. */
START_TEST(a_step_removes_the_smallest_losses)
{
    static double before[N * N], loss[COUPLINGS];
    sal_train_options o = usual(SAL_SPARSITY_DECIMATE);
    o.sparsity = (sal_sparsity_options){ SAL_SPARSITY_DECIMATE, 0.1, 1, 0.02 };
    o.pearson = 0.9;
    o.averaging = 0.9;
    o.optimiser.momentum = 0.5;
    training x;
    begin(&x, &o, NULL);
    sal_trainer *t = x.t;
    ck_assert_int_eq(t->sparsity.n_active, COUPLINGS);
    while (t->sparsity.n_active == COUPLINGS) {
        memcpy(before, t->values, sizeof before);
        run(&x, 1);
        ck_assert_int_lt(t->iteration, 500);
    }
    ck_assert(t->now.pearson >= 0.9 && !t->reached);
    ck_assert_int_eq(COUPLINGS - t->sparsity.n_active, (COUPLINGS + 9) / 10);
    double least = INFINITY, most = 0;
    for (int k = 0, e = 0; k < N; k++) {
        for (int l = 0; l < k / Q * Q; l++, e++) {
            double p = 0;
            for (int64_t c = 0; c < o.batch; c++) {
                p += t->buffer.codes[c * V + k / Q] == k % Q &&
                     t->buffer.codes[c * V + l / Q] == l % Q;
            }
            p = (p / (double)o.batch * ROWS + 1.0 / (Q * Q)) / (ROWS + 1);
            const int at[] = { k * N + l, l * N + k };
            for (int s = 0; s < 2; s++) {
                const bool zero = t->values[at[s]] == 0;
                ck_assert(zero == !t->sparsity.active[e]);
                ck_assert(zero == (t->optimiser.m[at[s]] == 0));
                ck_assert(zero == (t->averages[at[s]] == 0));
            }
            /* the coupling before it was removed is known for those that stay; of the others an
             * update ago */
            const double J = t->sparsity.active[e] ? t->values[at[0]] : before[at[0]];
            loss[e] = J * p + log(1 - p + p * exp(-J));
            most = t->sparsity.active[e] ? most : fmax(most, loss[e]);
            least = t->sparsity.active[e] ? fmin(least, loss[e]) : least;
        }
    }
    ck_assert_msg(most < 1.2 * least, "%g, %g", most, least);
    run(&x, 1);
    end(&x);
}
END_TEST

/* Couplings that are there at the start are the active ones. */
START_TEST(a_sparse_model_is_trained_further)
{
    static double J[N * N];
    const potts p = plant();
    for (int method = SAL_SPARSITY_ACTIVATE; method <= SAL_SPARSITY_DECIMATE; method++) {
        training x;
        sal_train_options o = usual((sal_sparsity)method);
        o.iterations = 4;
        o.pearson = 0.999;
        begin(&x, &o, p.J);
        ck_assert_int_eq(x.t->sparsity.n_active, PLANTED);
        run(&x, 4);
        get_couplings(&x, J);
        ck_assert_double_eq_tol(count_active(J), (double)PLANTED / COUPLINGS, 1e-12);
        check_planted(J, 1.5);
        ck_assert(J[planted[0][0] * N + planted[0][1]] != 2); /* and are learned */
        end(&x);
    }
}
END_TEST

/* ---- resuming, threads, failures */

static sal_train_options short_options(sal_sparsity method)
{
    sal_train_options o = usual(method);
    o.batch = o.buffer.chains = 100;
    o.learning_rate = 0.05;
    o.sparsity.every = 4;
    o.sparsity.share = 0.05;
    o.pearson = method == SAL_SPARSITY_DECIMATE ? 0.05 : 0.95;
    o.iterations = 30;
    o.averaging = 0.9;
    o.optimiser = (sal_optimiser_options){ .method = SAL_ADAM };
    o.threads = 1;
    return o;
}

static void same_training(const sal_trainer *a, const sal_trainer *b)
{
    const size_t bytes = SIZE * sizeof(double);
    ck_assert_int_eq(a->iteration, b->iteration);
    ck_assert_int_eq(a->sparsity.n_active, b->sparsity.n_active);
    ck_assert_mem_eq(a->sparsity.active, b->sparsity.active, COUPLINGS);
    ck_assert_mem_eq(a->values, b->values, bytes);
    ck_assert_mem_eq(a->averages, b->averages, bytes);
    ck_assert_mem_eq(a->constraints.learned, b->constraints.learned, bytes);
}

START_TEST(a_resumed_training_has_the_same_bits)
{
    static const int stops[] = { 0, 3, 4, 17, 28 };
    for (int method = SAL_SPARSITY_ACTIVATE; method <= SAL_SPARSITY_DECIMATE; method++) {
        for (int k = 0; k < 5; k++) {
            sal_error err;
            sal_train_options o = short_options((sal_sparsity)method);
            training x[3];
            for (int i = 0; i < 3; i++) {
                o.threads = 1 + i * 3;
                begin(&x[i], &o, NULL);
            }
            run(&x[0], INT64_MAX);
            run(&x[1], stops[k]);
            ck_ok(sal_trainer_save(x[1].t, temp_dir, &err), &err);
            ck_ok(sal_trainer_load(x[2].t, temp_dir, &err), &err);
            run(&x[2], INT64_MAX);
            same_training(x[0].t, x[2].t);
            const int64_t active = x[0].t->sparsity.n_active;
            ck_assert(active > 0 && active < COUPLINGS);
            for (int i = 0; i < 3; i++) {
                end(&x[i]);
            }
        }
    }
}
END_TEST

/* A checkpoint that contradicts itself: what is not active is 0. */
START_TEST(inactive_couplings_of_a_checkpoint_are_zero)
{
    sal_error err;
    sal_train_options o = short_options(SAL_SPARSITY_ACTIVATE);
    training x, other;
    begin(&x, &o, NULL);
    sal_trainer *t = x.t;
    run(&x, 10);
    int64_t inactive = 0; /* of those of the first row, states 3 and 0 .. 2 */
    while (t->sparsity.active[inactive]) {
        inactive++;
    }
    ck_assert_int_lt(inactive, 3);
    t->values[3 * N + inactive] = t->values[inactive * N + 3] = 7;
    ck_ok(sal_trainer_save(t, temp_dir, &err), &err);
    ck_ok(sal_trainer_load(t, temp_dir, &err), &err);
    ck_assert(t->values[3 * N + inactive] == 0 && t->values[inactive * N + 3] == 0);
    o.sparsity.share = 0.06;
    begin(&other, &o, NULL);
    ck_fails(sal_trainer_load(other.t, temp_dir, &err), SAL_ERR_DATA, &err, "sparsity_share");
    end(&x);
    end(&other);
}
END_TEST

static void refused(const char *specification, const sal_data *data, sal_train_options o,
                    const char *text)
{
    sal_error err;
    sal_model *model = NULL;
    sal_trainer *trainer = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    ck_fails(sal_trainer_create(model, data, &o, &trainer, &err), SAL_ERR_ARGUMENT, &err, text);
    sal_model_destroy(model);
}

START_TEST(what_sparsity_cannot_do_is_refused)
{
    static const char dense[] = "potts-dense:dim=6,states=3";
    sal_data data = planted_rows();
    sal_train_options o = { .batch = 10, .sparsity.share = 0.1 };
    refused(dense, &data, o, "sparsity.share goes with a method of sparsity");
    o.sparsity = (sal_sparsity_options){ .every = 3 };
    refused(dense, &data, o, "sparsity.every goes with a method");
    o.sparsity = (sal_sparsity_options){ .density = 0.1 };
    refused(dense, &data, o, "sparsity.density goes with a method");
    o.sparsity = (sal_sparsity_options){ .method = SAL_SPARSITY_ACTIVATE, .density = 0.1 };
    refused(dense, &data, o, "sparsity.density goes with the method decimate");
    o.sparsity = (sal_sparsity_options){ .method = SAL_SPARSITY_ACTIVATE, .share = 2 };
    refused(dense, &data, o, "sparsity.share is 2");
    o.sparsity = (sal_sparsity_options){ .method = (sal_sparsity)7 };
    refused(dense, &data, o, "sparsity.method");
    o.sparsity = (sal_sparsity_options){ .method = SAL_SPARSITY_ACTIVATE };
    o.objective = SAL_CD;
    refused(dense, &data, o, "it goes with the objectives pcd and ptt, not with cd");
    o.objective = SAL_PSEUDO_LIKELIHOOD;
    refused(dense, &data, o, "the objectives pcd and ptt, not with pseudo-likelihood");
    o.objective = SAL_PTT;
    o.sparsity.method = SAL_SPARSITY_DECIMATE;
    refused(dense, &data, o, "it goes with objective pcd (and sampler gibbs), not with ptt");
    o = (sal_train_options){ .batch = 10, .sparsity.method = SAL_SPARSITY_DECIMATE, .fixed = "J" };
    refused(dense, &data, o, "changes couplings that `fixed` keeps");
    o.fixed = NULL;
    o.couplings.names = "h";
    refused(dense, &data, o, "needs variables with labels and one matrix of couplings");
    o = (sal_train_options){ .batch = 10, .pearson = -1, .sparsity.method = SAL_SPARSITY_DECIMATE };
    refused(dense, &data, o, "correlation `pearson`: give one above 0");
    for (int64_t i = 0; i < ROWS * V; i++) {
        data.codes[i] = data.codes[i] > 0;
    }
    o = (sal_train_options){ .batch = 10, .sparsity.method = SAL_SPARSITY_ACTIVATE };
    refused("ising-dense:dim=6", &data, o, "as Potts models have; ising-dense:dim=6");
    refused("rbm:visible=6,hidden=2", &data, o, "is another model");
    free(data.codes);
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    sal_error err;
    sal_data data = planted_rows();
    sal_train_options o = short_options(SAL_SPARSITY_ACTIVATE);
    o.batch = o.buffer.chains = 10;
    o.iterations = 4;
    sal_model *model = new_model(NULL);
    ck_alloc_sweep(sal_train(model, &data, &o, &err), (void)0);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sparsity");
    TCase *tcase = tcase_create("sparsity");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, removal_loses_what_enumeration_loses);
    tcase_add_test(tcase, activation_gains_what_enumeration_gains);
    tcase_add_test(tcase, frequencies_are_those_of_the_rows);
    tcase_add_test(tcase, a_step_activates_the_largest_gains);
    tcase_add_test(tcase, a_step_removes_the_smallest_losses);
    tcase_add_test(tcase, a_sparse_model_is_trained_further);
    tcase_add_test(tcase, a_resumed_training_has_the_same_bits);
    tcase_add_test(tcase, inactive_couplings_of_a_checkpoint_are_zero);
    tcase_add_test(tcase, what_sparsity_cannot_do_is_refused);
    tcase_add_test(tcase, every_failed_allocation_is_reported);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("statistics");
    tcase_add_test(tcase, activation_finds_the_planted_couplings);
    tcase_add_test(tcase, activation_goes_with_trajectory_tempering);
    tcase_add_test(tcase, decimation_leaves_the_planted_couplings);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
