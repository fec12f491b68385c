/* SPDX-License-Identifier: MIT */
/* Windows over images [C, H, W], without padding; a window that would stick out is left out.
 * Attributes: ints = { kernel, stride }. */
#ifndef SALI_POOL_H
#define SALI_POOL_H

#include "ad/ops/conv_plan.h"
#include "ad/ops/image.h"

/* The input pixel that the window of an output pixel sees through tap t. */
static inline int64_t pool_seen(const sali_call *call, int64_t pixel, int64_t t)
{
    int64_t width = call->in[0].shape->dim[2], out_width = call->out.shape->dim[2];
    int64_t window = call->node->ints[0], stride = call->node->ints[1];
    return (pixel / out_width * stride + t / window) * width + pixel % out_width * stride +
           t % window;
}

#endif
