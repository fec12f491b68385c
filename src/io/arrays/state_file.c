/* SPDX-License-Identifier: MIT */
#include "io/arrays/state_file.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/saved/run_state.h"
#include "io/arrays/safetensors.h"
#include "io/file.h"

/* One-dimensional tensors [n] that point to the items' names and data, to be freed; NULL when out
 * of memory. */
static sali_tensor *tensors_of(const sali_state_item *items, int64_t n)
{
    sali_tensor *tensors = SALI_NEW_ARRAY(sali_tensor, n);
    for (int64_t k = 0; tensors && k < n; k++) {
        tensors[k] = (sali_tensor){
            .name = items[k].name,
            .dtype = items[k].type,
            .ndim = 1,
            .shape = { items[k].count },
            .data = items[k].data,
        };
    }
    return tensors;
}

sal_status sali_state_save(const char *path, const sali_state_item *items, int64_t n,
                           sal_error *err)
{
    sali_tensor *tensors = tensors_of(items, n);
    sal_status status =
        tensors ? sali_safetensors_write(path, tensors, n, err) : sali_fail_memory(err);
    sali_free(tensors);
    return status;
}

sal_status sali_state_format(const sali_state_item *items, int64_t n, char **bytes, int64_t *size,
                             sal_error *err)
{
    sali_tensor *tensors = tensors_of(items, n);
    sal_status status =
        tensors ? sali_safetensors_format(tensors, n, bytes, size, err) : sali_fail_memory(err);
    sali_free(tensors);
    return status;
}

/* Copy the elements of a tensor, little-endian in the file, to the item in the host's order. */
static void copy_elements(const sali_tensor *tensor, const sali_state_item *item)
{
    const int size = sali_dtype_bytes(tensor->dtype);
    if (item->count > 0) {
        memcpy(item->data, tensor->data, (size_t)(item->count * size));
    }
    if (SALI_BIG_ENDIAN) {
        sali_dtype_turn(item->data, item->count, size);
    }
}

/* More than any state has. */
#define MOST_ARRAYS 256

sal_status sali_state_parse(const char *name, const void *bytes, int64_t size,
                            struct sal_run_state *state, sal_error *err)
{
    sali_safetensors *arrays = NULL;
    sal_status status = sali_safetensors_parse(name, bytes, size, &arrays, err);
    int64_t n = status == SAL_OK ? sali_safetensors_count(arrays) : 0;
    if (n > MOST_ARRAYS) {
        status = sali_fail(err, SAL_ERR_DATA, "%s: its state has %lld arrays", name, (long long)n);
    }
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        const sali_tensor *tensor = sali_safetensors_at(arrays, k);
        sali_state_item item = { .count = tensor->count, .type = tensor->dtype };
        item.data = sali_run_state_room(state, tensor->name, item.type, item.count);
        if (!item.data) {
            status = sali_fail_memory(err);
            break;
        }
        copy_elements(tensor, &item);
    }
    sali_safetensors_close(arrays);
    return status;
}

sal_status sali_state_read(const char *path, struct sal_run_state *state, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sal_status status = sali_file_read(path, &bytes, err);
    status = status ? status : sali_state_parse(path, bytes.data, bytes.size, state, err);
    sali_bytes_free(&bytes);
    return status;
}
