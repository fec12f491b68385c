/* SPDX-License-Identifier: MIT */
/* log(1 + exp a). Its slope, sigmoid(a), comes from an array function, a block at a time. */
#include "ad/change.h"
#include "ad/ops/ops.h"
#include "core/vector/vmath.h"

enum { BLOCK = 512 };

static void forward(const sali_call *call)
{
    RN(sali_vsoftplus)(call->chains * call->out.size, call->in[0].value, (real *)call->out.value);
}

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
    real slope[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t length = n - first < BLOCK ? n - first : BLOCK;
        RN(sali_vsigmoid)(length, x + first, slope);
#pragma omp simd
        for (int64_t i = 0; i < length; i++) {
            to[first + i] += sali_pull(g[first + i], slope[i]);
        }
    }
}

static sali_change_outcome change(sali_change *ch)
{
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        real x = change_new(ch, 0, k), y;
        RN(sali_vsoftplus)(1, &x, &y);
        if (!change_set(ch, ch->in[0]->index[k], y)) {
            return SALI_CHANGE_GIVE_UP;
        }
    }
    return SALI_CHANGE_DONE;
}

const sali_op RN(sali_op_softplus) = {
    .name = "softplus",
    .arity = 1,
    .layout = SALI_LAYOUT_SAME,
    .test_low = -4,
    .test_high = 4,
    .doc = "log(1 + exp a)",
    .hidden = SALI_HIDES_BITS,
    .shape = sali_shape_same,
    .degree = sali_degree_nonlinear,
    .forward = forward,
    .backward = backward,
    .change = change,
};
