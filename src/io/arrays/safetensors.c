/* SPDX-License-Identifier: MIT */
#include "io/arrays/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"
#include "io/scan.h"
#include "io/torch.h"

struct sali_safetensors {
    sali_bytes file; /* empty when the bytes are borrowed */
    json_t *header;  /* owns the names */
    int64_t count;
    sali_tensor *tensors;
};

/* Reading in progress: where the data are, and which names and messages belong to it. */
typedef struct reader {
    const char *path;
    const unsigned char *data;
    int64_t size; /* of the data */
    sal_error *err;
} reader;

static sal_status bad(const reader *r, const char *tensor, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    sali_show(tensor, (int64_t)strlen(tensor), shown);
    return sali_fail(r->err, SAL_ERR_DATA, "%s: tensor '%s': %s", r->path, shown, what);
}

static sal_status read_dtype(const reader *r, const char *name, const json_t *item,
                             sali_dtype *dtype)
{
    const char *text = json_string_value(json_object_get(item, "dtype"));
    if (text && sali_dtype_find(text, NULL, 0, dtype)) {
        return SAL_OK;
    }
    return bad(r, name,
               "expected a \"dtype\" out of BOOL, I8, U8, I16, U16, I32, U32, I64, U64, "
               "F16, BF16, F32 and F64");
}

static sal_status read_shape(const reader *r, const char *name, const json_t *item,
                             sali_tensor *tensor)
{
    const json_t *shape = json_object_get(item, "shape");
    if (!json_is_array(shape) || json_array_size(shape) > SALI_TENSOR_MAX_DIM) {
        return bad(r, name, "expected a \"shape\" of at most 8 dimensions");
    }
    tensor->ndim = (int)json_array_size(shape);
    for (int i = 0; i < tensor->ndim; i++) {
        const json_t *dimension = json_array_get(shape, (size_t)i);
        tensor->shape[i] = json_integer_value(dimension);
        if (!json_is_integer(dimension) || tensor->shape[i] < 0) {
            return bad(r, name, "expected whole numbers, none negative, as \"shape\"");
        }
    }
    tensor->count = sali_shape_count(tensor->shape, tensor->ndim, sali_dtype_bytes(tensor->dtype));
    return tensor->count < 0 ? bad(r, name, "the product of its \"shape\" overflows") : SAL_OK;
}

static sal_status read_offsets(const reader *r, const char *name, const json_t *item,
                               sali_tensor *tensor)
{
    const json_t *offsets = json_object_get(item, "data_offsets");
    const json_t *first = json_array_get(offsets, 0);
    const json_t *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last)) {
        return bad(r, name, "expected \"data_offsets\" of two whole numbers");
    }
    int64_t begin = json_integer_value(first);
    int64_t end = json_integer_value(last);
    if (begin < 0 || begin > end || end > r->size) {
        return bad(r, name, "its \"data_offsets\" are not a range within the file's data");
    }
    if (end - begin != tensor->count * sali_dtype_bytes(tensor->dtype)) {
        return bad(r, name, "its \"data_offsets\" do not fit its \"shape\" and \"dtype\"");
    }
    tensor->data = r->data + begin;
    return SAL_OK;
}

static sal_status read_tensor(const reader *r, const char *name, const json_t *item,
                              sali_tensor *out)
{
    sali_tensor tensor = { .name = name };
    sal_status status = json_is_object(item) ? read_dtype(r, name, item, &tensor.dtype)
                                             : bad(r, name, "expected a JSON object");
    status = status ? status : read_shape(r, name, item, &tensor);
    status = status ? status : read_offsets(r, name, item, &tensor);
    if (status == SAL_OK) {
        *out = tensor;
    }
    return status;
}

static int64_t bytes_of(const sali_tensor *tensor)
{
    return tensor->count * sali_dtype_bytes(tensor->dtype);
}

/* By begin; the empty ones first where several begin together. */
static int compare_data(const void *a, const void *b)
{
    const sali_tensor *x = a;
    const sali_tensor *y = b;
    const unsigned char *p = x->data;
    const unsigned char *q = y->data;
    if (p != q) {
        return p < q ? -1 : 1;
    }
    return bytes_of(x) < bytes_of(y) ? -1 : bytes_of(x) > bytes_of(y);
}

/* Sort, and see that the tensors fill the data without overlap or hole. */
static sal_status check_layout(const reader *r, sali_tensor *tensors, int64_t count)
{
    qsort(tensors, (size_t)count, sizeof *tensors, compare_data);
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = (const unsigned char *)tensors[i].data - r->data;
        if (begin != used) {
            return bad(r, tensors[i].name,
                       begin < used ? "its data overlap those of another tensor"
                                    : "there are bytes before its data that belong to no tensor");
        }
        used += bytes_of(&tensors[i]);
    }
    if (used != r->size) {
        return sali_fail(r->err, SAL_ERR_DATA,
                         "%s: %lld bytes at the end of the data belong to no tensor", r->path,
                         (long long)(r->size - used));
    }
    return SAL_OK;
}

