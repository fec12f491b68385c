/* SPDX-License-Identifier: MIT */
/* Bucket elimination (Dechter 1999). Each variable, in a given order, has a bucket. The terms of
 * the variable that no earlier bucket has, and the messages of earlier buckets, are added up to a
 * table over a clique. Summing the variable out of this table gives the bucket's message to its
 * parent, the bucket of the clique's next variable. On the way back, the joint distribution of each
 * clique follows from the parent's, as in a junction tree (Lauritzen & Spiegelhalter 1988).
 *
 * Variables are numbered by their places in the order. The axes of every table are in that order,
 * the last place fastest: a bucket's own variable is the first axis, and all tables agree on the
 * last axes, so that inner loops run over contiguous memory. Tables hold logarithms, except for the
 * table of joint probabilities. */
#ifndef SALI_BUCKET_TREE_H
#define SALI_BUCKET_TREE_H

#include "core/memory.h"
#include "models/exact/ancestral.h"
#include "models/exact/elimination_order.h"

typedef struct sali_bucket {
    int64_t separator; /* index of its first place in `separators` */
    int32_t n_separator;
    int32_t parent; /* the first place of the separator; -1: there is none */
    int32_t root; /* root of the tree that the bucket is in; variables that no terms connect are in
                     different trees */
    int32_t children, sibling; /* the first child; the parent's next child; -1: none */
    int64_t term, term_end;    /* range in `terms` of the terms whose first variable this is */
    int64_t size;              /* entries of the message */
    double *message;           /* [size], with its largest entry, `shift`, subtracted */
    double shift;
} sali_bucket;

typedef struct sali_bucket_tree {
    sali_memory memory; /* memory of all arrays but `separators` */
    int32_t n;
    int32_t *states;                /* [n] by place */
    int32_t *place;                 /* [n] by variable */
    int32_t *variable;              /* [n] by place */
    sali_bucket *bucket;            /* [n] by place */
    sali_local_term *terms;         /* sorted by bucket; scopes are places, ascending */
    const sali_local_terms *source; /* owned by the caller; scopes and tables are rearranged */
    int32_t *separators;
    double *messages;
    double *joint;   /* [largest clique] joint table of the current bucket */
    double *scratch; /* room for the largest message, table of a term, or table of two variables of
                        a clique */
    int32_t *map;    /* [entries of a block] */
    int threads;
} sali_bucket_tree;

/* Most entries of a block of a table, unless the table's last axis alone has more. */
#define SALI_MOST_BLOCK 4096

/* Most shards that share the work on a table, each with a block of a clique's table of its own. */
#define SALI_BUCKET_SHARDS 32

/* Bytes of a tree besides its terms, and of the passes over it. */
double sali_bucket_tree_bytes(const sali_elimination_order *order);

/* Make the tree of a complete order. The scopes and tables of `terms` are rearranged in place, and
 * are used until the tree is freed. Returns: SAL_ERR_MEMORY. */
sal_status sali_bucket_tree_create(sali_local_terms *terms, const sali_elimination_order *order,
                                   int threads, sali_bucket_tree *tree, sal_error *err);
void sali_bucket_tree_free(sali_bucket_tree *tree);

/* Write the places of bucket p's clique, ascending, into clique [SALI_MOST_AXES]. Returns how many
 * there are; a table of more axes would not fit into any memory. */
#define SALI_MOST_AXES 64
int32_t sali_bucket_clique(const sali_bucket_tree *tree, int32_t p, int32_t *clique);

/* ---- bucket_sums.c */

/* Sum bucket p's joint table, in tree->joint, over all places of the clique that are not in scope
 * [n] (ascending). `out` receives a table over the scope. */
void sali_bucket_sums(const sali_bucket_tree *tree, int32_t p, const int32_t *scope, int32_t n,
                      double *out);

/* ---- bucket_pass.c. A pinned variable is restricted to one code, and the passes visit only the
 * tree of that variable. With place -1 no variable is pinned, and the passes visit all trees. */

typedef struct sali_pin {
    int32_t place, code;
} sali_pin;

/* Compute all messages, and *log_z = the log of the sum over all states of the variables visited,
 * without the terms' constant; -INFINITY if every state is forbidden. Returns: SAL_ERR_MEMORY. */
sal_status sali_bucket_upward(sali_bucket_tree *tree, sali_pin pin, double *log_z, sal_error *err);

/* Make the directed network of all variables, the last place first, each given its separator. Must
 * follow an upward pass with a finite log Z and no pin, and keeps the messages. Returns:
 * SAL_ERR_MEMORY; *net is empty then. */
sal_status sali_bucket_conditionals(sali_bucket_tree *tree, sali_ancestral *net, sal_error *err);

/* Compute the marginals [begin[n]], of variable v from marginals[begin[v]] on. If not NULL, `pairs`
 * [R x R], in the same order, receives the entries of variables i < j, not hidden, that share a
 * clique, R being the entries of all variables that are not hidden, and *mean the mean of the sum
 * of the terms. Must follow an upward pass with a finite log Z and the same pin, and destroys the
 * messages. Returns: SAL_ERR_MEMORY. */
sal_status sali_bucket_downward(sali_bucket_tree *tree, sali_pin pin, const int64_t *begin,
                                double *marginals, double *pairs, double *mean, sal_error *err);

#endif
