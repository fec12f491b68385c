/* SPDX-License-Identifier: MIT */
/* Oracles: exact normalising constants and marginals of models where these can be had. */
#ifndef SALI_EXACT_H
#define SALI_EXACT_H

#include "models/model.h"

/* A question; the outputs are scratch of the library's own, zeroed. */
typedef struct sali_question {
    const sal_model *model;
    sal_exact_options options; /* defaults filled in */
    double affordable;         /* cost of the best offer so far: one that costs more is not taken */
    int64_t steps; /* of a few nanoseconds that making an offer may take, or INT64_MAX: an oracle
                      that would need more does not serve */
    double log_z;
    double log_prob_mean; /* NaN where the oracle cannot tell */
    bool with_pairs;
    double *marginals; /* [R] */
    double *pairs;     /* [R x R], or NULL when not wanted; entries of variables i < j suffice */
} sali_question;

/* What an oracle says to a question before it is chosen. */
typedef struct sali_offer {
    bool serves;
    char why[320]; /* it does not */
    double cost;   /* of the answer, in nanoseconds of a processor, within a factor of ten or so */
    int32_t width; /* of an elimination, or -1 */
    double memory; /* bytes of its tables */
    void *plan;    /* the oracle's own, or NULL */
} sali_offer;

/* One oracle. To add one: a record in its own file, and a line in the list in exact.c: the
 * cheapest answers. */
typedef struct sali_oracle {
    const char *name;
    /* Whether it can serve the question, or why not. Returns: SAL_ERR_MEMORY, SAL_ERR_MODEL. */
    sal_status (*offer)(const sali_question *question, sali_offer *offer, sal_error *err);
    sal_status (*answer)(sali_question *question, const sali_offer *offer, sal_error *err);
    void (*release)(void *plan); /* NULL: there are no plans */
} sali_oracle;

extern const sali_oracle sali_oracle_closed_form, sali_oracle_elimination, sali_oracle_enumeration,
    sali_oracle_forward_backward;

/* The cheapest oracle for a model with the default options, and its cost in nanoseconds, as far as
 * that is seen in some tens of milliseconds. Errors as sal_model_exact, and SAL_ERR_UNSUPPORTED
 * also where it takes longer to see; outputs are then untouched. */
sal_status sali_exact_cost(const sal_model *model, const char **oracle, double *cost,
                           sal_error *err);

/* The error of a model that forbids all states. */
sal_status sali_fail_all_forbidden(const sal_model *model, sal_error *err);

/* ---- enumerate.c */

/* Log-probabilities log p(s) of all states into log_p [count], numbered as in states.h; *log_z.
 * `count` is their number. Errors as sal_model_exact. */
sal_status sali_enumerate_table(const sal_model *model, int64_t count, int threads, double *log_p,
                                double *log_z, sal_error *err);

/* ---- pairs.c */

/* From entries of variables i < j: the transposed ones, and the marginals on the diagonal. */
void sali_pairs_complete(const sal_space *space, const double *marginals, double *pairs);

/* The embedding's covariance [N x N] from complete pairs. */
void sali_pairs_covariance(const sal_space *space, const double *marginals, const double *pairs,
                           double *covariance);

#endif
