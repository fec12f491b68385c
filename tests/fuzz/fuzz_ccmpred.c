/* SPDX-License-Identifier: MIT */
#include "fuzz_potts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_potts(&sali_format_ccmpred, data, size);
    return 0;
}
