/* SPDX-License-Identifier: MIT */
/* Exact draws of one of several binary chains given the others: forward filtering, backward
 * sampling (Carter & Kohn 1994). All potentials are raised to beta, which keeps the chain a chain:
 * so the draws are exact at any temperature. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "models/structure/binary_chains.h"

typedef struct workspace {
    sali_memory memory; /* of the arrays */
    const sal_model *model;
    const sali_binary_chains *form;
    sali_sum_reader sum;
    uint64_t version; /* of the parameters that h, G and J were read from */
    double *h;        /* [T x K] */
    double *G;        /* [T x K x K] symmetric, its diagonals 0 */
    double J;
    double *log_odds; /* [T] of x_t = 1, given the emissions up to t */
    double *uniforms; /* [T] */
} workspace;

void sali_binary_chains_close(void *ws)
{
    workspace *w = ws;
    if (w) {
        sali_sum_reader_close(&w->sum);
        sali_memory_free(&w->memory);
        sali_free(w);
    }
}

/* Copy h, G and J from w->sum. The weight on the diagonal of G is linear, as x x = x: it goes to
 * h. */
static void take_parameters(workspace *w)
{
    int64_t K = w->form->chains;
    for (int64_t i = 0; i < w->form->length * K; i++) {
        const int64_t *pair = w->form->pair + i * K;
        for (int64_t j = 0; j < K; j++) {
            w->G[i * K + j] = sali_sum_reader_edge(&w->sum, pair[j]);
        }
        w->h[i] = w->sum.linear[i] + w->G[i * K + i % K];
        w->G[i * K + i % K] = 0;
    }
    w->J = sali_sum_reader_edge(&w->sum, w->form->step);
    w->version = sali_model_version(w->model);
}

sal_status sali_binary_chains_open(const sal_model *model, int64_t chains, void **ws,
                                   sal_error *err)
{
    workspace *w = SALI_NEW(workspace);
    (void)chains; /* chains are drawn one by one */
    if (!w) {
        return sali_fail_memory(err);
    }
    w->model = model;
    w->form = model->structure_data;
    int64_t T = w->form->length, K = w->form->chains;
    w->h = SALI_TAKE(&w->memory, double, T *K);
    w->G = SALI_TAKE(&w->memory, double, T *K *K);
    w->log_odds = SALI_TAKE(&w->memory, double, T);
    w->uniforms = SALI_TAKE(&w->memory, double, T);
    if (w->memory.refused ||
        sali_sum_reader_open(sali_model_tape(model), &w->form->sum, &w->sum) != SAL_OK) {
        sali_binary_chains_close(w);
        return sali_fail_memory(err);
    }
    take_parameters(w);
    *ws = w;
    return SAL_OK;
}

/* log(exp(a) + exp(b)). */
static double log_add(double a, double b)
{
    double most = fmax(a, b);
    return most + log1p(exp(fmin(a, b) - most));
}

/* The emission of chain k at slice t, as f with x_tk = 1 minus f with x_tk = 0 without the
 * couplings in time. slice [K]: the codes of slice t. */
static double emission_field(const workspace *w, int64_t t, int64_t k, const int32_t *slice)
{
    int64_t K = w->form->chains;
    const double *G = w->G + (t * K + k) * K;
    double sum = w->h[t * K + k];
    for (int64_t j = 0; j < K; j++) {
        sum += slice[j] ? G[j] : 0;
    }
    return sum;
}

/* Set w->log_odds of chain k at inverse temperature beta by forward filtering, given the other
 * chains in codes [T x K]. Reads parameters that have changed. */
static void filter_chain(workspace *w, int64_t k, double beta, const int32_t *codes)
{
    double J = beta * w->J, odds = 0;
    if (w->version != sali_model_version(w->model)) {
        sali_sum_reader_update(&w->sum);
        take_parameters(w);
    }
    for (int64_t t = 0; t < w->form->length; t++) {
        double before = t == 0 ? 0 : log_add(odds + J, 0) - log_add(odds, 0);
        w->log_odds[t] = odds =
            before + beta * emission_field(w, t, k, codes + t * w->form->chains);
    }
}

/* Log-odds of x_t = 1 given the emissions up to t and x_(t+1) = next, which is ignored at the last
 * t. */
static double smoothed_log_odds(const workspace *w, int64_t t, double beta, int32_t next)
{
    return t + 1 < w->form->length && next ? w->log_odds[t] + beta * w->J : w->log_odds[t];
}

void sali_binary_chains_draw(void *ws, const sali_piece *at, const sali_stream *streams,
                             int32_t *to)
{
    workspace *w = ws;
    int64_t K = w->form->chains, T = w->form->length;
    memcpy(to, at->codes, (size_t)(at->n * T * K) * sizeof *to);
    for (int64_t c = 0; c < at->n; c++, to += T * K) {
        int64_t k = at->piece[c];
        filter_chain(w, k, at->beta[c], to);
        sali_rng_uniform_f64(&streams[c], T, w->uniforms);
        for (int64_t t = T - 1, next = 0; t >= 0; t--) {
            double odds = smoothed_log_odds(w, t, at->beta[c], (int32_t)next);
            next = w->uniforms[t] < 1 / (1 + exp(-odds));
            to[t * K + k] = (int32_t)next;
        }
    }
}

void sali_binary_chains_log_q(void *ws, const sali_piece *at, const int32_t *to,
                              const int32_t *hidden, double *log_q)
{
    workspace *w = ws;
    int64_t K = w->form->chains, T = w->form->length;
    (void)hidden;
    for (int64_t c = 0; c < at->n; c++, to += T * K) {
        const int32_t *from = at->codes + c * T * K;
        int64_t k = at->piece[c];
        filter_chain(w, k, at->beta[c], from);
        log_q[c] = 0;
        for (int64_t i = 0; i < T * K; i++) {
            log_q[c] = i % K != k && from[i] != to[i] ? -INFINITY : log_q[c];
        }
        for (int64_t t = T - 1; t >= 0; t--) {
            double odds = smoothed_log_odds(w, t, at->beta[c], t < T - 1 ? to[(t + 1) * K + k] : 0);
            log_q[c] -= log_add(0, to[t * K + k] ? -odds : odds);
        }
    }
}
