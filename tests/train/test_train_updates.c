/* SPDX-License-Identifier: MIT */
/* Updates of parameters in training, against the formulas of optimisers, penalties, constraints and
 * averages written out here. */
#include "test.h"

#include <math.h>

#include <saltus/saltus.h>

enum { V = 5, ROWS = 12, SIZE = V * V + V, ITERATIONS = 12 };

/* f = s'Js / 2 + b's; parameters [J, b]. */
typedef struct reference {
    sal_train_options o;
    const sal_data *data;
    double theta[SIZE], start[SIZE], m[SIZE], v[SIZE], average[SIZE];
    double gradient_norm, rate;
    int t, clipped;
} reference;

static double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}

static sal_data spin_data(void)
{
    uint32_t state = 7;
    sal_data data = { .rows = ROWS, .variables = V, .codes = malloc(ROWS * V) };
    for (int i = 0; i < ROWS * V; i++) {
        data.codes[i] = noise(&state) + 0.2 * (i % V) > 0.3;
    }
    return data;
}

static sal_model *spin_model(double *theta)
{
    sal_error err;
    sal_model *model = NULL;
    uint32_t state = 3;
    ck_ok(sal_model_open("ising-dense:dim=5", SAL_F64, &model, &err), &err);
    ck_assert_int_eq(sal_model_parameters_size(model), SIZE);
    for (int i = 0; i < SIZE; i++) {
        theta[i] = noise(&state);
    }
    ck_ok(sal_model_set_params(model, "J", theta, &err), &err);
    ck_ok(sal_model_set_params(model, "b", theta + V * V, &err), &err);
    return model;
}

/* ---- the objective by hand */

static double f_of(const double *theta, const double *s, double *gradient)
{
    double f = 0;
    for (int i = 0; i < V; i++) {
        for (int j = 0; j < V; j++) {
            gradient[i * V + j] = s[i] * s[j] / 2;
            f += theta[i * V + j] * gradient[i * V + j];
        }
        gradient[V * V + i] = s[i];
        f += theta[V * V + i] * s[i];
    }
    return f;
}

/* mean f(data) - mean f(samples) - a mean (f(data)^2 + f(samples)^2), and its gradient. */
static double objective(const reference *r, const double *theta, const int32_t *samples, double *g)
{
    double value = 0, df[SIZE], a = r->o.magnitude_penalty;
    memset(g, 0, SIZE * sizeof *g);
    for (int c = 0; c < 2 * ROWS; c++) {
        double s[V], sign = c < ROWS ? 1 : -1;
        for (int i = 0; i < V; i++) {
            int code = c < ROWS ? r->data->codes[c * V + i] : samples[(c - ROWS) * V + i];
            s[i] = code ? 1 : -1;
        }
        double f = f_of(theta, s, df);
        value += (sign * f - a * f * f) / ROWS;
        for (int i = 0; i < SIZE; i++) {
            g[i] += (sign - 2 * a * f) * df[i] / ROWS;
        }
    }
    return value;
}

static void check_by_differences(const reference *r, const int32_t *samples, const double *g)
{
    double theta[SIZE], unused[SIZE], h = 1e-4;
    memcpy(theta, r->theta, sizeof theta);
    for (int i = 0; i < SIZE; i++) {
        theta[i] = r->theta[i] + h;
        double up = objective(r, theta, samples, unused);
        theta[i] = r->theta[i] - h;
        double down = objective(r, theta, samples, unused);
        theta[i] = r->theta[i];
        ck_assert_double_eq_tol(g[i], (up - down) / (2 * h), 1e-8);
    }
}

/* ---- one update by hand */

static bool is_fixed(const reference *r, int i)
{
    bool coupling = i < V * V;
    return (r->o.fixed && strchr(r->o.fixed, coupling ? 'J' : 'b')) ||
           (r->o.couplings.zero_diagonal && coupling && i / V == i % V);
}

/* Kingma & Ba 2015, algorithm 1; Loshchilov & Hutter 2019, algorithm 2; SGD with a velocity that
 * sums gradients. */
