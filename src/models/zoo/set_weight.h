/* The statistic of models that look for the heaviest set of a graph's nodes without conflicts. */
#ifndef SALI_SET_WEIGHT_H
#define SALI_SET_WEIGHT_H

#include "models/statistic.h"

/* Report the weight of the chosen nodes, less the largest weight for each conflict among them: one
 * node of each can be dropped, so the nodes hold a set without conflicts of at least that weight;
 * where there is no conflict it is the set's own. Conflicts are the pairs [edges], each listed
 * once, or, if not `adjacent`, all pairs but these. Everything is copied. Returns: SAL_ERR_MEMORY.
 */
sal_status sali_report_set_weight(sal_model *model, int64_t edges, const int64_t *pairs,
                                  const double *weights, double largest, bool adjacent,
                                  sal_error *err);

#endif
