/* SPDX-License-Identifier: MIT */
/* The alphabets of aligned sequences: which letter each code stands for. An alphabet is the text of
 * its letters (saltus/space.h). */
#ifndef SALI_ALPHABET_H
#define SALI_ALPHABET_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/space.h>

/* The letters of the alphabets that have names, with the gap. */
extern const char sali_protein[], sali_rna[], sali_dna[];

/* The letters of alphabet `index` of those that have names: protein, RNA, DNA; NULL past the
 * last. */
const char *sali_alphabet_at(int index);

/* The name of an alphabet in messages: "protein", "RNA", "DNA"; of any other, its letters. */
const char *sali_alphabet_name(const char *letters);

/* Write the letters of the alphabet that `text` names ("protein", "rna", "dna") or is; "" for NULL
 * and "auto", which choose none.
 * Returns: ARGUMENT, naming the text, for a text that is neither, or looks like a mistyped name. */
sal_status sali_alphabet_parse(const char *text, char letters[SAL_ALPHABET_ROOM], sal_error *err);

/* The letters of an alphabet with so many letters: `letters`, or if that is "" the first that has a
 * name; without the gap if there is one state less. NULL: none fits. */
const char *sali_alphabet_fits(int64_t states, const char *letters);

/* Whether the alphabet has lower-case letters: case then tells its letters apart. */
bool sali_alphabet_has_lower(const char *letters);

/* Whether two alphabets have the same letters in the same order, T and U of nucleotides being
 * alike. */
bool sali_alphabet_same(const char *letters, const char *others);

/* codes[c] is the code of the character c, -1 for those that the alphabet lacks. In the alphabets
 * of nucleotides, with the gap or without it, T and U are the same code. */
void sali_alphabet_codes(const char *letters, int8_t codes[256]);

/* The alphabet of n letters A-Z, '*' and gaps '-'. They are nucleotides if each of A, C, G and of T
 * or U occurs, all letters are among the IUPAC codes of nucleotides (or X), and at least 90% of
 * the letters other than N and X are A, C, G, T or U; then DNA if there are more T than U, else
 * RNA. Everything else is a protein. Cost: O(n). */
const char *sali_alphabet_of(int64_t n, const char *letters);

#endif
