/* SPDX-License-Identifier: MIT */
/* Deciding whether a netCDF file may be given to libhdf5, which crashes on some damaged files and
 * reads wrong numbers from others. Files of this library end with a checksum of their bytes, the
 * seal, behind everything that libhdf5 reads. Other files are first read by a child process. */
#include <fcntl.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/checksum.h"
#include "io/attempt.h"
#include "io/file.h"
#include "io/draws/netcdf_posterior.h"

#define MAGIC "saltsum1"
#define SEAL_BYTES ((int64_t)24)
#define PIECE ((int64_t)1 << 20) /* whole words */

/* A file by its descriptor or, if `data` is not NULL, in memory. */
typedef struct source {
    const char *name, *data;
    int fd;
    int64_t size;
} source;

/* Read `bytes` bytes at offset `at`; false: they cannot be read. */
static bool read_at(const source *s, void *to, int64_t bytes, int64_t at)
{
    if (s->data) {
        memcpy(to, s->data + at, (size_t)bytes);
        return true;
    }
    for (int64_t done = 0; done < bytes;) {
        ssize_t n = pread(s->fd, (char *)to + done, (size_t)(bytes - done), at + done);
        if (n <= 0) {
            return false;
        }
        done += n;
    }
    return true;
}

/* Compute the seal of the first `size` bytes. */
static sal_status compute_seal(const source *s, int64_t size, unsigned char seal[SEAL_BYTES],
                               sal_error *err)
{
    uint64_t hash = SALI_CHECKSUM_START;
    unsigned char *piece = s->data ? NULL : sali_alloc(PIECE, 1);
    bool ok = true;
    if (!s->data && !piece) {
        return sali_fail_memory(err);
    }
    for (int64_t at = 0; ok && at < size; at += PIECE) {
        int64_t n = size - at < PIECE ? size - at : PIECE;
        ok = s->data || read_at(s, piece, n, at);
        hash = ok ? sali_checksum(hash, s->data ? s->data + at : (char *)piece, n) : 0;
    }
    sali_free(piece);
    const uint64_t words[2] = { htole64((uint64_t)size), htole64(hash) };
    memcpy(seal, MAGIC, 8);
    memcpy(seal + 8, words, sizeof words);
    return ok ? SAL_OK : sali_fail(err, SAL_ERR_IO, "%s: cannot be read: %m", s->name);
}

sal_status sali_netcdf_seal(int fd, const char *name, sal_error *err)
{
    struct stat info;
    unsigned char seal[SEAL_BYTES];
    source s = { .name = name, .fd = fd };
    if (fstat(fd, &info) != 0) {
        return sali_fail(err, SAL_ERR_IO, "%s: cannot be examined: %m", name);
    }
    sal_status status = compute_seal(&s, (int64_t)info.st_size, seal, err);
    if (status == SAL_OK && pwrite(fd, seal, sizeof seal, info.st_size) != (ssize_t)sizeof seal) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %m", name);
    }
    return status;
}

/* ---- files of others */

/* Memory that libhdf5 may take, besides twice the size of the file. */
#define MOST_MEMORY ((int64_t)1 << 30)
#define MOST_DEPTH 8
#define MOST_GROUPS 4096

/* Read all n attributes of a variable, or of the group (NC_GLOBAL), and discard them. */
static void read_attributes(int group, int variable, int n)
{
    for (int k = 0; k < n; k++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        size_t count, bytes = 0;
        if (nc_inq_attname(group, variable, k, name) != NC_NOERR ||
            nc_inq_att(group, variable, name, &type, &count) != NC_NOERR || type > NC_STRING ||
            nc_inq_type(group, type, NULL, &bytes) != NC_NOERR || count > SALI_NETCDF_PART) {
            continue;
        }
        void *room = calloc(count + 1, bytes);
        if (room && nc_get_att(group, variable, name, room) == NC_NOERR && type == NC_STRING) {
            nc_free_string(count, room);
        }
        free(room);
    }
}

/* Read all elements of a variable and discard them, unless it is implausibly large. */
static void read_elements(int group, const sali_netcdf_variable *v, int64_t file_size)
{
    size_t bytes = 0;
    double total = 1;
    for (int k = 0; k < v->n; k++) {
        total *= (double)v->sizes[k];
    }
    if (total == 0 || total / SALI_NETCDF_MOST_EXPANSION > (double)file_size ||
        nc_inq_type(group, v->type, NULL, &bytes) != NC_NOERR) {
        return; /* this library does not read them either */
    }
    sali_netcdf_part part = sali_netcdf_first_part(v, 0, NULL, NULL);
    const size_t most = part.elements;
    void *room = calloc(most, bytes);
    while (room) {
        if (nc_get_vara(group, v->id, part.start, part.count, room) == NC_NOERR &&
            v->type == NC_STRING) {
            nc_free_string(most, room);
            memset(room, 0, most * bytes);
        }
        if (!sali_netcdf_next_part(&part)) {
            break;
        }
    }
    free(room);
}

