/* SPDX-License-Identifier: MIT */
/* The oracle of independent variables and of mixtures of them. With the sums over each variable's
 * states S_ki = sum_v exp log_table_k(i, v), Z = sum_k exp(log_weight_k) prod_i S_ki; marginals and
 * pairs are means over components, within which variables are independent. A clamped variable's sum
 * has one term. E f of several components has no closed form. */
#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/exact/ancestral.h"
#include "models/exact/exact.h"
#include "models/log_sum.h"
#include "models/structure/products.h"
#include "models/states.h"

typedef struct work {
    sali_memory memory;
    const sal_model *model; /* the model of the request, perhaps clamped */
    const sal_model *inner;
    int64_t components, R, R_inner;
    double *log_weight; /* [K] log-weights; then the log of each component's part of Z */
    double *log_table;  /* [K x R of inner] */
    double *p;          /* [K x R] probabilities of the free variables in a component */
    double f_mean;      /* mean of f in the last component */
    int64_t *original;  /* [V] inner index of each free variable */
    int32_t *full;      /* [V of inner] codes of the fixed variables */
} work;

/* Allocate *w and read the tables of all components of the inner model. *w is to be freed even on
 * failure. */
static sal_status work_create(work *w, const sal_model *model, sal_error *err)
{
    int32_t *zeros = SALI_TAKE(&w->memory, int32_t, model->space->n_variables);
    w->model = model;
    w->inner = sali_clamp_inner(model);
    w->components = w->inner->products->components(w->inner);
    w->R = model->space->n_states;
    w->R_inner = w->inner->space->n_states;
    w->log_weight = SALI_TAKE(&w->memory, double, w->components);
    w->log_table = SALI_TAKE(&w->memory, double, w->components * w->R_inner);
    w->p = SALI_TAKE(&w->memory, double, w->components * w->R);
    w->original = SALI_TAKE(&w->memory, int64_t, model->space->n_variables);
    w->full = SALI_TAKE(&w->memory, int32_t, w->inner->space->n_variables);
    if (w->memory.refused) {
        return sali_fail_memory(err);
    }
    sali_clamp_variables(model, w->original);
    sali_clamp_expand(model, 1, zeros, w->full);
    return w->inner->products->read(w->inner, w->log_weight, w->log_table, err);
}

/* Sum component k over the states of its variables: log_weight[k] becomes the log of its part of Z,
 * w->p its probabilities, and w->f_mean its mean of f. */
static void sum_component(work *w, int64_t k)
{
    const sal_space *space = w->inner->space;
    const double *table = w->log_table + k * w->R_inner;
    double *p = w->p + k * w->R;
    w->f_mean = w->log_weight[k];
    for (int64_t v = 0, next = 0; v < space->n_variables; table += space->variables[v++].states) {
        int64_t states = space->variables[v].states;
        if (next == w->model->space->n_variables || w->original[next] != v) { /* it is fixed */
            w->log_weight[k] += table[w->full[v]];
            w->f_mean += table[w->full[v]];
            continue;
        }
        double total = sali_log_sum(states, table);
        w->log_weight[k] += total;
        for (int64_t s = 0; s < states; s++) {
            p[s] = exp(table[s] - total);
            w->f_mean += p[s] > 0 ? p[s] * table[s] : 0;
        }
        p += states;
        next++;
    }
}

static void add_pairs(const work *w, double weight, const double *p, double *pairs)
{
    for (int64_t a = 0; a < w->R; a++) {
        for (int64_t b = a + 1; b < w->R; b++) { /* pairs within a variable are corrected later */
            pairs[a * w->R + b] += weight * p[a] * p[b];
        }
    }
}

/* Fill the outputs of the request as means over the components. Returns: SAL_ERR_MODEL if log Z is
 * not finite. */
