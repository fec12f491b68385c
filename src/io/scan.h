/* SPDX-License-Identifier: MIT */
/* Reading a text as words and numbers. The scanner keeps the first failure, after which all calls
 * do nothing. So a reader checks the status at the end, and before it uses a value to allocate,
 * index or loop. Messages give file:line, what was expected and what was found. */
#ifndef SALI_SCAN_H
#define SALI_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saltus/status.h>

/* Which comments are skipped like blanks. */
enum {
    SALI_COMMENT_C = 1,        /* slash star ... star slash */
    SALI_COMMENT_CPP = 2,      /* from // to the end of the line */
    SALI_COMMENT_HASH = 4,     /* from # to the end of the line */
    SALI_COMMENT_LETTER_C = 8, /* a line whose first word is "c", as in DIMACS files */
    SALI_COMMENT_PERCENT = 16, /* from % to the end of the line */
    SALI_BYTES = 32            /* no comments, and no byte order mark: the data are not text */
};

/* A position in a text, which the caller keeps in memory. To look ahead, copy the struct and set
 * the copy's `err` to NULL. */
typedef struct sali_scan {
    const char *name; /* of the file, for messages */
    const char *begin, *next, *end;
    int64_t line; /* of `next`, from 1 */
    unsigned comments;
    sal_status status;                  /* of the first failure; nothing is read after it */
    sal_error *err;                     /* receives the message of the failure; may be NULL */
    const struct sali_reading *reading; /* what the caller knows of the file (format.h), or NULL */
} sali_scan;

/* A word: characters up to a blank, a comment or the end. Not NUL-terminated; size 0 at the end and
 * after a failure. */
typedef struct sali_token {
    const char *text;
    int64_t size;
    int64_t line;
} sali_token;

/* A scanner at the beginning of `size` bytes; a UTF-8 byte order mark is skipped. */
sali_scan sali_scan_of(const char *name, const void *data, int64_t size, unsigned comments,
                       sal_error *err);

/* The next line as a scanner of its own, without its end; false at the end and after a failure.
 * *line must be zeros before the first call: a failure in the line is passed to `scan` by the next
 * call. */
bool sali_scan_line(sali_scan *scan, sali_scan *line);

/* The next word; fails if a comment has no end. */
sali_token sali_scan_token(sali_scan *scan);

/* The next piece of a text with punctuation: a character of `marks` by itself; a text in double
 * quotes, quotes included; or characters up to a blank, a comment, a quote or one of `marks`. Fails
 * if a quote has no end. Size 0 at the end and after a failure. */
sali_token sali_scan_piece(sali_scan *scan, const char *marks);

/* Whether a piece is this mark. */
static inline bool sali_piece_is(const sali_token *piece, char mark)
{
    return piece->size == 1 && *piece->text == mark;
}

/* Consume the next piece, which must be `mark`, one of `marks`. */
void sali_scan_need_mark(sali_scan *scan, const char *marks, char mark);

/* Skip pieces up to the first that is `mark` and is not inside of braces that open later. All three
 * are of `marks`. Fails if the text ends before. */
void sali_scan_skip_to(sali_scan *scan, const char *marks, char mark);

/* Whether another word follows; whether it is on line `line`. False after a failure. */
bool sali_scan_more(sali_scan *scan);
bool sali_scan_on_line(const sali_scan *scan, int64_t line);

/* The next word as an integer in [min, max]; `what` names it in the message. `min` after a failure.
 */
int64_t sali_scan_int(sali_scan *scan, const char *what, int64_t min, int64_t max);

/* The next word as a finite number; 0 after a failure. */
double sali_scan_double(sali_scan *scan, const char *what);

/* As sali_scan_int, for a count of words that must follow: it fails for more than the rest of the
 * text can hold. */
int64_t sali_scan_count(sali_scan *scan, const char *what, int64_t min);

/* The number of words in the rest of the text, up to a comment without end. */
int64_t sali_scan_words(const sali_scan *scan);

/* An upper bound of the number of words in the rest of the text. */
int64_t sali_scan_room(const sali_scan *scan);

/* The line number, from 1, of a place in the text. */
int64_t sali_scan_line_of(const sali_scan *scan, const char *place);

/* Fails if anything but blanks and comments follows. Returns the status of the scanner. */
sal_status sali_scan_end(sali_scan *scan);

/* A blank, or an end of line. */
static inline bool sali_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The text from `begin` to `end` without blanks around it. */
sali_token sali_token_trim(const char *begin, const char *end, int64_t line);

/* Whether token and word are equal, ignoring the case of ASCII letters. */
int sali_token_is(const sali_token *token, const char *word);

/* ---- failures: DATA unless it says otherwise; they return the status of the first */

/* "name:line: message" */
sal_status sali_scan_fail(sali_scan *scan, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* "name: message" */
sal_status sali_scan_refuse(sali_scan *scan, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* "name:line: expected WHAT, found 'token'" (or "the end of the file") */
sal_status sali_scan_expected(sali_scan *scan, const sali_token *token, const char *what)
    __attribute__((cold));

/* Fails with MEMORY unless `granted`. Returns false after this or an earlier failure. */
bool sali_scan_granted(sali_scan *scan, bool granted);

#ifdef SALTUS_ANALYSE /* for analysers, which see one file at a time: true implies `granted` */
#define sali_scan_granted(scan, granted) (sali_scan_granted(scan, granted) && (granted))
#endif

/* count * size zeroed bytes as of sali_alloc. NULL if this fails, and after an earlier failure. */
void *sali_scan_alloc(sali_scan *scan, int64_t count, size_t size);

/* A copy of `size` characters and a NUL; NULL after a failure. */
char *sali_scan_copy(sali_scan *scan, const char *text, int64_t size);

/* As sali_grow; false after a failure. */
bool sali_scan_grow(sali_scan *scan, void **array, int64_t *capacity, int64_t need, size_t size);

#define SALI_SCAN_ARRAY(scan, type, count) ((type *)sali_scan_alloc((scan), (count), sizeof(type)))

/* Text of a file, made printable for a message: unprintable characters become '?', long texts are
 * cut. size -1: up to the NUL. */
#define SALI_SHOW_SIZE 48
const char *sali_show(const char *text, int64_t size, char out[SALI_SHOW_SIZE]);

#endif
