/* The sentences and words of a plain text. */
#ifndef SALI_SENTENCES_H
#define SALI_SENTENCES_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/status.h>

/* A part of a text, which keeps the bytes. */
typedef struct sali_span {
    const char *text;
    int64_t size;
} sali_span;

/* The sentences of a text in UTF-8, in order, without blanks around them. A sentence ends
 *   - at a blank line or the end of the text;
 *   - after any of . ! ? and the ellipsis, and closing quotes and brackets, if a blank and no
 *     lower-case ASCII letter follow. A single full stop does not end it after an initial ("J."),
 *     one or two letters with full stops ("e.g.", "Ph.D."), or one of a list of abbreviations
 * ("Dr.");
 *   - after the full-width enders of Chinese and Japanese, whatever follows.
 * Params:  *out [*n], to be freed by sali_free.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    linear. */
sal_status sali_sentences(const char *text, int64_t size, sali_span **out, int64_t *n,
                          sal_error *err);

/* The words of some texts, numbered by their stems: equal numbers, equal stems. */
typedef struct sali_words {
    int64_t *begin;     /* [texts + 1]: text k has the words begin[k] .. begin[k + 1] - 1 */
    int32_t *stem;      /* [begin[texts]], 0 .. vocabulary - 1, in alphabetical order of stems */
    bool *stop;         /* [begin[texts]]: a stop word, which says little */
    int64_t vocabulary; /* number of different stems */
} sali_words;

/* Words are runs of letters and digits, in lower case (ASCII, Latin-1, Greek, Cyrillic), the first
 * 60 bytes of them; characters above U+007F that are no punctuation or blanks count as letters.
 * Stems (sali_stem) are taken of words of ASCII letters only.
 * Returns: SAL_ERR_MEMORY. Cost: O(words log words). */
sal_status sali_words_create(int64_t texts, const sali_span *text, sali_words *out, sal_error *err);
void sali_words_free(sali_words *words);

#define SALI_WORD_SIZE 64

/* Cut the ending of a word of lower-case ASCII letters, in place: a plural's -s (Harman 1991, "s"
 * stemmer: -ies to -y, -es to -e, -s), then one of -ing, -ed, -ly that leaves three letters and a
 * vowel, then the second of two equal consonants but l, s, z at the end of what is left of -ing and
 * -ed, then a final e behind three letters. "stopped", "stopping" and "stops" become "stop";
 * "hoped" and "hopes" "hop". Much simpler than Porter's. */
void sali_stem(char *word);

#endif
