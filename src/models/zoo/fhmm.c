/* SPDX-License-Identifier: MIT */
/* Factorial hidden Markov model: f(x) = log p(x, y) of data y, drawn from the model itself or read.
 */
#include "models/zoo/fhmm.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/making.h"
#include "models/zoo/observations.h"

enum { LENGTH, FACTORS, SEED, SIGMA, P, V };
/* Random streams of a seed. */
enum { STREAM_W, STREAM_X, STREAM_NOISE };

/* Draw the weights W, W_0 ~ N(0, 1), states from the prior, and y from the states. */
static sal_status draw_fhmm(sali_making *making, sali_fhmm *m)
{
    int64_t K = m->factors, n = m->length * K;
    double *weights = SALI_BORROW(making, double, K + 1), *u = SALI_BORROW(making, double, n);
    bool *x = SALI_BORROW(making, bool, K);
    sali_stream stream = sali_making_stream(making, STREAM_W);
    if (!weights || !u || !x) {
        return sali_fail_memory(making->err);
    }
    sali_rng_normal(&stream, K + 1, weights);
    stream.chain = STREAM_X;
    sali_rng_uniform_f64(&stream, n, u);
    stream.chain = STREAM_NOISE;
    sali_rng_normal(&stream, m->length, m->y);
    m->W_0 = weights[K];
    memcpy(m->W, weights, (size_t)K * sizeof *weights);
    for (int64_t t = 0; t < m->length; t++) {
        m->y[t] = m->W_0 + m->sigma * m->y[t];
        for (int64_t k = 0; k < K; k++) {
            x[k] = t == 0 ? u[k] < m->v : x[k] != (u[t * K + k] > m->p);
            m->y[t] += x[k] ? m->W[k] : 0;
        }
    }
    return SAL_OK;
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
                                                NULL };

/* Allocate the numbers of the model in kept memory, make them the data of its statistic, and draw
 * weights and y by the seed. */
static sal_status create_fhmm(sali_making *making, int64_t length, sali_fhmm **out)
{
    const double *values = making->values;
    int64_t factors = (int64_t)values[FACTORS];
    sali_fhmm *m = SALI_KEEP(making, sali_fhmm, 1);
    double *W = SALI_KEEP(making, double, factors), *y = SALI_KEEP(making, double, length);
    if (!m || !W || !y) {
        return sali_fail_memory(making->err);
    }
    *m = (sali_fhmm){ length, factors, values[SIGMA], values[P], values[V], 0, W, y };
    making->statistic = &error_statistic;
    making->statistic_data = m;
    *out = m;
    return draw_fhmm(making, m);
}

/* f as a quadratic polynomial of x: n pairs with weights w, a linear term and a constant. */
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

/* Add log N(y_t; W'x + W_0, sigma^2), expanded. Squares x_k^2 are kept as pairs (k, k) and not
 * replaced by x_k, so that the derivative is the derivative of the formula as written. */
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

/* Add log p(x_t | x_(t-1)); 1 - a - b + 2ab is 1 if the bits a and b agree, and 0 if they
 * differ. */
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

/* Add log p(x_1). */
static void add_start(quadratic *f, const sali_fhmm *m)
{
    for (int64_t k = 0; k < m->factors; k++) {
        f->constant += log1p(-m->v);
        f->linear[k] += log(m->v) - log1p(-m->v);
    }
}

/* Record f = log p(x, y) as one quadratic polynomial. */
static sal_status record(sali_making *making, const sali_fhmm *m, sal_expr *f)
{
    int64_t K = m->factors, n = m->length * K, most = n * (K + 3) / 2;
    quadratic q = { .pairs = SALI_BORROW(making, int64_t, 2 * most),
                    .w = SALI_BORROW(making, double, most),
                    .linear = SALI_BORROW(making, double, n) };
    if (!q.pairs || !q.w || !q.linear) {
        return sali_fail_memory(making->err);
    }
    add_start(&q, m);
    for (int64_t t = 0; t < m->length; t++) {
        add_emission(&q, m, t);
        if (t > 0) {
            add_transition(&q, m, t);
        }
    }
    sal_expr s = sali_making_state(making, "x", SAL_BINARY, n, 0);
    sal_expr w = sal_constant(making->tape, q.w, SAL_SHAPE(q.n));
    sal_expr linear = sal_dot(sal_constant(making->tape, q.linear, SAL_SHAPE(n)), s);
    *f = sal_add(sal_edges(s, w, q.n, q.pairs),
                 sal_add(linear, sal_scalar(making->tape, q.constant)));
    return SAL_OK;
}

/* With a file y is read, but the weights are drawn by the seed as without a file: the data must be
 * scaled to suit them. */
static sal_status fhmm(sali_making *making, sal_expr *f)
{
    const sal_array *file = making->content ? &making->content->array : NULL;
    sali_fhmm *m = NULL;
    sal_status status = file ? sali_observations_check(file, making->err) : SAL_OK;
    int64_t length = file ? file->count : (int64_t)making->values[LENGTH];
    status = status ? status : create_fhmm(making, length, &m);
    if (status == SAL_OK && file) {
        memcpy(m->y, file->values, (size_t)length * sizeof *m->y);
    }
    return status ? status : record(making, m, f);
}

const sali_builtin sali_builtin_fhmm = {
    .name = "fhmm",
    .doc =
        "log p(x, y): x in {0,1}^(length x factors), Markov chains; y_t ~ N(W'x_t + W_0, sigma^2)",
    .source = "Grathwohl et al. 2021 eq. 11; W, W_0 ~ N(0, 1), y drawn from the model or of a file",
    .dtype = SAL_F64,
    .settings = { [LENGTH] = { "length", 1000, 1, SALI_MOST_OBSERVATIONS, true,
                               "time steps; of a file: its numbers", NULL },
                  [FACTORS] = { "factors", 10, 1, 1000, true, "hidden chains", NULL },
                  [SEED] = SALI_SEED("W and of the data"),
                  [SIGMA] = { "sigma", 0.5, 1e-3, 1e3, false, "standard deviation of y", NULL },
                  [P] = { "p", 0.95, 1e-6, 1 - 1e-6, false, "probability to keep a state", NULL },
                  [V] = { "v", 0.1, 1e-6, 1 - 1e-6, false, "probability of x_1 = 1", NULL } },
    .formula = fhmm,
    .content = SALI_CONTENT_ARRAY,
};
