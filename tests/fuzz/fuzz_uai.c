/* SPDX-License-Identifier: MIT */
#include "fuzz_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sali_format *const formats[] = { &sali_format_uai, &sali_format_uai_lg };
    for (int k = 0; k < 2; k++) {
        sali_content content = { 0 };
        if (fuzz_network(formats[k], data, size, &content)) {
            fuzz_check_graph(&content.network);
            sali_content_free(&content);
        }
    }
    return 0;
}
