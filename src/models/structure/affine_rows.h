/* SPDX-License-Identifier: MIT */
/* Nodes of a formula as affine functions of unknowns: the forward half of reading a quadratic
 * polynomial off a tape. */
#ifndef SALI_AFFINE_ROWS_H
#define SALI_AFFINE_ROWS_H

#include "models/tape_model.h"

/* The variables that affine functions are functions of. */
typedef enum sali_unknowns {
    SALI_REALS, /* the reals of the model's embedding */
    SALI_BITS   /* the codes of the model's variables, which have two states at most */
} sali_unknowns;

/* base + sum_k slope[k] u_unknown[k]; no slope is 0. */
typedef struct sali_affine {
    double base;
    int64_t n;
    const int32_t *unknown;
    const double *slope;
} sali_affine;

/* The elements of one node. */
typedef struct sali_node_rows {
    double *base;   /* [size] */
    int64_t *begin; /* [size + 1] */
    int64_t used, room;
    int32_t *unknown; /* of element k: begin[k] .. begin[k + 1] - 1 */
    double *slope;
} sali_node_rows;

typedef struct sali_affine_rows {
    const sal_model *model;
    const sali_program *program;
    const sali_params *params;
    sali_unknowns unknowns;
    int32_t *free;        /* [variables of the tape] the model's variable, -1: clamped */
    int32_t *code;        /* [variables of the tape] the code of a clamped variable */
    sali_node_rows *node; /* [n_nodes] `begin` is NULL for nodes without rows */
    int64_t used;         /* slopes of all nodes */
} sali_affine_rows;

/* Write the rows of the state and of the nodes that f multiplies. Returns: SAL_ERR_UNSUPPORTED when
 * f is more than products of affine functions and tables of the state, SAL_ERR_MEMORY; no messages.
 * Free the rows in any case. */
sal_status sali_affine_rows_create(const sal_model *model, sali_unknowns unknowns,
                                   sali_affine_rows *rows);
void sali_affine_rows_free(sali_affine_rows *rows);

/* Element k of a node that has rows. */
static inline sali_affine sali_affine_row(const sali_affine_rows *rows, int32_t node, int64_t k)
{
    const sali_node_rows *r = &rows->node[node];
    return (sali_affine){ r->base[k], r->begin[k + 1] - r->begin[k], r->unknown + r->begin[k],
                          r->slope + r->begin[k] };
}

/* base + slope u_unknown: the bit of a variable of two levels (1 at code 1), or the indicator that
 * a categorical variable has this code. */
typedef struct sali_indicator {
    double base, slope;
    int32_t unknown;
} sali_indicator;
sali_indicator sali_affine_indicator(const sali_affine_rows *rows, int64_t variable, int32_t code);

#endif
