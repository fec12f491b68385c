/* SPDX-License-Identifier: MIT */
/* Facility location: which facilities to open, so that each customer is served by the best of them.
 * Submodular and, without the price of opening, nondecreasing. */
#include <math.h>

#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/making.h"

enum { FACILITIES, CUSTOMERS, COMPONENTS, SPREAD, LAMBDA, SEED };
/* Random streams of a seed. */
enum { STREAM_MEANS, STREAM_COMPONENTS, STREAM_NOISE };

/* The most entries of C. */
#define MOST_ENTRIES ((int64_t)1 << 24)

/* The error `code` if n facilities and m customers have more than MOST_ENTRIES pairs. */
static sal_status check_size(int64_t n, int64_t m, sal_status code, sal_error *err)
{
    return n <= MOST_ENTRIES / m
               ? SAL_OK
               : sali_fail(err, code,
                           "facility-location: %lld facilities and %lld customers; expected %lld "
                           "pairs at most",
                           (long long)n, (long long)m, (long long)MOST_ENTRIES);
}

/* Draw C [n x customers] into borrowed memory. Each customer belongs to a component, whose means
 * are |N(0, 1)|: c_ij = max(0, mean + spread N(0, 1)). The paper only says that C is from a
 * Gaussian mixture. There are at most as many components as customers, which bounds the memory for
 * their means. */
static sal_status draw_values(sali_making *m, int64_t n, int64_t customers, const double **out)
{
    sal_status status = check_size(n, customers, SAL_ERR_ARGUMENT, m->err);
    if (status != SAL_OK) {
        return status;
    }
    uint32_t components = (uint32_t)fmin(m->values[COMPONENTS], (double)customers);
    double *C = SALI_BORROW(m, double, n *customers);
    double *noise = SALI_BORROW(m, double, n *customers);
    double *means = SALI_BORROW(m, double, components *n);
    if (!C || !noise || !means) {
        return sali_fail_memory(m->err);
    }
    sali_stream mean_of = sali_making_stream(m, STREAM_MEANS);
    sali_stream component = sali_making_stream(m, STREAM_COMPONENTS);
    sali_stream noise_of = sali_making_stream(m, STREAM_NOISE);
    sali_rng_normal(&mean_of, components * n, means);
    sali_rng_normal(&noise_of, n * customers, noise);
    for (int64_t j = 0; j < customers; j++) {
        const double *mean = means + sali_rng_below(&component, (uint32_t)j, components) * n;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = i * customers + j;
            C[at] = fmax(0, fabs(mean[i]) + m->values[SPREAD] * noise[at]);
        }
    }
    *out = C;
    return SAL_OK;
}

/* SAL_ERR_DATA unless C is a matrix [facilities x customers] of finite numbers >= 0, with at most
 * MOST_ENTRIES entries. */
static sal_status check_values(const sal_array *C, sal_error *err)
{
    if (C->ndim != 2 || C->count < 1) {
        return sali_fail(err, SAL_ERR_DATA,
                         "facility-location: an array of %d dimensions; expected 2, a row for each "
                         "facility and a column for each customer",
                         C->ndim);
    }
    for (int64_t k = 0; k < C->count; k++) {
        if (!(C->values[k] >= 0) || isinf(C->values[k])) {
            return sali_fail(err, SAL_ERR_DATA,
                             "facility-location: the value of facility %lld to customer %lld is "
                             "%g; expected finite numbers, 0 or more",
                             (long long)(k / C->shape[1]), (long long)(k % C->shape[1]),
                             C->values[k]);
        }
    }
    return check_size(C->shape[0], C->shape[1], SAL_ERR_DATA, err);
}

static sal_status facility_location(sali_making *m, sal_expr *f)
{
    const sal_array *file = m->content ? &m->content->array : NULL;
    int64_t n = file ? file->shape[0] : (int64_t)m->values[FACILITIES];
    int64_t customers = file ? file->shape[1] : (int64_t)m->values[CUSTOMERS];
    const double *C = file ? file->values : NULL;
    sal_status status = file ? check_values(file, m->err) : draw_values(m, n, customers, &C);
    if (status != SAL_OK) {
        return status;
    }
    sal_expr s = sali_making_state(m, "open", SAL_BINARY, n, 0);
    sal_expr value = sal_max_coverage(s, sal_constant(m->tape, C, SAL_SHAPE(n, customers)));
    sal_expr lambda = sali_making_number(m, "lambda", m->values[LAMBDA]);
    *f = sal_sub(value, sal_mul(lambda, sal_sum(s)));
    return SAL_OK;
}

const sali_builtin sali_builtin_facility_location = {
    .name = "facility-location",
    .doc = "sum_j max_{i in S} c_ij - lambda |S|, an empty max being 0; c from a Gaussian mixture, "
           "or rows of a file",
    .source = "Xiang et al. 2023 sec. 7.1 (lambda charged for S, not for all facilities); Krause "
              "et al. 2008",
    .dtype = SAL_F64,
    .settings = { [FACILITIES] = { "facilities", 15, 1, 1e6, true, "without a file", NULL },
                  [CUSTOMERS] = { "customers", 64, 1, 1e6, true, "without a file", NULL },
                  [COMPONENTS] = { "components", 16, 1, 1000, true,
                                   "kinds of customers, without a file", NULL },
                  [SPREAD] = { "spread", 0.5, 0, 1e6, false,
                               "standard deviation within a kind, without a file", NULL },
                  [LAMBDA] = { "lambda", 10, 0, 1e9, false, "price of an open facility", NULL },
                  [SEED] = SALI_SEED("c") },
    .formula = facility_location,
    .content = SALI_CONTENT_ARRAY,
    .unused = 1u << FACILITIES | 1u << CUSTOMERS | 1u << COMPONENTS | 1u << SPREAD | 1u << SEED,
};
