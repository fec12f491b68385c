/* A text file being written piece by piece. The first failure is kept and the rest dropped, so a
 * writer looks at the status once, at the end. */
#ifndef SALI_TEXT_OUTPUT_H
#define SALI_TEXT_OUTPUT_H

#include "io/file.h"

typedef struct sali_text_output {
    sali_output out;
    sal_status status;
    sal_error *err;
} sali_text_output;

/* Create the file. A failure shows in `status`, and in what sali_text_close returns. */
void sali_text_open(sali_text_output *w, const char *path, sal_error *err);

void sali_put_text(sali_text_output *w, const char *text);

/* A number and what follows it. `value` is finite; it reads back as the same double. */
void sali_put_int(sali_text_output *w, int64_t value, const char *after);
void sali_put_double(sali_text_output *w, double value, const char *after);

/* exp(log_value), where that is 0 for -inf and else a positive finite number; ARGUMENT otherwise.
 */
void sali_put_exp(sali_text_output *w, double log_value, const char *after);

/* A blank between the entries of a row, the end of the line after the last. */
const char *sali_separator(int64_t i, int64_t n);

/* Put the file in its place, or remove what there is of it after a failure; the status of all. */
sal_status sali_text_close(sali_text_output *w);

#endif
