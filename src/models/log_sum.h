/* SPDX-License-Identifier: MIT */
/* log sum_i exp(a_i). */
#ifndef SALI_LOG_SUM_H
#define SALI_LOG_SUM_H

#include <math.h>
#include <stdint.h>

/* log sum_i exp(a_i) of a [n]; -inf if n is 0 or all a_i are -inf. */
static inline double sali_log_sum(int64_t n, const double *a)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, a[i]);
    }
    for (int64_t i = 0; most > -INFINITY && i < n; i++) {
        sum += exp(a[i] - most);
    }
    return most > -INFINITY ? most + log(sum) : most;
}

#endif
