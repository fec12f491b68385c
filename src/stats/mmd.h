/* SPDX-License-Identifier: MIT */
/* States packed into bits, their distances, and the kernel of the MMD summed over pairs of them;
 * the MMD as text. */
#ifndef SALI_MMD_H
#define SALI_MMD_H

#include <stdbool.h>
#include <stdint.h>

/* An MMD as people read it. Its unbiased square is at most 0 where samples differ by no more than
 * chance; they are shown as 0 elsewhere, and here as "below noise". */
#define SALI_MMD_TEXT 32
double sali_mmd_of(double squared); /* NaN of NaN */
void sali_mmd_text(double mmd, char text[SALI_MMD_TEXT]);

/* States packed into bits: `planes` words (bit p of the codes of 64 variables) for each group of 64
 * variables, so that a row is words * planes 64-bit words. */
typedef struct sali_packed {
    int64_t rows, variables, words;
    int planes;
    uint64_t *bits; /* [rows x words x planes] */
} sali_packed;

/* Bits that the codes need. */
int sali_packed_planes(int64_t count, const uint8_t *codes);

/* Pack rows of codes; all that are compared need the same number of planes. -1: out of memory. */
int sali_packed_make(sali_packed *p, int64_t rows, int64_t variables, const uint8_t *codes,
                     int planes);
void sali_packed_free(sali_packed *p);

/* Rows first .. first + rows - 1; it owns nothing. */
sali_packed sali_packed_rows(const sali_packed *p, int64_t first, int64_t rows);

/* The least number of variables in which row `row` of a differs from rows of b, but for rows from
 * .. to - 1 of b (to <= from: all count); *times: how many rows are as near. INT64_MAX and 0: no
 * row is left. */
int64_t sali_packed_nearest(const sali_packed *a, int64_t row, const sali_packed *b, int64_t from,
                            int64_t to, int64_t *times);

/* The sum of exp(-distance / variables) over all pairs of a row of a and a row of b, or, with b
 * NULL, over the unordered pairs of two different rows of a; *pairs: their number. Pairs are
 * counted in integers by their distance, so the sum does not depend on the number of threads. -1:
 * out of memory. */
int sali_kernel_sum(const sali_packed *a, const sali_packed *b, double *sum, double *pairs);

#endif
