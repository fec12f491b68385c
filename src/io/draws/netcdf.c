#include "io/draws/netcdf.h"

#include <errno.h>
#include <fcntl.h>
#include <netcdf.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/utf8.h"
#include "io/file.h"
#include "io/draws/netcdf_lock.h"

#define DEFLATE_LEVEL 4

pthread_mutex_t sali_netcdf_mutex = PTHREAD_MUTEX_INITIALIZER;

struct sali_netcdf {
    sali_output out; /* the temporary, which libnetcdf opens by its name */
    int id;
    bool open;
    sal_status status; /* of the first error */
    sal_error error;
};

/* ---- errors */

/* A call follows: not after an error. */
static bool begin(sali_netcdf *file)
{
    if (file->status != SAL_OK) {
        return false;
    }
    pthread_mutex_lock(&sali_netcdf_mutex);
    errno = 0;
    return true;
}

/* It returned `code`. HDF5 keeps its reasons to itself, but what the system said is in errno. */
static void end(sali_netcdf *file, int code)
{
    int reason = errno;
    pthread_mutex_unlock(&sali_netcdf_mutex);
    if (code == NC_NOERR) {
        return;
    }
    file->status = code == NC_ENOMEM ? SAL_ERR_MEMORY : SAL_ERR_IO;
    bool known = reason == ENOSPC || reason == EFBIG || reason == EIO || reason == EDQUOT;
    sali_fail(&file->error, file->status,
              "%s: cannot be written: %s; what was written before is there", file->out.temporary,
              known ? strerror(reason) : nc_strerror(code));
}

sal_status sali_netcdf_status(const sali_netcdf *file, sal_error *err)
{
    if (file->status != SAL_OK && err) {
        *err = file->error;
    }
    return file->status;
}

void sali_netcdf_no_memory(sali_netcdf *file)
{
    if (file->status == SAL_OK) {
        file->status = sali_fail_memory(&file->error);
    }
}

/* ---- the file */

sal_status sali_netcdf_create(const char *path, sali_netcdf **out, sal_error *err)
{
    sali_netcdf *file = SALI_NEW(sali_netcdf);
    if (!file) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_output_open(path, &file->out, err);
    if (status != SAL_OK) {
        sali_free(file);
        return status;
    }
    begin(file);
    int code = nc_create(file->out.temporary, NC_NETCDF4 | NC_CLOBBER, &file->id);
    file->open = code == NC_NOERR;
    end(file, code);
    if (!file->open) {
        status = sali_fail(err, file->status, "%s: cannot be created: %s", file->out.temporary,
                           nc_strerror(code));
        sali_netcdf_discard(file);
        return status;
    }
    *out = file;
    return SAL_OK;
}

void sali_netcdf_sync(sali_netcdf *file)
{
    if (begin(file)) {
        end(file, nc_sync(file->id));
    }
}

/* Whether the file system has, and the process may write, so many bytes more; 0, or the reason why
 * not. They are set aside where the file system can do that. */
static int set_aside(int fd, int64_t bytes)
{
    struct stat info;
    struct statvfs space;
    struct rlimit limit;
    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(info.st_size + bytes) > limit.rlim_cur) {
        return EFBIG;
    }
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_size, bytes) == 0) {
        return 0;
    }
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO) {
        return errno;
    }
    bool full = fstatvfs(fd, &space) == 0 &&
                (double)space.f_bavail * (double)space.f_frsize < (double)bytes;
    return full ? ENOSPC : 0;
}

void sali_netcdf_reserve(sali_netcdf *file, int64_t bytes)
{
    int reason = file->status == SAL_OK ? set_aside(fileno(file->out.file), bytes) : 0;
    if (reason != 0) {
        file->status = sali_fail(&file->error, SAL_ERR_IO,
                                 "%s: cannot be written: %s; what was written before is there",
                                 file->out.temporary, strerror(reason));
    }
}

/* After an error too: what was written by then is to be read. What was set aside is given back. */
static void close_file(sali_netcdf *file)
{
    struct stat info;
    if (!file->open) {
        return;
    }
    pthread_mutex_lock(&sali_netcdf_mutex);
    int code = nc_close(file->id);
    pthread_mutex_unlock(&sali_netcdf_mutex);
    file->open = false;
    if (code != NC_NOERR && file->status == SAL_OK) {
        file->status = sali_fail(&file->error, SAL_ERR_IO, "%s: cannot be written: %s",
                                 file->out.temporary, nc_strerror(code));
    }
    int fd = fileno(file->out.file);
    if (fstat(fd, &info) == 0 && ftruncate(fd, info.st_size) != 0 && file->status == SAL_OK) {
        file->status =
            sali_fail(&file->error, SAL_ERR_IO, "%s: cannot be written: %m", file->out.temporary);
    }
}

sal_status sali_netcdf_commit(sali_netcdf *file, sal_error *err)
{
    close_file(file);
    sal_status status = sali_netcdf_status(file, err);
    if (status != SAL_OK) {
        sali_netcdf_leave(file);
        return status;
    }
    status = sali_output_commit(&file->out, err);
    sali_free(file);
    return status;
}

