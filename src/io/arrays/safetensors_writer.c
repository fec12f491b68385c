/* SPDX-License-Identifier: MIT */
/* Writing safetensors. */
#include "io/arrays/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checksum.h"
#include "io/text_output.h"

/* The size in bytes of a tensor; -1 if its shape is bad. */
static int64_t bytes_of(const sali_tensor *t)
{
    if (t->ndim < 0 || t->ndim > SALI_TENSOR_MAX_DIM) {
        return -1;
    }
    int size = sali_dtype_bytes(t->dtype);
    int64_t count = sali_shape_count(t->shape, t->ndim, size);
    return count < 0 ? -1 : count * size;
}

/* Add the description of a tensor whose data begin at `offset`. Returns where the data end. */
static int64_t add_tensor(sali_text_output *w, json_t *header, const sali_tensor *t, int64_t offset)
{
    int64_t bytes = bytes_of(t), end = offset;
    if (bytes < 0 || __builtin_add_overflow(offset, bytes, &end)) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "tensor '%s': expected at most 8 dimensions, none negative, and a size "
                       "within 64 bits",
                       t->name);
        return offset;
    }
    if (strcmp(t->name, "__metadata__") == 0 || json_object_get(header, t->name)) {
        sali_text_fail(w, SAL_ERR_ARGUMENT, "the tensor name '%s' is taken", t->name);
    }
    json_t *shape = json_array();
    for (int i = 0; i < t->ndim; i++) {
        sali_text_granted(w, json_array_append_new(shape, json_integer(t->shape[i])) == 0);
    }
    json_t *item = json_pack("{s:s, s:o, s:[I, I]}", "dtype", sali_dtype_name(t->dtype), "shape",
                             shape, "data_offsets", (json_int_t)offset, (json_int_t)end);
    if (sali_text_granted(w, item) && json_object_set(header, t->name, item) != 0) {
        sali_text_fail(w, SAL_ERR_ARGUMENT, "'%s' (or its text) is not UTF-8, or memory ran out",
                       t->name);
    }
    json_decref(item);
    return end;
}

/* The data of a tensor in little-endian order, to be freed; NULL: they are it as they are, or there
 * is no memory. */
static void *turned_data(sali_text_output *w, const sali_tensor *t)
{
    const int64_t bytes = bytes_of(t);
    const int size = sali_dtype_bytes(t->dtype);
    void *turned = SALI_BIG_ENDIAN ? sali_memdup(t->data, bytes, 1) : NULL;
    if (turned) {
        sali_dtype_turn(turned, bytes / size, size);
    }
    sali_text_granted(w, turned || !SALI_BIG_ENDIAN);
    return turned;
}

/* Add the checksum of tensors whose shapes are good. */
static void add_checksum(sali_text_output *w, json_t *header, const sali_tensor *tensors, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n && w->status == SAL_OK; i++) {
        sali_tensor t = tensors[i];
        void *turned = turned_data(w, &t);
        t.data = turned ? turned : t.data;
        sum += w->status == SAL_OK ? sali_tensor_checksum(&t) : 0;
        sali_free(turned);
    }
    char text[SALI_CHECKSUM_TEXT];
    sali_checksum_text(sum, text);
    json_t *metadata = json_pack("{s:s}", SALI_CHECKSUM_KEY, text);
    sali_text_granted(w, json_object_set(header, "__metadata__", metadata) == 0);
    json_decref(metadata);
}

/* Write the length and the header as JSON, padded with blanks so that the data begin at a multiple
 * of 8. */
static void put_header(sali_text_output *w, const sali_tensor *tensors, int64_t n)
{
    json_t *header = json_object();
    int64_t offset = 0;
    for (int64_t i = 0; sali_text_granted(w, header) && i < n; i++) {
        offset = add_tensor(w, header, &tensors[i], offset);
    }
    if (w->status == SAL_OK) {
        add_checksum(w, header, tensors, n);
    }
    char *text = json_dumps(header, JSON_COMPACT);
    if (sali_text_granted(w, text)) {
        int64_t length = (int64_t)strlen(text), padding = (8 - length % 8) % 8;
        unsigned char wide[8];
        for (int i = 0; i < 8; i++) {
            wide[i] = (unsigned char)((uint64_t)(length + padding) >> 8 * i);
        }
        sali_put_bytes(w, wide, 8);
        sali_put_bytes(w, text, length);
        sali_put_bytes(w, "        ", padding);
    }
    free(text);
    json_decref(header);
}

/* Write the data of a tensor, in little-endian order. */
static void put_data(sali_text_output *w, const sali_tensor *t)
{
    void *turned = turned_data(w, t);
    sali_put_bytes(w, turned ? turned : t->data, bytes_of(t));
    sali_free(turned);
}

/* Write header and data of all tensors. */
static void put_all(sali_text_output *w, const sali_tensor *tensors, int64_t n)
{
    put_header(w, tensors, n);
    for (int64_t i = 0; i < n && w->status == SAL_OK; i++) {
        put_data(w, &tensors[i]);
    }
}

sal_status sali_safetensors_write(const char *path, const sali_tensor *tensors, int64_t n,
                                  sal_error *err)
{
    sali_text_output w;
    sali_text_open(&w, path, false, err);
    put_all(&w, tensors, n);
    return sali_text_close(&w);
}

sal_status sali_safetensors_format(const sali_tensor *tensors, int64_t n, char **bytes,
                                   int64_t *size, sal_error *err)
{
    char name[] = "tensors in memory", *made = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&made, &length);
    sali_text_output w = { .out = { .file = file, .path = name, .temporary = name }, .err = err };
    if (sali_text_granted(&w, file)) {
        put_all(&w, tensors, n);
        sali_text_granted(&w, fclose(file) == 0);
    }
    if (w.status != SAL_OK) {
        free(made);
        return w.status;
    }
    *bytes = made;
    *size = (int64_t)length;
    return SAL_OK;
}
