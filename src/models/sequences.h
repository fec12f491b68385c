/* SPDX-License-Identifier: MIT */
/* States of categorical variables as aligned sequences. */
#ifndef SALI_SEQUENCES_H
#define SALI_SEQUENCES_H

#include "models/content.h"

/* Make an alignment of codes [chains x draws x length]; each code has `bytes` bytes, 1 or 4, and
 * stands for a letter of the alphabet. Each sequence is named by its chain and draw, from 1:
 * "chain2_draw5". With `chains` 0, codes are [draws x length], and the sequences have no names.
 * Returns: MEMORY. On failure *out is untouched. */
sal_status sali_sequences_make(int64_t chains, int64_t draws, int64_t length, int bytes,
                               const void *codes, const char *alphabet, sali_content *out,
                               sal_error *err);

/* Make an alignment of an array of codes, [draws x sites] or [chains x draws x sites], of the
 * alphabet `letters`; if that is "", of RNA if all codes are 0 to 4, else of proteins, with codes 0
 * to 20.
 * Returns: ARGUMENT for other numbers or dimensions; MEMORY. */
sal_status sali_sequences_of_array(const sal_array *array, const char *letters, sali_content *out,
                                   sal_error *err);

#endif
