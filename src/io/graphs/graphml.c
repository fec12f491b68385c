/* SPDX-License-Identifier: MIT */
/* Graphs in GraphML, as networkx, igraph and Gephi write them.
 *
 * Attributes are known by attr.name, whatever the key's id, upper case or lower. A node's weight is
 * the first of "h", "field", "bias" and "weight" that the file declares for nodes, an edge's the
 * first of "J", "coupling", "bias" and "weight"; without one a node has the key's default or 0, an
 * edge the default or 1, or 0 where edges have energies, and a remark counts those that have
 * neither value nor default. The graph's attribute "vartype", SPIN or BINARY, says that the numbers
 * are energies. Without it "J" and "coupling" of edges are energies of spins, as a remark says, and
 * "bias" is refused, since it may be of either. Edges have no direction here, whatever the file
 * says: every edge is a term, so parallel ones and the two directions add up. Nodes are named by
 * their ids. igraph counts n0, n1, .. there and keeps names in the attribute "name" or "id", which
 * is then taken if no two are the same. All other data is passed over, and a remark names numbers
 * where none are weights. */
#include "io/graphs/graphml.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
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
    sali_scan *scan; /* of the file; its line is the line of the last element */
    char *namespace; /* of the root element */
    place place;
    int ignored; /* nesting depth within an element that is ignored; 0: not in one */
    bool has_graph;
    sali_graphml_keys keys;
    sali_graphml_key *open_key[SALI_OWNERS]; /* the open key; NULL: not for that owner */
    sali_graphml_meaning meaning;            /* of the open data element */
    bool boolean;                            /* the value of the data or default may be a word */
    sali_graphml_nodes nodes;
    sali_graph_reader edges;
    bool has_node_weights;
    bool given;         /* the open node or edge has a weight */
    int64_t missing[2]; /* number of nodes and of edges without a weight */
    bool collect;       /* collect the text of the open default or data */
    char *text;
    int64_t text_size, text_room;
} reader;

/* ---- keys */

static void begin_key(reader *r, const sali_xml_element *element)
{
    if (r->has_graph) {
        sali_scan_fail(r->scan, r->scan->line, "a key after the graph");
    }
    sali_graphml_keys_add(&r->keys, r->scan, element, r->open_key);
}

/* Open a default value; its text is collected if the key matters. */
static void begin_default(reader *r, const sali_xml_element *element)
{
    (void)element;
    const sali_graphml_key *const *open = (const sali_graphml_key *const *)r->open_key;
    r->boolean = (open[SALI_NODES] && open[SALI_NODES]->boolean) ||
                 (open[SALI_EDGES] && open[SALI_EDGES]->boolean);
    r->collect = sali_graphml_key_means(open[SALI_NODES], SALI_GRAPHML_NODE_WEIGHT) ||
                 sali_graphml_key_means(open[SALI_EDGES], SALI_GRAPHML_EDGE_WEIGHT) ||
                 sali_graphml_key_means(open[SALI_WHOLE_GRAPH], SALI_GRAPHML_VARTYPE);
    r->text_size = 0;
}

/* ---- the graph */

/* Open the graph; all keys are known now, so the attributes for weights and names are chosen. */
static void begin_graph(reader *r, const sali_xml_element *element)
{
    (void)element;
    if (r->has_graph) {
        sali_scan_fail(r->scan, r->scan->line, "a second graph; expected one in a file");
    }
    r->has_graph = true;
    sali_graphml_keys_choose(&r->keys);
    r->has_node_weights = r->keys.has_standard[SALI_NODES];
}

static void begin_node(reader *r, const sali_xml_element *element)
{
    int64_t size;
    const char *id = sali_graphml_require(r->scan, element, "id", &size);
    r->given = false;
    sali_graphml_node_add(&r->nodes, r->scan, id, size, r->keys.standard[SALI_NODES]);
}

/* Open an edge. Until the end of the file its nodes are numbers of ids, as a node may follow its
 * edges. */
static void begin_edge(reader *r, const sali_xml_element *element)
{
    static const char *const ends[] = { "source", "target" };
    int64_t pair[2], size;
    for (int k = 0; k < 2; k++) {
        const char *id = sali_graphml_require(r->scan, element, ends[k], &size);
        pair[k] = sali_graphml_node_id(&r->nodes, r->scan, id, size);
    }
    if (r->scan->status == SAL_OK && pair[0] == pair[1]) {
        char shown[SALI_SHOW_SIZE];
        sali_scan_fail(r->scan, r->scan->line,
                       "an edge from node '%s' to itself" SALI_GRAPH_NO_LOOPS,
                       sali_show(r->nodes.ids.names[pair[0]], size, shown));
    }
    r->given = false;
    sali_graph_add(&r->edges, pair[0], pair[1], r->keys.standard[SALI_EDGES]);
}

