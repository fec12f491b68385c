/* SPDX-License-Identifier: MIT */
/* Graphs of the DIMACS challenges on cliques and colouring. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/format.h"
#include "io/graphs/graph_text.h"

/* ---- reading */

/* Read the line "p edge NODES EDGES" ("col" is the same as "edge"). Returns the number of edges. */
static int64_t read_problem(sali_scan *scan, int64_t *nodes)
{
    sali_token token = sali_scan_token(scan);
    if (!sali_token_is(&token, "p")) {
        sali_scan_expected(scan, &token, "a line 'p edge NODES EDGES'");
    }
    token = sali_scan_token(scan);
    if (!sali_token_is(&token, "edge") && !sali_token_is(&token, "col")) {
        sali_scan_expected(scan, &token, "edge or col");
    }
    return sali_graph_scan_counts(scan, nodes);
}

/* Allocate the node weights, NaN until each node's line has been read. */
static void make_weights(sali_scan *scan, sali_graph *g)
{
    if (g->nodes - 1 > sali_scan_room(scan)) {
        sali_scan_fail(scan, scan->line,
                       "the rest of the file cannot hold a weight for each of %lld nodes",
                       (long long)g->nodes);
    }
    g->node_weights = SALI_SCAN_ARRAY(scan, double, g->nodes);
    for (int64_t k = 0; g->node_weights && k < g->nodes; k++) {
        g->node_weights[k] = NAN;
    }
}

/* Read the rest of a line "n NODE WEIGHT". */
static void read_node(sali_scan *scan, sali_graph *g)
{
    int64_t node = sali_scan_int(scan, "a node", 1, g->nodes);
    double weight = sali_scan_double(scan, "the node's weight");
    if (!g->node_weights) {
        make_weights(scan, g);
    }
    if (scan->status == SAL_OK) {
        if (!isnan(g->node_weights[node - 1])) {
            sali_scan_fail(scan, scan->line, "node %lld has two weights", (long long)node);
        }
        g->node_weights[node - 1] = weight;
    }
    sali_graph_scan_line_end(scan, scan->line);
}

/* Fails if some nodes have a weight and others have none. */
static void check_nodes(sali_scan *scan, const sali_graph *g)
{
    for (int64_t k = 0; g->node_weights && k < g->nodes; k++) {
        if (isnan(g->node_weights[k])) {
            sali_scan_refuse(scan,
                             "node %lld has no weight; expected a line n for each node or for none",
                             (long long)k + 1);
        }
    }
}

/* Read one line. Lines d, v and x, about how a graph was made or where its nodes lie, are
 * skipped. */
static void read_line(sali_graph_reader *r)
{
    sali_token word = sali_scan_token(r->scan);
    if (sali_token_is(&word, "e")) {
        sali_graph_scan_edge(r);
    } else if (sali_token_is(&word, "n")) {
        read_node(r->scan, r->graph);
    } else if (sali_token_is(&word, "d") || sali_token_is(&word, "v") ||
               sali_token_is(&word, "x")) {
        while (sali_scan_on_line(r->scan, word.line)) {
            sali_scan_token(r->scan);
        }
    } else {
        sali_scan_expected(r->scan, &word, "a line e, n or c");
    }
}

/* ---- edges that are there twice */

/* Remove the edges e with marked[e]. */
static void remove_edges(sali_graph *g, const bool *marked)
{
    int64_t kept = 0;
    for (int64_t e = 0; e < g->edges; e++) {
        if (!marked[e]) {
            memmove(&g->pairs[2 * kept], &g->pairs[2 * e], 2 * sizeof *g->pairs);
            g->weights[kept++] = g->weights[e];
        }
    }
    g->edges = kept;
}

