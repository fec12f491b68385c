/* SPDX-License-Identifier: MIT */
/* Graphs in GraphML; what is read is told at the top of graphml.c. */
#ifndef SALI_GRAPHML_H
#define SALI_GRAPHML_H

#include "io/text_output.h"
#include "models/content.h"

/* Weights of edges are "weight", of nodes "h"; and "vartype". */
void sali_graphml_write(sali_text_output *w, const sali_content *content);

#endif
