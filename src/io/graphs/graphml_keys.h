/* SPDX-License-Identifier: MIT */
/* The keys of a GraphML file: which attributes matter, known by attr.name whatever the key's id. */
#ifndef SALI_GRAPHML_KEYS_H
#define SALI_GRAPHML_KEYS_H

#include "core/name_table.h"
#include "io/scan.h"
#include "io/xml.h"

typedef enum sali_graphml_owner { SALI_NODES, SALI_EDGES, SALI_WHOLE_GRAPH } sali_graphml_owner;

typedef enum sali_graphml_meaning {
    SALI_GRAPHML_OTHER, /* does not matter */
    SALI_GRAPHML_NODE_WEIGHT,
    SALI_GRAPHML_EDGE_WEIGHT,
    SALI_GRAPHML_NODE_NAME,
    SALI_GRAPHML_VARTYPE
} sali_graphml_meaning;

typedef struct sali_graphml_key {
    int row[3];   /* of the table of attributes, for nodes, edges and the graph; -1: none */
    bool boolean; /* its values are words */
    bool has_default;
    double value; /* the default */
} sali_graphml_key;

/* Zero is the empty value. */
typedef struct sali_graphml_keys {
    sali_name_table ids;
    sali_graphml_key *keys; /* [ids.count] */
    int64_t room;
    /* set by sali_graphml_keys_choose */
    int weight_row[2], name_row; /* of nodes and edges; of nodes */
    double standard[2];          /* weights of nodes and edges by default */
    bool has_standard_of_nodes;  /* a key says so */
} sali_graphml_keys;

void sali_graphml_keys_free(sali_graphml_keys *keys);

/* Add a <key>; its number, 0 after a failure. */
int64_t sali_graphml_keys_add(sali_graphml_keys *keys, sali_scan *where,
                              const sali_xml_element *element);

/* Is the default of a key a number that may matter? */
bool sali_graphml_key_is_weight(const sali_graphml_key *key);

/* After the last key: among several attributes that could be the weights or names, take the first.
 */
void sali_graphml_keys_choose(sali_graphml_keys *keys);

/* What data of a key means there; after the choice. */
sali_graphml_meaning sali_graphml_keys_meaning(const sali_graphml_keys *keys, int64_t index,
                                               sali_graphml_owner owner);

/* The value of an attribute that must be there; "" after a failure. */
const char *sali_graphml_require(sali_scan *where, const sali_xml_element *element,
                                 const char *attribute, int64_t *size);

#endif
