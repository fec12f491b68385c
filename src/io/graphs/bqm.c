/* SPDX-License-Identifier: MIT */
/* Energies of binary or spin variables in dimod's binary files: "DIMODBQM", two bytes of the
 * version, the length of a header in JSON, then numbers, all little-endian:
 *
 *     offset
 *     for each variable: where its neighbours start, its bias
 *     for each variable and neighbour: the neighbour's number, the bias of the pair
 *     "VARS", a length, the names in JSON (since version 2.0; before, they are in the header) */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/name_table.h"
#include "io/format.h"
#include "io/graphs/graph_energy.h"
#include "io/json_scan.h"

#define MAGIC "DIMODBQM"
#define HEADER_AT 14

/* The types of the numbers in a file. */
typedef struct layout {
    int64_t nodes, edges;
    int bias, index, start; /* bytes of a bias, a neighbour's number, a start */
} layout;

/* Move past `size` bytes and return them; NULL after a failure: the file ends before. */
static const unsigned char *take(sali_scan *scan, int64_t size)
{
    if (size > scan->end - scan->next) {
        sali_scan_refuse(scan, "ends too early");
    }
    if (scan->status != SAL_OK) {
        return NULL;
    }
    const char *bytes = scan->next;
    scan->next += size;
    return (const unsigned char *)bytes;
}

/* The unsigned number of `size` bytes; 0 after a failure. */
static uint64_t take_int(sali_scan *scan, int size)
{
    const unsigned char *bytes = take(scan, size);
    uint64_t value = 0;
    for (int k = size - 1; bytes && k >= 0; k--) {
        value = value << 8 | bytes[k];
    }
    return value;
}

/* A finite float of 4 or 8 bytes; 0 after a failure. */
static double take_bias(sali_scan *scan, int size)
{
    uint64_t bits = take_int(scan, size);
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &bits, sizeof value);
    value = size == 4 ? (double)single : value;
    if (!isfinite(value)) {
        sali_scan_refuse(scan, "a bias is %g; expected finite numbers", value);
        return 0;
    }
    return value;
}

/* The bytes of a type of the header: `kind` ("float", "int") and its number of bits. */
static int type_size(sali_scan *scan, const json_t *header, const char *key, const char *kind)
{
    const json_t *type = sali_json_member(scan, header, key, JSON_STRING);
    const char *name = type ? json_string_value(type) : "";
    name += strcmp(kind, "int") == 0 && *name == 'u';
    size_t n = strlen(kind);
    int bits = strncmp(name, kind, n) == 0 ? atoi(name + n) : 0;
    bool fits = bits == 32 || bits == 64 || (*kind == 'i' && (bits == 8 || bits == 16));
    if (!fits) {
        sali_scan_refuse(scan, "\"%s\" is none of the types that Saltus reads: %s32 and %s64", key,
                         kind, kind);
    }
    return scan->status == SAL_OK ? bits / 8 : 1;
}

/* Read the header's types and shape; the file must have room for all numbers. */
static layout read_layout(sali_scan *scan, const json_t *header)
{
    layout l = { .bias = type_size(scan, header, "dtype", "float"),
                 .index = type_size(scan, header, "itype", "int"),
                 .start = type_size(scan, header, "ntype", "int") };
    const json_t *shape = sali_json_member(scan, header, "shape", JSON_ARRAY);
    l.nodes = sali_json_index(json_array_get(shape, 0));
    l.edges = sali_json_index(json_array_get(shape, 1));
    int64_t room = scan->end - scan->next;
    if (l.nodes < 1 || l.edges < 0 || l.nodes > room || l.edges > room ||
        l.bias + l.nodes * (l.start + l.bias) + 2 * l.edges * (l.index + l.bias) > room) {
        sali_scan_refuse(scan, "\"shape\": expected the numbers of variables (at least 1) and of "
                               "pairs, and as many biases in the file");
    }
    return l;
}

/* Read starts and biases of the variables; starts [nodes + 1]. */
static void read_variables(sali_scan *scan, const layout *l, sali_graph *g, int64_t *starts)
{
    for (int64_t v = 0; scan->status == SAL_OK && v < l->nodes; v++) {
        uint64_t start = take_int(scan, l->start);
        g->node_weights[v] = take_bias(scan, l->bias);
        starts[v] = (int64_t)start;
        if (start > (uint64_t)(2 * l->edges) || starts[v] < (v > 0 ? starts[v - 1] : 0) ||
            (v == 0 && start != 0)) {
            sali_scan_refuse(scan, "the neighbours of variable %lld start at a wrong place",
                             (long long)v);
        }
    }
    starts[l->nodes] = 2 * l->edges;
}

