/* SPDX-License-Identifier: MIT */
/* What elementwise functions of one operand share: unary.h and unary_slopes.h say which of both an
 * op file includes. */
#ifndef SALI_UNARY_RULES_H
#define SALI_UNARY_RULES_H

#include "ad/change.h"
#include "ad/ops/ops.h"

static void forward(const sali_call *call)
{
    values(call->chains * call->out.size, call->in[0].value, (real *)call->out.value);
}

static sali_change_outcome change(sali_change *ch)
{
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        real x = change_new(ch, 0, k), y;
        values(1, &x, &y);
        if (!change_set(ch, ch->in[0]->index[k], y)) {
            return SALI_CHANGE_GIVE_UP;
        }
    }
    return SALI_CHANGE_DONE;
}

#define UNARY_RECORD(op_name, formula, low, high) UNARY_TERMS(op_name, formula, low, high, NULL)

#define UNARY_TERMS(op_name, formula, low, high, term_rule) \
    const sali_op RN(sali_op_##op_name) = {                 \
        .name = #op_name,                                   \
        .arity = 1,                                         \
        .layout = SALI_LAYOUT_SAME,                         \
        .test_low = (low),                                  \
        .test_high = (high),                                \
        .doc = formula,                                     \
        .term = term_rule,                                  \
        .shape = sali_shape_same,                           \
        .degree = sali_degree_nonlinear,                    \
        .forward = forward,                                 \
        .backward = backward,                               \
        .change = change,                                   \
    }

#endif
