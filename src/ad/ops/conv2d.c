/* SPDX-License-Identifier: MIT */
/* A two-dimensional convolution with bias, as PyTorch's Conv2d: images [C, H, W], weights
 * [O, C, h, w]. Attributes: ints = { stride, padding }.
 *
 * A pixel of all chains is a matrix [chains x channels] (without gaps when pixel-major), so output
 * pixel o is the sum of matrix products over the taps that see the image: one tile
 * (core/vector/tile.h). The input's adjoint is the same with the triples taken by input pixel and
 * the weights turned; the weights' gradient, taken by tap, is a sum of products [C x chains]
 * [chains x O] over pixels. Where it pays, windows of 3x3 take Winograd's way (winograd.h), forward
 * and for the input. */
#include <string.h>

#include "ad/ops/conv_pack.h"
#include "ad/ops/conv_plan.h"

/* Input channels of one tile of the weights' gradient. */
#define WEIGHT_ROWS 16
#define MAX_WIDTH WINOGRAD_WIDTH

static int64_t prepared_size(const sali_node *node, const sali_node *const *in)
{
    conv_sizes n = sizes_of(node, &in[0]->shape, &in[1]->shape);
    return parts_of(&n).end;
}

static void prepare(const sali_call *call, void *prepared)
{
    conv_sizes n = sizes_of(call->node, call->in[0].shape, call->in[1].shape);
    pack_all(&n, call->in[1].value, call->in[2].value, prepared);
}

/* ---- products over pixels */

/* A part of a pixel of `to` that no tile can write: fewer channels than lanes, or not side by
 * side. */
static void spill(const image_batch *to, real *c, int64_t chains, int64_t filled,
                  const real *buffer, int64_t width, bool add)
{
    for (int64_t k = 0; k < chains; k++) {
        for (int64_t j = 0; j < filled; j++) {
            real *at = c + k * to->chain + j * to->channel;
            *at = (add ? *at : 0) + buffer[k * width + j];
        }
    }
}

/* Every pixel of `to`: bias + the sum over its steps of pixel a of `from` times weights b. Without
 * a bias the sum is added. `buffer` has chains x MAX_WIDTH. */
static void product(const conv_list *list, int64_t chains, int64_t taps, const image_batch *from,
                    const real *packed, const real *bias, const image_batch *to, real *buffer)
{
    static const real zeros[MAX_WIDTH];
    const sali_tile_kernel *kernel = RN(sali_tile)();
    sali_tile tile = { .depth = from->channels,
                       .a = from->data,
                       .a_step = from->pixel,
                       .a_row = from->chain,
                       .a_depth = from->channel };
    for (int64_t j = 0; j < to->channels; j += tile.b_depth) {
        int vectors = tile_vectors(to->channels, j, kernel->lanes);
        int64_t width = vectors * kernel->lanes;
        int64_t filled = to->channels - j < width ? to->channels - j : width;
        bool direct = filled == width && to->channel == 1;
        tile.b = packed;
        tile.b_depth = width;
        tile.b_step = tile.depth * width;
        packed += taps * tile.b_step;
        for (int64_t p = 0; p < to->pixels; p++) {
            real *c = to->data + p * to->pixel + j * to->channel;
            tile.steps = list->steps + list->begin[p];
            tile.n_steps = list->begin[p + 1] - list->begin[p];
            tile.c = direct ? c : buffer;
            tile.c_row = direct ? to->chain : width;
            tile.init = bias ? bias + j : direct ? c : zeros;
            tile.init_row = bias || !direct ? 0 : to->chain;
            kernel->product(&tile, chains, vectors);
            if (!direct) {
                spill(to, c, chains, filled, buffer, width, bias == NULL);
            }
        }
    }
}

/* `to` += the convolution of `from` with 3x3 windows, tile by tile of 4x4 pixels. Both are
 * pixel-major; `zeros` has as many as `to` has channels; `room` 36 chains (all channels). */
