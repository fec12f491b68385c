/* SPDX-License-Identifier: MIT */
/* States of categorical variables as aligned sequences. */
#ifndef SALI_SEQUENCES_H
#define SALI_SEQUENCES_H

#include "models/content.h"

/* An alignment of codes [chains x draws x length], which codes are `bytes` bytes each, 1 or 4; all
 * are letters of the alphabet. Each is named by its chain and draw, from 1: "chain2_draw5"; with
 * `chains` 0, codes are [draws x length] and have no names.
 * Returns: MEMORY. On failure *out is untouched. */
sal_status sali_sequences_make(int64_t chains, int64_t draws, int64_t length, int bytes,
                               const void *codes, sal_alphabet alphabet, sali_content *out,
                               sal_error *err);

/* Numbers as sequences: the last dimension counts sites, the others draws, or chains and draws.
 * Numbers 0 to 4 are letters of RNA, 0 to 20 those of proteins.
 * Returns: ARGUMENT for other numbers, or fewer than 2 dimensions; MEMORY. */
sal_status sali_sequences_of_array(const sal_array *array, sali_content *out, sal_error *err);

#endif
