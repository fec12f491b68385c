/* SPDX-License-Identifier: MIT */
/* The oracle of chains. Forward messages give log Z and E f; with backward messages they give
 * marginals; forward messages that start at one code of one variable give pairs. In a clamped
 * chain the other codes of fixed variables are forbidden.
 * Source: Rabiner 1989; Eisner 2002 (means carried along with messages). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/error.h"
#include "models/structure/chain.h"
#include "models/clamp.h"
#include "models/exact/exact.h"
#include "models/log_sum.h"

/* Most numbers T S in the messages, and most terms computed for pairs. */
#define MOST_MESSAGES (INT64_C(1) << 24)
#define MOST_PAIR_TERMS (INT64_C(1) << 30)

typedef struct work {
    sali_memory memory;
    sali_chain chain;
    int64_t *place;             /* [T K] index of each variable among the free variables, or -1 */
    double *forward;            /* [T x S] log-weights of z_t and all potentials up to slice t */
    double *backward;           /* [T x S] log-weights of all potentials after slice t */
    double *a, *mean, *weights; /* [S] */
    double *scratch;            /* [2 codes] */
    double log_z;
} work;

static void work_free(work *w)
{
    sali_chain_free(&w->chain);
    sali_memory_free(&w->memory);
}

/* Read the chain of `model` and allocate *w; on failure *w is still to be freed. */
static sal_status work_create(work *w, const sal_model *model, sal_error *err)
{
    sal_status status = sali_chain_create(model, &w->chain, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_chain_shape *shape = &w->chain.shape;
    int64_t S = w->chain.states;
    w->place = SALI_TAKE(&w->memory, int64_t, shape->length * shape->variables);
    w->forward = SALI_TAKE(&w->memory, double, shape->length *S);
    w->backward = SALI_TAKE(&w->memory, double, shape->length *S);
    w->a = SALI_TAKE(&w->memory, double, S);
    w->mean = SALI_TAKE(&w->memory, double, S);
    w->weights = SALI_TAKE(&w->memory, double, S);
    w->scratch = SALI_TAKE(&w->memory, double, 2 * shape->codes);
    if (w->memory.refused) {
        return sali_fail_memory(err);
    }
    sali_chain_read(model, &w->chain);
    for (int64_t v = 0, next = 0; v < shape->length * shape->variables; v++) {
        w->place[v] = w->chain.fixed[v] < 0 ? next++ : -1;
    }
    return SAL_OK;
}

/* ---- messages */

/* Compute all forward messages, w->log_z, and the mean of f. */
static void go_forward(work *w, double *log_prob_mean)
{
    int64_t S = w->chain.states;
    double *a = w->forward;
    for (int64_t t = 0; t < w->chain.shape.length; t++, a += S) {
        if (t > 0) {
            memcpy(a, a - S, (size_t)S * sizeof *a);
            sali_chain_pass(&w->chain, 1, false, a, w->mean, w->scratch);
        }
        sali_chain_emit(&w->chain, t, 1, a, w->mean);
    }
    a -= S;
    double total = sali_log_sum(S, a), mean = 0;
    for (int64_t z = 0; z < S; z++) {
        mean += a[z] > -INFINITY ? exp(a[z] - total) * w->mean[z] : 0;
    }
    w->log_z = w->chain.constant + total;
    *log_prob_mean = w->chain.constant + mean;
}

/* Compute all backward messages; the message of the last slice is 0. */
static void go_backward(work *w)
{
    int64_t S = w->chain.states;
    for (int64_t t = w->chain.shape.length - 2; t >= 0; t--) {
        double *b = w->backward + t * S;
        memcpy(b, b + S, (size_t)S * sizeof *b);
        sali_chain_emit(&w->chain, t + 1, 1, b, NULL);
        sali_chain_pass(&w->chain, 1, true, b, NULL, w->scratch);
    }
}

/* ---- marginals and pairs from the messages */

/* Divide `weight` among the states of slice t in proportion to exp(a + backward), and add the part
 * of each state to row [R] at the codes of its free variables, from variable `first` of the slice
 * on. */
static void add_slice(work *w, int64_t t, int64_t first, const double *a, double weight,
                      double *row)
{
    const sali_chain_shape *shape = &w->chain.shape;
    const double *b = w->backward + t * w->chain.states;
    const int64_t *place = w->place + t * shape->variables;
    double most = -INFINITY, sum = 0;
    for (int64_t z = 0; z < w->chain.states; z++) {
        most = fmax(most, a[z] + b[z]);
    }
    for (int64_t z = 0; z < w->chain.states; z++) {
        w->weights[z] = exp(a[z] + b[z] - most);
        sum += w->weights[z];
    }
    for (int64_t z = 0; z < w->chain.states; z++) {
        double p = weight * (w->weights[z] / sum);
        for (int64_t k = 0, rest = z; p > 0 && k < shape->variables; k++, rest /= shape->codes) {
            if (k >= first && place[k] >= 0) {
                row[place[k] * shape->codes + rest % shape->codes] += p;
            }
        }
    }
}

static void find_marginals(work *w, double *marginals)
{
    for (int64_t t = 0; t < w->chain.shape.length; t++) {
        add_slice(w, t, 0, w->forward + t * w->chain.states, 1, marginals);
    }
}

/* Fill the row of pairs of variable k of slice t at `code`, which has probability p, for all later
 * variables: messages are sent forward from slice t. */
static void find_row(work *w, int64_t t, int64_t k, int64_t code, double p, double *row)
{
    int64_t S = w->chain.states;
    for (int64_t z = 0; z < S; z++) {
        bool here = sali_chain_code(&w->chain, z, k) == code;
        w->a[z] = here ? w->forward[t * S + z] : -INFINITY;
    }
    add_slice(w, t, k + 1, w->a, p, row);
    for (int64_t s = t + 1; s < w->chain.shape.length; s++) {
        sali_chain_pass(&w->chain, 1, false, w->a, NULL, w->scratch);
        sali_chain_emit(&w->chain, s, 1, w->a, NULL);
        add_slice(w, s, 0, w->a, p, row);
    }
}

/* Fill pairs [R x R] of each free variable with all later ones; rows of codes of probability 0 stay
 * 0. */
static void find_pairs(work *w, int64_t R, const double *marginals, double *pairs)
{
    const sali_chain_shape *shape = &w->chain.shape;
    for (int64_t v = 0; v < shape->length * shape->variables; v++) {
        for (int64_t code = 0; w->place[v] >= 0 && code < shape->codes; code++) {
            int64_t row = w->place[v] * shape->codes + code;
            if (marginals[row] > 0) {
                find_row(w, v / shape->variables, v % shape->variables, code, marginals[row],
                         pairs + row * R);
            }
        }
    }
}

/* ---- the oracle */

static sal_status check_log_z(const work *w, const sal_model *model, sal_error *err)
{
    return isfinite(w->log_z) ? SAL_OK
                              : sali_fail(err, SAL_ERR_MODEL,
                                          "%s: log Z is %g: f is NaN or +inf at some state, or "
                                          "-inf at all of them",
                                          model->name, w->log_z);
}

/* Number of terms of the messages from every code of every variable to the end of the chain. */
static double pair_terms(const sali_chain_shape *shape)
{
    double T = (double)shape->length, K = (double)shape->variables, codes = (double)shape->codes;
    return T * K * codes * T / 2 * K * codes * sali_chain_states(shape);
}

static sal_status answer(sali_question *q, const sali_offer *offer, sal_error *err)
{
    (void)offer;
    work w = { 0 };
    sal_status status = work_create(&w, q->model, err);
    if (status == SAL_OK) {
        go_forward(&w, &q->log_prob_mean);
        q->log_z = w.log_z;
        status = check_log_z(&w, q->model, err);
    }
    if (status == SAL_OK) {
        go_backward(&w);
        find_marginals(&w, q->marginals);
    }
    if (status == SAL_OK && q->pairs) {
        find_pairs(&w, q->model->space->n_states, q->marginals, q->pairs);
    }
    work_free(&w);
    return status;
}

static sal_status offer(const sali_question *q, sali_offer *offer, sal_error *err)
{
    const struct sali_chain_rule *rule = sali_chain_rule_of(q->model);
    (void)err;
    if (!rule) {
        snprintf(offer->why, sizeof offer->why, "it is not known to be a chain");
        return SAL_OK;
    }
    sali_chain_shape shape = rule->shape(sali_clamp_inner(q->model));
    double states = sali_chain_states(&shape), all = (double)shape.length * states;
    double pairs = q->with_pairs ? pair_terms(&shape) : 0;
    offer->serves = all <= (double)MOST_MESSAGES && pairs <= (double)MOST_PAIR_TERMS;
    offer->cost = 10 * all + pairs;
    if (all > (double)MOST_MESSAGES) {
        snprintf(offer->why, sizeof offer->why,
                 "it has %lld slices of %.6g states, more than %lld in all",
                 (long long)shape.length, states, (long long)MOST_MESSAGES);
    } else {
        snprintf(offer->why, sizeof offer->why,
                 "pairs and covariances would take %.3g terms, more than %.3g; marginals alone can "
                 "be had",
                 pairs, (double)MOST_PAIR_TERMS);
    }
    return SAL_OK;
}

const sali_oracle sali_oracle_forward_backward = {
    "forward-backward", false, offer, answer, NULL, NULL
};
