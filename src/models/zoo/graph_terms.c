/* SPDX-License-Identifier: MIT */
#include "models/zoo/graph_terms.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* ---- each pair once */

/* Copy the pairs `from` [edges x 2] to `to`, sorted by their first (by = 0) or second (by = 1)
 * node; stable. begin [nodes + 1] is scratch. */
static void sort_pairs(int64_t nodes, int64_t edges, const int64_t *from, int by, int64_t *begin,
                       int64_t *to)
{
    memset(begin, 0, (size_t)(nodes + 1) * sizeof *begin);
    for (int64_t e = 0; e < edges; e++) {
        begin[from[2 * e + by] + 1]++;
    }
    for (int64_t i = 0; i < nodes; i++) {
        begin[i + 1] += begin[i];
    }
    for (int64_t e = 0; e < edges; e++) {
        int64_t at = begin[from[2 * e + by]]++;
        to[2 * at] = from[2 * e];
        to[2 * at + 1] = from[2 * e + 1];
    }
}

int64_t sali_graph_pairs(const sali_graph *graph, int64_t *pairs)
{
    int64_t *work = SALI_NEW_ARRAY(int64_t, 2 * graph->edges), n = 0;
    int64_t *begin = SALI_NEW_ARRAY(int64_t, graph->nodes + 1);
    bool ok = work && begin;
    for (int64_t e = 0; ok && e < graph->edges; e++) {
        int64_t i = graph->pairs[2 * e], j = graph->pairs[2 * e + 1];
        pairs[2 * e] = i < j ? i : j;
        pairs[2 * e + 1] = i < j ? j : i;
    }
    if (ok) {
        sort_pairs(graph->nodes, graph->edges, pairs, 1, begin, work);
        sort_pairs(graph->nodes, graph->edges, work, 0, begin, pairs);
    }
    for (int64_t e = 0; ok && e < graph->edges; e++) {
        if (n == 0 || memcmp(&pairs[2 * e], &pairs[2 * n - 2], 2 * sizeof *pairs) != 0) {
            memmove(&pairs[2 * n++], &pairs[2 * e], 2 * sizeof *pairs);
        }
    }
    sali_free(work);
    sali_free(begin);
    return ok ? n : -1;
}

double sali_graph_node_weights(const sali_graph *graph, double *weights)
{
    double largest = 0;
    for (int64_t i = 0; i < graph->nodes; i++) {
        weights[i] = graph->node_weights ? graph->node_weights[i] : 1;
        largest = weights[i] > largest ? weights[i] : largest;
    }
    return largest > 0 ? largest : 1;
}

/* Index of the first weight [n] that is too large or NaN; -1 if there is none. */
static int64_t find_large(int64_t n, const double *weights)
{
    for (int64_t k = 0; weights && k < n; k++) {
        if (!(fabs(weights[k]) <= SALI_GRAPH_LARGEST)) {
            return k;
        }
    }
    return -1;
}

sal_status sali_graph_check(const char *model, const sali_graph *graph, bool energies,
                            sal_error *err)
{
    if (graph->vartype != SALI_VARTYPE_NONE && !energies) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s is made of weights, and this graph holds energies of %s variables; "
                         "ising:file=PATH takes them",
                         model, graph->vartype == SALI_VARTYPE_SPIN ? "spin" : "binary");
    }
    if (graph->nodes > SALI_GRAPH_NODES) {
        return sali_fail(err, SAL_ERR_DATA, "%s: a graph of %lld nodes; expected at most %lld",
                         model, (long long)graph->nodes, (long long)SALI_GRAPH_NODES);
    }
    int64_t edge = find_large(graph->edges, graph->weights);
    int64_t node = find_large(graph->nodes, graph->node_weights);
    if (edge < 0 && node < 0) {
        return SAL_OK;
    }
    return sali_fail(err, SAL_ERR_DATA, "%s: %s %lld weighs %g; expected a size of at most %g",
                     model, edge >= 0 ? "edge" : "node", (long long)(edge >= 0 ? edge : node),
                     edge >= 0 ? graph->weights[edge] : graph->node_weights[node],
                     SALI_GRAPH_LARGEST);
}

/* ---- equal labels */

/* Fill `tables` [edges x states x states] with w_e [k = l], and begin [edges + 1] with the starts
 * of the edges' scopes. */
static void fill_tables(int64_t states, const sali_graph *graph, double *tables, int64_t *begin)
{
    for (int64_t e = 0; e < graph->edges; e++) {
        begin[e + 1] = 2 * (e + 1);
        for (int64_t k = 0; k < states; k++) {
            tables[(e * states + k) * states + k] = graph->weights ? graph->weights[e] : 1;
        }
    }
}

sal_status sali_graph_equal(sal_expr scale, int64_t states, const sali_graph *graph, sal_expr *out,
                            sal_error *err)
{
    int64_t edges = graph->edges;
    if (edges == 0) {
        *out = sal_mul(scale, sal_scale(sal_sum(sal_state(scale.tape)), 0.0));
        return SAL_OK;
    }
    if (edges > SALI_EQUAL_ENTRIES / (states * states)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%lld edges between sites of %lld labels: their tables have more than "
                         "%lld entries",
                         (long long)edges, (long long)states, (long long)SALI_EQUAL_ENTRIES);
    }
    double *tables = SALI_NEW_ARRAY(double, edges *states *states);
    int64_t *begin = SALI_NEW_ARRAY(int64_t, edges + 1);
    sal_status status = tables && begin ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        fill_tables(states, graph, tables, begin);
        sal_expr T = sal_constant(scale.tape, tables, SAL_SHAPE(edges * states * states));
        *out = sal_table(scale.tape, sal_mul(scale, T), edges, begin, graph->pairs);
    }
    sali_free(tables);
    sali_free(begin);
    return status;
}
