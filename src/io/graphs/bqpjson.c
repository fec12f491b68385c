/* SPDX-License-Identifier: MIT */
/* Energies of spins or binary variables in bqpjson: scale (sum of quadratic terms + sum of linear
 * terms + offset). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "io/format.h"
#include "io/graphs/graph_energy.h"
#include "io/json_scan.h"

/* ---- reading */

/* The variables of a file, ascending. */
typedef struct variables {
    int64_t n, *labels;
} variables;

/* Read variable_ids; names and number of the graph's nodes. */
static variables read_variables(sali_graph_reader *r, const json_t *root)
{
    sali_scan *scan = r->scan;
    const json_t *ids = sali_json_member(scan, root, "variable_ids", JSON_ARRAY);
    variables v = { (int64_t)json_array_size(ids), NULL };
    if (v.n == 0) {
        sali_scan_refuse(scan, "\"variable_ids\" names no variable; expected at least one");
    }
    v.labels = SALI_SCAN_ARRAY(scan, int64_t, v.n);
    for (int64_t k = 0; scan->status == SAL_OK && k < v.n; k++) {
        v.labels[k] = sali_json_index(json_array_get(ids, (size_t)k));
        if (v.labels[k] < 0) {
            sali_scan_refuse(scan, "entry %lld of \"variable_ids\": expected an integer from 0 on",
                             (long long)k);
        }
    }
    if (scan->status == SAL_OK && sali_graph_sort_labels(v.n, v.labels) != v.n) {
        sali_scan_refuse(scan, "\"variable_ids\" names a variable twice");
    }
    if (scan->status == SAL_OK) {
        sali_graph_name_nodes(scan, r->graph, v.labels, v.n);
    }
    return v;
}

/* The node of the variable `key` of a term; 0 after a failure. */
static int64_t read_node(sali_scan *scan, const variables *v, const json_t *term, const char *key,
                         const char *what, int64_t index)
{
    int64_t label = sali_json_index(json_object_get(term, key));
    int64_t node =
        scan->status == SAL_OK && label >= 0 ? sali_graph_find_label(label, v->labels, v->n) : -1;
    if (node < 0) {
        sali_scan_refuse(scan, "entry %lld of \"%s\": \"%s\" is none of the \"variable_ids\"",
                         (long long)index, what, key);
    }
    return scan->status == SAL_OK ? node : 0;
}

/* Read linear_terms, times `scale`. Several terms of a variable add up. */
static void read_linear(sali_graph_reader *r, const variables *v, const json_t *root, double scale)
{
    static const char key[] = "linear_terms";
    const json_t *terms = sali_json_member(r->scan, root, key, JSON_ARRAY);
    sali_graph_make_biases(r->scan, r->graph);
    for (int64_t k = 0; r->scan->status == SAL_OK && k < (int64_t)json_array_size(terms); k++) {
        const json_t *term = json_array_get(terms, (size_t)k);
        int64_t node = read_node(r->scan, v, term, "id", key, k);
        double coeff = sali_json_member_number(r->scan, term, "coeff", key, k);
        r->graph->node_weights[node] += scale * coeff;
    }
}

