/* SPDX-License-Identifier: MIT */
/* Energies of binary or spin variables (BQM) as D-Wave's dimod writes them: a coordinate list. */
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/format.h"
#include "io/graphs/graph_energy.h"

/* ---- reading: entries first, whose nodes are any numbers; then the numbers in order */

/* Read an entry "i j bias" on one line and append it as an edge, even if i = j. */
static void read_entry(sali_graph_reader *r)
{
    sali_scan *scan = r->scan;
    int64_t i = sali_scan_int(scan, "a variable", 0, INT64_MAX), line = scan->line;
    int64_t j = sali_scan_int(scan, "the entry's other variable", 0, INT64_MAX);
    double bias = sali_scan_double(scan, "the entry's bias");
    if (scan->line != line) {
        sali_scan_fail(scan, line, "expected 'i j bias' on one line");
    }
    sali_graph_scan_line_end(scan, line);
    sali_graph_add(r, i, j, bias);
}

/* Replace labels by indices, and turn entries "i i" into node weights; all others remain edges. */
static void split_entries(sali_graph *g, const int64_t *labels)
{
    int64_t kept = 0;
    for (int64_t e = 0; e < g->edges; e++) {
        int64_t i = sali_graph_find_label(g->pairs[2 * e], labels, g->nodes);
        int64_t j = sali_graph_find_label(g->pairs[2 * e + 1], labels, g->nodes);
        if (i == j) {
            g->node_weights[i] += g->weights[e];
        } else {
            g->pairs[2 * kept] = i;
            g->pairs[2 * kept + 1] = j;
            g->weights[kept++] = g->weights[e];
        }
    }
    g->edges = kept;
}

/* Number the nodes in the order of their labels, which become names, and split entries into node
 * weights and edges. */
static void number_nodes(sali_scan *scan, sali_graph *g)
{
    int64_t *labels = SALI_SCAN_ARRAY(scan, int64_t, 2 * g->edges);
    if (labels) {
        memcpy(labels, g->pairs, (size_t)(2 * g->edges) * sizeof *labels);
        sali_graph_name_nodes(scan, g, labels, sali_graph_sort_labels(2 * g->edges, labels));
        sali_graph_make_biases(scan, g);
    }
    if (scan->status == SAL_OK) {
        split_entries(g, labels);
    }
    sali_graph_check_biases(scan, g);
    sali_free(labels);
}

/* Read the vartype, then all entries; nodes may have any labels, which are put in order at the
 * end. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph_reader r = { .scan = scan, .graph = &out->graph };
    r.graph->vartype = sali_graph_vartype(scan, '#');
    if (r.graph->vartype == SALI_VARTYPE_NONE) {
        sali_scan_fail(scan, 1,
                       "expected a line '# vartype=SPIN' (variables are -1 or 1) or "
                       "'# vartype=BINARY' (0 or 1); dimod writes it only with "
                       "vartype_header=True: add the one that is right, or open "
                       "ising:file=PATH,vartype=spin (or binary)");
    }
    while (sali_scan_more(scan)) {
        read_entry(&r);
    }
    if (r.graph->edges == 0) {
        sali_scan_fail(scan, scan->line, "expected an entry 'i j bias'");
    }
    number_nodes(scan, r.graph);
}

static bool recognise(sali_scan *scan)
{
    return sali_graph_vartype(scan, '#') != SALI_VARTYPE_NONE;
}

/* ---- writing */

/* Write the number `text` of the form d.ddde+X or d.ddde-X without its exponent. It has at most X
 * digits after the point if the exponent is positive, so the result is an integer. */
static void write_out(const char *text, char *out)
{
    const char *e = strchr(text, 'e');
    int64_t exponent = 0;
    sali_parse_int(e + 1, (int64_t)strlen(e + 1), &exponent);
    if (*text == '-') {
        *out++ = *text++;
    }
    if (exponent < 0) {
        *out++ = '0';
        *out++ = '.';
    }
    for (int64_t k = exponent + 1; k < 0; k++) {
        *out++ = '0';
    }
    int64_t digits = 0;
    for (; text < e; text++) {
        if (*text != '.') {
            *out++ = *text;
            digits++;
        }
    }
    for (; digits < exponent + 1; digits++) {
        *out++ = '0';
    }
    *out = '\0';
}

/* Write a number without an exponent: dimod silently skips lines whose number has one. */
static void put_plain(sali_text_output *w, double x)
{
    char text[SALI_NUMBER_SIZE], plain[400];
    sali_format_double(x, text);
    if (strchr(text, 'e')) {
        write_out(text, plain);
    }
    sali_put(w, "%s\n", strchr(text, 'e') ? plain : text);
}

/* Write the entries of nodes, then of edges. A variable without couplings and bias gets an entry
 * too, or it would be lost. */
static void put_entries(sali_text_output *w, const sali_graph *g, const int64_t *labels,
                        const bool *coupled)
{
    for (int64_t k = 0; k < g->nodes && w->status == SAL_OK; k++) {
        double bias = g->node_weights ? g->node_weights[k] : 0;
        if (bias != 0 || !coupled[k]) {
            sali_put(w, "%lld %lld ", (long long)labels[k], (long long)labels[k]);
            put_plain(w, bias);
        }
    }
    for (int64_t e = 0; e < g->edges && w->status == SAL_OK; e++) {
        sali_put(w, "%lld %lld ", (long long)labels[g->pairs[2 * e]],
                 (long long)labels[g->pairs[2 * e + 1]]);
        put_plain(w, g->weights[e]);
    }
}

/* Write the graph's energies; fails if it holds weights, or has names that are no numbers. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    sali_graph_refuse_weights(w, g);
    int64_t *labels = sali_graph_labels(w, g);
    bool *coupled = SALI_NEW_ARRAY(bool, g->nodes);
    if (sali_text_granted(w, labels && coupled)) {
        for (int64_t k = 0; k < 2 * g->edges; k++) {
            coupled[g->pairs[k]] = true;
        }
        sali_put(w, "# vartype=%s\n", g->vartype == SALI_VARTYPE_SPIN ? "SPIN" : "BINARY");
        put_entries(w, g, labels, coupled);
        sali_graph_drop_offset(w, g->offset);
    }
    sali_free(labels);
    sali_free(coupled);
}

const sali_format sali_format_coo = {
    .name = "coo",
    .doc = "energies (BQM) of dimod: \"# vartype=SPIN\" or BINARY, then \"i j bias\"; f is minus "
           "the energy",
    .suffixes = { ".coo", ".bqm" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .recognise = recognise,
    .comments = SALI_COMMENT_HASH,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
