/* SPDX-License-Identifier: MIT */
#include "ad/sparse.h"

/* At most one entry in SHARE may be nonzero. Measured in float with 32 chains on one thread, random
 * matrices of 60 to 1000 rows, in parts of the time that the dense product takes. Products: a step
 * of dula takes 0.4 to 0.95 at one entry in 32, 0.8 to 1.05 at one in 16, 1.05 to 1.5 at one in 8;
 * one of gibbs 0.5 to 0.95, 0.8 to 1.15 and 1.3 to 2.4. Forms of 1000 spins as edges: at one in 16
 * dula, gibbs and gwg take 0.5 to 0.7, at one in 8 0.7 to 1.05. */
enum { SHARE = 16 };

/* The limit for forms with at least MANY copies of their matrix: labels. At one in 4 gradients of
 * 200 to 500 sites of 20 labels take 0.6 to 1.4 of the dense product's time, and a step of gibbs on
 * a sudoku a fiftieth. */
enum { MANY = 8, SHARE_OF_MANY = 4 };

/* Beyond this the copies of a matrix, as lists of edges, would not fit. */
#define MOST_ENTRIES (INT64_C(1) << 28)

bool sali_sparse_matrix(const sali_node *node, sali_sparse *out)
{
    *out = (sali_sparse){ .matrix = node, .copies = 1, .step = 1 };
    for (int64_t k = 0; k < node->n_reals; k++) {
        out->entries += node->reals[k] != 0;
    }
    return node->op == SALI_OP_constant && node->shape.rank == 2;
}

bool sali_sparse_product(const sali_node *node, const sali_node *const *in, sali_sparse *out)
{
    bool matvec = node->op == SALI_OP_matvec;
    if (!node->varying || !(matvec || node->op == SALI_OP_matmul)) {
        return false;
    }
    int moving = in[0]->varying ? 0 : 1;
    if (!sali_sparse_matrix(in[1 - moving], out)) {
        return false;
    }
    const int64_t *other = in[moving]->shape.dim;
    out->moving = moving;
    out->turned = moving == 0;
    out->copies = matvec ? 1 : other[moving];
    out->step = moving && !matvec ? other[1] : 1;
    out->in_copy = moving ? 1 : other[1];
    out->out_copy = moving ? 1 : out->matrix->shape.dim[1];
    return out->copies <= MOST_ENTRIES / (out->entries + 1) &&
           sali_shape_size(&node->shape) <= INT32_MAX &&
           sali_shape_size(&in[moving]->shape) <= INT32_MAX;
}

bool sali_sparse_suits_edges(const sali_sparse *sparse)
{
    int64_t share = sparse->copies >= MANY ? SHARE_OF_MANY : SHARE;
    return sparse->entries * share <= sparse->matrix->n_reals;
}

bool sali_is_sparse_product(const sali_node *node, const sali_node *const *in, sali_sparse *out)
{
    return sali_sparse_product(node, in, out) && out->entries * SHARE <= out->matrix->n_reals;
}
