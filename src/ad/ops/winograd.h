/* SPDX-License-Identifier: MIT */
/* Winograd's fast convolution F(4x4, 3x3) of pixel-major images, stride 1 (Winograd 1980; Lavin &
 * Gray 2016): 4x4 output pixels y = A'[(G W G') . (B' x B)]A from 6x6 input pixels x take 36
 * products of matrices [chains x C] [C x O] instead of 144. B' and A' act on pixels, whose chains
 * and channels are one long vector. Rounding errors grow tenfold or so. */
#ifndef SALI_WINOGRAD_H
#define SALI_WINOGRAD_H

#include <string.h>

#include "ad/ops/image.h"
#include "core/vector/tile.h"

enum { WINOGRAD_OUT = 4, WINOGRAD_IN = 6, WINOGRAD_POINTS = 36, WINOGRAD_CHUNK = 128 };

/* Which pixels: an image of height x width, or its output. */
typedef struct winograd_side {
    const image_batch *batch;
    int64_t height, width;
} winograd_side;

static inline int64_t winograd_tiles(int64_t height, int64_t width)
{
    return ((height + WINOGRAD_OUT - 1) / WINOGRAD_OUT) *
           ((width + WINOGRAD_OUT - 1) / WINOGRAD_OUT);
}

/* The most kernels that are transformed at once. */
#define WINOGRAD_WIDTH ((int64_t)SALI_TILE_VECTORS * 64 / (int64_t)sizeof(real))

/* U = G W G' of `width` kernels side by side: W [9][WINOGRAD_WIDTH], row k of U at U + k step. */
SALI_CLONES static void winograd_weights(int64_t width, const real (*W)[WINOGRAD_WIDTH],
                                         int64_t step, real *U)
{
    static const real G[WINOGRAD_IN][3] = { { (real)1 / 4, 0, 0 },
                                            { (real)-1 / 6, (real)-1 / 6, (real)-1 / 6 },
                                            { (real)-1 / 6, (real)1 / 6, (real)-1 / 6 },
                                            { (real)1 / 24, (real)1 / 12, (real)1 / 6 },
                                            { (real)1 / 24, (real)-1 / 12, (real)1 / 6 },
                                            { 0, 0, 1 } };
    for (int i = 0; i < WINOGRAD_IN; i++) {
        real half[3][WINOGRAD_WIDTH];
        for (int j = 0; j < 3; j++) {
#pragma omp simd
            for (int64_t e = 0; e < width; e++) {
                half[j][e] = G[i][0] * W[j][e] + G[i][1] * W[3 + j][e] + G[i][2] * W[6 + j][e];
            }
        }
        for (int j = 0; j < WINOGRAD_IN; j++, U += step) {
#pragma omp simd
            for (int64_t e = 0; e < width; e++) {
                U[e] = G[j][0] * half[0][e] + G[j][1] * half[1][e] + G[j][2] * half[2][e];
            }
        }
    }
}

/* B' on six vectors. */
SALI_CLONES static void winograd_spread(int64_t n, const real *const in[WINOGRAD_IN],
                                        real *const out[WINOGRAD_IN])
{
    const real *x0 = in[0], *x1 = in[1], *x2 = in[2], *x3 = in[3], *x4 = in[4], *x5 = in[5];
    real *y0 = out[0], *y1 = out[1], *y2 = out[2], *y3 = out[3], *y4 = out[4], *y5 = out[5];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real even = x4[i] - 4 * x2[i], odd = x3[i] - 4 * x1[i];
        real even2 = x4[i] - x2[i], odd2 = 2 * (x3[i] - x1[i]);
        y0[i] = 4 * (x0[i] - x2[i]) + even2;
        y1[i] = even + odd;
        y2[i] = even - odd;
        y3[i] = even2 + odd2;
        y4[i] = even2 - odd2;
        y5[i] = 4 * x1[i] - 5 * x3[i] + x5[i];
    }
}

