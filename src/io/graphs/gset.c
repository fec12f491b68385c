/* SPDX-License-Identifier: MIT */
/* Graphs of max-cut collections: the G-set, rudy, Biq Mac. */
#include "core/alloc.h"
#include "io/format.h"
#include "io/graphs/graph_text.h"

/* ---- reading */

/* Read the line "n m", which the word MAX-CUT may precede. Returns m, the number of edges. */
static int64_t read_counts(sali_scan *scan, int64_t *nodes)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    sali_token token = sali_scan_token(&ahead);
    if (sali_token_is(&token, "MAX-CUT")) {
        sali_scan_token(scan);
    }
    return sali_graph_scan_counts(scan, nodes);
}

/* Read the counts and as many edges; nothing may follow. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph_reader r = { .scan = scan, .graph = &out->graph };
    int64_t edges = read_counts(scan, &r.graph->nodes);
    if (edges > sali_scan_room(scan) / 2) {
        sali_scan_fail(scan, scan->line, "%lld edges, more than the rest of the file can hold",
                       (long long)edges);
    }
    for (int64_t e = 0; e < edges && scan->status == SAL_OK; e++) {
        sali_graph_scan_edge(&r);
    }
    sali_scan_end(scan);
}

/* Whether the file begins with "n m" and an edge "i j" or "i j w" within these numbers; such files
 * have no common suffix. */
static bool recognise(sali_scan *scan)
{
    sali_graph graph = { 0 };
    sali_graph_reader r = { .scan = scan, .graph = &graph };
    if (read_counts(scan, &graph.nodes) > 0) {
        sali_graph_scan_edge(&r);
        sali_graph_free(&graph);
        return scan->status == SAL_OK;
    }
    return sali_scan_end(scan) == SAL_OK;
}

/* ---- writing */

/* Write the graph; fails for energies, node weights, and names that are no numbers. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    sali_graph_refuse_energy(w, g);
    if (sali_graph_has_node_weights(g)) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "this format has no weights of nodes; dimacs and graphml have");
    }
    int64_t *numbers = sali_graph_number(w, g);
    sali_put(w, "%lld %lld\n", (long long)g->nodes, (long long)g->edges);
    for (int64_t e = 0; e < g->edges && w->status == SAL_OK; e++) {
        sali_put(w, "%lld %lld %g\n", (long long)numbers[g->pairs[2 * e]],
                 (long long)numbers[g->pairs[2 * e + 1]], g->weights[e]);
    }
    sali_free(numbers);
}

const sali_format sali_format_gset = {
    .name = "gset",
    .doc = "max-cut (G-set, rudy, Biq Mac): \"nodes edges\", then \"i j weight\"; repeated edges "
           "add up",
    .suffixes = { ".gset", ".rud", ".rudy", ".mc" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .comments = SALI_COMMENT_HASH | SALI_COMMENT_LETTER_C | SALI_COMMENT_PERCENT,
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
