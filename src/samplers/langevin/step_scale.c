/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/step_scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/start.h"

#define RANDOM_STATES 64
/* This part of the mean of v is added to each v, so that no d exceeds 10 times the d of a variable
 * with mean slope. */
#define DAMPING 0.01
/* The least weight of a new window in the running mean. */
#define LEAST_WEIGHT 0.05
/* Scales that can be given or loaded. */
#define LEAST_SCALE 1e-30
#define MOST_SCALE 1e30

/* |s' - s| of the smallest move of a variable; widest_move: of the largest one. */
static double least_move(const sali_stretch *s)
{
    return s->kind == SAL_CATEGORICAL ? sqrt(2) : sali_stretch_spacing(s);
}

static double widest_move(const sali_stretch *s)
{
    return s->kind == SAL_CATEGORICAL || s->states == 0 ? least_move(s)
                                                        : least_move(s) * (s->states - 1);
}

static bool has_levels(sal_kind kind, int32_t states)
{
    return kind != SAL_CATEGORICAL && states != 2;
}

bool sali_step_units_differ(const sal_space *space)
{
    bool levels = false, differ = false;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b], *first = &space->stretches[0];
        levels |= has_levels(s->kind, s->states);
        differ |= least_move(s) != least_move(first) || widest_move(s) != widest_move(first);
    }
    return levels && differ;
}

/* ---- sums over chains */

/* The squared slope of f along a variable, from the gradient [N] (step_scale.h). */
static double squared_slope(const sal_model *model, const sali_variable *v, const void *gradient)
{
    double sum = 0, square = 0;
    for (int32_t k = 0; k < v->width; k++) {
        double g = sali_load(model->dtype, gradient, v->offset + k);
        sum += g;
        square += g * g;
    }
    return v->kind == SAL_CATEGORICAL ? 2 * fmax(square - sum * sum / v->width, 0) / v->width
                                      : square;
}

static void add_slopes(sali_step_scale *p, const sali_chains *chains, int64_t c)
{
    const void *g = sali_row(chains, chains->gradient, c, p->space->width);
    for (int64_t v = 0; v < p->n; v++) {
        double slope = squared_slope(chains->model, &p->space->variables[v], g);
        p->squares[v] += isfinite(slope) ? slope : 0;
    }
}

/* Add the levels of chain c's variables, above the lowest, and their squares to the sums. */
static void add_levels(sali_step_scale *p, const sali_chains *chains, int64_t c)
{
    const int32_t *codes = chains->codes + c * p->n;
    for (int64_t v = 0; v < p->n; v++) {
        const sali_variable *variable = &p->space->variables[v];
        if (has_levels(variable->kind, variable->states)) {
            double level = sali_level(variable, codes[v]) - sali_level(variable, 0);
            p->sum[v] += level;
            p->squares[v] += level * level;
        }
    }
}

/* Add slopes or levels of the coldest chains with finite f to the sums. Returns how many chains
 * were added. */
static int64_t add_chains(sali_step_scale *p, const sali_chains *chains)
{
    double coldest = sali_chains_coldest(chains);
    int64_t rows = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        if (isfinite(chains->f[c]) && chains->beta[c] == coldest) {
            (p->rule == SALI_STEP_SLOPES ? add_slopes : add_levels)(p, chains, c);
            rows++;
        }
    }
    return rows;
}

/* ---- d from the sums */

/* scale = d by the rule of slopes, before the division by the geometric mean. */
static void scale_by_slopes(sali_step_scale *p)
{
    double mean = 0;
    for (int64_t v = 0; v < p->n; v++) {
        mean += p->square[v] / (double)p->n;
    }
    for (int64_t v = 0; v < p->n; v++) {
        p->scale[v] = 1 / sqrt(mean > 0 ? p->square[v] + DAMPING * mean : 1);
    }
}

/* scale = d by the rule of spread, before the division by the geometric mean. */
static void scale_by_spread(sali_step_scale *p)
{
    for (int64_t b = 0; b < p->space->n_blocks; b++) {
        const sali_stretch *s = &p->space->stretches[b];
        for (int64_t v = s->first; v < s->first + s->count; v++) {
            double variance = fmax(p->square[v] - p->mean[v] * p->mean[v], 0);
            p->scale[v] = least_move(s) * least_move(s) + variance;
        }
    }
}

/* Update the running means with the sums over `rows` states, and recompute d. */
static void update_scale(sali_step_scale *p, int64_t rows)
{
    double weight = fmax(1.0 / (double)(p->windows > 0 ? p->windows : 1), LEAST_WEIGHT);
    double log_mean = 0;
    for (int64_t v = 0; v < p->n; v++) {
        p->mean[v] += weight * (p->sum[v] / (double)rows - p->mean[v]);
        p->square[v] += weight * (p->squares[v] / (double)rows - p->square[v]);
    }
    (p->rule == SALI_STEP_SLOPES ? scale_by_slopes : scale_by_spread)(p);
    for (int64_t v = 0; v < p->n; v++) {
        log_mean += log(p->scale[v]) / (double)p->n;
    }
    for (int64_t v = 0; v < p->n; v++) {
        p->scale[v] *= exp(-log_mean);
    }
}

