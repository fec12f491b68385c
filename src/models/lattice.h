/* SPDX-License-Identifier: MIT */
/* Lattices as lists of neighbours. */
#ifndef SALI_LATTICE_H
#define SALI_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

/* Write the pairs of neighbours in a lattice of `sides` sides, each pair once: its sites are
 * from[n step] and to[n step], for which there is room at n below sides times the number of sites.
 * Sites are numbered with the last side fastest; cyclic: the ends of each side meet. Returns the
 * number of pairs. */
int64_t sali_lattice_pairs(int sides, const int64_t *side, bool cyclic, int64_t *from, int64_t *to,
                           int64_t step);

#endif
