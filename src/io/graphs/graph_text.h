/* SPDX-License-Identifier: MIT */
/* What readers and writers of graphs share. */
#ifndef SALI_GRAPH_TEXT_H
#define SALI_GRAPH_TEXT_H

#include "io/scan.h"
#include "io/text_output.h"
#include "models/content.h"

/* Behind the message about an edge that has one node. */
#define SALI_GRAPH_NO_LOOPS                                                                        \
    "; models of graphs have no such edges: remove it (of two spins that are one, the product is " \
    "always 1)"

/* A graph being read. */
typedef struct sali_graph_reader {
    sali_scan *scan;
    sali_graph *graph;
    int64_t pair_room, weight_room;
} sali_graph_reader;

/* Append an edge. */
void sali_graph_add(sali_graph_reader *r, int64_t i, int64_t j, double weight);

/* Nodes that a file may have without naming each: a small file must not ask for much memory. */
#define SALI_GRAPH_FREE_NODES ((int64_t)1 << 24)

/* "n m", the numbers of nodes and of edges, on one line; returns that of edges. It fails also for
 * more nodes than SALI_GRAPH_FREE_NODES and the text's characters. */
int64_t sali_graph_scan_counts(sali_scan *scan, int64_t *nodes);

/* The rest of an edge's line: "i j" or "i j weight", nodes counted from 1; without a weight it is
 * 1. It fails for a loop. */
void sali_graph_scan_edge(sali_graph_reader *r);

/* It fails when another word is on the line. */
void sali_graph_scan_line_end(sali_scan *scan, int64_t line);

/* Are the names this word and then 0, 1, .. in order? */
bool sali_graph_names_count(const sali_graph *graph, const char *word);

/* Forget names that say no more than the numbers 0, 1, .. or, as igraph writes them, n0, n1, .. */
void sali_graph_forget_counting(sali_graph *graph);

/* Has a node a weight other than 0? */
bool sali_graph_has_node_weights(const sali_graph *graph);

/* For formats that count the nodes from 1: their numbers [nodes], to be freed, in the graph's order
 * or, where the names are the numbers 1 .. nodes or 0 .. nodes - 1 in any order, by name. It fails
 * with ARGUMENT for other names, and then or before is NULL. */
int64_t *sali_graph_number(sali_text_output *w, const sali_graph *graph);

/* For formats of weights: it fails with ARGUMENT when the numbers are energies. */
void sali_graph_refuse_energy(sali_text_output *w, const sali_graph *graph);

#endif
