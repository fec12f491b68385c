/* SPDX-License-Identifier: MIT */
#include "stats/bennett.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/number.h"

static double weight_of(const sali_bennett_side *s, int64_t i)
{
    return s->weight ? s->weight[i] : 1 / (double)s->n;
}

/* The exponent that keeps L(u) in range: where all u = sign (d - shift) of a side lie far above 0,
 * each L(u) may be smaller than any double, so the functions below compute e^beyond L(u). */
static double beyond_of(const sali_bennett_side *s, double sign, double shift)
{
    double least = INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
        if (weight_of(s, i) > 0) {
            least = fmin(least, sign * (s->difference[i] - shift));
        }
    }
    return fmax(least, 0);
}

/* e^beyond / (1 + e^u), also at infinity. */
static double scaled_fermi(double u, double beyond)
{
    return 1 / (exp(-beyond) + exp(u - beyond));
}

/* Weighted mean over a side of e^beyond L(sign (d - shift)). */
static double mean_of(const sali_bennett_side *s, double sign, double shift, double beyond)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        sum += weight_of(s, i) * scaled_fermi(sign * (s->difference[i] - shift), beyond);
    }
    return sum;
}

/* The log of the weighted mean of L(sign (d - shift)) over a side. */
static double log_mean_of(const sali_bennett_side *s, double sign, double shift)
{
    const double beyond = beyond_of(s, sign, shift);
    return log(mean_of(s, sign, shift, beyond)) - beyond;
}

/* Extend [*low, *high] to the differences of a side. False: no state of the side is allowed by both
 * distributions. */
static bool widen_range(const sali_bennett_side *s, double *low, double *high)
{
    bool any = false;
    for (int64_t i = 0; i < s->n; i++) {
        if (isfinite(s->difference[i]) && weight_of(s, i) > 0) {
            *low = fmin(*low, s->difference[i]);
            *high = fmax(*high, s->difference[i]);
            any = true;
        }
    }
    return any;
}

double sali_bennett_ratio(const sali_bennett_side *a, const sali_bennett_side *b)
{
    const double m = log((double)b->n / (double)a->n);
    double low = INFINITY, high = -INFINITY;
    if (!widen_range(a, &low, &high) || !widen_range(b, &low, &high)) {
        return NAN;
    }
    /* Bisect the shift C - m: the sum over a falls as the shift grows, the sum over b rises. */
    low -= fabs(m) + 50;
    high += fabs(m) + 50;
    for (int k = 0; k < 100 && high - low > 1e-13 * (1 + fabs(low)); k++) {
        double middle = 0.5 * (low + high);
        double over = log_mean_of(a, -1, middle) - log_mean_of(b, 1, middle) - m;
        *(over > 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high) + m;
}

static void add_influence(const sali_bennett_side *s, const uint32_t *group, double sign,
                          double shift, double *influence)
{
    const double beyond = beyond_of(s, sign, shift), mean = mean_of(s, sign, shift, beyond);
    for (int64_t i = 0; i < s->n; i++) {
        double part = scaled_fermi(sign * (s->difference[i] - shift), beyond);
        influence[group[i]] -= sign * weight_of(s, i) * (part - mean) / mean;
    }
}

void sali_bennett_influence(const sali_bennett_side *a, const uint32_t *group_a,
                            double *influence_a, const sali_bennett_side *b,
                            const uint32_t *group_b, double *influence_b, double log_ratio)
{
    const double shift = log_ratio - log((double)b->n / (double)a->n);
    add_influence(a, group_a, -1, shift, influence_a);
    add_influence(b, group_b, 1, shift, influence_b);
}

double sali_bennett_squared_error(int64_t groups, const double *influence)
{
    double squares = 0;
    for (int64_t g = 0; g < groups; g++) {
        squares += influence[g] * influence[g];
    }
    return squares * (double)groups / (double)(groups - 1);
}

double sali_swap_acceptance(const sali_bennett_side *a, const sali_bennett_side *b, double *sorted,
                            double *below)
{
    const int64_t n = a->n;
    double sum = 0;
    memcpy(sorted, a->difference, (size_t)n * sizeof *sorted);
    sali_sort_doubles(n, sorted);
    /* below[k]: log of the sum of exp(d) over the k smallest. */
    below[0] = -INFINITY;
    for (int64_t k = 0; k < n; k++) {
        below[k + 1] =
            isfinite(sorted[k]) ? sorted[k] + log1p(exp(below[k] - sorted[k])) : below[k];
    }
    for (int64_t i = 0; i < b->n; i++) {
        double w = weight_of(b, i), d = b->difference[i];
        int64_t low = 0, high = n; /* `low` of them are below d */
        while (low < high) {
            int64_t middle = (low + high) / 2;
            *(sorted[middle] < d ? &low : &high) = middle + (sorted[middle] < d);
        }
        double part = low > 0 ? exp(below[low] - d) : 0;
        sum += w * ((double)(n - low) + part) / (double)n;
    }
    return sum;
}
