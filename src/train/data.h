/* SPDX-License-Identifier: MIT */
/* Inside of data sets. */
#ifndef SALI_DATA_H
#define SALI_DATA_H

#include <saltus/evaluate.h>
#include "core/space.h"

/* Whether all rows are states of the space, with weights above 0 and intensities of two-level
 * variables in [0, 1]; `who` is for messages. Returns: SAL_ERR_ARGUMENT. */
sal_status sali_data_check(const char *who, const sal_data *data, const sal_space *space,
                           sal_error *err);

/* Copies of `count` rows: those listed in `rows`, or its neighbours from row `first` on (`rows`
 * NULL). Returns: SAL_ERR_MEMORY. */
sal_status sali_data_gather(const sal_data *data, int64_t first, int64_t count,
                            const uint32_t *rows, sal_data *out, sal_error *err);

/* Whether codes [n x V] are of the space; `who` and `what` (a row) are for messages.
 * SAL_ERR_ARGUMENT. */
sal_status sali_codes_fit(const char *who, const char *what, int64_t n, const uint8_t *codes,
                          const sal_space *space, sal_error *err);

/* The sum of the rows' weights: without weights, their number. */
double sali_data_weight(const sal_data *data);

/* The likelihood from f [rows], in which rows count by their weights: the mean is
 * m = sum w_r f_r / sum w, its squared error n / (n - 1) sum (w_r (f_r - m) / sum w)^2. */
sal_likelihood sali_likelihood_of(const sal_data *data, const double *f, double log_z,
                                  double log_z_error);

/* Compute f [rows] of all rows. Returns: the statuses of sal_model_evaluate; MEMORY. */
sal_status sali_evaluate_rows(const sal_model *model, const sal_data *data, double *f,
                              sal_error *err);

/* Draw a row's variables from their intensities into codes [variables]: code 1 with that
 * probability, to 2^-52. The random numbers depend on seed, row and `use` (how often the row was
 * drawn before, or the iteration) only: equal arguments give equal codes. A data set without
 * intensities gives its codes. Params: row below 2^32.
 * Source: Salakhutdinov & Murray 2008. */
void sali_data_binarise(const sal_data *data, int64_t row, uint64_t seed, uint64_t use,
                        int32_t *codes);

#endif
