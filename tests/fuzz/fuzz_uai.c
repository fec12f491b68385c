/* SPDX-License-Identifier: MIT */
#include "fuzz_graph.h"

#include "io/networks/uai.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_factor_graph graph = { 0 };
    sal_status status = sali_uai_parse("fuzz", data, (int64_t)size, &graph, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        fuzz_check_graph(&graph);
        sali_factor_graph_free(&graph);
    }
    return 0;
}
