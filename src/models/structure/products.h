/* SPDX-License-Identifier: MIT */
/* Models whose variables are independent, or a mixture of such: exact answers by closed form. */
#ifndef SALI_PRODUCTS_H
#define SALI_PRODUCTS_H

#include "models/model.h"

/* f(x) = log sum_k exp(log_weight_k + sum_i log_table_k(i, x_i)): one component is independent
 * variables. */
struct sali_products_rule {
    int64_t (*components)(const sal_model *model); /* K, at least 1 */
    /* log_weight [K] and log_table [K x R], R the sum of the variables' states, variable 0 first;
     * both are zeroed. */
    sal_status (*read)(const sal_model *model, double *log_weight, double *log_table,
                       sal_error *err);
};

#endif
