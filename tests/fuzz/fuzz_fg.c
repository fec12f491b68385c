/* SPDX-License-Identifier: MIT */
#include "fuzz_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sali_content content = { 0 };
    if (fuzz_network(&sali_format_fg, data, size, &content)) {
        fuzz_check_graph(&content.network);
        sali_content_free(&content);
    }
    return 0;
}
