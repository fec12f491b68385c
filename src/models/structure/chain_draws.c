/* SPDX-License-Identifier: MIT */
/* Exact draws of a whole chain: forward filtering, backward sampling (Carter & Kohn 1994). All
 * potentials are raised to beta, which keeps the chain a chain: so the draws are exact at any
 * temperature. The filter depends on beta and the parameters only: chains of equal beta share
 * it. */
#include <math.h>
#include <string.h>

#include "core/choose.h"
#include "core/error.h"
#include "core/memory.h"
#include "models/structure/chain.h"
#include "models/clamp.h"
#include "models/log_sum.h"
#include "models/structure/recognise.h"

typedef struct workspace {
    sali_memory memory; /* of the arrays */
    const sal_model *model;
    sali_chain chain;
    bool ready;       /* `filter` was computed for `version` and `beta` */
    uint64_t version; /* of the parameters that `chain` was read from */
    double beta;
    double *filter;   /* [T x S] log-weights of z_t, given the data up to t */
    double *scratch;  /* [2 codes] */
    double *weights;  /* [codes] */
    double *uniforms; /* [T] */
    int32_t *path;    /* [T] codes of all variables, clamped ones included */
} workspace;

int64_t sali_chain_pieces(const sal_model *model)
{
    (void)model;
    return 1;
}

void sali_chain_close(void *ws)
{
    workspace *w = ws;
    if (w) {
        sali_chain_free(&w->chain);
        sali_memory_free(&w->memory);
        sali_free(w);
    }
}

sal_status sali_chain_open(const sal_model *model, int64_t chains, void **ws, sal_error *err)
{
    workspace *w = SALI_NEW(workspace);
    (void)chains; /* chains are drawn one by one */
    if (!w) {
        return sali_fail_memory(err);
    }
    w->model = model;
    sal_status status = sali_chain_create(model, &w->chain, err);
    if (status == SAL_OK) {
        const sali_chain_shape *shape = &w->chain.shape;
        w->filter = SALI_TAKE(&w->memory, double, shape->length * shape->codes);
        w->scratch = SALI_TAKE(&w->memory, double, 2 * shape->codes);
        w->weights = SALI_TAKE(&w->memory, double, shape->codes);
        w->uniforms = SALI_TAKE(&w->memory, double, shape->length);
        w->path = SALI_TAKE(&w->memory, int32_t, shape->length);
        status = sali_memory_status(&w->memory, err);
    }
    if (status != SAL_OK) {
        sali_chain_close(w);
        return status;
    }
    *ws = w;
    return SAL_OK;
}

/* Compute w->filter for inverse temperature beta and the present parameters, unless it is up to
 * date. */
static void filter_chain(workspace *w, double beta)
{
    uint64_t version = sali_model_version(w->model);
    int64_t S = w->chain.states;
    if (w->ready && w->version == version && w->beta == beta) {
        return;
    }
    if (!w->ready || w->version != version) {
        sali_chain_read(w->model, &w->chain);
    }
    for (int64_t t = 0; t < w->chain.shape.length; t++) {
        double *a = w->filter + t * S;
        memset(a, 0, (size_t)S * sizeof *a);
        if (t > 0) {
            memcpy(a, a - S, (size_t)S * sizeof *a);
            sali_chain_pass(&w->chain, beta, false, a, NULL, w->scratch);
        }
        sali_chain_emit(&w->chain, t, beta, a, NULL);
    }
    w->ready = true;
    w->version = version;
    w->beta = beta;
}

/* Set w->weights [codes] to the log-probabilities of z_t given the data and z_(t+1) = next (which
 * is ignored at the last t). */
static void weigh_codes(workspace *w, int64_t t, int32_t next)
{
    const sali_chain *chain = &w->chain;
    int64_t n = chain->shape.codes;
    for (int64_t z = 0; z < n; z++) {
        double T = t + 1 < chain->shape.length ? chain->transition[z * n + next] : 0;
        w->weights[z] = w->filter[t * n + z] + w->beta * T;
    }
    double total = sali_log_sum(n, w->weights);
    for (int64_t z = 0; z < n; z++) {
        w->weights[z] -= total;
    }
}

void sali_chain_draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to)
{
    workspace *w = ws;
    int64_t T = w->chain.shape.length, V = w->model->space->n_variables;
    for (int64_t c = 0; c < at->n; c++) {
        int32_t next = 0;
        filter_chain(w, at->beta[c]);
        sali_rng_uniform_f64(&streams[c], T, w->uniforms);
        for (int64_t t = T - 1; t >= 0; t--) {
            weigh_codes(w, t, next);
            next = (int32_t)sali_choose_log(w->chain.shape.codes, w->weights, 0, w->uniforms[t]);
            w->path[t] = next;
        }
        sali_clamp_restrict(w->model, 1, w->path, to + c * V);
    }
}

void sali_chain_log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                      double *log_q)
{
    workspace *w = ws;
    int64_t T = w->chain.shape.length, V = w->model->space->n_variables;
    (void)hidden;
    for (int64_t c = 0; c < at->n; c++) {
        filter_chain(w, at->beta[c]);
        sali_clamp_expand(w->model, 1, to + c * V, w->path);
        log_q[c] = 0;
        for (int64_t t = T - 1; t >= 0; t--) {
            weigh_codes(w, t, t + 1 < T ? w->path[t + 1] : 0);
            log_q[c] += w->weights[w->path[t]];
        }
    }
}

static const sali_structure clamped_chain = {
    .pieces = sali_chain_pieces,
    .open = sali_chain_open,
    .close = sali_chain_close,
    .draw = sali_chain_draw,
    .log_q = sali_chain_log_q,
};

const sali_structure *sali_chain_clamped(const sal_model *inner)
{
    const struct sali_chain_rule *rule = sali_chain_rule_of(inner);
    return rule && rule->shape(inner).variables == 1 ? &clamped_chain : NULL;
}
