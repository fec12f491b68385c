/* SPDX-License-Identifier: MIT */
/* Products with a matrix that never changes, a constant of the formula, and is mostly zeros. They
 * are read off nodes alone: by the pass that makes edges of them (ad/pass_sparse.c) and by the ops
 * that run over the other entries only (ad/ops/sparse_product.h). */
#ifndef SALI_SPARSE_H
#define SALI_SPARSE_H

#include "ad/op.h"

/* A product of a constant matrix and of what varies, both sides seen as vectors: entry (a, b) of
 * the matrix, or of its transpose if it is `turned`, takes element b step + t in_copy of the one to
 * element a step + t out_copy of the other, for all t < copies. */
typedef struct sali_sparse {
    const sali_node *matrix;
    int moving; /* the input that varies */
    bool turned;
    int64_t entries; /* of the matrix, that are not 0 */
    int64_t copies, step, in_copy, out_copy;
} sali_sparse;

/* Take in a matrix; false if it is none, or no constant. A parameter is none, whatever its values.
 * Cost:    O(its size). */
bool sali_sparse_matrix(const sali_node *node, sali_sparse *out);

/* Take in a product with such a matrix, sparse or not; false if the node is none. Cost: as above.
 */
bool sali_sparse_product(const sali_node *node, const sali_node *const *in, sali_sparse *out);

/* Whether x'Ax is better written as edges, of all copies. */
bool sali_sparse_suits_edges(const sali_sparse *sparse);

/* Whether a node is a product that had better run over the entries that are not 0. */
bool sali_is_sparse_product(const sali_node *node, const sali_node *const *in, sali_sparse *out);

#endif
