/* SPDX-License-Identifier: MIT */
/* Nodes of one element as sums of products of coordinates of the state, which slices, gathers,
 * indices and the like pick out, expanded by the ops' terms (ad/op.h). Each product has a number,
 * and perhaps an element of a node that does not depend on the state, its leaf: a weight that is a
 * parameter. */
#ifndef SALI_COORDINATE_SUMS_H
#define SALI_COORDINATE_SUMS_H

#include "ad/rewriter.h"

enum { SALI_NO_LEAF = -1, SALI_MOST_LISTS = 16 };

typedef struct sali_product {
    double number;
    int32_t node;  /* of the leaf, or SALI_NO_LEAF */
    int64_t leaf;  /* element of the node */
    int64_t frame; /* used by the search only */
} sali_product;

/* How many coordinates the products of a list have. */
typedef enum sali_product_kind {
    SALI_SINGLES, /* one: `ints` are the attributes of a gather, 0 and the coordinates */
    SALI_PAIRS,   /* two: `ints` are the attributes of `edges`, the pairs */
    SALI_FACTORS  /* more, of different variables with two levels or one-hot states: `ints` are the
                     attributes of `table` */
} sali_product_kind;

/* Products of one kind whose leaves are elements of one node, or which have no leaves. */
typedef struct sali_product_list {
    sali_product_kind kind;
    int32_t leaf; /* the node, or SALI_NO_LEAF */
    int64_t n, room, n_ints, ints_room;
    int64_t *ints;   /* [n_ints] attributes of the op that adds the list up */
    sali_product *w; /* [n] a weight of each product; of a factor, one of each entry of its table */
} sali_product_list;

/* The sum of lists, linear'x and a constant. */
typedef struct sali_coordinate_sum {
    int n_lists;
    sali_product_list lists[SALI_MOST_LISTS];
    double *linear; /* [width of the state]; NULL: none */
    double constant;
} sali_coordinate_sum;

/* Find the old nodes that are such sums: found[i], NULL before, becomes the sum of node i. Only the
 * outermost node of a sum is listed, and only if the sum has products of different coordinates, and
 * no more products than the nodes in which these are found have elements (others are sums by a
 * matrix). Free all of `found` in any case.
 * Returns: SAL_ERR_MEMORY, no message.
 * Cost:    O(elements of all nodes). */
sal_status sali_coordinate_sums_find(const sali_rewriter *r, sali_coordinate_sum **found);
void sali_coordinate_sum_free(sali_coordinate_sum *sum);

#endif
