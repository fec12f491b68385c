/* SPDX-License-Identifier: MIT */
/* factor * a for a fixed number. Attributes: reals = { factor }. */
#define VALUE(x) (p * (x))
#define SLOPE(x, y) p
#include "ad/ops/unary.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    node->shape = context->in[0]->shape;
    return sali_expect_attributes(node, 0, 1, context->err);
}

static sali_op_term term(const sali_term_place *p)
{
    return (sali_op_term){ .count = 1, .factor = p->node->reals[0], .n = 1, .at = { p->k } };
}

const sali_op RN(sali_op_scale) = {
    UNARY_FIELDS(scale, "factor a", -2, 2), .linear = true, .term = term, .shape = shape,
    .degree = sali_degree_linear,
};
