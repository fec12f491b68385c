/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "io/arrays/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    sal_status status = sali_safetensors_parse("fuzz", data, (int64_t)size, &file, &err);
    fuzz_check(status, &err);
    for (int64_t i = 0; file && i < sali_safetensors_count(file); i++) {
        const sali_tensor *tensor = sali_safetensors_at(file, i);
        double *values = fuzz_alloc(tensor->count, sizeof *values);
        sali_tensor_doubles(tensor, values);
        free(values);
        if (sali_safetensors_find(file, tensor->name) != tensor) {
            abort();
        }
    }
    sali_safetensors_close(file);
    return 0;
}