static void update(reference *r, int i, double g, double rate)
{
    const sal_train_options *o = &r->o;
    double beta1 = o->optimiser.momentum < 0   ? 0
                   : o->optimiser.momentum > 0 ? o->optimiser.momentum
                                               : 0.9;
    double beta2 = o->optimiser.beta2 > 0 ? o->optimiser.beta2 : 0.999,
           epsilon = o->optimiser.epsilon > 0 ? o->optimiser.epsilon : 1e-8;
    bool decays = !(o->couplings.l1 > 0 && i < V * V);
    double decay = decays ? o->optimiser.weight_decay : 0, old = r->theta[i];
    g -= o->optimiser.method != SAL_ADAMW ? decay * old : 0;
    if (o->optimiser.method == SAL_SGD) {
        r->m[i] = beta1 * r->m[i] + g;
        r->theta[i] += rate * r->m[i];
        return;
    }
    r->m[i] = beta1 * r->m[i] + (1 - beta1) * g;
    r->v[i] = beta2 * r->v[i] + (1 - beta2) * g * g;
    double m = r->m[i] / (1 - pow(beta1, r->t)), v = r->v[i] / (1 - pow(beta2, r->t));
    r->theta[i] += rate * m / (sqrt(v) + epsilon);
    r->theta[i] -= o->optimiser.method == SAL_ADAMW ? rate * decay * old : 0;
}

/* g is scaled down to the norm clip_norm if it is longer. */
static void clip(reference *r, double *g)
{
    double square = 0, most = r->o.optimiser.clip_norm;
    for (int i = 0; i < SIZE; i++) {
        square += is_fixed(r, i) ? 0 : g[i] * g[i];
    }
    r->gradient_norm = sqrt(square);
    for (int i = 0; i < SIZE && most > 0 && r->gradient_norm > most; i++) {
        g[i] *= most / r->gradient_norm;
    }
    r->clipped += most > 0 && r->gradient_norm > most;
}

static void step(reference *r, const int32_t *samples)
{
    double g[SIZE], rate = r->o.learning_rate, k = r->o.averaging;
    objective(r, r->theta, samples, g);
    check_by_differences(r, samples, g);
    r->t++;
    double rising = r->t < r->o.rate.warmup ? (double)r->t / (double)r->o.rate.warmup : 1;
    double left = (double)(r->o.iterations - r->t + 1) / (double)r->o.iterations;
    rate *= left < r->o.rate.cooldown ? fmin(rising, left / r->o.rate.cooldown) : rising;
    const double T = (double)(r->o.iterations - r->o.rate.warmup);
    const double share = fmax(0, (double)(r->t - 1 - r->o.rate.warmup)) / T;
    rate *= r->o.rate.schedule == SAL_RATE_COSINE        ? pow(cos(asin(1) * share), 2)
            : r->o.rate.schedule == SAL_RATE_EXPONENTIAL ? exp(-share * log(100))
                                                         : 1;
    r->rate = rate;
    for (int i = 0; i < SIZE; i++) {
        double sign = (r->theta[i] > 0) - (r->theta[i] < 0);
        g[i] -= i < V * V ? r->o.couplings.l1 * sign : 0;
        bool pulled = i < V * V && i / V != i % V && r->o.optimiser.method != SAL_SGD;
        g[i] -= pulled ? r->o.couplings.group / 2 * sign : 0; /* blocks are single entries */
    }
    clip(r, g);
    for (int i = 0; i < SIZE; i++) {
        if (!is_fixed(r, i)) {
            update(r, i, g[i], rate);
        }
        if (r->o.couplings.group > 0 && r->o.optimiser.method == SAL_SGD && !is_fixed(r, i) &&
            i < V * V && i / V != i % V) {
            double momentum = r->o.optimiser.momentum < 0   ? 0
                              : r->o.optimiser.momentum > 0 ? r->o.optimiser.momentum
                                                            : 0.9;
            double shrink = rate / (1 - momentum) * r->o.couplings.group / 2, x = r->theta[i];
            r->theta[i] = fabs(x) > shrink ? x - copysign(shrink, x) : 0;
        }
        double decay = fmin(k, r->t / (r->t + 9.0));
        r->average[i] = decay * r->average[i] + (1 - decay) * r->theta[i];
    }
}

