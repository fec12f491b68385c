/* SPDX-License-Identifier: MIT */
#include "run/ascent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/number.h"

/* The most and least rounds, and how many evaluations of a chain they may take. */
#define MOST_ROUNDS 200
#define LEAST_ROUNDS 8
#define EVALUATIONS 8192
/* The largest p. */
#define MOST_SHARE 0.5
/* Sizes below this many roundings of the largest are errors of rounding. */
#define ROUNDINGS 64

typedef struct ascent {
    sali_memory memory; /* owns all arrays except `codes` */
    const sal_model *model;
    sali_evaluator *evaluator;
    int64_t chains;
    uint64_t seed;
    int32_t *codes;  /* [chains x V] the highest states yet */
    int32_t *better; /* [chains x V] the code that raises f most, for each variable at `codes` */
    double *f;       /* [chains] */
    double *share;   /* [chains] p */
    int32_t *tried;  /* [chains x V] */
    double *f_tried; /* [chains] */
    void *x;         /* of the model's type, [chains x N] */
    void *slots;     /* [chains x S] */
    double *rows;    /* [chains x entries] */
} ascent;

/* Allocate the arrays and the evaluator; the given codes are the states to try first. */
static sal_status ascent_create(ascent *a, sal_error *err)
{
    const sal_space *space = a->model->space;
    int64_t n = a->chains;
    size_t element = a->model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    sali_memory *m = &a->memory;
    a->better = sali_memory_copy(m, a->codes, n * space->n_variables, sizeof *a->codes);
    a->tried = sali_memory_copy(m, a->codes, n * space->n_variables, sizeof *a->codes);
    a->f = SALI_TAKE(m, double, n);
    a->f_tried = SALI_TAKE(m, double, n);
    a->share = SALI_TAKE(m, double, n);
    a->x = sali_memory_take(m, n * space->width, element);
    a->slots = sali_memory_take(m, n * space->slots, element);
    a->rows = SALI_TAKE(m, double, n * space->n_states);
    sal_status status = sali_memory_status(m, err);
    for (int64_t c = 0; status == SAL_OK && c < n; c++) {
        a->share[c] = MOST_SHARE;
        a->f[c] = -INFINITY;
    }
    return status ? status
                  : sali_evaluator_create(a->model, n, SALI_WANT_DIFFERENCES, &a->evaluator, err);
}

/* Copy the differences evaluated last from a->slots into a->rows [chains x entries]. */
static void spread_differences(ascent *a)
{
    sali_spread_slots(a->model, a->chains, a->tried, a->slots, a->rows);
}

/* Evaluate f and all differences at a->tried, into f_tried and rows. */
static void evaluate_tried(ascent *a)
{
    sali_model_embed(a->model, a->chains, a->tried, a->x);
    sali_differences(a->evaluator, a->chains, a->tried, a->x, a->f_tried, a->slots);
    spread_differences(a);
}

/* Make the tried state of chain c its highest one, and find the best code of each variable from
 * there. */
static void keep_tried(ascent *a, int64_t c)
{
    const sal_space *space = a->model->space;
    int64_t V = space->n_variables;
    const double *delta = a->rows + c * space->n_states;
    memcpy(a->codes + c * V, a->tried + c * V, (size_t)V * sizeof *a->codes);
    a->f[c] = a->f_tried[c];
    for (int64_t v = 0; v < V; v++) {
        int32_t now = a->codes[c * V + v], states = space->variables[v].states;
        double best = 0;
        a->better[c * V + v] = now;
        for (int32_t k = 0; k < sali_entries(states); k++) {
            if (delta[k] > best) {
                best = delta[k];
                a->better[c * V + v] = sali_entry_code(states, now, k);
            }
        }
        delta += sali_entries(states);
    }
}

/* Set the next state that chain c tries: each variable that can raise f does so with probability p;
 * if none is drawn, one of these variables moves. False: no variable can raise f. */
static bool try_moves(ascent *a, int64_t c, uint64_t round)
{
    int64_t V = a->model->space->n_variables, able = 0, moved = 0, at = 0;
    const int32_t *codes = a->codes + c * V, *better = a->better + c * V;
    int32_t *tried = a->tried + c * V;
    sali_stream stream = {
        .seed = a->seed, .step = round, .chain = (uint32_t)c, .purpose = SALI_RNG_ANNEAL
    };
    memcpy(tried, codes, (size_t)V * sizeof *tried);
    for (int64_t v = 0; v < V; v++) {
        if (better[v] == codes[v]) {
            continue;
        }
        if (sali_rng_uniform_at(&stream, (uint32_t)able++) < a->share[c]) {
            tried[v] = better[v];
            moved++;
        }
    }
    for (int64_t left = moved == 0 && able > 0 ? (int64_t)(round % (uint64_t)able) : -1; left >= 0;
         at++) {
        if (better[at] != codes[at] && left-- == 0) {
            tried[at] = better[at];
        }
    }
    return able > 0;
}

