/* SPDX-License-Identifier: MIT */
/* Of which terms a formula is the sum, and which variables each element of its nodes depends on,
 * read off the tape; whatever the values of parameters. */
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
    sali_node_scopes *node; /* by node; empty for those that do not vary */
    bool *summed;           /* by node: see sali_mark_summed */
    int32_t *list;          /* [V] a union in the making */
    int64_t n_list, *seen, stamp;
    int64_t reads, most_reads; /* entries of scopes read so far, and their bound */
} sali_scopes;

/* Returns: SAL_ERR_MEMORY. Cost: O(elements of the tape's values and of what they depend on), given
 * up beyond a bound of its own or after reading `most` entries: then nodes are `all`. Free it in
 * any case. */
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

/* Call visit(context, term) for all terms of f; their variables are scopes->list[0 .. n_list - 1],
 * the tape's, in no order (none for SALI_TERM_WHOLE). Stops when that is false, and returns it. */
bool sali_scopes_visit(sali_scopes *scopes, bool (*visit)(void *context, const sali_term *term),
                       void *context);

/* Ascending order of the variables in a scope, for qsort and bsearch. */
int sali_compare_variables(const void *a, const void *b);

#endif
