/* ROUGE-N (Lin 2004): how many n-grams of a reference text a candidate text has, and the other way
 * round. */
#ifndef SALI_ROUGE_H
#define SALI_ROUGE_H

#include <stdint.h>

#include <saltus/status.h>

typedef struct sali_rouge {
    double recall;    /* n-grams in both over those of the reference */
    double precision; /* over those of the candidate */
    double f;         /* their harmonic mean, 2PR / (P + R) */
} sali_rouge;

/* Texts are words by number. An n-gram that is there several times counts as often as both have it;
 * quotients without a denominator are 0.
 * Params:  n >= 1.
 * Returns: SAL_ERR_MEMORY. Cost: O(n length log length). */
sal_status sali_rouge_n(int64_t n, int64_t candidate_length, const int32_t *candidate,
                        int64_t reference_length, const int32_t *reference, sali_rouge *out,
                        sal_error *err);

#endif
