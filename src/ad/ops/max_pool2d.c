/* SPDX-License-Identifier: MIT */
/* Maxima over windows of images; NaN if a pixel is. The derivative goes to the first of the largest
 * pixels. */
#include <math.h>

#include "ad/ops/pool.h"

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)in;
    return chains * node->shape.dim[0];
}

/* Raise y to x where x is larger or NaN, for one tap of one chain: `channels` elements, which are
 * `from` apart in x and `to` apart in y. */
static inline void raise_tap(int64_t channels, int64_t from, const real *x, int64_t to, real *y)
{
#pragma omp simd
    for (int64_t c = 0; c < channels; c++) {
        real a = x[c * from], b = y[c * to];
        y[c * to] = ((a > b) | (a != a)) ? a : b;
    }
}

/* Where x attains the maximum y, add what is left of the adjoint g [channels] to x_adjoint, and set
 * g to 0. Steps as in `raise_tap`. */
static inline void pull_tap(int64_t channels, int64_t from, const real *x, real *x_adjoint,
                            int64_t to, const real *y, real *g)
{
#pragma omp simd
    for (int64_t c = 0; c < channels; c++) {
        bool hit = x[c * from] == y[c * to];
        x_adjoint[c * from] += hit ? g[c] : 0;
        g[c] = hit ? 0 : g[c];
    }
}

/* `raise_tap` for one tap and all chains; `in` and `out` are pixels of the first chain. */
SALI_CLONES static void raise_pixel(int64_t chains, const image_batch *x, const real *in,
                                    const image_batch *y, real *out)
{
    for (int64_t k = 0; k < chains; k++, in += x->chain, out += y->chain) {
        if (x->channel == 1 && y->channel == 1) {
            raise_tap(x->channels, 1, in, 1, out);
        } else {
            raise_tap(x->channels, x->channel, in, y->channel, out);
        }
    }
}

/* `pull_tap` for one tap and all chains; g [chains x channels] is what is left of the output's
 * adjoint. */
SALI_CLONES static void pull_pixel(int64_t chains, const image_batch *x, const real *in,
                                   real *in_adjoint, const image_batch *y, const real *out, real *g)
{
    for (int64_t k = 0; k < chains; k++) {
        if (x->channel == 1 && y->channel == 1) {
            pull_tap(x->channels, 1, in, in_adjoint, 1, out, g);
        } else {
            pull_tap(x->channels, x->channel, in, in_adjoint, y->channel, out, g);
        }
        in += x->chain;
        in_adjoint += x->chain;
        out += y->chain;
        g += x->channels;
    }
}

/* Copy a pixel of all chains to `to` [chains x channels]. */
static void copy_pixel(int64_t chains, const image_batch *a, const real *from, real *to)
{
    for (int64_t k = 0; k < chains; k++, from += a->chain) {
        for (int64_t c = 0; c < a->channels; c++) {
            *to++ = from[c * a->channel];
        }
    }
}

static void forward(const sali_call *call)
{
    image_batch x = image_batch_of(&call->in[0], call->in[0].value, call->chains);
    image_batch y = image_batch_of(&call->out, call->out.value, call->chains);
    int64_t taps = call->node->ints[0] * call->node->ints[0];
    for (int64_t i = 0; i < call->chains * call->out.size; i++) {
        y.data[i] = -(real)INFINITY;
    }
    for (int64_t p = 0; p < y.pixels; p++) {
        for (int64_t t = 0; t < taps; t++) {
            const real *in = x.data + pool_seen(call, p, t) * x.pixel;
            raise_pixel(call->chains, &x, in, &y, y.data + p * y.pixel);
        }
    }
}

/* Taps are visited in order, so that the first of equal pixels gets the adjoint. */
static void backward(const sali_call *call)
{
    image_batch x = image_batch_of(&call->in[0], call->in[0].value, call->chains);
    image_batch y = image_batch_of(&call->out, call->out.value, call->chains);
    const real *adjoint = call->out.adjoint;
    real *x_adjoint = call->in[0].adjoint, *g = call->scratch;
    int64_t taps = call->node->ints[0] * call->node->ints[0];
    for (int64_t p = 0; p < y.pixels; p++) {
        copy_pixel(call->chains, &y, adjoint + p * y.pixel, g);
        for (int64_t t = 0; t < taps; t++) {
            int64_t from = pool_seen(call, p, t) * x.pixel;
            pull_pixel(call->chains, &x, x.data + from, x_adjoint + from, &y, y.data + p * y.pixel,
                       g);
        }
    }
}

const sali_op RN(sali_op_max_pool2d) = {
    .name = "max_pool2d",
    .arity = 1,
    .layout = SALI_LAYOUT_EACH,
    .test_low = -2,
    .test_high = 2,
    .doc = "maxima over square windows of an image",
    .shape = sali_pool_shape,
    .degree = sali_degree_nonlinear,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
