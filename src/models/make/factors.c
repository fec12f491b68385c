/* SPDX-License-Identifier: MIT */
/* Factor graphs: Bayesian and Markov networks as one table op. */
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/model.h"

/* One categorical block for each run of variables with one cardinality. */
static sal_status make_space(int64_t n, const int32_t *states, sal_space **out, sal_error *err)
{
    sal_space *space = sal_space_create();
    sal_status status = space ? SAL_OK : sali_fail_memory(err);
    for (int64_t first = 0; status == SAL_OK && first < n;) {
        int64_t last = first;
        while (last < n && states[last] == states[first]) {
            last++;
        }
        char name[32];
        snprintf(name, sizeof name, "x%lld", (long long)first);
        status = sal_space_add(space,
                               &(sal_block){ .name = name,
                                             .kind = SAL_CATEGORICAL,
                                             .count = last - first,
                                             .states = states[first] },
                               err);
        first = last;
    }
    if (status != SAL_OK) {
        sal_space_destroy(space);
        return status;
    }
    *out = space;
    return SAL_OK;
}

/* Number of table entries in all, or -1 if a scope is out of range or the number overflows. */
static int64_t count_entries(int64_t n, const int32_t *states, int64_t n_factors,
                             const int64_t *scope_begin, const int64_t *scope)
{
    int64_t total = 0;
    for (int64_t m = 0; m < n_factors; m++) {
        int64_t size = 1;
        for (int64_t k = scope_begin[m]; k < scope_begin[m + 1]; k++) {
            if (scope[k] < 0 || scope[k] >= n ||
                __builtin_mul_overflow(size, states[scope[k]], &size)) {
                return -1;
            }
        }
        if (__builtin_add_overflow(total, size, &total)) {
            return -1;
        }
    }
    return total;
}

sal_status sal_model_from_factors(int64_t n_variables, const int32_t *states, int64_t n_factors,
                                  const int64_t *scope_begin, const int64_t *scope,
                                  const double *log_tables, sal_dtype dtype, sal_model **model,
                                  sal_error *err)
{
    if (n_variables < 1 || n_factors < 1 || !states || !scope_begin || !scope || !log_tables) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "factor graph: expected at least one variable and one factor");
    }
    int64_t entries = count_entries(n_variables, states, n_factors, scope_begin, scope);
    if (entries < 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "factor graph: a scope is out of range or a table too large");
    }
    sal_space *space = NULL;
    sal_status status = make_space(n_variables, states, &space, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_model *made = NULL;
    sal_tape *tape = sal_tape_create(space, dtype ? dtype : SAL_F64);
    if (tape) {
        sal_expr T = sal_constant(tape, log_tables, SAL_SHAPE(entries));
        sal_expr f = sal_table(tape, T, n_factors, scope_begin, scope);
        status = sal_model_from_tape(tape, f, &made, err);
    } else {
        status = sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        status = sal_model_set_name(made, "factor-graph", err);
    }
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    if (status != SAL_OK) {
        sal_model_destroy(made);
        return status;
    }
    *model = made;
    return SAL_OK;
}
