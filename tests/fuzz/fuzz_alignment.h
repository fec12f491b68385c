/* SPDX-License-Identifier: MIT */
/* The targets of alignments: one format each, and every promise of content.h. */
#ifndef FUZZ_ALIGNMENT_H
#define FUZZ_ALIGNMENT_H

#include "fuzz.h"

#include <string.h>

#include "io/format.h"

static inline int fuzz_alignment(const sali_format *format, const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    sal_status status =
        sali_format_parse(format, "fuzz", (const char *)data, (int64_t)size, &content, &err);
    fuzz_check(status, &err);
    sali_format_recognises(format, data, (int64_t)size);
    if (status != SAL_OK) {
        return 0;
    }
    const sali_alignment *a = &content.alignment;
    size_t letters = 0;
    for (int64_t k = 0; k < a->sequences * a->length; k++) {
        if (a->codes[k] >= strlen(a->alphabet)) {
            abort();
        }
    }
    for (int64_t r = 0; a->names && r < a->sequences; r++) {
        letters += strlen(a->names[r]);
    }
    if (content.kind != SALI_CONTENT_ALIGNMENT || a->sequences < 1 || a->length < 1 ||
        letters > size) {
        abort();
    }
    sali_content_free(&content);
    return 0;
}

#endif
