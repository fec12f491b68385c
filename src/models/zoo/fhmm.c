/* Factorial hidden Markov model: f(x) = log p(x, y) of data y, drawn from the model itself or read.
 */
#include "models/zoo/fhmm.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"
#include "models/zoo/observations.h"
#include "models/statistic.h"

enum { LENGTH, FACTORS, SEED, SIGMA, P, V };
/* Random streams of a seed. */
enum { STREAM_W, STREAM_X, STREAM_NOISE };

static void destroy_fhmm(void *data)
{
    sali_fhmm *m = data;
    if (m) {
        sali_free(m->W);
        sali_free(m->y);
        sali_free(m);
    }
}

/* Weights W, W_0 ~ N(0, 1); states from the prior; y from the states. */
static bool draw_fhmm(sali_fhmm *m, uint64_t seed)
{
    int64_t K = m->factors, n = m->length * K;
    double *weights = SALI_NEW_ARRAY(double, K + 1), *u = SALI_NEW_ARRAY(double, n);
    bool *x = SALI_NEW_ARRAY(bool, K);
    bool ok = weights && u && x;
    if (ok) {
        sali_stream stream = { .seed = seed, .chain = STREAM_W, .purpose = SALI_RNG_PARAMS };
        sali_rng_normal(&stream, K + 1, weights);
        stream.chain = STREAM_X;
        sali_rng_uniform_f64(&stream, n, u);
        stream.chain = STREAM_NOISE;
        sali_rng_normal(&stream, m->length, m->y);
        m->W_0 = weights[K];
        for (int64_t k = 0; k < K; k++) {
            m->W[k] = weights[k];
        }
    }
    for (int64_t t = 0; ok && t < m->length; t++) {
        m->y[t] = m->W_0 + m->sigma * m->y[t];
        for (int64_t k = 0; k < K; k++) {
            x[k] = t == 0 ? u[k] < m->v : x[k] != (u[t * K + k] > m->p);
            m->y[t] += x[k] ? m->W[k] : 0;
        }
    }
    sali_free(weights);
    sali_free(u);
    sali_free(x);
    return ok;
}

/* With data of its own, from the seed. */
static sali_fhmm *create_fhmm(const double *values, int64_t length)
{
    sali_fhmm *m = SALI_NEW(sali_fhmm);
    if (!m) {
        return NULL;
    }
    m->length = length;
    m->factors = (int64_t)values[FACTORS];
    m->sigma = values[SIGMA];
    m->p = values[P];
    m->v = values[V];
    m->W = SALI_NEW_ARRAY(double, m->factors);
    m->y = SALI_NEW_ARRAY(double, m->length);
    if (!m->W || !m->y || !draw_fhmm(m, (uint64_t)values[SEED])) {
        destroy_fhmm(m);
        return NULL;
    }
    return m;
}

/* f as a quadratic in x: pairs with weights, a linear term and a constant. */
typedef struct quadratic {
    int64_t n;
    int64_t *pairs;     /* [2n] */
    double *w, *linear; /* [n], [length x factors] */
    double constant;
} quadratic;

static void add_pair(quadratic *f, int64_t i, int64_t j, double w)
{
    f->pairs[2 * f->n] = i;
    f->pairs[2 * f->n + 1] = j;
    f->w[f->n++] = w;
}

/* log N(y_t; W'x + W_0, sigma^2), expanded; squares stay squares, so that its derivative is that of
 * the formula as it is written. */
static void add_emission(quadratic *f, const sali_fhmm *m, int64_t t)
{
    double precision = 1 / (m->sigma * m->sigma), c = m->y[t] - m->W_0;
    int64_t first = t * m->factors;
    f->constant -= 0.5 * precision * c * c + log(m->sigma) + 0.5 * log(2 * M_PI);
    for (int64_t k = 0; k < m->factors; k++) {
        f->linear[first + k] += precision * c * m->W[k];
        add_pair(f, first + k, first + k, -0.5 * precision * m->W[k] * m->W[k]);
        for (int64_t j = 0; j < k; j++) {
            add_pair(f, first + j, first + k, -precision * m->W[j] * m->W[k]);
        }
    }
}

/* log p(x_t | x_(t-1)): a and b agree where 1 - a - b + 2ab is 1. */
static void add_transition(quadratic *f, const sali_fhmm *m, int64_t t)
{
    double stay = log(m->p), flip = log1p(-m->p);
    for (int64_t k = 0; k < m->factors; k++) {
        int64_t b = t * m->factors + k, a = b - m->factors;
        f->constant += stay;
        f->linear[a] -= stay - flip;
        f->linear[b] -= stay - flip;
        add_pair(f, a, b, 2 * (stay - flip));
    }
}

