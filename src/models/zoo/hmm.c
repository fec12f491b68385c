/* SPDX-License-Identifier: MIT */
/* Hidden Markov model: f(z) = log p(z, y) of data y, drawn from the model itself or read. */
#include "models/zoo/hmm.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/rng.h"
#include "core/number.h"
#include "models/zoo/making.h"
#include "models/zoo/observations.h"

#define LOG_2PI 1.8378770664093453

enum { LENGTH, STATES, SEED, SIGMA, P, SPREAD };
/* Random streams of a seed. */
enum { STREAM_MEANS, STREAM_Z, STREAM_NOISE };

/* Most reals of the one-hot state. */
#define MOST_REALS 100000000

/* ---- data and means */

/* The state after z by a uniform number u. */
static int64_t next_state(const sali_hmm *m, int64_t z, double u)
{
    if (u < m->p) {
        return z;
    }
    int64_t other = (int64_t)((u - m->p) / (1 - m->p) * (double)(m->states - 1));
    other = other < m->states - 1 ? other : m->states - 2;
    return other + (other >= z);
}

/* Means ~ N(0, spread^2), states from the prior, y from the states. */
static sal_status draw_data(sali_making *making, sali_hmm *m)
{
    double *u = SALI_BORROW(making, double, m->length);
    sali_stream stream = sali_making_stream(making, STREAM_MEANS);
    if (!u) {
        return sali_fail_memory(making->err);
    }
    sali_rng_normal(&stream, m->states, m->means);
    stream.chain = STREAM_Z;
    sali_rng_uniform_f64(&stream, m->length, u);
    stream.chain = STREAM_NOISE;
    sali_rng_normal(&stream, m->length, m->y);
    for (int64_t k = 0; k < m->states; k++) {
        m->means[k] *= making->values[SPREAD];
    }
    for (int64_t t = 0, z = 0; t < m->length; t++) {
        z = t == 0 ? (int64_t)(u[t] * (double)m->states) : next_state(m, z, u[t]);
        m->y[t] = m->means[z] + m->sigma * m->y[t];
    }
    return SAL_OK;
}

/* Read y from the file, and set the mean of state k to the quantile (k + 1/2) / states of y. */
static sal_status place_means(sali_making *making, sali_hmm *m)
{
    const sal_array *array = &making->content->array;
    double *sorted = SALI_BORROW(making, double, m->length);
    if (!sorted) {
        return sali_fail_memory(making->err);
    }
    memcpy(m->y, array->values, (size_t)array->count * sizeof *m->y);
    memcpy(sorted, m->y, (size_t)m->length * sizeof *sorted);
    sali_sort_doubles(m->length, sorted);
    for (int64_t k = 0; k < m->states; k++) {
        double at = ((double)k + 0.5) / (double)m->states * (double)m->length;
        m->means[k] = sorted[(int64_t)at];
    }
    return SAL_OK;
}

/* ---- the reconstruction error */

/* |y - mu_z|, the Euclidean norm over time. */
static double reconstruction_error(const sal_model *model, const int32_t *codes)
{
    const sali_hmm *m = model->statistic_data;
    double sum = 0;
    for (int64_t t = 0; t < m->length; t++) {
        double residual = m->y[t] - m->means[codes[t]];
        sum += residual * residual;
    }
    return sqrt(sum);
}

static const sali_statistic error_statistic = { "reconstruction error", reconstruction_error,
                                                NULL };

/* ---- the formula */

static double log_normal(const sali_hmm *m, int64_t t, int64_t k)
{
    return -0.5 * pow((m->y[t] - m->means[k]) / m->sigma, 2) - log(m->sigma) - 0.5 * LOG_2PI;
}

static double log_stay(const sali_hmm *m)
{
    return log(m->p);
}

static double log_leave(const sali_hmm *m)
{
    return log1p(-m->p) - log((double)(m->states - 1));
}

/* Allocate the numbers of the model in kept memory and make them the data of its statistic; means
 * and y are still to be filled. Returns: SAL_ERR_ARGUMENT if there are too many. */
