/* SPDX-License-Identifier: MIT */
/* Graphs in GraphML; what is read is told at the top of graphml.c. */
#ifndef SALI_GRAPHML_H
#define SALI_GRAPHML_H

#include "models/content.h"

/* Write a graph, atomically: weights of edges as "weight", of nodes as "h", and "vartype".
 * Returns: IO; MEMORY. */
sal_status sali_graphml_write(const char *path, const sali_graph *graph, sal_error *err);

#endif
