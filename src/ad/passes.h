/* SPDX-License-Identifier: MIT */
/* Passes: rewriting of a tape between recording and running. A pass gets a tape of its own,
 * rewrites its list of nodes in place and keeps nodes after their inputs and parameters in their
 * order; on failure the tape is only fit to be destroyed.
 *
 * Three things happen always and are no switches. Nodes that depend on parameters only are hoisted
 * (ad/params.c): to be evaluated with every call such nodes would need a copy a chain, and kernels
 * whose couplings, weights or tables must not depend on the state have no such form. Memory layouts
 * (ad/layout.c) are chosen last, for the list that the passes leave. And products with a constant
 * that is mostly zeros run over its nonzero entries (ad/sparse.h). */
#ifndef SALI_PASSES_H
#define SALI_PASSES_H

#include "ad/tape.h"

typedef sal_status sali_pass_run(sal_tape *tape, int32_t *output, sal_error *err);

/* A row of the list of passes. */
typedef struct sali_pass {
    sal_pass bit;
    const char *name;
    const char *doc;    /* one line for lists */
    sali_pass_run *run; /* NULL: the pass acts when the program is made or run */
} sali_pass;

/* The k-th pass in the order in which they run, or NULL. */
const sali_pass *sali_pass_at(int64_t k);

static inline bool sali_pass_is_on(const sali_pass *pass, uint32_t set)
{
    return (set & pass->bit) != 0;
}

/* Run the passes of the set on a tape; *output is the node of f, before and after. */
sal_status sali_passes_run(sal_tape *tape, uint32_t set, int32_t *output, sal_error *err);

sali_pass_run sali_pass_sparse;    /* edges for forms of sparse constants */
sali_pass_run sali_pass_products;  /* edges for sums of products of coordinates */
sali_pass_run sali_pass_canonical; /* f's multilinear form on the lattice */
sali_pass_run sali_pass_constants; /* additive constants last */
sali_pass_run sali_pass_common;    /* one node for equal ones */
sali_pass_run sali_pass_dead_code; /* drop what f does not need */

#endif
