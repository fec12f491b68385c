/* SPDX-License-Identifier: MIT */
#include "ad/ops/conv_plan.h"

#include "core/alloc.h"
#include "core/error.h"

/* Largest stride, padding and side: far above any use, and sums of products of two such numbers
 * cannot overflow. */
#define MAX_SIDE (INT64_C(1) << 24)

/* Number of places of a window along an axis of `side` pixels. */
static int64_t window_places(int64_t side, int64_t window, int64_t stride, int64_t padding)
{
    return (side + 2 * padding - window) / stride + 1;
}

sal_status sali_conv_shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *x = &context->in[0]->shape, *W = &context->in[1]->shape;
    const sal_shape *b = &context->in[2]->shape;
    sal_status status = sali_expect_attributes(node, 2, 0, context->err);
    if (status != SAL_OK) {
        return status;
    }
    if (x->rank != 3 || W->rank != 4 || b->rank != 1 || W->dim[1] != x->dim[0] ||
        b->dim[0] != W->dim[0]) {
        return sali_shape_fail(node, context,
                               "an image [C, H, W], weights [O, C, h, w] and a bias [O]");
    }
    int64_t stride = node->ints[0], padding = node->ints[1];
    if (stride < 1 || stride > MAX_SIDE || padding < 0 || padding > MAX_SIDE) {
        return sali_shape_fail(node, context, "a stride >= 1 and a padding >= 0");
    }
    int64_t pixels = 1, triples = 1;
    node->shape = (sal_shape){ .rank = 3, .dim = { W->dim[0] } };
    for (int axis = 1; axis <= 2; axis++) {
        int64_t side = x->dim[axis], window = W->dim[axis + 1];
        if (side > MAX_SIDE || window > side + 2 * padding) {
            return sali_shape_fail(node, context, "weights no larger than the padded image");
        }
        node->shape.dim[axis] = window_places(side, window, stride, padding);
        if (__builtin_mul_overflow(pixels, side, &pixels) ||
            __builtin_mul_overflow(triples, node->shape.dim[axis] * window, &triples)) {
            triples = INT64_MAX;
        }
    }
    return pixels <= INT32_MAX && triples <= INT32_MAX
               ? SAL_OK
               : sali_shape_fail(node, context, "fewer than 2^31 pixels and taps");
}

sal_status sali_pool_shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *x = &context->in[0]->shape;
    sal_status status = sali_expect_attributes(node, 2, 0, context->err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t window = node->ints[0], stride = node->ints[1];
    if (x->rank != 3 || window < 1 || window > x->dim[1] || window > x->dim[2] || stride < 1) {
        return sali_shape_fail(node, context,
                               "an image [C, H, W], a kernel within it and a stride >= 1");
    }
    node->shape = SAL_SHAPE(x->dim[0], window_places(x->dim[1], window, stride, 0),
                            window_places(x->dim[2], window, stride, 0));
    return SAL_OK;
}

/* ---- the triples */

typedef struct conv_geometry {
    int64_t height, width, out_height, out_width, window_height, window_width, stride, padding;
} conv_geometry;

/* The sizes of a convolution, from its node and the shapes of image and weights. */
static conv_geometry geometry_of(const sali_node *node, const sali_node *const *in)
{
    return (conv_geometry){
        .height = in[0]->shape.dim[1],
        .width = in[0]->shape.dim[2],
        .out_height = node->shape.dim[1],
        .out_width = node->shape.dim[2],
        .window_height = in[1]->shape.dim[2],
        .window_width = in[1]->shape.dim[3],
        .stride = node->ints[0],
        .padding = node->ints[1],
    };
}

/* The input pixel that output pixel o sees through tap t, or -1 in the padding. */
static int64_t seen_pixel(const conv_geometry *g, int64_t o, int64_t t)
{
    int64_t y = o / g->out_width * g->stride - g->padding + t / g->window_width;
    int64_t x = o % g->out_width * g->stride - g->padding + t % g->window_width;
    return y >= 0 && y < g->height && x >= 0 && x < g->width ? y * g->width + x : -1;
}

/* The taps of the window over all channels, and the bias. */
sali_op_term sali_conv_term(const sali_term_place *p)
{
    conv_geometry g = geometry_of(p->node, p->in);
    int64_t pixels = g.out_height * g.out_width, taps = g.window_height * g.window_width;
    int64_t channels = p->in[1]->shape.dim[1], out = p->k / pixels, channel = p->t / taps;
    int64_t pixel = channel < channels ? seen_pixel(&g, p->k % pixels, p->t % taps) : 0;
    sali_op_term tap = { .count = channels * taps + 1,
                         .factor = pixel < 0 ? 0 : 1,
                         .n = 2,
                         .input = { 0, 1 },
                         .at = { channel * g.height * g.width + (pixel < 0 ? 0 : pixel),
                                 out * channels * taps + p->t } };
    sali_op_term bias = { .count = tap.count, .factor = 1, .n = 1, .input = { 2 }, .at = { out } };
    return channel < channels ? tap : bias;
}

