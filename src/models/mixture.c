/* What is known of a mixture of factorised distributions in closed form. With
 *
 *     Z_k = sum_u exp g_k(u),  w_k = Z_k^V / Z,  q_k(u) = exp g_k(u) / Z_k,
 *
 * Z = sum_k Z_k^V, and p(s) = sum_k w_k prod_i q_k(s_i): so a state is drawn by drawing a
 * component, then its variables. E f has no such form.
 *
 * At an inverse temperature beta the components are tempered, beta g_k instead of g_k. Their
 * mixture is not exp(beta f), and a Metropolis-Hastings step makes up for the difference. */
#include "models/mixture.h"

#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/exact.h"

typedef struct workspace {
    int64_t V, K, L;
    double *g;        /* [K x L] */
    double beta;      /* of what follows */
    double log_z;     /* log sum_k Z_k^V */
    double *w;        /* [K] */
    double *q;        /* [K x L] */
    double *terms;    /* [K] */
    double *uniforms; /* [V + 1] */
} workspace;

/* ---- the numbers of one temperature */

static double log_sum_exp(int64_t n, const double *x)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        largest = fmax(largest, x[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        sum += exp(x[i] - largest);
    }
    return largest + log(sum);
}

static void temper(workspace *w, double beta)
{
    if (w->beta == beta) {
        return;
    }
    for (int64_t k = 0; k < w->K; k++) {
        double *q = w->q + k * w->L;
        for (int64_t u = 0; u < w->L; u++) {
            q[u] = beta * w->g[k * w->L + u];
        }
        double log_z = log_sum_exp(w->L, q);
        for (int64_t u = 0; u < w->L; u++) {
            q[u] = exp(q[u] - log_z);
        }
        w->terms[k] = (double)w->V * log_z;
    }
    w->log_z = log_sum_exp(w->K, w->terms);
    for (int64_t k = 0; k < w->K; k++) {
        w->w[k] = exp(w->terms[k] - w->log_z);
    }
    w->beta = beta;
}

static void close_mixture(void *ws)
{
    workspace *w = ws;
    if (w) {
        sali_free(w->g);
        sali_free(w->w);
        sali_free(w->q);
        sali_free(w->terms);
        sali_free(w->uniforms);
        sali_free(w);
    }
}

static sal_status open_mixture(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    const sali_mixture *mixture = model->structure_data;
    const sali_variable *variable = &model->space->variables[0];
    int64_t V = model->space->n_variables, K = mixture->components, L = variable->states;
    workspace *w = SALI_NEW(workspace);
    (void)chains; /* one after the other */
    if (!w) {
        return sali_fail_memory(err);
    }
    *w = (workspace){ .V = V,
                      .K = K,
                      .L = L,
                      .beta = NAN,
                      .g = SALI_NEW_ARRAY(double, K *L),
                      .w = SALI_NEW_ARRAY(double, K),
                      .q = SALI_NEW_ARRAY(double, K *L),
                      .terms = SALI_NEW_ARRAY(double, K),
                      .uniforms = SALI_NEW_ARRAY(double, V + 1) };
    if (!w->g || !w->w || !w->q || !w->terms || !w->uniforms) {
        close_mixture(w);
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < K * L; i++) {
        w->g[i] = mixture->g(i / L + 1, sali_level(variable, (int32_t)(i % L)));
    }
    *ws = w;
    return SAL_OK;
}

/* ---- draws */

static int64_t one_piece(const sal_model *model)
{
    (void)model;
    return 1;
}

/* An index by its probability, n >= 1. */
static int64_t choose(int64_t n, const double *p, double uniform)
{
    int64_t at = 0;
    for (double sum = p[0]; at < n - 1 && sum <= uniform; sum += p[at]) {
        at++;
    }
    return at;
}

static void draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to)
{
    workspace *w = ws;
    for (int64_t c = 0; c < at->n; c++, to += w->V) {
        temper(w, at->beta[c]);
        sali_rng_uniform_f64(&streams[c], w->V + 1, w->uniforms);
        const double *q = w->q + w->L * choose(w->K, w->w, w->uniforms[w->V]);
        for (int64_t v = 0; v < w->V; v++) {
            to[v] = (int32_t)choose(w->L, q, w->uniforms[v]);
        }
    }
}

/* log sum_k exp(beta sum_i g_k(s_i)). */
static double log_weight(workspace *w, double beta, const int32_t *codes)
{
    for (int64_t k = 0; k < w->K; k++) {
        double sum = 0;
        for (int64_t v = 0; v < w->V; v++) {
            sum += w->g[k * w->L + codes[v]];
        }
        w->terms[k] = beta * sum;
    }
    return log_sum_exp(w->K, w->terms);
}

static void log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                  double *log_q)
{
    workspace *w = ws;
    (void)hidden;
    for (int64_t c = 0; c < at->n; c++) {
        temper(w, at->beta[c]);
        log_q[c] = log_weight(w, at->beta[c], to + c * w->V) - w->log_z;
    }
}

static void log_density(void *ws, const sali_piece *at, double *log_density)
{
    workspace *w = ws;
    for (int64_t c = 0; c < at->n; c++) {
        log_density[c] = log_weight(w, at->beta[c], at->codes + c * w->V);
    }
}

const sali_structure sali_mixture_structure = {
    .pieces = one_piece,
    .open = open_mixture,
    .close = close_mixture,
    .draw = draw,
    .log_q = log_q,
    .log_density = log_density,
    .destroy = sali_free,
};

/* ---- the oracle */

static bool serves(const sal_model *model, const sal_exact_options *options, char *why, size_t room)
{
    (void)options;
    snprintf(why, room, "it is not one");
    return model->structure == &sali_mixture_structure;
}

/* E q_k(u) q_k(v) over the components, u and v among the levels: [L x L]. */
static void multiply(const workspace *w, double *joint)
{
    for (int64_t k = 0; k < w->K; k++) {
        const double *q = w->q + k * w->L;
        for (int64_t u = 0; u < w->L; u++) {
            for (int64_t v = 0; v < w->L; v++) {
                joint[u * w->L + v] += w->w[k] * q[u] * q[v];
            }
        }
    }
}

static sal_status answer_pairs(const workspace *w, double *pairs, sal_error *err)
{
    int64_t L = w->L, R = w->V * L;
    double *joint = SALI_NEW_ARRAY(double, L *L);
    if (!joint) {
        return sali_fail_memory(err);
    }
    multiply(w, joint);
    for (int64_t a = 0; a < R; a++) {
        for (int64_t b = (a / L + 1) * L; b < R; b++) {
            pairs[a * R + b] = joint[a % L * L + b % L];
        }
    }
    sali_free(joint);
    return SAL_OK;
}

static sal_status answer(sali_question *q, sal_error *err)
{
    void *ws = NULL;
    sal_status status = open_mixture(q->model, 1, &ws, err);
    if (status != SAL_OK) {
        return status;
    }
    workspace *w = ws;
    temper(w, 1);
    q->log_z = w->log_z;
    q->log_prob_mean = NAN;
    for (int64_t i = 0; i < w->K * w->L; i++) {
        q->marginals[i % w->L] += w->w[i / w->L] * w->q[i];
    }
    for (int64_t a = w->L; a < w->V * w->L; a++) {
        q->marginals[a] = q->marginals[a - w->L];
    }
    status = q->pairs ? answer_pairs(w, q->pairs, err) : SAL_OK;
    close_mixture(w);
    return status;
}

const sali_oracle sali_oracle_mixture = { "mixture", serves, answer };
