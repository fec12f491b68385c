/* SPDX-License-Identifier: MIT */
/* Families of random graphs: one function and one entry in the list each. */
#ifndef SALI_GRAPH_FAMILIES_H
#define SALI_GRAPH_FAMILIES_H

#include "core/rng.h"
#include "models/zoo/random_graph.h"

/* Uniform numbers, drawn one by one from the streams of consecutive steps. */
#define SALI_UNIFORMS_TILE 1024
typedef struct sali_uniforms {
    sali_stream stream;
    int64_t used;
    double u[SALI_UNIFORMS_TILE];
} sali_uniforms;

sali_uniforms sali_uniforms_of(uint64_t seed);
double sali_next_uniform(sali_uniforms *from);

/* A uniform integer of 0 .. bound - 1. */
int64_t sali_next_below(sali_uniforms *from, int64_t bound);

typedef struct sali_edge_list {
    int64_t *pairs; /* [edges x 2], allocated by sali_alloc */
    int64_t edges, room;
} sali_edge_list;

/* Append an edge. Returns: SAL_ERR_ARGUMENT if there are SALI_RANDOM_EDGES already;
 * SAL_ERR_MEMORY. */
sal_status sali_add_edge(sali_edge_list *list, int64_t i, int64_t j, sal_error *err);

typedef struct sali_graph_family {
    const char *name;
    const char *settings[3]; /* those of sali_graph_settings that the family obeys */
    /* Append the edges: no pair twice, and no loop. The caller frees list->pairs, also on
     * failure. */
    sal_status (*draw)(const sali_random_graph *spec, sali_edge_list *list, sal_error *err);
} sali_graph_family;

extern const sali_graph_family sali_graph_families[];

/* The settings that only some families obey; NULL ends the list. */
extern const char *const sali_graph_settings[];

#endif
