/* SPDX-License-Identifier: MIT */
/* The alphabets of aligned sequences: which letter each code stands for. */
#ifndef SALI_ALPHABET_H
#define SALI_ALPHABET_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/space.h>

/* The most letters that an alphabet has. */
#define SALI_ALPHABET_MOST 21

/* The letters in the order of their codes; the gap is code 0. SAL_ALPHABET_AUTO, which stands for
 * no choice, gives the letters of proteins. */
const char *sali_alphabet_letters(sal_alphabet alphabet);

/* The number of letters: 21 or 5. */
int sali_alphabet_states(sal_alphabet alphabet);

/* Whether an alphabet has so many letters, with the gap or without it (*gapless): *alphabet, or if
 * that is AUTO the first that has, which it becomes. */
bool sali_alphabet_fits(int64_t states, sal_alphabet *alphabet, bool *gapless);

/* The code of an upper-case letter or of '-'; 0, the gap, for letters that the alphabet lacks. In
 * both nucleotide alphabets T and U are the same code. */
uint8_t sali_alphabet_code(sal_alphabet alphabet, char letter);

/* The alphabet of n letters A-Z, '*' and gaps '-'. They are nucleotides if each of A, C, G and of T
 * or U occurs, all letters are among the IUPAC codes of nucleotides (or X), and at least 90% of
 * the letters other than N and X are A, C, G, T or U; then DNA if there are more T than U, else
 * RNA. Everything else is a protein. Cost: O(n). */
sal_alphabet sali_alphabet_of(int64_t n, const char *letters);

#endif
