/* SPDX-License-Identifier: MIT */
#include "samplers/fixed_sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/object.h"
#include "core/vector/clones.h"

/* Sums of a probability below exp(-TAIL) are left out. */
#define TAIL 42.
/* The most steps towards lambda, and how near to the fixed sum, in standard deviations. */
#define STEPS 200
#define FIRST_STEP 4.
#define NEAR 0.5

/* How far the sum of independent codes, 0 .. most, goes from its mean with a probability above
 * exp(-TAIL), by Bernstein's inequality. */
static double reach(double variance, int64_t most)
{
    const double a = TAIL * (double)most / 3;
    return a + sqrt(a * a + 2 * TAIL * variance);
}

void sali_fixed_sum_create(void *object, int64_t n, int32_t states, sali_fixed_sum *sum)
{
    const double most = states - 1;
    const double band = 2 * reach((double)n * most * most / 4, states - 1) + 3;
    *sum = (sali_fixed_sum){ .most = n, .step = (int64_t)ceil(sqrt((double)n)) };
    sum->band = (int64_t)fmin(band, (double)n * most + 1);
    sum->log_weight = SALI_OBJECT_ARRAY(object, double, n *states);
    sum->p = SALI_OBJECT_ARRAY(object, double, n *states);
    sum->low = SALI_OBJECT_ARRAY(object, int64_t, n + 1);
    sum->high = SALI_OBJECT_ARRAY(object, int64_t, n + 1);
    sum->kept = SALI_OBJECT_ARRAY(object, double, (n / sum->step + 1) * sum->band);
    sum->row = SALI_OBJECT_ARRAY(object, double, (sum->step + 1) * sum->band);
}

/* ---- lambda */

/* Add the mean and the variance of variable v. */
static void add_moments(const sali_fixed_sum *s, int64_t v, double *mean, double *variance)
{
    const double *p = s->p + v * s->states;
    double first = 0, second = 0;
    for (int32_t k = 0; k < s->states; k++) {
        first += k * p[k];
    }
    for (int32_t k = 0; k < s->states; k++) {
        second += (k - first) * (k - first) * p[k];
    }
    *mean += first;
    *variance += second;
}

/* Fill p of variable v: its weights times exp(lambda k), normed. Returns the log of the norm; adds
 * to the mean and the variance of the sum. */
static double tilt(sali_fixed_sum *s, int64_t v, double lambda, double *mean, double *variance)
{
    const double *w = s->log_weight + v * s->states;
    double *p = s->p + v * s->states, largest = -INFINITY, norm = 0;
    for (int32_t k = 0; k < s->states; k++) {
        p[k] = w[k] + lambda * k;
        largest = p[k] > largest || isnan(p[k]) ? p[k] : largest;
    }
    for (int32_t k = 0; k < s->states; k++) {
        norm += p[k] = exp(p[k] - largest);
    }
    for (int32_t k = 0; k < s->states; k++) {
        p[k] /= norm;
    }
    add_moments(s, v, mean, variance);
    return largest + log(norm);
}

/* Tilt all variables; returns the log of the product of the norms. */
static double tilt_all(sali_fixed_sum *s, double lambda, double *mean, double *variance)
{
    double log_norm = 0;
    *mean = *variance = 0;
    for (int64_t v = 0; v < s->n; v++) {
        log_norm += tilt(s, v, lambda, mean, variance);
    }
    return log_norm;
}

/* Find lambda, by Newton's steps within the interval that is known to hold it. Fills p; returns the
 * log of the product of the norms. */
static double find_tilt(sali_fixed_sum *s, double *lambda)
{
    double low = -INFINITY, high = INFINITY, most = FIRST_STEP, mean, variance;
    *lambda = 0;
    double log_norm = tilt_all(s, *lambda, &mean, &variance);
    for (int k = 0; k < STEPS; k++) {
        const double off = (double)s->total - mean;
        if (!(fabs(off) > NEAR * sqrt(variance))) {
            break;
        }
        *(off > 0 ? &low : &high) = *lambda;
        double next = *lambda + fmax(-most, fmin(most, off / variance));
        most *= isfinite(high - low) ? 1 : 2; /* weights may be far apart */
        if (!(next > low && next < high)) {
            next = (low + high) / 2;
        }
        if (!isfinite(next) || next == *lambda) {
            break;
        }
        *lambda = next;
        log_norm = tilt_all(s, *lambda, &mean, &variance);
    }
    return log_norm;
}

/* ---- rows of partial sums */

/* Fill low and high: the partial sums that are reached, and from which the fixed sum is. Returns
 * whether every row has some, as it has unless weights are further apart than doubles are exact. */
static bool find_bands(sali_fixed_sum *s)
{
    bool reached = true;
    const int64_t most = s->states - 1;
    double mean = 0, variance = 0, all_mean = 0, all_variance = 0;
    for (int64_t v = 0; v < s->n; v++) {
        add_moments(s, v, &all_mean, &all_variance);
    }
    for (int64_t v = 0; v <= s->n; v++) {
        const double before = reach(variance, most);
        const double after = reach(fmax(0, all_variance - variance), most);
        const double rest = (double)s->total - (all_mean - mean);
        const double top = fmin((double)(v * most), (double)s->total);
        s->low[v] = (int64_t)floor(fmax(fmax(mean - before, rest - after), 0));
        s->high[v] = (int64_t)fmin(ceil(fmin(mean + before, rest + after)), top);
        reached &= s->high[v] >= s->low[v];
        if (v < s->n) {
            add_moments(s, v, &mean, &variance);
        }
    }
    return reached;
}