static void add_start(quadratic *f, const sali_fhmm *m)
{
    for (int64_t k = 0; k < m->factors; k++) {
        f->constant += log1p(-m->v);
        f->linear[k] += log(m->v) - log1p(-m->v);
    }
}

static sal_status record(const sali_fhmm *m, quadratic *f, sal_dtype dtype, sal_model **out,
                         sal_error *err)
{
    int64_t n = m->length * m->factors;
    sal_tape *tape = sali_builtin_tape("x", SAL_BINARY, n, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    add_start(f, m);
    for (int64_t t = 0; t < m->length; t++) {
        add_emission(f, m, t);
        if (t > 0) {
            add_transition(f, m, t);
        }
    }
    sal_expr s = sal_state(tape), w = sal_constant(tape, f->w, SAL_SHAPE(f->n));
    sal_expr linear = sal_dot(sal_constant(tape, f->linear, SAL_SHAPE(n)), s);
    sal_expr value =
        sal_add(sal_edges(s, w, f->n, f->pairs), sal_add(linear, sal_scalar(tape, f->constant)));
    return sali_builtin_finish(tape, value, "fhmm", out, err);
}

/* |y - (W'x + W_0)|, the Euclidean norm over time. */
static double reconstruction_error(const sal_model *model, const int32_t *codes)
{
    const sali_fhmm *m = model->statistic_data;
    double sum = 0;
    for (int64_t t = 0; t < m->length; t++) {
        double residual = m->y[t] - m->W_0;
        for (int64_t k = 0; k < m->factors; k++) {
            residual -= *codes++ ? m->W[k] : 0;
        }
        sum += residual * residual;
    }
    return sqrt(sum);
}

static const sali_statistic error_statistic = { "reconstruction error", reconstruction_error,
                                                destroy_fhmm };

/* The model of data; takes m over. */
static sal_status finish(sali_fhmm *m, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t K = m->factors, most = m->length * K * (K + 3) / 2;
    quadratic f = { .pairs = SALI_NEW_ARRAY(int64_t, 2 * most),
                    .w = SALI_NEW_ARRAY(double, most),
                    .linear = SALI_NEW_ARRAY(double, m->length *K) };
    sal_status status =
        f.pairs && f.w && f.linear ? record(m, &f, dtype, out, err) : sali_fail_memory(err);
    sali_free(f.pairs);
    sali_free(f.w);
    sali_free(f.linear);
    if (status != SAL_OK) {
        destroy_fhmm(m);
        return status;
    }
    sali_model_set_statistic(*out, &error_statistic, m);
    return SAL_OK;
}

static sal_status make_fhmm(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_fhmm *m = create_fhmm(values, (int64_t)values[LENGTH]);
    return m ? finish(m, dtype, out, err) : sali_fail_memory(err);
}

/* The weights stay those of the seed: data are to be scaled to them. */
static sal_status make_fhmm_from(const double *values, const sali_content *content, sal_dtype dtype,
                                 sal_model **out, sal_error *err)
{
    const sali_array *array = &content->array;
    sal_status status = sali_observations_check(array, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_fhmm *m = create_fhmm(values, array->count);
    if (!m) {
        return sali_fail_memory(err);
    }
    memcpy(m->y, array->values, (size_t)array->count * sizeof *m->y);
    return finish(m, dtype, out, err);
}

const sali_builtin sali_builtin_fhmm = {
    .name = "fhmm",
    .doc =
        "log p(x, y): x in {0,1}^(length x factors), Markov chains; y_t ~ N(W'x_t + W_0, sigma^2)",
    .source = "Grathwohl et al. 2021 eq. 11; W, W_0 ~ N(0, 1), y drawn from the model or of a file",
    .dtype = SAL_F64,
    .parameters = { [LENGTH] = { "length", 1000, 1, SALI_MOST_OBSERVATIONS, true,
                                 "time steps; of a file: its numbers", NULL },
                    [FACTORS] = { "factors", 10, 1, 1000, true, "hidden chains", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of W and of the data",
                               NULL },
                    [SIGMA] = { "sigma", 0.5, 1e-3, 1e3, false, "standard deviation of y", NULL },
                    [P] = { "p", 0.95, 1e-6, 1 - 1e-6, false, "probability to keep a state", NULL },
                    [V] = { "v", 0.1, 1e-6, 1 - 1e-6, false, "probability of x_1 = 1", NULL } },
    .make = make_fhmm,
    .content = SALI_CONTENT_ARRAY,
    .make_from = make_fhmm_from,
};
