/* SPDX-License-Identifier: MIT */
/* Writing safetensors. */
#include "io/arrays/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"

/* What a failed addition to the header means. */
static sal_status not_added(const char *path, const char *name, sal_error *err)
{
    return sali_fail(err, SAL_ERR_ARGUMENT,
                     "%s: '%s' (or its text) is not UTF-8, or memory ran out", path, name);
}

/* Bytes of a tensor that may be written; -1 for one that may not. */
static int64_t bytes_of(const sali_tensor *t)
{
    if (t->ndim < 0 || t->ndim > SALI_TENSOR_MAX_DIM) {
        return -1;
    }
    int size = sali_dtype_bytes(t->dtype);
    int64_t count = sali_shape_count(t->shape, t->ndim, size);
    return count < 0 ? -1 : count * size;
}

/* Add the description of a tensor whose data begin at *offset, and advance that. */
static sal_status add_tensor(json_t *header, const char *path, const sali_tensor *t,
                             int64_t *offset, sal_error *err)
{
    int64_t bytes = bytes_of(t);
    int64_t end;
    if (bytes < 0 || __builtin_add_overflow(*offset, bytes, &end)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: tensor '%s': expected at most 8 dimensions, none negative, and a "
                         "size within 64 bits",
                         path, t->name);
    }
    if (strcmp(t->name, "__metadata__") == 0 || json_object_get(header, t->name)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: the tensor name '%s' is taken", path, t->name);
    }
    json_t *shape = json_array();
    for (int i = 0; i < t->ndim; i++) {
        if (json_array_append_new(shape, json_integer(t->shape[i])) != 0) {
            json_decref(shape);
            return sali_fail_memory(err);
        }
    }
    json_t *item = json_pack("{s:s, s:o, s:[I, I]}", "dtype", sali_dtype_name(t->dtype), "shape",
                             shape, "data_offsets", (json_int_t)*offset, (json_int_t)end);
    if (!item) {
        return sali_fail_memory(err);
    }
    if (json_object_set_new(header, t->name, item) != 0) {
        return not_added(path, t->name, err);
    }
    *offset = end;
    return SAL_OK;
}

/* The header as JSON, in allocated memory of libc. */
static sal_status format_header(const char *path, const sali_tensor *tensors, int64_t n, char **out,
                                sal_error *err)
{
    json_t *header = json_object();
    sal_status status = header ? SAL_OK : sali_fail_memory(err);
    int64_t offset = 0;
    for (int64_t i = 0; i < n && status == SAL_OK; i++) {
        status = add_tensor(header, path, &tensors[i], &offset, err);
    }
    if (status == SAL_OK) {
        *out = json_dumps(header, JSON_COMPACT);
        status = *out ? SAL_OK : sali_fail_memory(err);
    }
    json_decref(header);
    return status;
}

/* The length and the header, padded with blanks so that the data begin at a multiple of 8. */
static sal_status write_header(sali_output *out, const char *header, sal_error *err)
{
    int64_t length = (int64_t)strlen(header);
    int64_t padding = (8 - length % 8) % 8;
    uint64_t wide = (uint64_t)(length + padding);
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++) {
        prefix[i] = (unsigned char)(wide >> 8 * i);
    }
    sal_status status = sali_output_write(out, prefix, 8, err);
    status = status ? status : sali_output_write(out, header, length, err);
    return status == SAL_OK ? sali_output_write(out, "        ", padding, err) : status;
}

static sal_status write_data(sali_output *out, const sali_tensor *t, sal_error *err)
{
    const int64_t bytes = bytes_of(t);
    if (!SALI_BIG_ENDIAN || bytes == 0) {
        return sali_output_write(out, t->data, bytes, err);
    }
    void *turned = sali_memdup(t->data, bytes, 1);
    if (!turned) {
        return sali_fail_memory(err);
    }
    int size = sali_dtype_bytes(t->dtype);
    sali_dtype_turn(turned, bytes / size, size);
    sal_status status = sali_output_write(out, turned, bytes, err);
    sali_free(turned);
    return status;
}

/* Header and data. */
static sal_status write_all(sali_output *out, const char *path, const sali_tensor *tensors,
                            int64_t n, sal_error *err)
{
    char *header = NULL;
    sal_status status = format_header(path, tensors, n, &header, err);
    status = status ? status : write_header(out, header, err);
    for (int64_t i = 0; i < n && status == SAL_OK; i++) {
        status = write_data(out, &tensors[i], err);
    }
    free(header);
    return status;
}

sal_status sali_safetensors_write(const char *path, const sali_tensor *tensors, int64_t n,
                                  sal_error *err)
{
    sali_output out = { 0 };
    sal_status status = sali_output_open(path, &out, err);
    status = status ? status : write_all(&out, path, tensors, n, err);
    status = status ? status : sali_output_commit(&out, err);
    sali_output_discard(&out);
    return status;
}

sal_status sali_safetensors_format(const sali_tensor *tensors, int64_t n, char **bytes,
                                   int64_t *size, sal_error *err)
{
    char name[] = "tensors in memory", *made = NULL;
    size_t length = 0;
    sali_output out = { .file = open_memstream(&made, &length), .temporary = name };
    sal_status status = out.file ? write_all(&out, name, tensors, n, err) : sali_fail_memory(err);
    if (out.file && fclose(out.file) != 0 && status == SAL_OK) {
        status = sali_fail_memory(err);
    }
    if (status != SAL_OK) {
        free(made);
        return status;
    }
    *bytes = made;
    *size = (int64_t)length;
    return SAL_OK;
}
