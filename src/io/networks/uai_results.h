/* SPDX-License-Identifier: MIT */
/* Answers in the formats of the UAI inference competitions: MAR, the marginals of all variables,
 * and PR, log10 of the partition function. Both exist with a count of samples, 1, after the heading
 * (as until 2012) and without (since 2014): both are read, the latter is written. */
#ifndef SALI_UAI_RESULTS_H
#define SALI_UAI_RESULTS_H

#include <stdbool.h>

#include <saltus/space.h>

#include "io/scan.h"

/* Whether the first word is MAR. */
bool sali_uai_is_mar(const sali_scan *scan);

/* Read the marginals [R] of all variables of `space`. Fails if the text is not in the format or
 * belongs to another space, and with UNSUPPORTED for a count without a cap. */
void sali_uai_read_mar(sali_scan *scan, const sal_space *space, double *marginals);

/* Read log10 Z and return its natural logarithm in *log_z. DATA if the text is not in the
 * format. */
sal_status sali_uai_parse_pr(const char *name, const void *text, int64_t size, double *log_z,
                             sal_error *err);

/* Write marginals [R], finite. Atomically.
 * Returns: UNSUPPORTED for a count without a cap; IO; MEMORY. */
sal_status sali_uai_write_mar(const char *path, const sal_space *space, const double *marginals,
                              sal_error *err);

#endif
