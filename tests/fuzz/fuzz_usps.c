/* SPDX-License-Identifier: MIT */
#include "fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_array(&sali_format_usps, data, size);
    return 0;
}
