/* SPDX-License-Identifier: MIT */
/* A directory for the files of one test case, and files with bad content. Each case of Check runs
 * in a process of its own. */
#ifndef TEMP_DIR_H
#define TEMP_DIR_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char temp_dir[64];

static inline void temp_dir_make(void)
{
    strcpy(temp_dir, "/tmp/saltus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(temp_dir));
}

/* The path of `name` there; good until the fourth call after. */
static inline const char *temp_path(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", temp_dir, name);
    return path;
}

static inline void temp_remove_at(int at, const char *name)
{
    int fd = unlinkat(at, name, 0) ? openat(at, name, O_RDONLY | O_DIRECTORY) : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            temp_remove_at(fd, entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
        unlinkat(at, name, AT_REMOVEDIR);
    }
}

/* A file, or a directory with all that it holds. */
static inline void temp_remove(const char *path)
{
    temp_remove_at(AT_FDCWD, path);
}

static inline void temp_dir_remove(void)
{
    temp_remove(temp_dir);
}

/* How many files there are. */
static inline int temp_count(void)
{
    int count = 0;
    DIR *dir = opendir(temp_dir);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        count += entry->d_name[0] != '.';
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

static inline const char *temp_write(const char *name, const void *data, size_t size)
{
    const char *path = temp_path(name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    fclose(file);
    return path;
}

/* A reader under test: parse `size` bytes, free what comes out, return the status. The bytes are an
 * allocation of exactly that size, so that the address sanitizer sees any step beyond them. */
typedef sal_status (*temp_parser)(const void *bytes, int64_t size, sal_error *err);

static inline void temp_parse_copy(temp_parser parse, const unsigned char *bytes, int64_t size)
{
    unsigned char *copy = malloc(size > 0 ? (size_t)size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, (size_t)size);
    sal_error err = { 0 };
    sal_status status = parse(copy, size, &err);
    ck_assert(status == SAL_OK || status == SAL_ERR_DATA);
    ck_assert_int_eq(err.status, status);
    ck_assert(status == SAL_OK || strlen(err.message) > 0);
    free(copy);
}

/* Every prefix of a good file, and the file with each single bit turned, parse or are refused with
 * a message. */
static inline void temp_sweep(temp_parser parse, const void *good, int64_t size)
{
    unsigned char *bytes = malloc((size_t)size);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, good, (size_t)size);
    for (int64_t n = 0; n <= size; n++) {
        temp_parse_copy(parse, bytes, n);
    }
    for (int64_t i = 0; i < 8 * size; i++) {
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        temp_parse_copy(parse, bytes, size);
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    free(bytes);
}

#endif
