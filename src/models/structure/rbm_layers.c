/* SPDX-License-Identifier: MIT */
/* Block Gibbs sampling of an RBM: the hidden units given the visible ones, then the visible ones
 * given the hidden (Hinton 2002). The model's f is the marginal over the hidden units,
 *
 *     f = b'v + g sum softplus(W v + c),    g = 1, but for bridges.
 *
 * At an inverse temperature beta the draws are those of the joint density of layers of independent
 * units, p(v, h) proportional to exp(beta (b'v + g h'(W v + c))). Its marginal is not exp(beta f)
 * but exp(beta b'v + sum softplus(beta g (W v + c))), unless beta and g are 1, and a
 * Metropolis-Hastings step makes up for the difference. */
#include "models/structure/rbm_layers.h"

#include <math.h>

#include "core/real.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/vector/vmath.h"

typedef struct workspace {
    const sal_model *model;
    const sali_rbm_form *form;
    sali_sum_reader sum;
    uint64_t version; /* of the parameters that were read */
    int64_t visible, hidden;
    double g;
    double *numbers; /* [hidden] */
    real *b, *c;
    real *level, *rise; /* [visible] of code 0, and from there to code 1 */
    real *v, *h;        /* [chains x visible], [chains x hidden]: units, or what drives them */
    real *uniforms;
    real *scratch; /* of products with W */
} workspace;

static int64_t one_piece(const sal_model *model)
{
    (void)model;
    return 1;
}

static int64_t count_hidden(const sal_model *model)
{
    return ((const sali_rbm_form *)model->structure_data)->units.size;
}

/* Parameters as they are now. */
static void take_parameters(workspace *w)
{
    const sali_affine_form *units = &w->form->units;
    w->g = w->sum.weight[0];
    for (int64_t i = 0; i < w->visible; i++) {
        w->b[i] = (real)w->sum.linear[i];
    }
    sali_affine_form_bias(units, w->sum.tape->params, w->numbers);
    for (int64_t k = 0; k < w->hidden; k++) {
        w->c[k] = (real)w->numbers[k];
    }
    w->version = sali_model_version(w->model);
}

static void follow_parameters(workspace *w)
{
    if (w->version != sali_model_version(w->model)) {
        sali_sum_reader_update(&w->sum);
        take_parameters(w);
    }
}

static void close_layers(void *ws)
{
    workspace *w = ws;
    if (w) {
        sali_sum_reader_close(&w->sum);
        sali_free(w->numbers);
        sali_free(w->b);
        sali_free(w->c);
        sali_free(w->level);
        sali_free(w->rise);
        sali_free(w->v);
        sali_free(w->h);
        sali_free(w->uniforms);
        sali_free(w->scratch);
        sali_free(w);
    }
}

static sal_status allocate(workspace *w, int64_t chains)
{
    w->numbers = SALI_NEW_ARRAY(double, w->hidden);
    w->b = SALI_NEW_ARRAY(real, w->visible);
    w->c = SALI_NEW_ARRAY(real, w->hidden);
    w->level = SALI_NEW_ARRAY(real, w->visible);
    w->rise = SALI_NEW_ARRAY(real, w->visible);
    w->v = SALI_NEW_ARRAY(real, chains * w->visible);
    w->h = SALI_NEW_ARRAY(real, chains * w->hidden);
    w->uniforms = SALI_NEW_ARRAY(real, w->visible + w->hidden);
    w->scratch = SALI_NEW_ARRAY(
        real,
        1 + sali_affine_form_scratch(&w->form->units, sali_model_tape(w->model)->program, chains));
    return w->numbers && w->b && w->c && w->level && w->rise && w->v && w->h && w->uniforms &&
                   w->scratch
               ? SAL_OK
               : SAL_ERR_MEMORY;
}

