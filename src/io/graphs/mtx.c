/* SPDX-License-Identifier: MIT */
/* Symmetric matrices in Matrix Market files, as SciPy, Julia and MATLAB write them: the weights of
 * a graph's edges or, if a comment "% vartype=BINARY" or the caller says so, an energy x'Ax. */
#include <math.h>

#include "core/alloc.h"
#include "io/format.h"
#include "io/graphs/graph_energy.h"

/* What the first line says. */
typedef struct banner {
    bool dense;     /* "array": all entries by columns; else "coordinate" */
    bool pattern;   /* entries have no value and are 1 */
    bool symmetric; /* the entries are of the lower triangle */
} banner;

/* ---- the first line */

/* Whether the next word is `yes` (true) or `no`; fails for another. */
static bool read_choice(sali_scan *line, const char *yes, const char *no, const char *expected)
{
    sali_token word = sali_scan_token(line);
    bool is = sali_token_is(&word, yes);
    if (!is && !sali_token_is(&word, no)) {
        sali_scan_expected(line, &word, expected);
    }
    return is;
}

/* Read "%%MatrixMarket matrix coordinate real symmetric" and the like, which the scanner itself
 * skips as a comment. */
static banner read_banner(sali_scan *scan)
{
    sali_scan line = *scan;
    banner b = { 0 };
    line.comments = 0;
    sali_token word = sali_scan_token(&line);
    if (!sali_token_is(&word, "%%MatrixMarket")) {
        sali_scan_expected(&line, &word, "a first line that begins with %%MatrixMarket");
    }
    read_choice(&line, "matrix", "matrix", "matrix");
    b.dense = read_choice(&line, "array", "coordinate", "coordinate or array");
    word = sali_scan_token(&line);
    b.pattern = sali_token_is(&word, "pattern");
    if (!sali_token_is(&word, "real") && !sali_token_is(&word, "integer") &&
        !sali_token_is(&word, "double") && (!b.pattern || b.dense)) {
        sali_scan_expected(&line, &word, "real, integer or (of coordinates) pattern");
    }
    b.symmetric = read_choice(&line, "symmetric", "general", "general or symmetric");
    if (line.line != 1) {
        sali_scan_fail(&line, 1, "expected five words on the first line");
    }
    sali_graph_scan_line_end(&line, 1);
    scan->status = line.status;
    return b;
}

/* ---- entries */

/* Add the entry of row i and column j, numbers from 0. A dense 0 is no edge. */
static void add_entry(sali_graph_reader *r, const banner *b, int64_t i, int64_t j, double value)
{
    if (i == j && value != 0) {
        sali_graph_make_biases(r->scan, r->graph);
        if (r->scan->status == SAL_OK) {
            r->graph->node_weights[i] += value;
        }
    } else if (i != j && (value != 0 || !b->dense)) {
        sali_graph_add(r, i, j, value);
    }
}

/* Read lines "i j value", or "i j" of a pattern. */
static void read_coordinates(sali_graph_reader *r, const banner *b)
{
    sali_scan *scan = r->scan;
    int64_t n = r->graph->nodes, size_line = scan->line;
    int64_t entries = sali_scan_int(scan, "the number of entries", 0, INT64_MAX);
    if (scan->line != size_line) {
        sali_scan_fail(scan, size_line, "expected 'rows columns entries' on one line");
    }
    sali_graph_scan_line_end(scan, scan->line);
    if (entries > sali_scan_room(scan)) {
        sali_scan_fail(scan, scan->line, "%lld entries, more than the rest of the file can hold",
                       (long long)entries);
    }
    for (int64_t e = 0; e < entries && scan->status == SAL_OK; e++) {
        int64_t i = sali_scan_int(scan, "a row", 1, n), line = scan->line;
        int64_t j = sali_scan_int(scan, "a column", 1, n);
        double value = b->pattern ? 1 : sali_scan_double(scan, "the entry");
        if (scan->line != line) {
            sali_scan_fail(scan, line, "expected 'row column%s' on one line",
                           b->pattern ? "" : " entry");
        }
        sali_graph_scan_line_end(scan, line);
        if (b->symmetric && j > i) {
            sali_scan_fail(scan, line,
                           "an entry above the diagonal; a symmetric matrix lists the others");
        }
        add_entry(r, b, i - 1, j - 1, value);
    }
}

