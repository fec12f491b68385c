/* SPDX-License-Identifier: MIT */
/* The geometry of a two-dimensional convolution, with PyTorch's conventions: output pixel o sees
 * input pixel i through tap t of the kernel. Everything the kernels do is a walk over the triples
 * (o, i, t) in which i lies inside the image: taps on the padding cost nothing. */
#ifndef SALI_CONV_PLAN_H
#define SALI_CONV_PLAN_H

#include "ad/op.h"
#include "core/vector/tile.h"

/* The triples ordered by one of their members: triples with member m are steps[begin[m]] ..
 * steps[begin[m + 1] - 1], and a step holds the other two members. */
typedef struct conv_list {
    int32_t *begin;
    sali_tile_step *steps;
    /* By member: a step stands for so many, whose a and b follow its own one by one. NULL: for
     * itself only. */
    int32_t *run;
} conv_list;

typedef struct conv_plan {
    conv_list by_output; /* a: input pixel, b: tap */
    conv_list by_input;  /* a: output pixel, b: tap */
    conv_list by_tap;    /* a: input pixel, b: output pixel */
} conv_plan;

/* Attributes: ints = { stride, padding }. */
sal_status sali_conv_shape(sali_node *node, const sali_shape_context *context);
sal_status sali_conv_plan(const sali_node *node, const sali_node *const *in, const sal_space *space,
                          void **plan, sal_error *err);

sali_op_term sali_conv_term(const sali_term_place *place);

/* Attributes: ints = { kernel, stride }. */
sal_status sali_pool_shape(sali_node *node, const sali_shape_context *context);

#endif
