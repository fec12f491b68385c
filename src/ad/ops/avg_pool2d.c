/* SPDX-License-Identifier: MIT */
/* Means over windows of images. */
#include <string.h>

#include "ad/ops/pool.h"

/* Add factor times pixel `from` of images a to pixel `to` of images b, for all chains and
 * channels. */
SALI_CLONES static void add_pixel(int64_t chains, real factor, const image_batch *a,
                                  const real *from, const image_batch *b, real *to)
{
    for (int64_t k = 0; k < chains; k++, from += a->chain, to += b->chain) {
        if (a->channel == 1 && b->channel == 1) {
#pragma omp simd
            for (int64_t c = 0; c < a->channels; c++) {
                to[c] += factor * from[c];
            }
            continue;
        }
        for (int64_t c = 0; c < a->channels; c++) {
            to[c * b->channel] += factor * from[c * a->channel];
        }
    }
}

/* Visit all windows of all chains: add the mean over a window of x to its pixel of y; with `pull`,
 * where both hold adjoints, add the pixel's share to the pixels of the window. */
static void walk_windows(const sali_call *call, const image_batch *x, const image_batch *y,
                         bool pull)
{
    int64_t window = call->node->ints[0];
    real share = 1 / (real)(window * window);
    for (int64_t p = 0; p < y->pixels; p++) {
        for (int64_t t = 0; t < window * window; t++) {
            real *in = x->data + pool_seen(call, p, t) * x->pixel, *out = y->data + p * y->pixel;
            if (pull) {
                add_pixel(call->chains, share, y, out, x, in);
            } else {
                add_pixel(call->chains, share, x, in, y, out);
            }
        }
    }
}

static void forward(const sali_call *call)
{
    image_batch x = image_batch_of(&call->in[0], call->in[0].value, call->chains);
    image_batch y = image_batch_of(&call->out, call->out.value, call->chains);
    memset(y.data, 0, (size_t)(call->chains * call->out.size) * sizeof *y.data);
    walk_windows(call, &x, &y, false);
}

static void backward(const sali_call *call)
{
    image_batch x = image_batch_of(&call->in[0], call->in[0].adjoint, call->chains);
    image_batch g = image_batch_of(&call->out, call->out.adjoint, call->chains);
    walk_windows(call, &x, &g, true);
}

/* Term t of an element is the pixel at tap t of its window, with the factor 1 / (window area). */
static sali_op_term term(const sali_term_place *p)
{
    int64_t window = p->node->ints[0], stride = p->node->ints[1];
    int64_t width = p->node->shape.dim[2], pixels = p->node->shape.dim[1] * width;
    int64_t y = p->k % pixels / width * stride + p->t / window;
    int64_t x = p->k % width * stride + p->t % window;
    const sal_shape *image = &p->in[0]->shape;
    return (sali_op_term){ .count = window * window,
                           .factor = 1 / (double)(window * window),
                           .n = 1,
                           .at = { (p->k / pixels * image->dim[1] + y) * image->dim[2] + x } };
}

const sali_op RN(sali_op_avg_pool2d) = {
    .name = "avg_pool2d",
    .arity = 1,
    .layout = SALI_LAYOUT_EACH,
    .test_low = -2,
    .test_high = 2,
    .doc = "means over square windows of an image",
    .term = term,
    .shape = sali_pool_shape,
    .degree = sali_degree_mixing,
    .forward = forward,
    .backward = backward,
};