/* Read quadratic_terms, times `scale`. */
static void read_quadratic(sali_graph_reader *r, const variables *v, const json_t *root,
                           double scale)
{
    static const char key[] = "quadratic_terms";
    const json_t *terms = sali_json_member(r->scan, root, key, JSON_ARRAY);
    for (int64_t k = 0; r->scan->status == SAL_OK && k < (int64_t)json_array_size(terms); k++) {
        const json_t *term = json_array_get(terms, (size_t)k);
        int64_t i = read_node(r->scan, v, term, "id_tail", key, k);
        int64_t j = read_node(r->scan, v, term, "id_head", key, k);
        double coeff = sali_json_member_number(r->scan, term, "coeff", key, k);
        if (i == j) {
            sali_scan_refuse(r->scan, "entry %lld of \"%s\" has one variable twice", (long long)k,
                             key);
        }
        if (!isfinite(scale * coeff)) {
            sali_scan_refuse(r->scan, "entry %lld of \"%s\" is too large", (long long)k, key);
        }
        sali_graph_add(r, i, j, scale * coeff);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph_reader r = { .scan = scan, .graph = &out->graph };
    json_t *root = sali_json_scan(scan, scan->begin, scan->end - scan->begin);
    const json_t *domain = sali_json_member(scan, root, "variable_domain", JSON_STRING);
    const char *word = domain ? json_string_value(domain) : "";
    bool spins = strcmp(word, "spin") == 0;
    if (!spins && strcmp(word, "boolean") != 0) {
        sali_scan_refuse(scan, "\"variable_domain\": expected \"spin\" or \"boolean\"");
    }
    r.graph->vartype = spins ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
    double scale = json_number_value(sali_json_member(scan, root, "scale", JSON_REAL));
    double offset = json_number_value(sali_json_member(scan, root, "offset", JSON_REAL));
    variables v = read_variables(&r, root);
    read_linear(&r, &v, root, scale);
    read_quadratic(&r, &v, root, scale);
    r.graph->offset = scale * offset;
    sali_graph_check_biases(scan, r.graph);
    int64_t solutions = (int64_t)json_array_size(json_object_get(root, "solutions"));
    if (scan->status == SAL_OK && solutions > 0) {
        scan->status =
            sali_remark_add(&out->remark, false, scan->err, "its \"solutions\" (%lld) are not read",
                            (long long)solutions);
    }
    sali_free(v.labels);
    json_decref(root);
}

/* Whether the text begins with '{' and has the word "variable_domain". */
static bool recognise(sali_scan *scan)
{
    static const char key[] = "\"variable_domain\"";
    return sali_scan_more(scan) && *scan->next == '{' &&
           memmem(scan->next, (size_t)(scan->end - scan->next), key, sizeof key - 1);
}

/* ---- writing */

static void write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    bool first = true;
    sali_graph_refuse_weights(w, g);
    int64_t *labels = sali_graph_labels(w, g);
    sali_put(w,
             "{\n \"version\": \"1.0.0\", \"id\": 0, \"metadata\": {},\n \"variable_domain\": "
             "\"%s\", \"scale\": 1, \"offset\": %g,\n \"variable_ids\": [",
             g->vartype == SALI_VARTYPE_SPIN ? "spin" : "boolean", g->offset);
    for (int64_t k = 0; k < g->nodes && w->status == SAL_OK; k++) {
        sali_put(w, "%s%lld", k ? ", " : "", (long long)labels[k]);
    }
    sali_put_raw(w, "],\n \"linear_terms\": [");
    for (int64_t k = 0; g->node_weights && k < g->nodes && w->status == SAL_OK; k++) {
        if (g->node_weights[k] != 0) { /* its programs refuse a coefficient of 0 */
            sali_put(w, "%s\n  {\"id\": %lld, \"coeff\": %g}", first ? "" : ",",
                     (long long)labels[k], g->node_weights[k]);
            first = false;
        }
    }
    sali_put_raw(w, "],\n \"quadratic_terms\": [");
    first = true;
    for (int64_t e = 0; e < g->edges && w->status == SAL_OK; e++) {
        int64_t i = labels[g->pairs[2 * e]], j = labels[g->pairs[2 * e + 1]];
        if (g->weights[e] != 0) {
            sali_put(w, "%s\n  {\"id_tail\": %lld, \"id_head\": %lld, \"coeff\": %g}",
                     first ? "" : ",", (long long)(i < j ? i : j), (long long)(i < j ? j : i),
                     g->weights[e]);
            first = false;
        }
    }
    sali_put_raw(w, "]\n}\n");
    sali_free(labels);
}

const sali_format sali_format_bqpjson = {
    .name = "bqpjson",
    .doc = "energies of spins or binary variables of bqpjson, with scale and offset; f is minus "
           "the energy",
    .suffixes = { ".json", ".bqpjson" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
