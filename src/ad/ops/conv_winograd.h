/* SPDX-License-Identifier: MIT */
/* Winograd's method for a convolution of pixel-major images (core/vector/winograd.h, conv_pack.h),
 * tile by tile of 4x4 output pixels: the pixels of all phases of the input become points V, those
 * of the output points M, and each point of M is a sum over phases of products [chains x C] [C x
 * O]. Part of conv2d.c. */
#ifndef SALI_CONV_WINOGRAD_H
#define SALI_CONV_WINOGRAD_H

#include "ad/ops/conv_product.h"

/* Bytes of a tile's points: so many chains go through a tile together that points and weights stay
 * in the second cache. */
#define WINOGRAD_BYTES (INT64_C(1) << 18)

/* Which chains and which tile, and what tiles need. */
typedef struct winograd_walk {
    const sali_call *call;
    const conv_sizes *n;
    conv_list products;
    image_batch input, adjoint, output; /* adjoint: the input's; output: values, or its adjoint */
    image_batch V, M;                   /* their "pixels" are points, of V by phases */
    real *sums;                         /* points of the windows' adjoint [all][C][O] */
    int64_t first, chains;              /* the chains at work: first .. first + chains - 1 */
    int64_t row, column;                /* the tile's first output pixel */
} winograd_walk;

static bool takes_winograd(const conv_sizes *n, const sali_call *call)
{
    return n->winograd.maps && call->in[0].pixel_major && call->out.pixel_major;
}

/* Numbers of a chain in a tile: points times channels, of V, and of V and M. */
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

/* Number of chains in a part; all parts are about equal. */
static int64_t winograd_part(const conv_sizes *n, int64_t chains)
{
    int64_t most = winograd_most(n, chains), parts = (chains + most - 1) / most;
    return (chains + parts - 1) / parts;
}

/* Elements of scratch: V and M and, for the weights' gradient, the windows of some input channels
 * and the points of all windows. 0 without Winograd's method. */
static int64_t winograd_room(const conv_sizes *n, int64_t chains)
{
    return n->winograd.maps ? winograd_most(n, chains) * points_of_both(n) +
                                  WEIGHT_ROWS * n->taps * n->O + points_of_input(n) * n->O
                            : 0;
}

/* ---- pixels of the tile */

/* Store in at [side x side] where pixels of an image begin, from (row, column) on, `step` apart;
 * NULL for pixels outside of the image. */
static void list_pixels(const winograd_walk *walk, const sal_shape *shape, const image_batch *image,
                        int64_t row, int64_t column, int64_t side, int64_t step, void **at)
{
    real *data = image->data + walk->first * image->chain;
    for (int64_t k = 0; k < side * side; k++) {
        int64_t i = row + k / side * step, j = column + k % side * step;
        bool inside = i >= 0 && i < shape->dim[1] && j >= 0 && j < shape->dim[2];
        at[k] = inside ? data + (i * shape->dim[2] + j) * image->pixel : NULL;
    }
}

/* Transform the input's pixels under a tile, in `image`, to points V, phase by phase; with `back`,
 * transform V and add to these pixels. */
static void map_input(const winograd_walk *walk, const image_batch *image, bool back)
{
    const conv_winograd *w = &walk->n->winograd;
    int64_t stride = w->phases_side, padding = walk->call->node->ints[1];
    void *pixels[WINOGRAD_POINTS], *points[WINOGRAD_POINTS];
    for (int64_t phase = 0; phase < w->phases; phase++) {
        list_pixels(
            walk, walk->call->in[0].shape, image, walk->row * stride - padding + phase / stride,
            walk->column * stride - padding + phase % stride, w->points_side, stride, pixels);
        winograd_points(w, phase, walk->V.data, walk->V.pixel, points);
        if (back) {
            w->maps->add_input(walk->V.pixel, (const void *const *)points, pixels);
        } else {
            w->maps->read_input(walk->V.pixel, (const void *const *)pixels, points);
        }
    }
}

/* Transform the output's pixels of a tile to points M; with `back`, transform M and write these
 * pixels. */
static void map_output(const winograd_walk *walk, bool back)
{
    const conv_winograd *w = &walk->n->winograd;
    void *pixels[WINOGRAD_POINTS], *points[WINOGRAD_POINTS];
    list_pixels(walk, walk->call->out.shape, &walk->output, walk->row, walk->column,
                SALI_WINOGRAD_OUT, 1, pixels);
    winograd_points(w, 0, walk->M.data, walk->M.pixel, points);
    if (back) {
        w->maps->write_output(walk->M.pixel, (const void *const *)points, pixels);
    } else {
        w->maps->read_output(walk->M.pixel, (const void *const *)pixels, points);
    }
}

/* ---- products of points */

/* Room for the lists of list_steps. */
typedef struct winograd_steps {
    int32_t begin[WINOGRAD_PHASES * WINOGRAD_POINTS + 1];
    sali_tile_step steps[WINOGRAD_PHASES * WINOGRAD_POINTS];
} winograd_steps;

/* The products that make points M of points V, summed over phases (forward), or points V of points
 * M. The lists lie in `made`. */
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

/* walk->sums, the points of the windows' adjoint, += the transpose of the input's points V times
 * the output's points M. The first tile sets the sums instead. */
