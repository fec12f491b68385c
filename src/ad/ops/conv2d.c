/* SPDX-License-Identifier: MIT */
/* A two-dimensional convolution with bias, as PyTorch's Conv2d: images [C, H, W], weights
 * [O, C, h, w]. Attributes: ints = { stride, padding }.
 *
 * A pixel of all chains is a matrix [chains x channels] (without gaps when pixel-major), so output
 * pixel o is the sum of matrix products over the taps that see the image: one tile
 * (core/vector/tile.h). The input's adjoint is such a sum too, with triples by input pixel and
 * the weights turned; the weights' gradient, taken by tap, is a sum of products [C x chains]
 * [chains x O] over pixels. Where it pays, all three use Winograd's method (conv_winograd.h). */
#include <string.h>

#include "ad/ops/conv_winograd.h"

static int64_t prepared_size(const sali_node *node, const sali_node *const *in)
{
    conv_sizes n = sizes_of(node, &in[1]->shape);
    return parts_of(&n).end;
}

static void prepare(const sali_call *call, void *prepared)
{
    conv_sizes n = sizes_of(call->node, call->in[1].shape);
    pack_all(&n, call->in[1].value, call->in[2].value, prepared);
}

/* By Winograd's method where it pays and all images are pixel-major, else by one sum of products a
 * pixel. The two ways round differently. */
static void forward(const sali_call *call)
{
    conv_sizes n = sizes_of(call->node, call->in[1].shape);
    conv_parts p = parts_of(&n);
    const conv_plan *plan = call->plan;
    const real *prepared = call->prepared;
    image_batch x = image_batch_of(&call->in[0], call->in[0].value, call->chains);
    image_batch y = image_batch_of(&call->out, call->out.value, call->chains);
    if (takes_winograd(&n, call)) {
        winograd_forward(call, &n, &x, &y);
        return;
    }
    sum_products(&plan->by_output, call->chains, n.taps, &x, prepared + p.forward,
                 prepared + p.bias, 0, false, &y, call->scratch);
}

/* ---- backward */

/* Add to the input's adjoint `to`, by dot products, for few input channels. g: the output's
 * adjoint, whose channels are side by side; those of the weights are filled up to O_full. */
static void add_dots(const conv_list *list, int64_t chains, int64_t O_full, const image_batch *g,
                     const real *packed, const image_batch *to)
{
    sali_tile tile = { .depth = g->channels,
                       .a = g->data,
                       .a_step = g->pixel,
                       .a_row = g->chain,
                       .a_depth = 1,
                       .b = packed,
                       .b_step = to->channels * O_full,
                       .b_depth = O_full };
    for (int64_t c = 0; c < to->channels; c++) {
        for (int64_t p = 0; p < to->pixels; p++) {
            tile.steps = list->steps + list->begin[p];
            tile.n_steps = list->begin[p + 1] - list->begin[p];
            tile.b = packed + c * O_full;
            tile.c = to->data + p * to->pixel + c * to->channel;
            tile.c_row = to->chain;
            RN(sali_tile)()->dots(&tile, chains, 1);
        }
    }
}

/* Add to `to` [O, C, taps], the adjoint of the weights. g, the output's adjoint, has O_full
 * channels side by side; `sums` is room (buffer_size). */
static void pull_weights(const conv_list *list, int64_t chains, const conv_sizes *n,
                         const image_batch *x, const image_batch *g, real *sums, real *to)
{
    static const real zeros[MAX_WIDTH];
    const sali_tile_kernel *kernel = RN(sali_tile)();
    for (int64_t j = 0; j < n->O;) {
        int64_t width = tile_vectors(n->O, j, n->lanes) * n->lanes;
        int64_t filled = n->O - j < width ? n->O - j : width;
        for (int64_t c = 0; c < n->C; c += WEIGHT_ROWS) {
            int64_t rows = n->C - c < WEIGHT_ROWS ? n->C - c : WEIGHT_ROWS;
            for (int64_t t = 0; t < n->taps; t++) {
                sali_tile tile = { .n_steps = list->begin[t + 1] - list->begin[t],
                                   .steps = list->steps + list->begin[t],
                                   .depth = chains,
                                   .a = x->data + c * x->channel,
                                   .b = g->data + j,
                                   .init = zeros,
                                   .c = sums + t * width,
                                   .a_step = x->pixel,
                                   .a_row = x->channel,
                                   .a_depth = x->chain,
                                   .b_step = g->pixel,
                                   .b_depth = g->chain,
                                   .c_row = n->taps * width };
                kernel->product(&tile, rows, width);
            }
            turn(rows * n->taps, filled, sums, width, to + (j * n->C + c) * n->taps, n->C * n->taps,
                 true);
        }
        j += width;
    }
}

/* Add to `to` [O], the adjoint of the bias, a product of ones with all of g, the output's adjoint,
 * which has O_full channels side by side and no gaps between pixels. */