static sal_status create_hmm(sali_making *making, int64_t length, sali_hmm **out)
{
    const double *values = making->values;
    int64_t states = (int64_t)values[STATES];
    if (length > MOST_REALS / states) {
        return sali_fail(making->err, SAL_ERR_ARGUMENT,
                         "hmm: %lld steps of %lld states; at most %d in all", (long long)length,
                         (long long)states, MOST_REALS);
    }
    sali_hmm *m = SALI_KEEP(making, sali_hmm, 1);
    double *means = SALI_KEEP(making, double, states), *y = SALI_KEEP(making, double, length);
    if (!m || !means || !y) {
        return sali_fail_memory(making->err);
    }
    *m = (sali_hmm){ length, states, values[SIGMA], values[P], means, y };
    making->statistic = &error_statistic;
    making->statistic_data = m;
    *out = m;
    return SAL_OK;
}

/* Record f = log p(z, y): emissions are linear in the one-hot states, and transitions are weights
 * of pairs of equal neighbours. */
static sal_status record(sali_making *making, const sali_hmm *m, sal_expr *f)
{
    int64_t n = m->length * m->states, edges = n - m->states;
    int64_t *pairs = SALI_BORROW(making, int64_t, 2 * edges);
    double *emission = SALI_BORROW(making, double, n);
    const double *weights = sali_making_repeat(making, edges, log_stay(m) - log_leave(m));
    if (!pairs || !emission || !weights) {
        return sali_fail_memory(making->err);
    }
    for (int64_t i = 0; i < n; i++) {
        emission[i] = log_normal(m, i / m->states, i % m->states);
    }
    for (int64_t e = 0; e < edges; e++) {
        pairs[2 * e] = e;
        pairs[2 * e + 1] = e + m->states;
    }
    double constant = (double)(m->length - 1) * log_leave(m) - log((double)m->states);
    sal_expr s = sali_making_state(making, "z", SAL_CATEGORICAL, m->length, m->states);
    *f = sal_dot(sal_constant(making->tape, emission, SAL_SHAPE(n)), s);
    if (edges > 0) {
        sal_expr w = sal_constant(making->tape, weights, SAL_SHAPE(edges));
        *f = sal_add(*f, sal_edges(s, w, edges, pairs));
    }
    *f = sal_add(*f, sal_scalar(making->tape, constant));
    return SAL_OK;
}

static sal_status hmm(sali_making *making, sal_expr *f)
{
    const sal_array *file = making->content ? &making->content->array : NULL;
    sali_hmm *m = NULL;
    sal_status status = file ? sali_observations_check(file, making->err) : SAL_OK;
    int64_t length = file ? file->count : (int64_t)making->values[LENGTH];
    status = status ? status : create_hmm(making, length, &m);
    status = status ? status : file ? place_means(making, m) : draw_data(making, m);
    return status ? status : record(making, m, f);
}

const sali_builtin sali_builtin_hmm = {
    .name = "hmm",
    .doc = "log p(z, y): z in {0 .. states-1}^length, a Markov chain; y_t ~ N(mu_(z_t), sigma^2)",
    .source = "Rabiner 1989; y drawn from the model with mu ~ N(0, spread^2), or of a file with "
              "its quantiles (k + 1/2) / states for mu",
    .dtype = SAL_F64,
    .settings = { [LENGTH] = { "length", 100, 1, SALI_MOST_OBSERVATIONS, true,
                               "time steps; of a file: its numbers", NULL },
                  [STATES] = { "states", 4, 2, 256, true, "hidden states", NULL },
                  [SEED] = SALI_SEED("mu and of the data"),
                  [SIGMA] = { "sigma", 0.5, 1e-3, 1e3, false, "standard deviation of y", NULL },
                  [P] = { "p", 0.9, 1e-6, 1 - 1e-6, false,
                          "probability to keep a state; all others are equally likely", NULL },
                  [SPREAD] = { "spread", 1, 0, 1e6, false, "standard deviation of mu", NULL } },
    .formula = hmm,
    .content = SALI_CONTENT_ARRAY,
};