/* ---- data */

/* Open a data element of the graph, a node or an edge; its text is collected if the key matters. */
static void begin_data(reader *r, const sali_xml_element *element)
{
    int64_t size;
    const sali_graphml_owner owner = r->place == IN_NODE   ? SALI_NODES
                                     : r->place == IN_EDGE ? SALI_EDGES
                                                           : SALI_WHOLE_GRAPH;
    const char *id = sali_graphml_require(r->scan, element, "key", &size);
    r->text_size = 0;
    r->meaning = SALI_GRAPHML_OTHER;
    if (r->scan->status == SAL_OK) {
        r->meaning = sali_graphml_keys_meaning(&r->keys, r->scan, owner, id, size, &r->boolean);
        r->collect = r->meaning != SALI_GRAPHML_OTHER;
    }
}

/* The collected text, which must be one word; `what` names it in messages. */
static sali_token read_word(reader *r, const char *what)
{
    sali_scan scan = sali_scan_of(r->scan->name, r->text, r->text_size, 0, r->scan->err);
    scan.line = r->scan->line;
    sali_token word = sali_scan_token(&scan);
    word.line = r->scan->line;
    if (word.size == 0) {
        sali_scan_fail(&scan, word.line, "expected %s, found nothing", what);
    }
    r->scan->status = sali_scan_end(&scan);
    return word;
}

/* The collected text as a number; "true" and "false" are 1 and 0 if the key is boolean. */
static double read_number(reader *r)
{
    static const char what[] = "a finite number";
    sali_token word = read_word(r, what);
    double value = sali_token_is(&word, "true");
    if (r->boolean && (value != 0 || sali_token_is(&word, "false"))) {
        return value;
    }
    if (sali_parse_real(word.text, word.size, &value) != SAL_OK) {
        sali_scan_expected(r->scan, &word, what);
    }
    return value;
}

/* Set the graph's vartype from the collected text. */
static void read_vartype(reader *r)
{
    static const char what[] = "the vartype SPIN or BINARY";
    sali_token word = read_word(r, what);
    bool spin = sali_token_is(&word, "SPIN");
    if (!spin && !sali_token_is(&word, "BINARY")) {
        sali_scan_expected(r->scan, &word, what);
    }
    r->edges.graph->vartype = spin ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY;
}

/* Close a default value and store it with the open keys; an empty one counts as none. */
static void end_default(reader *r)
{
    bool blank = true;
    for (int64_t k = 0; blank && k < r->text_size; k++) {
        blank = strchr(" \t\r\n", r->text[k]) != NULL;
    }
    if (!r->collect || blank || r->scan->status != SAL_OK) {
        return;
    }
    if (sali_graphml_key_means(r->open_key[SALI_WHOLE_GRAPH], SALI_GRAPHML_VARTYPE)) {
        read_vartype(r);
        return;
    }
    const double value = read_number(r);
    for (int owner = SALI_NODES; owner <= SALI_EDGES; owner++) {
        sali_graphml_key *key = r->open_key[owner];
        if (key && !key->has_default) {
            key->has_default = true;
            key->value = value;
        }
    }
}

/* Set the weight of the open node or edge from the collected text. */
static void read_weight(reader *r, double *weight)
{
    if (r->given) {
        sali_scan_fail(r->scan, r->scan->line, "a second weight of the same node or edge");
        return;
    }
    r->given = true;
    *weight = read_number(r);
}

/* Close a data element: its text becomes a weight, a name or the vartype. */
static void end_data(reader *r)
{
    switch (r->meaning) {
    case SALI_GRAPHML_NODE_WEIGHT:
        r->has_node_weights = true;
        read_weight(r, &r->nodes.weights[r->nodes.count - 1]);
        break;
    case SALI_GRAPHML_EDGE_WEIGHT:
        read_weight(r, &r->edges.graph->weights[r->edges.graph->edges - 1]);
        break;
    case SALI_GRAPHML_NODE_NAME:
        sali_graphml_node_name(&r->nodes, r->scan, r->text, r->text_size);
        break;
    case SALI_GRAPHML_VARTYPE:
        read_vartype(r);
        break;
    case SALI_GRAPHML_OTHER:
        break;
    }
}

