/* SPDX-License-Identifier: MIT */
/* A batch of images [C, H, W] as a kernel sees it: the same loops over either layout. A pixel is an
 * index into H W. */
#ifndef SALI_IMAGE_H
#define SALI_IMAGE_H

#include "ad/ops/ops.h"

/* Element (chain, channel, pixel) is data[chain step + channel step + pixel step]. */
typedef struct image_batch {
    real *data;
    int64_t chain, channel, pixel; /* strides */
    int64_t channels, pixels;
} image_batch;

/* The images at `data`, which is the value or the adjoint of `arg`, in the layout of `arg`. */
static inline image_batch image_batch_of(const sali_arg *arg, const void *data, int64_t chains)
{
    int64_t channels = arg->shape->dim[0], pixels = arg->shape->dim[1] * arg->shape->dim[2];
    image_batch batch = { .data = (real *)data, .channels = channels, .pixels = pixels };
    if (arg->pixel_major) {
        batch.chain = channels;
        batch.channel = 1;
        batch.pixel = chains * channels;
    } else {
        batch.chain = arg->stride;
        batch.channel = channels == 1 ? 1 : pixels;
        batch.pixel = 1;
    }
    return batch;
}

#endif
