/* SPDX-License-Identifier: MIT */
/* sal_model_exact and sal_model_exact_draws: arguments, and which oracle. */
#include "models/exact/exact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "models/exact/rounding.h"
#include "models/tape_model.h"

#define STANDARD_MEMORY (INT64_C(1) << 30)
/* An oracle that costs no more than this many nanoseconds is chosen without asking the next
 * ones. */
#define LITTLE_COST 4e6
/* Steps of an offer in sali_exact_cost. */
#define QUICK_STEPS (INT64_C(1) << 23)

/* In the order in which they are asked: an oracle that makes way for others comes after them. */
static const sali_oracle *const oracles[] = {
    &sali_oracle_forward_backward, &sali_oracle_closed_form,  &sali_oracle_enumeration,
    &sali_oracle_elimination,      &sali_oracle_hidden_units,
};

#define N_ORACLES ((int)(sizeof oracles / sizeof *oracles))

/* *options = `given` (or zeros if it is NULL) with the defaults filled in. Returns:
 * SAL_ERR_ARGUMENT for values out of range. */
static sal_status fill_options(const sal_exact_options *given, sal_exact_options *options,
                               sal_error *err)
{
    *options = given ? *given : (sal_exact_options){ 0 };
    options->limit = options->limit ? options->limit : SAL_ENUMERATION_LIMIT;
    options->memory = options->memory ? options->memory : STANDARD_MEMORY;
    if (options->limit < 1 || options->memory < 1 || options->threads < 0 ||
        options->threads > 4096) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "exact: limit %lld, memory %lld, threads %d; expected a limit and memory "
                         "of at least 1, and 0 to 4096 threads",
                         (long long)options->limit, (long long)options->memory, options->threads);
    }
    return SAL_OK;
}

/* SAL_ERR_ARGUMENT: no oracle is called `name`. The message lists those that exist. */
static sal_status unknown_oracle(const char *name, sal_error *err)
{
    char names[200] = "";
    for (int k = 0; k < N_ORACLES; k++) {
        sali_list_name(names, sizeof names, oracles[k]->name);
    }
    return sali_fail(err, SAL_ERR_ARGUMENT, "exact: there is no oracle '%.100s'; there are: %s",
                     name, names);
}

double sali_draws_cost(const sali_question *q)
{
    return q->draws ? 2.0 * (double)q->draws->n * (double)q->model->space->n_variables : 0;
}

static void release_offer(const sali_oracle *oracle, sali_offer *offer)
{
    if (offer->plan) {
        oracle->release(offer->plan);
    }
    offer->plan = NULL;
}

/* Replace the best offer so far by `offer` if that serves and is cheaper, and release the loser. If
 * `offer` does not serve, append the reason to `reasons` [room]. */
static void weigh_offer(const sali_oracle *oracle, sali_offer *offer, const sali_oracle **best,
                        sali_offer *best_offer, char *reasons, size_t room)
{
    size_t used = strlen(reasons);
    if (!offer->serves) {
        snprintf(reasons + used, room - used, "%s%s: %s", used ? "; " : "", oracle->name,
                 offer->why);
    }
    if (offer->serves && (!*best || offer->cost < best_offer->cost)) {
        if (*best) {
            release_offer(*best, best_offer);
        }
        *best = oracle;
        *best_offer = *offer;
    } else {
        release_offer(oracle, offer);
    }
}

/* Set *best and *best_offer to the cheapest oracle that serves, or to the oracle of the name in the
 * options. Returns: SAL_ERR_UNSUPPORTED with the reasons of all if none serves; SAL_ERR_ARGUMENT
 * for an unknown name. */
static sal_status choose_oracle(sali_question *q, const sali_oracle **best, sali_offer *best_offer,
                                sal_error *err)
{
    char reasons[1000] = "";
    bool known = false;
    sal_status status = SAL_OK;
    for (int k = 0; k < N_ORACLES && status == SAL_OK; k++) {
        sali_offer offer = { .width = -1 };
        if (q->options.oracle && strcmp(q->options.oracle, oracles[k]->name) != 0) {
            continue;
        }
        known = true;
        if (*best && best_offer->cost <= LITTLE_COST) {
            break;
        }
        q->affordable = *best ? best_offer->cost : INFINITY;
        if (q->model->space->fixed && !oracles[k]->counts) {
            snprintf(offer.why, sizeof offer.why, "it knows no fixed sums or labels");
        } else if (q->draws && !oracles[k]->draw) {
            snprintf(offer.why, sizeof offer.why, "it makes no draws");
        } else {
            status = oracles[k]->offer(q, &offer, err);
        }
        if (status == SAL_OK) {
            weigh_offer(oracles[k], &offer, best, best_offer, reasons, sizeof reasons);
        }
    }
    if (status != SAL_OK || *best) {
        return status;
    }
    return known ? sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: no exact %s; %s", q->model->name,
                             q->draws ? "draws" : "answers", reasons)
                 : unknown_oracle(q->options.oracle, err);
}

