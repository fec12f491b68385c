/* SPDX-License-Identifier: MIT */
/* Linear-chain conditional random field: f(y) = log p(y | x) + log Z of the labels of a sequence of
 * tokens, of which only real features b(x, i) are known: drawn at random, or read.
 *
 * Transition features are the pairs of labels, t(y_(i-1), y_i) = [y_(i-1) = k, y_i = l] of weight
 * lambda_kl; state features are s(y_i, x, i) = b_j(x, i) [y_i = l] of weight mu_jl. */
#include <math.h>

#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/making.h"

enum { TOKENS, LABELS, FEATURES, SCALE, SEED };
/* Random streams of a seed. */
enum { STREAM_LAMBDA, STREAM_MU, STREAM_FEATURES };

/* Most pairs of labels of all neighbours, and most features of all tokens. */
#define MOST_TERMS (INT64_C(1) << 24)

/* Add the transitions to *f: an edge for each pair of labels of neighbouring tokens, with the
 * weight lambda_kl of the pair. */
static sal_status add_transitions(sali_making *m, int64_t tokens, int64_t n, sal_expr *f)
{
    int64_t edges = (tokens - 1) * n * n;
    int64_t *pairs = SALI_BORROW(m, int64_t, 2 * edges);
    int64_t *weight = SALI_BORROW(m, int64_t, edges);
    if (!pairs || !weight) {
        return sali_fail_memory(m->err);
    }
    for (int64_t e = 0; e < edges; e++) {
        int64_t i = e / (n * n);
        weight[e] = e % (n * n);
        pairs[2 * e] = i * n + weight[e] / n;
        pairs[2 * e + 1] = (i + 1) * n + weight[e] % n;
    }
    sal_expr lambda =
        sali_making_normal(m, "lambda", SAL_SHAPE(n, n), m->values[SCALE], STREAM_LAMBDA);
    lambda = sal_gather(sal_reshape(lambda, SAL_SHAPE(n * n)), 0, edges, weight);
    *f = sal_add(*f, sal_edges(sal_state(m->tape), lambda, edges, pairs));
    return SAL_OK;
}

/* Draw n features, random bits, into borrowed memory; NULL when out of memory. */
static const double *draw_features(sali_making *m, int64_t n)
{
    sali_stream stream = sali_making_stream(m, STREAM_FEATURES);
    double *b = SALI_BORROW(m, double, n);
    if (b) {
        sali_rng_uniform_f64(&stream, n, b);
    }
    for (int64_t i = 0; b && i < n; i++) {
        b[i] = b[i] < 0.5;
    }
    return b;
}

/* SAL_ERR_DATA unless the features of a file, a row for each token, are finite numbers. */
static sal_status check_features(const sal_array *array, sal_error *err)
{
    for (int64_t i = 0; i < array->count; i++) {
        if (!isfinite(array->values[i])) {
            return sali_fail(err, SAL_ERR_DATA, "crf: feature number %lld is not finite",
                             (long long)i + 1);
        }
    }
    return array->count > 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA, "crf: no features; expected a row for each token");
}

static sal_status crf(sali_making *m, sal_expr *f)
{
    const sal_array *file = m->content ? &m->content->array : NULL;
    sal_status status = file ? check_features(file, m->err) : SAL_OK;
    if (status != SAL_OK) {
        return status;
    }
    int64_t T = file ? file->shape[0] : (int64_t)m->values[TOKENS];
    int64_t n = (int64_t)m->values[LABELS];
    int64_t features = file ? file->count / T : (int64_t)m->values[FEATURES];
    if (T > MOST_TERMS / n / n || T > MOST_TERMS / features) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "crf: %lld tokens with %lld labels and %lld features; at most %lld pairs "
                         "of labels and %lld features in all",
                         (long long)T, (long long)n, (long long)features, (long long)MOST_TERMS,
                         (long long)MOST_TERMS);
    }
    const double *values = file ? file->values : draw_features(m, T * features);
    if (!values) {
        return sali_fail_memory(m->err);
    }
    sal_expr y = sali_making_state(m, "label", SAL_CATEGORICAL, T, n);
    sal_expr b = sal_constant(m->tape, values, SAL_SHAPE(T, features));
    sal_expr mu = sali_making_normal(m, "mu", SAL_SHAPE(features, n), m->values[SCALE], STREAM_MU);
    *f = sal_dot(sal_reshape(sal_matmul(b, mu), SAL_SHAPE(T * n)), y);
    return T > 1 ? add_transitions(m, T, n, f) : SAL_OK;
}

const sali_builtin sali_builtin_crf = {
    .name = "crf",
    .doc = "sum_i lambda(y_(i-1), y_i) + mu(y_i)'b(x, i), y the labels of `tokens` tokens with "
           "features b",
    .source = "Lafferty et al. 2001; van den Hoek's thesis sec. 2.2.5; lambda, mu ~ N(0, scale^2), "
              "b random bits or of a file, a row a token",
    .dtype = SAL_F64,
    .settings = { [TOKENS] = { "tokens", 20, 1, 1e6, true, "length; of a file: its rows", NULL },
                  [LABELS] = { "labels", 5, 2, 256, true, "labels of a token", NULL },
                  [FEATURES] = { "features", 10, 1, 1e5, true,
                                 "features of a token; of a file: its columns", NULL },
                  [SCALE] = SALI_DEVIATION(1, "the weights"),
                  [SEED] = SALI_SEED("weights and features") },
    .formula = crf,
    .content = SALI_CONTENT_ARRAY,
};
