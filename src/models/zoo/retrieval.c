/* Retrieval: the set of images that best answers a query, which is one of them. Relevance to the
 * query, and how well what is relevant is represented, each image by its nearest in the set: a
 * submodular function. The paper takes that of Yang, Jiang & Davis 2014, for several kinds of
 * features at once, and does not print it; this one has its two ideas for one kind. */
#include "models/zoo/retrieval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/budget.h"
#include "models/zoo/builtin.h"
#include "models/statistic.h"

enum { QUERY, MOST, COVERAGE, BANDWIDTH, BETA, ROWS, CLASSES, FEATURES, SPREAD, SEED };
/* Random streams of a seed. */
enum { STREAM_MEANS, STREAM_NOISE };

#define MOST_IMAGES 2000

/* ---- features */

sal_status sali_retrieval_images(int64_t images, int64_t classes, int64_t features, double spread,
                                 uint64_t seed, sali_array *out, sal_error *err)
{
    sali_array a = { .ndim = 2, .shape = { images, features }, .count = images * features };
    double *means = SALI_NEW_ARRAY(double, classes *features);
    a.values = SALI_NEW_ARRAY(double, a.count);
    a.labels = SALI_NEW_ARRAY(int32_t, images);
    if (!means || !a.values || !a.labels) {
        sali_free(means);
        sali_array_free(&a);
        return sali_fail_memory(err);
    }
    sali_stream stream = { .seed = seed, .chain = STREAM_MEANS, .purpose = SALI_RNG_PARAMS };
    sali_rng_normal(&stream, classes * features, means);
    stream.chain = STREAM_NOISE;
    sali_rng_normal(&stream, a.count, a.values);
    for (int64_t i = 0; i < images; i++) {
        a.labels[i] = (int32_t)(i % classes);
        for (int64_t k = 0; k < features; k++) {
            a.values[i * features + k] =
                means[a.labels[i] * features + k] + spread * a.values[i * features + k];
        }
    }
    sali_free(means);
    *out = a;
    return SAL_OK;
}

/* ---- similarities */

static double squared_distance(int64_t n, const double *x, const double *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++) {
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    }
    return sum;
}

/* w_ij = exp(-|x_i - x_j|^2 / (2 h^2)) of the first n rows, W [n, n]; h is `bandwidth` times the
 * root of the mean squared distance. */
static sal_status similarities(const sali_array *images, int64_t n, double bandwidth, double *W,
                               sal_error *err)
{
    int64_t width = images->count / images->shape[0];
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            W[i * n + j] = W[j * n + i] =
                squared_distance(width, images->values + i * width, images->values + j * width);
            sum += W[i * n + j];
        }
    }
    double h2 = bandwidth * bandwidth * sum / (0.5 * (double)n * (double)(n - 1));
    if (!(h2 > 0) || isinf(h2)) {
        return sali_fail(err, SAL_ERR_DATA,
                         "retrieval: the squared distances of the rows sum to %g; expected finite "
                         "features that are not all the same",
                         sum);
    }
    for (int64_t k = 0; k < n * n; k++) {
        W[k] = exp(-W[k] / (2 * h2));
    }
    return SAL_OK;
}

/* q_i, the similarity to the query over the largest of them, by variable; and C_ij = w_ij q_j. */
static void compare_with_query(int64_t n, int64_t query, const double *W, double *q, double *C)
{
    double most = 0;
    for (int64_t v = 0; v < n - 1; v++) {
        q[v] = W[query * n + sali_retrieval_row(v, query)];
        most = fmax(most, q[v]);
    }
    for (int64_t v = 0; v < n - 1; v++) {
        q[v] = most > 0 ? q[v] / most : 0;
    }
    for (int64_t i = 0; i < n - 1; i++) {
        for (int64_t j = 0; j < n - 1; j++) {
            C[i * (n - 1) + j] =
                q[j] * W[sali_retrieval_row(i, query) * n + sali_retrieval_row(j, query)];
        }
    }
}

/* ---- the model */

static sal_status record(int64_t n, const double *q, const double *C, double *ones,
                         const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sal_tape *tape = sali_builtin_tape("image", SAL_BINARY, n, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < n; v++) {
        ones[v] = 1;
    }
    sal_expr s = sal_state(tape), relevance = sal_dot(sal_constant(tape, q, SAL_SHAPE(n)), s);
    sal_expr covered = sal_max_coverage(s, sal_constant(tape, C, SAL_SHAPE(n, n)));
    sal_expr f =
        sal_mul(sal_param(tape, "beta", SAL_SCALAR),
                sal_add(relevance, sal_mul(sal_param(tape, "coverage", SAL_SCALAR), covered)));
    sal_status status = sali_budget_finish(tape, f, ones, values[MOST], "retrieval", out, err);
    status = status ? status : sal_model_set_params(*out, "beta", &values[BETA], err);
    return status ? status : sal_model_set_params(*out, "coverage", &values[COVERAGE], err);
}

static sal_status name_rows(sal_model *model, int64_t n, int64_t query, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t v = 0; status == SAL_OK && v < n; v++) {
        char text[32];
        int size = snprintf(text, sizeof text, "row %lld", (long long)sali_retrieval_row(v, query));
        status = sali_model_set_label(model, v, text, size, err);
    }
    return status;
}

/* Share of the chosen images that have the query's label; 0 where none is chosen. The data are 1
 * for these images, by variable. */
