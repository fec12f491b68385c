/* SPDX-License-Identifier: MIT */
/* Parallel flips of regularised Langevin simulated annealing (RLSA, 2025): all variables move at
 * once and independently, without acceptance. A two-level variable i flips with probability
 *
 *   sigmoid((delta_i - delta_(d)) / T),
 *
 * where delta_i is half of the gain in f by its flip, and delta_(d) the d-th largest of all. So at
 * low temperatures about d variables move, and half of those whose gain is the d-th; at high ones
 * up to half of all. Of a variable of several states, state k has
 * weight exp((delta_ik - delta_(d)) / T) against 1 for staying, and delta_i is the largest of its
 * delta_ik. Differences are exact, and 1/T is in them. */
#include <math.h>
#include <stddef.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/sampler.h"

enum { MOVES };

static const sal_setting settings[] = {
    { "d", 5, 1, 1e6, true, "variables that move at a step at low temperatures, about", NULL },
    { 0 },
};

/* ---- the d-th largest: a heap of the d largest so far, the smallest on top */

typedef struct largest {
    int64_t room, n;
    double heap[];
} largest;

/* Replace the smallest number of the heap by x. */
static void sift_down(largest *l, double x)
{
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < l->n; at = child) {
        child += child + 1 < l->n && l->heap[child + 1] < l->heap[child];
        if (l->heap[child] >= x) {
            break;
        }
        l->heap[at] = l->heap[child];
    }
    l->heap[at] = x;
}

/* Add x to the heap, if it is among the `room` largest so far. */
static void offer_to_heap(largest *l, double x)
{
    if (l->n == l->room) {
        if (x > l->heap[0]) {
            sift_down(l, x);
        }
        return;
    }
    int64_t at = l->n++;
    for (int64_t parent; at > 0 && l->heap[parent = (at - 1) / 2] > x; at = parent) {
        l->heap[at] = l->heap[parent];
    }
    l->heap[at] = x;
}

/* *work receives the heap, with room for d numbers, but at most one for each variable. */
static sal_status create(const sal_model *model, const double *values, const void *data,
                         void **work, sal_error *err)
{
    const int64_t V = sal_space_variables(sal_model_space(model));
    const int64_t d = values[MOVES] < (double)V ? (int64_t)values[MOVES] : V;
    largest *l = sali_alloc(1, sizeof *l + (size_t)d * sizeof *l->heap);
    (void)data;
    if (!l) {
        return sali_fail_memory(err);
    }
    l->room = d;
    *work = l;
    return SAL_OK;
}

/* ---- the proposal: a row of log-weights of all entries, then of log-norms of all variables */

static int64_t row_size(const sal_space *space, const double *values, const void *data)
{
    (void)values;
    (void)data;
    return space->n_states + space->n_variables;
}

/* The largest half gain of f by moving variable v; -inf if v cannot move. */
static double best_of(const sal_origin *s, int64_t v)
{
    double best = -INFINITY;
    for (int64_t e = s->entry[v]; e < s->entry[v + 1]; e++) {
        if (e - s->entry[v] != s->codes[v]) {
            best = fmax(best, s->differences[e] / 2);
        }
    }
    return best;
}

/* delta_(d) / T: the d-th largest of best_of among the variables that can move, or the smallest of
 * them if they are fewer; 0 if there are none. */
static double nth_largest_move(const sal_origin *s)
{
    largest *l = s->work;
    l->n = 0;
    for (int64_t v = 0; v < s->variables; v++) {
        const double best = best_of(s, v);
        if (best > -INFINITY) {
            offer_to_heap(l, best);
        }
    }
    return l->n > 0 ? l->heap[0] : 0;
}

/* Fill the row: log-weights of all entries, 0 for the present codes, then the log-norm of each
 * variable. */
static void prepare(const sal_origin *s, double *row)
{
    const double from = nth_largest_move(s);
    double *log_norm = row + s->entry[s->variables];
    for (int64_t v = 0; v < s->variables; v++) {
        const int64_t first = s->entry[v];
        for (int64_t e = first; e < s->entry[v + 1]; e++) {
            row[e] = e - first == s->codes[v] ? 0 : s->differences[e] / 2 - from;
        }
        log_norm[v] = sal_log_sum_exp(s->entry[v + 1] - first, row + first);
    }
}

static void draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    for (int64_t v = 0; v < s->variables; v++) {
        const int64_t first = s->entry[v];
        to[v] = (int32_t)sal_random_softmax(random, s->entry[v + 1] - first, s->row + first);
    }
}

/* The sum over variables of the log-weight of `to` minus the log-norm. */
static double log_q(const sal_origin *s, const int32_t *to)
{
    const double *log_norm = s->row + s->entry[s->variables];
    double sum = 0;
    for (int64_t v = 0; v < s->variables; v++) {
        sum += s->row[s->entry[v] + to[v]] - log_norm[v];
    }
    return sum;
}

const sali_sampler sali_sampler_rlsa = {
    .name = "rlsa",
    .doc = "all sites at once by exact differences, about d of them, without acceptance: biased, "
           "for annealing",
    .source = "Regularised Langevin simulated annealing, 2025",
    .needs_differences = true,
    .unadjusted = true,
    .settings = settings,
    .create = create,
    .destroy = sali_free,
    .row_size = row_size,
    .prepare = prepare,
    .draw = draw,
    .log_q = log_q,
};
