/* SPDX-License-Identifier: MIT */
/* The functions of tile.h for one instruction set and one element type (each_isa.h). */

/* The sum of a vector, half by half, where there is an instruction for it. */
#if ISA == 2 && BITS == 32
#define TOTAL(v) _mm512_reduce_add_ps((__m512)(v))
#elif ISA == 2
#define TOTAL(v) _mm512_reduce_add_pd((__m512d)(v))
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

/* Compute `rows` rows of the tile from row `first` on, `vectors` vectors wide, with all sums in
 * registers. Three rows share one pointer (offsets 0, 1 and 2 rows), because there are too few
 * registers for a pointer to each row. */
static inline __attribute__((always_inline)) TARGET void
KERNEL(block)(const sali_tile *tile, int64_t first, const int rows, const int vectors)
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
            VECTOR all = KERNEL(load)(init + v * LANES) + sum[r][v];
            memcpy(c + v * LANES, &all, sizeof all);
        }
    }
}

#define DEFINE_BLOCK(n)                                                         \
    static TARGET void KERNEL(block1_##n)(const sali_tile *tile, int64_t first) \
    {                                                                           \
        KERNEL(block)(tile, first, n, 1);                                       \
    }                                                                           \
    static TARGET void KERNEL(block2_##n)(const sali_tile *tile, int64_t first) \
    {                                                                           \
        KERNEL(block)(tile, first, n, 2);                                       \
    }
ROWS(DEFINE_BLOCK)
#undef DEFINE_BLOCK

/* The function `product` of tile.h: splits the rows into as few blocks as possible, of about equal
 * height. */
static void KERNEL(product)(const sali_tile *tile, int64_t rows, int vectors)
{
#define BLOCK_ENTRY(n) { n, { KERNEL(block1_##n), KERNEL(block2_##n) } },
    static const struct {
        int64_t rows;
        void (*run[SALI_TILE_VECTORS])(const sali_tile *tile, int64_t first);
    } blocks[] = { ROWS(BLOCK_ENTRY) };
#undef BLOCK_ENTRY
    enum { LAST = sizeof blocks / sizeof *blocks - 1 };
    for (int64_t first = 0; first < rows;) {
        int64_t left = rows - first, most = blocks[LAST].rows;
        int64_t count = (left + most - 1) / most, height = (left + count - 1) / count;
        int k = LAST;
        while (blocks[k].rows > height) {
            k--;
        }
        blocks[k].run[vectors - 1](tile, first);
        first += blocks[k].rows;
    }
}

/* The sum of the lanes of v: the upper half is added to the lower half until one lane is left. */
static inline TARGET ELEMENT KERNEL(total)(VECTOR v)
{
#ifdef TOTAL
    return TOTAL(v);
#else
    ELEMENT lane[LANES];
    memcpy(lane, &v, sizeof v);
    for (int64_t half = LANES / 2; half > 0; half /= 2) {
        for (int64_t i = 0; i < half; i++) {
            lane[i] += lane[i + half];
        }
    }
    return lane[0];
#endif
}

/* Add to rows first .. first + rows - 1 (at most 4) of one column of C their dot products. */
static inline __attribute__((always_inline)) TARGET void
KERNEL(column)(const sali_tile *tile, int64_t first, const int rows, int64_t column)
{
    const VECTOR zero = { 0 };
    VECTOR sum[4] = { zero, zero, zero, zero };
    ELEMENT *c = (ELEMENT *)tile->c + first * tile->c_row + column;
    for (int64_t s = 0; s < tile->n_steps; s++) {
        const ELEMENT *a =
            (const ELEMENT *)tile->a + tile->steps[s].a * tile->a_step + first * tile->a_row;
        const ELEMENT *b =
            (const ELEMENT *)tile->b + tile->steps[s].b * tile->b_step + column * tile->b_depth;
        for (int64_t k = 0; k < tile->depth; k += LANES) {
            VECTOR x = KERNEL(load)(b + k);
            UNROLL
            for (int r = 0; r < rows; r++) {
                sum[r] = FMA(x, KERNEL(load)(a + r * tile->a_row + k), sum[r]);
            }
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        c[r * tile->c_row] += KERNEL(total)(sum[r]);
    }
}

/* The function `dots` of tile.h: four rows at a time, then one by one. */
static TARGET void KERNEL(dots)(const sali_tile *tile, int64_t rows, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++) {
        int64_t first = 0;
        for (; first + 4 <= rows; first += 4) {
            KERNEL(column)(tile, first, 4, j);
        }
        for (; first < rows; first++) {
            KERNEL(column)(tile, first, 1, j);
        }
    }
}

#include "core/vector/winograd_kernel.h"

#undef LANES
#undef CEILING
#undef TOTAL
#undef ROWS
