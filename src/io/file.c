/* SPDX-License-Identifier: MIT */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A file that is empty, or -1. */
static int open_empty(const char *path, sal_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0 && sali_file_is_locked(fd, true)) {
        close(fd);
        sali_fail(err, SAL_ERR_IO, "%s: another process has it open", path);
        return -1;
    }
    if (fd < 0 || ftruncate(fd, 0) != 0) {
        sali_fail(err, SAL_ERR_IO, "%s: cannot be created: %m", path);
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

sal_status sali_output_open(const char *path, sali_output *out, sal_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return sali_fail(err, SAL_ERR_IO, "%s: cannot be written: it exists and is %s", path,
                         S_ISDIR(info.st_mode) ? "a directory" : "a pipe or device");
    }
    sal_status status = SAL_OK;
    size_t length = strlen(path);
    sali_output output = { .path = sali_strdup(path),
                           .temporary = sali_alloc((int64_t)length + 5, 1) };
    if (!output.path || !output.temporary) {
        status = sali_fail_memory(err);
        goto fail;
    }
    memcpy(output.temporary, path, length);
    memcpy(output.temporary + length, ".tmp", 5);
    int fd = open_empty(output.temporary, err);
    if (fd < 0) {
        status = SAL_ERR_IO;
        goto fail;
    }
    output.file = fdopen(fd, "wb");
    if (!output.file) {
        status = sali_fail_memory(err);
        close(fd);
        unlink(output.temporary);
        goto fail;
    }
    *out = output;
    return SAL_OK;
fail:
    sali_free(output.path);
    sali_free(output.temporary);
    return status;
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
    if (out->file) {
        fclose(out->file);
    }
    if (out->temporary) {
        unlink(out->temporary);
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

sal_status sali_output_commit(sali_output *out, sal_error *err)
{
    sal_status status;
    int flushed = fflush(out->file) == 0 && fsync(fileno(out->file)) == 0;
    if (!flushed) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %m", out->temporary);
        goto fail;
    }
    int closed = fclose(out->file);
    out->file = NULL;
    if (closed != 0) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %m", out->temporary);
        goto fail;
    }
    if (rename(out->temporary, out->path) != 0) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be replaced: %m", out->path);
        goto fail;
    }
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
