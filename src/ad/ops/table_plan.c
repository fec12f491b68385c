/* SPDX-License-Identifier: MIT */
#include "ad/ops/table_plan.h"

#include <string.h>

#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"

/* Fail unless variable v of a factor has two levels or is categorical. */
static sal_status check_variable(int64_t factor, int64_t v, const sali_variable *variable,
                                 sal_error *err)
{
    if (variable->kind == SAL_CATEGORICAL || variable->states == 2) {
        return SAL_OK;
    }
    return variable->states == 0
               ? sali_fail(err, SAL_ERR_SHAPE,
                           "table: factor %lld has variable %lld, which is a count without a cap",
                           (long long)factor, (long long)v)
               : sali_fail(err, SAL_ERR_SHAPE,
                           "table: factor %lld has variable %lld, which is %s with %d states; make "
                           "it categorical",
                           (long long)factor, (long long)v,
                           variable->kind == SAL_COUNT ? "a count" : "ordinal", variable->states);
}

/* Check one factor's attributes from ints[*at] on, its length and its scope, and move *at behind
 * them. seen [variables]: 1 + the last factor that has the variable. *size: the size of its
 * table. */
static sal_status check_factor(const sali_node *node, const sali_shape_context *context,
                               int64_t factor, int64_t *seen, int64_t *at, int64_t *size)
{
    const sal_space *space = context->space;
    int64_t length = *at < node->n_ints ? node->ints[(*at)++] : -1;
    if (length < 0 || length > node->n_ints - *at) {
        return sali_fail(context->err, SAL_ERR_SHAPE, "table: factor %lld has no scope",
                         (long long)factor);
    }
    *size = 1;
    for (int64_t end = *at + length; *at < end; ++*at) {
        int64_t v = node->ints[*at];
        if (v < 0 || v >= space->n_variables) {
            return sali_fail(context->err, SAL_ERR_SHAPE,
                             "table: factor %lld has variable %lld; expected 0 to %lld",
                             (long long)factor, (long long)v, (long long)(space->n_variables - 1));
        }
        const sali_variable *variable = &space->variables[v];
        sal_status status = check_variable(factor, v, variable, context->err);
        if (status != SAL_OK) {
            return status;
        }
        if (seen[v] == factor + 1) {
            return sali_fail(context->err, SAL_ERR_SHAPE,
                             "table: factor %lld has variable %lld twice", (long long)factor,
                             (long long)v);
        }
        seen[v] = factor + 1;
        if (__builtin_mul_overflow(*size, variable->states, size)) {
            return sali_fail(context->err, SAL_ERR_SHAPE, "table: factor %lld has too many states",
                             (long long)factor);
        }
    }
    return SAL_OK;
}

/* Check the attributes of all factors; *total: the size of all tables together. */
static sal_status check_factors(const sali_node *node, const sali_shape_context *context,
                                int64_t *seen, int64_t *total)
{
    int64_t n_factors = node->ints[0], at = 1;
    *total = 0;
    for (int64_t m = 0; m < n_factors; m++) {
        int64_t size = 0;
        sal_status status = check_factor(node, context, m, seen, &at, &size);
        if (status != SAL_OK) {
            return status;
        }
        if (__builtin_add_overflow(*total, size, total)) {
            return sali_fail(context->err, SAL_ERR_SHAPE, "table: the factors are too large");
        }
    }
    if (at != node->n_ints) {
        return sali_fail(context->err, SAL_ERR_SHAPE,
                         "table: %lld integers after the last factor's scope",
                         (long long)(node->n_ints - at));
    }
    return SAL_OK;
}

sal_status sali_table_shape(sali_node *node, const sali_shape_context *context)
{
    if (context->in[0]->op != SALI_OP_state || context->in[1]->shape.rank != 1) {
        return sali_shape_fail(node, context, "the state and a vector of all tables");
    }
    if (node->n_reals != 0 || node->n_ints < 1 || node->ints[0] < 1 ||
        node->ints[0] > node->n_ints - 1) {
        return sali_fail(context->err, SAL_ERR_SHAPE,
                         "table: expected the number of factors (>= 1) and their scopes");
    }
    int64_t total, *seen = SALI_NEW_ARRAY(int64_t, context->space->n_variables);
    if (!seen) {
        return sali_fail_memory(context->err);
    }
    sal_status status = check_factors(node, context, seen, &total);
    sali_free(seen);
    if (status == SAL_OK && total != context->in[1]->shape.dim[0]) {
        char expected[96];
        snprintf(expected, sizeof expected, "tables with %lld entries, as the scopes have",
                 (long long)total);
        return sali_shape_fail(node, context, expected);
    }
    node->shape = SAL_SCALAR;
    return status;
}

