/* SPDX-License-Identifier: MIT */
/* The keys of a GraphML file: which attributes matter, known by attr.name whatever the key's id. */
#ifndef SALI_GRAPHML_KEYS_H
#define SALI_GRAPHML_KEYS_H

#include "core/name_table.h"
#include "io/scan.h"
#include "io/xml.h"

/* What an attribute belongs to. Keys of each kind have ids of their own: networkx and igraph give
 * keys of nodes and of edges one id. */
typedef enum sali_graphml_owner {
    SALI_NODES,
    SALI_EDGES,
    SALI_WHOLE_GRAPH,
    SALI_OTHERS, /* ports, hyperedges, .. */
    SALI_OWNERS
} sali_graphml_owner;

typedef enum sali_graphml_meaning {
    SALI_GRAPHML_OTHER, /* does not matter */
    SALI_GRAPHML_NODE_WEIGHT,
    SALI_GRAPHML_EDGE_WEIGHT,
    SALI_GRAPHML_NODE_NAME,
    SALI_GRAPHML_VARTYPE
} sali_graphml_meaning;

/* What the numbers of an attribute are: weights, or energies of spins or of variables that only the
 * graph's vartype tells. */
typedef enum sali_graphml_quantity {
    SALI_GRAPHML_WEIGHTS,
    SALI_GRAPHML_ENERGIES_OF_SPINS,
    SALI_GRAPHML_ENERGIES
} sali_graphml_quantity;

typedef struct sali_graphml_key {
    char *name;   /* attr.name of a key of nodes or edges; NULL: none */
    int row;      /* of the table of attributes; -1: none */
    bool boolean; /* its values may be words */
    bool number;  /* its type is one of numbers */
    bool used;    /* a node or edge has data of it */
    bool has_default;
    double value; /* the default */
} sali_graphml_key;

typedef struct sali_graphml_domain {
    sali_name_table ids;
    sali_graphml_key *keys; /* [ids.count] */
    int64_t room;
} sali_graphml_domain;

/* Zero is the empty value. */
typedef struct sali_graphml_keys {
    sali_graphml_domain domains[SALI_OWNERS];
    /* set by sali_graphml_keys_choose */
    int weight_row[2], name_row; /* of nodes and edges; of nodes */
    double standard[2];          /* weights of nodes and edges by default */
    bool has_standard[2];        /* a key says so */
} sali_graphml_keys;

void sali_graphml_keys_free(sali_graphml_keys *keys);

/* Add a <key>; the key for each owner, NULL where it is not for that one. They are good until the
 * next key. */
void sali_graphml_keys_add(sali_graphml_keys *keys, sali_scan *where,
                           const sali_xml_element *element, sali_graphml_key *out[SALI_OWNERS]);

/* Has a key that meaning? False for NULL. */
bool sali_graphml_key_means(const sali_graphml_key *key, sali_graphml_meaning meaning);

/* After the last key: among several attributes that could be the weights or names, take the first.
 */
void sali_graphml_keys_choose(sali_graphml_keys *keys);

/* What the weights of edges are; after the choice. */
sali_graphml_quantity sali_graphml_keys_quantity(const sali_graphml_keys *keys);

/* The name that the file gives the attribute of nodes' or edges' weights; NULL: it declares none.
 * After the choice. */
const char *sali_graphml_keys_weight_name(const sali_graphml_keys *keys, sali_graphml_owner owner);

/* The numbers of nodes or edges that are passed over although no attribute is their weight: how
 * many attributes, and the first one's name. Ids and what Gephi draws with are not counted. After
 * the data. */
int64_t sali_graphml_keys_passed_over(const sali_graphml_keys *keys, sali_graphml_owner owner,
                                      const char **first);

/* What data of a key means there, and whether words may be its values; after the choice. It fails
 * where no key has the id. */
sali_graphml_meaning sali_graphml_keys_meaning(sali_graphml_keys *keys, sali_scan *where,
                                               sali_graphml_owner owner, const char *id,
                                               int64_t size, bool *boolean);

/* The value of an attribute that must be there; "" after a failure. */
const char *sali_graphml_require(sali_scan *where, const sali_xml_element *element,
                                 const char *attribute, int64_t *size);

#endif
