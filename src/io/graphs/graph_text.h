/* SPDX-License-Identifier: MIT */
/* What readers and writers of graphs share. */
#ifndef SALI_GRAPH_TEXT_H
#define SALI_GRAPH_TEXT_H

#include "io/scan.h"
#include "models/content.h"

/* A graph being read. */
typedef struct sali_graph_reader {
    sali_graph *graph;
    int64_t pair_room, weight_room;
} sali_graph_reader;

/* Append an edge. Returns: MEMORY. */
sal_status sali_graph_add(sali_graph_reader *r, int64_t i, int64_t j, double weight,
                          sal_error *err);

/* Nodes that a file may have without naming each: a small file must not ask for much memory. */
#define SALI_GRAPH_FREE_NODES ((int64_t)1 << 24)

/* "n m", the numbers of nodes and of edges, on one line. DATA also for more nodes than
 * SALI_GRAPH_FREE_NODES and the text's characters. */
sal_status sali_graph_scan_counts(sali_scan *scan, int64_t *nodes, int64_t *edges, sal_error *err);

/* The rest of an edge's line: "i j" or "i j weight", nodes counted from 1; *weight is as it was
 * when the line has none. DATA for a loop. */
sal_status sali_graph_scan_edge(sali_scan *scan, int64_t nodes, int64_t pair[2], double *weight,
                                sal_error *err);

/* DATA when another word is on the line. */
sal_status sali_graph_scan_line_end(sali_scan *scan, int64_t line, sal_error *err);

/* Are the names this word and then 0, 1, .. in order? */
bool sali_graph_names_count(const sali_graph *graph, const char *word);

/* Forget names that say no more than the numbers 0, 1, .. or, as igraph writes them, n0, n1, .. */
void sali_graph_forget_counting(sali_graph *graph);

/* Has a node a weight other than 0? */
bool sali_graph_has_node_weights(const sali_graph *graph);

/* For formats that count the nodes from 1: numbers[nodes], in the graph's order or, where the names
 * are the numbers 1 .. nodes or 0 .. nodes - 1 in any order, by name.
 * Returns: ARGUMENT for other names; MEMORY. */
sal_status sali_graph_number(const char *path, const sali_graph *graph, int64_t *numbers,
                             sal_error *err);

/* For formats of weights: ARGUMENT when the numbers are energies. */
sal_status sali_graph_refuse_energy(const char *path, const sali_graph *graph, sal_error *err);

#endif
