/* SPDX-License-Identifier: MIT */
/* Oracles: exact methods, which compute log Z, marginals and pairs of models of some forms. */
#ifndef SALI_EXACT_H
#define SALI_EXACT_H

#include "models/model.h"

/* Independent draws that a request wants. */
typedef struct sali_exact_draws {
    int64_t n;
    uint64_t seed;
    int32_t *codes; /* [n x V] of the caller, to be written only when nothing can fail any more */
} sali_exact_draws;

/* A request for exact answers, or for draws. The outputs are zeroed scratch of the library, filled
 * by `answer`. */
typedef struct sali_question {
    const sal_model *model;
    sal_exact_options options; /* defaults filled in */
    double affordable; /* cost of the best offer so far: an oracle that costs more is not chosen */
    int64_t steps;     /* most steps, of a few nanoseconds each, to make an offer, or INT64_MAX: an
                          oracle that needs more does not serve */
    double log_z;
    double log_prob_mean;          /* the mean of f; NaN if the oracle cannot compute it */
    const sali_exact_draws *draws; /* NULL: none, but answers */
    bool with_pairs;
    double *marginals; /* [R] */
    double *pairs;     /* [R x R], or NULL when not wanted; entries of variables i < j suffice */
} sali_question;

/* An oracle's estimate of a request, made before one of the oracles is chosen. */
typedef struct sali_offer {
    bool serves;
    char why[320]; /* the reason, if it does not serve */
    double cost;   /* nanoseconds of a processor for the answer, within a factor of ten or so */
    int32_t width; /* induced width of an elimination, or -1 */
    double memory; /* bytes of its tables; 0 if it is no elimination */
    void *plan;    /* what the oracle keeps for `answer`, or NULL */
} sali_offer;

/* One oracle; of those that serve a request, the cheapest answers. To add one, write a record in
 * its own file, and a line in the list in exact.c. */
typedef struct sali_oracle {
    const char *name;
    bool counts; /* it keeps to fixed sums and labels */
    /* Fill *offer: whether the oracle can serve the request, at which cost, or why not. Returns:
     * SAL_ERR_MEMORY, SAL_ERR_MODEL. */
    sal_status (*offer)(const sali_question *question, sali_offer *offer, sal_error *err);
    sal_status (*answer)(sali_question *question, const sali_offer *offer, sal_error *err);
    void (*release)(void *plan); /* NULL: there are no plans */
    /* Make the draws, in place of `answer`, and set log_z and log_prob_mean; the marginals may be
     * used as scratch. NULL: it cannot draw, and is passed over. */
    sal_status (*draw)(sali_question *question, const sali_offer *offer, sal_error *err);
} sali_oracle;

extern const sali_oracle sali_oracle_closed_form, sali_oracle_elimination, sali_oracle_enumeration,
    sali_oracle_forward_backward, sali_oracle_hidden_units;

/* Name of the cheapest oracle for a model with the default options, and its cost in nanoseconds.
 * The search takes at most some tens of milliseconds. Returns: errors as sal_model_exact, and
 * SAL_ERR_UNSUPPORTED also if the search would take longer. On failure the outputs are
 * untouched. */
sal_status sali_exact_cost(const sal_model *model, const char **oracle, double *cost,
                           sal_error *err);

/* Nanoseconds of a request's draws, roughly; 0 without draws. */
double sali_draws_cost(const sali_question *question);

/* Report SAL_ERR_MODEL for a model that forbids all states. */
sal_status sali_fail_all_forbidden(const sal_model *model, sal_error *err);

/* ---- enumerate.c */

/* Fill log_p [count] with log p(s) of all `count` states, numbered as in states.h, and *log_z.
 * Returns: errors as sal_model_exact. */
sal_status sali_enumerate_table(const sal_model *model, int64_t count, int threads, double *log_p,
                                double *log_z, sal_error *err);

/* ---- pairs.c */

/* Complete pairs [R x R] from the entries of variables i < j: fill the transposed entries, and the
 * blocks of a variable with itself, which have the marginals on the diagonal and are 0
 * elsewhere. */
void sali_pairs_complete(const sal_space *space, const double *marginals, double *pairs);

/* The embedding's covariance [N x N] from complete pairs. */
void sali_pairs_covariance(const sal_space *space, const double *marginals, const double *pairs,
                           double *covariance);

#endif
