/* SPDX-License-Identifier: MIT */
/* Energies of binary or spin variables (BQM) as D-Wave's dimod writes them: a coordinate list. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "io/format.h"
#include "io/graphs/graph_text.h"
#include "io/text_output.h"

/* ---- the heading: a comment "# vartype=SPIN" or BINARY, on any line */

static const char *end_of_line(const char *p, const char *end)
{
    const char *found = memchr(p, '\n', (size_t)(end - p));
    return found ? found : end;
}

/* The word after "vartype=" or "vartype:" in a comment; size 0 if there is none. */
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

/* *out: SALI_VARTYPE_NONE without a heading. */
static sal_status read_headings(const sali_scan *scan, sali_vartype *out, sal_error *err)
{
    int64_t line = 1;
    *out = SALI_VARTYPE_NONE;
    for (const char *p = scan->begin, *stop; p < scan->end; p = stop + 1, line++) {
        stop = end_of_line(p, scan->end);
        sali_token word = find_heading(p, stop, line);
        if (word.size == 0) {
            continue;
        }
        bool spin = sali_token_is(&word, "SPIN");
        if (!spin && !sali_token_is(&word, "BINARY")) {
            return sali_scan_expected(scan, &word, "vartype=SPIN or vartype=BINARY", err);
        }
        sali_vartype vartype = spin ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
        if (*out != SALI_VARTYPE_NONE && *out != vartype) {
            return sali_scan_fail(scan, line, err, "another vartype than before");
        }
        *out = vartype;
    }
    return SAL_OK;
}

/* ---- reading: entries first, whose nodes are any numbers; then the numbers in order */

static sal_status read_entry(sali_scan *scan, sali_graph_reader *r, sal_error *err)
{
    int64_t i, j;
    double bias;
    sal_status status = sali_scan_int(scan, "a variable", 0, INT64_MAX, &i, err);
    int64_t line = scan->line;
    status =
        status ? status : sali_scan_int(scan, "the entry's other variable", 0, INT64_MAX, &j, err);
    status = status ? status : sali_scan_double(scan, "the entry's bias", &bias, err);
    if (status == SAL_OK && scan->line != line) {
        status = sali_scan_fail(scan, line, err, "expected 'i j bias' on one line");
    }
    status = status ? status : sali_graph_scan_line_end(scan, line, err);
    return status ? status : sali_graph_add(r, i, j, bias, err);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The labels that occur, sorted, in labels [2 entries]; their number. */
static int64_t sort_labels(const sali_graph *g, int64_t *labels)
{
    int64_t n = 0;
    memcpy(labels, g->pairs, (size_t)(2 * g->edges) * sizeof *labels);
    qsort(labels, (size_t)(2 * g->edges), sizeof *labels, ascending);
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
    const int64_t *found = bsearch(&label, labels, (size_t)n, sizeof label, ascending);
    return found - labels;
}

/* Entries i i become weights of nodes, all others stay edges. */
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

static sal_status relabel(const char *name, sali_graph *g, sal_error *err)
{
    int64_t *labels = SALI_NEW_ARRAY(int64_t, 2 * g->edges);
    int64_t n = labels ? sort_labels(g, labels) : 0;
    g->nodes = n;
    g->names = SALI_NEW_ARRAY(char *, n);
    g->node_weights = SALI_NEW_ARRAY(double, n);
    bool ok = labels && g->names && g->node_weights;
    for (int64_t k = 0; ok && k < n; k++) {
        g->names[k] = name_of(labels[k]);
        ok = g->names[k];
    }
    if (ok) {
        split_entries(g, labels);
    }
    sal_status status = ok ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        if (!isfinite(g->node_weights[k])) {
            status = sali_fail(err, SAL_ERR_DATA, "%s: the biases of variable %s add up to %g",
                               name, g->names[k], g->node_weights[k]);
        }
    }
    sali_free(labels);
    return status;
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, name, data, size, SALI_COMMENT_HASH);
    sali_graph_reader r = { .graph = &out->graph };
    sal_status status = read_headings(&scan, &r.graph->vartype, err);
    if (status == SAL_OK && r.graph->vartype == SALI_VARTYPE_NONE) {
        status = sali_scan_fail(&scan, 1, err,
                                "expected a line '# vartype=SPIN' (variables are -1 or 1) or "
                                "'# vartype=BINARY' (0 or 1)");
    }
    while (status == SAL_OK) {
        sali_scan ahead = scan;
        sali_token word;
        status = sali_scan_token(&ahead, &word, err);
        if (status != SAL_OK || word.size == 0) {
            break;
        }
        status = read_entry(&scan, &r, err);
    }
    if (status == SAL_OK && r.graph->edges == 0) {
        status = sali_scan_fail(&scan, scan.line, err, "expected an entry 'i j bias'");
    }
    status = status ? status : relabel(name, r.graph, err);
    if (status == SAL_OK) {
        sali_graph_forget_counting(r.graph);
    }
    return status;
}

