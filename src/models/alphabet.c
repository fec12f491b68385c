/* SPDX-License-Identifier: MIT */
#include "models/alphabet.h"

#include <stdbool.h>
#include <string.h>

static const char *const letters_of[] = {
    [SAL_ALPHABET_AUTO] = "-ACDEFGHIKLMNPQRSTVWY",
    [SAL_ALPHABET_PROTEIN] = "-ACDEFGHIKLMNPQRSTVWY",
    [SAL_ALPHABET_RNA] = "-ACGU",
    [SAL_ALPHABET_DNA] = "-ACGT",
};

const char *sali_alphabet_letters(sal_alphabet alphabet)
{
    return letters_of[alphabet];
}

int sali_alphabet_states(sal_alphabet alphabet)
{
    return (int)strlen(letters_of[alphabet]);
}

bool sali_alphabet_fits(int64_t states, sal_alphabet *alphabet, bool *gapless)
{
    const sal_alphabet given = *alphabet;
    for (int k = SAL_ALPHABET_PROTEIN; k <= SAL_ALPHABET_DNA; k++) {
        const int64_t n = sali_alphabet_states((sal_alphabet)k);
        if ((given == SAL_ALPHABET_AUTO || given == (sal_alphabet)k) &&
            (states == n || states == n - 1)) {
            *alphabet = (sal_alphabet)k;
            *gapless = states == n - 1;
            return true;
        }
    }
    return false;
}

uint8_t sali_alphabet_code(sal_alphabet alphabet, char letter)
{
    letter = alphabet == SAL_ALPHABET_RNA && letter == 'T'   ? 'U'
             : alphabet == SAL_ALPHABET_DNA && letter == 'U' ? 'T'
                                                             : letter;
    const char *letters = letters_of[alphabet], *at = letter ? strchr(letters, letter) : NULL;
    return (uint8_t)(at ? at - letters : 0);
}

sal_alphabet sali_alphabet_of(int64_t n, const char *letters)
{
    int64_t count[256] = { 0 }, all = 0;
    for (int64_t i = 0; i < n; i++) {
        count[(unsigned char)letters[i]]++;
    }
    for (const char *c = "EFIJLOPQZ"; *c; c++) { /* no codes of nucleotides */
        if (count[(unsigned char)*c] > 0) {
            return SAL_ALPHABET_PROTEIN;
        }
    }
    for (int c = 'A'; c <= 'Z'; c++) {
        all += c == 'N' || c == 'X' ? 0 : count[c];
    }
    int64_t bases = count['A'] + count['C'] + count['G'] + count['T'] + count['U'];
    bool each = count['A'] && count['C'] && count['G'] && count['T'] + count['U'];
    if (!each || 10 * bases < 9 * all) {
        return SAL_ALPHABET_PROTEIN;
    }
    return count['T'] > count['U'] ? SAL_ALPHABET_DNA : SAL_ALPHABET_RNA;
}
