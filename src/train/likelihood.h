/* SPDX-License-Identifier: MIT */
/* Means over the rows of a data set. */
#ifndef SALI_LIKELIHOOD_H
#define SALI_LIKELIHOOD_H

#include <saltus/evaluate.h>

/* The likelihood from f [rows], in which rows count by their weights: the mean is
 * m = sum w_r f_r / sum w, its squared error n / (n - 1) sum (w_r (f_r - m) / sum w)^2. */
sal_likelihood sali_likelihood_of(const sal_data *data, const double *f, double log_z,
                                  double log_z_error);

/* f of all rows, [rows]. Returns: those of sal_model_evaluate; MEMORY. */
sal_status sali_evaluate_rows(const sal_model *model, const sal_data *data, double *f,
                              sal_error *err);

#endif
