/* SPDX-License-Identifier: MIT */
/* Graphs by hand, and the models over them as formulas in plain C. */
#ifndef GRAPH_FORMULAS_H
#define GRAPH_FORMULAS_H

#include "model_checks.h"

#include "models/zoo/builtin.h"

/* ---- graphs by hand */

/* Eight nodes; the pair 0 - 3 is there twice, once the other way round; 7 has no edge. */
static int64_t odd_pairs[] = { 0, 1, 1, 2, 2, 0, 3, 0, 4, 5, 0, 3, 6, 2, 5, 6, 4, 1 };
static double odd_weights[] = { 1, 2, -0.5, 1.5, 3, 0.25, -2, 1, 0.75 };
static double odd_nodes[] = { 0.5, -1, 2, 0.25, 1.5, 3, -0.75, 1 };

static inline sali_content odd_graph(bool node_weights, sali_vartype vartype)
{
    sali_content content = { .kind = SALI_CONTENT_GRAPH };
    content.graph = (sali_graph){ .nodes = 8,
                                  .edges = 9,
                                  .pairs = odd_pairs,
                                  .weights = odd_weights,
                                  .node_weights = node_weights ? odd_nodes : NULL,
                                  .vartype = vartype };
    return content;
}

static inline sal_model *make_of(const char *specification, const sali_content *content,
                                 sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sali_builtin_make(specification, content, dtype, &model, &err), &err);
    return model;
}

/* ---- formulas */

typedef struct graph_case {
    const sali_graph *graph;
    double theta, bias, beta, penalty;
    double low, high; /* of the variables */
} graph_case;

static inline double potts(const int32_t *codes, const void *data)
{
    const graph_case *t = data;
    double f = 0;
    for (int64_t e = 0; e < t->graph->edges; e++) {
        bool equal = codes[t->graph->pairs[2 * e]] == codes[t->graph->pairs[2 * e + 1]];
        f += equal ? 2 * t->theta * t->graph->weights[e] : 0;
    }
    return f;
}

static inline double cut(const int32_t *codes, const void *data)
{
    const graph_case *t = data;
    double f = 0;
    for (int64_t e = 0; e < t->graph->edges; e++) {
        bool across = codes[t->graph->pairs[2 * e]] != codes[t->graph->pairs[2 * e + 1]];
        f += across ? t->beta * t->graph->weights[e] : 0;
    }
    return f;
}

/* Weight of the selected nodes, and the pairs among them that have an edge, or have none. */
static inline double selection(const graph_case *t, const int32_t *codes, bool with_edge,
                               int *pairs)
{
    const sali_graph *g = t->graph;
    bool edge[16][16] = { { false } };
    double weight = 0;
    for (int64_t e = 0; e < g->edges; e++) {
        edge[g->pairs[2 * e]][g->pairs[2 * e + 1]] = true;
        edge[g->pairs[2 * e + 1]][g->pairs[2 * e]] = true;
    }
    *pairs = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        weight += codes[i] * (g->node_weights ? g->node_weights[i] : 1);
        for (int64_t j = 0; j < i; j++) {
            *pairs += codes[i] && codes[j] && edge[i][j] == with_edge;
        }
    }
    return weight;
}

/* The largest of odd_nodes, or of ones. */
static inline double largest_of(const sali_graph *graph)
{
    return graph->node_weights ? 3 : 1;
}

static inline double independent_set(const int32_t *codes, const void *data)
{
    const graph_case *t = data;
    int pairs;
    double weight = selection(t, codes, true, &pairs);
    return t->beta * (weight - t->penalty * largest_of(t->graph) * pairs);
}

static inline double clique(const int32_t *codes, const void *data)
{
    const graph_case *t = data;
    int pairs;
    double weight = selection(t, codes, false, &pairs);
    return t->beta * (weight - t->penalty * largest_of(t->graph) * pairs);
}

#endif
