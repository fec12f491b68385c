/* SPDX-License-Identifier: MIT */
/* Connected frequencies of pairs of variables, and their correlation between two samples. */
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include <cblas.h>
#include <saltus/program.h>
#include <saltus/stats.h>

#include "core/alloc.h"
#include "core/error.h"

/* Sums of squares below this are rounding errors of constant variables: (1e-12)^4 at most. */
#define NOTHING 1e-30

/* Rows of the one-hot matrix that are built at once. */
#define CHUNK 512

static double total_weight(int64_t rows, const double *weight)
{
    double total = weight ? 0 : (double)rows;
    for (int64_t r = 0; weight && r < rows; r++) {
        total += weight[r];
    }
    return total;
}

/* Add the weighted frequency f_i(a) of state a of variable i to f [V x q]; `weight` [rows] may be
 * NULL. */
static void add_frequencies(int64_t V, int64_t q, int64_t rows, const uint8_t *codes,
                            const double *weight, double *f)
{
    double total = total_weight(rows, weight);
    for (int64_t r = 0; r < rows; r++) {
        double share = (weight ? weight[r] : 1) / total;
        for (int64_t i = 0; i < V; i++) {
            f[i * q + codes[r * V + i]] += share;
        }
    }
}

/* x [V q] = factor (one-hot embedding of `codes` - f). */
static void centre_row(int64_t V, int64_t q, const uint8_t *codes, const double *f, double factor,
                       float *x)
{
    for (int64_t k = 0; k < V * q; k++) {
        x[k] = (float)(-factor * f[k]);
    }
    for (int64_t i = 0; i < V; i++) {
        int64_t k = i * q + codes[i];
        x[k] = (float)(factor * (1 - f[k]));
    }
}

/* Whether all weights are positive and finite; true if `weight` is NULL. */
static bool good_weights(int64_t rows, const double *weight)
{
    for (int64_t r = 0; weight && r < rows; r++) {
        if (!(weight[r] > 0) || !isfinite(weight[r])) {
            return false;
        }
    }
    return true;
}

static bool good_sizes(int64_t V, int64_t q)
{
    return V >= 2 && q >= 1 && q <= 256 && V <= INT_MAX / q;
}

/* sum_r w_r (x_r - f)(x_r - f)' over chunks of rows, in the lower triangle. */
sal_status sal_stats_pair_covariance(int64_t V, int64_t q, int64_t rows, const uint8_t *codes,
                                     const double *weight, float *C, sal_error *err)
{
    if (!good_sizes(V, q) || rows < 1 || rows > INT64_MAX / V || !codes || !C ||
        !good_weights(rows, weight)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "pair covariance: expected at least 2 variables of 1 to 256 states, a "
                         "sample with weights above 0, finite, and a place for the result; got "
                         "%lld rows of %lld variables with %lld states",
                         (long long)rows, (long long)V, (long long)q);
    }
    const int64_t N = V * q, most = rows < CHUNK ? rows : CHUNK;
    for (int64_t i = 0; i < rows * V; i++) {
        if (codes[i] >= q) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "pair covariance: row %lld, variable %lld: code %d; expected 0 to "
                             "%lld",
                             (long long)(i / V), (long long)(i % V), codes[i], (long long)(q - 1));
        }
    }
    double *f = SALI_NEW_ARRAY(double, N), total = total_weight(rows, weight);
    float *X = SALI_NEW_ARRAY(float, most *N);
    if (!f || !X) {
        sali_free(f);
        sali_free(X);
        return sali_fail_memory(err);
    }
    add_frequencies(V, q, rows, codes, weight, f);
    for (int64_t first = 0; first < rows; first += most) {
        int64_t n = rows - first < most ? rows - first : most;
        for (int64_t r = 0; r < n; r++) {
            double share = (weight ? weight[first + r] : 1) / total;
            centre_row(V, q, codes + (first + r) * V, f, sqrt(share), X + r * N);
        }
        cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, (int)N, (int)n, 1, X, (int)N,
                    first > 0 ? 1 : 0, C, (int)N);
    }
    sali_free(f);
    sali_free(X);
    return SAL_OK;
}

sal_status sal_stats_pair_correlation(int64_t V, int64_t q, const float *A, const float *B,
                                      double *correlation, sal_error *err)
{
    if (!good_sizes(V, q) || !A || !B || !correlation) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "pair correlation: expected at least 2 variables of 1 to 256 states, two "
                         "matrices and a place for the result; got %lld variables with %lld states",
                         (long long)V, (long long)q);
    }
    const int64_t N = V * q;
    double n = (double)(V * (V - 1) / 2 * q * q), a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (int64_t row = q; row < N; row++) { /* sums are small beside squares: means near 0 */
        double ra = 0, rb = 0, raa = 0, rbb = 0, rab = 0;
        const float *x = A + row * N, *y = B + row * N;
#pragma omp simd reduction(+ : ra, rb, raa, rbb, rab)
        for (int64_t k = 0; k < row / q * q; k++) {
            double u = x[k], v = y[k];
            ra += u;
            rb += v;
            raa += u * u;
            rbb += v * v;
            rab += u * v;
        }
        a += ra;
        b += rb;
        aa += raa;
        bb += rbb;
        ab += rab;
    }
    double variance_a = aa - a * a / n, variance_b = bb - b * b / n;
    *correlation = variance_a > NOTHING && variance_b > NOTHING
                       ? (ab - a * b / n) / sqrt(variance_a * variance_b)
                       : NAN;
    return SAL_OK;
}
