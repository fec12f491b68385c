/* SPDX-License-Identifier: MIT */
/* Sums of products over pixels of a batch of images. Part of conv2d.c. */
#ifndef SALI_CONV_PRODUCT_H
#define SALI_CONV_PRODUCT_H

#include "ad/ops/conv_pack.h"
#include "ad/ops/conv_plan.h"

/* Copy, or add with `add`, `filled` channels of a pixel of `to` from buffer [chains x width] to c:
 * for channels that no tile can write, as they are not side by side. */
static void copy_buffer(const image_batch *to, real *c, int64_t chains, int64_t filled,
                        const real *buffer, int64_t width, bool add)
{
    for (int64_t k = 0; k < chains; k++, c += to->chain, buffer += width) {
        for (int64_t j = 0; j < filled; j++) {
            real *at = c + j * to->channel;
            *at = (add ? *at : 0) + buffer[j];
        }
    }
}

/* Set every pixel of `to` to its bias + the sum over its steps of pixel a of `from` times weights
 * b; with bias NULL to the sum, or add the sum to it with `add`. Biases of neighbouring pixels are
 * bias_step apart. `buffer` [chains x MAX_WIDTH] is room. */
static void sum_products(const conv_list *list, int64_t chains, int64_t taps,
                         const image_batch *from, const real *packed, const real *bias,
                         int64_t bias_step, bool add, const image_batch *to, real *buffer)
{
    static const real zeros[MAX_WIDTH];
    const sali_tile_kernel *kernel = RN(sali_tile)();
    sali_tile tile = { .depth = from->channels,
                       .a = from->data,
                       .a_step = from->pixel,
                       .a_row = from->chain,
                       .a_depth = list->run ? from->pixel : from->channel };
    for (int64_t j = 0; j < to->channels; j += tile.b_depth) {
        int64_t width = tile_vectors(to->channels, j, kernel->lanes) * kernel->lanes;
        int64_t filled = to->channels - j < width ? to->channels - j : width;
        bool direct = to->channel == 1;
        tile.b = packed;
        tile.b_depth = width;
        tile.b_step = from->channels * width;
        packed += taps * tile.b_step;
        for (int64_t p = 0; p < to->pixels; p++) {
            real *c = to->data + p * to->pixel + j * to->channel;
            if (list->run) {
                tile.depth = list->run[p];
            }
            tile.steps = list->steps + list->begin[p];
            tile.n_steps = list->begin[p + 1] - list->begin[p];
            tile.c = direct ? c : buffer;
            tile.c_row = direct ? to->chain : width;
            tile.init = bias ? bias + p * bias_step + j : add && direct ? c : zeros;
            tile.init_row = !bias && add && direct ? to->chain : 0;
            kernel->product(&tile, chains, filled);
            if (!direct) {
                copy_buffer(to, c, chains, filled, buffer, width, add);
            }
        }
    }
}

#endif
