/* SPDX-License-Identifier: MIT */
#include "fuzz_alignment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_alignment(&sali_format_fasta, data, size);
}
