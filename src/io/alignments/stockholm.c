/* SPDX-License-Identifier: MIT */
/* Stockholm files of Pfam and HMMER: "name letters" lines, perhaps in several blocks, each with the
 * sequences in the order of the first. Annotation (#=..) is skipped, but for the line RF, which
 * marks the aligned columns. */
#include "io/alignments/alignment_rows.h"
#include "io/alignments/alignment_writer.h"
#include "io/format.h"

#include <string.h>

static const char magic[] = "# STOCKHOLM 1.";

typedef struct reader {
    sali_rows rows;
    bool first;   /* still in the first block, which names the sequences */
    int64_t next; /* row of the next line */
} reader;

/* Fails unless `name` is the name of row `next`, as later blocks repeat the order of the first. */
static void check_name(const reader *r, const sali_line *name)
{
    const sali_line *want = &r->rows.row[r->next].name;
    char shown[2][SALI_SHOW_SIZE];
    if (!sali_line_equals(want, name)) {
        sali_scan_fail(r->rows.lines, name->line,
                       "expected the next letters of '%s', found '%s'; blocks must have the same "
                       "sequences in the same order",
                       sali_show(want->text, want->size, shown[0]),
                       sali_show(name->text, name->size, shown[1]));
    }
}

/* Read a line "name letters": a new row in the first block, else the continuation of the next
 * row. */
static void read_letters(reader *r, sali_line line)
{
    sali_line name = sali_line_word(&line);
    if (r->first && r->rows.count > 0 && sali_line_equals(&name, &r->rows.row[0].name)) {
        r->first = false; /* the second block, with no blank line between */
    }
    if (r->first) {
        sali_rows_add(&r->rows, &name);
    } else {
        r->next = r->next == r->rows.count ? 0 : r->next;
        check_name(r, &name);
    }
    sali_rows_extend(&r->rows, r->next++, &line);
}

/* Read a line "#=GC RF marks" for the columns of this block; other annotation is ignored. */
static void read_marks(reader *r, sali_line line)
{
    sali_line kind = sali_line_word(&line), feature = sali_line_word(&line);
    if (sali_line_equals(&kind, &(sali_line){ .text = "#=GC", .size = 4 }) &&
        sali_line_equals(&feature, &(sali_line){ .text = "RF", .size = 2 })) {
        sali_rows_mark(&r->rows, &line);
    }
}

/* End a block at a blank line or at //; fails if a later block lacks sequences. */
static void end_block(reader *r, const sali_line *line)
{
    if (r->next == 0) {
        return;
    }
    if (r->next < r->rows.count) {
        sali_scan_fail(r->rows.lines, line->line,
                       "the block ends after %lld sequences; expected %lld", (long long)r->next,
                       (long long)r->rows.count);
    }
    r->first = false;
    r->next = 0;
}

/* Read up to the next line that is not empty; false at the end. */
static bool next_full(sali_scan *lines, sali_line *line)
{
    while (sali_lines_next(lines, line)) {
        if (line->size > 0) {
            return true;
        }
    }
    return false;
}

/* Read one alignment, from the heading to //; nothing may follow. */
static void read_lines(reader *r)
{
    sali_scan *lines = r->rows.lines;
    sali_line line = { .line = 1 };
    if (!next_full(lines, &line) || !sali_line_begins(&line, magic)) {
        sali_scan_fail(lines, line.line, "expected # STOCKHOLM 1.0");
    }
    while (sali_lines_next(lines, &line)) {
        if (sali_line_begins(&line, "//")) {
            end_block(r, &line);
            if (next_full(lines, &line)) {
                sali_scan_fail(lines, line.line, "expected nothing after //: one alignment a file");
            }
            return;
        }
        if (line.size == 0) {
            end_block(r, &line);
        } else if (!sali_line_begins(&line, "#")) {
            read_letters(r, line);
        } else {
            read_marks(r, line);
        }
    }
    sali_scan_fail(lines, line.line, "expected // at the end");
}

static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .rows = { .lines = scan, .named = true }, .first = true };
    read_lines(&r);
    sali_rows_finish(&r.rows, out);
}

static bool recognise(sali_scan *scan)
{
    sali_line line;
    return next_full(scan, &line) && sali_line_begins(&line, magic);
}

/* Fails for names that would not read back. */
static void check_names(sali_text_output *w, const sali_alignment *a)
{
    char shown[SALI_SHOW_SIZE];
    for (int64_t r = 0; a->names && r < a->sequences; r++) {
        const char *name = a->names[r];
        if (name[0] == '\0' || name[0] == '#' || strncmp(name, "//", 2) == 0 ||
            (r > 0 && strcmp(name, a->names[0]) == 0)) {
            sali_text_fail(w, SAL_ERR_ARGUMENT,
                           "sequence %lld is named '%s', which Stockholm cannot say: names are "
                           "unique, not empty, and do not begin with # or //",
                           (long long)(r + 1), sali_show(name, -1, shown));
        }
    }
}

static void write(sali_text_output *w, const sali_content *content)
{
    const sali_alignment_style style = { .head = "# STOCKHOLM 1.0\n",
                                         .foot = "//\n",
                                         .named = true,
                                         .before_name = "",
                                         .after_name = " " };
    check_names(w, &content->alignment);
    sali_alignment_write(w, &content->alignment, &style);
}

const sali_format sali_format_stockholm = {
    .name = "stockholm",
    .doc = "aligned sequences of Pfam and HMMER, annotation other than RF skipped",
    .suffixes = { ".sto", ".stk", ".stockholm" },
    .content = SALI_CONTENT_ALIGNMENT,
    .model = "potts-alignment",
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
