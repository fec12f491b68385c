/* SPDX-License-Identifier: MIT */
/* Graphs in GraphML, as networkx, igraph and Gephi write them.
 *
 * Attributes are known by attr.name, whatever the key's id, upper case or lower. A node's weight is
 * the first of "h", "field", "bias" and "weight" that the file declares for nodes, an edge's the
 * first of "J", "coupling", "bias" and "weight"; without one a node has the key's default or 0, an
 * edge the default or 1. The graph's attribute "vartype", SPIN or BINARY, says that the numbers are
 * energies. Edges have no direction here, whatever the file says: every edge is a term, so parallel
 * ones and the two directions add up. Nodes are named by their ids. igraph counts n0, n1, .. there
 * and keeps names in the attribute "name" or "id", which is then taken if no two are the same. All
 * other data is passed over. */
#include "io/graphs/graphml.h"

#include <stddef.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "io/format.h"
#include "io/graphs/graph_text.h"
#include "io/graphs/graphml_keys.h"
#include "io/graphs/graphml_nodes.h"
#include "io/xml.h"

typedef enum place {
    OUTSIDE,
    IN_ROOT,
    IN_KEY,
    IN_DEFAULT,
    IN_GRAPH,
    IN_GRAPH_DATA,
    IN_NODE,
    IN_NODE_DATA,
    IN_EDGE,
    IN_EDGE_DATA
} place;

typedef struct reader {
    sali_scan where; /* the file and the line of the last element, for messages */
    char *namespace; /* of the root element */
    place place;
    int ignored; /* how many elements deep in one that does not matter */
    bool has_graph;
    sali_graphml_keys keys;
    int64_t open_key; /* of the key or data that is open */
    sali_graphml_nodes nodes;
    sali_graph_reader edges;
    bool has_node_weights;
    bool given;   /* the open node or edge has its weight */
    bool collect; /* the text of the key's default or data */
    char *text;
    int64_t text_size, text_room;
} reader;

/* ---- keys */

static sal_status begin_key(reader *r, const sali_xml_element *element, sal_error *err)
{
    return r->has_graph ? sali_scan_fail(&r->where, r->where.line, err, "a key after the graph")
                        : sali_graphml_keys_add(&r->keys, &r->where, element, &r->open_key, err);
}

static sal_status begin_default(reader *r, const sali_xml_element *element, sal_error *err)
{
    (void)element;
    (void)err;
    r->collect = sali_graphml_key_is_weight(&r->keys.keys[r->open_key]);
    r->text_size = 0;
    return SAL_OK;
}

/* ---- the graph */

static sal_status begin_graph(reader *r, const sali_xml_element *element, sal_error *err)
{
    (void)element;
    if (r->has_graph) {
        return sali_scan_fail(&r->where, r->where.line, err,
                              "a second graph; expected one in a file");
    }
    r->has_graph = true;
    sali_graphml_keys_choose(&r->keys);
    r->has_node_weights = r->keys.has_standard_of_nodes;
    return SAL_OK;
}

static sal_status begin_node(reader *r, const sali_xml_element *element, sal_error *err)
{
    const char *id;
    int64_t size;
    sal_status status = sali_graphml_require(&r->where, element, "id", &id, &size, err);
    r->given = false;
    return status ? status
                  : sali_graphml_node_add(&r->nodes, &r->where, id, size,
                                          r->keys.standard[SALI_NODES], err);
}

/* The edges' nodes are numbers of ids until the end of the file. */
static sal_status begin_edge(reader *r, const sali_xml_element *element, sal_error *err)
{
    static const char *const ends[] = { "source", "target" };
    int64_t pair[2] = { 0, 0 }, size;
    for (int k = 0; k < 2; k++) {
        const char *id;
        sal_status status = sali_graphml_require(&r->where, element, ends[k], &id, &size, err);
        if (status != SAL_OK) {
            return status;
        }
        pair[k] = sali_graphml_node_id(&r->nodes, &r->where, id, size);
        if (pair[k] < 0) {
            return sali_fail_memory(err);
        }
    }
    if (pair[0] == pair[1]) {
        char shown[SALI_SHOW_SIZE];
        return sali_scan_fail(&r->where, r->where.line, err, "an edge from node '%s' to itself",
                              sali_show(r->nodes.ids.names[pair[0]], size, shown));
    }
    r->given = false;
    return sali_graph_add(&r->edges, pair[0], pair[1], r->keys.standard[SALI_EDGES], err);
}

/* ---- data */

