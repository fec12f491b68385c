/* SPDX-License-Identifier: MIT */
/* The nodes of a GraphML file: ids are strings, and an edge may name a node before it is there. */
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
    char **names;               /* [count]: by an attribute; NULL: none */
    int64_t id_room, weight_room, name_room;
} sali_graphml_nodes;

typedef struct sali_graphml_id {
    int64_t node; /* -1: no such node so far */
    int64_t line; /* that names it first */
} sali_graphml_id;

void sali_graphml_nodes_free(sali_graphml_nodes *nodes);

/* The number of an id; 0 after a failure. */
int64_t sali_graphml_node_id(sali_graphml_nodes *nodes, sali_scan *where, const char *id,
                             int64_t size);

/* A node begins. It fails when the node is there already. */
void sali_graphml_node_add(sali_graphml_nodes *nodes, sali_scan *where, const char *id,
                           int64_t size, double weight);

/* The name that an attribute gives the node that came last. */
void sali_graphml_node_name(sali_graphml_nodes *nodes, sali_scan *where, const char *text,
                            int64_t size);

/* Hand nodes and names to a graph, whose pairs are numbers of ids until then. The names are the ids
 * or, where these are n0, n1, .., those that attributes gave, if all are there and different. It
 * fails for an edge of a node that did not come. */
void sali_graphml_nodes_take(sali_graphml_nodes *nodes, sali_scan *where, sali_graph *graph);

#endif
