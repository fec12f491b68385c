/* SPDX-License-Identifier: MIT */
/* What readers and writers of energies share: of spins, or of binary variables (QUBO). */
#ifndef SALI_GRAPH_ENERGY_H
#define SALI_GRAPH_ENERGY_H

#include "io/graphs/graph_text.h"

/* ---- the kind of the variables */

/* The vartype of the file: of a comment "vartype=SPIN" or BINARY, which begins with `mark` on any
 * line; else as the caller of the reader says. NONE if neither says it, and after a failure: for
 * another word, and for two vartypes. */
sali_vartype sali_graph_vartype(sali_scan *scan, char mark);

/* ---- labels: variables that have any numbers from 0 on */

/* Sort the labels [n] and keep each once. Returns how many are left. */
int64_t sali_graph_sort_labels(int64_t n, int64_t *labels);

/* The index of a label among n sorted ones; -1: there is none. */
int64_t sali_graph_find_label(int64_t label, const int64_t *labels, int64_t n);

/* Make the n sorted labels the names of the graph's n nodes; no names are kept if they are 0, 1,
 * .. */
void sali_graph_name_nodes(sali_scan *scan, sali_graph *graph, const int64_t *labels, int64_t n);

/* The labels [nodes] to write, to be freed: names that are numbers, or the nodes' places. Fails
 * with ARGUMENT for other names. NULL when out of memory. */
int64_t *sali_graph_labels(sali_text_output *w, const sali_graph *graph);

/* ---- entries */

/* Read "i j value" on a line, with variables counted from `first`, and add it to the graph: `value`
 * as the weight of node i if i = j, else `times` value as that of an edge. Returns whether i = j.
 */
bool sali_graph_scan_entry(sali_graph_reader *r, int64_t first, double times);

/* Allocate the weights of nodes, zeros, unless there are any. */
void sali_graph_make_biases(sali_scan *scan, sali_graph *graph);

/* Fails if the weights of a node, which were added up, or the offset overflowed. */
void sali_graph_check_biases(sali_scan *scan, const sali_graph *graph);

/* ---- writing */

/* Fails with ARGUMENT if the graph holds weights, for a format of energies. */
void sali_graph_refuse_weights(sali_text_output *w, const sali_graph *graph);

/* Set *out to an energy of binary variables x that is equal to the graph's energy, of spins
 * s = 2 x - 1 or binary variables. Its nodes all have weights; it borrows pairs and names. */
void sali_graph_binary(sali_text_output *w, const sali_graph *graph, sali_graph *out);

/* Free what sali_graph_binary allocated. */
void sali_graph_binary_free(sali_graph *binary);

/* Remark that the format has no place for an offset, unless it is 0. */
void sali_graph_drop_offset(sali_text_output *w, double offset);

#endif
