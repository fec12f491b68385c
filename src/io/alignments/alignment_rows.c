/* SPDX-License-Identifier: MIT */
#include "io/alignments/alignment_rows.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/alphabet.h"

typedef struct sali_piece {
    sali_line letters;
    int64_t row;
} sali_piece;

/* ---- lines */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool sali_lines_next(sali_scan *lines, sali_line *line)
{
    sali_scan next;
    if (!sali_scan_line(lines, &next)) {
        return false;
    }
    while (next.end > next.next && is_blank(next.end[-1])) {
        next.end--;
    }
    *line = (sali_line){ next.next, next.end - next.next, next.line };
    return true;
}

sali_line sali_line_word(sali_line *line)
{
    const char *begin = line->text, *end = begin + line->size, *stop;
    while (begin < end && is_blank(*begin)) {
        begin++;
    }
    for (stop = begin; stop < end && !is_blank(*stop); stop++) {
    }
    *line = (sali_line){ stop, end - stop, line->line };
    return (sali_line){ begin, stop - begin, line->line };
}

bool sali_line_begins(const sali_line *line, const char *text)
{
    size_t length = strlen(text);
    return line->size >= (int64_t)length && memcmp(line->text, text, length) == 0;
}

bool sali_line_equals(const sali_line *a, const sali_line *b)
{
    return a->size == b->size && memcmp(a->text, b->text, (size_t)a->size) == 0;
}

/* ---- rows */

void sali_rows_free(sali_rows *rows)
{
    sali_free(rows->row);
    sali_free(rows->piece);
    *rows = (sali_rows){ 0 };
}

sal_status sali_rows_add(sali_rows *rows, const sali_line *name, sal_error *err)
{
    if (sali_grow((void **)&rows->row, &rows->capacity, rows->count + 1, sizeof *rows->row) != 0) {
        return sali_fail_memory(err);
    }
    rows->row[rows->count++] = (sali_row){ .name = *name };
    return SAL_OK;
}

sal_status sali_rows_extend(sali_rows *rows, int64_t row, const sali_line *letters, sal_error *err)
{
    if (sali_grow((void **)&rows->piece, &rows->piece_capacity, rows->pieces + 1,
                  sizeof *rows->piece) != 0) {
        return sali_fail_memory(err);
    }
    rows->piece[rows->pieces++] = (sali_piece){ .letters = *letters, .row = row };
    return SAL_OK;
}

/* DATA about a row: "sequence 3 (name) ...". */
static sal_status fail_row(const sali_rows *rows, int64_t row, int64_t line, const char *what,
                           sal_error *err)
{
    char show[SALI_SHOW_SIZE];
    const sali_line *name = &rows->row[row].name;
    if (!rows->named) {
        return sali_scan_fail(&rows->lines, line, err, "sequence %lld %s", (long long)(row + 1),
                              what);
    }
    return sali_scan_fail(&rows->lines, line, err, "sequence %lld ('%s') %s", (long long)(row + 1),
                          sali_show(name->text, name->size, show), what);
}

/* ---- letters */

enum { INSERTION = -1, POINT = -2, BLANK = -3, WRONG = -4 };

/* A letter of an alignment, A-Z or '-', or one of those above. */
static int letter_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c;
    }
    if (c >= 'a' && c <= 'z') {
        return INSERTION;
    }
    return c == '.' ? POINT : c == '-' || c == '*' || c == '~' ? '-' : is_blank(c) ? BLANK : WRONG;
}

static bool has_insertions(const sali_rows *rows)
{
    for (int64_t p = 0; p < rows->pieces; p++) {
        const sali_line *letters = &rows->piece[p].letters;
        for (int64_t k = 0; k < letters->size; k++) {
            if (letter_of(letters->text[k]) == INSERTION) {
                return true;
            }
        }
    }
    return false;
}

