/* SPDX-License-Identifier: MIT */
/* Products with a matrix that stays the same over many of them, at the inner loops of
 * core/vector/tile.h. BLAS rearranges both matrices in every product, which takes longer than
 * the product when one of them is as low as a shard of chains; here B is arranged once for each
 * update.
 *
 * B [depth x columns] is kept in panels of two vectors of columns (the last one may have one
 * vector), each [depth x its width], filled up with zeros. */
#ifndef SALI_PANELS_H
#define SALI_PANELS_H

#include <stdbool.h>
#include <string.h>

#include "core/real.h"
#include "core/vector/tile.h"

/* With fewer rows than this a product reads B once anyway, and BLAS does that well. */
#define PANEL_ROWS 4
#define PANEL_LANES_MOST 16

/* Width of the panel that begins at column j. */
static inline int64_t panel_width(int64_t columns, int64_t j, int64_t lanes)
{
    return columns - j > lanes ? SALI_TILE_VECTORS * lanes : lanes;
}

/* Number of elements of all panels of B [depth x columns]. */
static inline int64_t panels_size(int64_t depth, int64_t columns)
{
    int64_t lanes = RN(sali_tile)()->lanes;
    return (columns + lanes - 1) / lanes * lanes * depth;
}

/* Copy B [depth x columns], whose element (k, j) is B[k step_depth + j step_column], to panels. */
static inline void panels_pack(int64_t depth, int64_t columns, const real *B, int64_t step_depth,
                               int64_t step_column, real *panels)
{
    int64_t lanes = RN(sali_tile)()->lanes, width;
    for (int64_t j = 0; j < columns; j += width) {
        width = panel_width(columns, j, lanes);
        for (int64_t k = 0; k < depth; k++) {
            for (int64_t i = 0; i < width; i++) {
                *panels++ = j + i < columns ? B[k * step_depth + (j + i) * step_column] : 0;
            }
        }
    }
}

/* C [rows x columns] = X [rows x depth] B, or += with `add`. Row r of C depends on row r of X
 * only. */
static inline void panels_product(int64_t rows, int64_t depth, int64_t columns, const real *X,
                                  const real *panels, bool add, real *C)
{
    static const real zeros[SALI_TILE_VECTORS * PANEL_LANES_MOST];
    static const sali_tile_step step = { 0, 0 };
    const sali_tile_kernel *kernel = RN(sali_tile)();
    int64_t width;
    for (int64_t j = 0; j < columns; j += width) {
        width = panel_width(columns, j, kernel->lanes);
        int64_t filled = columns - j < width ? columns - j : width;
        sali_tile tile = {
            .n_steps = 1,
            .steps = &step,
            .depth = depth,
            .a = X,
            .a_row = depth,
            .a_depth = 1,
            .b = panels,
            .b_depth = width,
            .init = add ? C + j : zeros,
            .init_row = add ? columns : 0,
            .c = C + j,
            .c_row = columns,
        };
        kernel->product(&tile, rows, filled);
        panels += depth * width;
    }
}

/* Panels for products X B with a B [depth x columns] that does not vary: of B, and of its transpose
 * for the adjoint of X. */
static inline int64_t panel_pair_size(int64_t depth, int64_t columns)
{
    return panels_size(depth, columns) + panels_size(columns, depth);
}

/* Write both panels; element (k, j) of B is B[k step_depth + j step_column]. */
static inline void panel_pair_pack(int64_t depth, int64_t columns, const real *B,
                                   int64_t step_depth, int64_t step_column, real *panels)
{
    panels_pack(depth, columns, B, step_depth, step_column, panels);
    panels_pack(columns, depth, B, step_column, step_depth, panels + panels_size(depth, columns));
}

/* C [rows x columns] = X [rows x depth] B. */
static inline void panel_pair_product(int64_t rows, int64_t depth, int64_t columns, const real *X,
                                      const real *panels, real *C)
{
    panels_product(rows, depth, columns, X, panels, false, C);
}

/* X [rows x depth] += G [rows x columns] B'. */
static inline void panel_pair_pull(int64_t rows, int64_t depth, int64_t columns, const real *G,
                                   const real *panels, real *X)
{
    panels_product(rows, columns, depth, G, panels + panels_size(depth, columns), true, X);
}

#endif