void sali_netcdf_leave(sali_netcdf *file)
{
    if (file) {
        close_file(file);
        sali_output_leave(&file->out);
        sali_free(file);
    }
}

void sali_netcdf_discard(sali_netcdf *file)
{
    if (file) {
        close_file(file);
        sali_output_discard(&file->out);
        sali_free(file);
    }
}

/* ---- groups, dimensions, variables */

/* The file itself is a group, whose number libnetcdf does not promise to be 0. */
static int group_id(const sali_netcdf *file, int group)
{
    return group == SALI_NETCDF_ROOT ? file->id : group;
}

int sali_netcdf_group(sali_netcdf *file, const char *name)
{
    int group = SALI_NETCDF_ROOT;
    if (begin(file)) {
        end(file, nc_def_grp(file->id, name, &group));
    }
    return group;
}

int sali_netcdf_dimension(sali_netcdf *file, int group, const char *name, int64_t size)
{
    int dimension = -1;
    size_t length = size > 0 ? (size_t)size : NC_UNLIMITED;
    if (begin(file)) {
        end(file, nc_def_dim(group_id(file, group), name, length, &dimension));
    }
    return dimension;
}

static nc_type type_of(sali_dtype dtype)
{
    switch (dtype) {
    case SALI_DTYPE_U8:
        return NC_UBYTE;
    case SALI_DTYPE_I32:
        return NC_INT;
    case SALI_DTYPE_I64:
        return NC_INT64;
    default:
        return NC_DOUBLE;
    }
}

/* A variable without the attribute _FillValue, with which readers would turn codes into floats. */
int sali_netcdf_variable(sali_netcdf *file, int group, const char *name, sali_dtype dtype, int n,
                         const int *dimensions, const int64_t *chunk, int64_t cache)
{
    int variable = -1;
    size_t sizes[SALI_NETCDF_MOST_DIMENSIONS];
    if (!begin(file)) {
        return variable;
    }
    for (int k = 0; chunk && k < n; k++) {
        sizes[k] = (size_t)chunk[k];
    }
    int id = group_id(file, group);
    int code = nc_def_var(id, name, type_of(dtype), n, dimensions, &variable);
    if (code == NC_NOERR && chunk) {
        code = nc_def_var_chunking(id, variable, NC_CHUNKED, sizes);
    }
    if (code == NC_NOERR && chunk && cache > 0) {
        code = nc_def_var_deflate(id, variable, dtype != SALI_DTYPE_U8, 1, DEFLATE_LEVEL);
    }
    if (code == NC_NOERR && chunk &&
        cache > 0) { /* a prime number of slots; whole chunks go first */
        code = nc_set_var_chunk_cache(id, variable, (size_t)cache, 1009, 1.0F);
    }
    end(file, code);
    return variable;
}

void sali_netcdf_texts(sali_netcdf *file, int group, const char *name, int dimension,
                       char *const *texts)
{
    int variable = -1;
    if (!begin(file)) {
        return;
    }
    int id = group_id(file, group);
    int code = nc_def_var(id, name, NC_STRING, 1, &dimension, &variable);
    end(file, code ? code : nc_put_var_string(id, variable, (const char **)texts));
}

void sali_netcdf_write(sali_netcdf *file, int group, int variable, const int64_t *first,
                       const int64_t *count, const void *data)
{
    size_t start[SALI_NETCDF_MOST_DIMENSIONS], edge[SALI_NETCDF_MOST_DIMENSIONS];
    int n = 0;
    if (!begin(file)) {
        return;
    }
    int code = nc_inq_varndims(group_id(file, group), variable, &n);
    for (int k = 0; k < n && k < SALI_NETCDF_MOST_DIMENSIONS; k++) {
        start[k] = (size_t)first[k];
        edge[k] = (size_t)count[k];
    }
    end(file, code ? code : nc_put_vara(group_id(file, group), variable, start, edge, data));
}

/* ---- attributes */

void sali_netcdf_note_text(sali_netcdf *file, int group, int variable, const char *name,
                           const char *text)
{
    char *valid = sali_utf8_valid(text);
    if (begin(file)) {
        end(file, valid
                      ? nc_put_att_text(group_id(file, group), variable, name, strlen(valid), valid)
                      : NC_ENOMEM);
    }
    sali_free(valid);
}

void sali_netcdf_note_list(sali_netcdf *file, int group, int variable, const char *name, int64_t n,
                           const char *const *texts)
{
    if (begin(file)) {
        end(file, nc_put_att_string(group_id(file, group), variable, name, (size_t)n,
                                    (const char **)texts));
    }
}

void sali_netcdf_note_double(sali_netcdf *file, int group, int variable, const char *name,
                             int64_t n, const double *values)
{
    if (begin(file)) {
        end(file,
            nc_put_att_double(group_id(file, group), variable, name, NC_DOUBLE, (size_t)n, values));
    }
}

void sali_netcdf_note_uint(sali_netcdf *file, int group, int variable, const char *name,
                           uint64_t value)
{
    unsigned long long number = value;
    if (begin(file)) {
        end(file,
            nc_put_att_ulonglong(group_id(file, group), variable, name, NC_UINT64, 1, &number));
    }
}
