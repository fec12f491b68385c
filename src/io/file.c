/* SPDX-License-Identifier: MIT */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"

sal_status sali_path_in(const char *directory, const char *name, char path[SALI_PATH],
                        sal_error *err)
{
    return snprintf(path, SALI_PATH, "%s/%s", directory, name) < SALI_PATH
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "%.100s...: the path is too long", directory);
}

void sali_bytes_free(sali_bytes *bytes)
{
    sali_free(bytes->data);
    *bytes = (sali_bytes){ 0 };
}

/* Read exactly `size` bytes. */
static sal_status read_all(int fd, const char *path, unsigned char *data, int64_t size,
                           sal_error *err)
{
    int64_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, data + done, (size_t)(size - done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return sali_fail(err, SAL_ERR_IO, "%s: cannot be read: %m", path);
        }
        if (n == 0) {
            return sali_fail(err, SAL_ERR_IO, "%s: became shorter while it was read", path);
        }
        done += n;
    }
    return SAL_OK;
}

sal_status sali_file_read(const char *path, sali_bytes *out, sal_error *err)
{
    /* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "%s: cannot be opened: %m", path);
    }
    sal_status status;
    sali_bytes bytes = { 0 };
    struct stat info;
    if (fstat(fd, &info) != 0) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be examined: %m", path);
        goto fail;
    }
    if (!S_ISREG(info.st_mode)) {
        status = sali_fail(err, SAL_ERR_NOT_FOUND, "%s: is %s; expected a regular file", path,
                           S_ISDIR(info.st_mode) ? "a directory" : "a pipe or device");
        goto fail;
    }
    bytes.size = (int64_t)info.st_size;
    bytes.data = bytes.size < INT64_MAX ? sali_alloc(bytes.size + 1, 1) : NULL;
    if (!bytes.data) {
        status = sali_fail(err, SAL_ERR_MEMORY, "%s: out of memory for its %lld bytes", path,
                           (long long)bytes.size);
        goto fail;
    }
    status = read_all(fd, path, bytes.data, bytes.size, err);
    if (status != SAL_OK) {
        goto fail;
    }
    close(fd);
    *out = bytes;
    return SAL_OK;
fail:
    close(fd);
    sali_bytes_free(&bytes);
    return status;
}

bool sali_file_is_locked(int fd, bool to_write)
{
    int operation = (to_write ? LOCK_EX : LOCK_SH) | LOCK_NB;
    if (flock(fd, operation) == 0) {
        flock(fd, LOCK_UN);
        return false;
    }
    return errno == EWOULDBLOCK; /* else this file system has no locks */
}

bool sali_file_is_at(int fd, const char *path)
{
    struct stat opened, there;
    return fstat(fd, &opened) == 0 && lstat(path, &there) == 0 && opened.st_ino == there.st_ino &&
           opened.st_dev == there.st_dev;
}

/* Lock a temporary for this process. Returns false if another process holds the lock; true also on
 * a file system without locks. Record locks belong to a process, so a reservation does not keep its
 * own process from writing. libhdf5 takes the other kind of lock (flock) on what it writes. */
static bool take_lock(int fd)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    bool taken = fcntl(fd, F_SETLK, &all) != 0 && (errno == EAGAIN || errno == EACCES);
    return !taken && !sali_file_is_locked(fd, true);
}

/* Another process may put its temporary in place after this one has opened it and before this one
 * has locked it: then try again, at most this often. */
#define MOST_TRIES 100

/* Open and lock PATH.tmp, which keeps its contents. Returns the descriptor, or -1 with the error in
 * *err. */
static int open_temporary(const char *path, const char *temporary, sal_error *err)
{
    for (int k = 0; k < MOST_TRIES; k++) {
        int fd = open(temporary, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0) {
            sali_fail(err, SAL_ERR_IO, "%s: cannot be created: %m", temporary);
            return -1;
        }
        bool locked = take_lock(fd);
        if (locked && sali_file_is_at(fd, temporary)) {
            return fd;
        }
        close(fd);
        if (!locked) {
            break;
        }
    }
    sali_fail(err, SAL_ERR_IO, "%s: another process is writing it", path);
    return -1;
}

/* "PATH.tmp", to be freed; NULL when out of memory. */
static char *temporary_of(const char *path)
{
    size_t length = strlen(path);
    char *temporary = sali_alloc((int64_t)length + 5, 1);
    if (temporary) {
        memcpy(temporary, path, length);
        memcpy(temporary + length, ".tmp", 5);
    }
    return temporary;
}

/* SAL_ERR_IO if PATH exists and is a directory, pipe or device. */
static sal_status check_kind(const char *path, sal_error *err)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_IO, "%s: cannot be written: it exists and is %s", path,
                           S_ISDIR(info.st_mode) ? "a directory" : "a pipe or device");
}