/* What must hold to the last bit. */
static void check_bits(const reference *r, const double *theta)
{
    bool fixed_J = r->o.fixed && strchr(r->o.fixed, 'J');
    for (int i = 0; i < SIZE; i++) {
        if (r->o.fixed && strchr(r->o.fixed, i < V * V ? 'J' : 'b')) {
            ck_assert_mem_eq(&theta[i], &r->start[i], sizeof *theta);
        } else if (r->o.couplings.zero_diagonal && i < V * V && i / V == i % V) {
            ck_assert(theta[i] == 0);
        } else if (r->t == ITERATIONS && (i >= V * V || i / V != i % V)) {
            ck_assert(theta[i] != r->start[i]); /* on the diagonal the gradient is 0 */
        }
    }
    for (int i = 0; i < V * V && !fixed_J; i++) {
        ck_assert_mem_eq(&theta[i], &theta[i % V * V + i / V], sizeof *theta);
    }
}

static int follow(const sal_train_report *report, void *data)
{
    reference *r = data;
    double theta[SIZE];
    sal_error err;
    ck_assert_int_eq(report->buffer, ROWS);
    step(r, report->samples);
    ck_assert_double_eq_tol(report->gradient_norm, r->gradient_norm, 1e-9);
    ck_assert_double_eq_tol(report->learning_rate, r->rate, 1e-12);
    ck_ok(sal_model_get_params(report->model, "J", theta, &err), &err);
    ck_ok(sal_model_get_params(report->model, "b", theta + V * V, &err), &err);
    check_bits(r, theta);
    ck_assert_int_eq(report->averages != NULL, r->o.averaging > 0);
    for (int i = 0; i < SIZE; i++) {
        ck_assert_double_eq_tol(theta[i], r->theta[i], 1e-9);
        if (report->averages) {
            ck_assert_double_eq_tol(report->averages[i], r->average[i], 1e-9);
        }
    }
    return 0;
}

static const sal_train_options cases[] = {
    { .optimiser.method = SAL_ADAM },
    { .optimiser = { .method = SAL_ADAM, .momentum = 0.5, .beta2 = 0.9, .epsilon = 1e-2 } },
    { .optimiser = { .method = SAL_ADAM, .momentum = -1 } },
    { .optimiser = { .method = SAL_ADAM, .weight_decay = 0.3 } },
    { .optimiser = { .method = SAL_ADAMW, .weight_decay = 0.3 } },
    { .optimiser = { .method = SAL_ADAMW, .weight_decay = 0.3 }, .rate.warmup = 7 },
    { .optimiser.method = SAL_SGD },
    { .optimiser.method = SAL_SGD, .rate.cooldown = 0.7, .couplings.group = 0.3 },
    { .optimiser.method = SAL_SGD, .rate.schedule = SAL_RATE_COSINE },
    { .optimiser.method = SAL_ADAM, .rate = { .schedule = SAL_RATE_EXPONENTIAL, .warmup = 3 } },
    { .optimiser.method = SAL_ADAMW,
      .rate = { .schedule = SAL_RATE_COSINE, .warmup = 7, .cooldown = 0.5 } },
    { .optimiser = { .method = SAL_ADAMW, .weight_decay = 0.3 },
      .rate = { .cooldown = 1, .warmup = 17 } },
    { .optimiser = { .method = SAL_SGD, .momentum = -1, .weight_decay = 0.3 } },
    { .optimiser = { .method = SAL_SGD, .momentum = 0.5, .weight_decay = 0.3 }, .rate.warmup = 30 },
    { .optimiser = { .method = SAL_ADAM, .weight_decay = 0.3 }, .couplings.l1 = 0.2 },
    { .optimiser = { .method = SAL_ADAMW, .weight_decay = 0.3 },
      .couplings = { .l1 = 0.2, .names = "J,J" } },
    { .optimiser.method = SAL_SGD, .couplings = { .l1 = 0.2, .zero_diagonal = true } },
    { .optimiser = { .method = SAL_ADAMW, .weight_decay = 0.3 },
      .couplings.zero_diagonal = true,
      .averaging = 0.5 },
    { .optimiser = { .method = SAL_ADAMW, .weight_decay = 0.3 }, .fixed = "b" },
    { .optimiser = { .method = SAL_ADAM, .weight_decay = 0.3 },
      .fixed = "J",
      .couplings = { .zero_diagonal = true, .l1 = 0.1 } },
    { .optimiser = { .method = SAL_SGD, .weight_decay = 0.3 },
      .fixed = "b",
      .couplings.zero_diagonal = true },
    { .optimiser.method = SAL_ADAM, .magnitude_penalty = 0.07 },
    { .optimiser.method = SAL_SGD,
      .magnitude_penalty = 0.07,
      .couplings.l1 = 0.01,
      .objective = SAL_CD },
    { .optimiser.method = SAL_ADAM, .averaging = 0.999 },
    { .optimiser = { .method = SAL_SGD, .clip_norm = 0.5 } },
    { .optimiser = { .method = SAL_ADAM, .clip_norm = 0.5 },
      .couplings = { .l1 = 0.2, .zero_diagonal = true },
      .fixed = "b" },
    { .optimiser = { .method = SAL_SGD, .clip_norm = 1e-3, .weight_decay = 0.3 } },
    { .optimiser = { .method = SAL_SGD, .clip_norm = 1e3 } },
    { .optimiser = { .method = SAL_ADAM, .weight_decay = 0.3 },
      .couplings = { .group = 0.3, .zero_diagonal = true } },
    { .optimiser.method = SAL_ADAMW, .couplings = { .group = 0.3, .l1 = 0.1 }, .rate.warmup = 7 },
    { .optimiser = { .method = SAL_SGD, .momentum = -1 }, .couplings.group = 0.3 },
    { .optimiser = { .method = SAL_SGD, .momentum = 0.5 },
      .couplings.group = 0.3,
      .rate.warmup = 30 },
    { .optimiser.method = SAL_SGD, .couplings.group = 0.3, .fixed = "J" },
};

