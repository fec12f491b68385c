/* SPDX-License-Identifier: MIT */
/* Data sets: parts of them, draws of a run, pixels drawn from greys. */
#include "train/data.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/content.h"

void sal_data_destroy(sal_data *data)
{
    if (data) {
        sali_free(data->codes);
        sali_free(data->intensity);
        sali_free(data->weight);
        sali_free(data->labels);
        sali_names_free(data->names, data->rows);
        sali_free(data->remark);
        *data = (sal_data){ 0 };
    }
}

/* A copy of `count` rows of an array, each `width` elements of `size` bytes: those listed in
 * `rows`, or if NULL those from `first` on. NULL: no array, or no memory. */
static void *gather(const void *array, int64_t first, int64_t count, const uint32_t *rows,
                    int64_t width, size_t size)
{
    const size_t bytes = (size_t)width * size;
    char *copy = array ? sali_alloc(count * width, size) : NULL;
    for (int64_t k = 0; copy && k < count; k++) {
        const size_t row = (size_t)(rows ? rows[k] : first + k);
        memcpy(copy + (size_t)k * bytes, (const char *)array + row * bytes, bytes);
    }
    return copy;
}

/* Copies of the names of `count` rows, as gather; NULL: no names, or no memory. */
static char **gather_names(char *const *names, int64_t first, int64_t count, const uint32_t *rows)
{
    char **copies = names ? SALI_NEW_ARRAY(char *, count) : NULL;
    bool ok = copies;
    for (int64_t k = 0; ok && k < count; k++) {
        copies[k] = sali_strdup(names[rows ? rows[k] : first + k]);
        ok = copies[k];
    }
    if (copies && !ok) {
        sali_names_free(copies, count);
    }
    return ok ? copies : NULL;
}

sal_status sali_data_gather(const sal_data *data, int64_t first, int64_t count,
                            const uint32_t *rows, sal_data *out, sal_error *err)
{
    const int64_t V = data->variables;
    sal_data part = *data;
    part.rows = count;
    part.remark = NULL; /* the remark is on the whole file */
    part.warns = false;
    part.codes = gather(data->codes, first, count, rows, V, sizeof *data->codes);
    part.intensity = gather(data->intensity, first, count, rows, V, sizeof *data->intensity);
    part.weight = gather(data->weight, first, count, rows, 1, sizeof *data->weight);
    part.labels = gather(data->labels, first, count, rows, 1, sizeof *data->labels);
    part.names = gather_names(data->names, first, count, rows);
    if (!part.codes || (data->names && !part.names) || (data->intensity && !part.intensity) ||
        (data->weight && !part.weight) || (data->labels && !part.labels)) {
        sal_data_destroy(&part);
        return sali_fail_memory(err);
    }
    *out = part;
    return SAL_OK;
}

sal_status sal_data_from_run(const sal_run *run, sal_data *data, sal_error *err)
{
    int bytes = 0;
    int64_t chains = 0, draws = 0, V = 0;
    const void *kept = run ? sal_run_draws(run, &bytes) : NULL;
    if (kept) {
        sal_run_size(run, &chains, &draws, &V);
    }
    if (draws == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "data: the run %s",
                         kept ? "was stopped before its first draw"
                              : "kept no draws; set record.draws in its options");
    }
    int64_t count = chains * draws * V;
    uint8_t *codes = SALI_NEW_ARRAY(uint8_t, count);
    if (!codes) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t code = bytes == 1 ? ((const uint8_t *)kept)[i] : ((const int32_t *)kept)[i];
        if (code > UINT8_MAX) {
            sali_free(codes);
            return sali_fail(err, SAL_ERR_DATA,
                             "data: draw %lld has code %d of variable %lld; expected at most 255",
                             (long long)(i / V), code, (long long)(i % V));
        }
        codes[i] = (uint8_t)code;
    }
    *data = (sal_data){ .rows = chains * draws, .variables = V, .codes = codes };
    return SAL_OK;
}

double sali_data_weight(const sal_data *data)
{
    double sum = data->weight ? 0 : (double)data->rows;
    for (int64_t r = 0; data->weight && r < data->rows; r++) {
        sum += data->weight[r];
    }
    return sum;
}

void sali_data_binarise(const sal_data *data, int64_t row, uint64_t seed, uint64_t use,
                        int32_t *codes)
{
    enum { CHUNK = 256 }; /* a block of the stream has two uniforms: no block is cut */
    int64_t V = data->variables;
    const float *p = data->intensity ? data->intensity + row * V : NULL;
    sali_stream stream = {
        .seed = seed, .step = use, .chain = (uint32_t)row, .purpose = SALI_RNG_BINARISE
    };
    for (int64_t v = 0; !p && v < V; v++) {
        codes[v] = data->codes[row * V + v];
    }
    for (int64_t first = 0; p && first < V; first += CHUNK) {
        double u[CHUNK];
        int64_t n = V - first < CHUNK ? V - first : CHUNK;
        sali_rng_uniform_f64_from(&stream, (uint32_t)first, n, u);
        for (int64_t k = 0; k < n; k++) {
            codes[first + k] = u[k] < (double)p[first + k];
        }
    }
}

sal_status sal_data_binarise(sal_data *data, uint64_t seed, uint64_t use, sal_error *err)
{
    if (!data || !data->codes) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "data: there are none");
    }
    int32_t *codes = data->intensity ? SALI_NEW_ARRAY(int32_t, data->variables) : NULL;
    if (data->intensity && !codes) {
        return sali_fail_memory(err);
    }
    for (int64_t r = 0; codes && r < data->rows; r++) {
        sali_data_binarise(data, r, seed, use, codes);
        for (int64_t v = 0; v < data->variables; v++) {
            data->codes[r * data->variables + v] = (uint8_t)codes[v];
        }
    }
    sali_free(codes);
    return SAL_OK;
}
