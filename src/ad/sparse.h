/* SPDX-License-Identifier: MIT */
/* Products with a matrix that never changes, a constant of the formula, and is mostly zeros. They
 * are recognised from nodes alone: by the pass that makes edges of them (ad/pass_sparse.c) and by
 * the ops that run over the nonzero entries only (ad/ops/sparse_product.h). */
#ifndef SALI_SPARSE_H
#define SALI_SPARSE_H

#include "ad/op.h"

/* A product of a constant matrix and an input that varies, with input and output seen as vectors:
 * entry (a, b) of the matrix, or of its transpose if `turned`, multiplies element b step + t
 * in_copy of the input and is added to element a step + t out_copy of the output, for all t <
 * copies. */
typedef struct sali_sparse {
    const sali_node *matrix;
    int moving; /* the input that varies */
    bool turned;
    int64_t entries; /* nonzero entries of the matrix */
    int64_t copies, step, in_copy, out_copy;
} sali_sparse;

/* Fill `out` for a constant matrix by itself; false: the node is no matrix, or no constant. A
 * parameter is no constant, whatever its values.
 * Cost:    O(its size). */
bool sali_sparse_matrix(const sali_node *node, sali_sparse *out);

/* Fill `out` for a product of a constant matrix, sparse or not, with an input that varies; false:
 * the node is something else. Cost: as above. */
bool sali_sparse_product(const sali_node *node, const sali_node *const *in, sali_sparse *out);

/* Whether x'Ax, summed over all copies, costs less as edges. */
bool sali_sparse_suits_edges(const sali_sparse *sparse);

/* Whether a node is a product that costs less over the nonzero entries only; fills `out`. */
bool sali_is_sparse_product(const sali_node *node, const sali_node *const *in, sali_sparse *out);

#endif
