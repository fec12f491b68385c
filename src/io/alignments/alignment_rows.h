/* SPDX-License-Identifier: MIT */
/* What the readers of alignments share: pieces of lines become rows, rows become an alignment.
 * Its alphabet is that of the reading (io/format.h), or else derived from its letters
 * (models/alphabet.h).
 *
 * Letters: upper case is aligned, and so is `*`, a stop codon, which is outside all alphabets;
 * `-` and `~` are gaps. If a file has letters of both cases and its rows have equally many
 * letters in upper case and gaps, lower case is an insertion, as in a2m and a3m, and is dropped
 * together with `.`. In all other files lower case is aligned and `.` is a gap. If a line of the
 * file marks the aligned columns (sali_rows_mark), lower case is aligned as well, and all other
 * columns are dropped. If the alphabet of the reading has lower-case letters, upper and lower case
 * are different letters, all aligned, and `.` is a gap. */
#ifndef SALI_ALIGNMENT_ROWS_H
#define SALI_ALIGNMENT_ROWS_H

#include "io/scan.h"
#include "models/content.h"

/* A line, without its end and the blanks before that, or a part of one. */
typedef sali_token sali_line;

/* The next line; false at the end and after a failure, when *line is as it was. */
bool sali_lines_next(sali_scan *lines, sali_line *line);

/* The next word of the line; *line becomes the rest. Size 0: nothing is left. */
sali_line sali_line_word(sali_line *line);

bool sali_line_begins(const sali_line *line, const char *text);
bool sali_line_equals(const sali_line *a, const sali_line *b);

typedef struct sali_rows {
    sali_scan *lines; /* of the file */
    bool named;
    int8_t codes[256]; /* of the alphabet of the reading, if there is one */
    bool given, exact; /* there is one; and its case tells letters apart; set at the end */
    int64_t count, capacity;
    struct sali_row *row; /* in the order of the file */
    int64_t pieces, piece_capacity;
    struct sali_row_piece *piece;
    int64_t marks_line; /* of the first marks; 0: there are none */
    int64_t marks, mark_capacity;
    bool *mark; /* [marks]: whether the column is aligned */
} sali_rows;

typedef struct sali_row {
    sali_line name;
    int64_t matches; /* letters in upper case and gaps other than '.' */
    int64_t columns; /* all letters, gaps and '.' */
    int64_t length;  /* aligned letters; set at the end */
} sali_row;

/* Begin a new row. `name` is kept by reference; if rows are not named, it only gives the place of
 * the row. */
void sali_rows_add(sali_rows *rows, const sali_line *name);

/* Append letters to row `row`, kept by reference; blanks among them are skipped. */
void sali_rows_extend(sali_rows *rows, int64_t row, const sali_line *letters);

/* Append the marks of the next columns: a letter for aligned columns; '.', '-' or '~' for
 * insertions. Blanks are skipped. In the end there must be one mark for each column, or none at
 * all. */
void sali_rows_mark(sali_rows *rows, const sali_line *marks);

/* Make the alignment of all rows, which must have equal lengths, and free the rows. Cost: linear in
 * the text. */
void sali_rows_finish(sali_rows *rows, sali_content *out);

#endif