/* ints = the number of factors; of each its length and its variables. */
bool sali_table_next(const sali_node *node, const sal_space *space, sali_op_table *table)
{
    bool first = table->index < 0;
    const int64_t *at = first ? node->ints + 1 : table->scope + table->length;
    if (table->index + 1 >= node->ints[0]) {
        return false;
    }
    *table = (sali_op_table){ .index = table->index + 1,
                              .length = *at,
                              .start = first ? 0 : table->start + table->size,
                              .size = 1,
                              .scope = at + 1 };
    for (int64_t k = 0; k < table->length; k++) {
        table->size *= space->variables[table->scope[k]].states;
    }
    return true;
}

sali_degree sali_table_degree(const sali_node *node, const sali_node *const *in,
                              const sali_degree *in_degree, const sal_space *space)
{
    (void)node;
    (void)in;
    (void)in_degree;
    (void)space;
    return SALI_MULTILINEAR;
}

/* Fill `places` for one factor's scope, the last variable fastest; returns the size of the factor's
 * table. */
static int64_t fill_scope(const sal_space *space, int64_t length, const int64_t *scope,
                          table_place *places)
{
    int64_t size = 1;
    for (int64_t k = length - 1; k >= 0; k--) {
        const sali_variable *variable = &space->variables[scope[k]];
        bool two_level = variable->kind != SAL_CATEGORICAL;
        places[k] = (table_place){
            .stride = size,
            .offset = variable->offset,
            .variable = (int32_t)scope[k],
            .states = variable->states,
            .two_level = two_level,
            .low = two_level ? variable->levels[0] : 0,
            .high = two_level ? variable->levels[1] : 0,
            .inverse_span = two_level ? 1 / (variable->levels[1] - variable->levels[0]) : 0,
        };
        size *= variable->states;
    }
    return size;
}

/* Fill `begin`, all zeros before, and `incidence`: the factors of each variable. */
static void fill_incidence(table_plan *plan)
{
    for (int64_t m = 0; m < plan->n_factors; m++) {
        const table_factor *factor = &plan->factors[m];
        for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
            plan->begin[p->variable + 1]++;
        }
    }
    for (int64_t v = 0; v < plan->n_variables; v++) {
        plan->begin[v + 1] += plan->begin[v];
    }
    for (int64_t m = 0; m < plan->n_factors; m++) {
        const table_factor *factor = &plan->factors[m];
        for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
            int64_t at = plan->begin[p->variable]++; /* now the end of what is filled */
            plan->incidence[at] = (table_incidence){ .factor = m, .place = p };
        }
    }
    memmove(plan->begin + 1, plan->begin, (size_t)plan->n_variables * sizeof *plan->begin);
    plan->begin[0] = 0;
}

/* A plan with its lists, not yet filled, in one block of memory; NULL: out of memory. */
static table_plan *allocate_plan(int64_t n_factors, int64_t n_places, int64_t n_variables)
{
    size_t sizes[] = { sizeof(table_plan), (size_t)n_factors * sizeof(table_factor),
                       (size_t)n_places * sizeof(table_place),
                       (size_t)(n_variables + 1) * sizeof(int64_t),
                       (size_t)n_places * sizeof(table_incidence) };
    size_t total = 0;
    for (int k = 0; k < 5; k++) {
        total += sizes[k];
    }
    char *block = sali_alloc((int64_t)total, 1);
    if (!block) {
        return NULL;
    }
    table_plan *plan = (table_plan *)(void *)block;
    char *lists = block + sizes[0];
    plan->n_factors = n_factors;
    plan->n_variables = n_variables;
    plan->factors = (table_factor *)(void *)lists;
    plan->begin = (int64_t *)(void *)(lists + sizes[1] + sizes[2]);
    plan->incidence = (table_incidence *)(void *)(lists + sizes[1] + sizes[2] + sizes[3]);
    return plan;
}

sal_status sali_table_plan(const sali_node *node, const sali_node *const *in,
                           const sal_space *space, void **plan, sal_error *err)
{
    (void)in;
    int64_t n_factors = node->ints[0], n_places = node->n_ints - 1 - n_factors, start = 0;
    table_plan *made = allocate_plan(n_factors, n_places, space->n_variables);
    if (!made) {
        return sali_fail_memory(err);
    }
    table_place *places = (table_place *)(void *)(made->factors + n_factors);
    const int64_t *ints = node->ints + 1;
    for (int64_t m = 0; m < n_factors; m++) {
        int64_t length = *ints++;
        int64_t size = fill_scope(space, length, ints, places);
        made->factors[m] = (table_factor){
            .start = start, .size = size, .scope = places, .scope_end = places + length
        };
        start += size;
        places += length;
        ints += length;
    }
    fill_incidence(made);
    *plan = made;
    return SAL_OK;
}
