/* SPDX-License-Identifier: MIT */
#include "samplers/followed_gradient.h"

#include <string.h>

/* Gradients and f are recomputed at multiples of this many steps: for steps of one move, and of
 * many. */
enum { RENEW_MOVES = 4096, RENEW_PATHS = 256 };

/* Cost model: adding one row of J for one chain costs as much as ROWS_OF_PRODUCT rows of a
 * whole-shard matrix product, because the product reads each row once for several chains. The
 * overhead for each added row is as much as REALS_OF_MOVE more reals. */
#define ROWS_OF_PRODUCT 4
#define REALS_OF_MOVE 64

sal_status sali_followed_gradient_couplings(sali_shared *shared, const sal_model *model,
                                            const sali_sampler_settings *settings, sal_error *err)
{
    const bool pays = !settings->training && model->space->width <= SALI_MOST_FOLLOWED;
    return model->has_gradient && pays
               ? sali_own_couplings(shared, model, SALI_ANY_COUPLINGS, &shared->couplings, err)
               : SAL_OK;
}

sal_status sali_followed_gradient_share(const sal_model *model,
                                        const sali_sampler_settings *settings, void **shared,
                                        sal_error *err)
{
    sali_shared *s = SALI_OBJECT(sali_shared);
    sal_status status = s ? sali_followed_gradient_couplings(s, model, settings, err) : SAL_OK;
    return sali_object_finish(s, status, shared, err);
}

void sali_followed_gradient_open(sali_followed_gradient *g, void *object, const sali_chains *chains,
                                 sali_couplings *couplings, bool paths, bool evaluated)
{
    int64_t N = chains->space->width;
    g->couplings = couplings;
    g->evaluated = evaluated;
    if (couplings) {
        g->rows = sali_object_array(object, 2 * chains->n * N, chains->element);
        g->diagonal = sali_object_array(object, N, chains->element);
        g->current = SALI_OBJECT_ARRAY(object, uint8_t, chains->n);
        g->coordinate = SALI_OBJECT_ARRAY(object, int64_t, N);
        g->change = SALI_OBJECT_ARRAY(object, double, N);
        g->weight = SALI_OBJECT_ARRAY(object, double, N);
        g->before = SALI_OBJECT_ARRAY(object, double, N);
        g->moved = SALI_OBJECT_ARRAY(object, int32_t, chains->space->n_variables);
        g->period = paths ? RENEW_PATHS : RENEW_MOVES;
    }
}

/* Chain c's gradient of the present state (0) or of the proposed one (1). */
static void *gradient_of(const sali_followed_gradient *g, const sali_chains *chains, int64_t c,
                         int proposed)
{
    const int64_t N = chains->space->width;
    return sali_followed_gradient_active(g)
               ? sali_row(chains, g->rows, 2 * c + (g->current[c] ^ proposed), N)
               : sali_row(chains, chains->gradient, c, N);
}

void *sali_followed_gradient_now(const sali_followed_gradient *g, const sali_chains *chains,
                                 int64_t c)
{
    return gradient_of(g, chains, c, 0);
}

void *sali_followed_gradient_next(const sali_followed_gradient *g, const sali_chains *chains,
                                  int64_t c)
{
    return gradient_of(g, chains, c, 1);
}

/* next = now + the sum of the k listed rows of J times their weights. */
static void follow_rows(const sali_followed_gradient *g, const sali_chains *chains, int64_t k,
                        const void *now, void *next)
{
    const int64_t N = chains->space->width;
    if (chains->model->dtype == SAL_F32) {
        sali_follow_rows_f32(N, g->values->J, k, g->coordinate, g->weight, now, next);
    } else {
        sali_follow_rows_f64(N, g->values->J, k, g->coordinate, g->weight, now, next);
    }
}

/* row = beta (linear + scale J x) at the present state of chain c: the gradient without the
 * evaluator. */
static void add_rows(sali_followed_gradient *g, const sali_chains *chains, int64_t c, void *row)
{
    const sal_space *space = chains->space;
    const int32_t *codes = chains->codes + c * space->n_variables;
    int64_t k = 0;
    for (int64_t i = 0; i < space->width; i++) {
        sali_store(chains->model->dtype, row, i, chains->beta[c] * g->values->linear[i]);
    }
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        const bool one_hot = v->kind == SAL_CATEGORICAL;
        const double level = one_hot ? 1 : sali_level(v, codes[i]);
        if (level != 0) {
            g->coordinate[k] = v->offset + (one_hot ? codes[i] : 0);
            g->weight[k++] = chains->beta[c] * g->values->scale * level;
        }
    }
    if (k > 0) {
        follow_rows(g, chains, k, row, row);
    }
}

/* Whether gradients times beta keep their digits in the model's type: floats begin to lose them at
 * 2^-126, and end at 2^128. */
