/* SPDX-License-Identifier: MIT */
/* What readers of networks promise. */
#ifndef FUZZ_GRAPH_H
#define FUZZ_GRAPH_H

#include "fuzz.h"

#include <math.h>

#include "io/format.h"

/* Read it; false if it is refused. */
static inline bool fuzz_network(const sali_format *format, const uint8_t *data, size_t size,
                                sali_content *content)
{
    sal_error err = { 0 };
    sali_format_recognises(format, data, (int64_t)size);
    sal_status status =
        sali_format_parse(format, "fuzz", (const char *)data, (int64_t)size, content, &err);
    fuzz_check(status, &err);
    return status == SAL_OK;
}

/* Every promise of content.h about a network that was read. */
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

/* Those of Bayesian networks with names: rows sum to 1, and everything has a name. */
static inline void fuzz_check_bayes(const sali_factor_graph *g)
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

#endif
