/* SPDX-License-Identifier: MIT */
/* Fixed values, a leaf: the program fills them in. Attributes: reals = the values. */
#include "ad/ops/ops.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    return sali_shape_given(node, context, 1);
}

const sali_op RN(sali_op_constant) = {
    .name = "constant",
    .doc = "fixed values",
    .shape = shape,
};