static bool keeps_digits(const sali_chains *chains)
{
    bool keeps = true;
    for (int64_t c = 0; c < chains->n && chains->model->dtype == SAL_F32; c++) {
        keeps &= chains->beta[c] > 0x1p-60 && chains->beta[c] < 0x1p60;
    }
    return keeps;
}

void sali_followed_gradient_start(sali_followed_gradient *g, sali_chains *chains)
{
    const sal_dtype dtype = chains->model->dtype;
    const int64_t N = chains->space->width;
    g->values = g->couplings ? sali_couplings_values(g->couplings) : NULL;
    g->values = g->values && g->values->finite && keeps_digits(chains) ? g->values : NULL;
    for (int64_t k = 0; g->values && k < N; k++) {
        sali_store(dtype, g->diagonal, k, sali_load(dtype, g->values->J, k * N + k));
    }
    sali_chains_start(chains, g->evaluated);
    g->fresh = true;
    for (int64_t c = 0; g->values && c < chains->n; c++) {
        void *now = sali_followed_gradient_now(g, chains, c);
        if (g->evaluated) {
            memcpy(now, sali_row(chains, chains->gradient, c, N), (size_t)N * chains->element);
        } else {
            add_rows(g, chains, c, now);
        }
    }
}

bool sali_followed_gradient_renew(sali_followed_gradient *g, sali_chains *chains, int64_t c)
{
    int64_t V = chains->space->n_variables, N = chains->space->width;
    if (!sali_followed_gradient_active(g) || chains->step[c] % g->period != 0) {
        return false;
    }
    void *gradient = sali_followed_gradient_now(g, chains, c);
    const int32_t *codes = chains->codes + c * V;
    const void *x = sali_row(chains, chains->x, c, N);
    sali_evaluator_begin_at(chains->evaluator, c);
    if (g->evaluated) {
        sali_gradient(chains->evaluator, 1, codes, x, &chains->f[c], gradient);
        sali_chains_temper(chains, c, N, gradient);
    } else {
        sali_value(chains->evaluator, 1, codes, x, &chains->f[c]);
        add_rows(g, chains, c, gradient);
    }
    sali_evaluator_begin_at(chains->evaluator, 0);
    return true;
}

/* Append to the k listed changes the coordinates of a variable that goes from code `from` to `to`.
 * Returns the new k. */
static int64_t list_change(sali_followed_gradient *g, int64_t k, const sali_variable *v,
                           int32_t from, int32_t to)
{
    if (v->kind == SAL_CATEGORICAL) {
        g->coordinate[k] = v->offset + from;
        g->change[k++] = -1;
        g->coordinate[k] = v->offset + to;
        g->change[k++] = 1;
    } else {
        g->coordinate[k] = v->offset;
        g->change[k++] = sali_level(v, to) - sali_level(v, from);
    }
    return k;
}

/* From the gradient `now` and f of a state of chain c, compute the next gradient and f_new for the
 * state with the k listed changes; notes NaN and +inf. */
static void follow_changes(sali_followed_gradient *g, sali_chains *chains, int64_t c, int64_t k,
                           const void *now, double f)
{
    const sal_dtype dtype = chains->model->dtype;
    void *next = sali_followed_gradient_next(g, chains, c);
    double rise = 0;
    for (int64_t j = 0; j < k; j++) {
        g->weight[j] = chains->beta[c] * g->values->scale * g->change[j];
        g->before[j] = sali_load(dtype, now, g->coordinate[j]);
    }
    follow_rows(g, chains, k, now, next);
    for (int64_t j = 0; j < k; j++) {
        rise += g->change[j] * (g->before[j] + sali_load(dtype, next, g->coordinate[j]));
    }
    chains->f_new[c] = f + rise / (2 * chains->beta[c]);
    sali_chains_check_f(chains, c, 1, chains->codes_new, chains->f_new);
}

bool sali_followed_gradient_due(const sali_followed_gradient *g, const sali_chains *chains)
{
    bool due = false;
    for (int64_t c = 0; sali_followed_gradient_active(g) && c < chains->n; c++) {
        due |= chains->step[c] % g->period == 0;
    }
    return due && !g->fresh;
}

/* Whether a product by all of J costs less than adding the rows of the coordinates that change. */
static bool product_pays(const sali_chains *chains)
{
    const sal_space *space = chains->space;
    const int64_t N = space->width;
    int64_t rows = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        for (int64_t b = 0; b < space->n_blocks; b++) {
            const sali_stretch *s = &space->stretches[b];
            const int64_t first = c * space->n_variables + s->first;
            rows += (s->kind == SAL_CATEGORICAL ? 2 : 1) *
                    sali_codes_moved(s->count, chains->codes + first, chains->codes_new + first);
        }
    }
    return ROWS_OF_PRODUCT * rows * (N + REALS_OF_MOVE) > chains->n * N * N;
}

/* List the changes from chain c's present state to its proposal; returns their number. The
 * variables are listed first, without a branch on random numbers. */