typedef enum conv_member { BY_OUTPUT, BY_INPUT, BY_TAP } conv_member;

/* Returns member `by` of the triple (o, i, t), and stores the other two in *step. */
static int64_t triple_member(conv_member by, int64_t o, int64_t i, int64_t t, sali_tile_step *step)
{
    *step = (sali_tile_step){ .a = (int32_t)(by == BY_INPUT ? o : i),
                              .b = (int32_t)(by == BY_TAP ? o : t) };
    return by == BY_OUTPUT ? o : by == BY_INPUT ? i : t;
}

/* Fill a list with the triples ordered by member `by`: counts them, then places them. list->begin
 * [n_members + 1] must be zero. */
static void fill_list(conv_list *list, const conv_geometry *g, conv_member by, int64_t n_members)
{
    int64_t outputs = g->out_height * g->out_width, taps = g->window_height * g->window_width;
    int32_t *begin = list->begin;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t o = 0; o < outputs; o++) {
            for (int64_t t = 0; t < taps; t++) {
                int64_t i = seen_pixel(g, o, t);
                sali_tile_step step;
                if (i >= 0) {
                    int64_t m = triple_member(by, o, i, t, &step);
                    if (pass == 0) {
                        begin[m + 1]++;
                    } else {
                        list->steps[begin[m]++] = step;
                    }
                }
            }
        }
        for (int64_t m = 0; pass == 0 && m < n_members; m++) {
            begin[m + 1] += begin[m];
        }
    }
    for (int64_t m = n_members; m > 0; m--) { /* placing moved each beginning to the next one's */
        begin[m] = begin[m - 1];
    }
    begin[0] = 0;
}

/* Join the steps of each output pixel along the rows of its window: parts of these rows that lie in
 * the image, which are all as long. */
static void join_rows(conv_list *list, const conv_geometry *g, int64_t outputs)
{
    int32_t joined = 0;
    for (int64_t o = 0; o < outputs; o++) {
        const int32_t first = list->begin[o], end = list->begin[o + 1];
        const sali_tile_step *step = list->steps + first;
        int32_t run = 1;
        while (first + run < end && step[run].b % g->window_width != 0 &&
               step[run].b == step[0].b + run) {
            run++;
        }
        list->run[o] = run;
        list->begin[o] = joined;
        for (int32_t k = first; k < end; k += run) {
            list->steps[joined++] = list->steps[k];
        }
    }
    list->begin[outputs] = joined;
}

sal_status sali_conv_plan(const sali_node *node, const sali_node *const *in, const sal_space *space,
                          void **plan, sal_error *err)
{
    (void)space;
    conv_geometry g = geometry_of(node, in);
    int64_t members[3] = { [BY_OUTPUT] = g.out_height * g.out_width,
                           [BY_INPUT] = g.height * g.width,
                           [BY_TAP] = g.window_height * g.window_width };
    const bool one_channel = in[0]->shape.dim[0] == 1;
    const int64_t runs = one_channel ? members[BY_OUTPUT] : 0;
    int64_t triples = 0, begins = members[0] + members[1] + members[2] + 3;
    for (int64_t o = 0; o < members[BY_OUTPUT]; o++) {
        for (int64_t t = 0; t < members[BY_TAP]; t++) {
            triples += seen_pixel(&g, o, t) >= 0;
        }
    }
    char *block =
        sali_alloc((int64_t)sizeof(conv_plan) + 3 * triples * (int64_t)sizeof(sali_tile_step) +
                       (begins + runs) * (int64_t)sizeof(int32_t),
                   1);
    if (!block) {
        return sali_fail_memory(err);
    }
    conv_plan *made = (conv_plan *)(void *)block;
    sali_tile_step *steps = (sali_tile_step *)(void *)(made + 1);
    int32_t *begin = (int32_t *)(void *)(steps + 3 * triples);
    conv_list *lists[3] = { &made->by_output, &made->by_input, &made->by_tap };
    for (int by = BY_OUTPUT; by <= BY_TAP; by++) {
        *lists[by] = (conv_list){ .begin = begin, .steps = steps };
        fill_list(lists[by], &g, (conv_member)by, members[by]);
        begin += members[by] + 1;
        steps += triples;
    }
    if (one_channel) { /* else a step is many products already */
        made->by_output.run = begin;
        join_rows(&made->by_output, &g, members[BY_OUTPUT]);
    }
    *plan = made;
    return SAL_OK;
}