/* Read the values by columns: all rows, or in a symmetric matrix those from the diagonal on. */
static void read_columns(sali_graph_reader *r, const banner *b)
{
    sali_scan *scan = r->scan;
    int64_t n = r->graph->nodes;
    sali_graph_scan_line_end(scan, scan->line);
    for (int64_t j = 0; j < n && scan->status == SAL_OK; j++) {
        for (int64_t i = b->symmetric ? j : 0; i < n && scan->status == SAL_OK; i++) {
            add_entry(r, b, i, j, sali_scan_double(scan, "the next entry"));
        }
    }
}

/* ---- what the matrix means */

/* Turn the entries into an energy x'Ax. The square of a spin is 1. */
static void make_energy(sali_graph *g, const banner *b)
{
    for (int64_t e = 0; b->symmetric && e < g->edges; e++) {
        g->weights[e] *= 2;
    }
    for (int64_t k = 0; g->vartype == SALI_VARTYPE_SPIN && g->node_weights && k < g->nodes; k++) {
        g->offset += g->node_weights[k];
        g->node_weights[k] = 0;
    }
}

/* Whether there are pairs of which one entry is listed, and of which both are. */
typedef struct sides {
    bool one, both;
} sides;

/* Merge the entries ij and ji of a general matrix, sorted by pairs: to one edge of their value or,
 * if the matrix has one of them only, of that entry. Fails if the two differ. Returns what there
 * was. */
static sides merge_entries(sali_scan *scan, sali_graph *g, const sali_sorted_edge *sorted)
{
    sides found = { false, false };
    int64_t kept = 0, edges = g->edges;
    int64_t *pairs = SALI_SCAN_ARRAY(scan, int64_t, 2 * edges);
    double *weights = SALI_SCAN_ARRAY(scan, double, edges);
    for (int64_t e = 0, next; scan->status == SAL_OK && e < edges; e = next) {
        double sum[2] = { 0, 0 };
        bool has[2] = { false, false };
        for (next = e; next < edges && sali_same_pair(&sorted[e], &sorted[next]); next++) {
            bool below = g->pairs[2 * sorted[next].index] > g->pairs[2 * sorted[next].index + 1];
            sum[below] += sorted[next].weight;
            has[below] = true;
        }
        bool both = has[0] && has[1];
        if (both && sum[0] != sum[1]) {
            sali_scan_refuse(scan,
                             "the entries (%lld, %lld) and (%lld, %lld) differ: %g and %g; the "
                             "edges of a graph have no direction",
                             (long long)sorted[e].i + 1, (long long)sorted[e].j + 1,
                             (long long)sorted[e].j + 1, (long long)sorted[e].i + 1, sum[0],
                             sum[1]);
        }
        found.both |= both;
        found.one |= !both;
        pairs[2 * kept] = sorted[e].i;
        pairs[2 * kept + 1] = sorted[e].j;
        weights[kept++] = has[0] ? sum[0] : sum[1];
    }
    if (scan->status == SAL_OK) {
        sali_free(g->pairs);
        sali_free(g->weights);
        g->pairs = pairs;
        g->weights = weights;
        g->edges = kept;
    } else {
        sali_free(pairs);
        sali_free(weights);
    }
    return found;
}

/* Make the entries of a general matrix edges: those of one triangle, with a remark, or of a
 * symmetric matrix. */
static void make_edges(sali_scan *scan, sali_content *out)
{
    sali_graph *g = &out->graph;
    sali_sorted_edge *sorted = scan->status == SAL_OK ? sali_graph_sort_edges(g) : NULL;
    sali_scan_granted(scan, sorted);
    const sides found = merge_entries(scan, g, sorted);
    sali_free(sorted);
    if (found.one && found.both) {
        sali_scan_refuse(scan,
                         "is not symmetric: of some pairs it has both entries, of others one; "
                         "the edges of a graph have no direction");
    } else if (found.one && scan->status == SAL_OK) {
        scan->status = sali_remark_add(&out->remark, true, scan->err,
                                       "the matrix is not symmetric, with one entry for each "
                                       "pair: it is the weight of an edge");
    }
}