static sal_status measure(sali_rows *rows, bool insertions, sal_error *err)
{
    for (int64_t p = 0; p < rows->pieces; p++) {
        const sali_piece *piece = &rows->piece[p];
        for (int64_t k = 0; k < piece->letters.size; k++) {
            int code = letter_of(piece->letters.text[k]);
            if (code == WRONG) {
                char what[128], show[SALI_SHOW_SIZE];
                snprintf(what, sizeof what, "has the character '%s'; expected letters, '-' or '.'",
                         sali_show(piece->letters.text + k, 1, show));
                return fail_row(rows, piece->row, piece->letters.line, what, err);
            }
            rows->row[piece->row].length += code >= 0 || (code == POINT && !insertions);
        }
    }
    return SAL_OK;
}

static sal_status check_lengths(const sali_rows *rows, bool insertions, sal_error *err)
{
    if (rows->count == 0) {
        return sali_fail(err, SAL_ERR_DATA, "%s: there are no sequences", rows->lines.name);
    }
    const sali_row *first = &rows->row[0];
    for (int64_t r = 0; r < rows->count; r++) {
        const sali_row *row = &rows->row[r];
        char what[256];
        if (row->length == first->length && row->length > 0) {
            continue;
        }
        snprintf(what, sizeof what, "has %lld aligned letters; expected ", (long long)row->length);
        size_t used = strlen(what);
        if (r == 0 || row->length == 0) {
            snprintf(what + used, sizeof what - used, "at least 1");
        } else {
            snprintf(what + used, sizeof what - used, "%lld, as in the first, at line %lld",
                     (long long)first->length, (long long)first->name.line);
        }
        used = strlen(what);
        snprintf(what + used, sizeof what - used, "%s",
                 insertions ? " (lower case and '.' are insertions, which do not count)" : "");
        return fail_row(rows, r, row->name.line, what, err);
    }
    return SAL_OK;
}

/* ---- the alignment */

static bool copy_names(const sali_rows *rows, char **names)
{
    for (int64_t r = 0; r < rows->count; r++) {
        const sali_line *name = &rows->row[r].name;
        names[r] = sali_alloc(name->size + 1, 1);
        if (!names[r]) {
            return false;
        }
        memcpy(names[r], name->text, (size_t)name->size);
    }
    return true;
}

/* Row r goes on at its `length`, which starts from 0 again. */
static void copy_letters(sali_rows *rows, bool insertions, sali_alignment *a)
{
    for (int64_t r = 0; r < rows->count; r++) {
        rows->row[r].length = 0;
    }
    for (int64_t p = 0; p < rows->pieces; p++) {
        const sali_piece *piece = &rows->piece[p];
        sali_row *row = &rows->row[piece->row];
        char *letters = a->letters + piece->row * a->length;
        for (int64_t k = 0; k < piece->letters.size; k++) {
            int code = letter_of(piece->letters.text[k]);
            if (code >= 0 || (code == POINT && !insertions)) {
                letters[row->length++] = (char)(code >= 0 ? code : '-');
            }
        }
    }
}

sal_status sali_rows_finish(sali_rows *rows, sali_content *out, sal_error *err)
{
    bool insertions = has_insertions(rows);
    sal_status status = measure(rows, insertions, err);
    status = status ? status : check_lengths(rows, insertions, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_alignment *a = &out->alignment;
    a->sequences = rows->count;
    a->length = rows->row[0].length;
    a->codes = SALI_NEW_ARRAY(uint8_t, a->sequences * a->length);
    a->letters = SALI_NEW_ARRAY(char, a->sequences * a->length);
    a->names = rows->named ? SALI_NEW_ARRAY(char *, a->sequences) : NULL;
    if (!a->codes || !a->letters || (rows->named && (!a->names || !copy_names(rows, a->names)))) {
        return sali_fail_memory(err);
    }
    copy_letters(rows, insertions, a);
    sali_alignment_recode(a, sali_alphabet_of(a->sequences * a->length, a->letters));
    return SAL_OK;
}
