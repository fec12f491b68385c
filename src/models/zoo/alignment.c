/* SPDX-License-Identifier: MIT */
#include "models/zoo/alignment.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vector/clones.h"
#include "core/error.h"
#include "core/vector/lapack.h"

#define MOST SAL_ALPHABET_ROOM

/* ---- weights */

#define VECTOR 64 /* rows are padded to whole vectors of bytes */
#define PART 192  /* bytes of a part of a row: the count of its matches fits into a byte */

/* A copy of the codes with rows padded with zeros to `stride` bytes, to be freed; NULL when out of
 * memory. */
static uint8_t *pad_rows(const sali_alignment *a, int64_t stride)
{
    uint8_t *rows = sali_alloc(a->sequences, (size_t)stride);
    for (int64_t r = 0; rows && r < a->sequences; r++) {
        memcpy(rows + r * stride, a->codes + r * a->length, (size_t)a->length);
    }
    return rows;
}

/* Set similar[j], for j > i, to whether row j agrees with row i at `need` bytes or more. Rows have
 * `stride` bytes, padding included. */
SALI_CLONES
static void find_similar(int64_t i, int64_t n, int64_t stride, const uint8_t *rows, int64_t need,
                         bool *similar)
{
    const uint8_t *a = rows + i * stride;
    for (int64_t j = i + 1; j < n; j++) {
        const uint8_t *b = rows + j * stride;
        int64_t matches = 0;
        for (int64_t begin = 0; begin < stride; begin += PART) {
            int64_t end = begin + PART < stride ? begin + PART : stride;
            uint8_t part = 0;
            for (int64_t k = begin; k < end; k++) {
                part = (uint8_t)(part + (a[k] == b[k]));
            }
            matches += part;
        }
        similar[j] = matches >= need;
    }
}

/* SAL_ERR_UNSUPPORTED if there are too many sequences to compare all pairs. */
static sal_status check_paired(const sali_alignment *a, sal_error *err)
{
    return a->sequences <= SALI_ALIGNMENT_PAIRED
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "the alignment has %lld sequences, whose pairs are compared; expected "
                           "%d at most: leave out some",
                           (long long)a->sequences, SALI_ALIGNMENT_PAIRED);
}

/* Call `pair` with `data` for each pair i < j of sequences that agree at a share `identity` of the
 * sites or more. */
static sal_status each_similar(const sali_alignment *a, double identity,
                               void (*pair)(int64_t i, int64_t j, void *data), void *data,
                               sal_error *err)
{
    int64_t n = a->sequences, stride = (a->length + VECTOR - 1) / VECTOR * VECTOR;
    uint8_t *rows = pad_rows(a, stride);
    bool *similar = SALI_NEW_ARRAY(bool, n);
    /* The least number of sites with a share of at least `identity`, up to rounding, plus the
     * padding, which always agrees. */
    int64_t need = (int64_t)ceil(identity * (double)a->length - 1e-6) + stride - a->length;
    for (int64_t i = 0; rows && similar && i < n; i++) {
        find_similar(i, n, stride, rows, need, similar);
        for (int64_t j = i + 1; j < n; j++) {
            if (similar[j]) {
                pair(i, j, data);
            }
        }
    }
    sal_status status = rows && similar ? SAL_OK : sali_fail_memory(err);
    sali_free(rows);
    sali_free(similar);
    return status;
}

static void count_pair(int64_t i, int64_t j, void *data)
{
    double *counts = data;
    counts[i]++;
    counts[j]++;
}

sal_status sali_alignment_weights(const sali_alignment *a, double identity, double *weights,
                                  double *effective, sal_error *err)
{
    sal_status status = check_paired(a, err);
    for (int64_t r = 0; status == SAL_OK && r < a->sequences; r++) {
        weights[r] = 1;
    }
    status = status ? status : each_similar(a, identity, count_pair, weights, err);
    if (status != SAL_OK) {
        return status;
    }
    *effective = 0;
    for (int64_t r = 0; r < a->sequences; r++) {
        weights[r] = 1 / weights[r];
        *effective += weights[r];
    }
    return SAL_OK;
}

/* ---- clusters */

/* The root of r's tree; shortens the path to it. parent[r] <= r for every row. */
static int64_t root_of(int64_t *parent, int64_t r)
{
    while (parent[r] != r) {
        r = parent[r] = parent[parent[r]];
    }
    return r;
}

static void join_pair(int64_t i, int64_t j, void *data)
{
    int64_t *parent = data, a = root_of(parent, i), b = root_of(parent, j);
    parent[a > b ? a : b] = a > b ? b : a;
}