sal_status sali_exact_cost(const sal_model *model, const char **oracle, double *cost,
                           sal_error *err)
{
    sali_question q = { .model = model, .steps = QUICK_STEPS };
    const sali_oracle *best = NULL;
    sali_offer offer = { 0 };
    sal_status status = sali_model_check_joint(model, err);
    status = status ? status : fill_options(NULL, &q.options, err);
    status = status ? status : choose_oracle(&q, &best, &offer, err);
    if (status == SAL_OK) {
        *oracle = best->name;
        *cost = offer.cost;
    }
    if (best) {
        release_offer(best, &offer);
    }
    return status;
}

/* Allocate the outputs of the request as one array: R numbers, and R^2 more for pairs. */
static sal_status prepare_outputs(sali_question *q, sal_error *err)
{
    int64_t R = q->model->space->n_states, size = R;
    if (q->with_pairs &&
        (__builtin_mul_overflow(R, R, &size) || __builtin_add_overflow(size, R, &size))) {
        return sali_fail_memory(err);
    }
    q->marginals = SALI_NEW_ARRAY(double, size);
    q->pairs = q->marginals && q->with_pairs ? q->marginals + R : NULL;
    return q->marginals ? SAL_OK : sali_fail_memory(err);
}

/* Copy the answer to those of the caller's arrays that are not NULL: marginals [R], complete pairs
 * [R x R], covariance [N x N]. */
static void hand_out(const sali_question *q, double *marginals, double *pairs, double *covariance)
{
    const sal_space *space = q->model->space;
    size_t R = (size_t)space->n_states;
    if (q->pairs) {
        sali_pairs_complete(space, q->marginals, q->pairs);
    }
    if (marginals) {
        memcpy(marginals, q->marginals, R * sizeof *marginals);
    }
    if (pairs && q->pairs) {
        memcpy(pairs, q->pairs, R * R * sizeof *pairs);
    }
    if (covariance) {
        sali_pairs_covariance(space, q->marginals, q->pairs, covariance);
    }
}

/* How far f is rounded at typical states, where f is near its mean, or near log Z if the mean is
 * not known. 0 for oracles that read weights and never evaluate f. */
static double find_rounding(const sali_question *q, const sali_oracle *oracle)
{
    const double f = isnan(q->log_prob_mean) ? q->log_z : q->log_prob_mean;
    const bool evaluates = oracle == &sali_oracle_enumeration || oracle == &sali_oracle_elimination;
    return evaluates ? sali_rounding(q->model->dtype, f - sali_model_offset(q->model)) : 0;
}

bool sal_exact_warning(const sal_exact *exact, char *text, size_t room)
{
    const bool warns = sali_rounding_is_coarse(exact->rounding);
    if (warns && room > 0) {
        sali_rounding_text(exact->dtype, exact->rounding,
                           "log Z and logarithms of ratios of probabilities are", text, room);
    }
    return warns;
}

/* Let the oracle of the options, or the cheapest one, answer the request or make its draws, and
 * fill *exact unless it is NULL. The outputs of *q are to be freed even on failure. */
static sal_status ask(sali_question *q, const sal_exact_options *options, sal_exact *exact,
                      sal_error *err)
{
    const sali_oracle *oracle = NULL;
    sali_offer offer = { 0 };
    sal_status status = sali_model_check_joint(q->model, err);
    status = status ? status : fill_options(options, &q->options, err);
    status = status ? status : choose_oracle(q, &oracle, &offer, err);
    status = status ? status : prepare_outputs(q, err);
    status = status ? status : (q->draws ? oracle->draw : oracle->answer)(q, &offer, err);
    if (status == SAL_OK && exact) {
        *exact = (sal_exact){ .log_z = q->log_z,
                              .log_prob_mean = q->log_prob_mean,
                              .oracle = oracle->name,
                              .width = offer.width,
                              .memory = offer.memory,
                              .dtype = q->model->dtype,
                              .rounding = find_rounding(q, oracle) };
    }
    if (oracle) {
        release_offer(oracle, &offer);
    }
    return status;
}

sal_status sal_model_exact(const sal_model *model, const sal_exact_options *options,
                           sal_exact *exact, double *marginals, double *pairs, double *covariance,
                           sal_error *err)
{
    if (!model || !exact) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_model_exact: %s is NULL",
                         model ? "exact" : "the model");
    }
    sali_question q = { .model = model, .steps = INT64_MAX, .with_pairs = pairs || covariance };
    sal_status status = ask(&q, options, exact, err);
    if (status == SAL_OK) {
        hand_out(&q, marginals, pairs, covariance);
    }
    sali_free(q.marginals);
    return status;
}

sal_status sal_model_exact_draws(const sal_model *model, const sal_exact_options *options,
                                 int64_t n, uint64_t seed, int32_t *codes, sal_exact *exact,
                                 sal_error *err)
{
    if (!model || !codes) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_model_exact_draws: %s NULL",
                         model ? "codes are" : "the model is");
    }
    if (n < 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_model_exact_draws: %lld draws; expected 1 or "
                         "more",
                         (long long)n);
    }
    const sali_exact_draws draws = { n, seed, codes };
    sali_question q = { .model = model, .steps = INT64_MAX, .draws = &draws };
    sal_status status = ask(&q, options, exact, err);
    sali_free(q.marginals);
    return status;
}
