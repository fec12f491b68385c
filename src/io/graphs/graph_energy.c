/* SPDX-License-Identifier: MIT */
#include "io/graphs/graph_energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/format.h"

/* ---- the kind of the variables */

static const char *end_of_line(const char *p, const char *end)
{
    const char *found = memchr(p, '\n', (size_t)(end - p));
    return found ? found : end;
}

/* The word after "vartype=" or "vartype:" if the line [p, end) is a comment that has it; size 0 if
 * not. */
static sali_token find_heading(const char *p, const char *end, char mark, int64_t line)
{
    static const char key[] = "vartype";
    const size_t n = sizeof key - 1;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\f')) {
        p++;
    }
    const char *found = p < end && *p == mark ? memmem(p, (size_t)(end - p), key, n) : NULL;
    if (!found || end - found <= (ptrdiff_t)n || (found[n] != '=' && found[n] != ':')) {
        return (sali_token){ p, 0, line };
    }
    const char *word = found + n + 1;
    while (word < end && (*word == ' ' || *word == '\t')) {
        word++;
    }
    const char *stop = word;
    while (stop<end && * stop> ' ') {
        stop++;
    }
    return (sali_token){ word, stop - word, line };
}

sali_vartype sali_graph_vartype(sali_scan *scan, char mark)
{
    int64_t line = 1;
    sali_vartype found = scan->reading ? scan->reading->vartype : SALI_VARTYPE_NONE;
    for (const char *p = scan->begin, *stop; p < scan->end; p = stop + 1, line++) {
        stop = end_of_line(p, scan->end);
        sali_token word = find_heading(p, stop, mark, line);
        if (word.size == 0) {
            continue;
        }
        bool spin = sali_token_is(&word, "SPIN");
        sali_vartype vartype = spin ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
        if (!spin && !sali_token_is(&word, "BINARY")) {
            sali_scan_expected(scan, &word, "vartype=SPIN or vartype=BINARY");
        } else if (found != SALI_VARTYPE_NONE && found != vartype) {
            sali_scan_fail(scan, line, "another vartype than %s",
                           scan->reading && scan->reading->vartype ? "was asked for" : "before");
        }
        found = vartype;
    }
    return scan->status == SAL_OK ? found : SALI_VARTYPE_NONE;
}

/* ---- labels */

static int compare_labels(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t sali_graph_sort_labels(int64_t n, int64_t *labels)
{
    int64_t kept = 0;
    qsort(labels, (size_t)n, sizeof *labels, compare_labels);
    for (int64_t k = 0; k < n; k++) {
        if (kept == 0 || labels[kept - 1] != labels[k]) {
            labels[kept++] = labels[k];
        }
    }
    return kept;
}

int64_t sali_graph_find_label(int64_t label, const int64_t *labels, int64_t n)
{
    const int64_t *found = bsearch(&label, labels, (size_t)n, sizeof label, compare_labels);
    return found ? found - labels : -1;
}

static char *name_of(int64_t label)
{
    char text[SALI_NUMBER_SIZE];
    snprintf(text, sizeof text, "%lld", (long long)label);
    return sali_strdup(text);
}

void sali_graph_name_nodes(sali_scan *scan, sali_graph *graph, const int64_t *labels, int64_t n)
{
    graph->nodes = n;
    graph->names = SALI_SCAN_ARRAY(scan, char *, n);
    for (int64_t k = 0; scan->status == SAL_OK && k < n; k++) {
        graph->names[k] = name_of(labels[k]);
        sali_scan_granted(scan, graph->names[k]);
    }
    if (scan->status == SAL_OK) {
        sali_graph_forget_counting(graph);
    }
}

int64_t *sali_graph_labels(sali_text_output *w, const sali_graph *graph)
{
    int64_t *labels = SALI_NEW_ARRAY(int64_t, graph->nodes);
    sali_text_granted(w, labels);
    for (int64_t k = 0; k < graph->nodes && w->status == SAL_OK; k++) {
        const char *name = graph->names ? graph->names[k] : "0";
        labels[k] = k;
        bool plain = name[0] >= '0' && name[0] <= '9' && (name[0] != '0' || !name[1]);
        if (!plain || (graph->names && sali_parse_int(name, (int64_t)strlen(name), &labels[k]))) {
            char shown[SALI_SHOW_SIZE];
            sali_text_fail(w, SAL_ERR_ARGUMENT,
                           "this format names its variables by integers from 0 on, and cannot name "
                           "one '%s'",
                           sali_show(name, -1, shown));
        }
    }
    return labels;
}

/* ---- entries */

void sali_graph_make_biases(sali_scan *scan, sali_graph *graph)
{
    if (!graph->node_weights) {
        graph->node_weights = SALI_SCAN_ARRAY(scan, double, graph->nodes);
    }
}

bool sali_graph_scan_entry(sali_graph_reader *r, int64_t first, double times)
{
    sali_scan *scan = r->scan;
    sali_graph *g = r->graph;
    const int64_t last = first + g->nodes - 1;
    int64_t i = sali_scan_int(scan, "a variable", first, last), line = scan->line;
    int64_t j = sali_scan_int(scan, "the entry's other variable", first, last);
    double value = sali_scan_double(scan, "the entry's value");
    if (scan->line != line) {
        sali_scan_fail(scan, line, "expected 'i j value' on one line");
    }
    sali_graph_scan_line_end(scan, line);
    if (i != j && !isfinite(times * value)) {
        sali_scan_fail(scan, line, "the value is too large");
    }
    if (i == j) {
        sali_graph_make_biases(scan, g);
        if (scan->status == SAL_OK) {
            g->node_weights[i - first] += value;
        }
    } else {
        sali_graph_add(r, i - first, j - first, times * value);
    }
    return i == j;
}

void sali_graph_check_biases(sali_scan *scan, const sali_graph *graph)
{
    for (int64_t k = 0; graph->node_weights && scan->status == SAL_OK && k < graph->nodes; k++) {
        if (!isfinite(graph->node_weights[k])) {
            char number[SALI_NUMBER_SIZE];
            snprintf(number, sizeof number, "%lld", (long long)k);
            sali_scan_refuse(scan, "the biases of variable %s add up to %g",
                             graph->names ? graph->names[k] : number, graph->node_weights[k]);
        }
    }
    if (!isfinite(graph->offset)) {
        sali_scan_refuse(scan, "the constant of the energy is %g", graph->offset);
    }
}

/* ---- writing */

void sali_graph_refuse_weights(sali_text_output *w, const sali_graph *graph)
{
    if (graph->vartype == SALI_VARTYPE_NONE) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "this format holds energies, and the graph has weights; if they are "
                       "energies, say so: ising:file=PATH,vartype=spin (or binary) in place of the "
                       "file, or in GraphML by the graph's attribute vartype, SPIN or BINARY");
    }
}

