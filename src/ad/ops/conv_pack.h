/* SPDX-License-Identifier: MIT */
/* What a convolution keeps of its weights and bias between updates: the weights in the order in
 * which tiles read them, both ways, the bias filled up with zeros, and where it pays the weights
 * transformed for Winograd's way. */
#ifndef SALI_CONV_PACK_H
#define SALI_CONV_PACK_H

#include <string.h>

#include "ad/ops/winograd.h"

/* With at most this many input channels their adjoint is a matter of dot products. */
#define FEW_CHANNELS 2

typedef struct conv_sizes {
    int64_t C, O, taps, lanes;
    int64_t C_full, O_full; /* filled up to whole vectors */
    bool dots, winograd;
} conv_sizes;

/* Whether Winograd's way pays: tiles that are mostly inside the image. */
static inline bool pays(const sal_shape *image)
{
    int64_t height = image->dim[1], width = image->dim[2];
    return height * width >= 10 * winograd_tiles(height, width);
}

static inline conv_sizes sizes_of(const sali_node *node, const sal_shape *image,
                                  const sal_shape *weights)
{
    conv_sizes n = { .C = weights->dim[1],
                     .O = weights->dim[0],
                     .taps = weights->dim[2] * weights->dim[3],
                     .lanes = RN(sali_tile)()->lanes };
    n.C_full = (n.C + n.lanes - 1) / n.lanes * n.lanes;
    n.O_full = (n.O + n.lanes - 1) / n.lanes * n.lanes;
    n.dots = n.C <= FEW_CHANNELS && n.O % n.lanes == 0;
    n.winograd = weights->dim[2] == 3 && weights->dim[3] == 3 && node->ints[0] == 1 &&
                 node->ints[1] <= 2 && n.C == n.C_full && n.O == n.O_full && pays(image) &&
                 pays(&node->shape);
    return n;
}

/* Vectors of the tile that begins at column j of `columns`. */
static inline int tile_vectors(int64_t columns, int64_t j, int64_t lanes)
{
    return columns - j > lanes ? SALI_TILE_VECTORS : 1;
}

/* Where the parts begin. */
typedef struct conv_parts {
    int64_t forward, bias, backward;
    int64_t winograd_forward, winograd_backward, zeros; /* if n.winograd; zeros: C or O */
    int64_t end;
} conv_parts;

static inline conv_parts parts_of(const conv_sizes *n)
{
    conv_parts p = { .bias = n->taps * n->C * n->O_full };
    p.backward = p.bias + n->O_full;
    p.end = p.backward + n->taps * n->O * (n->dots ? n->C : n->C_full);
    if (n->winograd) {
        p.winograd_forward = p.end;
        p.winograd_backward = p.winograd_forward + WINOGRAD_POINTS * n->C * n->O;
        p.zeros = p.winograd_backward + WINOGRAD_POINTS * n->C * n->O;
        p.end = p.zeros + (n->C > n->O ? n->C : n->O);
    }
    return p;
}

/* W [columns, depth, taps] with strides, to [tile of columns][tap][depth][width of the tile]. */
static inline void pack(int64_t columns, int64_t depth, int64_t taps, const real *W,
                        int64_t step_column, int64_t step_depth, int64_t lanes, real *to)
{
    for (int64_t j = 0; j < columns;) {
        int64_t width = tile_vectors(columns, j, lanes) * lanes;
        int64_t filled = columns - j < width ? columns - j : width;
        for (int64_t k = 0; k < depth; k++) {
            const real *from = W + j * step_column + k * step_depth;
            for (int64_t t = 0; t < taps; t++) {
                real *row = to + (t * depth + k) * width;
                for (int64_t i = 0; i < filled; i++) {
                    row[i] = from[i * step_column + t];
                }
                memset(row + filled, 0, (size_t)(width - filled) * sizeof *row);
            }
        }
        to += taps * depth * width;
        j += width;
    }
}

/* The transformed weights in the order of `pack`; columns are whole vectors. Taps are step_tap
 * apart: -1 turns the kernels by half a turn. */
static inline void pack_winograd(int64_t columns, int64_t depth, const real *W, int64_t step_column,
                                 int64_t step_depth, int64_t step_tap, int64_t lanes, real *to)
{
    for (int64_t j = 0; j < columns;) {
        int64_t width = tile_vectors(columns, j, lanes) * lanes;
        for (int64_t k = 0; k < depth; k++) {
            const real *from = W + j * step_column + k * step_depth;
            real kernels[9][WINOGRAD_WIDTH];
            for (int64_t i = 0; i < width; i++) {
                for (int64_t t = 0; t < 9; t++) {
                    kernels[t][i] = from[i * step_column + t * step_tap];
                }
            }
            winograd_weights(width, kernels, depth * width, to + k * width);
        }
        to += WINOGRAD_POINTS * depth * width;
        j += width;
    }
}

static inline void pack_dots(const conv_sizes *n, const real *W, real *to)
{
    for (int64_t o = 0; o < n->O; o++) {
        for (int64_t c = 0; c < n->C; c++) {
            for (int64_t t = 0; t < n->taps; t++) {
                to[(t * n->C + c) * n->O + o] = *W++;
            }
        }
    }
}

/* All parts. */
static inline void pack_all(const conv_sizes *sizes, const real *W, const real *bias, real *to)
{
    conv_sizes n = *sizes;
    conv_parts p = parts_of(sizes);
    int64_t step_o = n.C * n.taps, step_c = n.taps;
    pack(n.O, n.C, n.taps, W, step_o, step_c, n.lanes, to + p.forward);
    memset(to + p.bias, 0, (size_t)n.O_full * sizeof *to);
    memcpy(to + p.bias, bias, (size_t)n.O * sizeof *to);
    if (n.dots) {
        pack_dots(sizes, W, to + p.backward);
    } else {
        pack(n.C, n.O, n.taps, W, step_c, step_o, n.lanes, to + p.backward);
    }
    if (n.winograd) {
        pack_winograd(n.O, n.C, W, step_o, step_c, 1, n.lanes, to + p.winograd_forward);
        pack_winograd(n.C, n.O, W + 8, step_c, step_o, -1, n.lanes, to + p.winograd_backward);
        memset(to + p.zeros, 0, (size_t)(p.end - p.zeros) * sizeof *to);
    }
}

#endif
