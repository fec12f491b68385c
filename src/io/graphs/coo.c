/* SPDX-License-Identifier: MIT */
/* Energies of binary or spin variables (BQM) as D-Wave's dimod writes them: a coordinate list. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/format.h"
#include "io/graphs/graph_text.h"

/* ---- the heading: a comment "# vartype=SPIN" or BINARY, on any line */

static const char *end_of_line(const char *p, const char *end)
{
    const char *found = memchr(p, '\n', (size_t)(end - p));
    return found ? found : end;
}

/* The word after "vartype=" or "vartype:" if the line [p, end) is a comment that has it; size 0 if
 * not. */
static sali_token find_heading(const char *p, const char *end, int64_t line)
{
    static const char key[] = "vartype";
    const size_t n = sizeof key - 1;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\f')) {
        p++;
    }
    const char *found = p < end && *p == '#' ? memmem(p, (size_t)(end - p), key, n) : NULL;
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

/* The vartype that the comments declare; SALI_VARTYPE_NONE without a declaration, and after a
 * failure. */
static sali_vartype read_headings(sali_scan *scan)
{
    int64_t line = 1;
    sali_vartype found = SALI_VARTYPE_NONE;
    for (const char *p = scan->begin, *stop; p < scan->end; p = stop + 1, line++) {
        stop = end_of_line(p, scan->end);
        sali_token word = find_heading(p, stop, line);
        if (word.size == 0) {
            continue;
        }
        bool spin = sali_token_is(&word, "SPIN");
        sali_vartype vartype = spin ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
        if (!spin && !sali_token_is(&word, "BINARY")) {
            sali_scan_expected(scan, &word, "vartype=SPIN or vartype=BINARY");
        } else if (found != SALI_VARTYPE_NONE && found != vartype) {
            sali_scan_fail(scan, line, "another vartype than before");
        }
        found = vartype;
    }
    return scan->status == SAL_OK ? found : SALI_VARTYPE_NONE;
}

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

static int compare_labels(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Write the labels that occur in the entries, ascending and once each, to labels [2 entries].
 * Returns their number. */
static int64_t sort_labels(const sali_graph *g, int64_t *labels)
{
    int64_t n = 0;
    memcpy(labels, g->pairs, (size_t)(2 * g->edges) * sizeof *labels);
    qsort(labels, (size_t)(2 * g->edges), sizeof *labels, compare_labels);
    for (int64_t k = 0; k < 2 * g->edges; k++) {
        if (n == 0 || labels[n - 1] != labels[k]) {
            labels[n++] = labels[k];
        }
    }
    return n;
}

static char *name_of(int64_t label)
{
    char text[SALI_NUMBER_SIZE];
    snprintf(text, sizeof text, "%lld", (long long)label);
    return sali_strdup(text);
}

static int64_t index_of(int64_t label, const int64_t *labels, int64_t n)
{
    const int64_t *found = bsearch(&label, labels, (size_t)n, sizeof label, compare_labels);
    return found - labels;
}

/* Replace labels by indices, and turn entries "i i" into node weights; all others remain edges. */
static void split_entries(sali_graph *g, const int64_t *labels)
{
    int64_t kept = 0;
    for (int64_t e = 0; e < g->edges; e++) {
        int64_t i = index_of(g->pairs[2 * e], labels, g->nodes);
        int64_t j = index_of(g->pairs[2 * e + 1], labels, g->nodes);
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
    int64_t n = labels ? sort_labels(g, labels) : 0;
    g->nodes = n;
    g->names = SALI_SCAN_ARRAY(scan, char *, n);
    g->node_weights = SALI_SCAN_ARRAY(scan, double, n);
    for (int64_t k = 0; scan->status == SAL_OK && k < n; k++) {
        g->names[k] = name_of(labels[k]);
        sali_scan_granted(scan, g->names[k]);
    }
    if (scan->status == SAL_OK) {
        split_entries(g, labels);
    }
    for (int64_t k = 0; scan->status == SAL_OK && k < n; k++) {
        if (!isfinite(g->node_weights[k])) {
            sali_scan_refuse(scan, "the biases of variable %s add up to %g", g->names[k],
                             g->node_weights[k]);
        }
    }
    sali_free(labels);
}

/* Whether the file is in a binary format of dimod: DIMODBQM, DIMODCQM and so on, then numbers. */
static bool is_binary(const sali_scan *scan)
{
    return scan->end - scan->begin >= 8 && memcmp(scan->begin, "DIMOD", 5) == 0;
}

/* Read the vartype, then all entries; nodes may have any labels, which are put in order at the
 * end. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph_reader r = { .scan = scan, .graph = &out->graph };
    if (is_binary(scan)) {
        sali_scan_refuse(scan, "is a binary file of dimod, which is not read; write the quadratic "
                               "model as text: dimod.serialization.coo.dump(bqm, file, "
                               "vartype_header=True)");
        return;
    }
    r.graph->vartype = read_headings(scan);
    if (r.graph->vartype == SALI_VARTYPE_NONE) {
        sali_scan_fail(scan, 1,
                       "expected a line '# vartype=SPIN' (variables are -1 or 1) or "
                       "'# vartype=BINARY' (0 or 1); dimod writes it only with "
                       "vartype_header=True: add the one that is right");
    }
    while (sali_scan_more(scan)) {
        read_entry(&r);
    }
    if (r.graph->edges == 0) {
        sali_scan_fail(scan, scan->line, "expected an entry 'i j bias'");
    }
    number_nodes(scan, r.graph);
    if (scan->status == SAL_OK) {
        sali_graph_forget_counting(r.graph);
    }
}

static bool recognise(sali_scan *scan)
{
    return is_binary(scan) || read_headings(scan) != SALI_VARTYPE_NONE;
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

/* Set labels [nodes]: the name of a node, if that is a number as dimod writes it, or its index if
 * there are no names. Fails for other names. */
static void find_labels(sali_text_output *w, const sali_graph *g, int64_t *labels)
{
    for (int64_t k = 0; k < g->nodes && w->status == SAL_OK; k++) {
        const char *name = g->names ? g->names[k] : "0";
        labels[k] = k;
        bool plain = name[0] >= '0' && name[0] <= '9' && (name[0] != '0' || !name[1]);
        if (!plain || (g->names && sali_parse_int(name, (int64_t)strlen(name), &labels[k]))) {
            char shown[SALI_SHOW_SIZE];
            sali_text_fail(w, SAL_ERR_ARGUMENT,
                           "this format names its variables by integers from 0 on, and cannot name "
                           "one '%s'",
                           sali_show(name, -1, shown));
        }
    }
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
    if (g->vartype == SALI_VARTYPE_NONE) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "this format holds energies, and the graph has weights; if they are "
                       "energies, say so in GraphML by the graph's attribute vartype, SPIN or "
                       "BINARY");
    }
    int64_t *labels = SALI_NEW_ARRAY(int64_t, g->nodes);
    bool *coupled = SALI_NEW_ARRAY(bool, g->nodes);
    if (sali_text_granted(w, labels && coupled)) {
        find_labels(w, g, labels);
        for (int64_t k = 0; k < 2 * g->edges; k++) {
            coupled[g->pairs[k]] = true;
        }
        sali_put(w, "# vartype=%s\n", g->vartype == SALI_VARTYPE_SPIN ? "SPIN" : "BINARY");
        put_entries(w, g, labels, coupled);
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
