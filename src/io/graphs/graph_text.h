/* SPDX-License-Identifier: MIT */
/* What readers and writers of graphs share. */
#ifndef SALI_GRAPH_TEXT_H
#define SALI_GRAPH_TEXT_H

#include "io/scan.h"
#include "io/text_output.h"
#include "models/content.h"

/* End of messages about an edge from a node to itself. */
#define SALI_GRAPH_NO_LOOPS                                                                        \
    "; models of graphs have no such edges: remove it (of two spins that are one, the product is " \
    "always 1)"

/* A graph being read. */
typedef struct sali_graph_reader {
    sali_scan *scan;
    sali_graph *graph;
    int64_t pair_room, weight_room;
} sali_graph_reader;

/* Append an edge between nodes i and j. */
void sali_graph_add(sali_graph_reader *r, int64_t i, int64_t j, double weight);

/* Largest number of nodes that a file may declare without naming each: a small file must not ask
 * for much memory. */
#define SALI_GRAPH_FREE_NODES ((int64_t)1 << 24)

/* Read the number of nodes of a format that may give each a weight: at most `most` if that exceeds
 * the length of the text. */
#define SALI_GRAPH_FREE_WEIGHTS ((int64_t)1 << 20)
int64_t sali_graph_scan_nodes(sali_scan *scan, const char *what, int64_t most);

/* Read "n m", the numbers of nodes and of edges, from one line. Returns m. Fails also if n exceeds
 * both SALI_GRAPH_FREE_NODES and the length of the text. */
int64_t sali_graph_scan_counts(sali_scan *scan, int64_t *nodes);

/* Read the rest of an edge's line, "i j" or "i j weight", with nodes counted from 1; the weight is
 * 1 if absent. Fails for a loop. */
void sali_graph_scan_edge(sali_graph_reader *r);

/* Fails if another word follows on line `line`. */
void sali_graph_scan_line_end(sali_scan *scan, int64_t line);

/* Whether the names are `word` followed by 0, 1, .. in order. */
bool sali_graph_names_count(const sali_graph *graph, const char *word);

/* Remove names that carry no information: 0, 1, .. or, as igraph writes them, n0, n1, .. */
void sali_graph_forget_counting(sali_graph *graph);

/* An edge, with i < j, and its place among the graph's edges. */
typedef struct sali_sorted_edge {
    int64_t i, j, index;
    double weight;
} sali_sorted_edge;

/* A copy of the edges, sorted by i, then j, then place; to be freed. NULL when out of memory. */
sali_sorted_edge *sali_graph_sort_edges(const sali_graph *graph);

static inline bool sali_same_pair(const sali_sorted_edge *a, const sali_sorted_edge *b)
{
    return a->i == b->i && a->j == b->j;
}

/* Whether any node has a weight other than 0. */
bool sali_graph_has_node_weights(const sali_graph *graph);

/* For formats that number the nodes from 1: the numbers [nodes], to be freed. They follow the
 * graph's order or, if the names are the numbers 1 .. nodes or 0 .. nodes - 1 in any order, the
 * names. Fails with ARGUMENT for other names; the numbers are then undefined. NULL when out of
 * memory. */
int64_t *sali_graph_number(sali_text_output *w, const sali_graph *graph);

/* For formats that hold weights: fails with ARGUMENT if the graph holds energies. */
void sali_graph_refuse_energy(sali_text_output *w, const sali_graph *graph);

#endif
