/* SPDX-License-Identifier: MIT */
/* Poisson counts: independent ones, or a chain whose neighbours hold each other down (the
 * auto-Poisson model of Besag 1974; a positive coupling would have no finite sum). */
#include <math.h>

#include "models/zoo/making.h"

enum { DIM, RATE, INTERACTION, CAP };

/* sum over i of x_i x_(i+1), for dim > 1. */
static sal_expr neighbours(sal_expr x, int64_t dim)
{
    return sal_dot(sal_slice(x, 0, 0, dim - 1), sal_slice(x, 0, 1, dim - 1));
}

static sal_status poisson(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    int64_t dim = (int64_t)values[DIM];
    sal_block block = {
        .name = "count", .kind = SAL_COUNT, .count = dim, .cap = (int64_t)values[CAP]
    };
    sal_expr x = sali_making_blocks(m, 1, &block);
    sal_expr b = sali_making_filled(m, "log_rate", SAL_SHAPE(dim), log(values[RATE]));
    *f = sal_sub(sal_dot(b, x), sal_sum(sal_lgamma(sal_add(x, sal_scalar(m->tape, 1)))));
    if (dim > 1 && values[INTERACTION] > 0) {
        sal_expr interaction = sali_making_number(m, "interaction", values[INTERACTION]);
        *f = sal_sub(*f, sal_mul(interaction, neighbours(x, dim)));
    }
    return SAL_OK;
}

const sali_builtin sali_builtin_poisson = {
    .name = "poisson",
    .doc = "sum_i x_i log rate - lgamma(x_i + 1) - interaction x_i x_(i+1), x in {0, 1, 2, ..}^dim",
    .source = "Grathwohl et al. 2021 table 1; Besag 1974 (interaction)",
    .dtype = SAL_F64,
    .settings = { [DIM] = { "dim", 10, 1, 1e6, true, "number of counts", NULL },
                  [RATE] = { "rate", 5, 1e-6, 1e6, false, "mean of a count without neighbours",
                             NULL },
                  [INTERACTION] = { "interaction", 0, 0, 1e6, false,
                                    "how much neighbours in the chain hold each other down", NULL },
                  [CAP] = { "cap", 0, 0, 1048575, true, "the largest count, 0: none", NULL } },
    .formula = poisson,
};
