/* SPDX-License-Identifier: MIT */
/* Which sequences of an alignment are used, and remarks on them for the user. */
#ifndef SALI_ZOO_ALIGNMENT_ROWS_H
#define SALI_ZOO_ALIGNMENT_ROWS_H

#include <saltus/data.h>
#include "models/content.h"

/* What the user asked for; zeros: every sequence is used, in the present alphabet. */
typedef struct sali_alignment_rules {
    const char *alphabet; /* its letters; NULL or "": the present one */
    sal_unknown unknown;
    sal_duplicates duplicates;
} sali_alignment_rules;

/* Recode an alignment in the rules' alphabet and drop sequences by the rules. Size, dropped
 * sequences and decisions are appended to the remark. Codes are changed in place. If sequences are
 * dropped, `letters` and `names`, whose rows no longer match, become NULL and are not freed: pass a
 * copy of the struct.
 * Returns: DATA when no sequence is left; MEMORY.
 * Cost:    linear. */
sal_status sali_alignment_prepare(sali_alignment *alignment, const sali_alignment_rules *rules,
                                  sali_remark *remark, sal_error *err);

/* Append the remark alone, for an alignment that is used as in the file. Returns: MEMORY. */
sal_status sali_alignment_remark(const sali_alignment *alignment, sali_remark *remark,
                                 sal_error *err);

#endif
