/* netCDF-4 files: groups of named, compressed arrays that grow while they are written; and reading
 * the draws of one.
 *
 * The file being written keeps its first error: calls after it do nothing, so that a layout can be
 * written down in one go and be looked at once. netCDF-C and HDF5 may be in one thread at a time:
 * all calls here share a lock. */
#ifndef SALI_NETCDF_H
#define SALI_NETCDF_H

#include <stdint.h>

#include <saltus/status.h>
#include "io/dtype.h"
#include "models/content.h"

#define SALI_NETCDF_MOST_DIMENSIONS 8

/* A file being written, under PATH.tmp until it is committed. */
typedef struct sali_netcdf sali_netcdf;

/* Returns: IO when it cannot be created; MEMORY. */
sal_status sali_netcdf_create(const char *path, sali_netcdf **out, sal_error *err);

/* The first error, as the status and the message; SAL_OK without. */
sal_status sali_netcdf_status(const sali_netcdf *file, sal_error *err);

/* The caller has run out of memory for what it meant to write. */
void sali_netcdf_no_memory(sali_netcdf *file);

/* The group of the whole file; and a new group in it. */
#define SALI_NETCDF_ROOT 0
int sali_netcdf_group(sali_netcdf *file, const char *name);

/* A dimension of a group; size 0: it grows. */
int sali_netcdf_dimension(sali_netcdf *file, int group, const char *name, int64_t size);

/* A variable, of U8, I32, I64 or F64, over dimensions of its group. With chunk [n], the shape in
 * which it is compressed, and the bytes of chunks that are kept in memory (0: not compressed). */
int sali_netcdf_variable(sali_netcdf *file, int group, const char *name, sali_dtype dtype, int n,
                         const int *dimensions, const int64_t *chunk, int64_t cache);

/* A variable of texts [size of the dimension]. */
void sali_netcdf_texts(sali_netcdf *file, int group, const char *name, int dimension,
                       char *const *texts);

/* A block of a variable's elements in C order: `begin` and `count` by dimension. */
void sali_netcdf_write(sali_netcdf *file, int group, int variable, const int64_t *begin,
                       const int64_t *count, const void *data);

/* Attributes of a variable, or of the group. In a text bytes that are no UTF-8, as paths may have,
 * become U+FFFD: readers refuse such a file. */
#define SALI_NETCDF_GROUP (-1)
void sali_netcdf_note_text(sali_netcdf *file, int group, int variable, const char *name,
                           const char *text);
void sali_netcdf_note_list(sali_netcdf *file, int group, int variable, const char *name, int64_t n,
                           const char *const *texts);
void sali_netcdf_note_double(sali_netcdf *file, int group, int variable, const char *name,
                             int64_t n, const double *values);
void sali_netcdf_note_uint(sali_netcdf *file, int group, int variable, const char *name,
                           uint64_t value);

/* Set room on the disk aside for what comes before the next sync, `bytes` at most; an error if
 * there is none. Disks are to be found full here: after a failed write HDF5 cannot close the file,
 * and brings the process down when it exits. */
void sali_netcdf_reserve(sali_netcdf *file, int64_t bytes);

/* All that was written goes to the operating system: a process killed between here and the next
 * write leaves a file PATH.tmp that can be read. */
void sali_netcdf_sync(sali_netcdf *file);

/* Close; PATH.tmp takes the place of PATH. After an error it stays where it is, and the error is
 * returned. The file is gone in any case. */
sal_status sali_netcdf_commit(sali_netcdf *file, sal_error *err);

/* Close and leave PATH.tmp where it is, or remove it. NULL is fine. */
void sali_netcdf_leave(sali_netcdf *file);
void sali_netcdf_discard(sali_netcdf *file);

/* The draws of a netCDF-4 file in memory, in ArviZ's layout: the numeric variables of the group
 * `posterior` with dimensions chain, draw and others, as one array (chains, draws, V) in the order
 * of the file. Returns: DATA; MEMORY; UNSUPPORTED without libnetcdf.
 * libnetcdf and libhdf5 are not made for files of strangers: this function bounds what it asks of
 * them, not what they do. */
sal_status sali_netcdf_parse(const char *name, const char *data, int64_t size, sali_content *out,
                             sal_error *err);

#endif
