/* Exact marginals in a file: {"log_z": ..., "evidence": n, "marginals": [[p(0), p(1), ...], ...]}.
 */
#ifndef SALI_MARGINALS_H
#define SALI_MARGINALS_H

#include <saltus/space.h>

/* Read the marginals [R] of all variables of `space`, and what else the file says: log_z (natural;
 * NaN if it does not) and the number of variables that were fixed by evidence (-1).
 * Returns:   DATA when it is not such a file, or for another space: the message names the file and
 *            the variable; NOT_FOUND; IO; MEMORY. On failure outputs are unspecified. */
sal_status sali_marginals_read(const char *path, const sal_space *space, double *marginals,
                               double *log_z, int64_t *evidence, sal_error *err);

/* The same of `size` bytes; `name` is for messages. */
sal_status sali_marginals_parse(const char *name, const void *bytes, int64_t size,
                                const sal_space *space, double *marginals, double *log_z,
                                int64_t *evidence, sal_error *err);

#endif
