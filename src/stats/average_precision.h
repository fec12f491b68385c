/* Average precision of a ranking (information retrieval). */
#ifndef SALI_AVERAGE_PRECISION_H
#define SALI_AVERAGE_PRECISION_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/status.h>

/* Items ranked by falling score: the mean, over the relevant ones, of the share of relevant items
 * among those of the same score or a higher one. So items of one score are retrieved together, and
 * their order does not matter. How often chains choose an item is a score. The mean over queries is
 * the mean average precision (mAP).
 * Math:    sum_t (R_t - R_(t-1)) P_t over the different scores t, R recall, P precision.
 * Params:  score [n], no NaN; relevant [n].
 * Returns: SAL_ERR_MEMORY; *out is NaN if nothing is relevant. Cost: O(n log n). */
sal_status sali_average_precision(int64_t n, const double *score, const bool *relevant, double *out,
                                  sal_error *err);

#endif
