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

/* Predicted or known structure among the sequences of an a3m, by HH-suite's names for it. */
static bool is_structure(const sali_line *name)
{
    return sali_line_begins(name, "ss_pred") || sali_line_begins(name, "ss_conf") ||
           sali_line_begins(name, "ss_dssp") || sali_line_begins(name, "sa_dssp");
}

/* The name is the first word after '>'. */
static sal_status read_header(sali_rows *rows, sali_line line, bool *skipped, sal_error *err)
{
    line.text++;
    line.size--;
    sali_line name = sali_line_word(&line);
    *skipped = is_structure(&name);
    return *skipped ? SAL_OK : sali_rows_add(rows, &name, err);
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    sali_rows rows = { .named = true };
    sali_line line;
    sal_status status = SAL_OK;
    bool skipped = false; /* the letters that follow are of no sequence */
    sali_scan_init(&rows.lines, name, data, size, 0);
    while (status == SAL_OK && sali_lines_next(&rows.lines, &line)) {
        if (sali_line_begins(&line, ">")) {
            status = read_header(&rows, line, &skipped, err);
        } else if (skipped || is_comment(&line)) {
            continue;
        } else if (rows.count == 0) {
            status = sali_scan_fail(&rows.lines, line.line, err,
                                    "expected '>' and the name of a sequence before its letters");
        } else {
            status = sali_rows_extend(&rows, rows.count - 1, &line, err);
        }
    }
    status = status ? status : sali_rows_finish(&rows, out, err);
    sali_rows_free(&rows);
    return status;
}

static bool looks_like_fasta(const char *data, int64_t size)
{
    sali_scan lines;
    sali_line line;
    sali_scan_init(&lines, "", data, size, 0);
    while (sali_lines_next(&lines, &line)) {
        if (!is_comment(&line)) {
            return sali_line_begins(&line, ">");
        }
    }
    return false;
}

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    const sali_alignment_style style = { .head = "",
                                         .foot = "",
                                         .named = true,
                                         .before_name = ">",
                                         .after_name = "\n",
                                         .wrapped = true };
    return sali_alignment_write(path, &content->alignment, &style, err);
}

const sali_format sali_format_fasta = {
    .name = "fasta",
    .doc = "aligned sequences; insertions of a2m and a3m are dropped",
    .suffixes = { ".fasta", ".fa", ".fas", ".afa", ".a2m", ".a3m" },
    .content = SALI_CONTENT_ALIGNMENT,
    .model = "potts-alignment",
    .recognise = looks_like_fasta,
    .parse = parse,
    .write = write,
};
