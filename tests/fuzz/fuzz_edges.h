/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of graph formats share. */
#ifndef FUZZ_EDGES_H
#define FUZZ_EDGES_H

#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "io/format.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every promise of content.h about a graph that was read. Sorts the names. */
static inline void fuzz_check_edges(const sali_graph *g)
{
    if (g->nodes < 1 || g->edges < 0 || !isfinite(g->offset)) {
        abort();
    }
    for (int64_t e = 0; e < g->edges; e++) {
        int64_t i = g->pairs[2 * e], j = g->pairs[2 * e + 1];
        if (i < 0 || i >= g->nodes || j < 0 || j >= g->nodes || i == j ||
            !isfinite(g->weights[e])) {
            abort();
        }
    }
    for (int64_t k = 0; g->node_weights && k < g->nodes; k++) {
        if (!isfinite(g->node_weights[k])) {
            abort();
        }
    }
    if (g->names) {
        qsort(g->names, (size_t)g->nodes, sizeof *g->names, by_text);
    }
    for (int64_t k = 1; g->names && k < g->nodes; k++) {
        if (strcmp(g->names[k - 1], g->names[k]) == 0) {
            abort();
        }
    }
}

static inline void fuzz_graph(const sali_format *format, const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    sali_format_recognises(format, data, (int64_t)size);
    sal_status status =
        sali_format_parse(format, "fuzz", (const char *)data, (int64_t)size, &content, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        fuzz_check_edges(&content.graph);
        sali_content_free(&content);
    }
}

#endif
