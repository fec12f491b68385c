/* Sentences and words of plain texts, for summary.c. Letters beyond ASCII are letters of words, in
 * upper and lower case two different ones. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdbool.h>
#include <stdint.h>

enum { TEXT_WORD = 64 };

/* A part of a text, which keeps the bytes. */
typedef struct span {
    const char *text;
    int64_t size;
} span;

typedef struct token {
    char stem[TEXT_WORD];
    bool stop; /* says little: "the" */
} token;

/* Turn typographic quotes, dashes, blanks and the ellipsis into ASCII, in place. */
void text_simplify(char *text);

/* Find the sentences, `most` of them at most; returns how many there are. One ends at a blank line
 * or the end of the text; or behind . ! ? and closing quotes and brackets, if a blank and no
 * lower-case letter follow and the full stop is not that of an abbreviation. */
int64_t text_sentences(const char *text, int64_t most, span *sentences);

/* Read the words, runs of letters and digits in lower case, at most (size + 1) / 2 of them; returns
 * how many. */
int64_t text_words(span s, token *words);

/* Cut a plural's -s (Harman 1991), then -ing, -ed or -ly behind three letters and a vowel, with the
 * second of two equal consonants, then an -e: "stopped", "stopping" and "stops" become "stop". */
void text_stem(char *word);

/* ROUGE-n (Lin 2004): n-grams that are in a text and in another one, as often as both have them,
 * over those of the other (recall), over those of the text (precision), and the harmonic mean f.
 * O(size (size + other_size)). */
typedef struct rouge {
    double recall, precision, f;
} rouge;
rouge text_rouge(int64_t n, int64_t size, const token *text, int64_t other_size,
                 const token *other);

#endif

/* SPDX-License-Identifier: MIT */
