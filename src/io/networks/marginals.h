/* SPDX-License-Identifier: MIT */
/* Marginals in a file: {"log_z": ..., "evidence": n, "marginals": [[p(0), p(1), ...], ...]}, or a
 * MAR file of the UAI competitions. */
#ifndef SALI_MARGINALS_H
#define SALI_MARGINALS_H

#include <saltus/space.h>

/* How far from 1 a row may sum: files hold rounded decimals. */
#define SALI_MARGINALS_TOLERANCE 1e-3

/* Read the marginals [R] of all variables of `space`, and what else the file says: log_z (natural;
 * NaN if it does not) and the number of variables that were fixed by evidence (-1). Of NAME.MAR,
 * log_z is what NAME.PR says, if that is there.
 * Returns:   DATA when it is not such a file, or for another space: the message names the file and
 *            the variable; NOT_FOUND; IO; MEMORY. On failure outputs are unspecified. */
sal_status sali_marginals_read(const char *path, const sal_space *space, double *marginals,
                               double *log_z, int64_t *evidence, sal_error *err);

/* The same of `size` bytes, and of no other file; `name` is for messages. */
sal_status sali_marginals_parse(const char *name, const void *bytes, int64_t size,
                                const sal_space *space, double *marginals, double *log_z,
                                int64_t *evidence, sal_error *err);

/* Whether variable v has a finite row of marginals: UNSUPPORTED for a count without a cap. */
sal_status sali_marginals_states(const char *name, const sal_space *space, int64_t v,
                                 sal_error *err);

#endif
