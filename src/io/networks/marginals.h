/* SPDX-License-Identifier: MIT */
/* Marginals in a file: {"log_z": ..., "evidence": n, "marginals": [[p(0), p(1), ...], ...]}, or a
 * MAR file of the UAI competitions. */
#ifndef SALI_MARGINALS_H
#define SALI_MARGINALS_H

#include <saltus/space.h>

/* Largest distance of a row's sum from 1: files hold rounded decimals. */
#define SALI_MARGINALS_TOLERANCE 1e-3

/* Read the marginals [R] of all variables of `space`, log_z (natural; NaN if the file lacks it) and
 * the number of variables fixed by evidence (-1 if the file lacks it). For NAME.MAR, log_z comes
 * from NAME.PR if that exists.
 * Returns:   DATA when it is not such a file, or for another space: the message names the file
 *            and the variable; NOT_FOUND; IO; MEMORY. On failure outputs are unspecified. */
sal_status sali_marginals_read(const char *path, const sal_space *space, double *marginals,
                               double *log_z, int64_t *evidence, sal_error *err);

/* As sali_marginals_read, but from `size` bytes in memory and no other file; `name` is for
 * messages. */
sal_status sali_marginals_parse(const char *name, const void *bytes, int64_t size,
                                const sal_space *space, double *marginals, double *log_z,
                                int64_t *evidence, sal_error *err);

/* Whether variable v has a finite row of marginals: UNSUPPORTED for a count without a cap. */
sal_status sali_marginals_states(const char *name, const sal_space *space, int64_t v,
                                 sal_error *err);

#endif
