/* SPDX-License-Identifier: MIT */
/* Which sequences of an alignment count, and what its user should know about them. */
#ifndef SALI_ZOO_ALIGNMENT_ROWS_H
#define SALI_ZOO_ALIGNMENT_ROWS_H

#include <saltus/data.h>
#include "models/content.h"

/* What the user asked for; zeros: every sequence counts, in the alphabet that the letters tell. */
typedef struct sali_alignment_rules {
    sal_alphabet alphabet;
    sal_unknown unknown;
    sal_duplicates duplicates;
} sali_alignment_rules;

/* Code an alignment by the rules' alphabet and drop sequences by the rules; the remark gets the
 * size, and what was dropped or decided. Codes are changed in place. Where sequences are dropped,
 * `letters` and `names`, which then belong to other rows, become NULL and are not freed: pass a
 * copy of the struct.
 * Returns: DATA when no sequence is left; MEMORY.
 * Cost:    linear. */
sal_status sali_alignment_prepare(sali_alignment *alignment, const sali_alignment_rules *rules,
                                  sali_remark *remark, sal_error *err);

/* Only the remark, of an alignment that is used as the file has it. Returns: MEMORY. */
sal_status sali_alignment_remark(const sali_alignment *alignment, sali_remark *remark,
                                 sal_error *err);

#endif