static sal_status combine_components(work *w, sali_question *q, sal_error *err)
{
    q->log_z = sali_log_sum(w->components, w->log_weight);
    q->log_prob_mean = w->components == 1 ? w->f_mean : NAN;
    if (!isfinite(q->log_z)) {
        return sali_fail(err, SAL_ERR_MODEL,
                         "%s: log Z is %g: f is NaN or +inf at some state, or -inf at all of them",
                         w->model->name, q->log_z);
    }
    for (int64_t k = 0; k < w->components; k++) {
        double weight = exp(w->log_weight[k] - q->log_z);
        const double *p = w->p + k * w->R;
        for (int64_t a = 0; weight > 0 && a < w->R; a++) {
            q->marginals[a] += weight * p[a];
        }
        if (weight > 0 && q->pairs) {
            add_pairs(w, weight, p, q->pairs);
        }
    }
    return SAL_OK;
}

/* Sum all components and fill the outputs of the request; *w is to be freed even on failure. */
static sal_status sum_up(work *w, sali_question *q, sal_error *err)
{
    sal_status status = work_create(w, q->model, err);
    for (int64_t k = 0; status == SAL_OK && k < w->components; k++) {
        sum_component(w, k);
    }
    return status ? status : combine_components(w, q, err);
}

static sal_status answer(sali_question *q, const sali_offer *offer, sal_error *err)
{
    (void)offer;
    work w = { 0 };
    sal_status status = sum_up(&w, q, err);
    sali_memory_free(&w.memory);
    return status;
}

/* ---- draws */

/* Make the network of a hidden node, the component, on which all variables depend. */
static sal_status make_network(const work *w, double log_z, sali_ancestral *net, sal_error *err)
{
    const sal_space *space = w->model->space;
    const int64_t V = space->n_variables, K = w->components;
    const int32_t hidden = 0;
    sal_status status = sali_ancestral_create(V, V + 1, V, K - 1 + K * (w->R - V), net, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_ancestral_add(net, (int32_t)K, (int32_t)V, 0, NULL);
    for (int64_t k = 0; k < K; k++) {
        w->log_weight[k] = exp(w->log_weight[k] - log_z);
    }
    sali_ancestral_set(net, 0, 0, w->log_weight, 1);
    const double *p = w->p;
    for (int64_t v = 0; v < V; p += space->variables[v++].states) {
        sali_ancestral_add(net, space->variables[v].states, (int32_t)v, 1, &hidden);
        for (int64_t k = 0; k < K; k++) {
            sali_ancestral_set(net, v + 1, k, p + k * w->R, 1);
        }
    }
    return SAL_OK;
}

static sal_status draw(sali_question *q, const sali_offer *offer, sal_error *err)
{
    (void)offer;
    work w = { 0 };
    sali_ancestral net = { 0 };
    sal_status status = sum_up(&w, q, err);
    status = status ? status : make_network(&w, q->log_z, &net, err);
    status = status ? status
                    : sali_ancestral_draw(&net, q->draws->n, q->draws->seed, q->options.threads,
                                          q->draws->codes, err);
    sali_ancestral_free(&net);
    sali_memory_free(&w.memory);
    return status;
}

/* For small mixtures enumeration is preferred, as it also gives the mean of f: this oracle then
 * only serves if it was requested by name, or for draws. */
static sal_status offer(const sali_question *q, sali_offer *offer, sal_error *err)
{
    const sal_model *inner = sali_clamp_inner(q->model);
    (void)err;
    if (!inner->products) {
        snprintf(offer->why, sizeof offer->why,
                 "it is not known to be independent variables, nor a mixture of them");
        return SAL_OK;
    }
    int64_t components = inner->products->components(inner);
    double R = (double)q->model->space->n_states;
    snprintf(offer->why, sizeof offer->why, "enumeration of this mixture gives E f as well");
    offer->serves = q->options.oracle || components == 1 || q->draws ||
                    sali_states_count(q->model->space) > (double)q->options.limit;
    offer->cost = (double)components * R * (10 + (q->with_pairs ? R : 0)) + sali_draws_cost(q);
    return SAL_OK;
}

const sali_oracle sali_oracle_closed_form = { "closed form", false, offer, answer, NULL, draw };