static void product_winograd(int64_t chains, const winograd_side *from, const winograd_side *to,
                             int64_t padding, const real *packed, const real *zeros, real *room)
{
    int32_t begin[WINOGRAD_POINTS + 1];
    sali_tile_step steps[WINOGRAD_POINTS]; /* point k of V times point k of U */
    const conv_list each = { .begin = begin, .steps = steps };
    for (int32_t k = 0; k <= WINOGRAD_POINTS; k++) {
        begin[k] = k;
        if (k < WINOGRAD_POINTS) {
            steps[k] = (sali_tile_step){ k, k };
        }
    }
    int64_t depth = from->batch->channels, columns = to->batch->channels;
    image_batch V = { .data = room,
                      .chain = depth,
                      .channel = 1,
                      .pixel = chains * depth,
                      .channels = depth,
                      .pixels = WINOGRAD_POINTS };
    image_batch M = { .data = room + WINOGRAD_POINTS * V.pixel,
                      .chain = columns,
                      .channel = 1,
                      .pixel = chains * columns,
                      .channels = columns,
                      .pixels = WINOGRAD_POINTS };
    for (int64_t row = 0; row < to->height; row += WINOGRAD_OUT) {
        for (int64_t column = 0; column < to->width; column += WINOGRAD_OUT) {
            winograd_read(from, row - padding, column - padding, V.pixel, V.data);
            product(&each, chains, WINOGRAD_POINTS, &V, packed, zeros, &M, NULL);
            winograd_write(to, row, column, M.pixel, M.data);
        }
    }
}

static bool takes_winograd(const conv_sizes *n, const sali_call *call)
{
    return n->winograd && call->in[0].pixel_major && call->out.pixel_major;
}

static winograd_side side_of(const sali_arg *arg, const image_batch *batch)
{
    return (winograd_side){ batch, arg->shape->dim[1], arg->shape->dim[2] };
}

static void fill_rows(int64_t rows, int64_t columns, const real *row, real *to)
{
    for (int64_t r = 0; r < rows; r++, to += columns) {
        memcpy(to, row, (size_t)columns * sizeof *to);
    }
}

static void forward(const sali_call *call)
{
    conv_sizes n = sizes_of(call->node, call->in[0].shape, call->in[1].shape);
    conv_parts p = parts_of(&n);
    const conv_plan *plan = call->plan;
    const real *prepared = call->prepared;
    image_batch x = image_batch_of(&call->in[0], call->in[0].value, call->chains);
    image_batch y = image_batch_of(&call->out, call->out.value, call->chains);
    if (takes_winograd(&n, call)) {
        winograd_side from = side_of(&call->in[0], &x), to = side_of(&call->out, &y);
        fill_rows(y.pixels * call->chains, n.O, prepared + p.bias, y.data);
        product_winograd(call->chains, &from, &to, call->node->ints[1],
                         prepared + p.winograd_forward, prepared + p.zeros, call->scratch);
        return;
    }
    product(&plan->by_output, call->chains, n.taps, &x, prepared + p.forward, prepared + p.bias, &y,
            call->scratch);
}

/* ---- backward */

/* The adjoint of the input, by dot products with few channels. */
static void add_dots(const conv_list *list, int64_t chains, const image_batch *g,
                     const real *packed, const image_batch *to)
{
    sali_tile tile = { .depth = g->channels,
                       .a = g->data,
                       .a_step = g->pixel,
                       .a_row = g->chain,
                       .a_depth = 1,
                       .b = packed,
                       .b_step = to->channels * g->channels,
                       .b_depth = g->channels };
    for (int64_t c = 0; c < to->channels; c++) {
        for (int64_t p = 0; p < to->pixels; p++) {
            tile.steps = list->steps + list->begin[p];
            tile.n_steps = list->begin[p + 1] - list->begin[p];
            tile.b = packed + c * g->channels;
            tile.c = to->data + p * to->pixel + c * to->channel;
            tile.c_row = to->chain;
            RN(sali_tile)()->dots(&tile, chains, 1);
        }
    }
}

/* W [o][c][t] += sums [t][c][o]; `first` is W at the block's first o and c. */
static void add_weights(const conv_sizes *n, int64_t rows, int64_t filled, int64_t width,
                        const real *sums, real *first)
{
    for (int64_t o = 0; o < filled; o++) {
        for (int64_t c = 0; c < rows; c++) {
            for (int64_t t = 0; t < n->taps; t++) {
                first[(o * n->C + c) * n->taps + t] += sums[(t * rows + c) * width + o];
            }
        }
    }
}

