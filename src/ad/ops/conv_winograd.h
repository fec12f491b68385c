/* SPDX-License-Identifier: MIT */
/* Winograd's way of a convolution of pixel-major images (core/vector/winograd.h, conv_pack.h), tile
 * by tile of 4x4 output pixels: the pixels of all phases of the input become points V, those of the
 * output points M, and each point of M is a sum over phases of products [chains x C] [C x O].
 * Part of conv2d.c. */
#ifndef SALI_CONV_WINOGRAD_H
#define SALI_CONV_WINOGRAD_H

#include "ad/ops/conv_product.h"

/* Bytes of a tile's points: of so many chains at once that they stay in the second cache, with the
 * weights. */
#define WINOGRAD_BYTES (INT64_C(1) << 18)

/* What tiles need, of some of the chains. */
typedef struct winograd_walk {
    const conv_winograd *way;
    const sali_call *call;
    int64_t chains;
    int64_t row, column; /* of the tile's first output pixel */
    image_batch V, M;    /* their "pixels" are points, of V by phases */
} winograd_walk;

static bool takes_winograd(const conv_sizes *n, const sali_call *call)
{
    return n->winograd.maps && call->in[0].pixel_major && call->out.pixel_major;
}

/* Points of a chain in a tile: of V, and of both. */
static int64_t points_of_input(const conv_sizes *n)
{
    return n->winograd.all * n->C;
}
static int64_t points_of_both(const conv_sizes *n)
{
    return points_of_input(n) + n->winograd.points * n->O;
}

/* The most chains that go through a tile together. */
static int64_t winograd_most(const conv_sizes *n, int64_t chains)
{
    int64_t most = WINOGRAD_BYTES / (points_of_both(n) * (int64_t)sizeof(real)) + 1;
    return chains < most ? chains : most;
}

/* Those of a part; all parts are about equal. */
static int64_t winograd_part(const conv_sizes *n, int64_t chains)
{
    int64_t most = winograd_most(n, chains), parts = (chains + most - 1) / most;
    return (chains + parts - 1) / parts;
}

/* Numbers of V and M; for the weights' gradient, of the windows of one input channel and of the
 * points of all windows. */
static int64_t winograd_room(const conv_sizes *n, int64_t chains)
{
    return n->winograd.maps ? winograd_most(n, chains) * points_of_both(n) + n->taps * n->O +
                                  points_of_input(n) * n->O
                            : 0;
}

static winograd_walk walk_of(const sali_call *call, const conv_sizes *n, int64_t chains)
{
    const conv_winograd *w = &n->winograd;
    return (winograd_walk){ .way = w,
                            .call = call,
                            .chains = chains,
                            .V = { .data = call->scratch,
                                   .chain = n->C,
                                   .channel = 1,
                                   .pixel = chains * n->C,
                                   .channels = n->C,
                                   .pixels = w->all },
                            .M = { .data = (real *)call->scratch + chains * points_of_input(n),
                                   .chain = n->O,
                                   .channel = 1,
                                   .pixel = chains * n->O,
                                   .channels = n->O,
                                   .pixels = w->points } };
}

/* ---- pixels of the tile */

/* side x side pixels of an image, `step` apart; NULL outside of it. */
static void list_pixels(const sal_shape *shape, const image_batch *image, int64_t row,
                        int64_t column, int64_t side, int64_t step, void **at)
{
    for (int64_t k = 0; k < side * side; k++) {
        int64_t i = row + k / side * step, j = column + k % side * step;
        bool inside = i >= 0 && i < shape->dim[1] && j >= 0 && j < shape->dim[2];
        at[k] = inside ? image->data + (i * shape->dim[2] + j) * image->pixel : NULL;
    }
}

static void list_output(const winograd_walk *walk, const image_batch *y, void **at)
{
    list_pixels(walk->call->out.shape, y, walk->row, walk->column, SALI_WINOGRAD_OUT, 1, at);
}

