/* SPDX-License-Identifier: MIT */
/* A tokeniser for text formats made of words and numbers. Messages say file:line, what was expected
 * and what was found. */
#ifndef SALI_SCAN_H
#define SALI_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/status.h>

/* Which comments are blanks. */
enum {
    SALI_COMMENT_C = 1,        /* slash star ... star slash */
    SALI_COMMENT_CPP = 2,      /* from // to the end of the line */
    SALI_COMMENT_HASH = 4,     /* from # to the end of the line */
    SALI_COMMENT_LETTER_C = 8, /* a line whose first word is "c", as in DIMACS files */
    SALI_COMMENT_PERCENT = 16  /* from % to the end of the line */
};

/* A position in a text that the caller keeps. Copy the struct to look ahead. */
typedef struct sali_scan {
    const char *name; /* of the file, for messages */
    const char *begin, *next, *end;
    int64_t line; /* of `next`, from 1 */
    unsigned comments;
} sali_scan;

/* A word: characters up to a blank, a comment or the end. Not NUL-terminated; size 0 at the end. */
typedef struct sali_token {
    const char *text;
    int64_t size;
    int64_t line;
} sali_token;

/* Start at the beginning of `size` bytes; a UTF-8 byte order mark is skipped. */
void sali_scan_init(sali_scan *scan, const char *name, const void *data, int64_t size,
                    unsigned comments);

/* The next line of a text as a scanner of its own, without its end; false at the end. `scan` is
 * only moved by this function. */
bool sali_scan_line(sali_scan *scan, sali_scan *line);

/* The next word, or a token of size 0 at the end. DATA for a comment without end. */
sal_status sali_scan_token(sali_scan *scan, sali_token *token, sal_error *err);

/* Is there another word on this line? False at a comment without end. */
bool sali_scan_on_line(const sali_scan *scan, int64_t line);

/* The next word as an integer in [min, max]. DATA otherwise; `what` names it in the message. */
sal_status sali_scan_int(sali_scan *scan, const char *what, int64_t min, int64_t max, int64_t *out,
                         sal_error *err);

/* The next word as a finite number. */
sal_status sali_scan_double(sali_scan *scan, const char *what, double *out, sal_error *err);

/* As sali_scan_int, for a count of words that must follow: at most what the rest can hold. */
sal_status sali_scan_count(sali_scan *scan, const char *what, int64_t min, int64_t *out,
                           sal_error *err);

/* How many words the rest of the text has. DATA for a comment without end; then *n are before it.
 */
sal_status sali_scan_words(const sali_scan *scan, int64_t *n, sal_error *err);

/* How many words the rest of the text can hold at most. */
int64_t sali_scan_room(const sali_scan *scan);

/* DATA when anything but blanks and comments follows. */
sal_status sali_scan_end(sali_scan *scan, sal_error *err);

/* Equal, ignoring the case of ASCII letters? */
int sali_token_is(const sali_token *token, const char *word);

/* DATA with "name:line: message". */
sal_status sali_scan_fail(const sali_scan *scan, int64_t line, sal_error *err, const char *format,
                          ...) __attribute__((format(printf, 4, 5), cold));

/* DATA with "name:line: expected WHAT, found 'token'" (or "the end of the file"). */
sal_status sali_scan_expected(const sali_scan *scan, const sali_token *token, const char *what,
                              sal_error *err) __attribute__((cold));

/* Text of a file made fit for a message: unprintable characters become '?', long texts are cut. */
#define SALI_SHOW_SIZE 48
const char *sali_show(const char *text, int64_t size, char out[SALI_SHOW_SIZE]);

#endif
