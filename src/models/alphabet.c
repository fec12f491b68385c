/* SPDX-License-Identifier: MIT */
#include "models/alphabet.h"

#include <string.h>
#include <strings.h>

#include <saltus/program.h>
#include "core/error.h"
#include "core/text.h"

const char sali_protein[] = "-ACDEFGHIKLMNPQRSTVWY", sali_rna[] = "-ACGU", sali_dna[] = "-ACGT";

static const struct {
    const char *word, *name, *letters;
} alphabets[] = {
    { "protein", "protein", sali_protein },
    { "rna", "RNA", sali_rna },
    { "dna", "DNA", sali_dna },
};

#define N_ALPHABETS ((int)(sizeof alphabets / sizeof *alphabets))

const char *sali_alphabet_at(int index)
{
    return index < N_ALPHABETS ? alphabets[index].letters : NULL;
}

const char *sali_alphabet_name(const char *letters)
{
    for (int k = 0; k < N_ALPHABETS; k++) {
        if (strcmp(letters, alphabets[k].letters) == 0) {
            return alphabets[k].name;
        }
    }
    return letters;
}

/* ---- from texts */

/* The name of an alphabet that the text may have meant: the same in another case, or mistyped in a
 * letter or two; NULL: none. */
static const char *name_meant(const char *text)
{
    sal_nearest nearest = sal_nearest_begin(text);
    for (int k = 0; k < N_ALPHABETS; k++) {
        if (strcasecmp(text, alphabets[k].word) == 0) {
            return alphabets[k].word;
        }
        sal_nearest_offer(&nearest, alphabets[k].word);
    }
    return nearest.name;
}

sal_status sali_alphabet_parse(const char *text, char letters[SAL_ALPHABET_ROOM], sal_error *err)
{
    const char *found = !text || strcmp(text, "auto") == 0 ? "" : NULL;
    for (int k = 0; !found && k < N_ALPHABETS; k++) {
        found = strcmp(text, alphabets[k].word) == 0 ? alphabets[k].letters : NULL;
    }
    if (!found && name_meant(text)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "alphabet=%s; did you mean '%s'? Expected auto, protein, rna, dna or the "
                         "letters in the order of their codes, such as -ACGU",
                         text, name_meant(text));
    }
    sal_error wrong = { 0 };
    if (!found && sali_letters_check(text, &wrong) != SAL_OK) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "alphabet=%.100s; expected auto, protein, rna, dna or the letters in the "
                         "order of their codes, such as -ACGU: %s",
                         text, wrong.message);
    }
    strcpy(letters, found ? found : text); /* letters that are good have room */
    return SAL_OK;
}

/* ---- letters and codes */

/* `letters` without the gap. */
static const char *without_gap(const char *letters)
{
    return letters + (letters[0] == '-');
}

const char *sali_alphabet_fits(int64_t states, const char *letters)
{
    for (int k = 0; k < N_ALPHABETS; k++) {
        const char *tried = letters[0] ? letters : alphabets[k].letters;
        if (states == (int64_t)strlen(tried)) {
            return tried;
        }
        if (states == (int64_t)strlen(without_gap(tried))) {
            return without_gap(tried);
        }
    }
    return NULL;
}

bool sali_alphabet_has_lower(const char *letters)
{
    return strpbrk(letters, "abcdefghijklmnopqrstuvwxyz");
}

void sali_alphabet_codes(const char *letters, int8_t codes[256])
{
    const char *bases = without_gap(letters);
    memset(codes, -1, 256);
    for (int8_t k = 0; letters[k]; k++) {
        codes[(unsigned char)letters[k]] = k;
    }
    if (strcmp(bases, without_gap(sali_rna)) == 0) {
        codes['T'] = codes['U'];
    } else if (strcmp(bases, without_gap(sali_dna)) == 0) {
        codes['U'] = codes['T'];
    }
}

bool sali_alphabet_same(const char *letters, const char *others)
{
    int8_t codes[256];
    bool same = strlen(letters) == strlen(others);
    sali_alphabet_codes(letters, codes);
    for (int k = 0; same && others[k]; k++) {
        same = codes[(unsigned char)others[k]] == k;
    }
    return same;
}

const char *sali_alphabet_of(int64_t n, const char *letters)
{
    int64_t count[256] = { 0 }, all = 0;
    for (int64_t i = 0; i < n; i++) {
        count[(unsigned char)letters[i]]++;
    }
    for (const char *c = "EFIJLOPQZ"; *c; c++) { /* no codes of nucleotides */
        if (count[(unsigned char)*c] > 0) {
            return sali_protein;
        }
    }
    for (int c = 'A'; c <= 'Z'; c++) {
        all += c == 'N' || c == 'X' ? 0 : count[c];
    }
    int64_t bases = count['A'] + count['C'] + count['G'] + count['T'] + count['U'];
    bool each = count['A'] && count['C'] && count['G'] && count['T'] + count['U'];
    if (!each || 10 * bases < 9 * all) {
        return sali_protein;
    }
    return count['T'] > count['U'] ? sali_dna : sali_rna;
}
