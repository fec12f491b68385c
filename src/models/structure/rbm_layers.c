/* SPDX-License-Identifier: MIT */
/* Block Gibbs sampling of an RBM: the hidden units given the visible ones, then the visible ones
 * given the hidden (Hinton 2002). The model's f is the marginal over the hidden units,
 *
 *     f = b'v + g sum softplus(W v + c) + r(v),    g = 1, but for bridges.
 *
 * At an inverse temperature beta the draws are Gibbs steps of the joint density of layers of
 * independent units, p(v, h) proportional to exp(beta (b'v + g h'(W v + c))). The marginal of this
 * density is not exp(beta f) but exp(beta b'v + sum softplus(beta g (W v + c))), unless beta and g
 * are 1, and a Metropolis-Hastings step makes up for the difference.
 *
 * A rest r, such as a net, is approximated as linear where visible units are drawn. Only the units
 * of a random set A are drawn: each unit is in A with probability 1, 1/2, 1/4 or 1/8, whichever
 * comes up for the chain. The slope d of r is taken at the state that has the units of A at their
 * means, given h in the RBM, and the units outside of A as they are. So d depends on h, A and the
 * units outside of A only, and so do the fields of the proposal, the fields of the RBM plus d:
 * only the nonlinear part of r can lead to a rejection. Small sets are there because this part
 * grows with the training of a net. While parameters leave r out, as the weights of its last layer
 * do where they are 0, A has all units. */
#include "models/structure/rbm_layers.h"

#include <math.h>

#include "ad/workspace.h"
#include "core/real.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/vector/vmath.h"

typedef struct workspace {
    sali_memory memory; /* of the arrays */
    layer_numbers p;
    int64_t visible, hidden;
    real *level, *rise; /* [visible] real of code 0; rise from it to the real of code 1 */
    real *v, *h;        /* [chains x visible], [chains x hidden]: units, or their log-odds */
    real *uniforms;
    /* For a rest with a slope; NULL without. */
    sali_workspace *formula;
    real *mean, *slope; /* [chains x visible] where the rest's slope is taken; the slope */
    real *units;        /* [chains x hidden] */
    bool *in;           /* [chains x visible] whether in A */
    double *f;          /* [chains] */
} workspace;

static int64_t one_piece(const sal_model *model)
{
    (void)model;
    return 1;
}

static int64_t count_units(const sal_model *model)
{
    return ((const sali_rbm_form *)model->structure_data)->units.size;
}

static bool has_slope(const sal_model *model)
{
    return ((const sali_rbm_form *)model->structure_data)->sum.rest && model->has_gradient;
}

/* The number of auxiliary variables: the hidden units, then, with a rest that has a slope, one for
 * each visible unit, whether it is in A. */
static int64_t count_hidden(const sal_model *model)
{
    return count_units(model) + (has_slope(model) ? model->space->n_variables : 0);
}

/* Whether f has a rest with a slope, and the parameters do not leave it out. */
static bool has_rest(const workspace *w)
{
    return w->formula && w->p.sum.rest;
}

static void close_layers(void *ws)
{
    workspace *w = ws;
    if (w) {
        layer_numbers_close(&w->p);
        sali_workspace_destroy(w->formula);
        sali_memory_free(&w->memory);
        sali_free(w);
    }
}

/* Allocate the arrays that every workspace has beside its numbers; the caller frees them after
 * SAL_ERR_MEMORY. */
static sal_status allocate_arrays(workspace *w, int64_t chains)
{
    w->level = SALI_TAKE(&w->memory, real, w->visible);
    w->rise = SALI_TAKE(&w->memory, real, w->visible);
    w->v = SALI_TAKE(&w->memory, real, chains * w->visible);
    w->h = SALI_TAKE(&w->memory, real, chains * w->hidden);
    w->uniforms = SALI_TAKE(&w->memory, real, w->hidden + 2 * w->visible + 1);
    return sali_memory_status(&w->memory, NULL);
}

/* Allocate the arrays for a rest with a slope, and a workspace that computes gradients of f. */
static sal_status open_rest(workspace *w, int64_t chains, sal_error *err)
{
    const sali_tape_model *tape = w->p.sum.tape;
    w->mean = SALI_TAKE(&w->memory, real, chains * w->visible);
    w->slope = SALI_TAKE(&w->memory, real, chains * w->visible);
    w->units = SALI_TAKE(&w->memory, real, chains * w->hidden);
    w->f = SALI_TAKE(&w->memory, double, chains);
    w->in = SALI_TAKE(&w->memory, bool, chains * w->visible);
    return w->memory.refused ? SAL_ERR_MEMORY
                             : sali_workspace_create(tape->program, tape->params, chains,
                                                     SALI_WANT_STATE_GRADIENT, &w->formula, err);
}

