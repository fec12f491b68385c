/* SPDX-License-Identifier: MIT */
/* Block Gibbs sampling of an RBM whose visible units have any number of states, or whose hidden
 * units are Gaussian or dReLU units. The model's f is the marginal over the hidden units,
 *
 *     bits:      f = b'x + g sum softplus(a),    a = W x + c,
 *     Gaussian:  f = b'x + g sum a^2,
 *     dReLU:     f = b'x + g sum log int exp(h a - U(h)) dh / sqrt(2 pi)    (core/vector/drelu.h),
 *
 * with x the reals of the visible units. Bridges also have a term of single visible units that is
 * not linear in x (rbm_layers.h), which counts with b'x below. At an inverse temperature beta the
 * draws are Gibbs steps of a joint density of layers of independent units,
 *
 *     bits:      p(x, h) proportional to exp(beta (b'x + g h'a)),                     h in {0, 1},
 *     Gaussian:  p(x, h) proportional to exp(beta b'x + sqrt(2 g beta) h'a - h'h / 2),
 *     dReLU:     p(x, h) proportional to exp(beta b'x + sqrt(g beta) h'a - sum U(h)),
 *
 * where U of the third has sqrt(g beta) Delta in place of Delta: the density with g beta (h'a -
 * sum U(h)), of h times sqrt(g beta). Given h, the states of a visible unit have the softmax of b +
 * W'h times their reals. The marginal of the second density is exp(beta f), for any beta and g.
 * Those of the first and the third are not, unless beta and g are 1, and a Metropolis-Hastings step
 * makes up for the difference (rbm_layers.c). That of the third is exp(beta f) also where eta and
 * Delta are 0.
 *
 * Source: Salakhutdinov, Mnih & Hinton 2007 (softmax units); Tubiana, Cocco & Monasson 2019
 * (letters, hidden units of other kinds). */
#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/real.h"
#include "core/vector/drelu.h"
#include "core/vector/vmath.h"
#include "models/structure/rbm_layers.h"

/* For tests, which sum over the hidden units, a Gaussian unit has the values (k - VALUES / 2)
 * SPACING, k = 0 .. VALUES - 1, with the probabilities density times SPACING: the trapezoidal rule,
 * whose error is below rounding errors where means and weights are small. A dReLU unit, whose
 * density has a kink at 0, has on each of its sides the values exp(t - exp(-t)) at NODES values of
 * t from FIRST on, STEP apart: the trapezoidal rule in t, which is as good on half a line. */
enum { VALUES = 141, NODES = VALUES / 2 };
#define SPACING 0.2
#define FIRST (-3.5)
#define STEP 0.0925

