/* Hidden Markov model: f(z) = log p(z, y) of data y, drawn from the model itself or read. */
#include "models/zoo/hmm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"
#include "models/zoo/observations.h"
#include "models/statistic.h"

#define LOG_2PI 1.8378770664093453

enum { LENGTH, STATES, SEED, SIGMA, P, SPREAD };
/* Random streams of a seed. */
enum { STREAM_MEANS, STREAM_Z, STREAM_NOISE };

/* Of the one-hot state, and of potentials. */
#define MOST_REALS 100000000

static void destroy_hmm(void *data)
{
    sali_hmm *m = data;
    if (m) {
        sali_free(m->means);
        sali_free(m->y);
        sali_free(m);
    }
}

static sali_hmm *create_hmm(const double *values, int64_t length)
{
    sali_hmm *m = SALI_NEW(sali_hmm);
    if (!m) {
        return NULL;
    }
    m->length = length;
    m->states = (int64_t)values[STATES];
    m->sigma = values[SIGMA];
    m->p = values[P];
    m->means = SALI_NEW_ARRAY(double, m->states);
    m->y = SALI_NEW_ARRAY(double, length);
    if (!m->means || !m->y) {
        destroy_hmm(m);
        return NULL;
    }
    return m;
}

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
static sal_status draw_data(sali_hmm *m, double spread, uint64_t seed, sal_error *err)
{
    double *u = SALI_NEW_ARRAY(double, m->length);
    sali_stream stream = { .seed = seed, .chain = STREAM_MEANS, .purpose = SALI_RNG_PARAMS };
    if (!u) {
        return sali_fail_memory(err);
    }
    sali_rng_normal(&stream, m->states, m->means);
    stream.chain = STREAM_Z;
    sali_rng_uniform_f64(&stream, m->length, u);
    stream.chain = STREAM_NOISE;
    sali_rng_normal(&stream, m->length, m->y);
    for (int64_t k = 0; k < m->states; k++) {
        m->means[k] *= spread;
    }
    for (int64_t t = 0, z = 0; t < m->length; t++) {
        z = t == 0 ? (int64_t)(u[t] * (double)m->states) : next_state(m, z, u[t]);
        m->y[t] = m->means[z] + m->sigma * m->y[t];
    }
    sali_free(u);
    return SAL_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The means of data that come from elsewhere: state k has their quantile (k + 1/2) / states. */
static sal_status place_means(sali_hmm *m, sal_error *err)
{
    double *sorted = sali_memdup(m->y, m->length, sizeof *sorted);
    if (!sorted) {
        return sali_fail_memory(err);
    }
    qsort(sorted, (size_t)m->length, sizeof *sorted, ascending);
    for (int64_t k = 0; k < m->states; k++) {
        double at = ((double)k + 0.5) / (double)m->states * (double)m->length;
        m->means[k] = sorted[(int64_t)at];
    }
    sali_free(sorted);
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
                                                destroy_hmm };

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

/* Emissions are linear in the one-hot states; transitions weigh each pair of equal neighbours. */
static sal_status record(const sali_hmm *m, double *emission, double *weights, int64_t *pairs,
                         sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t n = m->length * m->states, edges = n - m->states;
    sal_tape *tape = sali_builtin_tape("z", SAL_CATEGORICAL, m->length, m->states, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < n; i++) {
        emission[i] = log_normal(m, i / m->states, i % m->states);
    }
    for (int64_t e = 0; e < edges; e++) {
        weights[e] = log_stay(m) - log_leave(m);
        pairs[2 * e] = e;
        pairs[2 * e + 1] = e + m->states;
    }
    double constant = (double)(m->length - 1) * log_leave(m) - log((double)m->states);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_dot(sal_constant(tape, emission, SAL_SHAPE(n)), s);
    if (edges > 0) {
        sal_expr w = sal_constant(tape, weights, SAL_SHAPE(edges));
        f = sal_add(f, sal_edges(s, w, edges, pairs));
    }
    return sali_builtin_finish(tape, sal_add(f, sal_scalar(tape, constant)), "hmm", out, err);
}

/* The model of data; takes m over. */
static sal_status finish(sali_hmm *m, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t n = m->length * m->states;
    double *emission = SALI_NEW_ARRAY(double, n), *weights = SALI_NEW_ARRAY(double, n);
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 2 * n);
    sal_status status = emission && weights && pairs
                            ? record(m, emission, weights, pairs, dtype, out, err)
                            : sali_fail_memory(err);
    sali_free(emission);
    sali_free(weights);
    sali_free(pairs);
    if (status != SAL_OK) {
        destroy_hmm(m);
        return status;
    }
    sali_model_set_statistic(*out, &error_statistic, m);
    return SAL_OK;
}

static sal_status check_size(int64_t length, const double *values, sal_error *err)
{
    return length <= MOST_REALS / (int64_t)values[STATES]
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "hmm: %lld steps of %lld states; at most %d in all", (long long)length,
                           (long long)values[STATES], MOST_REALS);
}

static sal_status make_hmm(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sal_status status = check_size((int64_t)values[LENGTH], values, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_hmm *m = create_hmm(values, (int64_t)values[LENGTH]);
    status = m ? draw_data(m, values[SPREAD], (uint64_t)values[SEED], err) : sali_fail_memory(err);
    if (status != SAL_OK) {
        destroy_hmm(m);
        return status;
    }
    return finish(m, dtype, out, err);
}

static sal_status make_hmm_from(const double *values, const sali_content *content, sal_dtype dtype,
                                sal_model **out, sal_error *err)
{
    const sali_array *array = &content->array;
    sal_status status = sali_observations_check(array, err);
    status = status ? status : check_size(array->count, values, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_hmm *m = create_hmm(values, array->count);
    if (!m) {
        return sali_fail_memory(err);
    }
    memcpy(m->y, array->values, (size_t)array->count * sizeof *m->y);
    status = place_means(m, err);
    if (status != SAL_OK) {
        destroy_hmm(m);
        return status;
    }
    return finish(m, dtype, out, err);
}

const sali_builtin sali_builtin_hmm = {
    .name = "hmm",
    .doc = "log p(z, y): z in {0 .. states-1}^length, a Markov chain; y_t ~ N(mu_(z_t), sigma^2)",
    .source = "Rabiner 1989; y drawn from the model with mu ~ N(0, spread^2), or of a file with "
              "its quantiles (k + 1/2) / states for mu",
    .dtype = SAL_F64,
    .parameters = { [LENGTH] = { "length", 100, 1, SALI_MOST_OBSERVATIONS, true,
                                 "time steps; of a file: its numbers", NULL },
                    [STATES] = { "states", 4, 2, 256, true, "hidden states", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of mu and of the data",
                               NULL },
                    [SIGMA] = { "sigma", 0.5, 1e-3, 1e3, false, "standard deviation of y", NULL },
                    [P] = { "p", 0.9, 1e-6, 1 - 1e-6, false,
                            "probability to keep a state; all others are equally likely", NULL },
                    [SPREAD] = { "spread", 1, 0, 1e6, false, "standard deviation of mu", NULL } },
    .make = make_hmm,
    .content = SALI_CONTENT_ARRAY,
    .make_from = make_hmm_from,
};
