/* SPDX-License-Identifier: MIT */
/* Writing a file, mostly a text, piece by piece. The writer keeps the first failure and drops all
 * later output, so callers check the status once, at the end. */
#ifndef SALI_TEXT_OUTPUT_H
#define SALI_TEXT_OUTPUT_H

#include "io/file.h"
#include "models/remark.h"

typedef struct sali_text_output {
    sali_output out;
    int64_t size;      /* bytes so far */
    bool sums;         /* the checksum is wanted; to be set before the first byte */
    uint64_t checksum; /* of all whole words of 8 bytes so far */
    uint64_t word;     /* the bytes after them, little-endian */
    bool xml;          /* %s is escaped; what XML cannot hold becomes U+FFFD */
    sal_status status;
    sal_error *err;
    sali_remark *remark; /* receives what the writer dropped or changed; NULL: nobody asks */
} sali_text_output;

/* Create the file. A failure is kept in `status`, which sali_text_close returns. */
void sali_text_open(sali_text_output *w, const char *path, bool xml, sal_error *err);

/* Fail with `status` and "path: message", unless something failed before. */
void sali_text_fail(sali_text_output *w, sal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Add a statement, with a warning, to the remark on what is written. */
void sali_text_remark(sali_text_output *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fails with MEMORY unless `granted`. Returns false after this or an earlier failure. */
bool sali_text_granted(sali_text_output *w, bool granted);

/* Put bytes, or a text, as they are. */
void sali_put_bytes(sali_text_output *w, const void *bytes, int64_t size);
void sali_put_raw(sali_text_output *w, const char *text);

/* Write values like printf, but the same in any locale: %s, %c, %d, %lld and %06x; %g as the
 * shortest number that reads back as the same double, "inf", "-inf" or "nan"; %f and %.3f as
 * sali_fixed, with 2 decimals or the given number. */
void sali_put(sali_text_output *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write exp(log_value), then the text `after`. Fails with ARGUMENT unless the value is positive and
 * finite, or log_value is -inf, which is written as 0. */
void sali_put_exp(sali_text_output *w, double log_value, const char *after);

/* Bytes in base64. */
void sali_put_base64(sali_text_output *w, const void *bytes, int64_t size);

/* The separator after entry i of a row of n: a blank, or the end of the line after the last. */
const char *sali_separator(int64_t i, int64_t n);

/* sali_checksum of all bytes so far, of an output that sums. */
uint64_t sali_text_checksum(const sali_text_output *w);

/* Bring the text to the disk, so that putting it in its place can hardly fail. */
void sali_text_sync(sali_text_output *w);

/* Put the file in its place or, after a failure, remove the temporary. Returns the first
 * failure. */
sal_status sali_text_close(sali_text_output *w);

/* Room for a number written by sali_fixed. */
#define SALI_FIXED_SIZE 24

/* Write a number below 1e12 in size with at most `decimals` (0 .. 6) decimals, without trailing
 * zeros, with a decimal point in any locale. */
void sali_fixed(double value, int decimals, char out[SALI_FIXED_SIZE]);

#endif
