/* Block Gibbs sampling of an RBM: the hidden units given the visible ones, then the visible ones
 * given the hidden (Hinton 2002). The model's f is the marginal over the hidden units.
 *
 * At an inverse temperature beta the joint energy is tempered, p(v, h) proportional to
 * exp(beta (h'Wv + b'v + c'h)), whose layers are again independent units. Its marginal is not
 * exp(beta f) but exp(beta b'v + sum softplus(beta (Wv + c))), and a Metropolis-Hastings step makes
 * up for the difference. */
#include <math.h>

#include "ad/ops/matrix.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/vmath.h"
#include "models/structure.h"
#include "models/tape_model.h"

typedef struct workspace {
    const sal_model *model;
    int64_t visible, hidden;
    real *v, *h; /* [chains x visible], [chains x hidden]: units, or what drives them */
    real *uniforms;
} workspace;

static const real *parameter(const sal_model *model, const char *name)
{
    const sali_tape_model *tape = sali_model_tape(model);
    int32_t p = sali_program_find(tape->program, name);
    return tape->params->value[tape->program->parameters[p].node];
}

static int64_t one_piece(const sal_model *model)
{
    (void)model;
    return 1;
}

static int64_t count_hidden(const sal_model *model)
{
    const sali_program *program = sali_model_tape(model)->program;
    return program->parameters[sali_program_find(program, "c")].size;
}

static void close_layers(void *ws)
{
    workspace *w = ws;
    if (w) {
        sali_free(w->v);
        sali_free(w->h);
        sali_free(w->uniforms);
        sali_free(w);
    }
}

static sal_status open_layers(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    workspace *w = SALI_NEW(workspace);
    if (!w) {
        return sali_fail_memory(err);
    }
    w->model = model;
    w->visible = model->space->n_variables;
    w->hidden = count_hidden(model);
    w->v = SALI_NEW_ARRAY(real, chains * w->visible);
    w->h = SALI_NEW_ARRAY(real, chains * w->hidden);
    w->uniforms = SALI_NEW_ARRAY(real, w->visible + w->hidden);
    if (!w->v || !w->h || !w->uniforms) {
        close_layers(w);
        return sali_fail_memory(err);
    }
    *ws = w;
    return SAL_OK;
}

/* x[c] <- beta[c] (x[c] + bias), rows of `size`. */
static void temper(int64_t n, int64_t size, const real *bias, const double *beta, real *x)
{
    for (int64_t c = 0; c < n; c++, x += size) {
        real factor = (real)beta[c];
        for (int64_t k = 0; k < size; k++) {
            x[k] = factor * (x[k] + bias[k]);
        }
    }
}

/* w->h: the log-odds of the hidden units given visible ones; w->v: these as reals. */
static void drive_hidden(workspace *w, const sali_piece *at)
{
    for (int64_t k = 0; k < at->n * w->visible; k++) {
        w->v[k] = (real)at->codes[k];
    }
    gemm(PLAIN, TURNED, at->n, w->hidden, w->visible, w->v, parameter(w->model, "W"), 0, w->h);
    temper(at->n, w->hidden, parameter(w->model, "c"), at->beta, w->h);
}

/* w->v: the log-odds of the visible units given the hidden ones in w->h. */
static void drive_visible(workspace *w, const sali_piece *at)
{
    gemm(PLAIN, PLAIN, at->n, w->visible, w->hidden, w->h, parameter(w->model, "W"), 0, w->v);
    temper(at->n, w->visible, parameter(w->model, "b"), at->beta, w->v);
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

/* beta b'v + sum softplus(beta (Wv + c)). */
static void log_density(void *ws, const sali_piece *at, double *log_density)
{
    workspace *w = ws;
    const real *b = parameter(w->model, "b");
    drive_hidden(w, at);
    RN(sali_vsoftplus)(at->n * w->hidden, w->h, w->h);
    for (int64_t c = 0; c < at->n; c++) {
        double sum = 0;
        for (int64_t k = 0; k < w->visible; k++) {
            sum += (double)b[k] * (double)w->v[c * w->visible + k];
        }
        sum *= at->beta[c];
        for (int64_t k = 0; k < w->hidden; k++) {
            sum += (double)w->h[c * w->hidden + k];
        }
        log_density[c] = sum;
    }
}

const sali_structure RN(sali_rbm_layers) = {
    .pieces = one_piece,
    .hidden = count_hidden,
    .open = open_layers,
    .close = close_layers,
    .draw = draw,
    .log_q = log_q,
    .log_density = log_density,
};
