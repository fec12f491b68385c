/* SPDX-License-Identifier: MIT */
/* The oracle by variable elimination. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/exact/bucket_tree.h"
#include "models/exact/exact.h"

#define GIB 0x1p30
/* About what an entry of a clique's table costs in the two passes. */
#define ENTRY_NANOSECONDS 20
/* Entries computed in all passes for pairs. */
#define MOST_PAIR_WORK 0x1p28

typedef struct plan {
    sali_local_terms terms;
    sali_elimination_order order;
} plan;

static void release(void *content)
{
    plan *p = content;
    sali_local_terms_free(&p->terms);
    sali_elimination_order_free(&p->order);
    sali_free(p);
}

/* ---- offer */

static const char *print_bytes(double bytes, char text[32])
{
    bool large = bytes >= GIB;
    snprintf(text, 32, "%.3g %s", bytes / (large ? GIB : 0x1p20), large ? "GiB" : "MiB");
    return text;
}

static void explain_width(const sali_elimination_order *order, double memory, double allowed,
                          sali_offer *offer)
{
    const char *least = order->complete ? "" : " at least";
    char text[2][32];
    if (memory <= allowed) { /* what there is of an order has taken too long */
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

static void consider(const sali_question *q, const plan *p, sali_offer *offer)
{
    const sali_elimination_order *order = &p->order;
    double allowed = (double)q->options.memory, R = (double)q->model->space->n_states;
    offer->width = order->width;
    offer->memory = sali_bucket_tree_bytes(order) + sizeof(double) * (double)p->terms.n_tables;
    double work = order->work * (q->with_pairs ? 1 + R : 1);
    offer->cost = ENTRY_NANOSECONDS * work + p->terms.effort;
    if (!order->complete || !(offer->memory <= allowed)) {
        explain_width(order, offer->memory, allowed, offer);
    } else if (q->with_pairs && work > MOST_PAIR_WORK) {
        snprintf(offer->why, sizeof offer->why,
                 "its induced width is %d: pairs and covariances would take %.3g table entries, "
                 "more than the limit of %.3g; ask for marginals only",
                 order->width, work, MOST_PAIR_WORK);
    } else if (offer->cost >= q->affordable) {
        snprintf(offer->why, sizeof offer->why, "it would cost more than another oracle");
    } else {
        offer->serves = true;
    }
}

/* Tables may be long in the making, and are made for an offer that will do. */
static sal_status make_plan(const sali_question *q, plan *p, sali_offer *offer, sal_error *err)
{
    sal_status status = sali_local_terms_read(q->model, (double)q->options.memory, &p->terms,
                                              offer->why, sizeof offer->why, err);
    status = status ? status : sali_elimination_order_create(&p->terms, &p->order, err);
    if (status == SAL_OK) {
        consider(q, p, offer);
    }
    if (offer->serves) {
        status = sali_local_terms_fill(&p->terms, offer->why, sizeof offer->why, err);
        offer->serves = status == SAL_OK;
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

/* p(s_i = k, s_j = l) = p(s_i = k) p(s_j = l | s_i = k): the passes again with each variable pinned
 * to each of its states. */
static sal_status find_pairs(sali_bucket_tree *tree, const int64_t *begin, sali_question *q,
                             sal_error *err)
{
    const sal_space *space = q->model->space;
    int64_t R = space->n_states;
    double *given = SALI_NEW_ARRAY(double, R), log_z;
    sal_status status = given ? SAL_OK : sali_fail_memory(err);
    for (int64_t i = 0; i + 1 < space->n_variables; i++) {
        for (int32_t k = 0; status == SAL_OK && k < space->variables[i].states; k++) {
            sali_pin pin = { tree->place[i], k };
            double p = q->marginals[begin[i] + k];
            status = p > 0 ? sali_bucket_upward(tree, pin, &log_z, err) : SAL_OK;
            if (status != SAL_OK || !(p > 0) || !(log_z > -INFINITY)) {
                continue;
            }
            status = sali_bucket_downward(tree, pin, begin, given, NULL, err);
            for (int64_t b = begin[i + 1]; status == SAL_OK && b < R; b++) {
                q->pairs[(begin[i] + k) * R + b] = p * given[b];
            }
        }
    }
    sali_free(given);
    return status;
}

static sal_status run(sali_bucket_tree *tree, double constant, const int64_t *begin,
                      sali_question *q, sal_error *err)
{
    const sali_pin none = { -1, -1 };
    sal_status status = sali_bucket_upward(tree, none, &q->log_z, err);
    q->log_z += constant;
    if (status == SAL_OK && q->log_z == -INFINITY) {
        return sali_fail_all_forbidden(q->model, err);
    }
    status = status ? status
                    : sali_bucket_downward(tree, none, begin, q->marginals, &q->log_prob_mean, err);
    q->log_prob_mean += constant;
    return status == SAL_OK && q->pairs ? find_pairs(tree, begin, q, err) : status;
}

static sal_status answer(sali_question *q, const sali_offer *offer, sal_error *err)
{
    plan *p = offer->plan;
    int64_t V = q->model->space->n_variables, *begin = SALI_NEW_ARRAY(int64_t, V);
    sali_bucket_tree tree = { 0 };
    sal_status status =
        begin ? sali_bucket_tree_create(&p->terms, &p->order, q->options.threads, &tree, err)
              : sali_fail_memory(err);
    for (int64_t v = 1; status == SAL_OK && v < V; v++) {
        begin[v] = begin[v - 1] + p->terms.states[v - 1];
    }
    status = status ? status : run(&tree, p->terms.constant, begin, q, err);
    sali_bucket_tree_free(&tree);
    sali_free(begin);
    return status;
}

const sali_oracle sali_oracle_elimination = { "elimination", offer, answer, release };
