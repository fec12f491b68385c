#include "io/state_file.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/safetensors.h"

static sali_dtype dtype_of(sali_state_type type)
{
    static const sali_dtype dtypes[] = {
        [SALI_STATE_F64] = SALI_DTYPE_F64, [SALI_STATE_I32] = SALI_DTYPE_I32,
        [SALI_STATE_I64] = SALI_DTYPE_I64, [SALI_STATE_U64] = SALI_DTYPE_U64,
        [SALI_STATE_U8] = SALI_DTYPE_U8,
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

static sal_status check(const char *path, const sali_safetensors *file,
                        const sali_state_item *items, int64_t n, sal_error *err)
{
    for (int64_t k = 0; k < n; k++) {
        const sali_tensor *tensor = sali_safetensors_find(file, items[k].name);
        sali_dtype dtype = dtype_of(items[k].type);
        if (!tensor || tensor->dtype != dtype || tensor->count != items[k].count) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: expected an array '%s' of %lld numbers of type %s", path,
                             items[k].name, (long long)items[k].count, sali_dtype_name(dtype));
        }
    }
    return sali_safetensors_count(file) == n
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA, "%s: %lld arrays; expected %lld", path,
                           (long long)sali_safetensors_count(file), (long long)n);
}

/* Elements of little-endian files in the host's order. */
static void copy(const sali_tensor *tensor, const sali_state_item *item)
{
    const int size = sali_dtype_bytes(tensor->dtype);
    unsigned char *to = item->data;
    memcpy(to, tensor->data, (size_t)(item->count * size));
    for (int64_t i = 0; __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && i < item->count; i++) {
        for (int low = 0, high = size - 1; low < high; low++, high--) {
            unsigned char byte = to[i * size + low];
            to[i * size + low] = to[i * size + high];
            to[i * size + high] = byte;
        }
    }
}

sal_status sali_state_load(const char *path, const sali_state_item *items, int64_t n,
                           sal_error *err)
{
    sali_safetensors *file = NULL;
    sal_status status = sali_safetensors_open(path, &file, err);
    status = status ? status : check(path, file, items, n, err);
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        copy(sali_safetensors_find(file, items[k].name), &items[k]);
    }
    sali_safetensors_close(file);
    return status;
}
