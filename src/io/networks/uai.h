/* SPDX-License-Identifier: MIT */
/* What the formats of the UAI inference competitions share, and evidence. */
#ifndef SALI_UAI_H
#define SALI_UAI_H

#include "io/scan.h"
#include "models/content.h"

/* What counts as blanks in all formats of these competitions, for sali_scan_of. */
#define SALI_UAI_COMMENTS (SALI_COMMENT_C | SALI_COMMENT_CPP | SALI_COMMENT_HASH)

/* Read evidence for `graph` into observed[variables]: a state, or -1 where nothing was observed.
 * Layouts: "n variable state ..." and, older, "1 n variable state ..." (one sample). The first has
 * an odd count of numbers and the second an even one. An empty file and "0" hold no observation.
 * Returns:   DATA for states out of range and contradictions; those of sali_file_read. On failure
 *            observed is untouched. */
sal_status sali_uai_read_evidence(const char *path, const sali_factor_graph *graph,
                                  int32_t *observed, sal_error *err);

/* The same from memory. */
sal_status sali_uai_parse_evidence(const char *name, const void *text, int64_t size,
                                   const sali_factor_graph *graph, int32_t *observed,
                                   sal_error *err);

#endif
