/* Linear-chain conditional random field: f(y) = log p(y | x) + log Z of the labels of a sequence of
 * tokens, of which only real features b(x, i) are known: drawn at random, or read.
 *
 * Transition features are the pairs of labels, t(y_(i-1), y_i) = [y_(i-1) = k, y_i = l] of weight
 * lambda_kl; state features are s(y_i, x, i) = b_j(x, i) [y_i = l] of weight mu_jl. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"

enum { TOKENS, LABELS, FEATURES, SCALE, SEED };
/* Random streams of a seed. */
enum { STREAM_LAMBDA, STREAM_MU, STREAM_FEATURES };

/* Pairs of labels of all neighbours, and features of all tokens. */
#define MOST_TERMS (INT64_C(1) << 24)

typedef struct crf {
    int64_t tokens, labels, features;
    double *b; /* [tokens x features] */
} crf;

static void destroy_crf(crf *m)
{
    if (m) {
        sali_free(m->b);
        sali_free(m);
    }
}

static sal_status create_crf(int64_t tokens, int64_t labels, int64_t features, crf **out,
                             sal_error *err)
{
    if (tokens > MOST_TERMS / labels / labels || tokens > MOST_TERMS / features) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "crf: %lld tokens with %lld labels and %lld features; at most %lld pairs "
                         "of labels and %lld features in all",
                         (long long)tokens, (long long)labels, (long long)features,
                         (long long)MOST_TERMS, (long long)MOST_TERMS);
    }
    crf *m = SALI_NEW(crf);
    double *b = SALI_NEW_ARRAY(double, tokens *features);
    if (!m || !b) {
        sali_free(m);
        sali_free(b);
        return sali_fail_memory(err);
    }
    *m = (crf){ tokens, labels, features, b };
    *out = m;
    return SAL_OK;
}

/* ---- the formula */

/* Transitions: an edge for each pair of labels of neighbours, with the weight of that pair. */
static sal_expr transitions(const crf *m, sal_tape *tape, int64_t *pairs, int64_t *weight)
{
    int64_t n = m->labels, edges = (m->tokens - 1) * n * n;
    for (int64_t e = 0; e < edges; e++) {
        int64_t i = e / (n * n);
        weight[e] = e % (n * n);
        pairs[2 * e] = i * n + weight[e] / n;
        pairs[2 * e + 1] = (i + 1) * n + weight[e] % n;
    }
    sal_expr lambda = sal_reshape(sal_param(tape, "lambda", SAL_SHAPE(n, n)), SAL_SHAPE(n * n));
    return sal_edges(sal_state(tape), sal_gather(lambda, 0, edges, weight), edges, pairs);
}

static sal_status record(const crf *m, int64_t *pairs, int64_t *weight, sal_dtype dtype,
                         sal_model **out, sal_error *err)
{
    int64_t T = m->tokens, n = m->labels;
    sal_tape *tape = sali_builtin_tape("label", SAL_CATEGORICAL, T, n, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr b = sal_constant(tape, m->b, SAL_SHAPE(T, m->features));
    sal_expr mu = sal_param(tape, "mu", SAL_SHAPE(m->features, n));
    sal_expr f = sal_dot(sal_reshape(sal_matmul(b, mu), SAL_SHAPE(T * n)), sal_state(tape));
    if (T > 1) {
        f = sal_add(f, transitions(m, tape, pairs, weight));
    }
    return sali_builtin_finish(tape, f, "crf", out, err);
}

/* The model of features, with random weights; takes m over. */
static sal_status finish(crf *m, const double *values, sal_dtype dtype, sal_model **out,
                         sal_error *err)
{
    int64_t edges = m->tokens * m->labels * m->labels;
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 2 * edges);
    int64_t *weight = SALI_NEW_ARRAY(int64_t, edges);
    sal_status status =
        pairs && weight ? record(m, pairs, weight, dtype, out, err) : sali_fail_memory(err);
    sali_free(pairs);
    sali_free(weight);
    bool pairwise = m->tokens > 1;
    destroy_crf(m);
    uint64_t seed = (uint64_t)values[SEED];
    if (status == SAL_OK && pairwise) {
        status = sali_builtin_randomise(*out, "lambda", values[SCALE], seed, STREAM_LAMBDA, err);
    }
    return status ? status
                  : sali_builtin_randomise(*out, "mu", values[SCALE], seed, STREAM_MU, err);
}

static sal_status make_crf(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    crf *m = NULL;
    sal_status status = create_crf((int64_t)values[TOKENS], (int64_t)values[LABELS],
                                   (int64_t)values[FEATURES], &m, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_stream stream = { .seed = (uint64_t)values[SEED],
                           .chain = STREAM_FEATURES,
                           .purpose = SALI_RNG_PARAMS };
    sali_rng_uniform_f64(&stream, m->tokens * m->features, m->b);
    for (int64_t i = 0; i < m->tokens * m->features; i++) {
        m->b[i] = m->b[i] < 0.5;
    }
    return finish(m, values, dtype, out, err);
}

/* Features of a file: a row for each token. */
static sal_status make_crf_from(const double *values, const sali_content *content, sal_dtype dtype,
                                sal_model **out, sal_error *err)
{
    const sali_array *array = &content->array;
    crf *m = NULL;
    for (int64_t i = 0; i < array->count; i++) {
        if (!isfinite(array->values[i])) {
            return sali_fail(err, SAL_ERR_DATA, "crf: feature number %lld is not finite",
                             (long long)i + 1);
        }
    }
    if (array->count < 1) {
        return sali_fail(err, SAL_ERR_DATA, "crf: no features; expected a row for each token");
    }
    sal_status status = create_crf(array->shape[0], (int64_t)values[LABELS],
                                   array->count / array->shape[0], &m, err);
    if (status != SAL_OK) {
        return status;
    }
    memcpy(m->b, array->values, (size_t)array->count * sizeof *m->b);
    return finish(m, values, dtype, out, err);
}

const sali_builtin sali_builtin_crf = {
    .name = "crf",
    .doc = "sum_i lambda(y_(i-1), y_i) + mu(y_i)'b(x, i), y the labels of `tokens` tokens with "
           "features b",
    .source = "Lafferty et al. 2001; van den Hoek's thesis sec. 2.2.5; lambda, mu ~ N(0, scale^2), "
              "b random bits or of a file, a row a token",
    .dtype = SAL_F64,
    .parameters = { [TOKENS] = { "tokens", 20, 1, 1e6, true, "length; of a file: its rows", NULL },
                    [LABELS] = { "labels", 5, 2, 256, true, "labels of a token", NULL },
                    [FEATURES] = { "features", 10, 1, 1e5, true,
                                   "features of a token; of a file: its columns", NULL },
                    [SCALE] = { "scale", 1, 0, 1e6, false, "standard deviation of the weights",
                                NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of weights and features",
                               NULL } },
    .make = make_crf,
    .content = SALI_CONTENT_ARRAY,
    .make_from = make_crf_from,
};
