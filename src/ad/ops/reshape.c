/* SPDX-License-Identifier: MIT */
/* The same numbers under another shape. Attributes: ints = the sizes. */
#include "ad/ops/ops.h"

/* The sizes may come from a file: their product must be the input's number of elements. */
static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    bool good = node->n_ints <= SAL_MAX_RANK && node->n_reals == 0;
    node->shape = SAL_SCALAR;
    for (int64_t i = 0; good && i < node->n_ints; i++) {
        node->shape.dim[node->shape.rank++] = node->ints[i];
    }
    int64_t size = sali_shape_size(&context->in[0]->shape);
    if (!good || sali_shape_checked_size(&node->shape) != size) {
        return sali_shape_fail(node, context, "as many elements in at most 4 axes as before");
    }
    return SAL_OK;
}

const sali_op RN(sali_op_reshape) = {
    .name = "reshape",
    .arity = 1,
    .linear = true,
    .alias = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "a, in row-major order under another shape",
    .term = sali_term_same,
    .shape = shape,
    .degree = sali_degree_linear,
};
