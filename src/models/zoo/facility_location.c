/* Facility location: which facilities to open, so that each customer is served by the best of them.
 * Nondecreasing but for the price of opening, and submodular. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"

enum { FACILITIES, CUSTOMERS, COMPONENTS, SPREAD, LAMBDA, SEED };
/* Random streams of a seed. */
enum { STREAM_MEANS, STREAM_COMPONENTS, STREAM_NOISE };

/* C [facilities, customers]. */
static sal_status record(const double *C, int64_t n, int64_t m, double lambda, sal_dtype dtype,
                         sal_model **out, sal_error *err)
{
    sal_tape *tape = sali_builtin_tape("open", SAL_BINARY, n, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr s = sal_state(tape),
             value = sal_max_coverage(s, sal_constant(tape, C, SAL_SHAPE(n, m)));
    sal_expr f = sal_sub(value, sal_mul(sal_param(tape, "lambda", SAL_SCALAR), sal_sum(s)));
    sal_status status = sali_builtin_finish(tape, f, "facility-location", out, err);
    return status ? status : sal_model_set_params(*out, "lambda", &lambda, err);
}

/* No more than customers, which bounds the room for their means. */
static int64_t count_components(const double *values)
{
    return (int64_t)fmin(values[COMPONENTS], values[CUSTOMERS]);
}

/* A customer is of one component, whose means are |N(0, 1)|: c_ij = max(0, mean + spread N(0, 1)).
 * The paper has a Gaussian mixture and says no more of it. */
static void draw_values(const double *values, double *C, double *means, double *noise)
{
    int64_t n = (int64_t)values[FACILITIES], m = (int64_t)values[CUSTOMERS];
    uint32_t components = (uint32_t)count_components(values);
    sali_stream stream = { .seed = (uint64_t)values[SEED],
                           .chain = STREAM_MEANS,
                           .purpose = SALI_RNG_PARAMS };
    sali_stream component = stream;
    component.chain = STREAM_COMPONENTS;
    sali_rng_normal(&stream, components * n, means);
    stream.chain = STREAM_NOISE;
    sali_rng_normal(&stream, n * m, noise);
    for (int64_t j = 0; j < m; j++) {
        const double *mean = means + sali_rng_below(&component, (uint32_t)j, components) * n;
        for (int64_t i = 0; i < n; i++) {
            C[i * m + j] = fmax(0, fabs(mean[i]) + values[SPREAD] * noise[i * m + j]);
        }
    }
}

/* The most entries of C. */
#define MOST_ENTRIES ((int64_t)1 << 24)

static sal_status check_size(int64_t n, int64_t m, sal_status code, sal_error *err)
{
    if (n > MOST_ENTRIES / m) {
        return sali_fail(err, code,
                         "facility-location: %lld facilities and %lld customers; expected %lld "
                         "pairs at most",
                         (long long)n, (long long)m, (long long)MOST_ENTRIES);
    }
    return SAL_OK;
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t n = (int64_t)values[FACILITIES], m = (int64_t)values[CUSTOMERS];
    sal_status status = check_size(n, m, SAL_ERR_ARGUMENT, err);
    if (status != SAL_OK) {
        return status;
    }
    double *C = SALI_NEW_ARRAY(double, n *m), *noise = SALI_NEW_ARRAY(double, n *m);
    double *means = SALI_NEW_ARRAY(double, count_components(values) * n);
    if (C && noise && means) {
        draw_values(values, C, means, noise);
        status = record(C, n, m, values[LAMBDA], dtype, out, err);
    } else {
        status = sali_fail_memory(err);
    }
    sali_free(C);
    sali_free(noise);
    sali_free(means);
    return status;
}

static sal_status make_from(const double *values, const sali_content *content, sal_dtype dtype,
                            sal_model **out, sal_error *err)
{
    const sali_array *C = &content->array;
    uint32_t unused =
        1u << FACILITIES | 1u << CUSTOMERS | 1u << COMPONENTS | 1u << SPREAD | 1u << SEED;
    sal_status status = sali_builtin_refuse(&sali_builtin_facility_location, values, unused, err);
    if (status != SAL_OK) {
        return status;
    }
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
    status = check_size(C->shape[0], C->shape[1], SAL_ERR_DATA, err);
    return status ? status
                  : record(C->values, C->shape[0], C->shape[1], values[LAMBDA], dtype, out, err);
}

const sali_builtin sali_builtin_facility_location = {
    .name = "facility-location",
    .doc = "sum_j max_{i in S} c_ij - lambda |S|, an empty max being 0; c from a Gaussian mixture, "
           "or rows of a file",
    .source = "Xiang et al. 2023 sec. 7.1 (lambda charged for S, not for all facilities); Krause "
              "et al. 2008",
    .dtype = SAL_F64,
    .parameters = { [FACILITIES] = { "facilities", 15, 1, 1e6, true, "without a file", NULL },
                    [CUSTOMERS] = { "customers", 64, 1, 1e6, true, "without a file", NULL },
                    [COMPONENTS] = { "components", 16, 1, 1000, true,
                                     "kinds of customers, without a file", NULL },
                    [SPREAD] = { "spread", 0.5, 0, 1e6, false,
                                 "standard deviation within a kind, without a file", NULL },
                    [LAMBDA] = { "lambda", 10, 0, 1e9, false, "price of an open facility", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of c", NULL } },
    .make = make,
    .content = SALI_CONTENT_ARRAY,
    .make_from = make_from,
};
