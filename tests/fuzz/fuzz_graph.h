/* SPDX-License-Identifier: MIT */
/* What readers of networks promise. */
#ifndef FUZZ_GRAPH_H
#define FUZZ_GRAPH_H

#include "fuzz.h"

#include <math.h>

#include "models/content.h"

/* Every promise of content.h about a graph that was read. */
static inline void fuzz_check_graph(const sali_factor_graph *g)
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

#endif