/* h s + J s t is 2 h x - h + J (4 x y - 2 x - 2 y + 1). */
static void spins_to_binary(const sali_graph *g, sali_graph *out)
{
    for (int64_t k = 0; k < g->nodes; k++) {
        out->offset -= out->node_weights[k];
        out->node_weights[k] *= 2;
    }
    for (int64_t e = 0; e < g->edges; e++) {
        double J = g->weights[e];
        out->weights[e] = 4 * J;
        out->node_weights[g->pairs[2 * e]] -= 2 * J;
        out->node_weights[g->pairs[2 * e + 1]] -= 2 * J;
        out->offset += J;
    }
}

/* Fails with ARGUMENT if a number of the energy is too large. */
static void check_numbers(sali_text_output *w, const sali_graph *g)
{
    bool finite = isfinite(g->offset);
    for (int64_t k = 0; k < g->nodes; k++) {
        finite = finite && isfinite(g->node_weights[k]);
    }
    for (int64_t e = 0; e < g->edges; e++) {
        finite = finite && isfinite(g->weights[e]);
    }
    if (!finite) {
        sali_text_fail(w, SAL_ERR_ARGUMENT, "the numbers of the energy are too large");
    }
}

void sali_graph_binary(sali_text_output *w, const sali_graph *graph, sali_graph *out)
{
    *out = *graph;
    out->vartype = SALI_VARTYPE_BINARY;
    out->weights = SALI_NEW_ARRAY(double, graph->edges);
    out->node_weights = SALI_NEW_ARRAY(double, graph->nodes);
    if (!sali_text_granted(w, out->weights && out->node_weights)) {
        return;
    }
    if (graph->edges > 0) {
        memcpy(out->weights, graph->weights, (size_t)graph->edges * sizeof *out->weights);
    }
    if (graph->node_weights) {
        memcpy(out->node_weights, graph->node_weights,
               (size_t)graph->nodes * sizeof *out->node_weights);
    }
    if (graph->vartype == SALI_VARTYPE_SPIN) {
        spins_to_binary(graph, out);
        sali_text_remark(w, "spins s became binary variables x, s = 2 x - 1");
    }
    check_numbers(w, out);
}

void sali_graph_binary_free(sali_graph *binary)
{
    sali_free(binary->weights);
    sali_free(binary->node_weights);
}

void sali_graph_drop_offset(sali_text_output *w, double offset)
{
    if (offset != 0) {
        sali_text_remark(w,
                         "the format has no place for the constant %g of the energy: f of the file "
                         "is f plus this constant",
                         offset);
    }
}
