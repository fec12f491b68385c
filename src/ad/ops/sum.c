/* SPDX-License-Identifier: MIT */
/* The sum of all elements, or over one axis. */
#include "ad/change.h"
#include "ad/ops/reduce.h"

SALI_CLONES static void forward(const sali_call *call)
{
    reduce_sum(view_of(call), call->in[0].value, (real *)call->out.value);
}

SALI_CLONES static void backward(const sali_call *call)
{
    reduce_spread(view_of(call), 1, call->out.adjoint, call->in[0].adjoint);
}

static sali_change_outcome change(sali_change *ch)
{
    return reduce_change(ch, 1);
}

const sali_op RN(sali_op_sum) = {
    .name = "sum",
    .arity = 1,
    .axes = 1,
    .by_rows = true,
    .linear = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_k a_k, over all elements or one axis",
    .term = reduce_term,
    .shape = sali_shape_reduce,
    .degree = sali_degree_mixing,
    .forward = forward,
    .backward = backward,
    .change = change,
};
