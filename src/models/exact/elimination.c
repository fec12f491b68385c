/* SPDX-License-Identifier: MIT */
/* The oracle by variable elimination. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/exact/bucket_tree.h"
#include "models/exact/counters.h"
#include "models/exact/exact.h"

#define GIB 0x1p30
/* Cost of an entry of a clique's table in the two passes together, roughly. */
#define ENTRY_NANOSECONDS 20
/* Most entries computed in all passes for pairs. */
#define MOST_PAIR_WORK 0x1p28

typedef struct plan {
    sali_local_terms terms;
    sali_elimination_order order;
    sali_counters counters;
} plan;

static void release(void *content)
{
    plan *p = content;
    sali_local_terms_free(&p->terms);
    sali_elimination_order_free(&p->order);
    sali_counters_free(&p->counters);
    sali_free(p);
}

/* ---- offer */

static const char *print_bytes(double bytes, char text[32])
{
    bool large = bytes >= GIB;
    snprintf(text, 32, "%.3g %s", bytes / (large ? GIB : 0x1p20), large ? "GiB" : "MiB");
    return text;
}

/* Write into offer->why that no order was found in time, or that the tables take `memory` bytes,
 * more than `allowed`. */
static void explain_width(const sali_elimination_order *order, double memory, double allowed,
                          sali_offer *offer)
{
    const char *least = order->complete ? "" : " at least";
    char text[2][32];
    if (memory <= allowed) { /* the search for an order was given up */
        snprintf(offer->why, sizeof offer->why,
                 "its variables have too many neighbours to find an order for them");
        return;
    }
    snprintf(offer->why, sizeof offer->why,
             "its induced width is%s %d, by the best order found, which takes%s %s of memory, more "
             "than the %s allowed: allow more (--memory), fix variables (--evidence, --clamp), or "
             "sample",
             least, order->width, least, print_bytes(memory, text[0]),
             print_bytes(allowed, text[1]));
}

/* Fill *offer from the order in *p: width, memory, cost, and whether it serves or why not. */
static void consider_order(const sali_question *q, const plan *p, sali_offer *offer)
{
    const sali_elimination_order *order = &p->order;
    double allowed = (double)q->options.memory;
    offer->width = order->width;
    offer->memory = sali_bucket_tree_bytes(order) + sizeof(double) * (double)p->terms.n_tables;
    offer->memory += q->draws ? sizeof(uint64_t) * (order->work - order->messages) : 0;
    double work = q->with_pairs ? order->pair_work : order->work;
    offer->cost = ENTRY_NANOSECONDS * work + p->terms.effort + sali_draws_cost(q);
    if (!order->complete || !(offer->memory <= allowed)) {
        explain_width(order, offer->memory, allowed, offer);
    } else if (q->with_pairs && work > MOST_PAIR_WORK) {
        snprintf(offer->why, sizeof offer->why,
                 "its induced width is %d: pairs and covariances would take %.3g table entries, "
                 "more than the limit of %.3g; ask for marginals only",
                 order->width, work, MOST_PAIR_WORK);
    } else if (q->draws && order->largest > (double)SALI_MOST_THRESHOLDS) {
        snprintf(offer->why, sizeof offer->why,
                 "its induced width is %d: draws would need a table of %.3g entries, more than "
                 "the limit of %.3g",
                 order->width, order->largest, (double)SALI_MOST_THRESHOLDS);
    } else if (SALI_ENTRY_STEPS * p->terms.effort > (double)q->steps) {
        snprintf(offer->why, sizeof offer->why, "its terms' tables take long to make");
    } else if (offer->cost >= q->affordable) {
        snprintf(offer->why, sizeof offer->why, "it would cost more than another oracle");
    } else {
        offer->serves = true;
    }
}

/* Read the terms, find an order and fill *offer. The tables, which take time, are only computed if
 * the offer serves. */
static sal_status make_plan(const sali_question *q, plan *p, sali_offer *offer, sal_error *err)
{
    const double memory = (double)q->options.memory;
    sal_status status = sali_local_terms_read(q->model, memory, q->steps, &p->terms, offer->why,
                                              sizeof offer->why, err);
    status = status ? status : sali_elimination_order_create(&p->terms, q->steps, &p->order, err);
    if (status == SAL_OK && p->order.complete) {
        status = sali_counters_add(q->model->space, memory, q->steps, &p->terms, &p->order,
                                   &p->counters, offer->why, sizeof offer->why, err);
    }
    if (status == SAL_OK) {
        consider_order(q, p, offer);
    }
    if (offer->serves) {
        status = sali_local_terms_fill(&p->terms, offer->why, sizeof offer->why, err);
        offer->serves = status == SAL_OK;
    }
    if (offer->serves) {
        sali_counters_forbid(&p->counters, &p->terms);
    }
    return status == SAL_ERR_UNSUPPORTED ? SAL_OK : status;
}

static sal_status offer(const sali_question *q, sali_offer *offer, sal_error *err)
{
    plan *p = SALI_NEW(plan);
    if (!p) {
        return sali_fail_memory(err);
    }
    sal_status status = make_plan(q, p, offer, err);
    if (offer->serves) {
        offer->plan = p;
    } else {
        release(p);
    }
    return status;
}

/* ---- answer */

/* Mark of a pair that is not yet known. */
#define UNKNOWN (-1.0)

/* Fill the unknown pairs of variable i and later variables, which are in the same tree: p(s_i = k,
 * s_j = l) = p(s_i = k) p(s_j = l | s_i = k). For each k the passes are repeated with s_i pinned to
 * k. `given` [begin[n]] is scratch. */
