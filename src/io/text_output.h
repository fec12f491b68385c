/* SPDX-License-Identifier: MIT */
/* A file, mostly a text, being written piece by piece. The first failure is kept and the rest
 * dropped, so a writer looks at the status once, at the end. */
#ifndef SALI_TEXT_OUTPUT_H
#define SALI_TEXT_OUTPUT_H

#include "io/file.h"

typedef struct sali_text_output {
    sali_output out;
    int64_t size; /* bytes so far */
    bool xml;     /* %s is escaped, and what XML cannot hold is U+FFFD */
    sal_status status;
    sal_error *err;
} sali_text_output;

/* Create the file. A failure shows in `status`, and in what sali_text_close returns. */
void sali_text_open(sali_text_output *w, const char *path, bool xml, sal_error *err);

/* What is written makes no sense: "path: message" with this status, unless something failed before.
 */
void sali_text_fail(sali_text_output *w, sal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* MEMORY unless `granted`, and nothing has failed before; returns whether both are so. */
bool sali_text_granted(sali_text_output *w, bool granted);

/* Put bytes, or a text, as they are. */
void sali_put_bytes(sali_text_output *w, const void *bytes, int64_t size);
void sali_put_raw(sali_text_output *w, const char *text);

/* Put values in printf's way, in any locale the same: %s, %c, %d, %lld and %06x; %g as the shortest
 * number that reads back as the same double, "inf", "-inf" or "nan"; %f and %.3f as sali_fixed, to
 * 2 places and to so many. */
void sali_put(sali_text_output *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* exp(log_value) and what follows it, where that is 0 for -inf and else a positive finite number;
 * ARGUMENT otherwise. */
void sali_put_exp(sali_text_output *w, double log_value, const char *after);

/* Bytes in base64. */
void sali_put_base64(sali_text_output *w, const void *bytes, int64_t size);

/* A blank between the entries of a row, the end of the line after the last. */
const char *sali_separator(int64_t i, int64_t n);

/* Put the file in its place, or remove what there is of it after a failure; the status of all. */
sal_status sali_text_close(sali_text_output *w);

/* Room for a number written by sali_fixed. */
#define SALI_FIXED_SIZE 24

/* A number below 1e12 in size to at most `decimals` (0 .. 6) places, without trailing zeros, with
 * a point in any locale. */
void sali_fixed(double value, int decimals, char out[SALI_FIXED_SIZE]);

#endif