static double precision_of(const sal_model *model, const int32_t *codes)
{
    const int32_t *relevant = model->statistic_data;
    int64_t chosen = 0, right = 0;
    for (int64_t v = 0; v < model->space->n_variables; v++) {
        chosen += codes[v];
        right += codes[v] & relevant[v];
    }
    return chosen > 0 ? (double)right / (double)chosen : 0;
}

static const sali_statistic precision = { "precision", precision_of, sali_free };

const int32_t *sali_retrieval_relevant(const sal_model *model)
{
    return model->statistic == &precision ? model->statistic_data : NULL;
}

static sal_status report_precision(sal_model *model, const int32_t *labels, int64_t query,
                                   sal_error *err)
{
    int64_t V = model->space->n_variables;
    int32_t *relevant = SALI_NEW_ARRAY(int32_t, V);
    if (!relevant) {
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < V; v++) {
        relevant[v] = labels[sali_retrieval_row(v, query)] == labels[query];
    }
    sali_model_set_statistic(model, &precision, relevant);
    return SAL_OK;
}

static sal_status make_of_images(const sali_array *images, int64_t n, const double *values,
                                 sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t query = (int64_t)values[QUERY];
    double *W = SALI_NEW_ARRAY(double, n *n), *C = SALI_NEW_ARRAY(double, n *n);
    double *q = SALI_NEW_ARRAY(double, n), *ones = SALI_NEW_ARRAY(double, n);
    sal_status status = W && C && q && ones ? SAL_OK : sali_fail_memory(err);
    status = status ? status : similarities(images, n, values[BANDWIDTH], W, err);
    if (status == SAL_OK) {
        compare_with_query(n, query, W, q, C);
        status = record(n - 1, q, C, ones, values, dtype, out, err);
    }
    sali_free(W);
    sali_free(C);
    sali_free(q);
    sali_free(ones);
    status = status ? status : name_rows(*out, n - 1, query, err);
    if (status == SAL_OK && images->labels) {
        status = report_precision(*out, images->labels, query, err);
    }
    return status;
}

static sal_status check_query(const double *values, int64_t n, sal_error *err)
{
    if (values[QUERY] < (double)n) {
        return SAL_OK;
    }
    return sali_fail(err, SAL_ERR_ARGUMENT,
                     "retrieval: query=%.0f is none of the %lld images; expected 0 to %lld",
                     values[QUERY], (long long)n, (long long)n - 1);
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_array images = { 0 };
    int64_t n = values[ROWS] > 0 ? (int64_t)values[ROWS] : 60;
    sal_status status = check_query(values, n, err);
    if (status == SAL_OK) {
        status = sali_retrieval_images(n, (int64_t)values[CLASSES], (int64_t)values[FEATURES],
                                       values[SPREAD], (uint64_t)values[SEED], &images, err);
    }
    status = status ? status : make_of_images(&images, n, values, dtype, out, err);
    sali_array_free(&images);
    return status;
}

static sal_status make_from(const double *values, const sali_content *content, sal_dtype dtype,
                            sal_model **out, sal_error *err)
{
    const sali_array *images = &content->array;
    int64_t rows = images->shape[0], n = values[ROWS] > 0 ? (int64_t)values[ROWS] : rows;
    if (images->ndim < 2 || rows < 2 || images->count < rows || n > rows || n > MOST_IMAGES) {
        return sali_fail(err, SAL_ERR_DATA,
                         "retrieval: %lld of %lld rows of an array of %d dimensions; expected 2 to "
                         "%d rows (rows=N takes the first N) of 2 dimensions or more",
                         (long long)n, (long long)rows, images->ndim, MOST_IMAGES);
    }
    uint32_t unused = 1u << CLASSES | 1u << FEATURES | 1u << SPREAD | 1u << SEED;
    sal_status status = sali_builtin_refuse(&sali_builtin_retrieval, values, unused, err);
    status = status ? status : check_query(values, n, err);
    return status ? status : make_of_images(images, n, values, dtype, out, err);
}

const sali_builtin sali_builtin_retrieval = {
    .name = "retrieval",
    .doc = "beta (sum_{i in S} q_i + coverage sum_j q_j max_{i in S} w_ij), |S| <= most; q "
           "similarities to the query, w among images; features from a seed, or rows of a file",
    .source = "after Xiang et al. 2023 sec. 7.3, Yang et al. 2014",
    .dtype = SAL_F64,
    .parameters = { [QUERY] = { "query", 0, 0, MOST_IMAGES - 1, true, "the row asked for", NULL },
                    [MOST] = { "most", 10, 1, MOST_IMAGES, true, "images retrieved at most", NULL },
                    [COVERAGE] = { "coverage", 0.5, 0, 1e6, false, "weight of coverage", NULL },
                    [BANDWIDTH] = { "bandwidth", 0.3, 1e-3, 1e3, false,
                                    "of similarities, over the mean distance", NULL },
                    [BETA] = { "beta", 3, 0, 1e6, false, "inverse temperature", NULL },
                    [ROWS] = { "rows", 0, 0, MOST_IMAGES, true,
                               "the first so many; 0: all, or 60 without a file", NULL },
                    [CLASSES] = { "classes", 6, 1, 100, true, "without a file", NULL },
                    [FEATURES] = { "features", 8, 1, 1000, true, "without a file", NULL },
                    [SPREAD] = { "spread", 0.5, 0, 1e6, false,
                                 "standard deviation within a class, without a file", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the features", NULL } },
    .make = make,
    .content = SALI_CONTENT_ARRAY,
    .make_from = make_from,
};
