/* SPDX-License-Identifier: MIT */
#include "io/graphs/graph_text.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"

void sali_graph_add(sali_graph_reader *r, int64_t i, int64_t j, double weight)
{
    sali_graph *g = r->graph;
    if (sali_scan_grow(r->scan, (void **)&g->pairs, &r->pair_room, g->edges + 1,
                       2 * sizeof *g->pairs) &&
        sali_scan_grow(r->scan, (void **)&g->weights, &r->weight_room, g->edges + 1,
                       sizeof *g->weights)) {
        g->pairs[2 * g->edges] = i;
        g->pairs[2 * g->edges + 1] = j;
        g->weights[g->edges++] = weight;
    }
}

/* ---- lines */

void sali_graph_scan_line_end(sali_scan *scan, int64_t line)
{
    if (sali_scan_on_line(scan, line)) {
        sali_token token = sali_scan_token(scan);
        sali_scan_expected(scan, &token, "the end of the line");
    }
}

/* Read an integer that must be on the same line as the word before it. */
static int64_t scan_on_line(sali_scan *scan, const char *what, int64_t min, int64_t max)
{
    if (!sali_scan_on_line(scan, scan->line)) {
        sali_scan_fail(scan, scan->line, "expected %s, found the end of the line", what);
    }
    return sali_scan_int(scan, what, min, max);
}

int64_t sali_graph_scan_nodes(sali_scan *scan, const char *what, int64_t most)
{
    int64_t text = scan->end - scan->begin;
    return sali_scan_int(scan, what, 1, text > most ? text : most);
}

int64_t sali_graph_scan_counts(sali_scan *scan, int64_t *nodes)
{
    *nodes = sali_graph_scan_nodes(scan, "the number of nodes", SALI_GRAPH_FREE_NODES);
    int64_t edges = scan_on_line(scan, "the number of edges", 0, INT64_MAX);
    sali_graph_scan_line_end(scan, scan->line);
    return edges;
}

void sali_graph_scan_edge(sali_graph_reader *r)
{
    sali_scan *scan = r->scan;
    int64_t i = sali_scan_int(scan, "a node", 1, r->graph->nodes);
    int64_t j = scan_on_line(scan, "the edge's other node", 1, r->graph->nodes);
    if (i == j) {
        sali_scan_fail(scan, scan->line, "an edge from node %lld to itself" SALI_GRAPH_NO_LOOPS,
                       (long long)i);
    }
    double weight = 1;
    if (sali_scan_on_line(scan, scan->line)) {
        weight = sali_scan_double(scan, "the edge's weight");
    }
    sali_graph_scan_line_end(scan, scan->line);
    sali_graph_add(r, i - 1, j - 1, weight);
}

/* ---- sorted edges */

/* Order for qsort: by the smaller node, then the larger one, then the place in the file. */
static int by_pair(const void *a, const void *b)
{
    const sali_sorted_edge *x = a, *y = b;
    if (x->i != y->i) {
        return x->i < y->i ? -1 : 1;
    }
    if (x->j != y->j) {
        return x->j < y->j ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

sali_sorted_edge *sali_graph_sort_edges(const sali_graph *graph)
{
    sali_sorted_edge *edges = SALI_NEW_ARRAY(sali_sorted_edge, graph->edges);
    for (int64_t e = 0; edges && e < graph->edges; e++) {
        int64_t i = graph->pairs[2 * e], j = graph->pairs[2 * e + 1];
        edges[e] = (sali_sorted_edge){ i < j ? i : j, i < j ? j : i, e, graph->weights[e] };
    }
    if (edges) {
        qsort(edges, (size_t)graph->edges, sizeof *edges, by_pair);
    }
    return edges;
}

/* ---- names */

bool sali_graph_names_count(const sali_graph *graph, const char *word)
{
    size_t n = strlen(word);
    for (int64_t k = 0; k < graph->nodes; k++) {
        const char *name = graph->names[k];
        int64_t number;
        bool counts = strncmp(name, word, n) == 0 && name[n] >= '0' && name[n] <= '9' &&
                      (name[n] != '0' || !name[n + 1]) &&
                      sali_parse_int(name + n, (int64_t)strlen(name + n), &number) == SAL_OK &&
                      number == k;
        if (!counts) {
            return false;
        }
    }
    return true;
}

void sali_graph_forget_counting(sali_graph *graph)
{
    if (graph->names && (sali_graph_names_count(graph, "") || sali_graph_names_count(graph, "n"))) {
        sali_names_free(graph->names, graph->nodes);
        graph->names = NULL;
    }
}

/* Read the names as integers, numbers [nodes], and set *min to the smallest. Returns NULL, or the
 * first name that is no integer. */
static const char *parse_names(const sali_graph *graph, int64_t *numbers, int64_t *min)
{
    *min = INT64_MAX;
    for (int64_t k = 0; k < graph->nodes; k++) {
        const char *name = graph->names[k];
        if (sali_parse_int(name, (int64_t)strlen(name), &numbers[k]) != SAL_OK) {
            return name;
        }
        *min = numbers[k] < *min ? numbers[k] : *min;
    }
    return NULL;
}

/* Whether the n numbers are begin .. begin + n - 1, each once. If not, *bad is the index of one
 * that does not fit. `seen` [n] is all false on entry. */
static bool is_count(const int64_t *numbers, int64_t n, int64_t begin, bool *seen, int64_t *bad)
{
    for (*bad = 0; *bad < n; ++*bad) {
        int64_t k = numbers[*bad];
        if (k < begin || k > begin + n - 1 || seen[k - begin]) {
            return false;
        }
        seen[k - begin] = true;
    }
    return true;
}

int64_t *sali_graph_number(sali_text_output *w, const sali_graph *graph)
{
    int64_t min = 0, at = 0, n = graph->nodes, *numbers = SALI_NEW_ARRAY(int64_t, n);
    bool *seen = SALI_NEW_ARRAY(bool, n);
    bool named = sali_text_granted(w, numbers && seen) && graph->names;
    const char *bad = named ? parse_names(graph, numbers, &min) : NULL;
    if (named && !bad && !is_count(numbers, n, min == 0 ? 0 : 1, seen, &at)) {
        bad = graph->names[at];
    }
    sali_free(seen);
    if (bad) {
        char shown[SALI_SHOW_SIZE];
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "this format numbers its nodes and cannot name one '%s'; number them 0 to "
                       "%lld first",
                       sali_show(bad, -1, shown), (long long)n - 1);
    }
    for (int64_t k = 0; k < n && w->status == SAL_OK; k++) {
        numbers[k] = graph->names ? numbers[k] + (min == 0) : k + 1;
    }
    return numbers;
}

/* ---- weights */

bool sali_graph_has_node_weights(const sali_graph *graph)
{
    for (int64_t k = 0; graph->node_weights && k < graph->nodes; k++) {
        if (graph->node_weights[k] != 0) {
            return true;
        }
    }
    return false;
}

void sali_graph_refuse_energy(sali_text_output *w, const sali_graph *graph)
{
    if (graph->vartype != SALI_VARTYPE_NONE) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "this format holds weights, and the graph's are energies of %s; graphml, "
                       "coo, bqpjson and qubo hold them",
                       graph->vartype == SALI_VARTYPE_SPIN ? "spins" : "bits");
    }
}