typedef struct workspace {
    sali_memory memory; /* of the arrays */
    layer_numbers p;
    bool normal, drelu; /* the kind of the hidden units; neither: bits */
    int64_t visible, reals, states, hidden;
    real *x, *h;     /* [chains x reals], [chains x hidden]: units, or what drives them */
    real *weights;   /* [states] of all visible units of one chain */
    real *uniforms;  /* [hidden + visible] */
    double *normals; /* [hidden]; of dReLU units: [2 x hidden] uniforms */
    /* [hidden] of the dReLU units of one chain: a and Delta, both times `coupling`; h, or log of
     * the integral over h; its mean. NULL: units of another kind. */
    double *a, *delta, *value, *mean;
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

/* The share of the kinks of a bridge's base in f. */
static double base_share(const layer_numbers *p)
{
    return p->form->kinks ? 1 - p->g / p->form->end : 0;
}

static void close_layers(void *ws)
{
    workspace *w = ws;
    if (w) {
        layer_numbers_close(&w->p);
        sali_memory_free(&w->memory);
        sali_free(w);
    }
}

/* Allocate the arrays beside the numbers; the caller frees them after SAL_ERR_MEMORY. */
static sal_status allocate_arrays(workspace *w, int64_t chains)
{
    w->x = SALI_TAKE(&w->memory, real, chains * w->reals);
    w->h = SALI_TAKE(&w->memory, real, chains * w->hidden);
    w->weights = SALI_TAKE(&w->memory, real, w->states);
    w->uniforms = SALI_TAKE(&w->memory, real, w->hidden + w->visible);
    w->normals = SALI_TAKE(&w->memory, double, (w->drelu ? 2 : 1) * w->hidden);
    if (w->drelu) {
        w->a = SALI_TAKE(&w->memory, double, w->hidden);
        w->delta = SALI_TAKE(&w->memory, double, w->hidden);
        w->value = SALI_TAKE(&w->memory, double, w->hidden);
        w->mean = SALI_TAKE(&w->memory, double, w->hidden);
    }
    return sali_memory_status(&w->memory, NULL);
}

static sal_status open_layers(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    const sali_rbm_form *form = model->structure_data;
    const sali_tape_model *tape = sali_model_tape(model);
    workspace *w = SALI_NEW(workspace);
    if (!w) {
        return sali_fail_memory(err);
    }
    const sali_hidden kind = tape->program->steps[form->sum.core].op->hidden;
    w->normal = kind == SALI_HIDES_NORMAL;
    w->drelu = kind == SALI_HIDES_DRELU;
    w->visible = model->space->n_variables;
    w->reals = model->space->width;
    w->states = model->space->n_states;
    w->hidden = form->units.size;
    sal_status status = layer_numbers_open(model, chains, &w->memory, &w->p);
    status = status ? status : allocate_arrays(w, chains);
    if (status != SAL_OK) {
        close_layers(w);
        return sali_fail_memory(err);
    }
    *ws = w;
    return SAL_OK;
}

/* ---- what drives the units */

/* The factor of h'a in the joint density. */
static double coupling(const workspace *w, double beta)
{
    const double g = w->p.g;
    return w->normal ? sqrt(2 * g * beta) : w->drelu ? sqrt(g * beta) : g * beta;
}

/* Set w->x to the reals of at->codes, and w->h to `coupling` times a: the log-odds of bits, the
 * means of Gaussian units, the a of dReLU units. */
static void drive_hidden(workspace *w, const sali_piece *at)
{
    real *h = w->h;
    layer_numbers_follow(&w->p);
    RN(sali_embed)(w->p.model->space, at->n, at->codes, w->x);
    layer_numbers_inputs(&w->p, at->n, w->x, h);
    for (int64_t c = 0; c < at->n; c++, h += w->hidden) {
        const real times = (real)coupling(w, at->beta[c]);
        for (int64_t k = 0; k < w->hidden; k++) {
            h[k] *= times;
        }
    }
}

/* Set w->x to what multiplies the reals of the visible units, given the hidden units in w->h. */
static void drive_visible(workspace *w, const sali_piece *at)
{
    real *x = w->x;
    layer_numbers_turned(&w->p, at->n, w->h, x);
    for (int64_t c = 0; c < at->n; c++, x += w->reals) {
        const real beta = (real)at->beta[c];
        const real times = (real)coupling(w, at->beta[c]) * (real)w->p.form->units.factor;
        for (int64_t i = 0; i < w->reals; i++) {
            x[i] = beta * w->p.b[i] + times * x[i];
        }
    }
}

/* Set w->a and w->delta to those of the dReLU units of chain c, which w->h drives. Returns all that
 * the units have. */
static sali_drelu take_units(workspace *w, const sali_piece *at, int64_t c)
{
    const double times = coupling(w, at->beta[c]);
    for (int64_t k = 0; k < w->hidden; k++) {
        w->a[k] = (double)w->h[c * w->hidden + k];
        w->delta[k] = times * w->p.delta[k];
    }
    return (sali_drelu){ w->delta, w->p.plus, w->p.minus };
}

/* Set w->weights [states] to the log-weights of the states of all visible units of chain c, those
 * of a unit relative to the largest one. */
static void weigh_states(workspace *w, const sali_piece *at, int64_t c)
{
    const double base = at->beta[c] * base_share(&w->p), *kinks = w->p.form->kinks;
    const real *drive = w->x + c * w->reals;
    real *p = w->weights;
    for (int64_t v = 0; v < w->visible; v++) {
        const sali_variable *variable = &w->p.model->space->variables[v];
        const bool one_hot = variable->kind == SAL_CATEGORICAL;
        real most = (real)-INFINITY;
        for (int32_t s = 0; s < variable->states; s++) {
            p[s] = one_hot ? drive[s] : drive[0] * (real)sali_level(variable, s);
            p[s] += kinks ? (real)(base * *kinks++) : 0;
            most = p[s] > most ? p[s] : most;
        }
        for (int32_t s = 0; s < variable->states; s++) {
            p[s] -= most;
        }
        drive += variable->width;
        p += variable->states;
    }
}

/* ---- draws */

/* Draw the dReLU units of chain c, which w->h drives, into w->h. */
static void draw_drelu(workspace *w, const sali_piece *at, const sali_stream *stream, int64_t c)
{
    const sali_drelu units = take_units(w, at, c);
    sali_rng_uniform_f64(stream, 2 * w->hidden, w->normals);
    sali_drelu_draw(w->hidden, &units, w->a, w->normals, w->value);
    for (int64_t k = 0; k < w->hidden; k++) {
        w->h[c * w->hidden + k] = (real)w->value[k];
    }
}

/* Draw the hidden units of chain c, which w->h drives, into w->h. */
static void draw_hidden(workspace *w, const sali_piece *at, const sali_stream *stream, int64_t c)
{
    real *h = w->h + c * w->hidden;
    sali_stream other = *stream;
    other.purpose = SALI_RNG_AUXILIARY;
    if (w->drelu) {
        draw_drelu(w, at, &other, c);
        return;
    }
    if (w->normal) {
        sali_rng_normal(&other, w->hidden, w->normals);
        for (int64_t k = 0; k < w->hidden; k++) {
            h[k] += (real)w->normals[k];
        }
        return;
    }
    RN(sali_vsigmoid)(w->hidden, h, h);
    RN(sali_rng_uniform)(stream, w->hidden, w->uniforms);
    for (int64_t k = 0; k < w->hidden; k++) {
        h[k] = w->uniforms[k] < h[k];
    }
}

/* A state of weights p [n] by a uniform number; never one of weight 0. */
static int32_t choose_state(int32_t n, const real *p, real uniform)
{
    real sum = 0, below = 0;
    int32_t chosen = 0;
    for (int32_t s = 0; s < n; s++) {
        sum += p[s];
    }
    for (int32_t s = 0; s < n && below <= uniform * sum; s++) {
        chosen = p[s] > 0 ? s : chosen;
        below += p[s];
    }
    return chosen;
}

/* Draw the visible units of chain c, which w->x drives, into `to`; of the stream's uniforms, the
 * hidden units have the first ones. */
static void draw_visible(workspace *w, const sali_piece *at, const sali_stream *stream, int64_t c,
                         int32_t *to)
{
    const real *p = w->weights;
    weigh_states(w, at, c);
    RN(sali_vexp)(w->states, w->weights, w->weights);
    RN(sali_rng_uniform)(stream, w->hidden + w->visible, w->uniforms);
    for (int64_t v = 0; v < w->visible; v++) {
        const int32_t states = w->p.model->space->variables[v].states;
        to[v] = choose_state(states, p, w->uniforms[w->hidden + v]);
        p += states;
    }
}

static void draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to)
{
    workspace *w = ws;
    drive_hidden(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        draw_hidden(w, at, &streams[c], c);
    }
    drive_visible(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        draw_visible(w, at, &streams[c], c, to + c * w->visible);
    }
}

