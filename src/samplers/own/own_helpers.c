/* SPDX-License-Identifier: MIT */
/* Helpers for the functions of users' own samplers: differences of moves, random numbers, and
 * choices by weight. */
#include <math.h>

#include "samplers/own/own.h"

double sal_origin_first_order(const sal_origin *s, int64_t v, int32_t code)
{
    return sali_first_order(SAL_F64, s->gradient, &s->space->variables[v], s->codes[v], code);
}

double sal_origin_difference(const sal_origin *s, int64_t v, int32_t code)
{
    const double *row = s->differences + s->entry[v];
    int32_t states = s->space->variables[v].states, step = code - s->codes[v];
    if (step == 0) {
        return 0;
    }
    return states > 0 ? row[code] : step == -1 ? row[0] : step == 1 ? row[1] : NAN;
}

#define BUFFER ((uint32_t)(sizeof((sal_random *)0)->buffer / sizeof(double)))
#define MOST_NUMBERS (UINT32_C(1) << 25) /* of a stream */

double sal_random_uniform(sal_random *random)
{
    uint32_t at = random->next % BUFFER;
    if (at == 0) {
        random->next %= MOST_NUMBERS;
        sali_rng_uniform_f64_from(&random->stream, random->next, BUFFER, random->buffer);
    }
    random->next++;
    return random->buffer[at];
}

double sal_random_normal(sal_random *random)
{
    double radius = sqrt(-2 * log(sal_random_uniform(random)));
    return radius * cos(2 * acos(-1) * sal_random_uniform(random));
}

int64_t sal_random_below(sal_random *random, int64_t bound)
{
    int64_t k = (int64_t)(sal_random_uniform(random) * (double)bound);
    return k < bound ? k : bound - 1;
}

/* The largest weight; NaN if one is NaN. */
static double largest_of(int64_t n, const double *log_weight)
{
    double largest = -INFINITY;
    for (int64_t k = 0; k < n; k++) {
        largest = log_weight[k] <= largest ? largest : log_weight[k];
        if (isnan(largest)) {
            break;
        }
    }
    return largest;
}

int64_t sal_random_softmax(sal_random *random, int64_t n, const double *log_weight)
{
    double largest = largest_of(n, log_weight), total = 0, sum = 0;
    if (!isfinite(largest)) {
        return -1;
    }
    for (int64_t k = 0; k < n; k++) {
        total += exp(log_weight[k] - largest);
    }
    double threshold = sal_random_uniform(random) * total;
    int64_t last = 0;
    for (int64_t k = 0; k < n; k++) {
        double weight = exp(log_weight[k] - largest);
        sum += weight;
        last = weight > 0 ? k : last;
        if (weight > 0 && sum > threshold) {
            return k;
        }
    }
    return last;
}

double sal_log_sum_exp(int64_t n, const double *log_weight)
{
    double largest = largest_of(n, log_weight), total = 0;
    if (!isfinite(largest)) {
        return largest;
    }
    for (int64_t k = 0; k < n; k++) {
        total += exp(log_weight[k] - largest);
    }
    return largest + log(total);
}
