/* SPDX-License-Identifier: MIT */
/* States packed into bits, their distances, and the kernel of the MMD summed over pairs of them;
 * the MMD as text. */
#ifndef SALI_MMD_H
#define SALI_MMD_H

#include <stdbool.h>
#include <stdint.h>

/* The MMD from its square, and as text. The unbiased square is at most 0 where samples differ by no
 * more than chance: sali_mmd_of then gives 0 (NaN of NaN), and the text is "below noise". */
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

/* The number of bits of the largest of `count` codes; at least 1. */
int sali_packed_planes(int64_t count, const uint8_t *codes);

/* Pack `codes` [rows x variables]; samples that are compared need the same number of planes. -1:
 * out of memory. */
int sali_packed_make(sali_packed *p, int64_t rows, int64_t variables, const uint8_t *codes,
                     int planes);
void sali_packed_free(sali_packed *p);

/* A view of rows first .. first + rows - 1; it owns nothing and must not be freed. */
sali_packed sali_packed_rows(const sali_packed *p, int64_t first, int64_t rows);

/* The least number of variables in which row `row` of a differs from a row of b, ignoring rows from
 * .. to - 1 of b (none if to <= from); *times: how many rows of b are that near. INT64_MAX and 0 if
 * no row is left. */
int64_t sali_packed_nearest(const sali_packed *a, int64_t row, const sali_packed *b, int64_t from,
                            int64_t to, int64_t *times);

/* The sum of exp(-distance / variables) over all pairs of a row of a and a row of b, or, with b
 * NULL, over the unordered pairs of two different rows of a; *pairs: their number. Pairs are
 * counted in integers by their distance, so the sum does not depend on `threads` (as in
 * sal_threads_number). -1: out of memory. */
int sali_kernel_sum(const sali_packed *a, const sali_packed *b, int threads, double *sum,
                    double *pairs);

#endif
