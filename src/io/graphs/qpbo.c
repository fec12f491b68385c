/* SPDX-License-Identifier: MIT */
/* Energies x'Qx of a symmetric matrix Q whose entries are listed once for a pair: the text of
 * toulbar2 (.qpbo) and of the Biq Mac library (.sparse, .bq). */
#include "core/alloc.h"
#include "io/format.h"
#include "io/graphs/graph_energy.h"

/* ---- reading */

/* What the line of counts says. */
typedef struct problem {
    int64_t nodes, entries;
    bool spins;    /* the number of variables is negative */
    bool maximise; /* the number of entries is negative */
} problem;

/* Read "VARIABLES ENTRIES". */
static problem read_counts(sali_scan *scan)
{
    int64_t text = scan->end - scan->begin;
    int64_t most = text > SALI_GRAPH_FREE_WEIGHTS ? text : SALI_GRAPH_FREE_WEIGHTS;
    int64_t n = sali_scan_int(scan, "the number of variables", -most, most), line = scan->line;
    int64_t m = sali_scan_int(scan, "the number of entries", -INT64_MAX, INT64_MAX);
    if (n == 0) {
        sali_scan_fail(scan, line, "expected at least one variable");
    }
    if (scan->line != line) {
        sali_scan_fail(scan, line, "expected 'VARIABLES ENTRIES' on one line");
    }
    sali_graph_scan_line_end(scan, line);
    return (problem){ n < 0 ? -n : n, m < 0 ? -m : m, n < 0, m < 0 };
}

/* Change the sign of all numbers: what is to be maximised becomes an energy. */
static void negate(sali_graph *g)
{
    for (int64_t k = 0; g->node_weights && k < g->nodes; k++) {
        g->node_weights[k] = -g->node_weights[k];
    }
    for (int64_t e = 0; e < g->edges; e++) {
        g->weights[e] = -g->weights[e];
    }
}

/* Whether the edges have a pair in both orders; false when out of memory. */
static bool has_both_orders(sali_scan *scan, const sali_graph *g)
{
    sali_sorted_edge *edges = sali_graph_sort_edges(g);
    bool both = false;
    for (int64_t e = 1; sali_scan_granted(scan, edges) && !both && e < g->edges; e++) {
        const int64_t a = edges[e - 1].index, b = edges[e].index;
        both = sali_same_pair(&edges[e - 1], &edges[e]) && g->pairs[2 * a] != g->pairs[2 * b];
    }
    sali_free(edges);
    return both;
}

/* Remark on what other programs may read otherwise. */
static void add_remarks(sali_scan *scan, const problem *p, sali_content *out)
{
    if (scan->status == SAL_OK && has_both_orders(scan, &out->graph)) {
        scan->status = sali_remark_add(&out->remark, true, scan->err,
                                       "some pairs are listed as i j and as j i; each entry counts "
                                       "twice, as in toulbar2, so list a pair once");
    }
    if (scan->status == SAL_OK && p->maximise) {
        scan->status = sali_remark_add(&out->remark, false, scan->err,
                                       "the number of entries is negative: the sum is to be "
                                       "maximised, and f is the sum itself");
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph_reader r = { .scan = scan, .graph = &out->graph };
    const problem p = read_counts(scan);
    r.graph->nodes = p.nodes;
    r.graph->vartype = p.spins ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
    if (p.entries > sali_scan_room(scan) / 3 + 1) {
        sali_scan_fail(scan, scan->line, "%lld entries, more than the rest of the file can hold",
                       (long long)p.entries);
    }
    for (int64_t e = 0; e < p.entries && scan->status == SAL_OK; e++) {
        sali_graph_scan_entry(&r, 1, 2);
    }
    sali_scan_end(scan);
    sali_graph_check_biases(scan, r.graph);
    if (p.maximise) {
        negate(r.graph);
    }
    add_remarks(scan, &p, out);
}

/* Whether the file begins with two counts and an entry. */
static bool recognise(sali_scan *scan)
{
    const problem p = read_counts(scan);
    if (p.entries > 0 && scan->status == SAL_OK) {
        sali_scan_int(scan, "", 1, p.nodes);
        sali_scan_int(scan, "", 1, p.nodes);
        sali_scan_double(scan, "");
        sali_graph_scan_line_end(scan, scan->line);
    }
    return scan->status == SAL_OK;
}

/* ---- writing */

/* Write the energy as it is, of binary variables or spins; half the weight of an edge is its
 * entry. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    int64_t diagonals = 0;
    sali_graph_refuse_weights(w, g);
    int64_t *numbers = sali_graph_number(w, g);
    for (int64_t k = 0; g->node_weights && k < g->nodes; k++) {
        diagonals += g->node_weights[k] != 0;
    }
    sali_put(w, "%s%lld %lld\n", g->vartype == SALI_VARTYPE_SPIN ? "-" : "", (long long)g->nodes,
             (long long)(diagonals + g->edges));
    for (int64_t k = 0; g->node_weights && k < g->nodes && w->status == SAL_OK; k++) {
        if (g->node_weights[k] != 0) {
            sali_put(w, "%lld %lld %g\n", (long long)numbers[k], (long long)numbers[k],
                     g->node_weights[k]);
        }
    }
    for (int64_t e = 0; e < g->edges && w->status == SAL_OK; e++) {
        int64_t i = numbers[g->pairs[2 * e]], j = numbers[g->pairs[2 * e + 1]];
        sali_put(w, "%lld %lld %g\n", (long long)(i < j ? i : j), (long long)(i < j ? j : i),
                 g->weights[e] / 2);
    }
    sali_graph_drop_offset(w, g->offset);
    sali_free(numbers);
}

const sali_format sali_format_qpbo = {
    .name = "qpbo",
    .doc = "energies x'Qx of toulbar2 and Biq Mac: \"variables entries\", then \"i j value\" from "
           "1, where a pair counts twice; f is minus the energy",
    .suffixes = { ".qpbo", ".sparse", ".bq" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .comments = SALI_COMMENT_HASH,
    .recognise = recognise,
    .needs_suffix = true,
    .parse = parse,
    .write = write,
};
