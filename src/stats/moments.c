/* SPDX-License-Identifier: MIT */
#include "stats/moments.h"

#include <float.h>
#include <math.h>

void sali_moments(int64_t n, const double *x, double *mean, double *variance)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t t = 0; t < n; t++) { /* from the first value: exact when nothing moves */
        sum += x[t] - x[0];
    }
    double m = x[0] + sum / (double)n;
    for (int64_t t = 0; t < n; t++) {
        squares += (x[t] - m) * (x[t] - m);
    }
    *mean = m;
    *variance = squares / (double)(n - 1);
}

bool sali_degenerate(int64_t n, const double *x)
{
    double low = x[0], high = x[0];
    for (int64_t t = 0; t < n; t++) {
        if (!isfinite(x[t])) {
            return true;
        }
        low = x[t] < low ? x[t] : low;
        high = x[t] > high ? x[t] : high;
    }
    return high - low < DBL_EPSILON;
}