/* Remove repeated edges; fails if two edges between the same nodes have different weights. */
static void keep_first(sali_scan *scan, sali_graph *g)
{
    sali_sorted_edge *edges = sali_graph_sort_edges(g);
    bool *again = SALI_SCAN_ARRAY(scan, bool, g->edges);
    sali_scan_granted(scan, edges);
    for (int64_t e = 1; scan->status == SAL_OK && e < g->edges; e++) {
        const sali_sorted_edge *a = &edges[e - 1], *b = &edges[e];
        again[b->index] = sali_same_pair(a, b);
        if (sali_same_pair(a, b) && a->weight != b->weight) {
            sali_scan_refuse(scan,
                             "the edge between nodes %lld and %lld is there with weight %g and "
                             "with weight %g; expected one of them",
                             (long long)a->i + 1, (long long)a->j + 1, a->weight, b->weight);
        }
    }
    if (scan->status == SAL_OK) {
        remove_edges(g, again);
    }
    sali_free(edges);
    sali_free(again);
}

/* Read all lines; repeated edges count once, and the number of edges must fit the line p. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph *g = &out->graph;
    sali_graph_reader r = { .scan = scan, .graph = g };
    int64_t said = read_problem(scan, &g->nodes);
    while (sali_scan_more(scan)) {
        read_line(&r);
    }
    int64_t lines = g->edges;
    check_nodes(scan, g);
    keep_first(scan, g);
    /* Files with both directions of an edge count it once or twice. */
    if (said != lines && said != g->edges && (said % 2 != 0 || said / 2 != g->edges)) {
        sali_scan_refuse(scan, "has %lld edges; its line p says %lld", (long long)lines,
                         (long long)said);
    }
}

static bool recognise(sali_scan *scan)
{
    int64_t nodes;
    read_problem(scan, &nodes);
    return scan->status == SAL_OK;
}

/* ---- writing */

/* Merge parallel edges among n sorted ones, adding their weights: in this format an edge may appear
 * only once. Returns the number of edges left. */
static int64_t add_up(sali_sorted_edge *edges, int64_t n)
{
    int64_t kept = 0;
    for (int64_t e = 0; e < n; e++) {
        if (kept > 0 && sali_same_pair(&edges[kept - 1], &edges[e])) {
            edges[kept - 1].weight += edges[e].weight;
        } else {
            edges[kept++] = edges[e];
        }
    }
    return kept;
}

/* Write the line of an edge; a weight of 1 is left out, as most readers expect. */
static void put_edge(sali_text_output *w, const sali_sorted_edge *e, const int64_t *numbers)
{
    sali_put(w, "e %lld %lld", (long long)numbers[e->i], (long long)numbers[e->j]);
    if (e->weight != 1) {
        sali_put(w, " %g", e->weight);
    }
    sali_put_raw(w, "\n");
}

/* Write the graph, edges in ascending order; fails for energies, and for names that are no
 * numbers. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    sali_graph_refuse_energy(w, g);
    int64_t *numbers = sali_graph_number(w, g), n = 0;
    sali_sorted_edge *edges = sali_graph_sort_edges(g);
    if (sali_text_granted(w, edges)) {
        n = add_up(edges, g->edges);
    }
    for (int64_t e = 0; e < n; e++) {
        if (!isfinite(edges[e].weight)) {
            sali_text_fail(w, SAL_ERR_ARGUMENT,
                           "the weights of the edges between two nodes add up to %g",
                           edges[e].weight);
        }
    }
    sali_put(w, "p edge %lld %lld\n", (long long)g->nodes, (long long)n);
    for (int64_t k = 0; g->node_weights && k < g->nodes && w->status == SAL_OK; k++) {
        sali_put(w, "n %lld %g\n", (long long)numbers[k], g->node_weights[k]);
    }
    for (int64_t e = 0; e < n && w->status == SAL_OK; e++) {
        put_edge(w, &edges[e], numbers);
    }
    sali_free(numbers);
    sali_free(edges);
}

const sali_format sali_format_dimacs = {
    .name = "dimacs",
    .doc = "DIMACS cliques and colouring: p edge, e i j, n i weight; a repeated edge is one edge",
    .suffixes = { ".dimacs", ".col", ".clq" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .recognise = recognise,
    .comments = SALI_COMMENT_LETTER_C,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
