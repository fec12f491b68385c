/* SPDX-License-Identifier: MIT */
#include "fuzz_edges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_graph(&sali_format_qubo, data, size);
    return 0;
}
