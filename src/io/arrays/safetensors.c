/* SPDX-License-Identifier: MIT */
#include "io/arrays/safetensors.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/format.h"
#include "io/scan.h"
#include "io/torch.h"

struct sali_safetensors {
    sali_bytes file; /* empty when the bytes are borrowed */
    json_t *header;  /* owns the names */
    int64_t count;
    sali_tensor *tensors;
};

static void fail_tensor(sali_scan *scan, const char *tensor, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    sali_scan_refuse(scan, "tensor '%s': %s", sali_show(tensor, -1, shown), what);
}

/* Read "shape" and set ndim, shape and count of the tensor, whose dtype is set. */
static void read_shape(sali_scan *scan, const json_t *item, sali_tensor *tensor)
{
    const json_t *shape = json_object_get(item, "shape");
    if (!json_is_array(shape) || json_array_size(shape) > SALI_TENSOR_MAX_DIM) {
        fail_tensor(scan, tensor->name, "expected a \"shape\" of at most 8 dimensions");
        return;
    }
    tensor->ndim = (int)json_array_size(shape);
    for (int i = 0; i < tensor->ndim; i++) {
        const json_t *dimension = json_array_get(shape, (size_t)i);
        tensor->shape[i] = json_integer_value(dimension);
        if (!json_is_integer(dimension) || tensor->shape[i] < 0) {
            fail_tensor(scan, tensor->name, "expected whole numbers, none negative, as \"shape\"");
        }
    }
    tensor->count = sali_shape_count(tensor->shape, tensor->ndim, sali_dtype_bytes(tensor->dtype));
    if (tensor->count < 0) {
        fail_tensor(scan, tensor->name, "the product of its \"shape\" overflows");
    }
}

/* Read "data_offsets" and set the tensor's data, whose size must fit its shape; the scanner stands
 * where the data begin. */
static void read_offsets(sali_scan *scan, const json_t *item, sali_tensor *tensor)
{
    const json_t *offsets = json_object_get(item, "data_offsets");
    const json_t *first = json_array_get(offsets, 0);
    const json_t *last = json_array_get(offsets, 1);
    int64_t begin = json_integer_value(first), end = json_integer_value(last);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last)) {
        fail_tensor(scan, tensor->name, "expected \"data_offsets\" of two whole numbers");
    } else if (begin < 0 || begin > end || end > scan->end - scan->next) {
        fail_tensor(scan, tensor->name,
                    "its \"data_offsets\" are not a range within the file's data");
    } else if (end - begin != tensor->count * sali_dtype_bytes(tensor->dtype)) {
        fail_tensor(scan, tensor->name,
                    "its \"data_offsets\" do not fit its \"shape\" and \"dtype\"");
    } else {
        tensor->data = scan->next + begin;
    }
}

/* Read the description of a tensor; the scanner stands where the data begin. */
static sali_tensor read_tensor(sali_scan *scan, const char *name, const json_t *item)
{
    sali_tensor tensor = { .name = name };
    const char *dtype = json_string_value(json_object_get(item, "dtype"));
    if (!json_is_object(item)) {
        fail_tensor(scan, name, "expected a JSON object");
    } else if (!dtype || !sali_dtype_find(dtype, NULL, 0, &tensor.dtype)) {
        fail_tensor(
            scan, name,
            "expected a \"dtype\" out of BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, "
            "F32 and F64");
    }
    if (scan->status == SAL_OK) {
        read_shape(scan, item, &tensor);
    }
    if (scan->status == SAL_OK) {
        read_offsets(scan, item, &tensor);
    }
    return tensor;
}

static int64_t bytes_of(const sali_tensor *tensor)
{
    return tensor->count * sali_dtype_bytes(tensor->dtype);
}

/* Order for qsort: by address of the data; of tensors at one address, the empty ones first. */
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

/* Sort the tensors by their data, which must fill the rest of the file without overlap or gap. */
static void check_layout(sali_scan *scan, sali_tensor *tensors, int64_t count)
{
    qsort(tensors, (size_t)count, sizeof *tensors, compare_data);
    const char *used = scan->next;
    for (int64_t i = 0; i < count; i++) {
        const char *begin = tensors[i].data;
        if (begin != used) {
            fail_tensor(scan, tensors[i].name,
                        begin < used ? "its data overlap those of another tensor"
                                     : "there are bytes before its data that belong to no tensor");
            return;
        }
        used += bytes_of(&tensors[i]);
    }
    if (used != scan->end) {
        sali_scan_refuse(scan, "%lld bytes at the end of the data belong to no tensor",
                         (long long)(scan->end - used));
    }
}

/* Fails unless the metadata, if any, are an object of texts. */
static void check_metadata(sali_scan *scan, json_t *metadata)
{
    const char *key;
    json_t *value;
    bool fine = !metadata || json_is_object(metadata);
    json_object_foreach(metadata, key, value)
    {
        fine = fine && json_is_string(value);
    }
    if (!fine) {
        sali_scan_refuse(scan, "expected \"__metadata__\" to be a JSON object of texts");
    }
}