/* Of a phase. */
static void list_input(const winograd_walk *walk, const image_batch *x, int64_t phase, void **at)
{
    int64_t stride = walk->way->phases_side, padding = walk->call->node->ints[1];
    list_pixels(walk->call->in[0].shape, x, walk->row * stride - padding + phase / stride,
                walk->column * stride - padding + phase % stride, walk->way->points_side, stride,
                at);
}

/* V from the input. */
static void read_input(const winograd_walk *walk, const image_batch *x)
{
    void *pixels[WINOGRAD_POINTS], *points[WINOGRAD_POINTS];
    for (int64_t phase = 0; phase < walk->way->phases; phase++) {
        list_input(walk, x, phase, pixels);
        winograd_points(walk->way, phase, walk->V.data, walk->V.pixel, points);
        walk->way->maps->read_input(walk->V.pixel, (const void *const *)pixels, points);
    }
}

/* The input's adjoint += what V gives. */
static void add_input(const winograd_walk *walk, const image_batch *x)
{
    void *pixels[WINOGRAD_POINTS], *points[WINOGRAD_POINTS];
    for (int64_t phase = 0; phase < walk->way->phases; phase++) {
        list_input(walk, x, phase, pixels);
        winograd_points(walk->way, phase, walk->V.data, walk->V.pixel, points);
        walk->way->maps->add_input(walk->V.pixel, (const void *const *)points, pixels);
    }
}

/* ---- products of points */

/* The steps of all points of M, by phases, or of V. */
typedef struct winograd_steps {
    int32_t begin[WINOGRAD_PHASES * WINOGRAD_POINTS + 1];
    sali_tile_step steps[WINOGRAD_PHASES * WINOGRAD_POINTS];
} winograd_steps;

static conv_list list_steps(const conv_winograd *w, bool forward, winograd_steps *made)
{
    int32_t points = (int32_t)w->points, phases = (int32_t)w->phases, all = (int32_t)w->all;
    for (int32_t k = 0; k < all; k++) {
        int32_t both = k % phases * points + k / phases;
        made->steps[k] =
            forward ? (sali_tile_step){ both, both } : (sali_tile_step){ k % points, k };
    }
    for (int32_t k = 0; k <= (forward ? points : all); k++) {
        made->begin[k] = forward ? k * phases : k;
    }
    return (conv_list){ .begin = made->begin, .steps = made->steps };
}

/* The points of windows [all][C][O] += those of the input, turned, times those of the output. */
static void add_points(const winograd_walk *walk, int64_t lanes, real *sums)
{
    static const sali_tile_step same = { 0, 0 };
    const image_batch *V = &walk->V, *M = &walk->M;
    for (int64_t k = 0; k < V->pixels; k++, sums += V->channels * M->channels) {
        sali_tile tile = { .n_steps = 1,
                           .steps = &same,
                           .depth = walk->chains,
                           .a = V->data + k * V->pixel,
                           .a_row = 1,
                           .a_depth = V->chain,
                           .b_depth = M->chain,
                           .init_row = M->channels,
                           .c_row = M->channels };
        for (int64_t j = 0; j < M->channels;) {
            int vectors = tile_vectors(M->channels, j, lanes);
            tile.b = M->data + k % M->pixels * M->pixel + j;
            tile.init = tile.c = sums + j;
            RN(sali_tile)()->product(&tile, V->channels, vectors);
            j += vectors * lanes;
        }
    }
}

/* The windows' adjoint += what their points give; `row` is for the windows of one input channel. */
static void add_windows(const conv_sizes *n, real *points, real *row, real *to)
{
    void *taps[WINOGRAD_TAPS], *at[WINOGRAD_POINTS];
    for (int64_t c = 0; c < n->C; c++) {
        for (int64_t phase = 0; phase < n->winograd.phases; phase++) {
            winograd_points(&n->winograd, phase, points + c * n->O, n->C * n->O, at);
            winograd_window(&n->winograd, phase, row, n->O, taps);
            n->winograd.maps->write_weights(n->O, (const void *const *)at, taps);
        }
        add_weights(n, 1, n->O, n->O, row, to + c * n->taps);
    }
}

