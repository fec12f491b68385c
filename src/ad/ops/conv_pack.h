/* SPDX-License-Identifier: MIT */
/* What a convolution prepares of its weights and bias at each update of the parameters: the weights
 * in the order in which tiles read them, for forward and for backward, the bias padded with zeros
 * and, where it pays, the weights transformed for Winograd's method (core/vector/winograd.h).
 *
 * A convolution of stride s with windows of r s x r s taps is a sum over the s x s phases of the
 * image, every s-th pixel, of convolutions of stride 1 with windows of r x r: each phase has a part
 * of the taps. */
#ifndef SALI_CONV_PACK_H
#define SALI_CONV_PACK_H

#include <string.h>

#include "ad/ops/image.h"
#include "core/vector/tile.h"

/* With at most this many input channels, the input's adjoint is computed by dot products. */
#define FEW_CHANNELS 2

/* Number of input channels whose weights get their gradient at once. */
#define WEIGHT_ROWS 16

/* The most columns of a tile. */
#define MAX_WIDTH (SALI_TILE_VECTORS * 64 / (int64_t)sizeof(real))

enum {
    WINOGRAD_STRIDE = 2, /* the largest stride */
    WINOGRAD_PHASES = WINOGRAD_STRIDE * WINOGRAD_STRIDE,
    WINOGRAD_TAPS = WINOGRAD_PHASES * SALI_WINOGRAD_MOST * SALI_WINOGRAD_MOST,
    WINOGRAD_POINTS = SALI_WINOGRAD_POINTS * SALI_WINOGRAD_POINTS
};

/* Sizes of Winograd's method; sides are lengths along an axis. */
typedef struct conv_winograd {
    const sali_winograd *maps;   /* NULL: the method is not used */
    int64_t side, phases_side;   /* taps of a phase's window; phases: the stride */
    int64_t points_side, points; /* of a tile of one phase */
    int64_t phases, all;         /* number of phases; points of all phases */
} conv_winograd;

typedef struct conv_sizes {
    int64_t C, O, taps, lanes;
    int64_t C_full, O_full; /* filled up to whole vectors */
    bool dots;
    conv_winograd winograd;
} conv_sizes;

/* Number of tiles of 4x4 pixels that cover an image. */
static inline int64_t winograd_tiles(const sal_shape *image)
{
    const int64_t side = SALI_WINOGRAD_OUT;
    return ((image->dim[1] + side - 1) / side) * ((image->dim[2] + side - 1) / side);
}

/* Sizes of Winograd's method for a convolution. The method is used where there is a map for the
 * windows and the direct way takes at least 1.9 times as many products: tiles are mostly inside the
 * image. */
static inline conv_winograd winograd_of(const sali_node *node, const sal_shape *weights)
{
    int64_t stride = node->ints[0], side = weights->dim[2] / stride;
    conv_winograd w = { .side = side, .phases_side = stride, .phases = stride * stride };
    if (weights->dim[2] != weights->dim[3] || weights->dim[2] != side * stride ||
        stride > WINOGRAD_STRIDE || side < SALI_WINOGRAD_LEAST || side > SALI_WINOGRAD_MOST) {
        return w;
    }
    w.points_side = side + SALI_WINOGRAD_OUT - 1;
    w.points = w.points_side * w.points_side;
    w.all = w.phases * w.points;
    int64_t direct = node->shape.dim[1] * node->shape.dim[2] * weights->dim[2] * weights->dim[3];
    if (10 * direct >= 19 * winograd_tiles(&node->shape) * w.all) {
        w.maps = &RN(sali_tile)()->winograd[side - SALI_WINOGRAD_LEAST];
    }
    return w;
}

/* The sizes of a convolution and how to compute it, from the node and the shape [O, C, h, w] of the
 * weights. */
static inline conv_sizes sizes_of(const sali_node *node, const sal_shape *weights)
{
    conv_sizes n = { .C = weights->dim[1],
                     .O = weights->dim[0],
                     .taps = weights->dim[2] * weights->dim[3],
                     .lanes = RN(sali_tile)()->lanes };
    n.C_full = (n.C + n.lanes - 1) / n.lanes * n.lanes;
    n.O_full = (n.O + n.lanes - 1) / n.lanes * n.lanes;
    n.dots = n.C <= FEW_CHANNELS;
    if (n.C == n.C_full && n.O == n.O_full) {
        n.winograd = winograd_of(node, weights);
    }
    return n;
}