static void end_node(reader *r)
{
    r->missing[SALI_NODES] += !r->given;
}

static void end_edge(reader *r)
{
    r->missing[SALI_EDGES] += !r->given;
}

/* ---- elements */

static const struct {
    place in;
    const char *name;
    place to;
    void (*begin)(reader *r, const sali_xml_element *element);
    void (*end)(reader *r); /* or NULL */
} elements[] = {
    { IN_ROOT, "key", IN_KEY, begin_key, NULL },
    { IN_ROOT, "graph", IN_GRAPH, begin_graph, NULL },
    { IN_KEY, "default", IN_DEFAULT, begin_default, end_default },
    { IN_GRAPH, "node", IN_NODE, begin_node, end_node },
    { IN_GRAPH, "edge", IN_EDGE, begin_edge, end_edge },
    { IN_GRAPH, "data", IN_GRAPH_DATA, begin_data, end_data },
    { IN_NODE, "data", IN_NODE_DATA, begin_data, end_data },
    { IN_EDGE, "data", IN_EDGE_DATA, begin_data, end_data },
};

#define N_ELEMENTS ((int)(sizeof elements / sizeof *elements))

/* Check the root element and remember its namespace. */
static void begin_root(reader *r, const sali_xml_element *element)
{
    if (strcmp(element->name, "graphml") != 0) {
        sali_scan_fail(r->scan, element->line, "expected <graphml>, found <%.40s>", element->name);
    }
    r->place = IN_ROOT;
    r->namespace = sali_strdup(element->namespace);
    sali_scan_granted(r->scan, !element->namespace || r->namespace);
}

/* Whether an element is in another namespace than the root: programs keep private data there. */
static bool is_foreign(const reader *r, const sali_xml_element *element)
{
    return !element->namespace != !r->namespace ||
           (r->namespace && strcmp(r->namespace, element->namespace) != 0);
}

/* Open an element: by the table above, or ignored with everything inside it. */
static void on_begin(void *self, const sali_xml_element *element)
{
    reader *r = self;
    r->scan->line = element->line;
    if (r->place == OUTSIDE) {
        begin_root(r, element);
        return;
    }
    if (r->ignored > 0 || is_foreign(r, element)) {
        r->ignored++;
        return;
    }
    for (int k = 0; k < N_ELEMENTS; k++) {
        if (elements[k].in == r->place && strcmp(elements[k].name, element->name) == 0) {
            elements[k].begin(r, element);
            r->place = elements[k].to;
            return;
        }
    }
    bool nested = strcmp(element->name, "graph") == 0;
    if (nested || strcmp(element->name, "hyperedge") == 0) {
        sali_scan_fail(r->scan, element->line,
                       nested ? "a graph within a graph; expected one in a file"
                              : "a hyperedge; expected edges of two nodes");
    }
    r->ignored++;
}

/* Close an element. */
static void on_end(void *self)
{
    reader *r = self;
    if (r->ignored > 0) {
        r->ignored--;
        return;
    }
    for (int k = 0; k < N_ELEMENTS; k++) {
        if (elements[k].to == r->place) {
            if (elements[k].end) {
                elements[k].end(r);
            }
            r->place = elements[k].in;
            r->collect = false;
            return;
        }
    }
}

/* Append to the collected text, if text is being collected. */
static void on_text(void *self, const char *text, int64_t size)
{
    reader *r = self;
    if (r->collect && r->ignored == 0 &&
        sali_scan_grow(r->scan, (void **)&r->text, &r->text_room, r->text_size + size, 1)) {
        memcpy(r->text + r->text_size, text, (size_t)size);
        r->text_size += size;
    }
}

/* ---- the whole */

/* Set the vartype, if the graph does not declare it, as the caller says, or from the attribute of
 * its edges, with a remark. */
