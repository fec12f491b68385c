/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "io/networks/uai.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int32_t states[4] = { 2, 3, 1, 100 };
    const sali_factor_graph graph = { .variables = 4, .states = states };
    int32_t observed[4];
    sal_error err = { 0 };
    sali_remark remark = { 0 };
    sal_status status = sali_uai_parse_evidence("fuzz", data, (int64_t)size, &graph,
                                                (int64_t)(size % 4), observed, &remark, &err);
    sali_remark_free(&remark);
    fuzz_check(status, &err);
    for (int v = 0; v < 4 && status == SAL_OK; v++) {
        if (observed[v] < -1 || observed[v] >= states[v]) {
            abort();
        }
    }
    return 0;
}
