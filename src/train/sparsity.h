/* SPDX-License-Identifier: MIT */
/* Sparse couplings. A coupling is the element J_kl = J_lk between states k and l of two variables;
 * an inactive one stays exactly 0. Now and then a step compares the frequencies of pairs of states
 * in the data with those in the samples, and changes which couplings are active.
 *
 * Activation (eaDCA) begins with no couplings. If one coupling x more were learned, the mean
 * log-likelihood of the data would gain x f - log(1 - p + p e^x), f and p being the frequencies of
 * its pair of states in the data and in the model; at its best x this is the divergence
 *
 *     f log(f / p) + (1 - f) log((1 - f) / (1 - p)),
 *
 * and a step activates the couplings where it is largest. Decimation (edDCA) begins with all of
 * them. Without the coupling J the partition function is Z (1 - p + p e^-J); the mean
 * log-likelihood of rows in which the pair has the frequency p loses
 *
 *     J p + log(1 - p + p e^-J),
 *
 * the divergence of the model without the coupling from the model. A step at which the samples have
 * the correlation that training is to reach removes the couplings that lose least. Frequencies of
 * both scores are smoothed as if one row of independent uniform states were added to the data.
 *
 * Source: Calvanese, Lambert, Nghe, Zamponi & Weigt 2024 (activation); Barrat-Charlaix, Muntoni,
 * Shimagaki, Weigt & Zamponi 2021 (decimation); Rosset et al. 2025 (adabmDCA 2: schedules). */
#ifndef SALI_SPARSITY_H
#define SALI_SPARSITY_H

#include <saltus/train.h>
#include "models/tape_model.h"
#include "stats/pairs.h"
#include "train/constraints.h"

typedef struct sali_sparsity {
    sal_sparsity_options with; /* resolved; method SAL_SPARSITY_NONE: couplings are not sparse, and
                                  all else is unused */
    const sali_pairs *pairs;   /* borrowed, as the frequencies are */
    const sali_pair_frequencies *data, *samples;
    double mass;         /* sum of the data's weights */
    int64_t first, side; /* place of J [side x side] in the flat vector of parameters */
    double scale;        /* f has the term scale J_kl for states k and l together */
    uint8_t *active;     /* [pairs->n] 0 or 1; NULL without sparsity */
    int64_t n_active;
    double *score, *sorted; /* [pairs->n] scratch */
} sali_sparsity;

/* Put defaults in place of zeros in options that ask for sparsity. */
void sali_sparsity_defaults(sal_train_options *options);

/* Whether the options go together, and with the objective. Returns: SAL_ERR_ARGUMENT. */
sal_status sali_sparsity_check(const sal_train_options *options, sal_error *err);

/* Find the couplings, for resolved options. The pairs are those of the model's space, of data with
 * weights that sum to `mass` and of samples; they are borrowed. Returns: SAL_ERR_ARGUMENT (no
 * couplings whose elements can be 0), SAL_ERR_MEMORY. */
sal_status sali_sparsity_create(sali_sparsity *sparsity, sali_memory *memory,
                                const sal_model *model, const sal_train_options *options,
                                const sali_constraints *constraints, const sali_pairs *pairs,
                                const sali_pair_frequencies *data,
                                const sali_pair_frequencies *samples, double mass, sal_error *err);

/* Training begins at `values`: couplings that are not 0 are active; where all are 0, none are for
 * activation, and all for decimation. */
void sali_sparsity_start(sali_sparsity *sparsity, sali_constraints *constraints,
                         const double *values);

/* Take over `active` from a checkpoint: couplings that are not active become 0 in `values`. */
void sali_sparsity_resume(sali_sparsity *sparsity, sali_constraints *constraints, double *values);

/* Whether a step follows `iteration` updates. */
bool sali_sparsity_is_time(const sali_sparsity *sparsity, int64_t iteration);

/* Whether no couplings are left to be removed; true without decimation. */
bool sali_sparsity_is_done(const sali_sparsity *sparsity);

/* A step, after the samples were counted; `near`: they have the correlation to be reached.
 * Activates couplings, or, if `near`, removes some: they become 0 in all `n_arrays` arrays of the
 * parameters' layout, of which the first are the values (NULL is skipped). Returns whether the
 * arrays have changed. */
bool sali_sparsity_step(sali_sparsity *sparsity, sali_constraints *constraints, bool near,
                        int n_arrays, double *const *arrays);

/* Share of the couplings that are active; NaN without sparsity. */
double sali_sparsity_density(const sali_sparsity *sparsity);

/* The two scores: what activation can gain, and what removal of the coupling J loses. f and p are
 * from 0 to 1. */
double sali_activation_gain(double f, double p);
double sali_removal_loss(double J, double p);

#endif
