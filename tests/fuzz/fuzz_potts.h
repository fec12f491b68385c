/* SPDX-License-Identifier: MIT */
/* What readers of Potts parameters promise. */
#ifndef FUZZ_POTTS_H
#define FUZZ_POTTS_H

#include "fuzz.h"

#include <math.h>

#include "io/format.h"

/* Read it and look at all of it. */
static inline void fuzz_potts(const sali_format *format, const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    sali_format_recognises(format, data, (int64_t)size);
    sal_status status =
        sali_format_parse(format, "fuzz", (const char *)data, (int64_t)size, &content, &err);
    fuzz_check(status, &err);
    if (status != SAL_OK) {
        return;
    }
    const sali_potts *p = &content.potts;
    const int64_t N = p->sites * p->states;
    if (content.kind != SALI_CONTENT_POTTS || p->sites < 1 || p->states < 2) {
        abort();
    }
    for (int64_t k = 0; k < N; k++) {
        for (int64_t l = 0; l < N; l++) {
            const double J = p->J[k * N + l];
            if (!isfinite(J) || J != p->J[l * N + k] ||
                (k / p->states == l / p->states && J != 0)) {
                abort();
            }
        }
        if (!isfinite(p->h[k])) {
            abort();
        }
    }
    sali_content_free(&content);
}

#endif
