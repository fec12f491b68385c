/* SPDX-License-Identifier: MIT */
/* Plain aligned sequences, one a line, perhaps with a name before each. */
#include "io/alignments/alignment_rows.h"
#include "io/alignments/alignment_writer.h"
#include "io/format.h"

/* Read a line: a sequence, or a name and a sequence; the first line decides which, for all
 * lines. */
static void read_line(sali_rows *rows, sali_line line)
{
    sali_line name = sali_line_word(&line), letters = sali_line_word(&line);
    bool named = letters.size > 0;
    if (rows->count == 0 && sali_line_begins(&name, "CLUSTAL")) {
        sali_scan_fail(rows->lines, name.line,
                       "a file of Clustal; expected a sequence a line, FASTA or Stockholm");
    }
    if (sali_line_word(&line).size > 0) {
        sali_scan_fail(rows->lines, name.line,
                       "expected a sequence, or a name and a sequence, found more words");
    }
    if (rows->count > 0 && named != rows->named) {
        sali_scan_fail(rows->lines, name.line, "expected a %s, as in the first line",
                       rows->named ? "name and a sequence" : "sequence without a name");
    }
    rows->named = named;
    sali_rows_add(rows, &name);
    sali_rows_extend(rows, rows->count - 1, named ? &letters : &name);
}

/* Read all lines but comments (#) and empty ones. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_rows rows = { .lines = scan };
    sali_line line;
    while (sali_lines_next(scan, &line)) {
        if (line.size > 0 && !sali_line_begins(&line, "#")) {
            read_line(&rows, line);
        }
    }
    sali_rows_finish(&rows, out);
}

/* Whether a word consists of upper-case letters and gaps only. */
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

/* Whether the first two lines end in words of one length, of upper case and gaps. */
static bool recognise(sali_scan *scan)
{
    sali_line line, last[2];
    int found = 0;
    while (found < 2 && sali_lines_next(scan, &line)) {
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

static void write(sali_text_output *w, const sali_content *content)
{
    const sali_alignment_style style = { .head = "", .foot = "" };
    sali_alignment_write(w, &content->alignment, &style);
}

const sali_format sali_format_aln = {
    .name = "aln",
    .doc = "aligned sequences, one a line (written without names)",
    .suffixes = { ".aln", ".psicov" },
    .content = SALI_CONTENT_ALIGNMENT,
    .model = "potts-alignment",
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
