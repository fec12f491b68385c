/* Oracles: exact normalising constants and marginals of models where these can be had. */
#ifndef SALI_EXACT_H
#define SALI_EXACT_H

#include "models/model.h"

/* A question; the outputs are scratch of the library's own, zeroed. */
typedef struct sali_question {
    const sal_model *model;
    sal_exact_options options; /* defaults filled in */
    double log_z;
    double log_prob_mean; /* NaN where the oracle cannot tell */
    double *marginals;    /* [R] */
    double *pairs;        /* [R x R], or NULL when not wanted; entries of variables i < j suffice */
} sali_question;

/* One oracle. To add one: a record in its own file, and a line in the list in exact.c, which is
 * the order in which they are tried. */
typedef struct sali_oracle {
    const char *name;
    /* Whether it can serve the model, or why not into `why`. */
    bool (*serves)(const sal_model *model, const sal_exact_options *options, char *why,
                   size_t room);
    sal_status (*answer)(sali_question *question, sal_error *err);
} sali_oracle;

extern const sali_oracle sali_oracle_closed_form, sali_oracle_enumeration,
    sali_oracle_forward_backward, sali_oracle_parts;

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