/* A' on six vectors, added to four. */
SALI_CLONES static void winograd_gather(int64_t n, const real *const in[WINOGRAD_IN],
                                        real *const out[WINOGRAD_OUT])
{
    const real *x0 = in[0], *x1 = in[1], *x2 = in[2], *x3 = in[3], *x4 = in[4], *x5 = in[5];
    real *y0 = out[0], *y1 = out[1], *y2 = out[2], *y3 = out[3];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real sum1 = x1[i] + x2[i], difference1 = x1[i] - x2[i];
        real sum2 = x3[i] + x4[i], difference2 = x3[i] - x4[i];
        y0[i] += x0[i] + sum1 + sum2;
        y1[i] += difference1 + 2 * difference2;
        y2[i] += sum1 + 4 * sum2;
        y3[i] += difference1 + 8 * difference2 + x5[i];
    }
}

/* Pixel (row, column), or NULL outside of the image. */
static inline real *winograd_pixel(const winograd_side *side, int64_t row, int64_t column)
{
    return row >= 0 && row < side->height && column >= 0 && column < side->width
               ? side->batch->data + (row * side->width + column) * side->batch->pixel
               : NULL;
}

/* V [36][n] = B' x B of the 6x6 pixels from (row, column) on; n = chains channels. */
static void winograd_read(const winograd_side *x, int64_t row, int64_t column, int64_t n, real *V)
{
    static const real nothing[WINOGRAD_CHUNK];
    real half[WINOGRAD_POINTS][WINOGRAD_CHUNK];
    for (int64_t e = 0; e < n; e += WINOGRAD_CHUNK) {
        int64_t length = n - e < WINOGRAD_CHUNK ? n - e : WINOGRAD_CHUNK;
        const real *in[WINOGRAD_IN];
        real *out[WINOGRAD_IN];
        for (int j = 0; j < WINOGRAD_IN; j++) {
            for (int i = 0; i < WINOGRAD_IN; i++) {
                const real *pixel = winograd_pixel(x, row + i, column + j);
                in[i] = pixel ? pixel + e : nothing;
                out[i] = half[WINOGRAD_IN * i + j];
            }
            winograd_spread(length, in, out);
        }
        for (int i = 0; i < WINOGRAD_IN; i++) {
            for (int j = 0; j < WINOGRAD_IN; j++) {
                in[j] = half[WINOGRAD_IN * i + j];
                out[j] = V + (WINOGRAD_IN * i + j) * n + e;
            }
            winograd_spread(length, in, out);
        }
    }
}

/* The 4x4 pixels from (row, column) on += A' M A, M [36][n]. */
static void winograd_write(const winograd_side *y, int64_t row, int64_t column, int64_t n,
                           const real *M)
{
    real half[WINOGRAD_OUT * WINOGRAD_IN][WINOGRAD_CHUNK], nowhere[WINOGRAD_CHUNK] = { 0 };
    for (int64_t e = 0; e < n; e += WINOGRAD_CHUNK) {
        int64_t length = n - e < WINOGRAD_CHUNK ? n - e : WINOGRAD_CHUNK;
        const real *in[WINOGRAD_IN];
        real *out[WINOGRAD_OUT];
        memset(half, 0, sizeof half);
        for (int j = 0; j < WINOGRAD_IN; j++) {
            for (int i = 0; i < WINOGRAD_IN; i++) {
                in[i] = M + (WINOGRAD_IN * i + j) * n + e;
            }
            for (int i = 0; i < WINOGRAD_OUT; i++) {
                out[i] = half[WINOGRAD_IN * i + j];
            }
            winograd_gather(length, in, out);
        }
        for (int i = 0; i < WINOGRAD_OUT; i++) {
            for (int j = 0; j < WINOGRAD_IN; j++) {
                in[j] = half[WINOGRAD_IN * i + j];
            }
            for (int j = 0; j < WINOGRAD_OUT; j++) {
                real *pixel = winograd_pixel(y, row + i, column + j);
                out[j] = pixel ? pixel + e : nowhere;
            }
            winograd_gather(length, in, out);
        }
    }
}

#endif
