/* Exact draws of one factor's chain given the other factors: forward filtering, backward sampling
 * (Carter & Kohn 1994). All potentials are raised to beta, which keeps the chain a chain: so the
 * draws are exact at any temperature. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/fhmm.h"

typedef struct workspace {
    const sali_fhmm *model;
    double *log_odds; /* [length] of x_t = 1, given the data up to t */
    double *uniforms; /* [length] */
} workspace;

void sali_fhmm_close(void *ws)
{
    workspace *w = ws;
    if (w) {
        sali_free(w->log_odds);
        sali_free(w->uniforms);
        sali_free(w);
    }
}

sal_status sali_fhmm_open(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    workspace *w = SALI_NEW(workspace);
    (void)chains; /* one after the other */
    if (!w) {
        return sali_fail_memory(err);
    }
    w->model = model->structure_data;
    w->log_odds = SALI_NEW_ARRAY(double, w->model->length);
    w->uniforms = SALI_NEW_ARRAY(double, w->model->length);
    if (!w->log_odds || !w->uniforms) {
        sali_fhmm_close(w);
        return sali_fail_memory(err);
    }
    *ws = w;
    return SAL_OK;
}

static double log_add(double a, double b)
{
    double most = fmax(a, b);
    return most + log1p(exp(fmin(a, b) - most));
}

/* log p(y_t | x_tk = 1) - log p(y_t | x_tk = 0), given the other factors of slice t. */
static double evidence(const sali_fhmm *m, int64_t t, int64_t k, const int32_t *slice)
{
    double residual = m->y[t] - m->W_0;
    for (int64_t j = 0; j < m->factors; j++) {
        residual -= j != k && slice[j] ? m->W[j] : 0;
    }
    return m->W[k] * (residual - 0.5 * m->W[k]) / (m->sigma * m->sigma);
}

/* Forward filtering of factor k: w->log_odds. */
static void filter(workspace *w, int64_t k, double beta, const int32_t *codes)
{
    const sali_fhmm *m = w->model;
    double stay = beta * log(m->p), flip = beta * log1p(-m->p), odds = 0;
    for (int64_t t = 0; t < m->length; t++) {
        double before = t == 0 ? beta * (log(m->v) - log1p(-m->v))
                               : log_add(odds + stay, flip) - log_add(odds + flip, stay);
        w->log_odds[t] = odds = before + beta * evidence(m, t, k, codes + t * m->factors);
    }
}

/* Log-odds of x_t = 1 given the data up to t and x_(t+1); after the last step, given the data. */
static double smoothed(const workspace *w, int64_t t, double beta, int32_t next)
{
    const sali_fhmm *m = w->model;
    double pull = beta * (log(m->p) - log1p(-m->p));
    return t == m->length - 1 ? w->log_odds[t] : w->log_odds[t] + (next ? pull : -pull);
}

void sali_fhmm_draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to)
{
    workspace *w = ws;
    int64_t K = w->model->factors, L = w->model->length;
    memcpy(to, at->codes, (size_t)(at->n * L * K) * sizeof *to);
    for (int64_t c = 0; c < at->n; c++, to += L * K) {
        int64_t k = at->piece[c];
        filter(w, k, at->beta[c], to);
        sali_rng_uniform_f64(&streams[c], L, w->uniforms);
        for (int64_t t = L - 1, next = 0; t >= 0; t--) {
            double odds = smoothed(w, t, at->beta[c], (int32_t)next);
            next = w->uniforms[t] < 1 / (1 + exp(-odds));
            to[t * K + k] = (int32_t)next;
        }
    }
}

void sali_fhmm_log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                     double *log_q)
{
    workspace *w = ws;
    int64_t K = w->model->factors, L = w->model->length;
    (void)hidden;
    for (int64_t c = 0; c < at->n; c++, to += L * K) {
        const int32_t *from = at->codes + c * L * K;
        int64_t k = at->piece[c];
        filter(w, k, at->beta[c], from);
        log_q[c] = 0;
        for (int64_t i = 0; i < L * K; i++) {
            log_q[c] = i % K != k && from[i] != to[i] ? -INFINITY : log_q[c];
        }
        for (int64_t t = L - 1; t >= 0; t--) {
            double odds = smoothed(w, t, at->beta[c], t < L - 1 ? to[(t + 1) * K + k] : 0);
            log_q[c] -= log_add(0, to[t * K + k] ? -odds : odds);
        }
    }
}
