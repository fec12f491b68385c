/* SPDX-License-Identifier: MIT */
#include "io/graphs/graph_text.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"

sal_status sali_graph_add(sali_graph_reader *r, int64_t i, int64_t j, double weight, sal_error *err)
{
    sali_graph *g = r->graph;
    if (sali_grow((void **)&g->pairs, &r->pair_room, g->edges + 1, 2 * sizeof *g->pairs) != 0 ||
        sali_grow((void **)&g->weights, &r->weight_room, g->edges + 1, sizeof *g->weights) != 0) {
        return sali_fail_memory(err);
    }
    g->pairs[2 * g->edges] = i;
    g->pairs[2 * g->edges + 1] = j;
    g->weights[g->edges++] = weight;
    return SAL_OK;
}

/* ---- lines */

sal_status sali_graph_scan_line_end(sali_scan *scan, int64_t line, sal_error *err)
{
    sali_token token;
    if (!sali_scan_on_line(scan, line)) {
        return SAL_OK;
    }
    sal_status status = sali_scan_token(scan, &token, err);
    return status ? status : sali_scan_expected(scan, &token, "the end of the line", err);
}

/* An integer on the line where the word before it was. */
static sal_status scan_on_line(sali_scan *scan, const char *what, int64_t min, int64_t max,
                               int64_t *out, sal_error *err)
{
    if (!sali_scan_on_line(scan, scan->line)) {
        return sali_scan_fail(scan, scan->line, err, "expected %s, found the end of the line",
                              what);
    }
    return sali_scan_int(scan, what, min, max, out, err);
}

sal_status sali_graph_scan_counts(sali_scan *scan, int64_t *nodes, int64_t *edges, sal_error *err)
{
    int64_t text = scan->end - scan->begin;
    int64_t most = text > SALI_GRAPH_FREE_NODES ? text : SALI_GRAPH_FREE_NODES;
    sal_status status = sali_scan_int(scan, "the number of nodes", 1, most, nodes, err);
    status = status ? status : scan_on_line(scan, "the number of edges", 0, INT64_MAX, edges, err);
    return status ? status : sali_graph_scan_line_end(scan, scan->line, err);
}

sal_status sali_graph_scan_edge(sali_scan *scan, int64_t nodes, int64_t pair[2], double *weight,
                                sal_error *err)
{
    sal_status status = sali_scan_int(scan, "a node", 1, nodes, &pair[0], err);
    status = status ? status : scan_on_line(scan, "the edge's other node", 1, nodes, &pair[1], err);
    if (status == SAL_OK && pair[0] == pair[1]) {
        status = sali_scan_fail(scan, scan->line, err, "an edge from node %lld to itself",
                                (long long)pair[0]);
    }
    if (status == SAL_OK && sali_scan_on_line(scan, scan->line)) {
        status = sali_scan_double(scan, "the edge's weight", weight, err);
    }
    pair[0]--;
    pair[1]--;
    return status ? status : sali_graph_scan_line_end(scan, scan->line, err);
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

/* The names as integers [nodes], and their minimum; the first that is none, or NULL. */
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

/* Are the numbers begin .. begin + n - 1, each once? If not, *bad is the index of one that is not.
 * `seen` [n] is zero. */
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

sal_status sali_graph_number(const char *path, const sali_graph *graph, int64_t *numbers,
                             sal_error *err)
{
    int64_t min = 0, at = 0, n = graph->nodes;
    const char *bad = graph->names ? parse_names(graph, numbers, &min) : NULL;
    bool *seen = SALI_NEW_ARRAY(bool, n);
    if (!seen) {
        return sali_fail_memory(err);
    }
    if (graph->names && !bad && !is_count(numbers, n, min == 0 ? 0 : 1, seen, &at)) {
        bad = graph->names[at];
    }
    sali_free(seen);
    if (bad) {
        char shown[SALI_SHOW_SIZE];
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: this format numbers its nodes and cannot name one '%s'; number them "
                         "0 to %lld first",
                         path, sali_show(bad, (int64_t)strlen(bad), shown), (long long)n - 1);
    }
    for (int64_t k = 0; k < n; k++) {
        numbers[k] = graph->names ? numbers[k] + (min == 0) : k + 1;
    }
    return SAL_OK;
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

sal_status sali_graph_refuse_energy(const char *path, const sali_graph *graph, sal_error *err)
{
    return graph->vartype == SALI_VARTYPE_NONE
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "%s: this format holds weights, and the graph's are energies of %s; "
                           "graphml and coo can say so",
                           path, graph->vartype == SALI_VARTYPE_SPIN ? "spins" : "bits");
}
