#include "texts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- the text and its sentences */

void text_simplify(char *text)
{
    static const char *const marks[] = { "\"\xe2\x80\x9c", "\"\xe2\x80\x9d", "'\xe2\x80\x98",
                                         "'\xe2\x80\x99",  "-\xe2\x80\x93",  "-\xe2\x80\x94",
                                         ".\xe2\x80\xa6",  " \xc2\xa0" };
    char *to = text;
    while (*text) {
        size_t k = 0;
        while (k < 8 && strncmp(text, marks[k] + 1, strlen(marks[k] + 1)) != 0) {
            k++;
        }
        *to++ = k < 8 ? marks[k][0] : *text;
        text += k < 8 ? strlen(marks[k] + 1) : 1;
    }
    *to = '\0';
}

static const char blanks[] = " \t\r\n\v\f";

/* Whether ` word ` is in a list with blanks around each of its words. */
static bool listed(const char *list, const char *word, int size)
{
    char key[TEXT_WORD + 2];
    snprintf(key, sizeof key, " %.*s ", size, word);
    for (char *c = key; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    return size > 0 && strstr(list, key);
}

/* Whether the full stop is that of an initial (J.), of parts of two letters at most (e.g., Ph.D.)
 * or of an abbreviation (Dr.); `next` begins the word after it. */
static bool is_abbreviation(const char *begin, const char *stop, char next)
{
    static const char list[] =
        " adj apr aug ave brig bros capt cf co col corp dec dept dr ed eds eq est feb fig figs ft "
        "gen gov hon inc jan jr jul jun lt ltd maj mar messrs mr mrs ms mt nov oct op pp pres prof "
        "pvt ref rep rev sen sep sept sgt sr st supt univ viz vol vs ";
    const char *word = stop;
    bool dotted = false;
    int part = 0, longest = 0, size;
    while (word > begin && stop - word < 9 &&
           (isalpha((unsigned char)word[-1]) || word[-1] == '.')) {
        word--;
        dotted |= *word == '.';
        part = *word == '.' ? 0 : part + 1;
        longest = part > longest ? part : longest;
    }
    size = (int)(stop - word);
    unsigned char before = word > begin ? (unsigned char)word[-1] : ' ';
    if (size == 0 || size > 8 || isdigit(before) || before >= 0x80) {
        return false;
    }
    bool initial = size == 1 && isupper((unsigned char)*word) && *word != 'I';
    return (dotted && longest <= 2) || initial || listed(list, word, size) ||
           (listed(" no ", word, size) && isdigit((unsigned char)next));
}

/* Where a sentence ends: at a blank line or the end of the text; or behind . ! ? and closing quotes
 * and brackets, if a blank and no lower-case letter follow. */
static const char *sentence_end(const char *begin)
{
    const char *at = begin;
    for (; *at; at++) {
        if (*at == '\n') {
            const char *next = at + strspn(at, blanks);
            if (!*next || memchr(at + 1, '\n', (size_t)(next - at - 1))) {
                return at;
            }
        } else if (strchr(".!?", *at)) {
            const char *stops = at + strspn(at, ".!?"), *closed = stops + strspn(stops, "\"')]}");
            const char *next = closed + strspn(closed, blanks);
            char word = next[strspn(next, "\"'([{")];
            bool one = stops - at == 1 && *at == '.';
            if (!*next || (next > closed && !islower((unsigned char)word) &&
                           !(one && is_abbreviation(begin, at, word)))) {
                return closed;
            }
            at = closed - 1;
        }
    }
    return at;
}

int64_t text_sentences(const char *text, int64_t most, span *sentences)
{
    int64_t n = 0;
    for (const char *at = text + strspn(text, blanks); *at; n++) {
        const char *end = sentence_end(at), *last = end;
        while (strchr(blanks, last[-1])) {
            last--;
        }
        if (n < most) {
            sentences[n] = (span){ at, last - at };
        }
        at = end + strspn(end, blanks);
    }
    return n;
}

/* ---- words */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Whether the word of n letters has this ending, and more. */
static bool ends_in(const char *w, size_t n, const char *ending)
{
    size_t size = strlen(ending);
    return n > size && memcmp(w + n - size, ending, size) == 0;
}

void text_stem(char *w)
{
    static const char *const endings[] = { "ing", "ed", "ly" };
    size_t n = strlen(w);
    if (strspn(w, "abcdefghijklmnopqrstuvwxyz") < n) {
        return;
    }
    if (n > 3 && ends_in(w, n, "ies") && !strchr("ae", w[n - 4])) {
        n -= 2;
        w[n - 1] = 'y';
    } else if (n > 3 && ends_in(w, n, "es") && !strchr("aeo", w[n - 3])) {
        n--;
    } else if (n > 3 && ends_in(w, n, "s") && !strchr("us", w[n - 2])) {
        n--;
    }
    for (size_t k = 0; k < 3; k++) {
        size_t left = n - strlen(endings[k]);
        if (ends_in(w, n, endings[k]) && left >= 3 && strcspn(w, "aeiouy") < left) {
            bool twice = w[left - 1] == w[left - 2] && !strchr("lsz", w[left - 1]);
            n = left - (k < 2 && left > 3 && twice);
            break;
        }
    }
    n -= n > 3 && w[n - 1] == 'e';
    w[n] = '\0';
}

static const char stop_words[] =
    " a about above after again against all almost along also although always am among an and "
    "another any are around as at away back be became because been before being below between both "
    "but by can cannot could d did do does doing done down during each either else even ever every "
    "few for from further get gets give given go goes got had has have having he her here hers "
    "herself him himself his how however i if in into is it its itself just least less let like ll "
    "m made make many may me might more most much must my myself neither never no nor not now of "
    "off often on once one only or other our ours out over own per perhaps quite rather re s said "
    "same say says see seem seems shall she should since so some still such t than that the their "
    "theirs them themselves then there these they this those though through thus to too toward "
    "towards under until up upon us ve very was we well were what when where whether which while "
    "who whom whose why will with within without would yet you your yours yourself yourselves ";

int64_t text_words(span s, token *words)
{
    int64_t n = 0, at = 0;
    while (at < s.size) {
        int size = 0;
        for (; at < s.size && is_letter(s.text[at]); at++) {
            if (size < TEXT_WORD - 1) {
                words[n].stem[size++] = (char)tolower((unsigned char)s.text[at]);
            }
        }
        if (size > 0) {
            words[n].stem[size] = '\0';
            words[n].stop = listed(stop_words, words[n].stem, size);
            text_stem(words[n++].stem);
        }
        at++;
    }
    return n;
}

/* ---- ROUGE */

static bool same_gram(int64_t n, const token *a, const token *b)
{
    int64_t k = 0;
    while (k < n && strcmp(a[k].stem, b[k].stem) == 0) {
        k++;
    }
    return k == n;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

rouge text_rouge(int64_t n, int64_t size, const token *text, int64_t other_size, const token *other)
{
    int64_t grams = size < n ? 0 : size - n + 1, others = other_size < n ? 0 : other_size - n + 1;
    double common = 0;
    for (int64_t i = 0; i < grams; i++) { /* the k-th of those that are equal needs a k-th there */
        int64_t k = 0, there = 0;
        for (int64_t j = 0; j <= i; j++) {
            k += same_gram(n, text + i, text + j);
        }
        for (int64_t j = 0; j < others; j++) {
            there += same_gram(n, text + i, other + j);
        }
        common += k <= there;
    }
    rouge r = { .recall = ratio(common, (double)others),
                .precision = ratio(common, (double)grams) };
    r.f = ratio(2 * r.precision * r.recall, r.precision + r.recall);
    return r;
}

/* SPDX-License-Identifier: MIT */