static void find_vartype(reader *r, sali_graph *graph, sali_remark *remark)
{
    const sali_graphml_quantity quantity = sali_graphml_keys_quantity(&r->keys);
    if (graph->vartype == SALI_VARTYPE_NONE && r->scan->reading) {
        graph->vartype = r->scan->reading->vartype;
    }
    if (graph->vartype != SALI_VARTYPE_NONE || quantity == SALI_GRAPHML_WEIGHTS) {
        return;
    }
    if (quantity == SALI_GRAPHML_ENERGIES) {
        sali_scan_refuse(r->scan, "biases of edges are energies of spin or of binary variables; "
                                  "give the graph the attribute vartype, SPIN or BINARY");
    }
    graph->vartype = SALI_VARTYPE_SPIN;
    if (r->scan->status == SAL_OK) {
        const char *of_edges = sali_graphml_keys_weight_name(&r->keys, SALI_EDGES);
        const char *of_nodes = sali_graphml_keys_weight_name(&r->keys, SALI_NODES);
        const bool both = r->has_node_weights && of_nodes;
        r->scan->status = sali_remark_add(
            remark, true, r->scan->err,
            "%s of edges%s%s%s are energies of spins: f is minus their sum", of_edges,
            both ? " and " : "", both ? of_nodes : "", both ? " of nodes" : "");
    }
}

/* Add remarks on numeric attributes that were not read though the graph has no weights: they may be
 * weights under an unknown name. */
static void tell_passed_over(reader *r, sali_remark *remark)
{
    static const char *const without[] = { "nodes have no weights", "weights of edges are 1" };
    static const char *const better[] = { "'weight' or 'h'", "'weight', or 'J' for an energy" };
    for (int owner = SALI_NODES; owner <= SALI_EDGES; owner++) {
        char shown[SALI_SHOW_SIZE], others[40] = "";
        const char *name;
        const int64_t count =
            sali_graphml_keys_passed_over(&r->keys, (sali_graphml_owner)owner, &name);
        if (count > 1) {
            snprintf(others, sizeof others, " and %lld more", (long long)count - 1);
        }
        if (count > 0 && r->scan->status == SAL_OK) {
            r->scan->status = sali_remark_add(
                remark, true, r->scan->err,
                "%s: the file's attribute%s '%s'%s of %s %s not read (name it %s)", without[owner],
                count > 1 ? "s" : "", sali_show(name, -1, shown), others,
                owner == SALI_NODES ? "nodes" : "edges", count > 1 ? "are" : "is", better[owner]);
        }
    }
}

/* Add remarks on nodes and edges without a weight, if the file declares that attribute without a
 * default. */
static void tell_missing(reader *r, sali_remark *remark)
{
    static const char *const owners[] = { "node", "edge" };
    for (int owner = SALI_NODES; owner <= SALI_EDGES; owner++) {
        const char *name = sali_graphml_keys_weight_name(&r->keys, (sali_graphml_owner)owner);
        const int64_t missing = r->missing[owner];
        if (name && missing > 0 && !r->keys.has_standard[owner] && r->scan->status == SAL_OK) {
            r->scan->status =
                sali_remark_add(remark, true, r->scan->err, "%lld %s%s no %s, which is taken as %g",
                                (long long)missing, owners[owner], missing == 1 ? " has" : "s have",
                                name, r->keys.standard[owner]);
        }
    }
}

/* Complete the graph at the end of the file: vartype, remarks, names and node weights. */
static void finish_graph(reader *r, sali_graph *graph, sali_remark *remark)
{
    find_vartype(r, graph, remark);
    tell_missing(r, remark);
    tell_passed_over(r, remark);
    if (r->nodes.count == 0) {
        sali_scan_fail(r->scan, r->scan->line, "no graph with nodes");
        return;
    }
    sali_graphml_nodes_take(&r->nodes, r->scan, graph);
    sali_graph_forget_counting(graph);
    if (r->has_node_weights) {
        graph->node_weights = r->nodes.weights;
        r->nodes.weights = NULL;
    }
}

/* Read the document as a stream into out->graph. */
static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .scan = scan, .edges = { .scan = scan, .graph = &out->graph } };
    const sali_xml_handler handler = { &r, on_begin, on_end, on_text };
    sali_xml_stream(scan, &handler);
    if (scan->status == SAL_OK) {
        finish_graph(&r, &out->graph, &out->remark);
    }
    sali_graphml_keys_free(&r.keys);
    sali_graphml_nodes_free(&r.nodes);
    sali_free(r.namespace);
    sali_free(r.text);
}

const sali_format sali_format_graphml = {
    .name = "graphml",
    .doc = "networkx, igraph, Gephi; edges' J, coupling, bias or weight, nodes' h, field, bias or "
           "weight",
    .suffixes = { ".graphml" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .root = "graphml",
    .has_heading = true,
    .parse = parse,
    .write = sali_graphml_write,
};
