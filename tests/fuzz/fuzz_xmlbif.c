/* SPDX-License-Identifier: MIT */
#include "fuzz_graph.h"

#include "io/networks/xmlbif.h"

/* Rows sum to 1, and everything has a name. */
static void check_network(const sali_factor_graph *g)
{
    for (int64_t f = 0; f < g->factors; f++) {
        int32_t states = g->states[g->scope[g->scope_begin[f + 1] - 1]];
        for (int64_t i = g->table_begin[f]; i < g->table_begin[f + 1]; i += states) {
            double sum = 0;
            for (int32_t k = 0; k < states; k++) {
                sum += exp(g->log_table[i + k]);
            }
            if (fabs(sum - 1) > 1e-9) {
                abort();
            }
        }
    }
    for (int64_t v = 0; v < g->variables; v++) {
        for (int32_t k = 0; k < g->states[v]; k++) {
            if (!*g->names[v] || !*g->state_names[v][k]) {
                abort();
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_factor_graph graph = { 0 };
    sal_status status = sali_xmlbif_parse("fuzz", data, (int64_t)size, &graph, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        fuzz_check_graph(&graph);
        check_network(&graph);
        sali_factor_graph_free(&graph);
    }
    return 0;
}
