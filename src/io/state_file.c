#include "io/state_file.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/safetensors.h"

static sali_dtype dtype_of(sali_state_type type)
{
    static const sali_dtype dtypes[] = {
        [SALI_STATE_F64] = SALI_DTYPE_F64, [SALI_STATE_I64] = SALI_DTYPE_I64,
        [SALI_STATE_U64] = SALI_DTYPE_U64, [SALI_STATE_I32] = SALI_DTYPE_I32,
        [SALI_STATE_U32] = SALI_DTYPE_U32, [SALI_STATE_U8] = SALI_DTYPE_U8,
    };
    return dtypes[type];
}

sal_status sali_state_save(const char *path, const sali_state_item *items, int64_t n,
                           sal_error *err)
{
    sali_tensor *tensors = SALI_NEW_ARRAY(sali_tensor, n);
    if (!tensors) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; k < n; k++) {
        tensors[k] = (sali_tensor){
            .name = items[k].name,
            .dtype = dtype_of(items[k].type),
            .ndim = 1,
            .shape = { items[k].count },
            .data = items[k].data,
        };
    }
    sal_status status = sali_safetensors_write(path, tensors, n, NULL, err);
    sali_free(tensors);
    return status;
}

/* Elements of little-endian files in the host's order. */
static void copy(const sali_tensor *tensor, const sali_state_item *item)
{
    const int size = sali_dtype_bytes(tensor->dtype);
    unsigned char *to = item->data;
    if (item->count == 0) {
        return;
    }
    memcpy(to, tensor->data, (size_t)(item->count * size));
    for (int64_t i = 0; __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && i < item->count; i++) {
        for (int low = 0, high = size - 1; low < high; low++, high--) {
            unsigned char byte = to[i * size + low];
            to[i * size + low] = to[i * size + high];
            to[i * size + high] = byte;
        }
    }
}

sal_status sali_state_open(const char *path, sali_state_file *out, sal_error *err)
{
    *out = (sali_state_file){ .prefix = "" };
    return sali_safetensors_open(path, &out->arrays, err);
}

void sali_state_close(sali_state_file *file)
{
    sali_safetensors_close(file->arrays);
    *file = (sali_state_file){ 0 };
}

sal_status sali_state_fetch_array(void *context, const sali_state_item *item, sal_error *err)
{
    sali_state_file *file = context;
    char name[128];
    snprintf(name, sizeof name, "%s%s", file->prefix, item->name);
    const sali_tensor *tensor = sali_safetensors_find(file->arrays, name);
    sali_dtype dtype = dtype_of(item->type);
    if (!tensor || tensor->dtype != dtype || tensor->count != item->count) {
        return sali_fail(err, SAL_ERR_DATA, "expected an array '%s' of %lld numbers of type %s",
                         name, (long long)item->count, sali_dtype_name(dtype));
    }
    copy(tensor, item);
    file->fetched++;
    return SAL_OK;
}

sal_status sali_state_finish(const sali_state_file *file, sal_error *err)
{
    int64_t n = sali_safetensors_count(file->arrays);
    return n == file->fetched ? SAL_OK
                              : sali_fail(err, SAL_ERR_DATA, "%lld arrays; expected %lld",
                                          (long long)n, (long long)file->fetched);
}
