#include "stats/average_precision.h"

#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "core/error.h"

typedef struct item {
    double score;
    bool relevant;
} item;

/* Falling. */
static int compare_items(const void *a, const void *b)
{
    double x = ((const item *)a)->score, y = ((const item *)b)->score;
    return (x < y) - (x > y);
}

sal_status sali_average_precision(int64_t n, const double *score, const bool *relevant, double *out,
                                  sal_error *err)
{
    item *items = SALI_NEW_ARRAY(item, n);
    if (!items) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; k < n; k++) {
        items[k] = (item){ .score = score[k], .relevant = relevant[k] };
    }
    qsort(items, (size_t)n, sizeof *items, compare_items);
    double sum = 0, found = 0, found_before = 0;
    for (int64_t k = 0; k < n; k++) {
        found += items[k].relevant;
        if (k + 1 == n || items[k + 1].score < items[k].score) { /* the last of this score */
            sum += (found - found_before) * found / (double)(k + 1);
            found_before = found;
        }
    }
    sali_free(items);
    *out = found > 0 ? sum / found : NAN;
    return SAL_OK;
}
