/* SPDX-License-Identifier: MIT */
/* Writing networks in the UAI format. */
#include "io/networks/uai.h"

#include "io/text_output.h"

static void put_scope(sali_text_output *w, const sali_factor_graph *g, int64_t f)
{
    int64_t size = g->scope_begin[f + 1] - g->scope_begin[f];
    sali_put(w, "%lld%s", (long long)size, sali_separator(0, size + 1));
    for (int64_t i = 0; i < size; i++) {
        sali_put(w, "%d%s", g->scope[g->scope_begin[f] + i], sali_separator(i, size));
    }
}

static void put_table(sali_text_output *w, const sali_factor_graph *g, int64_t f)
{
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    sali_put(w, "%lld\n", (long long)entries);
    for (int64_t i = 0; i < entries; i++) {
        sali_put_exp(w, g->log_table[g->table_begin[f] + i], sali_separator(i, entries));
    }
}

sal_status sali_uai_write(const char *path, const sali_factor_graph *graph, sal_error *err)
{
    sali_text_output w;
    sali_text_open(&w, path, false, err);
    sali_put(&w, "%s\n%lld\n", graph->kind == SALI_FACTOR_BAYES ? "BAYES" : "MARKOV",
             (long long)graph->variables);
    for (int64_t v = 0; v < graph->variables; v++) {
        sali_put(&w, "%d%s", graph->states[v], sali_separator(v, graph->variables));
    }
    sali_put(&w, "%lld\n", (long long)graph->factors);
    for (int64_t f = 0; f < graph->factors && w.status == SAL_OK; f++) {
        put_scope(&w, graph, f);
    }
    for (int64_t f = 0; f < graph->factors && w.status == SAL_OK; f++) {
        put_table(&w, graph, f);
    }
    return sali_text_close(&w);
}
