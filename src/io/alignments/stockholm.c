/* SPDX-License-Identifier: MIT */
/* Stockholm files of Pfam and HMMER: "name letters" lines, perhaps in several blocks, each with the
 * sequences in the order of the first. Annotation (#=..) is skipped. */
#include "core/error.h"
#include "io/alignments/alignment_rows.h"
#include "io/alignments/alignment_writer.h"
#include "io/format.h"
#include "io/scan.h"

#include <string.h>

static const char magic[] = "# STOCKHOLM 1.";

typedef struct reader {
    sali_rows rows;
    bool first;   /* still in the first block, which names the sequences */
    int64_t next; /* row of the next line */
} reader;

/* A later block goes on with row `next`. */
static sal_status check_name(const reader *r, const sali_line *name, sal_error *err)
{
    const sali_line *want = &r->rows.row[r->next].name;
    char shown[2][SALI_SHOW_SIZE];
    return sali_line_equals(want, name)
               ? SAL_OK
               : sali_scan_fail(&r->rows.lines, name->line, err,
                                "expected the next letters of '%s', found '%s'; blocks must have "
                                "the same sequences in the same order",
                                sali_show(want->text, want->size, shown[0]),
                                sali_show(name->text, name->size, shown[1]));
}

static sal_status read_letters(reader *r, sali_line line, sal_error *err)
{
    sali_line name = sali_line_word(&line);
    sal_status status = SAL_OK;
    if (r->first && r->rows.count > 0 && sali_line_equals(&name, &r->rows.row[0].name)) {
        r->first = false; /* the second block, with no blank line between */
    }
    if (r->first) {
        status = sali_rows_add(&r->rows, &name, err);
    } else {
        r->next = r->next == r->rows.count ? 0 : r->next;
        status = check_name(r, &name, err);
    }
    return status ? status : sali_rows_extend(&r->rows, r->next++, &line, err);
}

static sal_status end_block(reader *r, const sali_line *line, sal_error *err)
{
    if (r->next == 0) {
        return SAL_OK;
    }
    if (r->next < r->rows.count) {
        return sali_scan_fail(&r->rows.lines, line->line, err,
                              "the block ends after %lld sequences; expected %lld",
                              (long long)r->next, (long long)r->rows.count);
    }
    r->first = false;
    r->next = 0;
    return SAL_OK;
}

static sal_status expect_head(sali_rows *rows, sal_error *err)
{
    sali_line line = { .line = 1 };
    while (sali_lines_next(&rows->lines, &line) && line.size == 0) {
    }
    return line.size > 0 && sali_line_begins(&line, magic)
               ? SAL_OK
               : sali_scan_fail(&rows->lines, line.line, err, "expected # STOCKHOLM 1.0");
}

static sal_status expect_nothing(sali_rows *rows, sal_error *err)
{
    sali_line line;
    while (sali_lines_next(&rows->lines, &line)) {
        if (line.size > 0) {
            return sali_scan_fail(&rows->lines, line.line, err,
                                  "expected nothing after //: one alignment a file");
        }
    }
    return SAL_OK;
}

static sal_status read_lines(reader *r, sal_error *err)
{
    sali_line line = { .line = 1 };
    sal_status status = expect_head(&r->rows, err);
    while (status == SAL_OK && sali_lines_next(&r->rows.lines, &line)) {
        if (sali_line_begins(&line, "//")) {
            status = end_block(r, &line, err);
            return status ? status : expect_nothing(&r->rows, err);
        }
        if (line.size == 0) {
            status = end_block(r, &line, err);
        } else if (!sali_line_begins(&line, "#")) {
            status = read_letters(r, line, err);
        }
    }
    return status ? status
                  : sali_scan_fail(&r->rows.lines, line.line, err, "expected // at the end");
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    reader r = { .rows.named = true, .first = true };
    sali_scan_init(&r.rows.lines, name, data, size, 0);
    sal_status status = read_lines(&r, err);
    status = status ? status : sali_rows_finish(&r.rows, out, err);
    sali_rows_free(&r.rows);
    return status;
}

static bool looks_like_stockholm(const char *data, int64_t size)
{
    sali_scan lines;
    sali_line line;
    sali_scan_init(&lines, "", data, size, 0);
    while (sali_lines_next(&lines, &line)) {
        if (line.size > 0) {
            return sali_line_begins(&line, magic);
        }
    }
    return false;
}

/* Names that would not read back. */
static sal_status check_names(const char *path, const sali_alignment *a, sal_error *err)
{
    char shown[SALI_SHOW_SIZE];
    for (int64_t r = 0; a->names && r < a->sequences; r++) {
        const char *name = a->names[r];
        if (name[0] == '\0' || name[0] == '#' || strncmp(name, "//", 2) == 0 ||
            (r > 0 && strcmp(name, a->names[0]) == 0)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: sequence %lld is named '%s', which Stockholm cannot say: names "
                             "are unique, not empty, and do not begin with # or //",
                             path, (long long)(r + 1),
                             sali_show(name, (int64_t)strlen(name), shown));
        }
    }
    return SAL_OK;
}

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    const sali_alignment_style style = { .head = "# STOCKHOLM 1.0\n",
                                         .foot = "//\n",
                                         .named = true,
                                         .before_name = "",
                                         .after_name = " " };
    sal_status status = check_names(path, &content->alignment, err);
    return status ? status : sali_alignment_write(path, &content->alignment, &style, err);
}

const sali_format sali_format_stockholm = {
    .name = "stockholm",
    .doc = "aligned sequences of Pfam and HMMER, annotation skipped",
    .suffixes = { ".sto", ".stk", ".stockholm" },
    .content = SALI_CONTENT_ALIGNMENT,
    .model = "potts-alignment",
    .recognise = looks_like_stockholm,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
