/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "io/arrays/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_scan scan = sali_scan_of("fuzz", data, (int64_t)size, SALI_BYTES, &err);
    sali_npy array = sali_npy_view(&scan);
    fuzz_check(scan.status, &err);
    if (scan.status == SAL_OK) {
        double *values = fuzz_alloc(array.count, sizeof *values);
        sali_npy_doubles(&array, values);
        free(values);
    }
    return 0;
}