/* Read a group with all its variables and subgroups, down to MOST_DEPTH. */
static void read_group(int group, int depth, int64_t file_size)
{
    int groups[MOST_GROUPS], n = 0, variables = 0, attributes = 0;
    nc_inq_natts(group, &attributes);
    read_attributes(group, NC_GLOBAL, attributes);
    nc_inq_nvars(group, &variables);
    for (int k = 0; k < variables; k++) {
        sali_netcdf_variable v;
        if (nc_inq_varnatts(group, k, &attributes) == NC_NOERR) {
            read_attributes(group, k, attributes);
        }
        if (sali_netcdf_inquire(group, k, &v) && v.type <= NC_STRING) {
            read_elements(group, &v, file_size);
        }
    }
    if (depth < MOST_DEPTH && nc_inq_grps(group, &n, NULL) == NC_NOERR && n <= MOST_GROUPS &&
        nc_inq_grps(group, &n, groups) == NC_NOERR) {
        for (int k = 0; k < n; k++) {
            read_group(groups[k], depth + 1, file_size);
        }
    }
}

/* The work of the child process: read everything that this library might read, and more. */
static void read_whole(const void *data)
{
    const source *s = data;
    int file;
    int code = s->data ? nc_open_mem(s->name, NC_NOWRITE, (size_t)s->size, (void *)s->data, &file)
                       : nc_open(s->name, NC_NOWRITE, &file);
    if (code != NC_NOERR) {
        _exit(1); /* end here: libhdf5 would free what it never set when it gives up */
    }
    read_group(file, 0, s->size);
    nc_close(file);
}

/* Whether another program has the file open for writing: libhdf5 then locks it. For bytes in
 * memory, this concerns the file of the same name, if there is one. */
static bool is_locked(const source *s)
{
    const int fd = s->fd >= 0 ? s->fd : open(s->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool locked = fd >= 0 && sali_file_is_locked(fd, false);
    if (fd >= 0 && s->fd < 0) {
        close(fd);
    }
    return locked;
}

/* ---- all of it */

/* Check one source: format, lock, then the seal or a child process. See sali_netcdf_check. */
static sal_status check_source(const source *s, bool *sealed, sal_error *err)
{
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    char head[8];
    unsigned char there[SEAL_BYTES], seal[SEAL_BYTES];
    const int64_t size = s->size - SEAL_BYTES;
    if (s->size < 8 || !read_at(s, head, 8, 0) || memcmp(head, hdf5, 8) != 0) {
        return sali_fail(err, SAL_ERR_DATA, "%s: is no netCDF-4 file", s->name);
    }
    if (is_locked(s)) { /* libhdf5 would say "HDF error" */
        return sali_fail(err, SAL_ERR_IO,
                         "%s: is locked: another program has it open for writing; close it there",
                         s->name);
    }
    *sealed = size >= 0 && read_at(s, there, SEAL_BYTES, size) && memcmp(there, MAGIC, 8) == 0;
    if (!*sealed) {
        const sali_attempt_limits limits = { 60 + (double)s->size / (1 << 20),
                                             MOST_MEMORY + 2 * s->size };
        return sali_attempt(s->name,
                            "is no netCDF-4 file, or a damaged one: libhdf5 cannot open it, "
                            "crashes, or takes too much time or memory",
                            &limits, read_whole, s, err);
    }
    sal_status status = compute_seal(s, size, seal, err);
    return status || memcmp(there, seal, sizeof seal) == 0
               ? status
               : sali_fail(err, SAL_ERR_DATA,
                           "%s: is damaged: its bytes are not those that were written", s->name);
}

sal_status sali_netcdf_check(const char *name, const char *data, int64_t size, bool *sealed,
                             sal_error *err)
{
    source s = { .name = name, .data = data, .fd = -1, .size = size };
    s.fd = data ? -1 : open(name, O_RDONLY | O_CLOEXEC);
    if (!data && s.fd < 0) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "%s: cannot be opened: %m", name);
    }
    sal_status status = check_source(&s, sealed, err);
    if (s.fd >= 0) {
        close(s.fd);
    }
    return status;
}