static void pull_bias(int64_t chains, const conv_sizes *n, const image_batch *g, real *to)
{
    static const real one = 1, zeros[MAX_WIDTH];
    static const sali_tile_step whole = { 0, 0 };
    real sums[MAX_WIDTH];
    for (int64_t j = 0; j < n->O;) {
        int64_t width = tile_vectors(n->O, j, n->lanes) * n->lanes;
        int64_t filled = n->O - j < width ? n->O - j : width;
        sali_tile tile = { .n_steps = 1,
                           .steps = &whole,
                           .depth = g->pixels * chains,
                           .a = &one,
                           .b = g->data + j,
                           .b_depth = g->chain,
                           .init = zeros,
                           .c = sums };
        RN(sali_tile)()->product(&tile, 1, width);
        for (int64_t o = 0; o < filled; o++) {
            to[j + o] += sums[o];
        }
        j += width;
    }
}

/* Copy g to `room`, pixel-major, with `channels` channels a pixel: channels that g does not have
 * are 0. */
static image_batch side_by_side(const image_batch *g, int64_t chains, int64_t channels, real *room)
{
    image_batch to = { .data = room,
                       .chain = channels,
                       .channel = 1,
                       .pixel = chains * channels,
                       .channels = g->channels,
                       .pixels = g->pixels };
    for (int64_t p = 0; p < g->pixels; p++) {
        for (int64_t k = 0; k < chains; k++, room += channels) {
            const real *from = g->data + p * g->pixel + k * g->chain;
            if (g->channel == 1) {
                memcpy(room, from, (size_t)g->channels * sizeof *room);
            } else {
                for (int64_t o = 0; o < g->channels; o++) {
                    room[o] = from[o * g->channel];
                }
            }
            memset(room + g->channels, 0, (size_t)(channels - g->channels) * sizeof *room);
        }
    }
    return to;
}

/* Elements of the first part of the scratch: a buffer of products, or sums of the weights'
 * gradient. A copy of the output's adjoint comes after it. */
static int64_t buffer_size(const conv_sizes *n, int64_t chains)
{
    int64_t sums = n->taps * WEIGHT_ROWS;
    return MAX_WIDTH * (sums > chains ? sums : chains);
}

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    conv_sizes n = sizes_of(node, &in[1]->shape);
    int64_t copy = chains * node->shape.dim[1] * node->shape.dim[2] * n.O_full;
    int64_t room = winograd_room(&n, chains), direct = buffer_size(&n, chains) + copy;
    return direct > room ? direct : room;
}

/* Add to the input's adjoint `to`, or set it if it is fresh, the direct way; g: the output's
 * adjoint. Dot products add in any case. */
static void pull_input(const sali_call *call, const conv_sizes *n, const image_batch *g,
                       const image_batch *to)
{
    const conv_plan *plan = call->plan;
    const real *prepared = call->prepared;
    conv_parts p = parts_of(n);
    if (n->dots) {
        add_dots(&plan->by_input, call->chains, n->O_full, g, prepared + p.backward, to);
    } else {
        sum_products(&plan->by_input, call->chains, n->taps, g, prepared + p.backward, NULL, 0,
                     !call->in[0].fresh, to, call->scratch);
    }
}

/* The output's adjoint is first copied to scratch if its channels are not side by side, or not
 * padded where tiles need that. */
static void backward(const sali_call *call)
{
    conv_sizes n = sizes_of(call->node, call->in[1].shape);
    const conv_plan *plan = call->plan;
    const sali_arg *x = &call->in[0], *W = &call->in[1], *b = &call->in[2];
    real *buffer = call->scratch;
    image_batch g = image_batch_of(&call->out, call->out.adjoint, call->chains);
    const bool padded = W->adjoint || b->adjoint;
    if (g.channel != 1 || (padded && n.O != n.O_full)) {
        g = side_by_side(&g, call->chains, n.O_full, buffer + buffer_size(&n, call->chains));
    }
    bool winograd = takes_winograd(&n, call);
    if (x->fresh && (winograd || n.dots)) {
        memset(x->adjoint, 0, (size_t)(call->chains * x->size) * sizeof(real));
    }
    if (winograd) {
        winograd_backward(call, &n, &g);
    }
    if (x->adjoint && !winograd) {
        image_batch to = image_batch_of(x, x->adjoint, call->chains);
        pull_input(call, &n, &g, &to);
    }
    if (W->adjoint && !winograd) {
        image_batch from = image_batch_of(x, x->value, call->chains);
        pull_weights(&plan->by_tap, call->chains, &n, &from, &g, buffer, W->adjoint);
    }
    if (b->adjoint) {
        pull_bias(call->chains, &n, &g, b->adjoint);
    }
}

#include "ad/ops/conv_change.h"

const sali_op RN(sali_op_conv2d) = {
    .name = "conv2d",
    .arity = 3,
    .param_inputs = 1u << 1 | 1u << 2,
    .layout = SALI_LAYOUT_EACH,
    .sets_fresh = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "b_o + sum_cij W_ocij x_c(y+i)(x+j), strided and padded",
    .term = sali_conv_term,
    .reach = SALI_REACHES_MANY,
    .shape = sali_conv_shape,
    .degree = sali_degree_mixing,
    .scratch_size = scratch_size,
    .plan_create = sali_conv_plan,
    .prepared_size = prepared_size,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
    .change = change,
};