static bool recognise(const char *data, int64_t size)
{
    sali_scan scan;
    sali_vartype vartype;
    sali_scan_init(&scan, "", data, size, SALI_COMMENT_HASH);
    return read_headings(&scan, &vartype, NULL) == SAL_OK && vartype != SALI_VARTYPE_NONE;
}

/* ---- writing */

/* d.ddde+X, which has no more digits than X, or d.ddde-X, without the exponent. */
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

/* dimod passes over lines whose number has an exponent, without a word. */
static void put_plain(sali_text_output *w, double x)
{
    char text[SALI_NUMBER_SIZE], plain[400];
    if (w->status != SAL_OK || sali_format_double(x, text) != SAL_OK) {
        w->status = w->status ? w->status : sali_fail_memory(w->err);
        return;
    }
    if (strchr(text, 'e')) {
        write_out(text, plain);
    }
    sali_put(w, "%s\n", strchr(text, 'e') ? plain : text);
}

/* The label of each node: its name, if that is a number as dimod writes it, or its index. */
static sal_status find_labels(const char *path, const sali_graph *g, int64_t *labels,
                              sal_error *err)
{
    for (int64_t k = 0; k < g->nodes; k++) {
        const char *name = g->names ? g->names[k] : "0";
        labels[k] = k;
        bool plain = name[0] >= '0' && name[0] <= '9' && (name[0] != '0' || !name[1]);
        if (!plain || (g->names && sali_parse_int(name, (int64_t)strlen(name), &labels[k]))) {
            char shown[SALI_SHOW_SIZE];
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: this format names its variables by integers from 0 on, and "
                             "cannot name one '%s'",
                             path, sali_show(name, (int64_t)strlen(name), shown));
        }
    }
    return SAL_OK;
}

/* A variable without couplings and bias needs its entry as well, or it would be lost. */
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

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    const sali_graph *g = &content->graph;
    if (g->vartype == SALI_VARTYPE_NONE) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: this format holds energies, and the graph has weights; if they are "
                         "energies, say so in GraphML by the graph's attribute vartype, SPIN or "
                         "BINARY",
                         path);
    }
    int64_t *labels = SALI_NEW_ARRAY(int64_t, g->nodes);
    bool *coupled = SALI_NEW_ARRAY(bool, g->nodes);
    sal_status status = labels && coupled ? SAL_OK : sali_fail_memory(err);
    status = status ? status : find_labels(path, g, labels, err);
    for (int64_t k = 0; k < 2 * g->edges && status == SAL_OK; k++) {
        coupled[g->pairs[k]] = true;
    }
    if (status == SAL_OK) {
        sali_text_output w;
        sali_text_open(&w, path, false, err);
        sali_put(&w, "# vartype=%s\n", g->vartype == SALI_VARTYPE_SPIN ? "SPIN" : "BINARY");
        put_entries(&w, g, labels, coupled);
        status = sali_text_close(&w);
    }
    sali_free(labels);
    sali_free(coupled);
    return status;
}

const sali_format sali_format_coo = {
    .name = "coo",
    .doc = "energies (BQM) of dimod: \"# vartype=SPIN\" or BINARY, then \"i j bias\"; f is minus "
           "the energy",
    .suffixes = { ".coo", ".bqm" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
