/* SPDX-License-Identifier: MIT */
/* The nodes of a GraphML file: ids are strings, and an edge may name a node before it is there. */
#ifndef SALI_GRAPHML_NODES_H
#define SALI_GRAPHML_NODES_H

#include "core/name_table.h"
#include "io/scan.h"
#include "models/content.h"

/* Zero is the empty value. */
typedef struct sali_graphml_nodes {
    sali_name_table ids; /* in the order in which they are first named */
    int64_t *node_of;    /* [ids.count], -1: no such node so far */
    int64_t *line_of;    /* [ids.count] */
    int64_t count;       /* of nodes */
    double *weights;     /* [count] */
    char **names;        /* [count]: by an attribute; NULL: none */
    int64_t node_of_room, line_of_room, weight_room, name_room;
} sali_graphml_nodes;

void sali_graphml_nodes_free(sali_graphml_nodes *nodes);

/* The number of an id; -1 when out of memory. */
int64_t sali_graphml_node_id(sali_graphml_nodes *nodes, const sali_scan *where, const char *id,
                             int64_t size);

/* A node begins. Returns: DATA when it is there already; MEMORY. */
sal_status sali_graphml_node_add(sali_graphml_nodes *nodes, const sali_scan *where, const char *id,
                                 int64_t size, double weight, sal_error *err);

/* The name that an attribute gives the node that came last. */
sal_status sali_graphml_node_name(sali_graphml_nodes *nodes, const char *text, int64_t size,
                                  sal_error *err);

/* Hand nodes and names to a graph, whose pairs are numbers of ids until then. The names are the ids
 * or, where these are n0, n1, .., those that attributes gave, if all are there and different.
 * Returns: DATA for an edge of a node that did not come; MEMORY. */
sal_status sali_graphml_nodes_take(sali_graphml_nodes *nodes, const sali_scan *where,
                                   sali_graph *graph, sal_error *err);

#endif