static sal_status check_metadata(const reader *r, json_t *metadata)
{
    const char *key;
    json_t *value;
    int fine = !metadata || json_is_object(metadata);
    json_object_foreach(metadata, key, value)
    {
        fine = fine && json_is_string(value);
    }
    return fine ? SAL_OK
                : sali_fail(r->err, SAL_ERR_DATA,
                            "%s: expected \"__metadata__\" to be a JSON object of texts", r->path);
}

static sal_status read_tensors(const reader *r, sali_safetensors *file)
{
    json_t *metadata = json_object_get(file->header, "__metadata__");
    sal_status status = check_metadata(r, metadata);
    if (status != SAL_OK) {
        return status;
    }
    int64_t count = (int64_t)json_object_size(file->header) - (metadata ? 1 : 0);
    file->tensors = SALI_NEW_ARRAY(sali_tensor, count);
    if (!file->tensors) {
        return sali_fail_memory(r->err);
    }
    const char *name;
    json_t *item;
    json_object_foreach(file->header, name, item)
    {
        if (item != metadata) {
            status = read_tensor(r, name, item, &file->tensors[file->count]);
            if (status != SAL_OK) {
                return status;
            }
            file->count++;
        }
    }
    return check_layout(r, file->tensors, file->count);
}

/* The JSON object between the length and the data. */
static sal_status read_header(const char *path, const unsigned char *bytes, int64_t size,
                              int64_t *length, json_t **out, sal_error *err)
{
    sal_status status = sali_refuse_torch(path, bytes, size, err);
    if (status != SAL_OK) {
        return status;
    }
    if (size < 8) {
        return sali_fail(err, SAL_ERR_DATA, "%s: is not a safetensors file (shorter than 8 bytes)",
                         path);
    }
    uint64_t wide = 0;
    for (int i = 7; i >= 0; i--) {
        wide = wide << 8 | bytes[i];
    }
    if (wide > (uint64_t)size - 8) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: is not a safetensors file (its header should have %llu bytes, but "
                         "%lld are left)",
                         path, (unsigned long long)wide, (long long)(size - 8));
    }
    json_error_t json_error;
    json_t *header =
        json_loadb((const char *)bytes + 8, (size_t)wide, JSON_REJECT_DUPLICATES, &json_error);
    if (!header && json_error_code(&json_error) == json_error_out_of_memory) {
        return sali_fail_memory(err);
    }
    if (!json_is_object(header)) {
        json_decref(header);
        return sali_fail(err, SAL_ERR_DATA, "%s: safetensors header: expected a JSON object%s%s",
                         path, header ? "" : ": ", header ? "" : json_error.text);
    }
    *length = (int64_t)wide;
    *out = header;
    return SAL_OK;
}

sal_status sali_safetensors_parse(const char *name, const void *bytes, int64_t size,
                                  sali_safetensors **out, sal_error *err)
{
    sali_safetensors *file = SALI_NEW(sali_safetensors);
    if (!file) {
        return sali_fail_memory(err);
    }
    int64_t length = 0;
    sal_status status = read_header(name, bytes, size, &length, &file->header, err);
    if (status == SAL_OK) {
        reader r = { name, (const unsigned char *)bytes + 8 + length, size - 8 - length, err };
        status = read_tensors(&r, file);
    }
    if (status != SAL_OK) {
        sali_safetensors_close(file);
        return status;
    }
    *out = file;
    return SAL_OK;
}

sal_status sali_safetensors_open(const char *path, sali_safetensors **out, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sal_status status = sali_file_read(path, &bytes, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_safetensors_parse(path, bytes.data, bytes.size, out, err);
    if (status != SAL_OK) {
        sali_bytes_free(&bytes);
        return status;
    }
    (*out)->file = bytes;
    return SAL_OK;
}

void sali_safetensors_close(sali_safetensors *file)
{
    if (file) {
        json_decref(file->header);
        sali_free(file->tensors);
        sali_bytes_free(&file->file);
        sali_free(file);
    }
}

int64_t sali_safetensors_count(const sali_safetensors *file)
{
    return file->count;
}

const sali_tensor *sali_safetensors_at(const sali_safetensors *file, int64_t i)
{
    return &file->tensors[i];
}

const sali_tensor *sali_safetensors_find(const sali_safetensors *file, const char *name)
{
    for (int64_t i = 0; i < file->count; i++) {
        if (strcmp(file->tensors[i].name, name) == 0) {
            return &file->tensors[i];
        }
    }
    return NULL;
}

void sali_tensor_doubles(const sali_tensor *tensor, double *out)
{
    const unsigned char *bytes = tensor->data;
    for (int64_t i = 0; i < tensor->count; i++) {
        out[i] = sali_dtype_load(tensor->dtype, bytes + i * sali_dtype_bytes(tensor->dtype), 0);
    }
}
