/* SPDX-License-Identifier: MIT */
/* The terms that a formula is a sum of, and the variables that each element of its nodes depends
 * on, found by inspecting the tape. They hold whatever the values of parameters. */
#ifndef SALI_SCOPES_H
#define SALI_SCOPES_H

#include "models/tape_model.h"

typedef struct sali_node_scopes {
    bool all;       /* any element may depend on any variable: none are listed */
    int64_t *begin; /* [size + 1] element k's variables are variable[begin[k]] .. */
    int32_t *variable;
} sali_node_scopes;

typedef struct sali_scopes {
    const sali_program *program;
    const sali_params *params;
    sali_node_scopes *node; /* [n_nodes] empty for nodes that do not vary */
    bool *summed;           /* [n_nodes] see sali_mark_summed */
    int32_t *list;          /* [V] the n_list variables of the union that is being formed */
    int64_t n_list, *seen, stamp;
    int64_t reads, most_reads; /* entries of scopes read so far, and their bound */
} sali_scopes;

/* Find the scopes of all nodes. Beyond a bound, or after reading `most` entries of scopes, nodes
 * are `all`. Free the scopes in any case. Returns: SAL_ERR_MEMORY. Cost: O(elements of the tape's
 * values and of what they depend on). */
sal_status sali_scopes_create(const sali_tape_model *tape, int64_t most, sali_scopes *scopes);
void sali_scopes_free(sali_scopes *scopes);

typedef enum sali_term_kind {
    SALI_TERM_TABLE,   /* one of the tables of the node */
    SALI_TERM_PRODUCT, /* one of the products that element `index` of the node is a sum of */
    SALI_TERM_ELEMENT, /* element `index` of the node */
    SALI_TERM_WHOLE    /* all of the node: it may depend on any variable */
} sali_term_kind;

typedef struct sali_term {
    sali_term_kind kind;
    int32_t node;
    int64_t index;
    sali_op_term product;
    sali_op_table table;
} sali_term;

/* Call visit(context, term) for all terms of f; the variables of a term are scopes->list[0 ..
 * n_list - 1], numbered as in the tape, in no order (none for SALI_TERM_WHOLE). Stops when a call
 * returns false, and returns false then. */
bool sali_scopes_visit(sali_scopes *scopes, bool (*visit)(void *context, const sali_term *term),
                       void *context);

/* Ascending order of the variables in a scope, for qsort and bsearch. */
int sali_compare_variables(const void *a, const void *b);

#endif