static sali_graphml_meaning meaning_here(const reader *r)
{
    bool node = r->place == IN_NODE || r->place == IN_NODE_DATA;
    bool edge = r->place == IN_EDGE || r->place == IN_EDGE_DATA;
    return sali_graphml_keys_meaning(&r->keys, r->open_key,
                                     node   ? SALI_NODES
                                     : edge ? SALI_EDGES
                                            : SALI_WHOLE_GRAPH);
}

static sal_status begin_data(reader *r, const sali_xml_element *element, sal_error *err)
{
    const char *id;
    int64_t size;
    sal_status status = sali_graphml_require(&r->where, element, "key", &id, &size, err);
    if (status != SAL_OK) {
        return status;
    }
    r->open_key = sali_name_table_find(&r->keys.ids, id, size);
    if (r->open_key < 0) {
        char shown[SALI_SHOW_SIZE];
        return sali_scan_fail(&r->where, r->where.line, err,
                              "data of a key '%s' that is not declared before",
                              sali_show(id, size, shown));
    }
    r->collect = meaning_here(r) != SALI_GRAPHML_OTHER;
    r->text_size = 0;
    return SAL_OK;
}

/* The collected text as one word. */
static sal_status read_word(const reader *r, const char *what, sali_token *word, sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, r->where.name, r->text, r->text_size, 0);
    scan.line = r->where.line;
    sal_status status = sali_scan_token(&scan, word, err);
    word->line = r->where.line;
    if (status == SAL_OK && word->size == 0) {
        status = sali_scan_fail(&scan, r->where.line, err, "expected %s, found nothing", what);
    }
    return status ? status : sali_scan_end(&scan, err);
}

static sal_status read_number(const reader *r, double *out, sal_error *err)
{
    static const char what[] = "a finite decimal number";
    sali_token word;
    sal_status status = read_word(r, what, &word, err);
    if (status != SAL_OK) {
        return status;
    }
    bool yes = sali_token_is(&word, "true"), no = sali_token_is(&word, "false");
    if (r->keys.keys[r->open_key].boolean && (yes || no)) {
        *out = yes;
        return SAL_OK;
    }
    status = sali_parse_double(word.text, word.size, out);
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err)
           : status                 ? sali_scan_expected(&r->where, &word, what, err)
                                    : SAL_OK;
}

static sal_status end_default(reader *r, sal_error *err)
{
    sali_graphml_key *key = &r->keys.keys[r->open_key];
    key->has_default = r->collect;
    return r->collect ? read_number(r, &key->value, err) : SAL_OK;
}

static sal_status read_weight(reader *r, double *weight, sal_error *err)
{
    if (r->given) {
        return sali_scan_fail(&r->where, r->where.line, err,
                              "a second weight of the same node or edge");
    }
    r->given = true;
    return read_number(r, weight, err);
}

static sal_status read_vartype(reader *r, sal_error *err)
{
    static const char what[] = "the vartype SPIN or BINARY";
    sali_token word;
    sal_status status = read_word(r, what, &word, err);
    bool spin = status == SAL_OK && sali_token_is(&word, "SPIN");
    if (status == SAL_OK && !spin && !sali_token_is(&word, "BINARY")) {
        status = sali_scan_expected(&r->where, &word, what, err);
    }
    r->edges.graph->vartype = spin ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
    return status;
}

static sal_status end_data(reader *r, sal_error *err)
{
    switch (meaning_here(r)) {
    case SALI_GRAPHML_NODE_WEIGHT:
        r->has_node_weights = true;
        return read_weight(r, &r->nodes.weights[r->nodes.count - 1], err);
    case SALI_GRAPHML_EDGE_WEIGHT:
        return read_weight(r, &r->edges.graph->weights[r->edges.graph->edges - 1], err);
    case SALI_GRAPHML_NODE_NAME:
        return sali_graphml_node_name(&r->nodes, r->text, r->text_size, err);
    case SALI_GRAPHML_VARTYPE:
        return read_vartype(r, err);
    case SALI_GRAPHML_OTHER:
        break;
    }
    return SAL_OK;
}

/* ---- elements */

static const struct {
    place in;
    const char *name;
    place to;
    sal_status (*begin)(reader *r, const sali_xml_element *element, sal_error *err);
    sal_status (*end)(reader *r, sal_error *err); /* or NULL */
} elements[] = {
    { IN_ROOT, "key", IN_KEY, begin_key, NULL },
    { IN_ROOT, "graph", IN_GRAPH, begin_graph, NULL },
    { IN_KEY, "default", IN_DEFAULT, begin_default, end_default },
    { IN_GRAPH, "node", IN_NODE, begin_node, NULL },
    { IN_GRAPH, "edge", IN_EDGE, begin_edge, NULL },
    { IN_GRAPH, "data", IN_GRAPH_DATA, begin_data, end_data },
    { IN_NODE, "data", IN_NODE_DATA, begin_data, end_data },
    { IN_EDGE, "data", IN_EDGE_DATA, begin_data, end_data },
};

