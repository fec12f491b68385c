/* The words of texts and their stems. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/utf8.h"
#include "models/zoo/sentences.h"

/* ---- letters */

static int32_t lower(int32_t c)
{
    bool ascii = c >= 'A' && c <= 'Z', latin = c >= 0xc0 && c <= 0xde && c != 0xd7;
    bool greek = c >= 0x391 && c <= 0x3a9, cyrillic = c >= 0x410 && c <= 0x42f;
    if (ascii || latin || greek || cyrillic) {
        return c + 0x20;
    }
    return c >= 0x400 && c <= 0x40f ? c + 0x50 : c;
}

static bool is_letter(int32_t c)
{
    if (c < 0x80) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }
    bool sign = c < 0xc0 || c == 0xd7 || c == 0xf7; /* controls, Latin-1 signs and blanks */
    bool general = c >= 0x2000 && c <= 0x2bff;      /* punctuation, symbols, arrows */
    bool eastern = (c >= 0x3000 && c <= 0x303f) || (c >= 0xff01 && c <= 0xff0f) ||
                   (c >= 0xff1a && c <= 0xff20);
    return !(sign || general || eastern || c == 0xfeff || c == 0xfffd);
}

/* The next word in lower case, NUL-terminated; false at the end. */
static bool next_word(const char **at, const char *end, char word[SALI_WORD_SIZE])
{
    int size = 0;
    bool any = false;
    while (*at < end) {
        int32_t c = sali_utf8_next(at, end);
        if (c >= 0 && is_letter(c)) {
            any = true;
            size += size <= SALI_WORD_SIZE - 5 ? sali_utf8_put(lower(c), word + size) : 0;
        } else if (any) {
            break;
        }
    }
    word[size] = '\0';
    return any;
}

/* ---- stems */

static bool ends_in(const char *word, size_t size, const char *ending)
{
    size_t n = strlen(ending);
    return size > n && memcmp(word + size - n, ending, n) == 0;
}

static bool has_vowel(const char *word, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        if (strchr("aeiouy", word[k])) {
            return true;
        }
    }
    return false;
}

static size_t cut_plural(char *word, size_t size)
{
    if (size <= 3) {
        return size;
    }
    if (ends_in(word, size, "ies") && !strchr("ae", word[size - 4])) {
        word[size - 3] = 'y';
        return size - 2;
    }
    if (ends_in(word, size, "es") && !strchr("aeo", word[size - 3])) {
        return size - 1;
    }
    return ends_in(word, size, "s") && !strchr("us", word[size - 2]) ? size - 1 : size;
}

static size_t cut_ending(const char *word, size_t size)
{
    static const char *const endings[] = { "ing", "ed", "ly" };
    for (int k = 0; k < 3; k++) {
        size_t stem = size - strlen(endings[k]);
        if (ends_in(word, size, endings[k]) && stem >= 3 && has_vowel(word, stem)) {
            char last = word[stem - 1];
            bool twice = k < 2 && stem > 3 && last == word[stem - 2] && !strchr("lsz", last);
            return stem - twice;
        }
    }
    return size;
}

void sali_stem(char *word)
{
    size_t size = strlen(word);
    for (size_t k = 0; k < size; k++) {
        if (word[k] < 'a' || word[k] > 'z') {
            return;
        }
    }
    size = cut_plural(word, size);
    size = cut_ending(word, size);
    size -= size > 3 && word[size - 1] == 'e';
    word[size] = '\0';
}

/* ---- stop words */

