/* SPDX-License-Identifier: MIT */
#include "io/graphs/graphml_nodes.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/graphs/graph_text.h"

void sali_graphml_nodes_free(sali_graphml_nodes *nodes)
{
    sali_name_table_clear(&nodes->ids);
    sali_free(nodes->node_of);
    sali_free(nodes->line_of);
    sali_free(nodes->weights);
    sali_names_free(nodes->names, nodes->count);
    *nodes = (sali_graphml_nodes){ 0 };
}

int64_t sali_graphml_node_id(sali_graphml_nodes *nodes, const sali_scan *where, const char *id,
                             int64_t size)
{
    int64_t count = nodes->ids.count;
    if (sali_grow((void **)&nodes->node_of, &nodes->node_of_room, count + 1, sizeof(int64_t)) !=
            0 ||
        sali_grow((void **)&nodes->line_of, &nodes->line_of_room, count + 1, sizeof(int64_t)) !=
            0) {
        return -1;
    }
    int64_t number = sali_name_table_put(&nodes->ids, id, size);
    if (number == count) {
        nodes->node_of[number] = -1;
        nodes->line_of[number] = where->line;
    }
    return number;
}

sal_status sali_graphml_node_add(sali_graphml_nodes *nodes, const sali_scan *where, const char *id,
                                 int64_t size, double weight, sal_error *err)
{
    int64_t number = sali_graphml_node_id(nodes, where, id, size);
    if (number < 0 ||
        sali_grow((void **)&nodes->weights, &nodes->weight_room, nodes->count + 1,
                  sizeof(double)) != 0 ||
        sali_grow((void **)&nodes->names, &nodes->name_room, nodes->count + 1, sizeof(char *)) !=
            0) {
        return sali_fail_memory(err);
    }
    if (nodes->node_of[number] >= 0) {
        char shown[SALI_SHOW_SIZE];
        return sali_scan_fail(where, where->line, err, "node '%s' again",
                              sali_show(id, size, shown));
    }
    nodes->node_of[number] = nodes->count;
    nodes->weights[nodes->count] = weight;
    nodes->names[nodes->count++] = NULL;
    return SAL_OK;
}

sal_status sali_graphml_node_name(sali_graphml_nodes *nodes, const char *text, int64_t size,
                                  sal_error *err)
{
    char *copy = sali_alloc(size + 1, 1);
    if (!copy) {
        return sali_fail_memory(err);
    }
    if (size > 0) {
        memcpy(copy, text, (size_t)size);
    }
    sali_free(nodes->names[nodes->count - 1]);
    nodes->names[nodes->count - 1] = copy;
    return SAL_OK;
}

/* ---- the end */

static sal_status resolve_edges(const sali_graphml_nodes *nodes, const sali_scan *where,
                                sali_graph *graph, sal_error *err)
{
    for (int64_t k = 0; k < nodes->ids.count; k++) {
        if (nodes->node_of[k] < 0) {
            char shown[SALI_SHOW_SIZE];
            const char *id = nodes->ids.names[k];
            return sali_scan_fail(where, nodes->line_of[k], err,
                                  "an edge of node '%s', which is not there",
                                  sali_show(id, (int64_t)strlen(id), shown));
        }
    }
    for (int64_t k = 0; k < 2 * graph->edges; k++) {
        graph->pairs[k] = nodes->node_of[graph->pairs[k]];
    }
    return SAL_OK;
}

/* Has every node a name of its own, and no two the same? */
static sal_status check_names(const sali_graphml_nodes *nodes, bool *good, sal_error *err)
{
    sali_name_table seen = { 0 };
    sal_status status = SAL_OK;
    *good = true;
    for (int64_t k = 0; *good && k < nodes->count; k++) {
        const char *name = nodes->names[k];
        int64_t number = name ? sali_name_table_put(&seen, name, (int64_t)strlen(name)) : k - 1;
        status = name && number < 0 ? sali_fail_memory(err) : status;
        *good = number == k;
    }
    sali_name_table_clear(&seen);
    return status;
}

sal_status sali_graphml_nodes_take(sali_graphml_nodes *nodes, const sali_scan *where,
                                   sali_graph *graph, sal_error *err)
{
    bool good = false;
    sal_status status = resolve_edges(nodes, where, graph, err);
    status = status ? status : check_names(nodes, &good, err);
    char **ids = status == SAL_OK ? SALI_NEW_ARRAY(char *, nodes->count) : NULL;
    if (!ids) {
        return status ? status : sali_fail_memory(err);
    }
    for (int64_t k = 0; k < nodes->ids.count; k++) {
        ids[nodes->node_of[k]] = nodes->ids.names[k];
        nodes->ids.names[k] = NULL;
    }
    graph->nodes = nodes->count;
    graph->names = ids;
    if (good && sali_graph_names_count(graph, "n")) {
        graph->names = nodes->names;
        nodes->names = ids;
    }
    return SAL_OK;
}