START_TEST(updates_are_those_of_the_formulas)
{
    sal_error err;
    sal_data data = spin_data();
    reference r = { .o = cases[_i], .data = &data };
    sal_model *model = spin_model(r.theta);
    r.o.iterations = ITERATIONS;
    r.o.centring = SAL_CENTRING_OFF;
    r.o.learning_rate = 0.01;
    r.o.batch = ROWS;
    r.o.buffer.chains = r.o.objective == SAL_PCD ? ROWS : 0;
    r.o.sampler = "gibbs";
    r.o.steps = 3;
    r.o.threads = 1;
    r.o.callbacks.progress = follow;
    r.o.callbacks.progress_data = &r;
    memcpy(r.start, r.theta, sizeof r.start);
    bool fixed_J = r.o.fixed && strchr(r.o.fixed, 'J');
    for (int i = 0; i < V * V && !fixed_J; i++) { /* the start is made to fulfil the constraints */
        double mean = (r.start[i] + r.start[i % V * V + i / V]) / 2;
        r.theta[i] = r.o.couplings.zero_diagonal && i / V == i % V ? 0 : mean;
    }
    memcpy(r.average, r.theta, sizeof r.average);
    ck_ok(sal_train(model, &data, &r.o, &err), &err);
    ck_assert_int_eq(r.t, ITERATIONS);
    ck_assert_int_eq(r.clipped > 0, r.o.optimiser.clip_norm > 0 && r.o.optimiser.clip_norm < 1e3);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

START_TEST(no_couplings_within_a_one_hot_variable)
{
    enum { STATES = 3, SITES = 4, N = STATES * SITES };
    sal_error err;
    sal_model *model = NULL;
    double J[N * N];
    sal_data data = { .rows = 20, .variables = SITES, .codes = malloc(20 * SITES) };
    for (int i = 0; i < 20 * SITES; i++) {
        data.codes[i] = (uint8_t)(i * 7 / 3 % STATES);
    }
    ck_ok(sal_model_open("potts-dense:dim=4,states=3", SAL_F64, &model, &err), &err);
    for (int i = 0; i < N * N; i++) {
        J[i] = 0.01 * (i % 7);
    }
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    sal_train_options o = { .iterations = 3,
                            .batch = 20,
                            .buffer.chains = 20,
                            .steps = 2,
                            .couplings.zero_diagonal = true,
                            .optimiser.weight_decay = 0.1,
                            .threads = 1 };
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    int others = 0;
    for (int i = 0; i < N * N; i++) {
        bool within = i / N / STATES == i % N / STATES;
        ck_assert_msg(!within || J[i] == 0, "J[%d, %d] = %g", i / N, i % N, J[i]);
        ck_assert_mem_eq(&J[i], &J[i % N * N + i / N], sizeof *J);
        others += J[i] != 0;
    }
    ck_assert_int_eq(others, N * N - SITES * STATES * STATES);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* Potts couplings and data for group penalties. */
enum { GROUP_SITES = 5, GROUP_STATES = 3, GROUP_N = GROUP_SITES * GROUP_STATES };

static double group_norm(const double *J, int i, int j)
{
    double sum = 0;
    for (int a = 0; a < GROUP_STATES; a++) {
        for (int b = 0; b < GROUP_STATES; b++) {
            double x = J[(i * GROUP_STATES + a) * GROUP_N + j * GROUP_STATES + b];
            sum += x * x;
        }
    }
    return sqrt(sum);
}

/* Train a Potts model by one update from couplings J [N x N], and put them there. */
static void update_potts(const sal_train_options *with, double *J)
{
    sal_error err;
    sal_model *model = NULL;
    sal_data data = { .rows = 20, .variables = GROUP_SITES, .codes = malloc(20 * GROUP_SITES) };
    sal_train_options o = *with;
    uint32_t state = 5;
    for (int i = 0; i < 20 * GROUP_SITES; i++) {
        data.codes[i] = (uint8_t)((noise(&state) + 0.5) * GROUP_STATES);
    }
    ck_ok(sal_model_open("potts-dense:dim=5,states=3", SAL_F64, &model, &err), &err);
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    o.batch = o.buffer.chains = 20;
    o.steps = 2;
    o.iterations = o.iterations ? o.iterations : 1;
    o.threads = 1;
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    sal_model_destroy(model);
    free(data.codes);
}

static void group_start(double *J)
{
    for (int i = 0; i < GROUP_N * GROUP_N; i++) {
        int a = i / GROUP_N, b = i % GROUP_N, far = abs(a / GROUP_STATES - b / GROUP_STATES);
        J[i] = far > 2 ? 0 : 0.02 * ((a + b) % 5 - 2) / (1 + far);
    }
}

/* SGD: an update, then the blocks' soft threshold; some become exactly zero, as J stays symmetric.
 */
START_TEST(sgd_shrinks_blocks_exactly)
{
    static double plain[GROUP_N * GROUP_N], J[GROUP_N * GROUP_N];
    sal_train_options o = { .optimiser = { .method = SAL_SGD, .momentum = -1 },
                            .learning_rate = 0.1 };
    group_start(plain);
    group_start(J);
    update_potts(&o, plain);
    o.couplings.group = 0.7;
    update_potts(&o, J);
    int zero = 0;
    for (int i = 0; i < GROUP_N * GROUP_N; i++) {
        int s = i / GROUP_N / GROUP_STATES, t = i % GROUP_N / GROUP_STATES;
        double norm = group_norm(plain, s, t), shrink = 0.1 * 0.7 / 2;
        double factor = s == t ? 1 : norm > shrink ? 1 - shrink / norm : 0;
        ck_assert_double_eq_tol(J[i], factor * plain[i], 1e-14);
        ck_assert_mem_eq(&J[i], &J[i % GROUP_N * GROUP_N + i / GROUP_N], sizeof *J);
        ck_assert(factor > 0 || J[i] == 0);
        zero += factor == 0;
    }
    ck_assert(zero > 0 && zero < GROUP_N * GROUP_N - GROUP_SITES * GROUP_STATES * GROUP_STATES);
}
END_TEST

/* Adam without moments moves by the sign of the gradient, which shows it: the subgradient, at zero
 * the smallest. */
START_TEST(adam_follows_the_smallest_subgradient)
{
    static double plain[GROUP_N * GROUP_N], start[GROUP_N * GROUP_N], J[GROUP_N * GROUP_N];
    const double huge = 1e6, rate = 1e-3; /* epsilon makes steps proportional to the gradient */
    sal_train_options o = {
        .optimiser = { .method = SAL_ADAM, .momentum = -1, .beta2 = -1, .epsilon = huge },
        .learning_rate = rate * huge
    };
    group_start(start);
    memcpy(plain, start, sizeof plain);
    memcpy(J, start, sizeof J);
    update_potts(&o, plain);
    o.couplings.group = 0.35;
    update_potts(&o, J);
    int kept = 0, moved = 0;
    for (int i = 0; i < GROUP_N * GROUP_N; i++) {
        int s = i / GROUP_N / GROUP_STATES, t = i % GROUP_N / GROUP_STATES;
        double g[GROUP_N * GROUP_N], half = 0.35 / 2;
        for (int k = 0; k < GROUP_N * GROUP_N; k++) {
            g[k] = (plain[k] - start[k]) / rate;
        }
        double norm = group_norm(start, s, t), slope = group_norm(g, s, t), want = g[i];
        if (s != t && norm > 0) {
            want = g[i] - half * start[i] / norm;
        } else if (s != t) {
            want = slope > half ? (1 - half / slope) * g[i] : 0;
            kept += slope <= half;
            moved += slope > half;
        }
        ck_assert_double_eq_tol((J[i] - start[i]) / rate, want, 1e-5);
    }
    ck_assert_msg(kept > 0 && moved > 0, "%d, %d", kept, moved);
    /* a penalty beyond all gradients keeps what is zero at zero */
    sal_train_options strong = { .couplings.group = 10, .iterations = 5 };
    memset(J, 0, sizeof J);
    update_potts(&strong, J);
    for (int i = 0; i < GROUP_N * GROUP_N; i++) {
        bool within = i / GROUP_N / GROUP_STATES == i % GROUP_N / GROUP_STATES;
        ck_assert(within || J[i] == 0);
    }
}
END_TEST

/* Sizes that are no multiples of tiles or vectors; floats. */
START_TEST(large_couplings_stay_symmetric)
{
    enum { N = 83 };
    sal_error err;
    sal_data data = { .rows = 40, .variables = N, .codes = malloc(40 * N) };
    sal_model *model = NULL;
    static double J[N * N];
    for (int i = 0; i < 40 * N; i++) {
        data.codes[i] = (uint8_t)(i * 11 / 5 % 2);
    }
    for (int k = 0; k < 2; k++) {
        ck_ok(sal_model_open("ising-dense:dim=83,scale=0.01", k ? SAL_F64 : SAL_F32, &model, &err),
              &err);
        sal_train_options o = { .iterations = 4,
                                .batch = 40,
                                .buffer.chains = 40,
                                .steps = 3,
                                .couplings.l1 = 0.01,
                                .optimiser.method = k ? SAL_ADAMW : SAL_SGD,
                                .threads = 2 };
        ck_ok(sal_train(model, &data, &o, &err), &err);
        ck_ok(sal_model_get_params(model, "J", J, &err), &err);
        for (int i = 0; i < N * N; i++) {
            ck_assert_mem_eq(&J[i], &J[i % N * N + i / N], sizeof *J);
        }
        sal_model_destroy(model);
    }
    free(data.codes);
}
END_TEST

START_TEST(names_of_couplings_and_fixed_parameters_are_checked)
{
    sal_error err;
    sal_data data = spin_data();
    double theta[SIZE];
    sal_model *model = spin_model(theta), *rbm = NULL;
    ck_ok(sal_model_open("rbm:visible=5,hidden=3", SAL_F64, &rbm, &err), &err);
    sal_train_options o = { .batch = 4, .couplings.names = "K" };
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "couplings: no parameter is called 'K'");
    o = (sal_train_options){ .batch = 4, .fixed = "b,JJ" };
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "fixed: no parameter is called 'JJ'");
    o = (sal_train_options){ .batch = 4, .couplings.l1 = 0.1 };
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "l1 needs the names of couplings");
    o = (sal_train_options){ .batch = 4, .couplings.zero_diagonal = true };
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err, "zero_diagonal needs");
    o = (sal_train_options){ .batch = 4, .couplings = { .zero_diagonal = true, .names = "b" } };
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "zero_diagonal needs couplings of 5 x 5 entries");
    o = (sal_train_options){ .batch = 4, .couplings.group = 0.1 };
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "couplings.group needs the names of couplings");
    o.couplings.names = "b";
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "couplings.group needs couplings of 5 x 5 entries");
    o = (sal_train_options){ .batch = 4, .couplings.group = -1 };
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err, "couplings.group is -1");
    sal_model_destroy(model);
    sal_model_destroy(rbm);
    free(data.codes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train_updates");
    TCase *tcase = tcase_create("updates");
    tcase_add_loop_test(tcase, updates_are_those_of_the_formulas, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tcase, no_couplings_within_a_one_hot_variable);
    tcase_add_test(tcase, sgd_shrinks_blocks_exactly);
    tcase_add_test(tcase, adam_follows_the_smallest_subgradient);
    tcase_add_test(tcase, large_couplings_stay_symmetric);
    tcase_add_test(tcase, names_of_couplings_and_fixed_parameters_are_checked);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
