/* SPDX-License-Identifier: MIT */
/* Writing graphs in GraphML: what networkx, igraph and Gephi read. */
#include "io/graphs/graphml.h"

#include "io/graphs/graph_energy.h"

/* Write everything before the first node: the keys of the attributes used, and the vartype. */
static void put_heading(sali_text_output *w, const sali_graph *g)
{
    sali_put_raw(w,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
                 "  <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n");
    if (g->node_weights) {
        sali_put_raw(w, "  <key id=\"h\" for=\"node\" attr.name=\"h\" attr.type=\"double\"/>\n");
    }
    if (g->vartype != SALI_VARTYPE_NONE) {
        sali_put_raw(w, "  <key id=\"vartype\" for=\"graph\" attr.name=\"vartype\" "
                        "attr.type=\"string\"/>\n");
    }
    sali_put_raw(w, "  <graph edgedefault=\"undirected\">\n");
    if (g->vartype != SALI_VARTYPE_NONE) {
        sali_put(w, "    <data key=\"vartype\">%s</data>\n",
                 g->vartype == SALI_VARTYPE_SPIN ? "SPIN" : "BINARY");
    }
}

/* Write the name of a node, or its number if the graph has no names. */
static void put_id(sali_text_output *w, const sali_graph *g, int64_t node)
{
    if (g->names) {
        sali_put(w, "%s", g->names[node]);
    } else {
        sali_put(w, "%lld", (long long)node);
    }
}

void sali_graphml_write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    put_heading(w, g);
    for (int64_t k = 0; k < g->nodes && w->status == SAL_OK; k++) {
        sali_put_raw(w, "    <node id=\"");
        put_id(w, g, k);
        if (g->node_weights) {
            sali_put(w, "\"><data key=\"h\">%g</data></node>\n", g->node_weights[k]);
        } else {
            sali_put_raw(w, "\"/>\n");
        }
    }
    for (int64_t e = 0; e < g->edges && w->status == SAL_OK; e++) {
        sali_put_raw(w, "    <edge source=\"");
        put_id(w, g, g->pairs[2 * e]);
        sali_put_raw(w, "\" target=\"");
        put_id(w, g, g->pairs[2 * e + 1]);
        sali_put(w, "\"><data key=\"weight\">%g</data></edge>\n", g->weights[e]);
    }
    sali_put_raw(w, "  </graph>\n</graphml>\n");
    sali_graph_drop_offset(w, g->offset);
}
