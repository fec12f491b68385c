/* SPDX-License-Identifier: MIT */
/* Graphs against what they should be. */
#ifndef GRAPH_CHECK_H
#define GRAPH_CHECK_H

#include "core/alloc.h"
#include "io/format.h"
#include "test.h"

typedef struct graph_edge {
    int64_t i, j;
    double weight;
} graph_edge;

/* The literal's text as a graph of the format. */
static inline sal_status graph_parse(const sali_format *format, const char *text, sali_graph *out,
                                     sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(format, "f", text, (int64_t)strlen(text), &content, err);
    ck_assert(content.kind == (status ? SALI_CONTENT_NONE : SALI_CONTENT_GRAPH));
    if (status == SAL_OK) {
        *out = content.graph;
        sali_remark_free(&content.remark);
    }
    return status;
}

/* Nodes and edges in this order, bit by bit; names and node_weights may be NULL. */
static inline void graph_check(const sali_graph *g, int64_t nodes, const char *const *names,
                               const double *node_weights, int64_t edges, const graph_edge *want)
{
    ck_assert_int_eq(g->nodes, nodes);
    ck_assert_int_eq(g->edges, edges);
    ck_assert_int_eq(!g->names, !names);
    ck_assert_int_eq(!g->node_weights, !node_weights);
    for (int64_t k = 0; names && k < nodes; k++) {
        ck_assert_str_eq(g->names[k], names[k]);
    }
    if (node_weights) {
        ck_assert_mem_eq(g->node_weights, node_weights, (size_t)nodes * sizeof *node_weights);
    }
    for (int64_t e = 0; e < edges; e++) {
        ck_assert_int_eq(g->pairs[2 * e], want[e].i);
        ck_assert_int_eq(g->pairs[2 * e + 1], want[e].j);
        ck_assert_mem_eq(&g->weights[e], &want[e].weight, sizeof(double));
    }
}

static inline void graph_check_same(const sali_graph *a, const sali_graph *b)
{
    ck_assert_int_eq(a->nodes, b->nodes);
    ck_assert_int_eq(a->edges, b->edges);
    ck_assert_int_eq(a->vartype, b->vartype);
    ck_assert_int_eq(!a->names, !b->names);
    ck_assert_int_eq(!a->node_weights, !b->node_weights);
    for (int64_t k = 0; a->names && k < a->nodes; k++) {
        ck_assert_str_eq(a->names[k], b->names[k]);
    }
    if (a->node_weights) {
        ck_assert_mem_eq(a->node_weights, b->node_weights, (size_t)a->nodes * sizeof(double));
    }
    if (a->edges > 0) {
        ck_assert_mem_eq(a->pairs, b->pairs, (size_t)(2 * a->edges) * sizeof(int64_t));
        ck_assert_mem_eq(a->weights, b->weights, (size_t)a->edges * sizeof(double));
    }
}

/* A graph of these edges without names; its arrays are the library's. */
static inline sali_graph graph_make(int64_t nodes, int64_t edges, const graph_edge *list)
{
    sali_graph g = { .nodes = nodes, .edges = edges };
    g.pairs = SALI_NEW_ARRAY(int64_t, 2 * edges);
    g.weights = SALI_NEW_ARRAY(double, edges);
    for (int64_t e = 0; e < edges; e++) {
        g.pairs[2 * e] = list[e].i;
        g.pairs[2 * e + 1] = list[e].j;
        g.weights[e] = list[e].weight;
    }
    return g;
}

/* The value of variable v in state `state`, whose bit v is its code. */
static inline double graph_value(sali_vartype vartype, int state, int64_t v)
{
    int code = state >> v & 1;
    return vartype == SALI_VARTYPE_SPIN ? 2 * code - 1 : code;
}

/* The graph's energy in a state. */
static inline double graph_energy(const sali_graph *g, int state)
{
    double sum = g->offset;
    for (int64_t v = 0; g->node_weights && v < g->nodes; v++) {
        sum += g->node_weights[v] * graph_value(g->vartype, state, v);
    }
    for (int64_t e = 0; e < g->edges; e++) {
        sum += g->weights[e] * graph_value(g->vartype, state, g->pairs[2 * e]) *
               graph_value(g->vartype, state, g->pairs[2 * e + 1]);
    }
    return sum;
}

/* energies [2^n] of all states, by state. */
static inline void graph_check_energies(const sali_graph *g, int64_t n, const double *energies)
{
    ck_assert_int_eq(g->nodes, n);
    for (int state = 0; state < 1 << n; state++) {
        ck_assert_double_eq_tol(graph_energy(g, state), energies[state], 1e-12);
    }
}

#endif
