/* What the readers of alignments share: pieces of lines become rows, rows become an alignment,
 * whose alphabet its letters tell (models/alphabet.h).
 *
 * Letters: upper case is aligned, `-`, `*` and `~` are gaps, and so are letters that the alphabet
 * lacks (B, J, O, U, X, Z in proteins; N, R, Y and others in RNA and DNA). Lower case is an
 * insertion, as in a2m and a3m, and dropped; so is `.` in a file that has insertions. In one
 * without them `.` is a gap. */
#ifndef SALI_ALIGNMENT_ROWS_H
#define SALI_ALIGNMENT_ROWS_H

#include "models/content.h"

/* A line without its end and the blanks before that. */
typedef struct sali_line {
    const char *text;
    int64_t size;
    int64_t number; /* from 1 */
} sali_line;

typedef struct sali_lines {
    const char *next, *end;
    int64_t number; /* of the last line taken */
} sali_lines;

/* From the beginning of a text; a UTF-8 byte order mark is skipped. */
void sali_lines_init(sali_lines *lines, const char *data, int64_t size);

/* The next line; false at the end. */
bool sali_lines_next(sali_lines *lines, sali_line *line);

/* The part of the line before the first blank; the line becomes the rest. Size 0: nothing left. */
sali_line sali_line_word(sali_line *line);

bool sali_line_begins(const sali_line *line, const char *text);
bool sali_line_equals(const sali_line *a, const sali_line *b);

typedef struct sali_rows {
    const char *file; /* for messages */
    bool named;
    int64_t count, capacity;
    struct sali_row *row; /* in the order of the file */
    int64_t pieces, piece_capacity;
    struct sali_piece *piece;
} sali_rows;

typedef struct sali_row {
    sali_line name;
    int64_t length; /* aligned letters; set at the end */
} sali_row;

void sali_rows_free(sali_rows *rows);

/* A new row. `name` is kept by reference; if rows are not named it only says where the row is. */
sal_status sali_rows_add(sali_rows *rows, const sali_line *name, sal_error *err);

/* Letters at the end of row `row`, kept by reference; blanks among them are skipped. */
sal_status sali_rows_extend(sali_rows *rows, int64_t row, const sali_line *letters, sal_error *err);

/* The alignment of all rows, which must have equal lengths.
 * Returns: DATA naming line and sequence; MEMORY. Cost: linear in the text. */
sal_status sali_rows_finish(sali_rows *rows, sali_content *out, sal_error *err);

/* DATA with "file:line: message". */
sal_status sali_rows_fail(const sali_rows *rows, int64_t line, sal_error *err, const char *format,
                          ...) __attribute__((format(printf, 4, 5), cold));

#endif
