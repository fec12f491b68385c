/* SPDX-License-Identifier: MIT */
/* The state, a leaf: the program fills its values. */
#include "ad/ops/ops.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    node->shape = SAL_SHAPE(context->space->width);
    return sali_expect_attributes(node, 0, 0, context->err);
}

static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    (void)node;
    (void)in;
    (void)in_degree;
    (void)space;
    return SALI_COORDINATES;
}

const sali_op RN(sali_op_state) = {
    .name = "state",
    .doc = "s",
    .shape = shape,
    .degree = degree,
};
