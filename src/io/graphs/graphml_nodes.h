/* SPDX-License-Identifier: MIT */
/* The nodes of a GraphML file: ids are strings, and an edge may name a node that comes later. */
#ifndef SALI_GRAPHML_NODES_H
#define SALI_GRAPHML_NODES_H

#include "core/name_table.h"
#include "io/scan.h"
#include "models/content.h"

/* Zero is the empty value. */
typedef struct sali_graphml_nodes {
    sali_name_table ids;        /* in the order in which they are first named */
    struct sali_graphml_id *id; /* [ids.count] */
    int64_t count;              /* of nodes */
    double *weights;            /* [count] */
    char **names;               /* [count]: from an attribute; NULL: none */
    int64_t id_room, weight_room, name_room;
} sali_graphml_nodes;

typedef struct sali_graphml_id {
    int64_t node; /* -1: no such node so far */
    int64_t line; /* of its first appearance */
} sali_graphml_id;

void sali_graphml_nodes_free(sali_graphml_nodes *nodes);

/* The number of an id, which is added if new; 0 after a failure. */
int64_t sali_graphml_node_id(sali_graphml_nodes *nodes, sali_scan *where, const char *id,
                             int64_t size);

/* Add a node. Fails if there is already a node with this id. */
void sali_graphml_node_add(sali_graphml_nodes *nodes, sali_scan *where, const char *id,
                           int64_t size, double weight);

/* Set the name of the last node, from an attribute. */
void sali_graphml_node_name(sali_graphml_nodes *nodes, sali_scan *where, const char *text,
                            int64_t size);

/* Move nodes and names to a graph, whose edges hold numbers of ids until then. The names are the
 * ids or, if these are n0, n1, .., the names from an attribute, if all nodes have one and no two
 * are the same. Fails if an edge names a node that is not in the file. */
void sali_graphml_nodes_take(sali_graphml_nodes *nodes, sali_scan *where, sali_graph *graph);

#endif