static sal_status open_layers(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    workspace *w = SALI_NEW(workspace);
    if (!w) {
        return sali_fail_memory(err);
    }
    w->model = model;
    w->form = model->structure_data;
    w->visible = model->space->n_variables;
    w->hidden = count_hidden(model);
    sal_status status = allocate(w, chains);
    if (status == SAL_OK) {
        status = sali_sum_reader_open(sali_model_tape(model), &w->form->sum, &w->sum);
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
    take_parameters(w);
    *ws = w;
    return SAL_OK;
}

/* w->h: the log-odds of the hidden units given visible ones; w->v: these as reals. */
static void drive_hidden(workspace *w, const sali_piece *at)
{
    int64_t V = w->visible, H = w->hidden;
    real factor = (real)w->form->units.factor, *h = w->h;
    follow_parameters(w);
    for (int64_t c = 0; c < at->n; c++) {
        for (int64_t i = 0; i < V; i++) {
            w->v[c * V + i] = w->level[i] + w->rise[i] * (real)at->codes[c * V + i];
        }
    }
    sali_affine_form_multiply(&w->form->units, w->sum.tape->params, at->n, w->v, w->scratch, w->h);
    for (int64_t c = 0; c < at->n; c++, h += H) {
        real tempered = (real)(at->beta[c] * w->g);
        for (int64_t k = 0; k < H; k++) {
            h[k] = tempered * (factor * h[k] + w->c[k]);
        }
    }
}

/* w->v: the log-odds of the visible units given the hidden ones in w->h. */
static void drive_visible(workspace *w, const sali_piece *at)
{
    real factor = (real)(w->g * w->form->units.factor), *v = w->v;
    sali_affine_form_multiply_turned(&w->form->units, w->sum.tape->params, at->n, w->h, w->scratch,
                                     w->v);
    for (int64_t c = 0; c < at->n; c++, v += w->visible) {
        real beta = (real)at->beta[c];
        for (int64_t i = 0; i < w->visible; i++) {
            v[i] = beta * (w->rise[i] * (factor * v[i] + w->b[i]));
        }
    }
}

static void draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to)
{
    workspace *w = ws;
    int64_t H = w->hidden, V = w->visible;
    drive_hidden(w, at);
    RN(sali_vsigmoid)(at->n * H, w->h, w->h);
    for (int64_t c = 0; c < at->n; c++) {
        RN(sali_rng_uniform)(&streams[c], H, w->uniforms);
        for (int64_t k = 0; k < H; k++) {
            w->h[c * H + k] = w->uniforms[k] < w->h[c * H + k];
        }
    }
    drive_visible(w, at);
    RN(sali_vsigmoid)(at->n * V, w->v, w->v);
    for (int64_t c = 0; c < at->n;
         c++) { /* the same stream, past the numbers of the hidden units */
        RN(sali_rng_uniform)(&streams[c], H + V, w->uniforms);
        for (int64_t k = 0; k < V; k++) {
            to[c * V + k] = w->uniforms[H + k] < w->v[c * V + k];
        }
    }
}

/* Sum of the log-probabilities of units with these log-odds. */
static double log_units(int64_t n, const real *log_odds, const int32_t *units)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        double odds = units[k] ? -(double)log_odds[k] : (double)log_odds[k];
        sum -= fmax(odds, 0) + log1p(exp(-fabs(odds)));
    }
    return sum;
}

static void log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                  double *log_q)
{
    workspace *w = ws;
    drive_hidden(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        log_q[c] = log_units(w->hidden, w->h + c * w->hidden, hidden);
        for (int64_t k = 0; k < w->hidden; k++) {
            w->h[c * w->hidden + k] = (real)hidden[k];
        }
    }
    drive_visible(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        log_q[c] += log_units(w->visible, w->v + c * w->visible, to + c * w->visible);
    }
}

/* beta b'v + sum softplus(beta g (Wv + c)). */
static void log_density(void *ws, const sali_piece *at, double *log_density)
{
    workspace *w = ws;
    drive_hidden(w, at);
    RN(sali_vsoftplus)(at->n * w->hidden, w->h, w->h);
    for (int64_t c = 0; c < at->n; c++) {
        double sum = 0;
        for (int64_t k = 0; k < w->visible; k++) {
            sum += (double)w->b[k] * (double)w->v[c * w->visible + k];
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
const sali_structure RN(sali_bridge_layers) = { LAYERS, .weighed_at_one = true };
