/* SPDX-License-Identifier: MIT */
#include "io/graphs/graphml_nodes.h"

#include <string.h>

#include "core/alloc.h"
#include "io/graphs/graph_text.h"

void sali_graphml_nodes_free(sali_graphml_nodes *nodes)
{
    sali_name_table_clear(&nodes->ids);
    sali_free(nodes->id);
    sali_free(nodes->weights);
    sali_names_free(nodes->names, nodes->count);
}

int64_t sali_graphml_node_id(sali_graphml_nodes *nodes, sali_scan *where, const char *id,
                             int64_t size)
{
    int64_t count = nodes->ids.count, number = -1;
    if (sali_scan_grow(where, (void **)&nodes->id, &nodes->id_room, count + 1, sizeof *nodes->id)) {
        number = sali_name_table_put(&nodes->ids, id, size);
    }
    if (number == count) {
        nodes->id[number] = (sali_graphml_id){ .node = -1, .line = where->line };
    }
    return sali_scan_granted(where, number >= 0) ? number : 0;
}

void sali_graphml_node_add(sali_graphml_nodes *nodes, sali_scan *where, const char *id,
                           int64_t size, double weight)
{
    int64_t number = sali_graphml_node_id(nodes, where, id, size);
    if (!sali_scan_grow(where, (void **)&nodes->weights, &nodes->weight_room, nodes->count + 1,
                        sizeof(double)) ||
        !sali_scan_grow(where, (void **)&nodes->names, &nodes->name_room, nodes->count + 1,
                        sizeof(char *))) {
        return;
    }
    if (nodes->id[number].node >= 0) {
        char shown[SALI_SHOW_SIZE];
        sali_scan_fail(where, where->line, "node '%s' again", sali_show(id, size, shown));
        return;
    }
    nodes->id[number].node = nodes->count;
    nodes->weights[nodes->count] = weight;
    nodes->names[nodes->count++] = NULL;
}

void sali_graphml_node_name(sali_graphml_nodes *nodes, sali_scan *where, const char *text,
                            int64_t size)
{
    char *copy = sali_scan_copy(where, text, size);
    sali_free(nodes->names[nodes->count - 1]);
    nodes->names[nodes->count - 1] = copy;
}

/* ---- the end */

/* Replace numbers of ids by numbers of nodes in the graph's edges; fails if an edge names a node
 * that is not in the file. */
static void resolve_edges(const sali_graphml_nodes *nodes, sali_scan *where, sali_graph *graph)
{
    for (int64_t k = 0; k < nodes->ids.count; k++) {
        if (nodes->id[k].node < 0) {
            char shown[SALI_SHOW_SIZE];
            sali_scan_fail(where, nodes->id[k].line, "an edge of node '%s', which is not there",
                           sali_show(nodes->ids.names[k], -1, shown));
            return;
        }
    }
    for (int64_t k = 0; k < 2 * graph->edges; k++) {
        graph->pairs[k] = nodes->id[graph->pairs[k]].node;
    }
}

/* Whether every node has a name, and no two have the same. */
static bool has_names(const sali_graphml_nodes *nodes, sali_scan *where)
{
    sali_name_table seen = { 0 };
    bool good = true;
    for (int64_t k = 0; good && k < nodes->count; k++) {
        const char *name = nodes->names[k];
        int64_t number = name ? sali_name_table_put(&seen, name, (int64_t)strlen(name)) : k - 1;
        sali_scan_granted(where, !name || number >= 0);
        good = number == k;
    }
    sali_name_table_clear(&seen);
    return good;
}

void sali_graphml_nodes_take(sali_graphml_nodes *nodes, sali_scan *where, sali_graph *graph)
{
    resolve_edges(nodes, where, graph);
    bool good = has_names(nodes, where);
    char **ids = SALI_SCAN_ARRAY(where, char *, nodes->count);
    for (int64_t k = 0; ids && k < nodes->ids.count; k++) {
        ids[nodes->id[k].node] = nodes->ids.names[k];
        nodes->ids.names[k] = NULL;
    }
    graph->nodes = nodes->count;
    graph->names = ids;
    if (ids && good && sali_graph_names_count(graph, "n")) {
        graph->names = nodes->names;
        nodes->names = ids;
    }
}
