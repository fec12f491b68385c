/* SPDX-License-Identifier: MIT */
/* A page of HTML that is also XML, with everything inside: style, figures and pictures. A browser
 * fetches nothing and runs no script. Sections write their markup into `w`, which keeps the first
 * failure. */
#ifndef SALI_PAGE_H
#define SALI_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <saltus/figure.h>
#include "io/text_output.h"

typedef struct sali_page {
    sali_text_output w;
    int64_t figures; /* number of figures so far, from which their ids are made */
} sali_page;

/* Write the document up to the first section, with a table of contents if there are several
 * sections. */
void sali_page_begin(sali_page *page, const char *path, const char *title, int64_t n,
                     const char *const *sections, sal_error *err);

/* Write the end of the document and put the file in its place. Returns the first failure. */
sal_status sali_page_end(sali_page *page);

/* Begin section k, from 1, with a title and the kind of its contents. The caller ends it with
 * </section>. */
void sali_page_section(sali_page *page, int64_t k, const char *title, const char *kind);

void sali_page_paragraph(sali_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An entry of a list <dl>; left out if the value is NULL. */
void sali_page_fact(sali_page *page, const char *name, const char *value);
void sali_page_fact_json(sali_page *page, const char *name, const json_t *value);

/* The head of a table; the caller writes rows of cells, and SALI_TABLE_END. Numbers are
 * right-aligned; NaN is a dash. */
typedef struct sali_column {
    const char *title;
    int digits; /* significant digits of a column of numbers; 0: a column of texts */
} sali_column;
void sali_page_table(sali_page *page, const char *caption, int64_t n, const sali_column *columns);
void sali_page_number(sali_page *page, double value, int digits);
#define SALI_TABLE_END "</tbody></table></div>"

/* The element that holds figures side by side; ends with </div>. */
#define SALI_FIGURES "<div class=\"figures\">"

/* Write a figure with its caption, and destroy the figure. NULL: there was no memory for it, which
 * fails the page. */
void sali_page_figure(sali_page *page, sal_figure *figure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Write a number with `digits` significant digits and a true minus sign; an en dash for NaN. */
#define SALI_PAGE_NUMBER 48
void sali_page_format(double value, int digits, char out[SALI_PAGE_NUMBER]);

/* As sali_page_format, without trailing zeros. */
void sali_page_short(double value, int digits, char out[SALI_PAGE_NUMBER]);

/* The style of pages (page_style.c). */
extern const char sali_page_style[];

#endif
