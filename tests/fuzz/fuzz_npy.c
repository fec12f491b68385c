/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "io/arrays/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_npy array = { 0 };
    sal_status status = sali_npy_parse("fuzz", data, (int64_t)size, &array, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        double *values = fuzz_alloc(array.count, sizeof *values);
        int32_t *codes = fuzz_alloc(array.count, sizeof *codes);
        sali_npy_doubles(&array, values);
        sali_npy_codes(&array, "fuzz", codes, &err);
        free(values);
        free(codes);
        sali_npy_free(&array);
    }
    return 0;
}