static int64_t list_proposal(sali_followed_gradient *g, const sali_chains *chains, int64_t c)
{
    const int64_t V = chains->space->n_variables;
    const int32_t *from = chains->codes + c * V, *to = chains->codes_new + c * V;
    int64_t n = 0, k = 0;
    for (int64_t i = 0; i < V; i++) {
        g->moved[n] = (int32_t)i;
        n += from[i] != to[i];
    }
    for (int64_t j = 0; j < n; j++) {
        const int32_t i = g->moved[j];
        k = list_change(g, k, &chains->space->variables[i], from[i], to[i]);
    }
    return k;
}

void sali_followed_gradient_propose(sali_followed_gradient *g, sali_chains *chains)
{
    const int64_t N = chains->space->width;
    const bool active = sali_followed_gradient_active(g);
    const bool evaluate = !active || (g->evaluated && product_pays(chains));
    g->fresh = false;
    if (evaluate) {
        sali_chains_propose(chains, true);
    }
    for (int64_t c = 0; active && c < chains->n; c++) {
        if (evaluate) {
            memcpy(sali_followed_gradient_next(g, chains, c),
                   sali_row(chains, chains->gradient, c, N), (size_t)N * chains->element);
        } else {
            const int64_t k = list_proposal(g, chains, c);
            follow_changes(g, chains, c, k, sali_followed_gradient_now(g, chains, c), chains->f[c]);
        }
    }
}

void sali_followed_gradient_stay(sali_followed_gradient *g, sali_chains *chains, int64_t c)
{
    memcpy(sali_followed_gradient_next(g, chains, c), sali_followed_gradient_now(g, chains, c),
           (size_t)chains->space->width * chains->element);
    chains->f_new[c] = chains->f[c];
}

void sali_followed_gradient_move(sali_followed_gradient *g, sali_chains *chains, int64_t c,
                                 int64_t site, int32_t from)
{
    const int32_t to = chains->codes_new[c * chains->space->n_variables + site];
    const int64_t k = list_change(g, 0, &chains->space->variables[site], from, to);
    follow_changes(g, chains, c, k, sali_followed_gradient_next(g, chains, c), chains->f_new[c]);
}

void sali_followed_gradient_correct(const sali_followed_gradient *g, const sali_chains *chains,
                                    int64_t c, const int32_t *codes, void *slots)
{
    const sal_space *space = chains->space;
    const double weight = chains->beta[c] * g->values->scale / 2;
    if (chains->model->dtype == SAL_F32) {
        sali_follow_squares_f32(space, g->values->J, g->diagonal, (float)weight, codes, slots);
    } else {
        sali_follow_squares_f64(space, g->values->J, g->diagonal, weight, codes, slots);
    }
}

/* List the changes when `sites` [n] of chain c's present state are set to `codes`; returns their
 * number. */
static int64_t list_several(sali_followed_gradient *g, const sali_chains *chains, int64_t c,
                            int64_t n, const int64_t *sites, const int32_t *codes)
{
    const int32_t *now = chains->codes + c * chains->space->n_variables;
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = sites[i];
        if (codes[i] != now[v]) {
            k = list_change(g, k, &chains->space->variables[v], now[v], codes[i]);
        }
    }
    return k;
}

double sali_followed_gradient_rise(sali_followed_gradient *g, const sali_chains *chains, int64_t c,
                                   int64_t n, const int64_t *sites, const int32_t *codes)
{
    const sal_dtype dtype = chains->model->dtype;
    const int64_t N = chains->space->width, k = list_several(g, chains, c, n, sites, codes);
    const void *gradient = sali_followed_gradient_now(g, chains, c);
    double slope = 0, square = 0;
    for (int64_t j = 0; j < k; j++) {
        double row = 0;
        for (int64_t l = 0; l < k; l++) {
            row += g->change[l] *
                   sali_load(dtype, g->values->J, g->coordinate[j] * N + g->coordinate[l]);
        }
        slope += g->change[j] * sali_load(dtype, gradient, g->coordinate[j]);
        square += g->change[j] * row;
    }
    return slope / chains->beta[c] + g->values->scale * square / 2;
}

void sali_followed_gradient_go(sali_followed_gradient *g, sali_chains *chains, int64_t c, int64_t n,
                               const int64_t *sites, const int32_t *codes)
{
    const int64_t V = chains->space->n_variables;
    const int64_t k = list_several(g, chains, c, n, sites, codes);
    int32_t *to = chains->codes_new + c * V; /* where a bad f is reported */
    memcpy(to, chains->codes + c * V, (size_t)V * sizeof *to);
    for (int64_t i = 0; i < n; i++) {
        to[sites[i]] = codes[i];
    }
    follow_changes(g, chains, c, k, sali_followed_gradient_now(g, chains, c), chains->f[c]);
    sali_followed_gradient_flip(g, c);
}