/* ---- probabilities */

/* take_hidden for dReLU units. The value after the NODES of both sides has the probability 0. */
static double take_drelu(workspace *w, const sali_piece *at, int64_t c, const int32_t *hidden)
{
    const sali_drelu units = take_units(w, at, c);
    double sum = 0;
    sali_drelu_values(w->hidden, &units, w->a, w->value, w->mean);
    for (int64_t k = 0; k < w->hidden; k++) {
        const bool plus = hidden[k] < NODES;
        const double s = plus ? units.plus[k] : units.minus[k];
        const double t = FIRST + STEP * (hidden[k] % NODES), size = exp(t - exp(-t));
        const double h = plus ? size : -size, U = size * size / (2 * s * s) + w->delta[k] * size;
        sum +=
            log(STEP * size * (1 + exp(-t)) / sqrt(2 * acos(-1))) + h * w->a[k] - U - w->value[k];
        sum = hidden[k] < 2 * NODES ? sum : -INFINITY;
        w->h[c * w->hidden + k] = (real)h;
    }
    return sum;
}

/* Set the hidden units of chain c, which w->h drives, to the values of number hidden[k]. Returns
 * the logarithm of their probability. */
static double take_hidden(workspace *w, const sali_piece *at, int64_t c, const int32_t *hidden)
{
    real *h = w->h + c * w->hidden;
    double sum = 0;
    if (w->drelu) {
        return take_drelu(w, at, c, hidden);
    }
    for (int64_t k = 0; k < w->hidden; k++) {
        if (w->normal) {
            const double value = SPACING * (hidden[k] - VALUES / 2), z = value - (double)h[k];
            sum += log(SPACING / sqrt(2 * acos(-1))) - z * z / 2;
            h[k] = (real)value;
        } else {
            const double odds = hidden[k] ? -(double)h[k] : (double)h[k];
            sum -= fmax(odds, 0) + log1p(exp(-fabs(odds)));
            h[k] = (real)hidden[k];
        }
    }
    return sum;
}

