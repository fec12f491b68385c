/* SPDX-License-Identifier: MIT */
#include "samplers/local/uniform_ball.h"

#include <math.h>

#include <saltus/sampler.h>
#include "core/alloc.h"
#include "core/error.h"

static double log_factorial(double n)
{
    int sign;
    return lgamma_r(n + 1, &sign); /* lgamma writes to a global */
}

/* log of the number of ways to change h variables of a stretch. */
static double log_changes(const sali_stretch *s, int64_t h)
{
    double n = (double)s->count, k = (double)h;
    if (h == 0) {
        return 0;
    }
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k) +
           k * log((double)s->states - 1);
}

/* The next stretch at or after `b` that belongs to the ball. */
static int64_t next_group(const sal_space *space, int64_t b)
{
    while (b < space->n_blocks && !sali_unordered(&space->stretches[b])) {
        b++;
    }
    return b;
}

/* Entry k of log_ways for a stretch, from the entries `after` of the next group. */
static double log_ways_of(const sali_stretch *s, const double *after, int64_t k)
{
    double largest = -INFINITY, sum = 0;
    int64_t most = k < s->count ? k : s->count;
    for (int64_t h = 0; h <= most; h++) {
        largest = fmax(largest, log_changes(s, h) + after[k - h]);
    }
    for (int64_t h = 0; largest > -INFINITY && h <= most; h++) {
        sum += exp(log_changes(s, h) + after[k - h] - largest);
    }
    return largest > -INFINITY ? largest + log(sum) : -INFINITY;
}

sal_status sali_uniform_ball_create(const sal_space *space, int64_t radius, sali_uniform_ball *ball,
                                    sal_error *err)
{
    int64_t groups = 0, variables = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        groups += sali_unordered(s);
        variables += sali_unordered(s) && s->states > 1 ? s->count : 0;
    }
    radius = radius < variables ? radius : variables;
    int64_t width = radius + 1, g = groups;
    double *log_ways = SALI_NEW_ARRAY(double, (groups + 1) * width);
    if (!log_ways) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 1; k <= radius; k++) {
        log_ways[groups * width + k] = -INFINITY;
    }
    for (int64_t b = space->n_blocks - 1; b >= 0; b--) {
        const sali_stretch *s = &space->stretches[b];
        for (int64_t k = 0; sali_unordered(s) && k <= radius; k++) {
            log_ways[(g - 1) * width + k] = log_ways_of(s, log_ways + g * width, k);
        }
        g -= sali_unordered(s);
    }
    *ball = (sali_uniform_ball){ .radius = radius, .groups = groups, .log_ways = log_ways };
    return SAL_OK;
}

void sali_uniform_ball_free(void *ball)
{
    sali_uniform_ball *b = ball;
    sali_free(b->log_ways);
    *b = (sali_uniform_ball){ 0 };
}

double sali_uniform_ball_log_size(const sali_uniform_ball *ball)
{
    return sal_log_sum_exp(ball->radius + 1, ball->log_ways);
}

/* Change h variables of a stretch; all subsets and all other codes are equally likely (Floyd's
 * choice of a subset: a variable drawn twice is replaced by variable j). Returns the next element
 * of the stream. */
static uint32_t change_variables(const sali_stretch *s, int64_t h, const sali_stream *stream,
                                 uint32_t next, const int32_t *codes, int32_t *codes_new)
{
    for (int64_t j = s->count - h; j < s->count; j++) {
        int64_t i = s->first + sali_rng_below(stream, next++, (uint32_t)(j + 1));
        if (codes_new[i] != codes[i]) {
            i = s->first + j;
        }
        int32_t code = (int32_t)sali_rng_below(stream, next++, (uint32_t)s->states - 1);
        codes_new[i] = code + (code >= codes[i]);
    }
    return next;
}

void sali_uniform_ball_draw(const sali_uniform_ball *ball, const sal_space *space,
                            const sali_stream *stream, uint32_t first, const int32_t *codes,
                            int32_t *codes_new)
{
    uint32_t next = first;
    double log_size = sali_uniform_ball_log_size(ball);
    double u = sali_rng_uniform_at(stream, next++);
    int64_t width = ball->radius + 1, left = 0;
    while (left < ball->radius && (u -= exp(ball->log_ways[left] - log_size)) >= 0) {
        left++;
    }
    for (int64_t g = 0, b = 0; left > 0 && g < ball->groups; g++, b++) {
        b = next_group(space, b);
        const sali_stretch *s = &space->stretches[b];
        const double *now = ball->log_ways + g * width, *after = now + width;
        int64_t h = 0, most = left < s->count ? left : s->count, possible = 0;
        u = sali_rng_uniform_at(stream, next++);
        for (h = 0; h <= most && u >= 0; h++) {
            double p = exp(log_changes(s, h) + after[left - h] - now[left]);
            possible = p > 0 ? h : possible;
            u -= p;
        }
        next = change_variables(s, possible, stream, next, codes, codes_new);
        left -= possible;
    }
}
