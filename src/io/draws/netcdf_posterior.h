/* SPDX-License-Identifier: MIT */
/* The draws of an open netCDF-4 file, for the readers of such files. Callers of these functions
 * hold the lock, except for sali_netcdf_parse, which takes it. */
#ifndef SALI_NETCDF_POSTERIOR_H
#define SALI_NETCDF_POSTERIOR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/memory.h"
#include "io/hdf5_lock.h"
#include "io/draws/netcdf_coding.h"
#include "models/content.h"

#define SALI_NETCDF_MOST_DIMENSIONS 8

/* Deflate expands a byte to at most 1032: a file with more elements than this for each of its bytes
 * cannot be genuine. */
#define SALI_NETCDF_MOST_EXPANSION 2048

/* The draws of a file in memory, in ArviZ's layout: the numeric variables of the group `posterior`
 * with dimensions chain, draw and others, as one array (chains, draws, V) in the order of the file.
 * Returns: DATA; MEMORY; UNSUPPORTED without libnetcdf.
 * libnetcdf and libhdf5 are not made for untrusted files: what this function requests from them is
 * bounded, and a file that is not sealed is tried in a child process first. */
sal_status sali_netcdf_parse(const char *name, const char *data, int64_t size, sali_content *out,
                             sal_error *err);

/* A variable of a group, over n dimensions. */
typedef struct sali_netcdf_variable {
    int id, type, n;
    int dimensions[SALI_NETCDF_MOST_DIMENSIONS];
    size_t sizes[SALI_NETCDF_MOST_DIMENSIONS];
    int64_t sites;             /* for variables of draws: elements of a draw */
    sali_netcdf_coding coding; /* for variables of draws */
} sali_netcdf_variable;

/* Part of a variable. Variables are read in parts, in the order of their elements, because libhdf5
 * may take hundreds of bytes for each element that it reads at once. */
typedef struct sali_netcdf_part {
    int n, whole; /* number of dimensions; those from `whole` on are not divided */
    size_t from[SALI_NETCDF_MOST_DIMENSIONS], to[SALI_NETCDF_MOST_DIMENSIONS];
    size_t step[SALI_NETCDF_MOST_DIMENSIONS];
    /* Arguments for libnetcdf, and the number of elements of this part. */
    size_t start[SALI_NETCDF_MOST_DIMENSIONS], count[SALI_NETCDF_MOST_DIMENSIONS];
    size_t elements;
} sali_netcdf_part;

#define SALI_NETCDF_PART ((size_t)1 << 18) /* elements, at most */

/* The first part of a variable that has elements. Of its first `divided` dimensions k, only entries
 * first[k] .. first[k] + entries[k] - 1 are read. The next part; false if the last one has been
 * read. */
sali_netcdf_part sali_netcdf_first_part(const sali_netcdf_variable *v, int divided,
                                        const size_t *first, const size_t *entries);
bool sali_netcdf_next_part(sali_netcdf_part *p);

typedef struct sali_netcdf_posterior {
    const char *name; /* of the file, for messages */
    int64_t size;     /* its bytes */
    int file, id;     /* file: -1 if not open; id: the group */
    bool own;         /* the file is as this library wrote it */
    int64_t chains, draws, V;
    sali_netcdf_variable *variables;
    int64_t n, room;
} sali_netcdf_posterior;

/* Check and open a netCDF-4 file, in memory or, with `data` NULL, at the path `name`. *own: the
 * file is as this library wrote it, sealed or of a version that did not seal files. Returns: as
 * sali_netcdf_check. */
sal_status sali_netcdf_open(const char *name, const char *data, int64_t size, int *file, bool *own,
                            sal_error *err);

/* Find the numeric variables of the group `id` over chain, draw and others. Their sizes must be
 * plausible for the file's size. Call sali_netcdf_forget_draws in any case. Returns: DATA, also
 * when there are none; MEMORY. */
sal_status sali_netcdf_find_draws(sali_netcdf_posterior *p, sal_error *err);
void sali_netcdf_forget_draws(sali_netcdf_posterior *p);

/* Type and dimensions of variable `id`; false: it cannot be read, or has too many dimensions. */
bool sali_netcdf_inquire(int group, int id, sali_netcdf_variable *out);

/* Check that a file is netCDF-4 and may be given to libhdf5. *sealed: it ends with a seal, and the
 * bytes are still those that were sealed; any other file has been read by a child process. Returns:
 * DATA; IO, also for a file that another program has open for writing (libhdf5 locks such files by
 * flock); NOT_FOUND; MEMORY. */
sal_status sali_netcdf_check(const char *name, const char *data, int64_t size, bool *sealed,
                             sal_error *err);

/* Seal a file that libnetcdf has closed and that is open for reading and writing. Returns: IO. */
sal_status sali_netcdf_seal(int fd, const char *name, sal_error *err);

/* A text attribute of a variable, or of the group (NC_GLOBAL), of characters or one string; NULL if
 * there is none, or out of memory (then memory->refused). */
char *sali_netcdf_text(sali_memory *memory, int group, int variable, const char *name);

/* A number among the attributes of a file; false: there is none. */
bool sali_netcdf_number(int file, const char *name, unsigned long long *out);

/* Set `unmoved` and `warning` of the draws from the attributes that the run's summary left.
 * SAL_ERR_MEMORY. */
sal_status sali_netcdf_findings(const sali_netcdf_posterior *p, sal_array *draws, sal_error *err);

/* The variable of a name over n dimensions; false: there is none. */
bool sali_netcdf_find(int group, const char *name, int n, sali_netcdf_variable *out);

/* The variable of a group that holds figure number `noted` of the draws; false: there is none. */
bool sali_netcdf_find_noted(int group, int noted, sali_netcdf_variable *out);

/* Open a file in memory and find its draws; the caller has set `name`, `size` and file = -1. Call
 * sali_netcdf_close_draws in any case. Returns: DATA; MEMORY. */
sal_status sali_netcdf_open_draws(sali_netcdf_posterior *p, const char *data, sal_error *err);
void sali_netcdf_close_draws(sali_netcdf_posterior *p);

/* The values of draws first .. first + n - 1 as an array (chains, n, V). Returns: DATA, also for
 * values that are missing or not finite; MEMORY. */
sal_status sali_netcdf_read_draws(const sali_netcdf_posterior *p, int64_t first, int64_t n,
                                  sal_array *out, sal_error *err);

/* Write the codes [V] of the values of a draw of one chain. False if a value has no code; the code
 * is then -1. */
bool sali_netcdf_find_codes(const sali_netcdf_posterior *p, const double *row, int32_t *codes);

#endif