/* Log-probability of the visible units `to` of chain c, which w->x drives. */
static double log_visible(workspace *w, const sali_piece *at, int64_t c, const int32_t *to)
{
    const real *p = w->weights;
    double sum = 0;
    weigh_states(w, at, c);
    for (int64_t v = 0; v < w->visible; v++) {
        const int32_t states = w->p.model->space->variables[v].states;
        double total = 0;
        for (int32_t s = 0; s < states; s++) {
            total += exp((double)p[s]);
        }
        sum += (double)p[to[v]] - log(total);
        p += states;
    }
    return sum;
}

/* Log-probabilities of drawing `hidden`, the same for all chains, and then `to` [n x visible]. */
static void log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                  double *log_q)
{
    workspace *w = ws;
    drive_hidden(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        log_q[c] = take_hidden(w, at, c, hidden);
    }
    drive_visible(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        log_q[c] += log_visible(w, at, c, to + c * w->visible);
    }
}

/* The kinks of the states `codes` [visible] of a bridge's base; 0: there are none. */
static double sum_kinks(const workspace *w, const int32_t *codes)
{
    const double *kinks = w->p.form->kinks;
    double sum = 0;
    for (int64_t v = 0; kinks && v < w->visible; v++) {
        sum += kinks[codes[v]];
        kinks += w->p.model->space->variables[v].states;
    }
    return sum;
}

/* Replace what drives the hidden units of all chains, in w->h, by log of the sum over a bit, or of
 * the integral over a dReLU unit. */
static void sum_hidden(workspace *w, const sali_piece *at)
{
    if (!w->drelu) {
        RN(sali_vsoftplus)(at->n * w->hidden, w->h, w->h);
        return;
    }
    for (int64_t c = 0; c < at->n; c++) {
        const sali_drelu units = take_units(w, at, c);
        sali_drelu_values(w->hidden, &units, w->a, w->value, w->mean);
        for (int64_t k = 0; k < w->hidden; k++) {
            w->h[c * w->hidden + k] = (real)w->value[k];
        }
    }
}

/* beta (b'x + kinks) plus, for bits, sum softplus(beta g a), and for dReLU units the integrals of
 * the joint density. */
static void log_density(void *ws, const sali_piece *at, double *log_density)
{
    workspace *w = ws;
    drive_hidden(w, at);
    sum_hidden(w, at);
    for (int64_t c = 0; c < at->n; c++) {
        double sum = base_share(&w->p) * sum_kinks(w, at->codes + c * w->visible);
        for (int64_t i = 0; i < w->reals; i++) {
            sum += (double)w->p.b[i] * (double)w->x[c * w->reals + i];
        }
        sum *= at->beta[c];
        for (int64_t k = 0; k < w->hidden; k++) {
            sum += (double)w->h[c * w->hidden + k];
        }
        log_density[c] = sum;
    }
}

static bool unweighed(void *ws)
{
    workspace *w = ws;
    layer_numbers_follow(&w->p);
    return w->p.g == 1;
}

#define LAYERS                                                                               \
    .pieces = one_piece, .hidden = count_hidden, .open = open_layers, .close = close_layers, \
    .draw = draw, .log_q = log_q, .destroy = sali_free
#define DRELU_LAYERS LAYERS, .hidden_values = VALUES, .log_density = log_density

const sali_structure RN(sali_softmax_layers) = { LAYERS, .log_density = log_density };
const sali_structure RN(sali_weighed_softmax_layers) = { LAYERS, .log_density = log_density,
                                                         .weighed_at_one = true,
                                                         .unweighed = unweighed };
const sali_structure RN(sali_drelu_layers) = { DRELU_LAYERS };
const sali_structure RN(sali_weighed_drelu_layers) = { DRELU_LAYERS, .weighed_at_one = true,
                                                       .unweighed = unweighed };
const sali_structure RN(sali_normal_layers) = { LAYERS, .hidden_values = VALUES };
