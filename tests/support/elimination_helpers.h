/* SPDX-License-Identifier: MIT */
/* Oracles by name, models, and random numbers. */
#ifndef ELIMINATION_HELPERS_H
#define ELIMINATION_HELPERS_H

#include "test.h"

#include <saltus/saltus.h>
#include "core/rng.h"

static const sal_exact_options by_elimination = { .oracle = "elimination" };
static const sal_exact_options by_enumeration = { .oracle = "enumeration" };

static inline double *new_numbers(int64_t n)
{
    double *made = malloc((size_t)(n > 0 ? n : 1) * sizeof *made);
    ck_assert_ptr_nonnull(made);
    return made;
}

static inline sal_model *open_model(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static uint64_t counter;

static inline double uniform(void)
{
    return sali_rng_uniform_at(
        &(sali_stream){ .seed = 5, .step = counter++, .purpose = SALI_RNG_TEST }, 0);
}

static inline int64_t below(int64_t n)
{
    return (int64_t)(uniform() * (double)n);
}

#endif