static void add_points(const winograd_walk *walk)
{
    static const real zeros[MAX_WIDTH];
    static const sali_tile_step same = { 0, 0 };
    const image_batch *V = &walk->V, *M = &walk->M;
    bool first = walk->first + walk->row + walk->column == 0;
    real *sums = walk->sums;
    for (int64_t k = 0; k < V->pixels; k++, sums += V->channels * M->channels) {
        sali_tile tile = { .n_steps = 1,
                           .steps = &same,
                           .depth = walk->chains,
                           .a = V->data + k * V->pixel,
                           .a_row = 1,
                           .a_depth = V->chain,
                           .b_depth = M->chain,
                           .init_row = first ? 0 : M->channels,
                           .c_row = M->channels };
        for (int64_t j = 0; j < M->channels;) {
            int64_t width = tile_vectors(M->channels, j, walk->n->lanes) * walk->n->lanes;
            tile.b = M->data + k % M->pixels * M->pixel + j;
            tile.c = sums + j;
            tile.init = first ? zeros : sums + j;
            RN(sali_tile)()->product(&tile, V->channels, width);
            j += width;
        }
    }
}

/* Transform `points`, of the windows' adjoint, and add the result to `to` [O, C, taps]. `windows`
 * [c][tap][o] is room for WEIGHT_ROWS input channels. */
static void add_windows(const conv_sizes *n, real *points, real *windows, real *to)
{
    void *taps[WINOGRAD_TAPS], *at[WINOGRAD_POINTS];
    for (int64_t first = 0; first < n->C; first += WEIGHT_ROWS) {
        int64_t rows = n->C - first < WEIGHT_ROWS ? n->C - first : WEIGHT_ROWS;
        for (int64_t k = 0; k < rows * n->winograd.phases; k++) {
            int64_t c = k / n->winograd.phases, phase = k % n->winograd.phases;
            winograd_points(&n->winograd, phase, points + (first + c) * n->O, n->C * n->O, at);
            winograd_window(&n->winograd, phase, windows + c * n->taps * n->O, n->O, taps);
            n->winograd.maps->write_weights(n->O, (const void *const *)at, taps);
        }
        turn(rows * n->taps, n->O, windows, n->O, to + first * n->taps, n->C * n->taps, true);
    }
}

/* ---- all chains and tiles */

/* A batch of images whose pixels are points, at `data`, pixel-major. */
static image_batch points_at(real *data, int64_t chains, int64_t channels, int64_t points)
{
    return (image_batch){ .data = data,
                          .chain = channels,
                          .channel = 1,
                          .pixel = chains * channels,
                          .channels = channels,
                          .pixels = points };
}

/* Call `visit` for each tile of each part of the chains. */
static void visit_tiles(winograd_walk *walk, void (*visit)(const winograd_walk *walk))
{
    const conv_sizes *n = walk->n;
    const int64_t *sides = walk->call->out.shape->dim, all = walk->call->chains;
    int64_t part = winograd_part(n, all);
    for (walk->first = 0; walk->first < all; walk->first += part) {
        walk->chains = all - walk->first < part ? all - walk->first : part;
        walk->V = points_at(walk->call->scratch, walk->chains, n->C, n->winograd.all);
        walk->M = points_at(walk->V.data + walk->V.pixels * walk->V.pixel, walk->chains, n->O,
                            n->winograd.points);
        for (walk->row = 0; walk->row < sides[1]; walk->row += SALI_WINOGRAD_OUT) {
            for (walk->column = 0; walk->column < sides[2]; walk->column += SALI_WINOGRAD_OUT) {
                visit(walk);
            }
        }
    }
}

/* One tile: input to V, products of V and weights to M, M to output. */
static void tile_forward(const winograd_walk *walk)
{
    const real *prepared = walk->call->prepared;
    conv_parts p = parts_of(walk->n);
    map_input(walk, &walk->input, false);
    sum_products(&walk->products, walk->chains, walk->V.pixels, &walk->V,
                 prepared + p.winograd_forward, prepared + p.winograd_bias, walk->n->O, false,
                 &walk->M, NULL);
    map_output(walk, true);
}

/* One tile: the output's adjoint to M; from M, as far as wanted, the input's adjoint and the points
 * of the windows' adjoint. */
static void tile_backward(const winograd_walk *walk)
{
    const real *prepared = walk->call->prepared;
    conv_parts p = parts_of(walk->n);
    map_output(walk, false);
    if (walk->call->in[0].adjoint) {
        sum_products(&walk->products, walk->chains, walk->V.pixels, &walk->M,
                     prepared + p.winograd_backward, NULL, 0, false, &walk->V, NULL);
        map_input(walk, &walk->adjoint, true);
    }
    if (walk->call->in[1].adjoint) {
        map_input(walk, &walk->input, false);
        add_points(walk);
    }
}

/* y = the convolution of x, by Winograd's method. */
static void winograd_forward(const sali_call *call, const conv_sizes *n, const image_batch *x,
                             const image_batch *y)
{
    winograd_steps room;
    winograd_walk walk = { .call = call,
                           .n = n,
                           .products = list_steps(&n->winograd, true, &room),
                           .input = *x,
                           .output = *y };
    visit_tiles(&walk, tile_forward);
}

/* Add to the adjoints of input and weights, as far as they are wanted; g: the output's adjoint. */
static void winograd_backward(const sali_call *call, const conv_sizes *n, const image_batch *g)
{
    const sali_arg *in = &call->in[0], *W = &call->in[1];
    winograd_steps room;
    real *windows = (real *)call->scratch + winograd_most(n, call->chains) * points_of_both(n);
    winograd_walk walk = { .call = call,
                           .n = n,
                           .products = list_steps(&n->winograd, false, &room),
                           .input = image_batch_of(in, in->value, call->chains),
                           .adjoint = image_batch_of(in, in->adjoint, call->chains),
                           .output = *g,
                           .sums = windows + WEIGHT_ROWS * n->taps * n->O };
    visit_tiles(&walk, tile_backward);
    if (W->adjoint) {
        add_windows(n, walk.sums, windows, W->adjoint);
    }
}

#endif
