/* SPDX-License-Identifier: MIT */
/* The mean of all elements, or over one axis. */
#include "ad/change.h"
#include "ad/ops/reduce.h"

/* The sum along lines, then divided: a change rule adds rises divided by n, which may round
 * differently. */
SALI_CLONES static void forward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    real *out = (real *)call->out.value;
    reduce_sum(view, call->in[0].value, out);
#pragma omp simd
    for (int64_t i = 0; i < view.outer * view.inner; i++) {
        out[i] /= (real)view.n;
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    reduce_spread(view, 1 / (real)view.n, call->out.adjoint, call->in[0].adjoint);
}

static sali_change_outcome change(sali_change *ch)
{
    return reduce_change(ch, 1 / (real)view_of(ch->call).n);
}

static sali_op_term term(const sali_term_place *p)
{
    sali_op_term term = reduce_term(p);
    term.factor = 1 / (double)term.count;
    return term;
}

const sali_op RN(sali_op_mean) = {
    .name = "mean",
    .arity = 1,
    .axes = 1,
    .by_rows = true,
    .linear = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "1/n sum_k a_k, over all elements or one axis",
    .term = term,
    .shape = sali_shape_reduce,
    .degree = sali_degree_mixing,
    .forward = forward,
    .backward = backward,
    .change = change,
};
