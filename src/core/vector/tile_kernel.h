/* SPDX-License-Identifier: MIT */
/* The functions of tile.h for one instruction set and one element type (each_isa.h). */

#if ISA == 2 && BITS == 32
#define LOAD_SOME(mask, from) _mm512_maskz_loadu_ps((__mmask16)(mask), from)
#define STORE_SOME(to, mask, v) _mm512_mask_storeu_ps(to, (__mmask16)(mask), (__m512)(v))
#define FOLD(v) sali_fold_f32(v)
#elif ISA == 2
#define LOAD_SOME(mask, from) _mm512_maskz_loadu_pd((__mmask8)(mask), from)
#define STORE_SOME(to, mask, v) _mm512_mask_storeu_pd(to, (__mmask8)(mask), (__m512d)(v))
#define FOLD(v) sali_fold_f64(v)
#endif

/* The heights of tiles whose sums fit in the registers, ascending from 1. */
#if ISA == 2
#define ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#else
#define ROWS(X) X(1) X(2) X(4) X(6)
#endif

#define LANES ((int64_t)KERNEL(lanes))
#define CEILING 16

enum { KERNEL(lanes) = sizeof(VECTOR) / sizeof(ELEMENT) };

static inline TARGET VECTOR KERNEL(load)(const ELEMENT *from)
{
    VECTOR v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* The first n < LANES elements, and zeros. */
static inline TARGET VECTOR KERNEL(load_some)(const ELEMENT *from, int64_t n)
{
#ifdef LOAD_SOME
    return (VECTOR)LOAD_SOME((1u << n) - 1, from);
#else
    ELEMENT lane[LANES] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        lane[i] = from[i];
    }
    return KERNEL(load)(lane);
#endif
}

/* Store the first n < LANES elements of v. */
static inline TARGET void KERNEL(store_some)(VECTOR v, int64_t n, ELEMENT *to)
{
#ifdef STORE_SOME
    STORE_SOME(to, (1u << n) - 1, v);
#else
    ELEMENT lane[LANES];
    memcpy(lane, &v, sizeof v);
    for (int64_t i = 0; i < n; i++) {
        to[i] = lane[i];
    }
#endif
}

/* Compute `rows` rows of the tile from row `first` on, `vectors` vectors wide, with all sums in
 * registers; `left` elements of the last vector exist, 0: all. Three rows share one pointer
 * (offsets 0, 1 and 2 rows), because there are too few registers for a pointer to each row. */
static inline __attribute__((always_inline)) TARGET void
KERNEL(block)(const sali_tile *tile, int64_t first, int64_t left, const int rows, const int vectors)
{
    const VECTOR zero = { 0 };
    VECTOR sum[CEILING][SALI_TILE_VECTORS];
    const int64_t row = tile->a_row, depth = tile->depth;
    const int64_t a_depth = tile->a_depth, b_depth = tile->b_depth;
    UNROLL
    for (int r = 0; r < rows; r++) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = zero;
        }
    }
    for (int64_t s = 0; s < tile->n_steps; s++) {
        const ELEMENT *a = (const ELEMENT *)tile->a + tile->steps[s].a * tile->a_step + first * row;
        const ELEMENT *b = (const ELEMENT *)tile->b + tile->steps[s].b * tile->b_step;
        const ELEMENT *group[(CEILING + 2) / 3];
        UNROLL
        for (int g = 0; 3 * g < rows; g++) {
            group[g] = a + 3 * g * row;
        }
        for (int64_t k = 0; k < depth; k++) {
            VECTOR b0 = KERNEL(load)(b), b1 = vectors > 1 ? KERNEL(load)(b + LANES) : b0;
            UNROLL
            for (int r = 0; r < rows; r++) {
                VECTOR x = SPLAT(group[r / 3][r % 3 * row]);
                sum[r][0] = FMA(x, b0, sum[r][0]);
                if (vectors > 1) {
                    sum[r][1] = FMA(x, b1, sum[r][1]);
                }
            }
            UNROLL
            for (int g = 0; 3 * g < rows; g++) {
                group[g] += a_depth;
            }
            b += b_depth;
        }
    }
    const int64_t init_row = tile->init_row, c_row = tile->c_row;
    const ELEMENT *init = (const ELEMENT *)tile->init + first * init_row;
    ELEMENT *c = (ELEMENT *)tile->c + first * c_row;
    UNROLL
    for (int r = 0; r < rows; r++, init += init_row, c += c_row) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            if (v == vectors - 1 && left > 0) {
                VECTOR all = KERNEL(load_some)(init + v * LANES, left) + sum[r][v];
                KERNEL(store_some)(all, left, c + v * LANES);
            } else {
                VECTOR all = KERNEL(load)(init + v * LANES) + sum[r][v];
                memcpy(c + v * LANES, &all, sizeof all);
            }
        }
    }
}