#define N_ELEMENTS ((int)(sizeof elements / sizeof *elements))

static sal_status begin_root(reader *r, const sali_xml_element *element, sal_error *err)
{
    if (strcmp(element->name, "graphml") != 0) {
        return sali_scan_fail(&r->where, r->where.line, err, "expected <graphml>, found <%.40s>",
                              element->name);
    }
    r->place = IN_ROOT;
    r->namespace = sali_strdup(element->namespace);
    return element->namespace && !r->namespace ? sali_fail_memory(err) : SAL_OK;
}

/* Other namespaces hold what programs keep for themselves. */
static bool is_foreign(const reader *r, const sali_xml_element *element)
{
    return !element->namespace != !r->namespace ||
           (r->namespace && strcmp(r->namespace, element->namespace) != 0);
}

static sal_status on_begin(void *self, const sali_xml_element *element, sal_error *err)
{
    reader *r = self;
    r->where.line = element->line;
    if (r->place == OUTSIDE) {
        return begin_root(r, element, err);
    }
    if (r->ignored > 0 || is_foreign(r, element)) {
        r->ignored++;
        return SAL_OK;
    }
    for (int k = 0; k < N_ELEMENTS; k++) {
        if (elements[k].in == r->place && strcmp(elements[k].name, element->name) == 0) {
            sal_status status = elements[k].begin(r, element, err);
            r->place = elements[k].to;
            return status;
        }
    }
    bool nested = strcmp(element->name, "graph") == 0;
    if (nested || strcmp(element->name, "hyperedge") == 0) {
        return sali_scan_fail(&r->where, r->where.line, err,
                              nested ? "a graph within a graph; expected one in a file"
                                     : "a hyperedge; expected edges of two nodes");
    }
    r->ignored++;
    return SAL_OK;
}

static sal_status on_end(void *self, sal_error *err)
{
    reader *r = self;
    if (r->ignored > 0) {
        r->ignored--;
        return SAL_OK;
    }
    for (int k = 0; k < N_ELEMENTS; k++) {
        if (elements[k].to == r->place) {
            sal_status status = elements[k].end ? elements[k].end(r, err) : SAL_OK;
            r->place = elements[k].in;
            r->collect = false;
            return status;
        }
    }
    return SAL_OK; /* the root */
}

static sal_status on_text(void *self, const char *text, int64_t size, sal_error *err)
{
    reader *r = self;
    if (!r->collect || r->ignored > 0) {
        return SAL_OK;
    }
    if (sali_grow((void **)&r->text, &r->text_room, r->text_size + size, 1) != 0) {
        return sali_fail_memory(err);
    }
    memcpy(r->text + r->text_size, text, (size_t)size);
    r->text_size += size;
    return SAL_OK;
}

/* ---- the whole */

static sal_status finish(reader *r, sal_error *err)
{
    sali_graph *graph = r->edges.graph;
    if (r->nodes.count == 0) {
        return sali_scan_fail(&r->where, r->where.line, err, "no graph with nodes");
    }
    sal_status status = sali_graphml_nodes_take(&r->nodes, &r->where, graph, err);
    if (status == SAL_OK) {
        sali_graph_forget_counting(graph);
    }
    if (status == SAL_OK && r->has_node_weights) {
        graph->node_weights = r->nodes.weights;
        r->nodes.weights = NULL;
    }
    return status;
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    reader r = { .where = { .name = name, .line = 1 }, .edges.graph = &out->graph };
    const sali_xml_handler handler = { &r, on_begin, on_end, on_text };
    sal_status status = sali_xml_stream(name, data, size, &handler, err);
    status = status ? status : finish(&r, err);
    sali_graphml_keys_free(&r.keys);
    sali_graphml_nodes_free(&r.nodes);
    sali_free(r.namespace);
    sali_free(r.text);
    return status;
}

/* ---- the record */

static bool recognise(const char *data, int64_t size)
{
    return sali_xml_root_is(data, size, "graphml");
}

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    return sali_graphml_write(path, &content->graph, err);
}

const sali_format sali_format_graphml = {
    .name = "graphml",
    .doc = "networkx, igraph, Gephi; edges' J, coupling, bias or weight, nodes' h, field, bias or "
           "weight",
    .suffixes = { ".graphml" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
