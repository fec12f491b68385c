/* SPDX-License-Identifier: MIT */
/* Shared by the passes that record a tape again: they go through its nodes in order, and replace
 * some nodes by others. */
#ifndef SALI_REWRITER_H
#define SALI_REWRITER_H

#include "ad/tape.h"

typedef struct sali_rewriter {
    sal_tape *tape; /* the new list */
    int32_t *map;   /* from old nodes to new ones */
    sali_node *old;
    int64_t n_old;
    void *context; /* the pass's own */
} sali_rewriter;

/* Store in *made the expression that replaces old node i, whose inputs are already replaced; leave
 * made->tape NULL to keep the node. Returns: SAL_ERR_MEMORY. */
typedef sal_status sali_rewrite_node(sali_rewriter *r, int64_t i, sal_expr *made);

/* Move the nodes of a pass's tape to r->old, which leaves the tape empty. Call sali_rewriter_close
 * even after a failure. Returns: SAL_ERR_MEMORY, no message. */
sal_status sali_rewriter_open(sali_rewriter *r, sal_tape *tape);

/* Record the tape again with the replacements; *output is the node of f, before and after. Returns:
 * SAL_ERR_MEMORY, or the first mistake in what was recorded, with its message. */
sal_status sali_rewriter_run(sali_rewriter *r, sali_rewrite_node *rewrite, int32_t *output,
                             sal_error *err);
void sali_rewriter_close(sali_rewriter *r);

/* ---- recording replacements, with the file and line of the old node `place` */

sal_expr sali_rewriter_record(sali_rewriter *r, const sali_node *place, sali_op_id op, int32_t n_in,
                              const sal_expr *in, int64_t n_ints, const int64_t *ints);
sal_expr sali_rewriter_two(sali_rewriter *r, const sali_node *place, sali_op_id op, sal_expr a,
                           sal_expr b);
sal_expr sali_rewriter_constant(sali_rewriter *r, const sali_node *place, const double *values,
                                sal_shape shape);

/* The new node that stands for node number `old`. */
static inline sal_expr sali_rewriter_moved(const sali_rewriter *r, int32_t old)
{
    return (sal_expr){ .tape = r->tape, .node = r->map[old] };
}

#endif