/* In alphabetical order. What follows an apostrophe ("don't", "it's") counts as a word. */
static const char stop_words[][11] = {
    "a",          "about",   "above",    "after",  "again",    "against",    "all",     "almost",
    "along",      "also",    "although", "always", "am",       "among",      "an",      "and",
    "another",    "any",     "are",      "around", "as",       "at",         "away",    "back",
    "be",         "became",  "because",  "been",   "before",   "being",      "below",   "between",
    "both",       "but",     "by",       "can",    "cannot",   "could",      "d",       "did",
    "do",         "does",    "doing",    "done",   "down",     "during",     "each",    "either",
    "else",       "even",    "ever",     "every",  "few",      "for",        "from",    "further",
    "get",        "gets",    "give",     "given",  "go",       "goes",       "got",     "had",
    "has",        "have",    "having",   "he",     "her",      "here",       "hers",    "herself",
    "him",        "himself", "his",      "how",    "however",  "i",          "if",      "in",
    "into",       "is",      "it",       "its",    "itself",   "just",       "least",   "less",
    "let",        "like",    "ll",       "m",      "made",     "make",       "many",    "may",
    "me",         "might",   "more",     "most",   "much",     "must",       "my",      "myself",
    "neither",    "never",   "no",       "nor",    "not",      "now",        "of",      "off",
    "often",      "on",      "once",     "one",    "only",     "or",         "other",   "our",
    "ours",       "out",     "over",     "own",    "per",      "perhaps",    "quite",   "rather",
    "re",         "s",       "said",     "same",   "say",      "says",       "see",     "seem",
    "seems",      "shall",   "she",      "should", "since",    "so",         "some",    "still",
    "such",       "t",       "than",     "that",   "the",      "their",      "theirs",  "them",
    "themselves", "then",    "there",    "these",  "they",     "this",       "those",   "though",
    "through",    "thus",    "to",       "too",    "toward",   "towards",    "under",   "until",
    "up",         "upon",    "us",       "ve",     "very",     "was",        "we",      "well",
    "were",       "what",    "when",     "where",  "whether",  "which",      "while",   "who",
    "whom",       "whose",   "why",      "will",   "with",     "within",     "without", "would",
    "yet",        "you",     "your",     "yours",  "yourself", "yourselves",
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_stop_word(const char *word)
{
    return bsearch(word, stop_words, sizeof stop_words / sizeof *stop_words, sizeof *stop_words,
                   compare_texts) != NULL;
}

/* ---- numbering */

/* Stems of all words, one after the other with a NUL each. */
typedef struct pool {
    void *text;
    int64_t size, room;
    void *stop; /* bool [words] */
    int64_t words, stop_room;
} pool;

static bool add_word(pool *p, char word[SALI_WORD_SIZE])
{
    if (sali_grow(&p->stop, &p->stop_room, p->words + 1, sizeof(bool)) != 0) {
        return false;
    }
    ((bool *)p->stop)[p->words] = is_stop_word(word);
    sali_stem(word);
    int64_t size = (int64_t)strlen(word) + 1;
    if (sali_grow(&p->text, &p->room, p->size + size, 1) != 0) {
        return false;
    }
    memcpy((char *)p->text + p->size, word, (size_t)size);
    p->size += size;
    p->words++;
    return true;
}

typedef struct entry {
    const char *stem;
    int64_t at;
} entry;

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->stem, ((const entry *)b)->stem);
}

static sal_status number_stems(const pool *p, sali_words *words, sal_error *err)
{
    entry *entries = SALI_NEW_ARRAY(entry, p->words);
    words->stem = SALI_NEW_ARRAY(int32_t, p->words);
    if (!entries || !words->stem) {
        sali_free(entries);
        return sali_fail_memory(err);
    }
    const char *stem = p->text;
    for (int64_t k = 0; k < p->words; k++, stem += strlen(stem) + 1) {
        entries[k] = (entry){ .stem = stem, .at = k };
    }
    qsort(entries, (size_t)p->words, sizeof *entries, compare_entries);
    for (int64_t k = 0; k < p->words; k++) {
        words->vocabulary += k == 0 || compare_entries(&entries[k - 1], &entries[k]) != 0;
        words->stem[entries[k].at] = (int32_t)(words->vocabulary - 1);
    }
    sali_free(entries);
    return SAL_OK;
}

sal_status sali_words_create(int64_t texts, const sali_span *text, sali_words *out, sal_error *err)
{
    sali_words words = { .begin = SALI_NEW_ARRAY(int64_t, texts + 1) };
    pool p = { 0 };
    bool ok = words.begin && sali_grow(&p.stop, &p.stop_room, 1, sizeof(bool)) == 0;
    for (int64_t k = 0; ok && k < texts; k++) {
        char word[SALI_WORD_SIZE];
        const char *at = text[k].text, *end = at + text[k].size;
        while (ok && next_word(&at, end, word)) {
            ok = add_word(&p, word);
        }
        words.begin[k + 1] = p.words;
    }
    sal_status status = ok ? number_stems(&p, &words, err) : sali_fail_memory(err);
    words.stop = p.stop;
    sali_free(p.text);
    if (status != SAL_OK) {
        sali_words_free(&words);
        return status;
    }
    *out = words;
    return SAL_OK;
}

void sali_words_free(sali_words *words)
{
    sali_free(words->begin);
    sali_free(words->stem);
    sali_free(words->stop);
    *words = (sali_words){ 0 };
}
