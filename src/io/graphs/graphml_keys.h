/* SPDX-License-Identifier: MIT */
/* The keys of a GraphML file, which declare its attributes. Those that matter are identified by
 * attr.name, whatever the key's id. */
#ifndef SALI_GRAPHML_KEYS_H
#define SALI_GRAPHML_KEYS_H

#include "core/name_table.h"
#include "io/scan.h"
#include "io/xml.h"

/* What an attribute belongs to. Each kind of owner has its own ids: networkx and igraph give keys
 * of nodes and of edges the same id. */
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

/* What the numbers of an attribute are: weights, energies of spins, or energies of variables whose
 * kind only the graph's vartype reveals. */
typedef enum sali_graphml_quantity {
    SALI_GRAPHML_WEIGHTS,
    SALI_GRAPHML_ENERGIES_OF_SPINS,
    SALI_GRAPHML_ENERGIES
} sali_graphml_quantity;

typedef struct sali_graphml_key {
    char *name;   /* attr.name of a key of nodes or edges; NULL: none */
    int row;      /* of the table of attributes; -1: none */
    bool boolean; /* its values may be words */
    bool number;  /* its type is numeric */
    bool used;    /* a node or edge has data for this key */
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
    bool has_standard[2];        /* a key declares this default */
} sali_graphml_keys;

void sali_graphml_keys_free(sali_graphml_keys *keys);

/* Add a <key>. out[owner] is the key for each owner, NULL if it is not for that owner; valid until
 * the next key is added. */
void sali_graphml_keys_add(sali_graphml_keys *keys, sali_scan *where,
                           const sali_xml_element *element, sali_graphml_key *out[SALI_OWNERS]);

/* Whether a key has this meaning. False for NULL. */
bool sali_graphml_key_means(const sali_graphml_key *key, sali_graphml_meaning meaning);

/* Choose the attributes of weights and names, where a file declares several: the first in the
 * table. Called after the last key. */
void sali_graphml_keys_choose(sali_graphml_keys *keys);

/* What the weights of edges are; called after the choice. */
sali_graphml_quantity sali_graphml_keys_quantity(const sali_graphml_keys *keys);

/* The file's name of the attribute of nodes' or edges' weights; NULL: it declares none. Called
 * after the choice. */
const char *sali_graphml_keys_weight_name(const sali_graphml_keys *keys, sali_graphml_owner owner);

/* The number of numeric attributes of nodes or edges that were ignored, if none is their weight;
 * *first is the first one's name. Ids and what Gephi uses for drawing are not counted. Called after
 * the data. */
int64_t sali_graphml_keys_passed_over(const sali_graphml_keys *keys, sali_graphml_owner owner,
                                      const char **first);

/* The meaning of data with key `id` at an owner; *boolean: its value may be a word. Called after
 * the choice. Fails if no key has the id. */
sali_graphml_meaning sali_graphml_keys_meaning(sali_graphml_keys *keys, sali_scan *where,
                                               sali_graphml_owner owner, const char *id,
                                               int64_t size, bool *boolean);

/* The value of a required attribute; "" after a failure. */
const char *sali_graphml_require(sali_scan *where, const sali_xml_element *element,
                                 const char *attribute, int64_t *size);

#endif
