/* SPDX-License-Identifier: MIT */
/* The change rule of conv2d for few pixels: recomputes the outputs whose windows see these pixels.
 * Part of conv2d.c. Rows of single chains are never pixel-major. */
#ifndef SALI_CONV_CHANGE_H
#define SALI_CONV_CHANGE_H

#include <math.h>

#include "ad/change.h"

typedef struct conv_window {
    int64_t C, H, W, O, h, w; /* of the input, output channels, kernel */
    int64_t out_w, out_pixels, stride, padding;
} conv_window;

/* The sizes of a convolution, from the shapes and attributes of its call. */
static conv_window window_of(const sali_call *call)
{
    const int64_t *x = call->in[0].shape->dim, *k = call->in[1].shape->dim;
    const int64_t *out = call->out.shape->dim;
    return (conv_window){ .C = x[0],
                          .H = x[1],
                          .W = x[2],
                          .O = k[0],
                          .h = k[2],
                          .w = k[3],
                          .out_w = out[2],
                          .out_pixels = out[1] * out[2],
                          .stride = call->node->ints[0],
                          .padding = call->node->ints[1] };
}

/* The tap by which output pixel `out` sees input element `in`; -1 if the window does not cover
 * `in`. */
static int64_t tap_between(const conv_window *g, int64_t in, int64_t out)
{
    int64_t pixel = in % (g->H * g->W);
    int64_t i = pixel / g->W + g->padding - out / g->out_w * g->stride;
    int64_t j = pixel % g->W + g->padding - out % g->out_w * g->stride;
    return i >= 0 && i < g->h && j >= 0 && j < g->w ? i * g->w + j : -1;
}

/* Whether a changed element listed before the k-th lies in the window of output pixel `out`, so
 * that the output was recomputed already. */
static bool is_done(const sali_change *ch, const conv_window *g, int64_t k, int64_t out)
{
    for (int64_t j = 0; j < k; j++) {
        if (tap_between(g, ch->in[0]->index[j], out) >= 0) {
            return true;
        }
    }
    return false;
}

/* Channel o of output pixel `out`, summed again over the whole window, so that no rounding errors
 * of former terms remain. */
static real output_of(const sali_call *call, const conv_window *g, int64_t o, int64_t out)
{
    const real *x = call->in[0].value;
    const real *weight = (const real *)call->in[1].value + o * g->C * g->h * g->w;
    int64_t top = out / g->out_w * g->stride - g->padding;
    int64_t left = out % g->out_w * g->stride - g->padding;
    real sum = ((const real *)call->in[2].value)[o];
    for (int64_t c = 0; c < g->C; c++) {
        for (int64_t i = 0; i < g->h; i++) {
            for (int64_t j = 0; j < g->w; j++, weight++) {
                int64_t row = top + i, column = left + j;
                if (row >= 0 && row < g->H && column >= 0 && column < g->W) {
                    sum += *weight * x[(c * g->H + row) * g->W + column];
                }
            }
        }
    }
    return sum;
}

/* Recompute all channels of output pixel `out`; false: no room, give up. */
static bool change_pixel(sali_change *ch, const conv_window *g, int64_t out)
{
    for (int64_t o = 0; o < g->O; o++) {
        if (!change_set(ch, o * g->out_pixels + out, output_of(ch->call, g, o, out))) {
            return false;
        }
    }
    return true;
}

/* The row is evaluated again if the windows of the changed elements cover most of the image. */
static sali_change_outcome change(sali_change *ch)
{
    conv_window g = window_of(ch->call);
    const conv_list *seen = &((const conv_plan *)ch->call->plan)->by_input;
    if (ch->in[0]->n * g.h * g.w > g.out_pixels * g.C) { /* the windows cover most of the image */
        return SALI_CHANGE_ROW;
    }
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        int64_t pixel = ch->in[0]->index[k] % (g.H * g.W);
        for (int32_t s = seen->begin[pixel]; s < seen->begin[pixel + 1]; s++) {
            int64_t out = seen->steps[s].a;
            if (!is_done(ch, &g, k, out) && !change_pixel(ch, &g, out)) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
    }
    return SALI_CHANGE_DONE;
}

#endif
