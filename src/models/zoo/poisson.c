/* Poisson counts: independent ones, or a chain whose neighbours hold each other down (the
 * auto-Poisson model of Besag 1974; a positive coupling would have no finite sum). */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"

enum { DIM, RATE, INTERACTION, CAP };

static sal_tape *make_tape(const double *values, sal_dtype dtype)
{
    sal_space *space = sal_space_create();
    sal_tape *tape = NULL;
    sal_block block = { .name = "count",
                        .kind = SAL_COUNT,
                        .count = (int64_t)values[DIM],
                        .cap = (int64_t)values[CAP] };
    if (space && sal_space_add(space, &block, NULL) == SAL_OK) {
        tape = sal_tape_create(space, dtype);
    }
    sal_space_destroy(space);
    return tape;
}

/* sum over i of x_i x_(i+1), for dim > 1. */
static sal_expr neighbours(sal_expr x, int64_t dim)
{
    return sal_dot(sal_slice(x, 0, 0, dim - 1), sal_slice(x, 0, 1, dim - 1));
}

static sal_status make_poisson(const double *values, sal_dtype dtype, sal_model **out,
                               sal_error *err)
{
    int64_t dim = (int64_t)values[DIM];
    bool coupled = dim > 1 && values[INTERACTION] > 0;
    sal_tape *tape = make_tape(values, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr x = sal_state(tape), b = sal_param(tape, "log_rate", SAL_SHAPE(dim));
    sal_expr f = sal_sub(sal_dot(b, x), sal_sum(sal_lgamma(sal_add(x, sal_scalar(tape, 1)))));
    if (coupled) {
        f = sal_sub(f, sal_mul(sal_param(tape, "interaction", SAL_SCALAR), neighbours(x, dim)));
    }
    sal_status status = sali_builtin_finish(tape, f, "poisson", out, err);
    if (status == SAL_OK) {
        status = sali_builtin_fill(*out, "log_rate", log(values[RATE]), err);
    }
    if (status == SAL_OK && coupled) {
        status = sali_builtin_fill(*out, "interaction", values[INTERACTION], err);
    }
    return status;
}

const sali_builtin sali_builtin_poisson = {
    .name = "poisson",
    .doc = "sum_i x_i log rate - lgamma(x_i + 1) - interaction x_i x_(i+1), x in {0, 1, 2, ..}^dim",
    .source = "Grathwohl et al. 2021 table 1; Besag 1974 (interaction)",
    .dtype = SAL_F64,
    .parameters = { [DIM] = { "dim", 10, 1, 1e6, true, "number of counts", NULL },
                    [RATE] = { "rate", 5, 1e-6, 1e6, false, "mean of a count without neighbours",
                               NULL },
                    [INTERACTION] = { "interaction", 0, 0, 1e6, false,
                                      "how much neighbours in the chain hold each other down",
                                      NULL },
                    [CAP] = { "cap", 0, 0, 1048575, true, "the largest count, 0: none", NULL } },
    .make = make_poisson,
};
