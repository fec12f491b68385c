/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "io/arrays/idx.h"
#include "io/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    sali_npy array = { 0 };
    sal_status status = SAL_OK;
    const sali_packing *packing = sali_packing_of(data, (int64_t)size);
    if (packing) {
        status = sali_unpack(packing, "fuzz", data, (int64_t)size, 1 << 20, &bytes, &err);
        fuzz_check(status, &err);
        data = bytes.data;
        size = (size_t)bytes.size;
    }
    if (status == SAL_OK) {
        sali_scan scan = sali_scan_of("fuzz", data, (int64_t)size, SALI_BYTES, &err);
        array = sali_idx_view(&scan);
        status = scan.status;
        fuzz_check(status, &err);
    }
    if (status == SAL_OK) {
        double *values = fuzz_alloc(array.count, sizeof *values);
        sali_npy_doubles(&array, values);
        free(values);
    }
    sali_bytes_free(&bytes);
    return 0;
}
