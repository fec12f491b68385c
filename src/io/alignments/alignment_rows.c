/* SPDX-License-Identifier: MIT */
#include "io/alignments/alignment_rows.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/format.h"
#include "models/alphabet.h"

typedef struct sali_row_piece {
    sali_line letters;
    int64_t row;
} sali_row_piece;

/* ---- lines */

bool sali_lines_next(sali_scan *lines, sali_line *line)
{
    sali_scan next = { 0 };
    if (!sali_scan_line(lines, &next)) {
        return false;
    }
    while (next.end > next.next && sali_is_blank(next.end[-1])) {
        next.end--;
    }
    *line = (sali_line){ next.next, next.end - next.next, next.line };
    return true;
}

sali_line sali_line_word(sali_line *line)
{
    const char *begin = line->text, *end = begin + line->size, *stop;
    while (begin < end && sali_is_blank(*begin)) {
        begin++;
    }
    for (stop = begin; stop < end && !sali_is_blank(*stop); stop++) {
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

void sali_rows_add(sali_rows *rows, const sali_line *name)
{
    if (sali_scan_grow(rows->lines, (void **)&rows->row, &rows->capacity, rows->count + 1,
                       sizeof *rows->row)) {
        rows->row[rows->count++] = (sali_row){ .name = *name };
    }
}

void sali_rows_extend(sali_rows *rows, int64_t row, const sali_line *letters)
{
    if (sali_scan_grow(rows->lines, (void **)&rows->piece, &rows->piece_capacity, rows->pieces + 1,
                       sizeof *rows->piece)) {
        rows->piece[rows->pieces++] = (sali_row_piece){ .letters = *letters, .row = row };
    }
}

void sali_rows_mark(sali_rows *rows, const sali_line *marks)
{
    rows->marks_line = rows->marks_line ? rows->marks_line : marks->line;
    for (int64_t k = 0; k < marks->size; k++) {
        char c = marks->text[k];
        if (!sali_is_blank(c) &&
            sali_scan_grow(rows->lines, (void **)&rows->mark, &rows->mark_capacity, rows->marks + 1,
                           sizeof *rows->mark)) {
            rows->mark[rows->marks++] = c != '.' && c != '-' && c != '~';
        }
    }
}

/* Fail at `line` with "sequence 3 ('name') WHAT". */
static void fail_row(const sali_rows *rows, int64_t row, int64_t line, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    const sali_line *name = &rows->row[row].name;
    sali_show(name->text, name->size, shown);
    sali_scan_fail(rows->lines, line, "sequence %lld%s%s%s %s", (long long)(row + 1),
                   rows->named ? " ('" : "", rows->named ? shown : "", rows->named ? "')" : "",
                   what);
}

/* ---- letters */

enum { LOWER = -1, POINT = -2, BLANK = -3, WRONG = -4 };

/* Set what the rows know of the alphabet of the reading. */
static void take_alphabet(sali_rows *rows)
{
    const sali_reading *reading = rows->lines->reading;
    rows->given = reading && reading->alphabet && reading->alphabet[0];
    rows->exact = rows->given && sali_alphabet_has_lower(reading->alphabet);
    if (rows->given) {
        sali_alphabet_codes(reading->alphabet, rows->codes);
    }
}

/* The aligned letter that c stands for, of the alphabet, A-Z, '-' or '*' (a stop codon), or one of
 * the codes above. */
static int letter_of(const sali_rows *rows, char c)
{
    if ((c >= 'A' && c <= 'Z') || (rows->given && rows->codes[(unsigned char)c] >= 0)) {
        return c;
    }
    if (c >= 'a' && c <= 'z') {
        return rows->exact ? c : LOWER;
    }
    return c == '.'               ? POINT
           : c == '-' || c == '~' ? '-'
           : c == '*'             ? c
           : sali_is_blank(c)     ? BLANK
                                  : WRONG;
}

/* Count the match columns and all columns of each row, and the letters in upper and lower case of
 * all rows. Fails for a character that is none. */
static void count_columns(sali_rows *rows, int64_t *upper, int64_t *lower)
{
    for (int64_t p = 0; rows->lines->status == SAL_OK && p < rows->pieces; p++) {
        const sali_row_piece *piece = &rows->piece[p];
        for (int64_t k = 0; k < piece->letters.size; k++) {
            int code = letter_of(rows, piece->letters.text[k]);
            if (code == WRONG) {
                char what[128], show[SALI_SHOW_SIZE];
                snprintf(what, sizeof what,
                         "has the character '%s'; expected letters%s, '-' or '.'",
                         sali_show(piece->letters.text + k, 1, show),
                         rows->given ? " (or others of the alphabet)" : "");
                fail_row(rows, piece->row, piece->letters.line, what);
                break;
            }
            rows->row[piece->row].matches += code >= 0;
            rows->row[piece->row].columns += code != BLANK;
            *upper += code >= 'A';
            *lower += code == LOWER;
        }
    }
}

/* Whether all rows have the same number of match columns or, with `all`, of all columns. */
static bool are_equal(const sali_rows *rows, bool all)
{
    for (int64_t r = 1; r < rows->count; r++) {
        const sali_row *row = &rows->row[r], *first = &rows->row[0];
        if (all ? row->columns != first->columns : row->matches != first->matches) {
            return false;
        }
    }
    return true;
}

/* How lower-case letters are to be read. In a2m and a3m, where they are insertions, all rows have
 * equally many match columns. */
static sali_letter_case case_of(const sali_rows *rows, int64_t upper, int64_t lower)
{
    if (lower == 0 || (upper > 0 && are_equal(rows, false))) {
        return SALI_CASE_INSERTIONS;
    }
    return upper == 0              ? SALI_CASE_LOWER
           : are_equal(rows, true) ? SALI_CASE_MIXED
                                   : SALI_CASE_INSERTIONS; /* check_lengths refuses it */
}

/* Set the lengths of the rows, which must be equal: the number of all columns if `whole`, else of
 * match columns. */
static void check_lengths(sali_rows *rows, bool whole)
{
    if (rows->count == 0) {
        sali_scan_refuse(rows->lines, "there are no sequences");
    }
    for (int64_t r = 0; rows->lines->status == SAL_OK && r < rows->count; r++) {
        sali_row *row = &rows->row[r];
        const sali_row *first = &rows->row[0];
        char expected[64] = "at least 1", what[256];
        row->length = whole ? row->columns : row->matches;
        if (row->length == first->length && row->length > 0) {
            continue;
        }
        if (r > 0 && row->length > 0) {
            snprintf(expected, sizeof expected, "%lld, as in the first, at line %lld",
                     (long long)first->length, (long long)first->name.line);
        }
        snprintf(what, sizeof what, "has %lld aligned letters; expected %s%s",
                 (long long)row->length, expected,
                 whole
                     ? ""
                     : " (lower case and '.' are insertions, which do not count; if they did, the "
                       "lengths would differ too)");
        fail_row(rows, r, row->name.line, what);
    }
}

/* The number of columns marked as aligned; fails unless it is positive and there are as many marks
 * as columns. */
static int64_t count_marked(const sali_rows *rows)
{
    int64_t marked = 0;
    for (int64_t k = 0; k < rows->marks; k++) {
        marked += rows->mark[k];
    }
    if (rows->lines->status == SAL_OK && rows->marks != rows->row[0].columns) {
        sali_scan_fail(rows->lines, rows->marks_line,
                       "the marks of aligned columns (RF) have %lld columns; expected %lld, as the "
                       "sequences have",
                       (long long)rows->marks, (long long)rows->row[0].columns);
    }
    if (marked == 0) {
        sali_scan_fail(rows->lines, rows->marks_line,
                       "the marks of aligned columns (RF) have no letter; expected one for each "
                       "aligned column");
    }
    return marked;
}

/* ---- the alignment */

static void copy_names(const sali_rows *rows, char **names)
{
    for (int64_t r = 0; rows->lines->status == SAL_OK && r < rows->count; r++) {
        const sali_line *name = &rows->row[r].name;
        names[r] = sali_scan_copy(rows->lines, name->text, name->size);
    }
}

/* Copy the aligned letters of all pieces to a->letters [sequences x length]. If `whole`, lower case
 * and '.' are aligned too, as a letter and a gap. If columns are marked, letters in unmarked
 * columns are dropped and counted as insertions. */
static void copy_letters(sali_rows *rows, bool whole, sali_alignment *a)
{
    for (int64_t r = 0; r < rows->count; r++) {
        rows->row[r].length = 0;
        rows->row[r].columns = 0;
    }
    for (int64_t p = 0; p < rows->pieces; p++) {
        const sali_row_piece *piece = &rows->piece[p];
        sali_row *row = &rows->row[piece->row];
        char *letters = a->letters + piece->row * a->length;
        for (int64_t k = 0; k < piece->letters.size; k++) {
            char c = piece->letters.text[k];
            int code = letter_of(rows, c);
            if (code == BLANK) {
                continue;
            }
            if (rows->marks > 0 && !rows->mark[row->columns++]) {
                a->insertions += code != '-' && code != POINT;
            } else if (code >= 0) {
                letters[row->length++] = (char)code;
            } else if (whole) {
                letters[row->length++] = code == LOWER ? (char)(c - 'a' + 'A') : '-';
            }
        }
    }
}

void sali_rows_finish(sali_rows *rows, sali_content *out)
{
    sali_scan *scan = rows->lines;
    sali_alignment *a = &out->alignment;
    int64_t upper = 0, lower = 0;
    take_alphabet(rows);
    count_columns(rows, &upper, &lower);
    a->letter_case = rows->marks_line > 0 ? SALI_CASE_MARKED : case_of(rows, upper, lower);
    bool insertions = a->letter_case == SALI_CASE_INSERTIONS && lower > 0;
    a->insertions = insertions ? lower : 0;
    check_lengths(rows, !insertions);
    int64_t marked = rows->marks_line > 0 ? count_marked(rows) : 0;
    if (scan->status == SAL_OK) {
        a->sequences = rows->count;
        a->length = marked > 0 ? marked : rows->row[0].length;
        a->codes = SALI_SCAN_ARRAY(scan, uint8_t, a->sequences * a->length);
        a->letters = SALI_SCAN_ARRAY(scan, char, a->sequences * a->length);
        a->names = rows->named ? SALI_SCAN_ARRAY(scan, char *, a->sequences) : NULL;
    }
    if (a->names) {
        copy_names(rows, a->names);
    }
    if (scan->status == SAL_OK) {
        copy_letters(rows, !insertions, a);
        sali_alignment_recode(a, rows->given
                                     ? scan->reading->alphabet
                                     : sali_alphabet_of(a->sequences * a->length, a->letters));
    }
    sali_free(rows->row);
    sali_free(rows->piece);
    sali_free(rows->mark);
}
