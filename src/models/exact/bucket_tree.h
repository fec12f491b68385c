/* SPDX-License-Identifier: MIT */
/* Bucket elimination (Dechter 1999): variable by variable, in a given order, all terms of the
 * variable and what earlier variables left are added up to a table over a clique, and the variable
 * is summed out; what remains is the bucket's message to the first of the others, its parent. Going
 * back, each bucket's joint distribution follows from its parent's, as in a junction tree
 * (Lauritzen & Spiegelhalter 1988).
 *
 * Variables are numbered by their places in the order. Axes of every table are in that order, the
 * last place fastest: a bucket's own variable is its first axis, and all tables agree on the last
 * axes, so that inner loops run over contiguous memory. Tables are logarithms; joint probabilities
 * are not. */
#ifndef SALI_BUCKET_TREE_H
#define SALI_BUCKET_TREE_H

#include "core/memory.h"
#include "models/exact/elimination_order.h"

typedef struct sali_bucket {
    int64_t separator; /* index of its first place in `separators` */
    int32_t n_separator;
    int32_t parent; /* the first place of the separator; -1: there is none */
    int32_t root;   /* of the tree that it is in: parts without common terms have each one */
    int32_t children, sibling; /* the first child, the parent's next child; -1 */
    int64_t term, term_end;    /* of the terms whose first variable this is, in `terms` */
    int64_t size;              /* entries of the message */
    double *message;           /* [size], less its largest entry, `shift` */
    double shift;
} sali_bucket;

typedef struct sali_bucket_tree {
    sali_memory memory; /* of the arrays but separators */
    int32_t n;
    int32_t *states;                /* [n] by place */
    int32_t *place;                 /* [n] by variable */
    int32_t *variable;              /* [n] by place */
    sali_bucket *bucket;            /* [n] by place */
    sali_local_term *terms;         /* sorted by bucket; scopes are places, ascending */
    const sali_local_terms *source; /* its arrays are rearranged, and owned by the caller */
    int32_t *separators;
    double *messages;
    double *joint;   /* [largest] of the bucket at work */
    double *scratch; /* [largest message, table of a term, or of two variables of a clique] */
    int32_t *map;    /* [entries of a block] */
    int threads;
} sali_bucket_tree;

/* The most entries of the blocks of which a table is made, unless its last axis alone has more. */
#define SALI_MOST_BLOCK 4096

/* Tables are worked on by up to so many shards, each with a block of a clique's table. */
#define SALI_BUCKET_SHARDS 32

/* Bytes that a tree takes besides its terms, and the passes over it. */
double sali_bucket_tree_bytes(const sali_elimination_order *order);

/* Scopes and tables of `terms` are rearranged in place and used until the tree is freed. The
 * order is complete. Returns: SAL_ERR_MEMORY. */
sal_status sali_bucket_tree_create(sali_local_terms *terms, const sali_elimination_order *order,
                                   int threads, sali_bucket_tree *tree, sal_error *err);
void sali_bucket_tree_free(sali_bucket_tree *tree);

/* The places of bucket p's clique, ascending, into `clique` [SALI_MOST_AXES]; their number. Tables
 * of so many axes would not fit any memory. */
#define SALI_MOST_AXES 64
int32_t sali_bucket_clique(const sali_bucket_tree *tree, int32_t p, int32_t *clique);

/* ---- bucket_sums.c */

/* The sums of bucket p's joint table, which is in tree->joint, over all places of its clique that
 * are not in `scope` (ascending): out [their states]. */
void sali_bucket_sums(const sali_bucket_tree *tree, int32_t p, const int32_t *scope, int32_t n,
                      double *out);

/* ---- bucket_pass.c. A pinned variable is taken to have one code only, and the passes go over its
 * tree; place -1: none is, and they go over all of them. */

typedef struct sali_pin {
    int32_t place, code;
} sali_pin;

/* All messages; the log of the sum over all their states, without the terms' constant. -INFINITY:
 * every state is forbidden. */
sal_status sali_bucket_upward(sali_bucket_tree *tree, sali_pin pin, double *log_z, sal_error *err);

/* After an upward pass that gave a finite log Z, once: the marginals, variable v's first at
 * marginals[begin[v]], begin[n] being R; and if they are not NULL, the pairs [R x R], in the same
 * order, of two variables i < j of one clique, and the mean of the sum of the terms. */
sal_status sali_bucket_downward(sali_bucket_tree *tree, sali_pin pin, const int64_t *begin,
                                double *marginals, double *pairs, double *mean, sal_error *err);

#endif