/* Read the neighbours: a pair is listed by both variables, and taken from the later one. */
static void read_pairs(sali_graph_reader *r, const layout *l, const int64_t *starts)
{
    sali_scan *scan = r->scan;
    for (int64_t v = 0; scan->status == SAL_OK && v < l->nodes; v++) {
        for (int64_t k = starts[v]; scan->status == SAL_OK && k < starts[v + 1]; k++) {
            uint64_t u = take_int(scan, l->index);
            double bias = take_bias(scan, l->bias);
            if (u >= (uint64_t)l->nodes || (int64_t)u == v) {
                sali_scan_refuse(scan, "variable %lld has a neighbour that is none", (long long)v);
            } else if ((int64_t)u < v) {
                sali_graph_add(r, (int64_t)u, v, bias);
            }
        }
    }
    if (r->graph->edges != l->edges) {
        sali_scan_refuse(scan, "lists some pairs of variables only once; expected each pair from "
                               "both sides");
    }
}

/* The name of a variable: a text as it is, another value as JSON; to be freed by free. */
static char *name_of(const json_t *label)
{
    return json_is_string(label) ? strdup(json_string_value(label))
                                 : json_dumps(label, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* Name the nodes; the names must differ. */
static void read_names(sali_scan *scan, const json_t *labels, sali_graph *g)
{
    sali_name_table table = { 0 };
    if ((int64_t)json_array_size(labels) != g->nodes) {
        sali_scan_refuse(scan, "has %lld names; expected one for each of %lld variables",
                         (long long)json_array_size(labels), (long long)g->nodes);
    }
    for (int64_t k = 0; scan->status == SAL_OK && k < g->nodes; k++) {
        char *name = name_of(json_array_get(labels, (size_t)k));
        int64_t number = name ? sali_name_table_put(&table, name, (int64_t)strlen(name)) : -1;
        sali_scan_granted(scan, number >= 0);
        if (number >= 0 && number != k) {
            char shown[SALI_SHOW_SIZE];
            sali_scan_refuse(scan, "two variables have the name '%s'", sali_show(name, -1, shown));
        }
        free(name);
    }
    if (scan->status == SAL_OK) {
        g->names = sali_name_table_take(&table);
        sali_graph_forget_counting(g);
    }
    sali_name_table_clear(&table);
}

/* Read the names: in the header, or in the section VARS, or there are none. */
static void read_labels(sali_scan *scan, const json_t *header, sali_graph *g)
{
    const json_t *said = json_object_get(header, "variables");
    if (json_is_array(said)) {
        read_names(scan, said, g);
    } else if (json_is_true(said)) {
        const unsigned char *word = take(scan, 4);
        if (word && memcmp(word, "VARS", 4) != 0) {
            sali_scan_refuse(scan, "has no section VARS of names");
        }
        int64_t size = (int64_t)take_int(scan, 4);
        const char *text = (const char *)take(scan, size);
        json_t *labels = text ? sali_json_scan(scan, text, size) : NULL;
        if (scan->status == SAL_OK) {
            read_names(scan, labels, g);
        }
        json_decref(labels);
    }
}

/* Fails if this is another kind of dimod's binary files, or a version that is not known. */
static void check_heading(sali_scan *scan)
{
    const unsigned char *magic = take(scan, 8), *version = take(scan, 2);
    if (magic && memcmp(magic, MAGIC, 8) != 0) {
        sali_scan_refuse(scan, "is a binary file of dimod, of another model than a quadratic one "
                               "(BQM); only those are read");
    }
    if (version && (version[0] < 1 || version[0] > 2)) {
        sali_scan_refuse(scan, "is of version %d.%d of dimod's binary files; 1 and 2 are read",
                         version[0], version[1]);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph *g = &out->graph;
    sali_graph_reader r = { .scan = scan, .graph = g };
    check_heading(scan);
    int64_t size = (int64_t)take_int(scan, 4);
    const char *text = (const char *)take(scan, size);
    json_t *header = text ? sali_json_scan(scan, text, size) : NULL;
    const layout l = read_layout(scan, header);
    const json_t *vartype = sali_json_member(scan, header, "vartype", JSON_STRING);
    const char *word = vartype ? json_string_value(vartype) : "";
    g->vartype = strcmp(word, "SPIN") == 0 ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
    if (g->vartype == SALI_VARTYPE_BINARY && strcmp(word, "BINARY") != 0) {
        sali_scan_refuse(scan, "\"vartype\": expected SPIN or BINARY");
    }
    g->nodes = l.nodes;
    sali_graph_make_biases(scan, g);
    int64_t *starts = scan->status == SAL_OK ? SALI_SCAN_ARRAY(scan, int64_t, l.nodes + 1) : NULL;
    g->offset = take_bias(scan, l.bias);
    if (starts) {
        read_variables(scan, &l, g, starts);
        read_pairs(&r, &l, starts);
        read_labels(scan, header, g);
    }
    sali_free(starts);
    json_decref(header);
}

static bool recognise(sali_scan *scan)
{
    return scan->end - scan->begin >= 8 && memcmp(scan->begin, MAGIC, 5) == 0;
}

const sali_format sali_format_bqm = {
    .name = "bqm",
    .doc = "energies (BQM) of dimod's binary files, with names and offset; f is minus the energy",
    .suffixes = { ".bqm" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .comments = SALI_BYTES,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
};
