/* SPDX-License-Identifier: MIT */
/* Whole files: reading them into memory and replacing them atomically. */
#ifndef SALI_FILE_H
#define SALI_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <saltus/io.h>
#include <saltus/status.h>

/* The bytes of a file, followed by a NUL that is not counted. Zero is the empty value. */
typedef struct sali_bytes {
    unsigned char *data;
    int64_t size;
} sali_bytes;

void sali_bytes_free(sali_bytes *bytes);

/* Write DIRECTORY/NAME to `path`. Returns: ARGUMENT if that is too long. */
#define SALI_PATH 4096
sal_status sali_path_in(const char *directory, const char *name, char path[SALI_PATH],
                        sal_error *err);

/* Read a regular file.
 * Returns:   NOT_FOUND when it cannot be opened or is a directory, pipe or device; IO; MEMORY.
 *            On failure *out is untouched. */
sal_status sali_file_read(const char *path, sali_bytes *out, sal_error *err);

/* Whether another open file holds a lock (flock) that forbids writing this one (to_write) or
 * reading it. */
bool sali_file_is_locked(int fd, bool to_write);

/* Whether the open file is still the one at `path`. */
bool sali_file_is_at(int fd, const char *path);

/* Limit of decompressed size: far above any data set, far below a decompression bomb. */
#define SALI_UNPACK_MAX ((int64_t)1 << 30)

/* As sali_file_read; a file that starts like gzip, bzip2 or xz is decompressed, to at most max_size
 * bytes.
 * Returns:   also DATA for a damaged or too large stream, UNSUPPORTED without the library. */
sal_status sali_file_read_unpacked(const char *path, int64_t max_size, sali_bytes *out,
                                   sal_error *err);

/* A file being written. All data go to PATH.tmp next to it, which replaces PATH on commit: readers
 * see the old content or the new, never a part. A symbolic link is replaced. The temporary is
 * locked against other processes until it is in place; within one process, the caller must keep
 * writers of the same path apart. */
typedef struct sali_output {
    FILE *file;
    char *path;
    char *temporary;
} sali_output;

/* Returns IO when the file cannot be created, another process is writing it, or PATH is a directory
 * or device; MEMORY. */
sal_status sali_output_open(const char *path, sali_output *out, sal_error *err);

/* Release the lock until the commit, so that libhdf5 can open and lock the temporary itself. */
void sali_output_unlock(sali_output *out);

/* On failure the output stays open and must be discarded. */
sal_status sali_output_write(sali_output *out, const void *data, int64_t size, sal_error *err);

/* Flush to the disk. On failure the output stays open and must be discarded. */
sal_status sali_output_sync(sali_output *out, sal_error *err);

/* Flush to the disk, rename and close. On failure the temporary is removed and PATH is as before,
 * but for a directory that cannot be synced: then the message says that PATH was written. */
sal_status sali_output_commit(sali_output *out, sal_error *err);

/* Close and remove the temporary; nothing happens to a zero or committed output. */
void sali_output_discard(sali_output *out);

#endif
