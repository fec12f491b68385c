/* SPDX-License-Identifier: MIT */
/* log |Gamma(a)|; infinite at 0 and the negative integers, where the derivative is NaN. */
#include "ad/change.h"
#include "ad/ops/ops.h"
#include "ad/ops/digamma.h"

static void forward(const sali_call *call)
{
    RN(sali_vlgamma)(call->chains * call->out.size, call->in[0].value, (real *)call->out.value);
}

static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
    double wide[DIGAMMA_BLOCK], psi[DIGAMMA_BLOCK];
    for (int64_t first = 0; first < n; first += DIGAMMA_BLOCK) {
        int64_t length = n - first < DIGAMMA_BLOCK ? n - first : DIGAMMA_BLOCK;
        for (int64_t i = 0; i < length; i++) {
            wide[i] = (double)x[first + i];
        }
        digamma_block(length, wide, psi);
        for (int64_t i = 0; i < length; i++) {
            to[first + i] += sali_pull(g[first + i], (real)psi[i]);
        }
    }
}

static sali_change_outcome change(sali_change *ch)
{
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        real x = change_new(ch, 0, k), y;
        RN(sali_vlgamma)(1, &x, &y);
        if (!change_set(ch, ch->in[0]->index[k], y)) {
            return SALI_CHANGE_GIVE_UP;
        }
    }
    return SALI_CHANGE_DONE;
}

const sali_op RN(sali_op_lgamma) = {
    .name = "lgamma",
    .arity = 1,
    .layout = SALI_LAYOUT_SAME,
    .test_low = 0.25,
    .test_high = 6,
    .doc = "log |Gamma(a)|",
    .shape = sali_shape_same,
    .degree = sali_degree_nonlinear,
    .forward = forward,
    .backward = backward,
    .change = change,
};
