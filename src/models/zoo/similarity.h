/* How alike the sentences of a text are, and groups of like ones. */
#ifndef SALI_SIMILARITY_H
#define SALI_SIMILARITY_H

#include "models/zoo/sentences.h"

/* W_ij = the cosine of the tf-idf vectors of texts i and j, [texts x texts]: the vector of text i
 * has tf_wi log(1 + N / df_w) for each stem w that is no stop word; tf_wi its number in i, df_w
 * that of the N texts that have it. 0 for texts without such words. Returns: SAL_ERR_MEMORY. Cost:
 * O(texts^2 + sum_w df_w^2). */
sal_status sali_cosines(int64_t texts, const sali_words *words, double *W, sal_error *err);

/* k-means on the unit vectors whose inner products are W [n x n]: Lloyd's iteration from centres
 * far from each other (the point most like all, then always the one least like the nearest centre),
 * so the same W gives the same groups. At most 100 rounds of O(n^2). Params:  k in 1 .. n; group
 * [n], entries 0 .. k - 1; some groups may be empty. Returns: SAL_ERR_MEMORY. */
sal_status sali_cluster(int64_t n, const double *W, int64_t k, int32_t *group, sal_error *err);

#endif
