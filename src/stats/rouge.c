#include "stats/rouge.h"

#include <stdlib.h>

#include "core/alloc.h"
#include "core/error.h"

typedef struct gram {
    const int32_t *word;
    int64_t n;
} gram;

static int compare_grams(const void *a, const void *b)
{
    const gram *x = a, *y = b;
    for (int64_t k = 0; k < x->n; k++) {
        if (x->word[k] != y->word[k]) {
            return x->word[k] < y->word[k] ? -1 : 1;
        }
    }
    return 0;
}

static int64_t count_grams(int64_t n, int64_t length)
{
    return length >= n ? length - n + 1 : 0;
}

/* All n-grams of a text, sorted; NULL when out of memory. */
static gram *sorted_grams(int64_t n, int64_t length, const int32_t *words)
{
    int64_t count = count_grams(n, length);
    gram *grams = SALI_NEW_ARRAY(gram, count);
    for (int64_t k = 0; grams && k < count; k++) {
        grams[k] = (gram){ .word = words + k, .n = n };
    }
    if (grams) {
        qsort(grams, (size_t)count, sizeof *grams, compare_grams);
    }
    return grams;
}

/* The size of the intersection of two sorted multisets. */
static int64_t count_common(int64_t n_a, const gram *a, int64_t n_b, const gram *b)
{
    int64_t i = 0, j = 0, common = 0;
    while (i < n_a && j < n_b) {
        int order = compare_grams(&a[i], &b[j]);
        common += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return common;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

sal_status sali_rouge_n(int64_t n, int64_t candidate_length, const int32_t *candidate,
                        int64_t reference_length, const int32_t *reference, sali_rouge *out,
                        sal_error *err)
{
    int64_t n_c = count_grams(n, candidate_length), n_r = count_grams(n, reference_length);
    gram *c = sorted_grams(n, candidate_length, candidate);
    gram *r = sorted_grams(n, reference_length, reference);
    sal_status status = c && r ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        double common = (double)count_common(n_c, c, n_r, r);
        double recall = ratio(common, (double)n_r), precision = ratio(common, (double)n_c);
        *out = (sali_rouge){ .recall = recall,
                             .precision = precision,
                             .f = ratio(2 * precision * recall, precision + recall) };
    }
    sali_free(c);
    sali_free(r);
    return status;
}
