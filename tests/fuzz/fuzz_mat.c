/* SPDX-License-Identifier: MIT */
#include "fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_numbers(&sali_format_mat, false, data, size);
    return 0;
}
