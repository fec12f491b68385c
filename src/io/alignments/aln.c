/* SPDX-License-Identifier: MIT */
/* Plain aligned sequences, one a line, perhaps with a name before each. */
#include "core/error.h"
#include "io/alignments/alignment_rows.h"
#include "io/alignments/alignment_writer.h"
#include "io/format.h"

/* A sequence, or a name and a sequence; the first line says which for all. */
static sal_status read_line(sali_rows *rows, sali_line line, sal_error *err)
{
    sali_line name = sali_line_word(&line), letters = sali_line_word(&line);
    int64_t number = name.line;
    if (rows->count == 0 && sali_line_begins(&name, "CLUSTAL")) {
        return sali_scan_fail(&rows->lines, number, err,
                              "a file of Clustal; expected a sequence a line, FASTA or Stockholm");
    }
    bool named = letters.size > 0;
    if (sali_line_word(&line).size > 0) {
        return sali_scan_fail(&rows->lines, number, err,
                              "expected a sequence, or a name and a sequence, found more words");
    }
    if (rows->count > 0 && named != rows->named) {
        return sali_scan_fail(&rows->lines, number, err, "expected a %s, as in the first line",
                              rows->named ? "name and a sequence" : "sequence without a name");
    }
    rows->named = named;
    sal_status status = sali_rows_add(rows, &name, err);
    return status ? status : sali_rows_extend(rows, rows->count - 1, named ? &letters : &name, err);
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    sali_rows rows = { 0 };
    sali_line line;
    sal_status status = SAL_OK;
    sali_scan_init(&rows.lines, name, data, size, 0);
    while (status == SAL_OK && sali_lines_next(&rows.lines, &line)) {
        if (line.size > 0 && !sali_line_begins(&line, "#")) {
            status = read_line(&rows, line, err);
        }
    }
    status = status ? status : sali_rows_finish(&rows, out, err);
    sali_rows_free(&rows);
    return status;
}

/* Only amino acids and gaps? */
static bool is_aligned(const sali_line *word)
{
    for (int64_t k = 0; k < word->size; k++) {
        char c = word->text[k];
        if (!(c >= 'A' && c <= 'Z') && c != '-' && c != '.') {
            return false;
        }
    }
    return word->size > 0;
}

/* The first two lines end in words of one length, of upper case and gaps. */
static bool looks_like_aln(const char *data, int64_t size)
{
    sali_scan lines;
    sali_line line, last[2];
    int found = 0;
    sali_scan_init(&lines, "", data, size, 0);
    while (found < 2 && sali_lines_next(&lines, &line)) {
        if (line.size > 0) {
            sali_line first = sali_line_word(&line), second = sali_line_word(&line);
            last[found] = second.size > 0 ? second : first;
            if (sali_line_word(&line).size > 0 || !is_aligned(&last[found++])) {
                return false;
            }
        }
    }
    return found == 2 && last[0].size == last[1].size;
}

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    const sali_alignment_style style = { .head = "", .foot = "" };
    return sali_alignment_write(path, &content->alignment, &style, err);
}

const sali_format sali_format_aln = {
    .name = "aln",
    .doc = "aligned sequences, one a line (written without names)",
    .suffixes = { ".aln", ".psicov" },
    .content = SALI_CONTENT_ALIGNMENT,
    .model = "potts-alignment",
    .recognise = looks_like_aln,
    .parse = parse,
    .write = write,
};
