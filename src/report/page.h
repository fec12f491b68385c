/* SPDX-License-Identifier: MIT */
/* A page of HTML that is XML too, with all it needs inside: style, figures and pictures. Nothing is
 * fetched and no script runs. Failures are kept by `w`, into which sections put their markup. */
#ifndef SALI_PAGE_H
#define SALI_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <saltus/figure.h>
#include "io/text_output.h"

typedef struct sali_page {
    sali_text_output w;
    int64_t figures; /* so far; their ids are made of it */
} sali_page;

/* The document up to the first section; with contents if there are several. */
void sali_page_begin(sali_page *page, const char *path, const char *title, int64_t n,
                     const char *const *sections, sal_error *err);

/* The end of the document; the file is put in its place. The status of all. */
sal_status sali_page_end(sali_page *page);

/* Section k, from 1: what it is about, and where it comes from. Ends with </section>. */
void sali_page_section(sali_page *page, int64_t k, const char *title, const char *kind);

void sali_page_paragraph(sali_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A fact of a list, <dl>. A NULL value is left out. */
void sali_page_fact(sali_page *page, const char *name, const char *value);
void sali_page_fact_json(sali_page *page, const char *name, const json_t *value);

/* A table's head; rows of cells follow, and SALI_TABLE_END. Numbers are aligned at their right
 * ends; NaN is a dash. */
typedef struct sali_column {
    const char *title;
    int digits; /* that count, of numbers; 0: texts */
} sali_column;
void sali_page_table(sali_page *page, const char *caption, int64_t n, const sali_column *columns);
void sali_page_number(sali_page *page, double value, int digits);
#define SALI_TABLE_END "</tbody></table></div>"

/* What figures side by side stand in, up to </div>. */
#define SALI_FIGURES "<div class=\"figures\">"

/* A figure, which is destroyed, and what there is to be seen. NULL: there was no memory for it. */
void sali_page_figure(sali_page *page, sal_figure *figure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A number of so many digits that count, with a true minus; an en dash for NaN. */
#define SALI_PAGE_NUMBER 48
void sali_page_format(double value, int digits, char out[SALI_PAGE_NUMBER]);

/* The same without zeros at the end. */
void sali_page_short(double value, int digits, char out[SALI_PAGE_NUMBER]);

/* The style of pages (page_style.c). */
extern const char sali_page_style[];

#endif