/* `g` has O_full channels side by side. */
static void pull_weights(const conv_list *list, int64_t chains, const conv_sizes *n,
                         const image_batch *x, const image_batch *g, real *sums, real *to)
{
    static const real zeros[MAX_WIDTH];
    const sali_tile_kernel *kernel = RN(sali_tile)();
    for (int64_t j = 0; j < n->O;) {
        int vectors = tile_vectors(n->O, j, n->lanes);
        int64_t width = vectors * n->lanes, filled = n->O - j < width ? n->O - j : width;
        for (int64_t c = 0; c < n->C; c += WEIGHT_ROWS) {
            int64_t rows = n->C - c < WEIGHT_ROWS ? n->C - c : WEIGHT_ROWS;
            for (int64_t t = 0; t < n->taps; t++) {
                sali_tile tile = { .n_steps = list->begin[t + 1] - list->begin[t],
                                   .steps = list->steps + list->begin[t],
                                   .depth = chains,
                                   .a = x->data + c * x->channel,
                                   .b = g->data + j,
                                   .init = zeros,
                                   .c = sums + t * rows * width,
                                   .a_step = x->pixel,
                                   .a_row = x->channel,
                                   .a_depth = x->chain,
                                   .b_step = g->pixel,
                                   .b_depth = g->chain,
                                   .c_row = width };
                kernel->product(&tile, rows, vectors);
            }
            add_weights(n, rows, filled, width, sums, to + (j * n->C + c) * n->taps);
        }
        j += width;
    }
}

SALI_CLONES static void pull_bias(int64_t chains, const image_batch *g, int64_t channels, real *to)
{
    for (int64_t p = 0; p < g->pixels; p++) {
        for (int64_t k = 0; k < chains; k++) {
            const real *from = g->data + p * g->pixel + k * g->chain;
#pragma omp simd
            for (int64_t o = 0; o < channels; o++) {
                to[o] += from[o];
            }
        }
    }
}

/* A copy with the channels side by side and filled up with zeros. */
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
            for (int64_t o = 0; o < channels; o++) {
                room[o] = o < g->channels ? from[o * g->channel] : 0;
            }
        }
    }
    return to;
}

/* A buffer of products or sums of the weights' gradient, then a copy of the output's adjoint. */
static int64_t buffer_size(const conv_sizes *n, int64_t chains)
{
    int64_t sums = n->taps * WEIGHT_ROWS;
    return MAX_WIDTH * (sums > chains ? sums : chains);
}

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    conv_sizes n = sizes_of(node, &in[0]->shape, &in[1]->shape);
    int64_t copy = chains * node->shape.dim[1] * node->shape.dim[2] * n.O_full;
    int64_t room = n.winograd ? WINOGRAD_POINTS * chains * (n.C + n.O) : 0;
    int64_t direct = buffer_size(&n, chains) + copy;
    return direct > room ? direct : room;
}

static void pull_input(const sali_call *call, const conv_sizes *n, const image_batch *g,
                       const image_batch *to)
{
    const conv_plan *plan = call->plan;
    const real *prepared = call->prepared;
    conv_parts p = parts_of(n);
    if (takes_winograd(n, call)) {
        winograd_side from = side_of(&call->out, g), side = side_of(&call->in[0], to);
        product_winograd(call->chains, &from, &side, 2 - call->node->ints[1],
                         prepared + p.winograd_backward, prepared + p.zeros, call->scratch);
    } else if (n->dots) {
        add_dots(&plan->by_input, call->chains, g, prepared + p.backward, to);
    } else {
        product(&plan->by_input, call->chains, n->taps, g, prepared + p.backward, NULL, to,
                call->scratch);
    }
}

static void backward(const sali_call *call)
{
    conv_sizes n = sizes_of(call->node, call->in[0].shape, call->in[1].shape);
    const conv_plan *plan = call->plan;
    const sali_arg *x = &call->in[0], *W = &call->in[1], *b = &call->in[2];
    real *buffer = call->scratch;
    image_batch g = image_batch_of(&call->out, call->out.adjoint, call->chains);
    if (g.channel != 1 || (W->adjoint && n.O != n.O_full)) {
        g = side_by_side(&g, call->chains, n.O_full, buffer + buffer_size(&n, call->chains));
    }
    if (x->adjoint) {
        image_batch to = image_batch_of(x, x->adjoint, call->chains);
        pull_input(call, &n, &g, &to);
    }
    if (W->adjoint) {
        image_batch from = image_batch_of(x, x->value, call->chains);
        pull_weights(&plan->by_tap, call->chains, &n, &from, &g, buffer, W->adjoint);
    }
    if (b->adjoint) {
        pull_bias(call->chains, &g, n.O, b->adjoint);
    }
}

#include "ad/ops/conv_change.h"

const sali_op RN(sali_op_conv2d) = {
    .name = "conv2d",
    .arity = 3,
    .param_inputs = 1u << 1 | 1u << 2,
    .layout = SALI_LAYOUT_EACH,
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
