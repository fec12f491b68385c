/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share. A target parses its input from memory, reads all of the result, and
 * stops the program where a reader breaks its promise. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saltus/status.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A reader succeeds, or refuses the content with a message. */
static inline void fuzz_check(sal_status status, const sal_error *err)
{
    if (status == SAL_OK ? err->message[0] != '\0'
                         : status != SAL_ERR_DATA || err->status != status || !err->message[0]) {
        abort();
    }
}

/* Anything but a library that lost its way; what is refused has a message. */
static inline void fuzz_check_any(sal_status status, const sal_error *err)
{
    if (status == SAL_ERR_INTERNAL || (status != SAL_OK && !err->message[0])) {
        abort();
    }
}

/* The path of a file in a directory of this process, for what reads paths; good until the next
 * call. */
static inline const char *fuzz_path(const char *name)
{
    static char directory[64], path[128];
    if (!directory[0]) {
        strcpy(directory, "/tmp/saltus-fuzz-XXXXXX");
        if (!mkdtemp(directory)) {
            abort();
        }
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* A file of this content there. */
static inline const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    const char *path = fuzz_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        abort();
    }
    return path;
}

static inline void *fuzz_alloc(int64_t count, size_t size)
{
    void *p = calloc(count > 0 ? (size_t)count : 1, size);
    if (!p) {
        abort(); /* a count that the input's size does not justify */
    }
    return p;
}

#endif
