/* SPDX-License-Identifier: MIT */
/* Graphs of the DIMACS challenges on cliques and colouring. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/format.h"
#include "io/graphs/graph_text.h"
#include "io/text_output.h"

/* ---- reading */

/* p edge NODES EDGES; "col" is the same. */
static sal_status read_problem(sali_scan *scan, int64_t *nodes, int64_t *edges, sal_error *err)
{
    sali_token token;
    sal_status status = sali_scan_token(scan, &token, err);
    if (status == SAL_OK && !sali_token_is(&token, "p")) {
        status = sali_scan_expected(scan, &token, "a line 'p edge NODES EDGES'", err);
    }
    status = status ? status : sali_scan_token(scan, &token, err);
    if (status == SAL_OK && !sali_token_is(&token, "edge") && !sali_token_is(&token, "col")) {
        status = sali_scan_expected(scan, &token, "edge or col", err);
    }
    return status ? status : sali_graph_scan_counts(scan, nodes, edges, err);
}

/* n NODE WEIGHT; until the end a weight of NaN says that the node had no line. */
static sal_status read_node(sali_scan *scan, sali_graph *g, sal_error *err)
{
    int64_t node;
    double weight;
    sal_status status = sali_scan_int(scan, "a node", 1, g->nodes, &node, err);
    status = status ? status : sali_scan_double(scan, "the node's weight", &weight, err);
    if (status == SAL_OK && !g->node_weights && g->nodes - 1 > sali_scan_room(scan)) {
        status = sali_scan_fail(scan, scan->line, err,
                                "the rest of the file cannot hold a weight for each of %lld nodes",
                                (long long)g->nodes);
    }
    if (status == SAL_OK && !g->node_weights) {
        g->node_weights = SALI_NEW_ARRAY(double, g->nodes);
        status = g->node_weights ? SAL_OK : sali_fail_memory(err);
        for (int64_t k = 0; status == SAL_OK && k < g->nodes; k++) {
            g->node_weights[k] = NAN;
        }
    }
    if (status == SAL_OK && !isnan(g->node_weights[node - 1])) {
        status =
            sali_scan_fail(scan, scan->line, err, "node %lld has two weights", (long long)node);
    }
    if (status == SAL_OK) {
        g->node_weights[node - 1] = weight;
        status = sali_graph_scan_line_end(scan, scan->line, err);
    }
    return status;
}

static sal_status check_nodes(const char *name, const sali_graph *g, sal_error *err)
{
    for (int64_t k = 0; g->node_weights && k < g->nodes; k++) {
        if (isnan(g->node_weights[k])) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: node %lld has no weight; expected a line n for each node or for "
                             "none",
                             name, (long long)k + 1);
        }
    }
    return SAL_OK;
}

/* Lines d, v and x tell of how a graph was made, or of coordinates. */
static void skip_line(sali_scan *scan, int64_t line)
{
    sali_token token;
    while (sali_scan_on_line(scan, line)) {
        sali_scan_token(scan, &token, NULL);
    }
}

static sal_status read_line(sali_scan *scan, const sali_token *word, sali_graph_reader *r,
                            sal_error *err)
{
    if (sali_token_is(word, "e")) {
        int64_t pair[2];
        double weight = 1;
        sal_status status = sali_graph_scan_edge(scan, r->graph->nodes, pair, &weight, err);
        return status ? status : sali_graph_add(r, pair[0], pair[1], weight, err);
    }
    if (sali_token_is(word, "n")) {
        return read_node(scan, r->graph, err);
    }
    if (sali_token_is(word, "d") || sali_token_is(word, "v") || sali_token_is(word, "x")) {
        skip_line(scan, word->line);
        return SAL_OK;
    }
    return sali_scan_expected(scan, word, "a line e, n or c", err);
}

/* ---- edges that are there twice */

typedef struct edge {
    int64_t i, j, index; /* i < j; `index` in the file */
    double weight;
} edge;

