/* SPDX-License-Identifier: MIT */
/* The draws of an open netCDF-4 file, for the readers of such files. Whoever calls these holds the
 * lock, but for the first, which takes it. */
#ifndef SALI_NETCDF_POSTERIOR_H
#define SALI_NETCDF_POSTERIOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/memory.h"
#include "io/draws/netcdf_coding.h"
#include "models/content.h"

/* libnetcdf and libhdf5 are not safe for threads: whoever calls them holds this. */
extern pthread_mutex_t sali_netcdf_mutex;

#define SALI_NETCDF_MOST_DIMENSIONS 8

/* Deflate makes a byte of at most 1032: a file that claims more elements than this for each of its
 * bytes was never written. */
#define SALI_NETCDF_MOST_EXPANSION 2048

/* The draws of a file in memory, in ArviZ's layout: the numeric variables of the group `posterior`
 * with dimensions chain, draw and others, as one array (chains, draws, V) in the order of the file.
 * Returns: DATA; MEMORY; UNSUPPORTED without libnetcdf.
 * libnetcdf and libhdf5 are not made for files of strangers: what this function asks of them is
 * bounded, and a file that is not sealed is tried in a child process first. */
sal_status sali_netcdf_parse(const char *name, const char *data, int64_t size, sali_content *out,
                             sal_error *err);

/* A variable of a group, over n dimensions. */
typedef struct sali_netcdf_variable {
    int id, type, n;
    int dimensions[SALI_NETCDF_MOST_DIMENSIONS];
    size_t sizes[SALI_NETCDF_MOST_DIMENSIONS];
    int64_t sites;             /* of draws: elements of a draw */
    sali_netcdf_coding coding; /* of draws */
} sali_netcdf_variable;

/* A variable is read in parts, in the order of its elements: libhdf5 may take hundreds of bytes for
 * each element that it reads at once. */
typedef struct sali_netcdf_part {
    int n, whole; /* dimensions; those from `whole` on are not divided */
    size_t from[SALI_NETCDF_MOST_DIMENSIONS], to[SALI_NETCDF_MOST_DIMENSIONS];
    size_t step[SALI_NETCDF_MOST_DIMENSIONS];
    /* For libnetcdf, of this part; and its elements. */
    size_t start[SALI_NETCDF_MOST_DIMENSIONS], count[SALI_NETCDF_MOST_DIMENSIONS];
    size_t elements;
} sali_netcdf_part;

#define SALI_NETCDF_PART ((size_t)1 << 18) /* elements, at most */

/* The first part of a variable that has elements, in so many entries from `first` on of its first
 * dimensions; and the next one, false: that was the last. */
sali_netcdf_part sali_netcdf_first_part(const sali_netcdf_variable *v, int divided,
                                        const size_t *first, const size_t *entries);
bool sali_netcdf_next_part(sali_netcdf_part *p);

typedef struct sali_netcdf_posterior {
    const char *name; /* of the file, for messages */
    int64_t size;     /* its bytes */
    int file, id;     /* -1: not open; the group */
    bool own;         /* it is as this library wrote it */
    int64_t chains, draws, V;
    sali_netcdf_variable *variables;
    int64_t n, room;
} sali_netcdf_posterior;

/* Open a netCDF-4 file that may be given to libhdf5, in memory or, with `data` NULL, at the path
 * `name`; and whether it is as this library wrote it: sealed, or of a version that did not
 * seal files. Returns: as sali_netcdf_check. */
sal_status sali_netcdf_open(const char *name, const char *data, int64_t size, int *file, bool *own,
                            sal_error *err);

/* The numeric variables over chain, draw and others of the group `id`, whose numbers of elements
 * fit the file's size; forget them in any case. Returns: DATA, also when there are none; MEMORY. */
sal_status sali_netcdf_find_draws(sali_netcdf_posterior *p, sal_error *err);
void sali_netcdf_forget_draws(sali_netcdf_posterior *p);

/* What is known of variable `id`; false: it cannot be read, or has too many dimensions. */
bool sali_netcdf_inquire(int group, int id, sali_netcdf_variable *out);

/* Whether a file is one of netCDF-4 and may be given to libhdf5: one that was sealed has its bytes
 * still, and *sealed is true; a child process has read the others. Returns: DATA; IO, also for a
 * file that another program has open for writing (libhdf5 locks these by flock); NOT_FOUND; MEMORY.
 */
sal_status sali_netcdf_check(const char *name, const char *data, int64_t size, bool *sealed,
                             sal_error *err);

/* Seal a file that is open for reading and writing, and was closed by libnetcdf. Returns: IO. */
sal_status sali_netcdf_seal(int fd, const char *name, sal_error *err);

/* An attribute of a variable or of the whole group as text, of characters or one string; NULL where
 * there is none. */
char *sali_netcdf_text(sali_memory *memory, int group, int variable, const char *name);

/* A number among the attributes of a file; false: there is none. */
bool sali_netcdf_number(int file, const char *name, unsigned long long *out);

/* What the run's summary said of its draws: `unmoved` and `warning`. MEMORY. */
sal_status sali_netcdf_findings(const sali_netcdf_posterior *p, sal_array *draws, sal_error *err);

/* The variable of a name over n dimensions; false: there is none. */
bool sali_netcdf_find(int group, const char *name, int n, sali_netcdf_variable *out);

/* The variable of a group that has one of what is noted; false: there is none. */
bool sali_netcdf_find_noted(int group, int noted, sali_netcdf_variable *out);

/* Open a file in memory and find its draws; `name`, `size` and file = -1 are set. DATA, MEMORY.
 * Close in any case. */
sal_status sali_netcdf_open_draws(sali_netcdf_posterior *p, const char *data, sal_error *err);
void sali_netcdf_close_draws(sali_netcdf_posterior *p);

/* The values of draws first .. first + n - 1 as an array (chains, n, V). Returns: DATA, also for
 * values that are missing or not finite; MEMORY. */
sal_status sali_netcdf_read_draws(const sali_netcdf_posterior *p, int64_t first, int64_t n,
                                  sal_array *out, sal_error *err);

/* The codes [V] of the values of a draw of one chain; -1 for a value without a code, and then
 * false. */
bool sali_netcdf_find_codes(const sali_netcdf_posterior *p, const double *row, int32_t *codes);

#endif
