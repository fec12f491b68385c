#include "models/zoo/sentences.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/utf8.h"

/* Control characters are blanks. */
static bool is_blank(int32_t c)
{
    return (c >= 0 && c <= ' ') || (c >= 0x7f && c <= 0xa0) || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x3000;
}

static bool is_ender(int32_t c)
{
    return c == '.' || c == '!' || c == '?' || c == 0x2026;
}

static bool is_wide_ender(int32_t c)
{
    return c == 0x3002 || c == 0xff01 || c == 0xff1f;
}

/* Straight quotes open and close. */
static bool is_closer(int32_t c)
{
    return c == '"' || c == '\'' || c == ')' || c == ']' || c == '}' || c == 0xbb || c == 0x2019 ||
           c == 0x201d || c == 0x300d;
}

static bool is_opener(int32_t c)
{
    return c == '"' || c == '\'' || c == '(' || c == '[' || c == '{' || c == 0xab || c == 0x2018 ||
           c == 0x201c || c == 0xbf || c == 0xa1;
}

static bool is_ascii_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next code point without moving; -1 at the end. */
static int32_t peek(const char *at, const char *end)
{
    return at < end ? sali_utf8_next(&at, end) : -1;
}

static const char *skip(const char *at, const char *end, bool (*is)(int32_t))
{
    while (at < end) {
        const char *next = at;
        if (!is(sali_utf8_next(&next, end))) {
            break;
        }
        at = next;
    }
    return at;
}

/* ---- full stops that end no sentence */

#define LONGEST_ABBREVIATION 8
static const char abbreviations[][LONGEST_ABBREVIATION + 1] = {
    "adj",  "apr", "aug", "ave",  "brig", "bros", "capt", "cf",   "co",   "col", "corp",   "dec",
    "dept", "dr",  "ed",  "eds",  "eq",   "est",  "feb",  "fig",  "figs", "ft",  "gen",    "gov",
    "hon",  "inc", "jan", "jr",   "jul",  "jun",  "lt",   "ltd",  "maj",  "mar", "messrs", "mr",
    "mrs",  "ms",  "mt",  "nov",  "oct",  "op",   "pp",   "pres", "prof", "pvt", "ref",    "rep",
    "rev",  "sen", "sep", "sept", "sgt",  "sr",   "st",   "supt", "univ", "viz", "vol",    "vs",
};

static bool equals_lower(const char *text, int64_t size, const char *word)
{
    for (int64_t k = 0; k < size; k++) {
        char c = text[k] >= 'A' && text[k] <= 'Z' ? (char)(text[k] + ('a' - 'A')) : text[k];
        if (c != word[k]) { /* also where the word is shorter */
            return false;
        }
    }
    return word[size] == '\0';
}

/* Whether the single full stop at `stop` is that of an abbreviation; `next` follows the blanks. */
static bool is_abbreviation(const char *begin, const char *stop, int32_t next)
{
    const char *word = stop;
    bool dotted = false, short_parts = true; /* of at most two letters between full stops */
    int64_t part = 0;
    while (word > begin && stop - word <= LONGEST_ABBREVIATION &&
           (is_ascii_letter(word[-1]) || word[-1] == '.')) {
        word--;
        dotted |= *word == '.';
        part = *word == '.' ? 0 : part + 1;
        short_parts &= part <= 2;
    }
    int64_t size = stop - word;
    if (size == 0 || size > LONGEST_ABBREVIATION ||
        (word > begin &&
         ((unsigned char)word[-1] >= 0x80 || (word[-1] >= '0' && word[-1] <= '9')))) {
        return false;
    }
    if ((dotted && short_parts) || (size == 1 && *word >= 'A' && *word <= 'Z' && *word != 'I')) {
        return true;
    }
    for (size_t k = 0; k < sizeof abbreviations / sizeof *abbreviations; k++) {
        if (equals_lower(word, size, abbreviations[k])) {
            return true;
        }
    }
    return equals_lower(word, size, "no") && next >= '0' && next <= '9';
}

/* ---- ends */

/* Whether a sentence that began at `begin` ends with the enders at `at`; *past is then behind it,
 * and otherwise behind the enders and closers. */
static bool ends_after(const char *begin, const char *at, const char *end, const char **past)
{
    const char *stops = skip(at, end, is_ender), *closed = skip(stops, end, is_closer);
    const char *blank = skip(closed, end, is_blank);
    int32_t next = peek(skip(blank, end, is_opener), end);
    *past = closed;
    if (blank == closed) {
        return blank == end;
    }
    if (next >= 'a' && next <= 'z') {
        return false;
    }
    return !(stops - at == 1 && *at == '.' && is_abbreviation(begin, at, next));
}

/* Where the sentence ends that begins at `begin`; *next is where to go on. */
static const char *find_end(const char *begin, const char *end, const char **next)
{
    const char *at = begin, *past;
    while (at < end) {
        const char *here = at;
        int32_t c = sali_utf8_next(&at, end);
        if (is_ender(c)) {
            if (ends_after(begin, here, end, &past)) {
                *next = past;
                return past;
            }
            at = past;
        } else if (is_wide_ender(c)) {
            *next = skip(at, end, is_closer);
            return *next;
        } else if (c == '\n') { /* a second one before the next word? */
            const char *word = skip(at, end, is_blank);
            if (word == end || memchr(at, '\n', (size_t)(word - at))) {
                *next = word;
                return here;
            }
            at = word;
        }
    }
    *next = end;
    return end;
}

sal_status sali_sentences(const char *text, int64_t size, sali_span **out, int64_t *n,
                          sal_error *err)
{
    const char *end = text + size, *at = skip(text, end, is_blank);
    void *spans = NULL;
    int64_t capacity = 0, found = 0;
    if (sali_grow(&spans, &capacity, 1, sizeof(sali_span)) != 0) {
        return sali_fail_memory(err);
    }
    while (at < end) {
        const char *next, *last = find_end(at, end, &next);
        while ((unsigned char)last[-1] <= ' ') { /* the first byte of a sentence is none */
            last--;
        }
        if (sali_grow(&spans, &capacity, found + 1, sizeof(sali_span)) != 0) {
            sali_free(spans);
            return sali_fail_memory(err);
        }
        ((sali_span *)spans)[found++] = (sali_span){ .text = at, .size = last - at };
        at = skip(next, end, is_blank);
    }
    *out = spans;
    *n = found;
    return SAL_OK;
}