/* Fails unless the tensors have the checksum of the metadata, if it has one. */
static void check_sum(sali_scan *scan, const sali_safetensors *file, const json_t *metadata)
{
    const char *given = json_string_value(json_object_get(metadata, SALI_CHECKSUM_KEY));
    char found[SALI_CHECKSUM_TEXT];
    uint64_t sum = 0;
    for (int64_t k = 0; given && k < file->count; k++) {
        sum += sali_tensor_checksum(&file->tensors[k]);
    }
    sali_checksum_text(sum, found);
    if (given && strcmp(given, found) != 0) {
        sali_scan_refuse(scan,
                         "the file is damaged: its numbers are not those that were written. Take "
                         "another copy (if a program changed them on purpose, remove "
                         "\"" SALI_CHECKSUM_KEY "\" from the metadata)");
    }
}

/* Read the descriptions of all tensors in the header. */
static void read_tensors(sali_scan *scan, sali_safetensors *file)
{
    const char *name;
    json_t *item, *metadata = json_object_get(file->header, "__metadata__");
    check_metadata(scan, metadata);
    file->tensors = SALI_SCAN_ARRAY(scan, sali_tensor, (int64_t)json_object_size(file->header));
    json_object_foreach(file->header, name, item)
    {
        if (item != metadata && scan->status == SAL_OK) {
            file->tensors[file->count++] = read_tensor(scan, name, item);
        }
    }
    if (scan->status == SAL_OK) {
        check_layout(scan, file->tensors, file->count);
    }
    if (scan->status == SAL_OK) {
        check_sum(scan, file, metadata);
    }
}

/* Read the header, a JSON object, and move the scanner to the data. The caller releases the object,
 * on failure too. */
static json_t *read_header(sali_scan *scan)
{
    const unsigned char *bytes = (const unsigned char *)scan->begin;
    const int64_t size = scan->end - scan->begin;
    json_error_t error = { 0 };
    uint64_t wide = 0;
    if (size < 8) {
        sali_scan_refuse(scan, "is not a safetensors file (shorter than 8 bytes)");
        return NULL;
    }
    for (int i = 7; i >= 0; i--) {
        wide = wide << 8 | bytes[i];
    }
    if (wide > (uint64_t)size - 8) {
        sali_scan_refuse(scan,
                         "is not a safetensors file (its header should have %llu bytes, but %lld "
                         "are left)",
                         (unsigned long long)wide, (long long)(size - 8));
        return NULL;
    }
    json_t *header = json_loadb(scan->begin + 8, (size_t)wide, JSON_REJECT_DUPLICATES, &error);
    sali_scan_granted(scan, header || json_error_code(&error) != json_error_out_of_memory);
    if (!json_is_object(header)) {
        sali_scan_refuse(scan, "safetensors header: expected a JSON object%s%s", header ? "" : ": ",
                         header ? "" : error.text);
    }
    scan->next = scan->begin + 8 + wide;
    return header;
}

sal_status sali_safetensors_parse(const char *name, const void *bytes, int64_t size,
                                  sali_safetensors **out, sal_error *err)
{
    sali_scan scan = sali_scan_of(name, bytes, size, SALI_BYTES, err);
    sali_safetensors *file = SALI_SCAN_ARRAY(&scan, sali_safetensors, 1);
    if (file) {
        scan.status = sali_refuse_torch(name, bytes, size, err);
    }
    if (scan.status == SAL_OK && sali_format_recognises(&sali_format_adabmdca, bytes, size)) {
        sali_scan_refuse(&scan, "holds the parameters of a whole Potts model: open it in place of "
                                "the model, such as 'saltus sample FILE', not by --params");
    }
    if (scan.status == SAL_OK) {
        file->header = read_header(&scan);
    }
    if (scan.status == SAL_OK) {
        read_tensors(&scan, file);
    }
    if (scan.status != SAL_OK) {
        sali_safetensors_close(file);
        return scan.status;
    }
    *out = file;
    return SAL_OK;
}

sal_status sali_safetensors_open(const char *path, sali_safetensors **out, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sal_status status = sali_file_read_unpacked(path, SALI_UNPACK_MAX, &bytes, err);
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

uint64_t sali_tensor_checksum(const sali_tensor *t)
{
    const char *type = sali_dtype_name(t->dtype);
    uint64_t h = sali_checksum(SALI_CHECKSUM_START, t->name, (int64_t)strlen(t->name) + 1);
    h = sali_checksum(h, type, (int64_t)strlen(type) + 1);
    for (int i = 0; i < t->ndim; i++) {
        const uint64_t length = htole64((uint64_t)t->shape[i]);
        h = sali_checksum(h, &length, sizeof length);
    }
    return sali_checksum(h, t->data,
                         sali_shape_count(t->shape, t->ndim, 1) * sali_dtype_bytes(t->dtype));
}

void sali_tensor_doubles(const sali_tensor *tensor, double *out)
{
    const unsigned char *bytes = tensor->data;
    for (int64_t i = 0; i < tensor->count; i++) {
        out[i] = sali_dtype_load(tensor->dtype, bytes + i * sali_dtype_bytes(tensor->dtype), 0);
    }
}