static sal_status open_layers(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    workspace *w = SALI_NEW(workspace);
    if (!w) {
        return sali_fail_memory(err);
    }
    w->visible = model->space->n_variables;
    w->hidden = count_units(model);
    sal_status status = layer_numbers_open(model, chains, &w->memory, &w->p);
    status = status ? status : allocate_arrays(w, chains);
    if (status == SAL_OK && has_slope(model)) {
        status = open_rest(w, chains, err);
    }
    if (status != SAL_OK) {
        close_layers(w);
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < w->visible; i++) {
        const sali_variable *variable = &model->space->variables[i];
        w->level[i] = (real)sali_level(variable, 0);
        w->rise[i] = (real)(sali_level(variable, 1) - sali_level(variable, 0));
    }
    *ws = w;
    return SAL_OK;
}

static bool unweighed(void *ws)
{
    workspace *w = ws;
    layer_numbers_follow(&w->p);
    return w->p.g == 1 && !w->p.sum.rest;
}

/* Set w->v to the reals of at->codes, and w->h to the log-odds of the hidden units given them. */
static void drive_hidden(workspace *w, const sali_piece *at)
{
    int64_t V = w->visible, H = w->hidden;
    real *h = w->h;
    layer_numbers_follow(&w->p);
    for (int64_t c = 0; c < at->n; c++) {
        for (int64_t i = 0; i < V; i++) {
            w->v[c * V + i] = w->level[i] + w->rise[i] * (real)at->codes[c * V + i];
        }
    }
    layer_numbers_inputs(&w->p, at->n, w->v, w->h);
    for (int64_t c = 0; c < at->n; c++, h += H) {
        real tempered = (real)(at->beta[c] * w->p.g);
        for (int64_t k = 0; k < H; k++) {
            h[k] *= tempered;
        }
    }
}

/* Set w->v to the log-odds of the visible units given the hidden units in w->h, in the RBM. */
static void drive_visible(workspace *w, const sali_piece *at)
{
    real factor = (real)(w->p.g * w->p.form->units.factor), *v = w->v;
    layer_numbers_turned(&w->p, at->n, w->h, v);
    for (int64_t c = 0; c < at->n; c++, v += w->visible) {
        real beta = (real)at->beta[c];
        for (int64_t i = 0; i < w->visible; i++) {
            v[i] = beta * (w->rise[i] * (factor * v[i] + w->p.b[i]));
        }
    }
}

/* Set w->slope [n x visible] to the slope of the rest at w->mean: the gradient of f minus the
 * gradient of the RBM, or 0 where this is not finite. Overwrites w->mean. */
static void find_slope(workspace *w, int64_t n)
{
    const int64_t V = w->visible;
    const real factor = (real)(w->p.g * w->p.form->units.factor);
    layer_numbers_inputs(&w->p, n, w->mean, w->units);
    RN(sali_vsigmoid)(n * w->hidden, w->units, w->units);
    sali_workspace_gradient(w->formula, n, NULL, w->mean, w->f, w->slope);
    layer_numbers_turned(&w->p, n, w->units, w->mean);
    for (int64_t c = 0; c < n; c++) {
        for (int64_t i = 0; i < V; i++) {
            const real slope = w->slope[c * V + i] - w->p.b[i] - factor * w->mean[c * V + i];
            w->slope[c * V + i] = isfinite(slope) ? slope : 0;
        }
    }
}

/* Add beta times the rest's slope to w->v, the log-odds of the visible units in the RBM; nothing
 * without a rest. */
static void drive_rest(workspace *w, const sali_piece *at)
{
    const int64_t V = w->visible;
    if (!has_rest(w)) {
        return;
    }
    RN(sali_vsigmoid)(at->n * V, w->v, w->mean);
    for (int64_t c = 0; c < at->n; c++) {
        real *x = w->mean + c * V;
        for (int64_t i = 0; i < V; i++) {
            const real mean = w->in[c * V + i] ? x[i] : (real)at->codes[c * V + i];
            x[i] = w->level[i] + w->rise[i] * mean;
        }
    }
    find_slope(w, at->n);
    for (int64_t c = 0; c < at->n; c++) {
        const real beta = (real)at->beta[c];
        for (int64_t i = 0; i < V; i++) {
            w->v[c * V + i] += beta * w->rise[i] * w->slope[c * V + i];
        }
    }
}

/* The probabilities 1, 1/2, 1/4 and 1/8 with which units are in A. */
enum { SHARES = 4 };
/* Draw the set A, in [n], by uniforms [1 + n]: the first chooses with which probability units are
 * in A. */
static void choose_set(int64_t n, const real *uniforms, bool *in)
{
    const real share = (real)1 / (real)(1 << (int)((real)SHARES * uniforms[0]));
    for (int64_t i = 0; i < n; i++) {
        in[i] = uniforms[1 + i] < share;
    }
}

