/* SPDX-License-Identifier: MIT */
/* What reading a file found that its user should know, although nothing failed: sizes, what was
 * dropped, what was decided. A remark travels with the content of the file to the model or the data
 * that are made of it. */
#ifndef SALI_REMARK_H
#define SALI_REMARK_H

#include <stdbool.h>

#include <saltus/status.h>

typedef struct sali_remark {
    char *text; /* statements, separated by "; "; NULL: none */
    bool warns; /* something was dropped or decided that the user may have meant otherwise */
} sali_remark;

/* Append a formatted statement of at most 400 bytes. Returns: MEMORY; the remark is unchanged then.
 */
sal_status sali_remark_add(sali_remark *remark, bool warns, sal_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Put "prefix: " before the text, if there is a text. Returns: MEMORY; the remark is unchanged
 * then. */
sal_status sali_remark_prefix(sali_remark *remark, const char *prefix, sal_error *err);

/* Append the text of `from` to `to`, and empty `from`. Returns: MEMORY; both are unchanged then. */
sal_status sali_remark_move(sali_remark *to, sali_remark *from, sal_error *err);

void sali_remark_free(sali_remark *remark);

#endif