struct sal_reservation {
    int fd;
    char *temporary;
};

sal_status sal_file_reserve(const char *path, sal_reservation **out, sal_error *err)
{
    if (!path || !out) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "reserving a file: path or out is NULL");
    }
    sal_status status = check_kind(path, err);
    sal_reservation *r = status == SAL_OK ? SALI_NEW(sal_reservation) : NULL;
    if (!r) {
        return status ? status : sali_fail_memory(err);
    }
    r->temporary = temporary_of(path);
    r->fd = r->temporary ? open_temporary(path, r->temporary, err) : -1;
    status = r->fd >= 0 ? SAL_OK : r->temporary ? SAL_ERR_IO : sali_fail_memory(err);
    if (status != SAL_OK) {
        sali_free(r->temporary);
        sali_free(r);
        return status;
    }
    *out = r;
    return SAL_OK;
}

void sal_file_release(sal_reservation *r)
{
    if (r) {
        if (sali_file_is_at(r->fd, r->temporary)) { /* nothing was written */
            unlink(r->temporary);
        }
        close(r->fd);
        sali_free(r->temporary);
        sali_free(r);
    }
}

sal_status sali_output_open(const char *path, sali_output *out, sal_error *err)
{
    sal_status status = check_kind(path, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_output output = { .path = sali_strdup(path), .temporary = temporary_of(path) };
    if (!output.path || !output.temporary) {
        status = sali_fail_memory(err);
        goto fail;
    }
    int fd = open_temporary(path, output.temporary, err);
    if (fd < 0) {
        status = SAL_ERR_IO;
        goto fail;
    }
    output.file = ftruncate(fd, 0) == 0 ? fdopen(fd, "wb") : NULL;
    if (!output.file) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be created: %m", output.temporary);
        unlink(output.temporary);
        close(fd);
        goto fail;
    }
    *out = output;
    return SAL_OK;
fail:
    sali_free(output.path);
    sali_free(output.temporary);
    return status;
}

void sali_output_unlock(sali_output *out)
{
    struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
    fcntl(fileno(out->file), F_SETLK, &all);
}

sal_status sali_output_write(sali_output *out, const void *data, int64_t size, sal_error *err)
{
    if (size > 0 && fwrite(data, 1, (size_t)size, out->file) != (size_t)size) {
        return sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %m", out->temporary);
    }
    return SAL_OK;
}

void sali_output_discard(sali_output *out)
{
    if (out->temporary) {
        unlink(out->temporary);
    }
    if (out->file) { /* and with it the lock */
        fclose(out->file);
    }
    sali_free(out->path);
    sali_free(out->temporary);
    *out = (sali_output){ 0 };
}

/* Make a rename in the directory of `path` survive a power failure. `path` is cut in place. */
static int sync_directory(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) {
        slash[slash == path ? 1 : 0] = '\0';
    }
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno == EACCES ? 0 : -1; /* a directory one may write but not list */
    }
    int result = fsync(fd);
    if (result != 0 && errno == EINVAL) {
        result = 0; /* a file system whose directories need none */
    }
    close(fd);
    return result;
}

sal_status sali_output_sync(sali_output *out, sal_error *err)
{
    return fflush(out->file) == 0 && fsync(fileno(out->file)) == 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %m", out->temporary);
}

sal_status sali_output_commit(sali_output *out, sal_error *err)
{
    int fd = fileno(out->file);
    sal_status status = sali_output_sync(out, err);
    if (status != SAL_OK) {
        goto fail;
    }
    if (!take_lock(fd) || !sali_file_is_at(fd, out->temporary)) {
        status = sali_fail(err, SAL_ERR_IO, "%s: another process has written it", out->path);
        fclose(out->file); /* the temporary belongs to the other process */
        out->file = NULL;
        sali_free(out->temporary);
        out->temporary = NULL;
        goto fail;
    }
    if (rename(out->temporary, out->path) != 0) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be replaced: %m", out->path);
        goto fail;
    }
    fclose(out->file); /* and with it the lock */
    out->file = NULL;
    status = SAL_OK;
    if (sync_directory(out->temporary) != 0) {
        status = sali_fail(err, SAL_ERR_IO, "%s: written, but its directory cannot be synced: %m",
                           out->path);
    }
    sali_free(out->temporary);
    out->temporary = NULL;
fail:
    sali_output_discard(out);
    return status;
}

sal_status sal_file_write(const char *path, const void *data, int64_t size, sal_error *err)
{
    sali_output out = { 0 };
    sal_status status = sali_output_open(path, &out, err);
    status = status ? status : sali_output_write(&out, data, size, err);
    status = status ? status : sali_output_commit(&out, err);
    sali_output_discard(&out);
    return status;
}