/* ---- all chains and tiles */

/* The images from this chain on. */
static image_batch from_chain(const image_batch *image, int64_t chain)
{
    image_batch part = *image;
    part.data += chain * image->chain;
    return part;
}

/* The next tile, row by row; the first after column -1. False: there is none. */
static bool next_tile(winograd_walk *walk)
{
    const int64_t *sides = walk->call->out.shape->dim;
    walk->column = walk->column < 0 ? 0 : walk->column + SALI_WINOGRAD_OUT;
    if (walk->column >= sides[2]) {
        walk->column = 0;
        walk->row += SALI_WINOGRAD_OUT;
    }
    return walk->row < sides[1];
}

static void winograd_forward(const sali_call *call, const conv_sizes *n, const image_batch *images,
                             const image_batch *outputs)
{
    const real *prepared = call->prepared;
    conv_parts p = parts_of(n);
    winograd_steps room;
    conv_list list = list_steps(&n->winograd, true, &room);
    int64_t most = winograd_part(n, call->chains);
    for (int64_t first = 0; first < call->chains; first += most) {
        image_batch x = from_chain(images, first), y = from_chain(outputs, first);
        winograd_walk walk =
            walk_of(call, n, call->chains - first < most ? call->chains - first : most);
        for (walk.column = -1; next_tile(&walk);) {
            void *pixels[WINOGRAD_POINTS], *points[WINOGRAD_POINTS];
            read_input(&walk, &x);
            product(&list, walk.chains, walk.V.pixels, &walk.V, prepared + p.winograd_forward,
                    prepared + p.winograd_bias, n->O, &walk.M, NULL);
            winograd_points(walk.way, 0, walk.M.data, walk.M.pixel, points);
            list_output(&walk, &y, pixels);
            walk.way->maps->write_output(walk.M.pixel, (const void *const *)points, pixels);
        }
    }
}

/* The adjoints of input and weights, as far as they are wanted; `outputs` holds the output's. */
static void winograd_backward(const sali_call *call, const conv_sizes *n,
                              const image_batch *outputs)
{
    const sali_arg *in = &call->in[0], *W = &call->in[1];
    const real *prepared = call->prepared;
    conv_parts p = parts_of(n);
    winograd_steps room;
    conv_list list = list_steps(&n->winograd, false, &room);
    image_batch values = image_batch_of(in, in->value, call->chains);
    image_batch adjoints = image_batch_of(in, in->adjoint, call->chains);
    int64_t most = winograd_part(n, call->chains);
    real *row = (real *)call->scratch + most * points_of_both(n);
    real *sums = row + n->taps * n->O;
    if (W->adjoint) {
        memset(sums, 0, (size_t)(points_of_input(n) * n->O) * sizeof *sums);
    }
    for (int64_t first = 0; first < call->chains; first += most) {
        image_batch g = from_chain(outputs, first), x = from_chain(&values, first);
        winograd_walk walk =
            walk_of(call, n, call->chains - first < most ? call->chains - first : most);
        for (walk.column = -1; next_tile(&walk);) {
            void *pixels[WINOGRAD_POINTS], *points[WINOGRAD_POINTS];
            winograd_points(walk.way, 0, walk.M.data, walk.M.pixel, points);
            list_output(&walk, &g, pixels);
            walk.way->maps->read_output(walk.M.pixel, (const void *const *)pixels, points);
            if (in->adjoint) {
                image_batch to = from_chain(&adjoints, first);
                product(&list, walk.chains, walk.V.pixels, &walk.M, prepared + p.winograd_backward,
                        prepared + p.zeros, 0, &walk.V, NULL);
                add_input(&walk, &to);
            }
            if (W->adjoint) {
                read_input(&walk, &x);
                add_points(&walk, n->lanes, sums);
            }
        }
    }
    if (W->adjoint) {
        add_windows(n, sums, row, W->adjoint);
    }
}

#endif