/* Number of vectors in the tile that begins at column j of `columns`. */
static inline int tile_vectors(int64_t columns, int64_t j, int64_t lanes)
{
    return columns - j > lanes ? SALI_TILE_VECTORS : 1;
}

/* Where the parts of the prepared data begin. */
typedef struct conv_parts {
    int64_t forward, bias, backward;
    /* Only with Winograd's method: the transformed weights, and the bias of each point of a tile.
     */
    int64_t winograd_forward, winograd_backward, winograd_bias;
    int64_t end;
} conv_parts;

/* The places of the parts for a convolution of these sizes; `end` is the number of all reals. */
static inline conv_parts parts_of(const conv_sizes *n)
{
    conv_parts p = { .bias = n->taps * n->C * n->O_full };
    p.backward = p.bias + n->O_full;
    p.end = p.backward + n->taps * (n->dots ? n->O_full * n->C : n->O * n->C_full);
    if (n->winograd.maps) {
        p.winograd_forward = p.end;
        p.winograd_backward = p.winograd_forward + n->winograd.all * n->C * n->O;
        p.winograd_bias = p.winograd_backward + n->winograd.all * n->C * n->O;
        p.end = p.winograd_bias + n->winograd.points * n->O;
    }
    return p;
}

/* `turn` for a block of 4x4 elements, by shuffles of vectors. */
static inline void turn_block(const real *from, int64_t from_row, real *to, int64_t to_row,
                              bool add)
{
    typedef real quad __attribute__((vector_size(4 * sizeof(real))));
    quad x[4], y[4], pair[4];
    for (int64_t i = 0; i < 4; i++) {
        memcpy(&x[i], from + i * from_row, sizeof x[i]);
        y[i] = (quad){ 0 };
        if (add) {
            memcpy(&y[i], to + i * to_row, sizeof y[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        pair[i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 0, 4, 1, 5);
        pair[2 + i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 2, 6, 3, 7);
    }
    for (int i = 0; i < 2; i++) {
        y[2 * i] += __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 1, 4, 5);
        y[2 * i + 1] += __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 2, 3, 6, 7);
    }
    for (int64_t i = 0; i < 4; i++) {
        memcpy(to + i * to_row, &y[i], sizeof y[i]);
    }
}

/* to [columns x rows] = the transpose of from [rows x columns], or += with `add`; rows are to_row
 * and from_row elements apart. */
static inline void turn(int64_t rows, int64_t columns, const real *from, int64_t from_row, real *to,
                        int64_t to_row, bool add)
{
    for (int64_t j = 0; j < columns; j += 4) {
        for (int64_t i = 0; i < rows; i += 4) {
            if (i + 4 <= rows && j + 4 <= columns) {
                turn_block(from + i * from_row + j, from_row, to + j * to_row + i, to_row, add);
                continue;
            }
            for (int64_t b = j; b < columns && b < j + 4; b++) {
                for (int64_t a = i; a < rows && a < i + 4; a++) {
                    real *at = to + b * to_row + a;
                    *at = (add ? *at : 0) + from[a * from_row + b];
                }
            }
        }
    }
}

/* Copy W [columns, depth, taps], with the given steps between columns and between depths, to [tile
 * of columns][tap][depth][width of the tile], padded with zeros. */
static inline void pack_weights(int64_t columns, int64_t depth, int64_t taps, const real *W,
                                int64_t step_column, int64_t step_depth, int64_t lanes, real *to)
{
    for (int64_t j = 0; j < columns;) {
        int64_t width = tile_vectors(columns, j, lanes) * lanes;
        int64_t filled = columns - j < width ? columns - j : width;
        for (int64_t k = 0; k < depth; k++) {
            turn(filled, taps, W + j * step_column + k * step_depth, step_column, to + k * width,
                 depth * width, false);
            for (int64_t t = 0; t < taps && filled < width; t++) {
                real *row = to + (t * depth + k) * width;
                memset(row + filled, 0, (size_t)(width - filled) * sizeof *row);
            }
        }
        to += taps * depth * width;
        j += width;
    }
}

/* The number, among all taps of the kernel, of tap (i, j) of a phase's window. */
static inline int64_t winograd_tap(const conv_winograd *w, int64_t phase, int64_t i, int64_t j)
{
    int64_t row = i * w->phases_side + phase / w->phases_side;
    int64_t column = j * w->phases_side + phase % w->phases_side;
    return row * w->side * w->phases_side + column;
}

/* Store in at [side x side] the taps of a phase: rows of `windows`, which are `width` apart. */
static inline void winograd_window(const conv_winograd *w, int64_t phase, real *windows,
                                   int64_t width, void **at)
{
    for (int64_t i = 0; i < w->side; i++) {
        for (int64_t j = 0; j < w->side; j++) {
            at[i * w->side + j] = windows + winograd_tap(w, phase, i, j) * width;
        }
    }
}

/* Store in at [points] where the points of a phase begin; they are `step` apart, in all phases. */
static inline void winograd_points(const conv_winograd *w, int64_t phase, real *points,
                                   int64_t step, void **at)
{
    for (int64_t k = 0; k < w->points; k++) {
        at[k] = points + (phase * w->points + k) * step;
    }
}

/* Transform the weights W and write them in the order of `pack_weights`, with points of phases in
 * the place of taps. Columns must fill whole vectors. */
static inline void pack_winograd(const conv_winograd *w, int64_t columns, int64_t depth,
                                 const real *W, int64_t step_column, int64_t step_depth,
                                 int64_t lanes, real *to)
{
    real windows[WINOGRAD_TAPS * MAX_WIDTH];
    void *taps[WINOGRAD_TAPS], *points[WINOGRAD_POINTS];
    for (int64_t j = 0; j < columns;) {
        int64_t width = tile_vectors(columns, j, lanes) * lanes;
        for (int64_t k = 0; k < depth; k++) {
            const real *from = W + j * step_column + k * step_depth;
            for (int64_t t = 0; t < w->phases * w->side * w->side; t++) {
                for (int64_t i = 0; i < width; i++) {
                    windows[t * width + i] = from[i * step_column + t];
                }
            }
            for (int64_t phase = 0; phase < w->phases; phase++) {
                winograd_window(w, phase, windows, width, taps);
                winograd_points(w, phase, to + k * width, depth * width, points);
                w->maps->read_weights(width, (const void *const *)taps, points);
            }
        }
        to += w->all * depth * width;
        j += width;
    }
}

/* Write the bias of all points of a tile to `to` [points x O]: zero but for the point at (1, 1).
 * What is added to that point is added to all pixels of the tile, for powers of 1 are 1. */
static inline void pack_winograd_bias(const conv_sizes *n, const real *bias, real *to)
{
    int64_t one = n->winograd.points_side + 1;
    memset(to, 0, (size_t)(n->winograd.points * n->O) * sizeof *to);
    memcpy(to + one * n->O, bias, (size_t)n->O * sizeof *to);
}

/* Copy W [O, C, taps] to [taps][C][O_full], padded with zeros, in which dot products read the
 * weights. */
static inline void pack_dots(const conv_sizes *n, const real *W, real *to)
{
    memset(to, 0, (size_t)(n->taps * n->C * n->O_full) * sizeof *to);
    for (int64_t o = 0; o < n->O; o++) {
        for (int64_t c = 0; c < n->C; c++) {
            for (int64_t t = 0; t < n->taps; t++) {
                to[(t * n->C + c) * n->O_full + o] = *W++;
            }
        }
    }
}

/* Write all parts of the prepared data to `to`, from W [O, C, taps] and bias [O]. */
static inline void pack_all(const conv_sizes *sizes, const real *W, const real *bias, real *to)
{
    conv_sizes n = *sizes;
    conv_parts p = parts_of(sizes);
    int64_t step_o = n.C * n.taps, step_c = n.taps;
    pack_weights(n.O, n.C, n.taps, W, step_o, step_c, n.lanes, to + p.forward);
    memset(to + p.bias, 0, (size_t)n.O_full * sizeof *to);
    memcpy(to + p.bias, bias, (size_t)n.O * sizeof *to);
    if (n.dots) {
        pack_dots(sizes, W, to + p.backward);
    } else {
        pack_weights(n.C, n.O, n.taps, W, step_c, step_o, n.lanes, to + p.backward);
    }
    if (n.winograd.maps) {
        const conv_winograd *w = &sizes->winograd;
        pack_winograd(w, n.O, n.C, W, step_o, step_c, n.lanes, to + p.winograd_forward);
        pack_winograd(w, n.C, n.O, W, step_c, step_o, n.lanes, to + p.winograd_backward);
        pack_winograd_bias(sizes, bias, to + p.winograd_bias);
    }
}

#endif