static int by_pair(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->i != y->i) {
        return x->i < y->i ? -1 : 1;
    }
    if (x->j != y->j) {
        return x->j < y->j ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* The edges in ascending order; NULL when out of memory. */
static edge *sort_edges(const sali_graph *g)
{
    edge *edges = SALI_NEW_ARRAY(edge, g->edges);
    for (int64_t e = 0; edges && e < g->edges; e++) {
        int64_t i = g->pairs[2 * e], j = g->pairs[2 * e + 1];
        edges[e] = (edge){ i < j ? i : j, i < j ? j : i, e, g->weights[e] };
    }
    if (edges) {
        qsort(edges, (size_t)g->edges, sizeof *edges, by_pair);
    }
    return edges;
}

static bool same_pair(const edge *a, const edge *b)
{
    return a->i == b->i && a->j == b->j;
}

/* Drop the edges marked. */
static void drop(sali_graph *g, const bool *marked)
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

/* Keep the first of each pair; DATA when another has another weight. */
static sal_status keep_first(const char *name, sali_graph *g, sal_error *err)
{
    edge *edges = sort_edges(g);
    bool *again = SALI_NEW_ARRAY(bool, g->edges);
    sal_status status = edges && again ? SAL_OK : sali_fail_memory(err);
    for (int64_t e = 1; status == SAL_OK && e < g->edges; e++) {
        const edge *a = &edges[e - 1], *b = &edges[e];
        again[b->index] = same_pair(a, b);
        if (same_pair(a, b) && a->weight != b->weight) {
            status =
                sali_fail(err, SAL_ERR_DATA,
                          "%s: the edge between nodes %lld and %lld is there with weight %g "
                          "and with weight %g; expected one of them",
                          name, (long long)a->i + 1, (long long)a->j + 1, a->weight, b->weight);
        }
    }
    if (status == SAL_OK) {
        drop(g, again);
    }
    sali_free(edges);
    sali_free(again);
    return status;
}

/* Files with both directions of an edge count it once or twice. */
static sal_status check_count(const char *name, int64_t said, int64_t lines, int64_t edges,
                              sal_error *err)
{
    if (said == lines || said == edges || (said % 2 == 0 && said / 2 == edges)) {
        return SAL_OK;
    }
    return sali_fail(err, SAL_ERR_DATA, "%s: has %lld edges; its line p says %lld", name,
                     (long long)lines, (long long)said);
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, name, data, size, SALI_COMMENT_LETTER_C);
    sali_graph_reader r = { .graph = &out->graph };
    int64_t said = 0, lines;
    sal_status status = read_problem(&scan, &r.graph->nodes, &said, err);
    while (status == SAL_OK) {
        sali_token word;
        status = sali_scan_token(&scan, &word, err);
        if (status != SAL_OK || word.size == 0) {
            break;
        }
        status = read_line(&scan, &word, &r, err);
    }
    lines = r.graph->edges;
    status = status ? status : check_nodes(name, r.graph, err);
    status = status ? status : keep_first(name, r.graph, err);
    status = status ? status : check_count(name, said, lines, r.graph->edges, err);
    return status;
}

static bool recognise(const char *data, int64_t size)
{
    sali_scan scan;
    int64_t nodes, edges;
    sali_scan_init(&scan, "", data, size, SALI_COMMENT_LETTER_C);
    return read_problem(&scan, &nodes, &edges, NULL) == SAL_OK;
}

/* ---- writing */

/* Weights of parallel edges add up, and here an edge can be there once only: sums in place of
 * sorted edges, and their number. */
static int64_t add_up(edge *edges, int64_t n)
{
    int64_t kept = 0;
    for (int64_t e = 0; e < n; e++) {
        if (kept > 0 && same_pair(&edges[kept - 1], &edges[e])) {
            edges[kept - 1].weight += edges[e].weight;
        } else {
            edges[kept++] = edges[e];
        }
    }
    return kept;
}

/* A weight of 1 is left out, as most readers expect. */
static void put_edge(sali_text_output *w, const edge *e, const int64_t *numbers)
{
    sali_put(w, "e %lld %lld", (long long)numbers[e->i], (long long)numbers[e->j]);
    if (e->weight != 1) {
        sali_put(w, " %g", e->weight);
    }
    sali_put_raw(w, "\n");
}

static sal_status put_graph(const char *path, const sali_graph *g, const edge *edges, int64_t n,
                            const int64_t *numbers, sal_error *err)
{
    sali_text_output w;
    sali_text_open(&w, path, false, err);
    sali_put(&w, "p edge %lld %lld\n", (long long)g->nodes, (long long)n);
    for (int64_t k = 0; g->node_weights && k < g->nodes && w.status == SAL_OK; k++) {
        sali_put(&w, "n %lld %g\n", (long long)numbers[k], g->node_weights[k]);
    }
    for (int64_t e = 0; e < n && w.status == SAL_OK; e++) {
        put_edge(&w, &edges[e], numbers);
    }
    return sali_text_close(&w);
}

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    const sali_graph *g = &content->graph;
    int64_t *numbers = SALI_NEW_ARRAY(int64_t, g->nodes);
    edge *edges = sort_edges(g);
    sal_status status = numbers && edges ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sali_graph_refuse_energy(path, g, err);
    status = status ? status : sali_graph_number(path, g, numbers, err);
    int64_t n = status == SAL_OK ? add_up(edges, g->edges) : 0;
    for (int64_t e = 0; e < n && status == SAL_OK; e++) {
        if (!isfinite(edges[e].weight)) {
            status = sali_fail(err, SAL_ERR_ARGUMENT,
                               "%s: the weights of the edges between two nodes add up to %g", path,
                               edges[e].weight);
        }
    }
    status = status ? status : put_graph(path, g, edges, n, numbers, err);
    sali_free(numbers);
    sali_free(edges);
    return status;
}

const sali_format sali_format_dimacs = {
    .name = "dimacs",
    .doc = "DIMACS cliques and colouring: p edge, e i j, n i weight; a repeated edge is one edge",
    .suffixes = { ".dimacs", ".col", ".clq" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
