/* SPDX-License-Identifier: MIT */
/* Recording: a growing list of nodes over a space, and the first mistake. */
#ifndef SALI_TAPE_H
#define SALI_TAPE_H

#include "ad/op.h"

struct sal_tape {
    sal_space *space;
    sal_dtype dtype;
    sali_node *nodes;
    int64_t n_nodes, nodes_room;
    uint32_t passes;   /* SAL_PASS_* */
    sal_status status; /* of the first mistake */
    sal_error error;
};

/* What to record: everything is copied. */
typedef struct sali_node_spec {
    sali_op_id op;
    int32_t n_in;
    const sal_expr *in;
    int64_t n_ints;
    const int64_t *ints;
    int64_t n_reals;
    const double *reals;
    const char *name;       /* parameters */
    const sal_shape *shape; /* parameters and constants: the shape they have */
    const char *file;
    int line;
} sali_node_spec;

/* Append a node. On a mistake, store it on the tape and return an invalid expression. */
sal_expr sali_record(sal_tape *tape, const sali_node_spec *spec);

/* Store a mistake on the tape, with its place, unless the tape has one already. Returns an invalid
 * expression. */
sal_expr sali_record_error(sal_tape *tape, const char *file, int line, sal_status status,
                           const char *message);

void sali_node_clear(sali_node *node);

/* A deep copy of a tape without mistakes, or NULL when out of memory. */
sal_tape *sali_tape_clone(const sal_tape *tape);

/* Move node i down to place tape->n_nodes, which grows; inputs are renumbered by `map`. For passes
 * that go through the nodes in order and drop some. Returns the new place. */
int32_t sali_tape_keep(sal_tape *tape, int64_t i, const int32_t *map);

/* A deep copy of `from` with inputs renumbered by `map` (NULL: unchanged); false: out of memory. */
bool sali_node_copy(sali_node *to, const sali_node *from, const int32_t *map);

#endif
