/* Writing graphs in GraphML: what networkx, igraph and Gephi read. */
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "io/graphs/graphml.h"
#include "io/text_output.h"

/* Text as the value of an attribute. */
static void put_value(sali_text_output *w, const char *text)
{
    for (; *text && w->status == SAL_OK; text++) {
        char one[2] = { *text, '\0' }, reference[8];
        bool plain = (unsigned char)*text >= ' ' && !strchr("&<>\"", *text);
        snprintf(reference, sizeof reference, "&#%d;", *text);
        sali_put_text(w, plain ? one : reference);
    }
}

static void put_id(sali_text_output *w, const sali_graph *g, int64_t node, const char *after)
{
    if (g->names) {
        put_value(w, g->names[node]);
        sali_put_text(w, after);
    } else {
        sali_put_int(w, node, after);
    }
}

static void put_heading(sali_text_output *w, const sali_graph *g)
{
    sali_put_text(
        w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
           "  <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n");
    if (g->node_weights) {
        sali_put_text(w, "  <key id=\"h\" for=\"node\" attr.name=\"h\" attr.type=\"double\"/>\n");
    }
    if (g->vartype != SALI_VARTYPE_NONE) {
        sali_put_text(w, "  <key id=\"vartype\" for=\"graph\" attr.name=\"vartype\" "
                         "attr.type=\"string\"/>\n");
    }
    sali_put_text(w, "  <graph edgedefault=\"undirected\">\n");
    if (g->vartype != SALI_VARTYPE_NONE) {
        sali_put_text(w, "    <data key=\"vartype\">");
        sali_put_text(w, g->vartype == SALI_VARTYPE_SPIN ? "SPIN" : "BINARY");
        sali_put_text(w, "</data>\n");
    }
}

static void put_node(sali_text_output *w, const sali_graph *g, int64_t k)
{
    sali_put_text(w, "    <node id=\"");
    put_id(w, g, k, g->node_weights ? "\">" : "\"/>\n");
    if (g->node_weights) {
        sali_put_text(w, "<data key=\"h\">");
        sali_put_double(w, g->node_weights[k], "</data></node>\n");
    }
}

static void put_edge(sali_text_output *w, const sali_graph *g, int64_t e)
{
    sali_put_text(w, "    <edge source=\"");
    put_id(w, g, g->pairs[2 * e], "\" target=\"");
    put_id(w, g, g->pairs[2 * e + 1], "\"><data key=\"weight\">");
    sali_put_double(w, g->weights[e], "</data></edge>\n");
}

sal_status sali_graphml_write(const char *path, const sali_graph *graph, sal_error *err)
{
    sali_text_output w;
    sali_text_open(&w, path, err);
    put_heading(&w, graph);
    for (int64_t k = 0; k < graph->nodes && w.status == SAL_OK; k++) {
        put_node(&w, graph, k);
    }
    for (int64_t e = 0; e < graph->edges && w.status == SAL_OK; e++) {
        put_edge(&w, graph, e);
    }
    sali_put_text(&w, "  </graph>\n</graphml>\n");
    return sali_text_close(&w);
}