/* How many rounds of the model's differences the bound on evaluations allows. */
static int64_t most_rounds(const sal_model *model)
{
    int64_t cost = sali_strategy_best(model) == SALI_BY_NEIGHBOURS ? model->space->slots : 1;
    int64_t rounds = EVALUATIONS / cost;
    return rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
}

/* Move the sizes of those of n differences that are finite and above the noise to the front of
 * delta [n]; returns how many there are. */
static int64_t pick_sizes(int64_t n, double *delta, double noise)
{
    int64_t some = 0;
    for (int64_t k = 0; k < n; k++) {
        double size = fabs(delta[k]);
        if (isfinite(size) && size > noise) {
            delta[some++] = size;
        }
    }
    return some;
}

/* Sizes of differences up to this one may be errors of rounding. */
static double noise_of(const ascent *a)
{
    double largest = 0;
    for (int64_t k = 0; k < a->chains * a->model->space->n_states; k++) {
        double size = fabs(a->rows[k]);
        largest = isfinite(size) ? fmax(largest, size) : largest;
    }
    return ROUNDINGS * (a->model->dtype == SAL_F32 ? FLT_EPSILON : DBL_EPSILON) * largest;
}

/* The mean of all sizes above `noise`, which are moved to the front of the rows; 0: there are
 * none. */
static double mean_size(ascent *a, double noise)
{
    int64_t n = pick_sizes(a->chains * a->model->space->n_states, a->rows, noise);
    double mean = 0;
    for (int64_t k = 0; k < n; k++) {
        mean += a->rows[k] / (double)n;
    }
    return mean;
}

/* The median over chains of the ceil(sqrt(n))-th smallest of a chain's n sizes above `noise`; 0:
 * there are none. Overwrites the rows and f_tried. */
static double small_size(ascent *a, double noise)
{
    int64_t entries = a->model->space->n_states, some = 0;
    for (int64_t c = 0; c < a->chains; c++) {
        double *sizes = a->rows + c * entries;
        int64_t n = pick_sizes(entries, sizes, noise);
        sali_sort_doubles(n, sizes);
        if (n > 0) {
            a->f_tried[some++] = sizes[(int64_t)ceil(sqrt((double)n)) - 1];
        }
    }
    sali_sort_doubles(some, a->f_tried);
    return some > 0 ? a->f_tried[(some - 1) / 2] : 0;
}

/* Climb from the tried states, which are evaluated already, until no chain can rise or the rounds
 * are used up. */
static void climb_from_tried(ascent *a)
{
    int64_t rounds = most_rounds(a->model);
    bool able = true;
    for (int64_t round = 0; able && round < rounds; round++) {
        able = false;
        for (int64_t c = 0; c < a->chains; c++) {
            if (a->f_tried[c] > a->f[c]) {
                keep_tried(a, c);
                a->share[c] = fmin(2 * a->share[c], MOST_SHARE);
            } else {
                a->share[c] /= 2;
            }
            able |= try_moves(a, c, (uint64_t)round);
        }
        evaluate_tried(a);
    }
}

/* Fill `seen` with the sizes of differences at the starts and, after the climb, at the ends. */
static void measure_sizes(ascent *a, sali_sizes_seen *seen)
{
    evaluate_tried(a);
    const double noise = noise_of(a);
    seen->mean_at_starts = mean_size(a, noise);
    spread_differences(a);
    climb_from_tried(a);
    memcpy(a->tried, a->codes,
           (size_t)(a->chains * a->model->space->n_variables) * sizeof *a->codes);
    evaluate_tried(a);
    seen->mean_at_ends = mean_size(a, noise);
    spread_differences(a);
    seen->small = small_size(a, noise);
}

sal_status sali_ascend(const sal_model *model, int64_t chains, int32_t *starts, uint64_t seed,
                       sali_sizes_seen *seen, sal_error *err)
{
    ascent a = { .model = model, .chains = chains, .seed = seed, .codes = starts };
    sal_status status = ascent_create(&a, err);
    if (status == SAL_OK) {
        measure_sizes(&a, seen);
    }
    sali_evaluator_destroy(a.evaluator);
    sali_memory_free(&a.memory);
    return status;
}
