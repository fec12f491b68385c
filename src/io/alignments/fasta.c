/* SPDX-License-Identifier: MIT */
/* FASTA, a2m and a3m: '>' and a name, then letters on one or more lines. Lines that begin with ';'
 * or '#' are comments; what HH-suite writes about the structure is skipped. */
#include "io/alignments/alignment_rows.h"
#include "io/alignments/alignment_writer.h"
#include "io/format.h"

static bool is_comment(const sali_line *line)
{
    return line->size == 0 || sali_line_begins(line, ";") || sali_line_begins(line, "#");
}

/* Whether a name marks structure, predicted or known, that HH-suite writes among the sequences of
 * an a3m. */
static bool is_structure(const sali_line *name)
{
    return sali_line_begins(name, "ss_pred") || sali_line_begins(name, "ss_conf") ||
           sali_line_begins(name, "ss_dssp") || sali_line_begins(name, "sa_dssp");
}

/* Read all sequences but those that are structure. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_rows rows = { .lines = scan, .named = true };
    sali_line line;
    bool skipped = false; /* the letters that follow belong to no sequence */
    while (sali_lines_next(scan, &line)) {
        if (sali_line_begins(&line, ">")) {
            sali_line rest = { line.text + 1, line.size - 1, line.line };
            sali_line name = sali_line_word(&rest);
            skipped = is_structure(&name);
            if (!skipped) {
                sali_rows_add(&rows, &name);
            }
        } else if (skipped || is_comment(&line)) {
            continue;
        } else if (rows.count == 0) {
            sali_scan_fail(scan, line.line,
                           "expected '>' and the name of a sequence before its letters");
        } else {
            sali_rows_extend(&rows, rows.count - 1, &line);
        }
    }
    sali_rows_finish(&rows, out);
}

/* Whether the first line that is no comment begins with '>'. */
static bool recognise(sali_scan *scan)
{
    sali_line line;
    while (sali_lines_next(scan, &line)) {
        if (!is_comment(&line)) {
            return sali_line_begins(&line, ">");
        }
    }
    return false;
}

static void write(sali_text_output *w, const sali_content *content)
{
    const sali_alignment_style style = { .head = "",
                                         .foot = "",
                                         .named = true,
                                         .before_name = ">",
                                         .after_name = "\n",
                                         .wrapped = true };
    sali_alignment_write(w, &content->alignment, &style);
}

const sali_format sali_format_fasta = {
    .name = "fasta",
    .doc = "aligned sequences; insertions of a2m and a3m are dropped",
    .suffixes = { ".fasta", ".fa", ".fas", ".afa", ".a2m", ".a3m" },
    .content = SALI_CONTENT_ALIGNMENT,
    .model = "potts-alignment",
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
