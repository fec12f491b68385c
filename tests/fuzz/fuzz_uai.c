#include "fuzz.h"

#include <math.h>

#include "io/uai.h"

/* Every promise of uai.h about a graph that was read. */
static void check_graph(const sali_factor_graph *g)
{
    for (int64_t f = 0; f < g->factors; f++) {
        int64_t entries = 1;
        for (int64_t i = g->scope_begin[f]; i < g->scope_begin[f + 1]; i++) {
            if (g->scope[i] < 0 || g->scope[i] >= g->variables || g->states[g->scope[i]] < 1) {
                abort();
            }
            entries *= g->states[g->scope[i]];
        }
        if (entries != g->table_begin[f + 1] - g->table_begin[f]) {
            abort();
        }
    }
    for (int64_t i = 0; i < g->table_begin[g->factors]; i++) {
        if (isnan(g->log_table[i]) || g->log_table[i] == INFINITY) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_factor_graph graph = { 0 };
    sal_status status = sali_uai_parse("fuzz", data, (int64_t)size, &graph, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        check_graph(&graph);
        sali_factor_graph_free(&graph);
    }
    return 0;
}
