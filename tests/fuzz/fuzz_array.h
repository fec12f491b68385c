/* SPDX-License-Identifier: MIT */
/* What readers of arrays promise. */
#ifndef FUZZ_ARRAY_H
#define FUZZ_ARRAY_H

#include "fuzz.h"

#include <math.h>

#include "io/format.h"

/* Read it and look at all of it. `finite`: the reader refuses NaN and infinities. */
static inline void fuzz_numbers(const sali_format *format, bool finite, const uint8_t *data,
                                size_t size)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    const char *text = (const char *)data;
    sal_status status = sali_format_parse(format, "fuzz", text, (int64_t)size, &content, &err);
    fuzz_check(status, &err);
    sali_format_recognises(format, data, (int64_t)size);
    if (status != SAL_OK) {
        return;
    }
    const sal_array *a = &content.array;
    int64_t count = 1;
    for (int d = 0; d < a->ndim; d++) {
        count *= a->shape[d];
    }
    if (content.kind != SALI_CONTENT_ARRAY || count != a->count || count < 1) {
        abort();
    }
    for (int64_t i = 0; i < count; i++) {
        if (finite && !isfinite(a->values[i])) {
            abort();
        }
    }
    for (int64_t i = 0; a->labels && i < a->shape[0]; i++) {
        volatile int32_t label = a->labels[i]; /* for the sanitizers */
        (void)label;
    }
    sali_content_free(&content);
}

static inline void fuzz_array(const sali_format *format, const uint8_t *data, size_t size)
{
    fuzz_numbers(format, true, data, size);
}

#endif
