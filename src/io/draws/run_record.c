/* SPDX-License-Identifier: MIT */
#include "io/draws/netcdf_posterior.h"
#include "io/draws/run_record.h"

#include <math.h>

#include "core/error.h"
#include "io/file.h"
#include "io/format.h"

static void parse(sali_scan *scan, sali_content *out)
{
    scan->status =
        sali_netcdf_parse(scan->name, scan->begin, scan->end - scan->begin, out, scan->err);
}

/* Recognised by its suffix alone: other HDF5 files must not reach libhdf5 unasked. */
const sali_format sali_format_netcdf = {
    .name = "netcdf",
    .doc = "draws in ArviZ's layout, if built with libnetcdf",
    .suffixes = { ".nc" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_BYTES,
    .parse = parse,
};

const char *const sali_noted_names[SALI_NOTED] = { "lp", "acceptance_rate", "jump", "step_size" };

void sali_run_record_free(sali_run_record *r)
{
    sal_array_free(&r->draws);
    sali_memory_free(&r->memory);
    *r = (sali_run_record){ 0 };
}

/* Read draws from an .npy array of 2 or 3 dimensions; everything else in the record is absent. */
static sal_status read_npy(const char *path, sali_run_record *out, sal_error *err)
{
    sali_content content = { 0 };
    sal_status status =
        sali_content_read(path, &sali_format_npy, SALI_CONTENT_ARRAY, &content, NULL, err);
    if (status != SAL_OK) {
        return status;
    }
    const sal_array *array = &content.array;
    if (array->ndim < 2 || array->ndim > 3) {
        sali_content_free(&content);
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: expected an array of shape (chains, draws) or (chains, draws, "
                         "variables)",
                         path);
    }
    *out = (sali_run_record){ .draws = *array,
                              .chains = array->shape[0],
                              .n_draws = array->shape[1],
                              .V = array->ndim == 3 ? array->shape[2] : 1,
                              .seconds = NAN };
    return SAL_OK;
}

sal_status sali_run_record_read(const char *path, sali_run_record *out, sal_error *err)
{
    sali_bytes bytes = { 0 };
    if (sali_format_has_suffix(&sali_format_npy, path)) {
        return read_npy(path, out, err);
    }
    if (!sali_format_has_suffix(&sali_format_netcdf, path)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: expected draws in a file .nc or .npy", path);
    }
    sal_status status = sali_file_read(path, &bytes, err);
    if (status == SAL_OK) {
        status = sali_run_record_parse(path, (const char *)bytes.data, bytes.size, out, err);
    }
    sali_bytes_free(&bytes);
    return status;
}
