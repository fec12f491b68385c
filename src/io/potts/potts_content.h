/* SPDX-License-Identifier: MIT */
/* What the formats of Potts parameters share. */
#ifndef SALI_POTTS_CONTENT_H
#define SALI_POTTS_CONTENT_H

#include "io/format.h"

/* The sites x states up to which J, of 64 MB then, is allocated however short the file. Above, a
 * file must be long enough for what it describes: the memory for J is not a hostile file's to
 * take. */
#define SALI_POTTS_SMALL 2896

/* Allocate h and J, with zeros. Fails for more than SALI_POTTS_MOST sites x states, or for fewer
 * than one site or two states. Returns whether nothing failed. */
bool sali_potts_allocate(sali_scan *scan, sali_potts *potts, int64_t sites, int64_t states);

/* Copy the blocks (i, j) of J, i < j, to the blocks (j, i). */
void sali_potts_mirror(sali_potts *potts);

/* The letters of the reading, "" if it gives none. */
const char *sali_potts_given(const sali_scan *scan);

/* The letters that states of a file are, in the order of the file, become states in the order of an
 * alphabet, which is written to `alphabet`: order[k] is the state of letter k of `letters` [n]. The
 * alphabet is that of the reading; or a named one, with or without the gap, if it has these letters
 * in any order; or these letters, the gap ('-' or '.') first. Fails for letters of another alphabet
 * than the reading's, and for letters that are none. */
void sali_potts_order(sali_scan *scan, const char *letters, int64_t n, int64_t *order,
                      char alphabet[SAL_ALPHABET_ROOM]);

#endif
