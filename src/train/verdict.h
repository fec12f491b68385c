/* SPDX-License-Identifier: MIT */
/* The parts of a verdict: groups of rows, and figures that compare rows with the held-out rows. */
#ifndef SALI_VERDICT_H
#define SALI_VERDICT_H

#include <saltus/evaluate.h>
#include "core/space.h"

/* Draws of independent chains of a model. */
typedef struct sali_fresh {
    int64_t chains, draws, variables;
    uint8_t *codes;           /* [chains x draws x variables] */
    uint8_t *slower;          /* draws with twice the steps; NULL: not of a denoising chain */
    double rhat, round_trips; /* R-hat of f over all states of the chains; round trips per chain */
    sal_verdict_value log_z;  /* by Bennett's ratio along a ladder; NaN without */
    bool stopped;             /* by the callback: there are no codes */
} sali_fresh;

/* Draw fresh samples as inputs->sampling says. On failure *out is untouched. */
sal_status sali_fresh_draw(sal_model *model, const sal_verdict_inputs *inputs, sali_fresh *out,
                           sal_error *err);

/* The persistent chains of a training's checkpoint as codes [rows x V]; no rows if the directory
 * has no checkpoint with chains of that many variables. Returns: DATA, IO, MEMORY. */
sal_status sali_checkpoint_chains(const char *directory, int64_t variables, sal_data *out,
                                  sal_error *err);

/* Groups that the jackknife leaves out. */
#define SALI_MOST_GROUPS 50

/* Rows in groups, which are the jackknife's units: group g is rows first[g] .. first[g + 1] - 1. */
typedef struct sali_grouped {
    sal_data rows; /* codes, and weights or NULL */
    int64_t groups, first[SALI_MOST_GROUPS + 1];
} sali_grouped;

/* Rows as they are: `chains` of `draws` each, neighbours in one group. */
sali_grouped sali_grouped_chains(int64_t chains, int64_t draws, const sal_data *rows);

/* Copies, out->rows, of at most `most` rows of a data set, chosen at random and in random order,
 * always the same: files are often sorted. Returns: MEMORY. */
sal_status sali_grouped_rows(const sal_data *data, int64_t most, sali_grouped *out, sal_error *err);

/* A figure of all rows, its standard error, and the figure minus the bias that the jackknife finds.
 * NaN where it is not defined. */
typedef struct sali_jackknifed {
    double value, error, corrected;
    double reliability; /* of a correlation: the share of the variance of the rows' numbers (means,
                           covariances) that is not their own noise; else 0 */
} sali_jackknifed;

/* From the figure of all rows and those without one group, loo [groups]. */
sali_jackknifed sali_jackknife(int64_t groups, double all, const double *loo);

/* The held-out rows, with the figures that are computed once. */
typedef struct sali_reference sali_reference;

/* Comparisons take `threads` threads (as in sal_threads_number), on which results do not depend.
 * Returns: MEMORY. The data must outlive it. */
sal_status sali_reference_create(const sal_space *space, const sal_data *test, int threads,
                                 sali_reference **out, sal_error *err);
void sali_reference_destroy(sali_reference *reference);

/* The variance of the kernel among held-out rows, 1 - mean k. */
double sali_reference_spread(const sali_reference *reference);

/* Pearson's correlations of the rows' means and covariances with those of the held-out rows; and
 * MMD^2 between the rows and the held-out rows. Returns: MEMORY. */
sal_status sali_compare_moments(const sali_reference *reference, const sali_grouped *rows,
                                sali_jackknifed *means, sali_jackknifed *covariances,
                                sal_error *err);
sal_status sali_compare_kernel(const sali_reference *reference, const sali_grouped *rows,
                               sali_jackknifed *mmd2, sal_error *err);

/* The accuracy of the nearest-neighbour classifier that tells the rows from held-out ones: the
 * share of rows, half of them held out, whose nearest neighbour by the number of variables that
 * differ is of the same kind; 1/2 if both have one distribution. NaN: fewer held-out rows than
 * groups. Returns: MEMORY. */
sal_status sali_compare_neighbours(const sali_reference *reference, const sali_grouped *rows,
                                   sali_jackknifed *accuracy, sal_error *err);

/* Mean f of the rows. Returns: the statuses of sal_model_evaluate; MEMORY. */
sal_status sali_mean_f(const sal_model *model, const sali_grouped *rows, sali_jackknifed *f,
                       sal_error *err);

#endif
