/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share. A target parses its input from memory, reads all of the result, and
 * stops the program where a reader breaks its promise. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

static inline void *fuzz_alloc(int64_t count, size_t size)
{
    void *p = calloc(count > 0 ? (size_t)count : 1, size);
    if (!p) {
        abort(); /* a count that the input's size does not justify */
    }
    return p;
}

#endif