/* Log-probability of a set A, in [n], summed over the ways in which it can be drawn. */
static double log_set(int64_t n, const bool *in)
{
    double sum = 0;
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++) {
        size += in[i];
    }
    for (int k = 0; k < SHARES; k++) {
        const double share = 1.0 / (1 << k);
        sum += pow(share, (double)size) * pow(1 - share, (double)(n - size)) / SHARES;
    }
    return log(sum);
}

/* Draw hidden units and, with a rest, the set A; then the visible units in A (without a rest:
 * all). */
static void draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to)
{
    workspace *w = ws;
    int64_t H = w->hidden, V = w->visible;
    drive_hidden(w, at);
    RN(sali_vsigmoid)(at->n * H, w->h, w->h);
    for (int64_t c = 0; c < at->n; c++) {
        RN(sali_rng_uniform)(&streams[c], has_rest(w) ? H + 2 * V + 1 : H, w->uniforms);
        for (int64_t k = 0; k < H; k++) {
            w->h[c * H + k] = w->uniforms[k] < w->h[c * H + k];
        }
        if (has_rest(w)) {
            choose_set(V, w->uniforms + H + V, w->in + c * V);
        }
    }
    drive_visible(w, at);
    drive_rest(w, at);
    RN(sali_vsigmoid)(at->n * V, w->v, w->v);
    for (int64_t c = 0; c < at->n;
         c++) { /* the same stream, past the numbers of the hidden units */
        RN(sali_rng_uniform)(&streams[c], H + V, w->uniforms);
        for (int64_t k = 0; k < V; k++) {
            to[c * V + k] = has_rest(w) && !w->in[c * V + k] ? at->codes[c * V + k]
                                                             : w->uniforms[H + k] < w->v[c * V + k];
        }
    }
}

/* Sum of the log-probabilities of units [n] with these log-odds, over the units in the set `in`
 * (NULL: over all). */
static double log_units(int64_t n, const bool *in, const real *log_odds, const int32_t *units)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        if (in && !in[k]) {
            continue;
        }
        double odds = units[k] ? -(double)log_odds[k] : (double)log_odds[k];
        sum -= fmax(odds, 0) + log1p(exp(-fabs(odds)));
    }
    return sum;
}

/* Log-probability of drawing the set A of chain c and the visible units `to`; -inf if units outside
 * of A differ. */
static double log_visible(const workspace *w, const sali_piece *at, int64_t c, const int32_t *to)
{
    const int64_t V = w->visible;
    const real *odds = w->v + c * V;
    const bool *in = w->in ? w->in + c * V : NULL;
    if (!has_rest(w)) { /* all units are drawn, whatever A is */
        return log_units(V, NULL, odds, to + c * V) + (w->formula ? log_set(V, in) : 0);
    }
    for (int64_t i = 0; i < V; i++) {
        if (!in[i] && to[c * V + i] != at->codes[c * V + i]) {
            return -INFINITY;
        }
    }
    return log_set(V, in) + log_units(V, in, odds, to + c * V);
}

/* Log-probabilities of drawing `hidden`, the same for all chains, and then `to` [n x visible]. */
static void log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                  double *log_q)
{
    workspace *w = ws;
    drive_hidden(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        log_q[c] = log_units(w->hidden, NULL, w->h + c * w->hidden, hidden);
        for (int64_t k = 0; k < w->hidden; k++) {
            w->h[c * w->hidden + k] = (real)hidden[k];
        }
        for (int64_t i = 0; w->formula && i < w->visible; i++) {
            w->in[c * w->visible + i] = hidden[w->hidden + i];
        }
    }
    drive_visible(w, at);
    drive_rest(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        log_q[c] += log_visible(w, at, c, to);
    }
}

/* beta (b + d)'v + sum softplus(beta g (Wv + c)), with the slope d of the last draw. */
static void log_density(void *ws, const sali_piece *at, double *log_density)
{
    workspace *w = ws;
    drive_hidden(w, at);
    RN(sali_vsoftplus)(at->n * w->hidden, w->h, w->h);
    for (int64_t c = 0; c < at->n; c++) {
        double sum = 0;
        for (int64_t k = 0; k < w->visible; k++) {
            const double slope = has_rest(w) ? (double)w->slope[c * w->visible + k] : 0;
            sum += ((double)w->p.b[k] + slope) * (double)w->v[c * w->visible + k];
        }
        sum *= at->beta[c];
        for (int64_t k = 0; k < w->hidden; k++) {
            sum += (double)w->h[c * w->hidden + k];
        }
        log_density[c] = sum;
    }
}

#define LAYERS                                                                               \
    .pieces = one_piece, .hidden = count_hidden, .open = open_layers, .close = close_layers, \
    .draw = draw, .log_q = log_q, .log_density = log_density, .destroy = sali_free

const sali_structure RN(sali_rbm_layers) = { LAYERS };
const sali_structure RN(sali_weighed_layers) = { LAYERS, .weighed_at_one = true,
                                                 .unweighed = unweighed };