/* Fails for weights on the diagonal. */
static void refuse_diagonal(sali_scan *scan, const sali_graph *g)
{
    for (int64_t k = 0; g->node_weights && scan->status == SAL_OK && k < g->nodes; k++) {
        if (g->node_weights[k] != 0) {
            sali_scan_refuse(scan,
                             "the diagonal has an entry %g, and models of graphs have no edge from "
                             "a node to itself: remove it; if the matrix is an energy x'Ax, open "
                             "ising:file=PATH,vartype=binary (or spin)",
                             g->node_weights[k]);
        }
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph_reader r = { .scan = scan, .graph = &out->graph };
    const banner b = read_banner(scan);
    r.graph->vartype = sali_graph_vartype(scan, '%');
    r.graph->nodes = sali_graph_scan_nodes(scan, "the number of rows", SALI_GRAPH_FREE_WEIGHTS);
    int64_t line = scan->line;
    int64_t columns = sali_scan_int(scan, "the number of columns", 1, INT64_MAX);
    if (scan->line != line || columns != r.graph->nodes) {
        sali_scan_fail(scan, line, "expected as many columns as rows, on one line");
    }
    if (b.dense) {
        read_columns(&r, &b);
    } else {
        read_coordinates(&r, &b);
    }
    sali_scan_end(scan);
    if (r.graph->vartype != SALI_VARTYPE_NONE) {
        make_energy(r.graph, &b);
    } else if (!b.symmetric) {
        make_edges(scan, out);
    }
    if (r.graph->vartype == SALI_VARTYPE_NONE) {
        refuse_diagonal(scan, r.graph);
    }
    for (int64_t e = 0; scan->status == SAL_OK && e < r.graph->edges; e++) {
        if (!isfinite(r.graph->weights[e])) {
            sali_scan_refuse(scan, "entries of a pair add up to %g", r.graph->weights[e]);
        }
    }
    sali_graph_check_biases(scan, r.graph);
}

static bool recognise(sali_scan *scan)
{
    read_banner(scan);
    return scan->status == SAL_OK;
}

/* ---- writing */

/* Write the lower triangle of a symmetric matrix: the weights, or half of an energy's. Entries of
 * one place add up. */
static void put_matrix(sali_text_output *w, const sali_graph *g, const int64_t *numbers,
                       double factor)
{
    int64_t diagonal = 0;
    for (int64_t k = 0; g->node_weights && k < g->nodes; k++) {
        diagonal += g->node_weights[k] != 0;
    }
    sali_put(w, "%lld %lld %lld\n", (long long)g->nodes, (long long)g->nodes,
             (long long)(diagonal + g->edges));
    for (int64_t k = 0; g->node_weights && k < g->nodes && w->status == SAL_OK; k++) {
        if (g->node_weights[k] != 0) {
            sali_put(w, "%lld %lld %g\n", (long long)numbers[k], (long long)numbers[k],
                     g->node_weights[k]);
        }
    }
    for (int64_t e = 0; e < g->edges && w->status == SAL_OK; e++) {
        int64_t i = numbers[g->pairs[2 * e]], j = numbers[g->pairs[2 * e + 1]];
        sali_put(w, "%lld %lld %g\n", (long long)(i > j ? i : j), (long long)(i > j ? j : i),
                 factor * g->weights[e]);
    }
}

/* Write weights, or an energy as one of binary variables. Fails for weights of nodes. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    sali_put_raw(w, "%%MatrixMarket matrix coordinate real symmetric\n");
    int64_t *numbers = sali_graph_number(w, g);
    if (g->vartype != SALI_VARTYPE_NONE) {
        sali_graph binary = { 0 };
        sali_graph_binary(w, g, &binary);
        sali_put_raw(w, "% an energy x'Ax, vartype=BINARY\n");
        if (w->status == SAL_OK) {
            put_matrix(w, &binary, numbers, 0.5);
        }
        sali_graph_drop_offset(w, binary.offset);
        sali_graph_binary_free(&binary);
    } else if (sali_graph_has_node_weights(g)) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "this format has no weights of nodes; dimacs and graphml have");
    } else if (w->status == SAL_OK) {
        put_matrix(
            w,
            &(sali_graph){
                .nodes = g->nodes, .edges = g->edges, .pairs = g->pairs, .weights = g->weights },
            numbers, 1);
    }
    sali_free(numbers);
}

const sali_format sali_format_mtx = {
    .name = "mtx",
    .doc = "symmetric matrices of Matrix Market: weights of edges, or an energy x'Ax if "
           "\"% vartype=BINARY\" or vartype=binary says so",
    .suffixes = { ".mtx" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .comments = SALI_COMMENT_PERCENT,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
