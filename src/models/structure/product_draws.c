/* SPDX-License-Identifier: MIT */
/* A component is drawn by its share of Z, then each variable by that component.
 *
 * At an inverse temperature beta the components are tempered instead of f. Their mixture is not
 * exp(beta f), and a Metropolis-Hastings step makes up for the difference. */
#include "models/structure/product_draws.h"

#include <math.h>
#include <string.h>

#include "core/choose.h"
#include "core/error.h"
#include "core/memory.h"
#include "models/log_sum.h"

typedef struct workspace {
    sali_memory memory; /* of the arrays */
    const sal_model *model;
    uint64_t version; /* of the parameters that log_weight and log_table were read from */
    int64_t V, K, R;
    double *log_weight, *log_table; /* [K], [K x R] */
    double beta;                    /* of log_z, w and q */
    double log_z;
    double *w;        /* [K] probabilities of the components */
    double *q;        /* [K x R] probabilities of the states of each variable in each component */
    double *terms;    /* [K] */
    double *uniforms; /* [V + 1] */
} workspace;

static void close_draws(void *ws)
{
    workspace *w = ws;
    if (w) {
        sali_memory_free(&w->memory);
        sali_free(w);
    }
}

static sal_status open_draws(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    int64_t V = model->space->n_variables, K = model->products->components(model);
    int64_t R = model->space->n_states;
    workspace *w = SALI_NEW(workspace);
    (void)chains; /* chains are drawn one by one */
    if (!w) {
        return sali_fail_memory(err);
    }
    *w = (workspace){
        .model = model, .version = sali_model_version(model) - 1, .V = V, .K = K, .R = R
    };
    w->log_weight = SALI_TAKE(&w->memory, double, K);
    w->log_table = SALI_TAKE(&w->memory, double, K *R);
    w->w = SALI_TAKE(&w->memory, double, K);
    w->q = SALI_TAKE(&w->memory, double, K *R);
    w->terms = SALI_TAKE(&w->memory, double, K);
    w->uniforms = SALI_TAKE(&w->memory, double, V + 1);
    if (w->memory.refused) {
        close_draws(w);
        return sali_fail_memory(err);
    }
    *ws = w;
    return SAL_OK;
}

/* ---- the numbers of one temperature */

/* Read log_weight and log_table from the present parameters. The rules of models that have this
 * structure allocate nothing, and so do not fail. */
static void read_parameters(workspace *w)
{
    memset(w->log_weight, 0, (size_t)w->K * sizeof *w->log_weight);
    memset(w->log_table, 0, (size_t)(w->K * w->R) * sizeof *w->log_table);
    (void)w->model->products->read(w->model, w->log_weight, w->log_table, NULL);
    w->version = sali_model_version(w->model);
    w->beta = NAN;
}

/* Set q [R] of component k at inverse temperature beta. Returns the logarithm of the part of Z that
 * the component has. */
static double temper_component(workspace *w, int64_t k, double beta)
{
    const double *table = w->log_table + k * w->R;
    const double log_weight = w->log_weight[k]; /* -inf stays so at beta = 0 */
    double *q = w->q + k * w->R, log_z = log_weight == -INFINITY ? log_weight : beta * log_weight;
    for (int64_t v = 0; v < w->V; v++) {
        int64_t states = w->model->space->variables[v].states;
        for (int64_t s = 0; s < states; s++) {
            q[s] = table[s] == -INFINITY ? -INFINITY : beta * table[s];
        }
        double total = sali_log_sum(states, q);
        for (int64_t s = 0; s < states; s++) {
            q[s] = exp(q[s] - total);
        }
        log_z += total;
        table += states;
        q += states;
    }
    return log_z;
}

/* Compute log_z, w and q for inverse temperature beta and the present parameters, unless they are
 * up to date. */
static void temper_product(workspace *w, double beta)
{
    if (w->version != sali_model_version(w->model)) {
        read_parameters(w);
    }
    if (w->beta == beta) {
        return;
    }
    for (int64_t k = 0; k < w->K; k++) {
        w->terms[k] = temper_component(w, k, beta);
    }
    w->log_z = sali_log_sum(w->K, w->terms);
    for (int64_t k = 0; k < w->K; k++) {
        w->w[k] = exp(w->terms[k] - w->log_z);
    }
    w->beta = beta;
}

/* ---- the structure */

static int64_t one_piece(const sal_model *model)
{
    (void)model;
    return 1;
}

/* Draw a component by its share of Z, then each variable from the component. */
static void draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to)
{
    workspace *w = ws;
    for (int64_t c = 0; c < at->n; c++, to += w->V) {
        temper_product(w, at->beta[c]);
        sali_rng_uniform_f64(&streams[c], w->V + 1, w->uniforms);
        const double *q = w->q + w->R * sali_choose(w->K, w->w, w->uniforms[w->V]);
        for (int64_t v = 0; v < w->V; v++) {
            int64_t states = w->model->space->variables[v].states;
            to[v] = (int32_t)sali_choose(states, q, w->uniforms[v]);
            q += states;
        }
    }
}

/* log sum_k exp(beta (log_weight_k + sum_i log_table_k(i, s_i))). */
static double log_sum_tempered(workspace *w, double beta, const int32_t *codes)
{
    for (int64_t k = 0; k < w->K; k++) {
        const double *table = w->log_table + k * w->R;
        double sum = w->log_weight[k];
        for (int64_t v = 0; v < w->V; v++) {
            sum += table[codes[v]];
            table += w->model->space->variables[v].states;
        }
        w->terms[k] = sum == -INFINITY ? -INFINITY : beta * sum;
    }
    return sali_log_sum(w->K, w->terms);
}

static void log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                  double *log_q)
{
    workspace *w = ws;
    (void)hidden;
    for (int64_t c = 0; c < at->n; c++) {
        temper_product(w, at->beta[c]);
        log_q[c] = log_sum_tempered(w, at->beta[c], to + c * w->V) - w->log_z;
    }
}

static void log_density(void *ws, const sali_piece *at, double *log_density)
{
    workspace *w = ws;
    for (int64_t c = 0; c < at->n; c++) {
        temper_product(w, at->beta[c]);
        log_density[c] = log_sum_tempered(w, at->beta[c], at->codes + c * w->V);
    }
}

const sali_structure sali_product_draws = {
    .pieces = one_piece,
    .open = open_draws,
    .close = close_draws,
    .draw = draw,
    .log_q = log_q,
    .log_density = log_density,
    .destroy = sali_free,
};
