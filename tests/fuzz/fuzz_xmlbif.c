/* SPDX-License-Identifier: MIT */
#include "fuzz_graph.h"

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
    sali_content content = { 0 };
    if (fuzz_network(&sali_format_xmlbif, data, size, &content)) {
        fuzz_check_graph(&content.network);
        check_network(&content.network);
        sali_content_free(&content);
    }
    return 0;
}
