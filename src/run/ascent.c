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

/* A variable that takes a code, and with it another one, or -1. */
typedef struct uphill {
    int64_t site, other;
    int32_t code, other_code;
} uphill;

typedef struct ascent {
    sali_memory memory; /* owns all arrays except `codes` */
    const sal_model *model;
    sali_evaluator *evaluator;
    int64_t chains;
    uint64_t seed;
    int32_t *codes;  /* [chains x V] the highest states yet */
    double *delta;   /* [chains x entries] differences at `codes` */
    double *f;       /* [chains] */
    double *share;   /* [chains] p */
    int32_t *tried;  /* [chains x V] */
    double *f_tried; /* [chains] */
    void *x;         /* of the model's type, [chains x N] */
    void *slots;     /* [chains x S] */
    double *rows;    /* [chains x entries] differences evaluated last */
    int64_t able;    /* moves of one chain that may raise f: */
    uphill *uphill;  /* [V] */
    int64_t *order;  /* [V] scratch */
} ascent;

/* Allocate the arrays and the evaluator; the given codes are the states to try first. */
static sal_status ascent_create(ascent *a, sal_error *err)
{
    const sal_space *space = a->model->space;
    int64_t n = a->chains;
    size_t element = a->model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    sali_memory *m = &a->memory;
    a->delta = SALI_TAKE(m, double, n * space->n_states);
    a->uphill = SALI_TAKE(m, uphill, space->n_variables);
    a->order = SALI_TAKE(m, int64_t, space->n_variables);
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

/* Make the tried state of chain c its highest one, with its differences. */
static void keep_tried(ascent *a, int64_t c)
{
    const sal_space *space = a->model->space;
    const int64_t V = space->n_variables, R = space->n_states;
    memcpy(a->codes + c * V, a->tried + c * V, (size_t)V * sizeof *a->codes);
    memcpy(a->delta + c * R, a->rows + c * R, (size_t)R * sizeof *a->delta);
    a->f[c] = a->f_tried[c];
}

/* ---- moves that may raise f */

/* The best code of variable v, from its differences: its present one if none is above 0. */
static int32_t best_code(const sali_stretch *s, const double *delta, int32_t now)
{
    int32_t best = now;
    double most = 0;
    for (int32_t k = 0; k < sali_entries(s->states); k++) {
        if (delta[k] > most) {
            most = delta[k];
            best = sali_entry_code(s->states, now, k);
        }
    }
    return best;
}

static void add_uphill(ascent *a, uphill move)
{
    a->uphill[a->able++] = move;
}

/* List the variables of a free stretch whose best code raises f; `delta` are those of the
 * stretch. */
static void list_singles(ascent *a, const sali_stretch *s, const int32_t *codes,
                         const double *delta)
{
    for (int64_t v = s->first; v < s->first + s->count; v++, delta += sali_entries(s->states)) {
        const int32_t code = best_code(s, delta, codes[v]);
        if (code != codes[v]) {
            add_uphill(a, (uphill){ v, -1, code, 0 });
        }
    }
}

/* List the pair i, j with these codes if their differences sum to more than 0. Returns whether they
 * do. */
static bool list_pair(ascent *a, const sali_stretch *s, const double *delta, uphill to)
{
    const int64_t K = s->states;
    const bool within = to.code >= 0 && to.code < K && to.other_code >= 0 && to.other_code < K;
    if (within && delta[(to.site - s->first) * K + to.code] +
                          delta[(to.other - s->first) * K + to.other_code] >
                      0) {
        add_uphill(a, to);
        return true;
    }
    return false;
}

/* List the exchanges of a fixed stretch that may raise f, of variables paired at random. */
static void list_exchanges(ascent *a, const sali_stretch *s, const int32_t *codes,
                           const double *delta, const sali_stream *stream)
{
    for (int64_t k = 0; k < s->count; k++) { /* Fisher & Yates, from the inside out */
        const int64_t j = sali_rng_below(stream, (uint32_t)(s->first + k), (uint32_t)k + 1);
        a->order[k] = a->order[j];
        a->order[j] = s->first + k;
    }
    for (int64_t k = 0; k + 1 < s->count; k += 2) {
        const int64_t i = a->order[k], j = a->order[k + 1];
        const int32_t of_i = codes[i], of_j = codes[j];
        if (s->fixed_codes) {
            list_pair(a, s, delta, (uphill){ i, j, of_j, of_i });
        } else if (!list_pair(a, s, delta, (uphill){ i, j, of_i + 1, of_j - 1 })) {
            list_pair(a, s, delta, (uphill){ i, j, of_i - 1, of_j + 1 });
        }
    }
}

static void make_move(int32_t *tried, uphill move)
{
    tried[move.site] = move.code;
    if (move.other >= 0) {
        tried[move.other] = move.other_code;
    }
}

/* Set the next state that chain c tries: each move that can raise f is made with probability p; if
 * none is drawn, one of them is made. False: no move can raise f. */
static bool try_moves(ascent *a, int64_t c, uint64_t round)
{
    const sal_space *space = a->model->space;
    const int32_t *codes = a->codes + c * space->n_variables;
    const double *delta = a->delta + c * space->n_states;
    int32_t *tried = a->tried + c * space->n_variables;
    int64_t moved = 0;
    sali_stream stream = {
        .seed = a->seed, .step = round, .chain = (uint32_t)c, .purpose = SALI_RNG_ANNEAL
    };
    sali_stream pairs = stream;
    pairs.purpose = SALI_RNG_VISITS;
    memcpy(tried, codes, (size_t)space->n_variables * sizeof *tried);
    a->able = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (sali_is_fixed(s)) {
            list_exchanges(a, s, codes, delta, &pairs);
        } else {
            list_singles(a, s, codes, delta);
        }
        delta += s->count * sali_entries(s->states);
    }
    for (int64_t k = 0; k < a->able; k++) {
        if (sali_rng_uniform_at(&stream, (uint32_t)k) < a->share[c]) {
            make_move(tried, a->uphill[k]);
            moved++;
        }
    }
    if (moved == 0 && a->able > 0) {
        make_move(tried, a->uphill[round % (uint64_t)a->able]);
    }
    /* Other pairs may raise f, in the next rounds. */
    return a->able > 0 || space->fixed;
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