static sal_status pin_variable(sali_bucket_tree *tree, const int64_t *begin, sali_question *q,
                               int64_t i, double *given, sal_error *err)
{
    const int64_t R = q->model->space->n_states;
    sal_status status = SAL_OK;
    for (int32_t k = 0; status == SAL_OK && k < tree->states[tree->place[i]]; k++) {
        sali_pin pin = { tree->place[i], k };
        double p = q->marginals[begin[i] + k], log_z = -INFINITY;
        double *row = q->pairs + (begin[i] + k) * R;
        status = p > 0 ? sali_bucket_upward(tree, pin, &log_z, err) : SAL_OK;
        if (status == SAL_OK && log_z > -INFINITY) {
            status = sali_bucket_downward(tree, pin, begin, given, NULL, NULL, err);
        }
        for (int64_t b = begin[i] + tree->states[tree->place[i]]; b < R; b++) {
            row[b] = row[b] != UNKNOWN ? row[b] : log_z > -INFINITY ? p * given[b] : 0;
        }
    }
    return status;
}

/* Fill the pairs of variables that share no clique. Variables in different trees are
 * independent. */
static sal_status find_pairs(sali_bucket_tree *tree, const int64_t *begin, sali_question *q,
                             sal_error *err)
{
    const sal_space *space = q->model->space;
    const double *p = q->marginals;
    int64_t R = space->n_states;
    double *given = SALI_NEW_ARRAY(double, begin[tree->n]);
    sal_status status = given ? SAL_OK : sali_fail_memory(err);
    for (int64_t i = 0; status == SAL_OK && i < space->n_variables; i++) {
        bool unknown = false;
        int64_t end = begin[i] + space->variables[i].states;
        for (int64_t j = i + 1; j < space->n_variables; j++) {
            bool same = tree->bucket[tree->place[i]].root == tree->bucket[tree->place[j]].root;
            unknown |= same && q->pairs[begin[i] * R + begin[j]] == UNKNOWN;
            for (int64_t a = begin[i]; !same && a < end; a++) {
                for (int64_t b = begin[j]; b < begin[j] + space->variables[j].states; b++) {
                    q->pairs[a * R + b] = p[a] * p[b];
                }
            }
        }
        status = unknown ? pin_variable(tree, begin, q, i, given, err) : SAL_OK;
    }
    sali_free(given);
    return status;
}

/* Run both passes and fill the outputs of the request, and *net with the network of draws if they
 * are wanted; `constant` is added to log Z and to the mean of f, and `marginals` [begin[n]] is
 * scratch. Returns: SAL_ERR_MODEL if all states are forbidden; SAL_ERR_MEMORY. */
static sal_status run_passes(sali_bucket_tree *tree, double constant, const int64_t *begin,
                             double *marginals, sali_question *q, sali_ancestral *net,
                             sal_error *err)
{
    const size_t R = (size_t)q->model->space->n_states;
    const sali_pin none = { -1, -1 };
    sal_status status = sali_bucket_upward(tree, none, &q->log_z, err);
    q->log_z += constant;
    if (status == SAL_OK && q->log_z == -INFINITY) {
        return sali_fail_all_forbidden(q->model, err);
    }
    for (size_t k = 0; q->pairs && k < R * R; k++) {
        q->pairs[k] = UNKNOWN;
    }
    status = status || !q->draws ? status : sali_bucket_conditionals(tree, net, err);
    status = status ? status
                    : sali_bucket_downward(tree, none, begin, marginals, q->pairs,
                                           &q->log_prob_mean, err);
    memcpy(q->marginals, marginals, R * sizeof *marginals);
    q->log_prob_mean += constant;
    return status == SAL_OK && q->pairs ? find_pairs(tree, begin, q, err) : status;
}

/* Answer the request; also make *net if it wants draws. */
static sal_status serve(sali_question *q, const sali_offer *offer, sali_ancestral *net,
                        sal_error *err)
{
    plan *p = offer->plan;
    const int64_t n = p->terms.n; /* the model's variables, and counters */
    int64_t *begin = SALI_NEW_ARRAY(int64_t, n + 1);
    sali_bucket_tree tree = { 0 };
    for (int64_t v = 0; begin && v < n; v++) {
        begin[v + 1] = begin[v] + p->terms.states[v];
    }
    double *marginals = begin ? SALI_NEW_ARRAY(double, begin[n]) : NULL;
    sal_status status =
        marginals ? sali_bucket_tree_create(&p->terms, &p->order, q->options.threads, &tree, err)
                  : sali_fail_memory(err);
    status = status ? status : run_passes(&tree, p->terms.constant, begin, marginals, q, net, err);
    sali_bucket_tree_free(&tree);
    sali_free(marginals);
    sali_free(begin);
    return status;
}

static sal_status answer(sali_question *q, const sali_offer *offer, sal_error *err)
{
    return serve(q, offer, NULL, err);
}

static sal_status draw(sali_question *q, const sali_offer *offer, sal_error *err)
{
    sali_ancestral net = { 0 };
    sal_status status = serve(q, offer, &net, err);
    status = status ? status
                    : sali_ancestral_draw(&net, q->draws->n, q->draws->seed, q->options.threads,
                                          q->draws->codes, err);
    sali_ancestral_free(&net);
    return status;
}

const sali_oracle sali_oracle_elimination = { "elimination", true, offer, answer, release, draw };
