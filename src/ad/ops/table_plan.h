/* SPDX-License-Identifier: MIT */
/* The geometry of a table node: where factors' tables and their variables lie. */
#ifndef SALI_TABLE_PLAN_H
#define SALI_TABLE_PLAN_H

#include "ad/op.h"

/* A variable in the scope of a factor. */
typedef struct table_place {
    int64_t stride; /* in the table */
    int64_t offset; /* of its first real in the embedding */
    int32_t variable, states;
    bool two_level;
    double low, high;    /* the levels of a two-level variable */
    double inverse_span; /* 1 / (high - low) */
} table_place;

typedef struct table_factor {
    int64_t start, size; /* of its table in T */
    const table_place *scope, *scope_end;
} table_factor;

/* A factor that has a variable in its scope, and where. */
typedef struct table_incidence {
    int64_t factor;
    const table_place *place;
} table_incidence;

typedef struct table_plan {
    int64_t n_factors, n_variables;
    table_factor *factors;
    int64_t *begin;             /* [n_variables + 1] of each variable's incidences */
    table_incidence *incidence; /* [scopes' lengths in all] */
} table_plan;

/* The op's rules that are the same for both element types. */
sal_status sali_table_shape(sali_node *node, const sali_shape_context *context);
sali_degree sali_table_degree(const sali_node *node, const sali_node *const *in,
                              const sali_degree *in_degree, const sal_space *space);
bool sali_table_next(const sali_node *node, const sal_space *space, sali_op_table *table);
sal_status sali_table_plan(const sali_node *node, const sali_node *const *in,
                           const sal_space *space, void **plan, sal_error *err);

#endif