/* Estimate d from random states. */
static sal_status estimate_scale(sali_step_scale *p, const sal_model *model, sal_error *err)
{
    sali_chains *chains = NULL;
    sal_status status =
        sali_chains_create(model, RANDOM_STATES, SALI_WANT_GRADIENT, 0, &chains, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t c = 0; c < RANDOM_STATES; c++) {
        sali_stream stream = { .chain = (uint32_t)c, .purpose = SALI_RNG_STATISTIC };
        sali_random_codes(model->space, &stream, chains->codes + c * p->n);
    }
    sali_chains_embed(chains);
    sali_chains_start(chains, true);
    int64_t rows = add_chains(p, chains);
    update_scale(p, rows > 0 ? rows : 1);
    sali_chains_destroy(chains);
    return SAL_OK;
}

sal_status sali_step_scale_open(void *object, const sal_model *model, sali_step_rule rule,
                                sali_step_scale **out, sal_error *err)
{
    sali_step_scale *p = rule != SALI_STEP_NONE ? sali_object_array(object, 1, sizeof *p) : NULL;
    if (!p) {
        return SAL_OK;
    }
    p->rule = rule;
    p->space = model->space;
    p->n = model->space->n_variables;
    p->scale = SALI_OBJECT_ARRAY(object, double, p->n);
    p->mean = SALI_OBJECT_ARRAY(object, double, p->n);
    p->square = SALI_OBJECT_ARRAY(object, double, p->n);
    p->sum = SALI_OBJECT_ARRAY(object, double, p->n);
    p->squares = SALI_OBJECT_ARRAY(object, double, p->n);
    *out = p;
    return sali_object_failed(object) ? sali_fail_memory(err) : estimate_scale(p, model, err);
}

typedef struct look {
    sali_step_scale *p;
    const sali_warmup *warmup;
} look;

/* Write sums, sums of squares and the number of states of a shard to `numbers` [2V + 1]. */
static void look_at_shard(void *context, int64_t shard, double *numbers)
{
    sali_step_scale *p = ((look *)context)->p;
    sali_chains *chains = ((look *)context)->warmup->chains[shard];
    const size_t bytes = (size_t)p->n * sizeof *p->sum;
    memset(p->sum, 0, bytes);
    memset(p->squares, 0, bytes);
    sali_chains_start(chains, true);
    numbers[2 * p->n] = (double)add_chains(p, chains);
    memcpy(numbers, p->sum, bytes);
    memcpy(numbers + p->n, p->squares, bytes);
}

/* Add the coldest chains of all shards to the running means and recompute d; does nothing in the
 * last quarter of a warm-up that ends. */
static sal_status adapt(void *piece, const sali_warmup *warmup, bool *changed, sal_error *err)
{
    sali_step_scale *p = piece;
    if (warmup->total != SALI_WARMUP_ENDLESS && 4 * warmup->done > 3 * warmup->total) {
        return SAL_OK;
    }
    look context = { p, warmup };
    const int64_t each = 2 * p->n + 1;
    int64_t rows = 0;
    double *seen;
    sal_status status = sali_warmup_gather(warmup, each, look_at_shard, &context, &seen, err);
    if (status != SAL_OK) {
        return status;
    }
    memset(p->sum, 0, (size_t)p->n * sizeof *p->sum);
    memset(p->squares, 0, (size_t)p->n * sizeof *p->squares);
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        for (int64_t v = 0; v < p->n; v++) {
            p->sum[v] += seen[k * each + v];
            p->squares[v] += seen[k * each + p->n + v];
        }
        rows += (int64_t)seen[k * each + 2 * p->n];
    }
    sali_free(seen);
    if (rows > 0) {
        p->windows++;
        update_scale(p, rows);
        *changed = true;
    }
    return SAL_OK;
}

/* The scale, for a tuning under the name "preconditioner" and for resuming, and the running means.
 */
static int64_t state(void *piece, sali_state_item *items)
{
    sali_step_scale *p = piece;
    /* the names of the scale in a tuning and in a saved state */
    sali_state_item given = sali_state_f64("preconditioner", p->n, p->scale);
    sali_state_item scale = sali_state_f64("scale", p->n, p->scale);
    items[0] = sali_state_for(SALI_STATE_TUNED, sali_state_within(given, LEAST_SCALE, MOST_SCALE));
    items[1] = sali_state_within(scale, LEAST_SCALE, MOST_SCALE);
    items[2] = sali_state_sums("square", p->n, p->square);
    items[3] = sali_state_reals("mean", p->n, p->mean);
    items[4] = sali_state_counts("windows", 1, &p->windows);
    return 5;
}

const sali_adaptive sali_step_adaptive = { .adapt = adapt, .state = state };
