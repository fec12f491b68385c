/* SPDX-License-Identifier: MIT */
/* Families of random graphs: one function and one entry in the list each. */
#ifndef SALI_GRAPH_FAMILIES_H
#define SALI_GRAPH_FAMILIES_H

#include "core/rng.h"
#include "models/zoo/random_graph.h"

/* Numbers of one stream, as it were: streams of neighbouring steps, one after the other. */
#define SALI_UNIFORMS_TILE 1024
typedef struct sali_uniforms {
    sali_stream stream;
    int64_t used;
    double u[SALI_UNIFORMS_TILE];
} sali_uniforms;

sali_uniforms sali_uniforms_of(uint64_t seed);
double sali_next_uniform(sali_uniforms *from);

/* An integer of 0 .. bound - 1. */
int64_t sali_next_below(sali_uniforms *from, int64_t bound);

typedef struct sali_edge_list {
    int64_t *pairs; /* [edges x 2], of sali_alloc */
    int64_t edges, room;
} sali_edge_list;

/* SAL_ERR_ARGUMENT for one too many; SAL_ERR_MEMORY. */
sal_status sali_add_edge(sali_edge_list *list, int64_t i, int64_t j, sal_error *err);

typedef struct sali_graph_family {
    const char *name;
    const char *settings[3]; /* of sali_graph_settings, those that it obeys */
    /* No pair twice, no loop. On failure too the list's pairs are the caller's to free. */
    sal_status (*draw)(const sali_random_graph *spec, sali_edge_list *list, sal_error *err);
} sali_graph_family;

extern const sali_graph_family sali_graph_families[];

/* The settings that only some families obey; NULL ends the list. */
extern const char *const sali_graph_settings[];

/* er (random_graph.c). */
sal_status sali_draw_er(const sali_random_graph *spec, sali_edge_list *list, sal_error *err);

#endif