/* y[j] += p x[j]. */
SALI_CLONES
static void add_scaled(int64_t n, double p, const double *x, double *y)
{
    for (int64_t j = 0; j < n; j++) {
        y[j] += p * x[j];
    }
}

/* y[j] = p x[j] + q x[j - 1]. */
SALI_CLONES
static void add_shifted(int64_t n, double p, double q, const double *x, double *y)
{
    for (int64_t j = 0; j < n; j++) {
        y[j] = p * x[j] + q * x[j - 1];
    }
}

/* Row v + 1 from row v, of two codes: the sums that both codes lead to, and the two ends. */
static void next_of_two(const sali_fixed_sum *s, int64_t v, const double *from, double *to)
{
    const double *p = s->p + 2 * v;
    const int64_t low = s->low[v + 1], high = s->high[v + 1], from_low = s->low[v];
    const int64_t first = low > from_low ? low : from_low + 1;
    const int64_t end = high < s->high[v] ? high : s->high[v];
    if (low <= from_low) {
        memset(to, 0, (size_t)(from_low - low) * sizeof *to);
        to[from_low - low] = p[0] * from[0];
    }
    if (end >= first) {
        add_shifted(end - first + 1, p[0], p[1], from + first - from_low, to + first - low);
    }
    for (int64_t j = s->high[v] + 1; j <= high; j++) {
        to[j - low] = j == s->high[v] + 1 ? p[1] * from[j - 1 - from_low] : 0;
    }
}

/* Row v + 1 from row v. */
static void next_row(const sali_fixed_sum *s, int64_t v, const double *from, double *to)
{
    const int64_t low = s->low[v + 1], high = s->high[v + 1];
    if (s->states == 2) {
        next_of_two(s, v, from, to);
        return;
    }
    memset(to, 0, (size_t)(high - low + 1) * sizeof *to);
    for (int32_t k = 0; k < s->states; k++) {
        const int64_t first = low > s->low[v] + k ? low : s->low[v] + k;
        const int64_t end = high < s->high[v] + k ? high : s->high[v] + k;
        if (end >= first && s->p[v * s->states + k] > 0) {
            add_scaled(end - first + 1, s->p[v * s->states + k], from + first - k - s->low[v],
                       to + first - low);
        }
    }
}

double sali_fixed_sum_norm(const sali_fixed_sum *s, int64_t v)
{
    const double *w = s->log_weight + v * s->states;
    double largest = -INFINITY, sum = 0;
    for (int32_t k = 0; k < s->states; k++) {
        largest = fmax(largest, w[k]);
    }
    for (int32_t k = 0; k < s->states; k++) {
        sum += exp(w[k] - largest);
    }
    return largest + log(sum);
}

double sali_fixed_sum_prepare(sali_fixed_sum *s, int64_t n, int32_t states, int64_t total)
{
    double lambda;
    s->n = n;
    s->states = states;
    s->total = total;
    for (int64_t k = 0; k < n * states; k++) {
        if (!(s->log_weight[k] < INFINITY)) {
            return NAN;
        }
    }
    const double log_norm = find_tilt(s, &lambda);
    if (!find_bands(s) || s->high[n] < total) {
        return NAN;
    }
    double *here = s->row, *next = s->row + s->band;
    here[0] = 1;
    for (int64_t v = 0; v < n; v++) {
        if (v % s->step == 0) {
            memcpy(s->kept + v / s->step * s->band, here,
                   (size_t)(s->high[v] - s->low[v] + 1) * sizeof *here);
        }
        next_row(s, v, here, next);
        double *swap = here;
        here = next;
        next = swap;
    }
    const double chance = here[total - s->low[n]];
    return chance > 0 ? log_norm + log(chance) - lambda * (double)total : (double)NAN;
}

void sali_fixed_sum_draw(sali_fixed_sum *s, const double *u, int32_t *codes)
{
    int64_t j = s->total;
    for (int64_t part = (s->n - 1) / s->step; part >= 0; part--) {
        const int64_t first = part * s->step;
        const int64_t end = first + s->step < s->n ? first + s->step : s->n;
        memcpy(s->row, s->kept + part * s->band,
               (size_t)(s->high[first] - s->low[first] + 1) * sizeof *s->row);
        for (int64_t v = first; v < end - 1; v++) {
            next_row(s, v, s->row + (v - first) * s->band, s->row + (v + 1 - first) * s->band);
        }
        for (int64_t v = end - 1; v >= first; v--) {
            const double *row = s->row + (v - first) * s->band, *p = s->p + v * s->states;
            double sum = 0;
            int32_t chosen = -1;
            for (int32_t k = 0; k < s->states; k++) {
                const bool within = j - k >= s->low[v] && j - k <= s->high[v];
                sum += within ? p[k] * row[j - k - s->low[v]] : 0;
            }
            double left = u[v] * sum;
            for (int32_t k = 0; k < s->states && left >= 0; k++) {
                const bool within = j - k >= s->low[v] && j - k <= s->high[v];
                const double w = within ? p[k] * row[j - k - s->low[v]] : 0;
                chosen = w > 0 ? k : chosen;
                left -= w;
            }
            codes[v] = chosen;
            j -= chosen;
        }
    }
}
