/* XML on its way into a file or into memory, through libxml2's writer. The first failure is kept
 * and later calls do nothing, so a writer looks at the status once, at the end. */
#ifndef SALI_MARKUP_H
#define SALI_MARKUP_H

#include <stdint.h>

#include <libxml/xmlwriter.h>

#include "io/file.h"

typedef struct sali_markup {
    xmlTextWriter *xml;
    sali_output *out;
    sal_status status;
    sal_error *err;
} sali_markup;

/* Begin to write into an open file, which the caller commits or discards. A failure shows in
 * `status`, and in what sali_markup_close returns. */
void sali_markup_open(sali_markup *w, sali_output *out, sal_error *err);

/* Hand over what is left; the status of all. */
sal_status sali_markup_close(sali_markup *w);

void sali_put_start(sali_markup *w, const char *element);
void sali_put_end(sali_markup *w);
void sali_put_close(sali_markup *w); /* with an end tag even if there is no content */
void sali_put_string(sali_markup *w, const char *text); /* escaped */
void sali_put_raw(sali_markup *w, const char *text);    /* as it is */

/* An attribute; numbers to a hundredth. NaN and what is beyond 1e9 must not come here. */
void sali_put_attribute(sali_markup *w, const char *name, const char *value);
void sali_put_number(sali_markup *w, const char *name, double value);

/* An attribute from printf's format. Numbers with a point depend on the locale: leave them to
 * sali_fixed. */
void sali_put_format(sali_markup *w, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An attribute of `before` and bytes in base64. */
void sali_put_base64(sali_markup *w, const char *name, const char *before, const void *bytes,
                     int64_t size);

/* An element with text and nothing else. */
void sali_put_element(sali_markup *w, const char *element, const char *text);

/* Room for a number written by sali_fixed. */
#define SALI_FIXED_SIZE 24

/* A number below 1e12 in size to at most `decimals` (0 .. 6) places, without trailing zeros, with
 * a point in any locale. */
void sali_fixed(double value, int decimals, char out[SALI_FIXED_SIZE]);

/* A path's attribute "d", written piece by piece. */
typedef struct sali_path {
    sali_markup *w;
    char text[1024];
    int used;
} sali_path;

void sali_path_begin(sali_path *path, sali_markup *w);
void sali_path_end(sali_path *path);

/* A command with n <= 7 numbers: 'M', 2, (double[]){ x, y }. */
void sali_path_put(sali_path *path, char command, int n, const double *numbers);
void sali_path_point(sali_path *path, char command, double x, double y);
void sali_path_text(sali_path *path, const char *text); /* at most 100 characters */

#endif
