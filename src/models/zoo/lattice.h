/* SPDX-License-Identifier: MIT */
/* Lattices as lists of edges. */
#ifndef SALI_LATTICE_H
#define SALI_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/content.h"

/* Write the pairs of neighbours, each once, as i0, j0, i1, j1, ... into `pairs` (room for 4 rows
 * columns numbers). Returns the number of pairs. Site (r, c) is r columns + c; cyclic: a torus. */
int64_t sali_lattice_rectangle(int64_t rows, int64_t columns, bool cyclic, int64_t *pairs);

/* The square lattice as a graph whose `weights` are NULL; the caller frees it. Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_lattice_graph(int64_t side, bool cyclic, sali_graph *graph, sal_error *err);

#endif