#define DEFINE_BLOCK(n)                                                                       \
    static TARGET void KERNEL(block1_##n)(const sali_tile *tile, int64_t first, int64_t left) \
    {                                                                                         \
        KERNEL(block)(tile, first, left, n, 1);                                               \
    }                                                                                         \
    static TARGET void KERNEL(block2_##n)(const sali_tile *tile, int64_t first, int64_t left) \
    {                                                                                         \
        KERNEL(block)(tile, first, left, n, 2);                                               \
    }
ROWS(DEFINE_BLOCK)
#undef DEFINE_BLOCK

/* The height of the next block, if `rows` rows are split into as few blocks as possible, of about
 * equal height. */
static inline int64_t KERNEL(height)(int64_t rows, int64_t most)
{
    int64_t count = (rows + most - 1) / most;
    return (rows + count - 1) / count;
}

/* The function `product` of tile.h, a block of rows at a time. */
static void KERNEL(product)(const sali_tile *tile, int64_t rows, int64_t columns)
{
#define BLOCK_ENTRY(n) { n, { KERNEL(block1_##n), KERNEL(block2_##n) } },
    static const struct {
        int64_t rows;
        void (*run[SALI_TILE_VECTORS])(const sali_tile *tile, int64_t first, int64_t left);
    } blocks[] = { ROWS(BLOCK_ENTRY) };
#undef BLOCK_ENTRY
    enum { LAST = sizeof blocks / sizeof *blocks - 1 };
    for (int64_t first = 0; first < rows;) {
        int64_t height = KERNEL(height)(rows - first, blocks[LAST].rows);
        int k = LAST;
        while (blocks[k].rows > height) {
            k--;
        }
        blocks[k].run[columns > LANES](tile, first, columns % LANES);
        first += blocks[k].rows;
    }
}

/* The sum of the lanes of v: the upper half is added to the lower half until one lane is left. */
static inline TARGET ELEMENT KERNEL(total)(VECTOR v)
{
    ELEMENT lane[LANES];
    memcpy(lane, &v, sizeof v);
    for (int64_t half = LANES / 2; half > 0; half /= 2) {
        for (int64_t i = 0; i < half; i++) {
            lane[i] += lane[i + half];
        }
    }
    return lane[0];
}

/* Store in to [LANES] the totals of LANES vectors. Where there are instructions for it, two vectors
 * at a time become one with the halves of both added, which makes the same sums as `total`. */
static inline __attribute__((always_inline)) TARGET void KERNEL(totals)(VECTOR *v, ELEMENT *to)
{
#ifdef FOLD
    FOLD(v);
    memcpy(to, v, sizeof *v);
#else
    for (int64_t r = 0; r < LANES; r++) {
        to[r] = KERNEL(total)(v[r]);
    }
#endif
}

/* Add to `rows` rows of one column of C, from row `first` on, their dot products. */
static inline __attribute__((always_inline)) TARGET void
KERNEL(column)(const sali_tile *tile, int64_t first, const int rows, int64_t column)
{
    const VECTOR zero = { 0 };
    VECTOR sum[CEILING];
    const int64_t row = tile->a_row, left = tile->depth % LANES, whole = tile->depth - left;
    UNROLL
    for (int r = 0; r < CEILING; r++) {
        sum[r] = zero;
    }
    for (int64_t s = 0; s < tile->n_steps; s++) {
        const ELEMENT *a = (const ELEMENT *)tile->a + tile->steps[s].a * tile->a_step + first * row;
        const ELEMENT *b =
            (const ELEMENT *)tile->b + tile->steps[s].b * tile->b_step + column * tile->b_depth;
        const ELEMENT *group[(CEILING + 2) / 3];
        UNROLL
        for (int g = 0; 3 * g < rows; g++) {
            group[g] = a + 3 * g * row;
        }
        for (int64_t k = 0; k < whole; k += LANES) {
            VECTOR x = KERNEL(load)(b + k);
            UNROLL
            for (int r = 0; r < rows; r++) {
                sum[r] = FMA(x, KERNEL(load)(group[r / 3] + r % 3 * row + k), sum[r]);
            }
        }
        if (left > 0) {
            VECTOR x = KERNEL(load_some)(b + whole, left);
            UNROLL
            for (int r = 0; r < rows; r++) {
                sum[r] =
                    FMA(x, KERNEL(load_some)(group[r / 3] + r % 3 * row + whole, left), sum[r]);
            }
        }
    }
    ELEMENT *c = (ELEMENT *)tile->c + first * tile->c_row + column, all[CEILING];
    UNROLL
    for (int r = 0; r < rows; r += (int)LANES) {
        KERNEL(totals)(sum + r, all + r);
    }
    for (int r = 0; r < rows; r++) {
        c[r * tile->c_row] += all[r];
    }
}

#define DEFINE_COLUMN(n)                                                                        \
    static TARGET void KERNEL(column_##n)(const sali_tile *tile, int64_t first, int64_t column) \
    {                                                                                           \
        KERNEL(column)(tile, first, n, column);                                                 \
    }
ROWS(DEFINE_COLUMN)
#undef DEFINE_COLUMN

/* The function `dots` of tile.h, a block of rows at a time. */
static void KERNEL(dots)(const sali_tile *tile, int64_t rows, int64_t columns)
{
#define COLUMN_ENTRY(n) { n, KERNEL(column_##n) },
    static const struct {
        int64_t rows;
        void (*run)(const sali_tile *tile, int64_t first, int64_t column);
    } blocks[] = { ROWS(COLUMN_ENTRY) };
#undef COLUMN_ENTRY
    enum { LAST = sizeof blocks / sizeof *blocks - 1 };
    for (int64_t first = 0; first < rows;) {
        int64_t height = KERNEL(height)(rows - first, blocks[LAST].rows);
        int k = LAST;
        while (blocks[k].rows > height) {
            k--;
        }
        for (int64_t j = 0; j < columns; j++) {
            blocks[k].run(tile, first, j);
        }
        first += blocks[k].rows;
    }
}

#include "core/vector/winograd_kernel.h"

#undef LANES
#undef CEILING
#undef FOLD
#undef LOAD_SOME
#undef STORE_SOME
#undef ROWS
