/* SPDX-License-Identifier: MIT */
/* What the formats of the UAI inference competitions share, and evidence. */
#ifndef SALI_UAI_H
#define SALI_UAI_H

#include "io/scan.h"
#include "models/content.h"

/* What counts as blanks in all formats of these competitions, for sali_scan_of. */
#define SALI_UAI_COMMENTS (SALI_COMMENT_C | SALI_COMMENT_CPP | SALI_COMMENT_HASH)

/* Bring the tables of a Bayesian network into the order of the format, if their sums show that they
 * are in the order of pgmpy, or have the child first in their scopes; the remark then reports this.
 * Fails if the rows of a table sum to 1 in none of these orders, or a variable is not the child of
 * exactly one table. `logarithms`: the entries were read as logarithms, which the error message
 * mentions. */
void sali_uai_settle_order(sali_scan *scan, sali_factor_graph *graph, bool logarithms,
                           sali_remark *remark);

/* Read evidence for `graph` into observed[variables]: a state, or -1 where nothing was observed.
 * Layouts: "n variable state ...", and the same for each of several samples after their number. "0"
 * is one sample without observations. The file may be compressed.
 * Params:    sample  its number from 1; 0: the only one of the file.
 *            remark  says how numbers were read that fit both layouts, where nothing decided.
 * Returns:   DATA for empty files, states out of range and contradictions; ARGUMENT for a sample
 *            that the file lacks, and for 0 where it has several; those of sali_file_read_unpacked.
 *            On failure observed is untouched. */
sal_status sali_uai_read_evidence(const char *path, const sali_factor_graph *graph, int64_t sample,
                                  int32_t *observed, sali_remark *remark, sal_error *err);

/* As sali_uai_read_evidence, from `size` bytes in memory; `name` is for messages. */
sal_status sali_uai_parse_evidence(const char *name, const void *text, int64_t size,
                                   const sali_factor_graph *graph, int64_t sample,
                                   int32_t *observed, sali_remark *remark, sal_error *err);

#endif
