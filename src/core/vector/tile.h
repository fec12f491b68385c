/* SPDX-License-Identifier: MIT */
/* Sums of small matrix products, kept in registers: the inner loops of convolutions, at the widest
 * instruction set of the machine.
 *
 * With `lanes` the elements of a vector, a tile is
 *
 *     C [rows x columns] = init + sum_s A_s B_s,   A_s [rows x depth], B_s [depth x columns]
 *
 * where step s says where A_s and B_s begin. Rows of B_s are read up to a multiple of the lanes;
 * what is beyond their columns does not matter. All strides are in elements. Element (r, j) depends
 * on row r of the A_s only: bits do not change when rows are split. No allocation. */
#ifndef SALI_TILE_H
#define SALI_TILE_H

#include <stdint.h>

#include "core/vector/isa.h"
#include "core/vector/winograd.h"

/* A tile has at most this many vectors of columns: wider products are several tiles. */
#define SALI_TILE_VECTORS 2

typedef struct sali_tile_step {
    int32_t a, b; /* A_s begins at A + a a_step, B_s at B + b b_step */
} sali_tile_step;

typedef struct sali_tile {
    int64_t n_steps;
    const sali_tile_step *steps;
    int64_t depth;
    const void *a, *b, *init;
    void *c; /* may be init */
    int64_t a_step, a_row, a_depth;
    int64_t b_step, b_depth; /* a row of B_s has no gaps */
    int64_t init_row, c_row; /* init_row 0: one row for all */
} sali_tile;

/* The functions of one instruction set for one element type. */
typedef struct sali_tile_kernel {
    int64_t lanes;
    void (*product)(const sali_tile *tile, int64_t rows, int64_t columns);
    /* C [rows x columns] += the sum above, for few columns: vectors run along the depth. a_depth is
     * 1; B_s is transposed, [columns x depth], with rows b_depth apart. */
    void (*dots)(const sali_tile *tile, int64_t rows, int64_t columns);
    const sali_winograd *winograd; /* [SALI_WINOGRAD_KINDS], by taps less SALI_WINOGRAD_LEAST */
} sali_tile_kernel;

/* `product` is NULL where an instruction set does not exist on this architecture. */
extern const sali_tile_kernel sali_tile_kernels_f32[SALI_ISA_COUNT];
extern const sali_tile_kernel sali_tile_kernels_f64[SALI_ISA_COUNT];

/* The functions of this machine's best instruction set. */
static inline const sali_tile_kernel *sali_tile_f32(void)
{
    return &sali_tile_kernels_f32[sali_isa_best()];
}
static inline const sali_tile_kernel *sali_tile_f64(void)
{
    return &sali_tile_kernels_f64[sali_isa_best()];
}

#endif
