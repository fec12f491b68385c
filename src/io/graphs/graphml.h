/* SPDX-License-Identifier: MIT */
/* Graphs in GraphML. The comment at the top of graphml.c says what is read. */
#ifndef SALI_GRAPHML_H
#define SALI_GRAPHML_H

#include "io/text_output.h"
#include "models/content.h"

/* Write a graph. Weights of edges have the attribute "weight", weights of nodes "h"; the graph has
 * "vartype". */
void sali_graphml_write(sali_text_output *w, const sali_content *content);

#endif