sal_status sali_alignment_clusters(const sali_alignment *a, double identity, int64_t *cluster,
                                   int64_t *clusters, sal_error *err)
{
    sal_status status = check_paired(a, err);
    for (int64_t r = 0; status == SAL_OK && r < a->sequences; r++) {
        cluster[r] = r;
    }
    status = status ? status : each_similar(a, identity, join_pair, cluster, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t n = 0;
    for (int64_t r = 0; r < a->sequences; r++) { /* parents have their numbers already */
        cluster[r] = cluster[r] == r ? n++ : cluster[cluster[r]];
    }
    *clusters = n;
    return SAL_OK;
}

/* ---- frequencies */

static double total(int64_t n, const double *weights)
{
    double sum = 0;
    for (int64_t r = 0; r < n; r++) {
        sum += weights[r];
    }
    return sum;
}

void sali_alignment_site_frequencies(const sali_alignment *a, const double *weights,
                                     double pseudocount, double *f)
{
    double unit = (1 - pseudocount) / total(a->sequences, weights);
    int64_t q = (int64_t)strlen(a->alphabet);
    for (int64_t k = 0; k < a->length * q; k++) {
        f[k] = pseudocount / (double)q;
    }
    for (int64_t r = 0; r < a->sequences; r++) {
        const uint8_t *codes = a->codes + r * a->length;
        for (int64_t i = 0; i < a->length; i++) {
            f[i * q + codes[i]] += unit * weights[r];
        }
    }
}

/* Add `weight` to F at the pairs of letters of one sequence, for sites i < j. */
static void add_pairs(int64_t length, int64_t q, const uint8_t *codes, double weight, double *F)
{
    int64_t N = length * q;
    for (int64_t i = 0; i < length; i++) {
        double *row = F + (i * q + codes[i]) * N;
        for (int64_t j = i + 1; j < length; j++) {
            row[j * q + codes[j]] += weight;
        }
    }
}

void sali_alignment_pair_frequencies(const sali_alignment *a, const double *weights,
                                     double pseudocount, double *F)
{
    int64_t q = (int64_t)strlen(a->alphabet), N = a->length * q;
    double unit = (1 - pseudocount) / total(a->sequences, weights);
    for (int64_t k = 0; k < N * N; k++) {
        F[k] = pseudocount / (double)(q * q);
    }
    for (int64_t r = 0; r < a->sequences; r++) {
        add_pairs(a->length, q, a->codes + r * a->length, unit * weights[r], F);
    }
    for (int64_t row = 0; row < N; row++) {
        for (int64_t column = 0; column < row; column++) {
            F[row * N + column] = F[column * N + row];
        }
        double *block = F + row * N + row / q * q;
        for (int64_t b = 0; b < q; b++) {
            block[b] = row % q == b ? pseudocount / (double)q : 0;
        }
    }
    for (int64_t r = 0; r < a->sequences; r++) {
        for (int64_t i = 0; i < a->length; i++) {
            int64_t k = i * q + a->codes[r * a->length + i];
            F[k * N + k] += unit * weights[r];
        }
    }
}

/* ---- mean-field couplings */

/* Fill C [M x M], M = length (q - 1), with the covariance of all letters but letter 0 of each
 * site. */
static void reduced_covariance(int64_t length, int64_t q, const double *F, double *C)
{
    int64_t N = length * q, M = length * (q - 1);
    for (int64_t row = 0; row < M; row++) {
        int64_t k = row / (q - 1) * q + row % (q - 1) + 1;
        for (int64_t column = 0; column < M; column++) {
            int64_t l = column / (q - 1) * q + column % (q - 1) + 1;
            C[row * M + column] = F[k * N + l] - F[k * N + k] * F[l * N + l];
        }
    }
}

/* Replace C [M x M] by its inverse, in the lower triangle (columns up to the row) only. False if C
 * is not positive definite. */
static bool invert(int64_t M, double *C)
{
    int n = (int)M, info;
    dpotrf_("U", &n, C, &n, &info, 1);
    if (info == 0) {
        dpotri_("U", &n, C, &n, &info, 1);
    }
    return info == 0;
}

/* Fill the blocks (i, j) and (j, i) of J, i > j, from the inverse C: the couplings of letters a and
 * b, which are 0 if a or b is letter 0, moved to the zero-sum gauge. */
static void fill_block(int64_t length, int64_t q, int64_t i, int64_t j, const double *C, double *J)
{
    int64_t N = length * q, M = length * (q - 1);
    double e[MOST][MOST] = { { 0 } }, row[MOST] = { 0 }, column[MOST] = { 0 }, all = 0;
    for (int64_t a = 1; a < q; a++) {
        for (int64_t b = 1; b < q; b++) {
            e[a][b] = -C[(i * (q - 1) + a - 1) * M + j * (q - 1) + b - 1];
            row[a] += e[a][b] / (double)q;
            column[b] += e[a][b] / (double)q;
            all += e[a][b] / (double)(q * q);
        }
    }
    for (int64_t a = 0; a < q; a++) {
        for (int64_t b = 0; b < q; b++) {
            double value = e[a][b] - row[a] - column[b] + all;
            J[(i * q + a) * N + j * q + b] = value;
            J[(j * q + b) * N + i * q + a] = value;
        }
    }
}

sal_status sali_alignment_mean_field(int64_t length, int64_t q, const double *F, double *J,
                                     sal_error *err)
{
    int64_t N = length * q, M = length * (q - 1);
    double *C = M <= INT_MAX ? SALI_NEW_ARRAY(double, M *M) : NULL;
    if (!C) {
        return sali_fail_memory(err);
    }
    reduced_covariance(length, q, F, C);
    if (!invert(M, C)) {
        sali_free(C);
        return sali_fail(err, SAL_ERR_DATA,
                         "the covariance of the letters is not positive definite; expected a "
                         "larger pseudocount");
    }
    for (int64_t i = 0; i < length; i++) {
        for (int64_t a = 0; a < q; a++) {
            memset(J + (i * q + a) * N + i * q, 0, (size_t)q * sizeof *J);
        }
        for (int64_t j = 0; j < i; j++) {
            fill_block(length, q, i, j, C, J);
        }
    }
    sali_free(C);
    return SAL_OK;
}

void sali_alignment_fields(int64_t length, int64_t q, const double *f, const double *J, double *h)
{
    int64_t N = length * q;
    for (int64_t i = 0; i < length; i++) {
        double mean = 0;
        for (int64_t k = i * q; k < (i + 1) * q; k++) {
            h[k] = log(f[k]);
            for (int64_t l = 0; J && l < N; l++) {
                h[k] -= J[k * N + l] * f[l];
            }
            mean += h[k] / (double)q;
        }
        for (int64_t k = i * q; k < (i + 1) * q; k++) {
            h[k] -= mean;
        }
    }
}
