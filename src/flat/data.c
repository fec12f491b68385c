/* SPDX-License-Identifier: MIT */
/* Data sets as handles. */
#include <math.h>

#include <saltus/flat.h>
#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "flat/options.h"
#include "train/data.h"

/* Move *made, what a call with this status made, into a new handle *out. After a failure *made is
 * destroyed. */
static sal_status give_data(sal_status status, sal_data *made, sal_data **out, sal_error *err)
{
    sal_data *data = status == SAL_OK ? SALI_NEW(sal_data) : NULL;
    if (!data) {
        sal_data_destroy(made);
        return status ? status : sali_fail_memory(err);
    }
    *data = *made;
    *out = data;
    return SAL_OK;
}

/* The index of the first number that is not from 0 to 1; -1: all are. */
static int64_t find_wrong(int64_t n, const float *intensity)
{
    for (int64_t k = 0; k < n; k++) {
        if (!(intensity[k] >= 0 && intensity[k] <= 1)) {
            return k;
        }
    }
    return -1;
}

/* Check the arguments of sal_flat_data_create: sizes, intensities from 0 to 1, weights above 0. */
static sal_status check_arguments(int64_t rows, int64_t variables, const uint8_t *codes,
                                  const float *intensity, const double *weight, int64_t height,
                                  int64_t width, sal_error *err)
{
    int64_t n, pixels;
    if (rows < 1 || variables < 1 || __builtin_mul_overflow(rows, variables, &n) ||
        (!codes && !intensity)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: expected codes or intensities of 1 row and 1 variable or more");
    }
    if ((height || width) &&
        (height < 1 || width < 1 || __builtin_mul_overflow(height, width, &pixels) ||
         pixels != variables)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "data: pictures of %lld x %lld, but %lld variables",
                         (long long)height, (long long)width, (long long)variables);
    }
    const int64_t wrong = intensity ? find_wrong(n, intensity) : -1;
    if (wrong >= 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: row %lld has the intensity %g; expected numbers from 0 to 1",
                         (long long)(wrong / variables), (double)intensity[wrong]);
    }
    for (int64_t r = 0; weight && r < rows; r++) {
        if (!(weight[r] > 0) || !isfinite(weight[r])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "data: row %lld has the weight %g; expected a finite number above 0",
                             (long long)r, weight[r]);
        }
    }
    return SAL_OK;
}

sal_status sal_flat_data_create(int64_t rows, int64_t variables, const uint8_t *codes,
                                const float *intensity, const double *weight, int64_t height,
                                int64_t width, sal_data **out, sal_error *err)
{
    sal_status status =
        check_arguments(rows, variables, codes, intensity, weight, height, width, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t n = rows * variables;
    sal_data made = { .rows = rows, .variables = variables, .height = height, .width = width };
    made.codes = codes ? sali_memdup(codes, n, 1) : SALI_NEW_ARRAY(uint8_t, n);
    made.intensity = intensity ? sali_memdup(intensity, n, sizeof *intensity) : NULL;
    made.weight = weight ? sali_memdup(weight, rows, sizeof *weight) : NULL;
    if (!made.codes || (intensity && !made.intensity) || (weight && !made.weight)) {
        sal_data_destroy(&made);
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; !codes && k < n; k++) {
        made.codes[k] = intensity[k] > 0.5F;
    }
    return give_data(SAL_OK, &made, out, err);
}

sal_status sal_flat_data_read(const char *path, const char *options, sal_data **out, sal_error *err)
{
    sal_data_options o = { 0 };
    sali_flat_owner owner = { 0 };
    sal_data made = { 0 };
    sal_status status =
        sali_flat_read(sal_option_table_of(SAL_OPTIONS_DATA), options, &o, &owner, err);
    status = status ? status : sal_data_read(path, &o, &made, err);
    sali_flat_release(&owner);
    return give_data(status, &made, out, err);
}

sal_status sal_flat_data_copy(const sal_data *data, sal_data **out, sal_error *err)
{
    sal_data made = { 0 };
    if (!data) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "data: there are none");
    }
    sal_status status = sali_data_gather(data, 0, data->rows, NULL, &made, err);
    return give_data(status, &made, out, err);
}

sal_status sal_flat_data_split(sal_data *data, int64_t rows, const uint64_t *seed, sal_data **out,
                               sal_error *err)
{
    sal_data *made = SALI_NEW(sal_data); /* before rows leave `data` */
    if (!made) {
        return sali_fail_memory(err);
    }
    const sal_status status = sal_data_split(data, rows, seed, made, err);
    return SALI_GIVE(status, made, out, sal_flat_data_destroy);
}

sal_status sal_flat_data_digits(int64_t rows, int64_t side, uint64_t seed, sal_data **out,
                                sal_error *err)
{
    sal_data made = { 0 };
    sal_status status = sal_data_digits(rows, side, seed, &made, err);
    return give_data(status, &made, out, err);
}

void sal_flat_data_size(const sal_data *data, int64_t *rows, int64_t *variables, int64_t *height,
                        int64_t *width)
{
    int64_t *const to[] = { rows, variables, height, width };
    const int64_t from[] = { data->rows, data->variables, data->height, data->width };
    for (int k = 0; k < 4; k++) {
        if (to[k]) {
            *to[k] = from[k];
        }
    }
}

const uint8_t *sal_flat_data_codes(const sal_data *data)
{
    return data->codes;
}

const float *sal_flat_data_intensity(const sal_data *data)
{
    return data->intensity;
}

const double *sal_flat_data_weight(const sal_data *data)
{
    return data->weight;
}

const char *sal_flat_data_remark(const sal_data *data, int *warns)
{
    if (warns) {
        *warns = data->warns;
    }
    return data->remark;
}

void sal_flat_data_destroy(sal_data *data)
{
    sal_data_destroy(data);
    sali_free(data);
}
