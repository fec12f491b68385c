/* SPDX-License-Identifier: MIT */
/* What elementwise functions of one operand share: unary.h and unary_slopes.h say which of both an
 * op file includes. */
#ifndef SALI_UNARY_RULES_H
#define SALI_UNARY_RULES_H

#include "ad/ops/elementwise.h"

static void forward(const sali_call *call)
{
    values(call->chains * call->out.size, call->in[0].value, (real *)call->out.value);
}

/* The record; what is the op's own follows the formula, the range of its tests at least. */
#define UNARY_RECORD(op_name, formula, ...)                                        \
    const sali_op RN(sali_op_##op_name) = { .name = #op_name,                      \
                                            .arity = 1,                            \
                                            .layout = SALI_LAYOUT_SAME,            \
                                            .doc = formula,                        \
                                            .shape = sali_shape_same,              \
                                            .degree = sali_degree_nonlinear,       \
                                            .forward = forward,                    \
                                            .backward = backward,                  \
                                            .change = RN(sali_change_elementwise), \
                                            __VA_ARGS__ }

#endif
