/* SPDX-License-Identifier: MIT */
/* Heat maps and sheets of pictures, as cells. */
#include <math.h>

#include "figure/figure.h"

#define MAX_SHOWN 256 /* cells on a side of a heat map */
#define MAX_CELLS ((int64_t)1 << 28)
#define MAX_PIXELS ((int64_t)1 << 20)

/* Whether a, b and c are at least 1 and a b c <= most, without overflow. */
static bool product_within(int64_t a, int64_t b, int64_t c, int64_t most)
{
    return a >= 1 && b >= 1 && c >= 1 && a <= most && b <= most / a && c <= most / a / b;
}

/* ---- heat maps */

/* Whether n cells of `size` from `at` on have finite coordinates, with room for a block that
 * reaches beyond the last cell. */
static bool has_finite_cells(double at, double size, int64_t n)
{
    return size >= 0 && isfinite(at - size) && isfinite(at + 2 * (double)n * size);
}

/* Whether the heat map can be drawn; records a mistake of the figure if not. */
static bool check_heatmap(sal_figure *figure, const sal_heatmap *h)
{
    sali_figure_limits(figure, "colours", h->logarithmic, h->low, h->high);
    if (!product_within(h->rows, h->columns, 1, MAX_CELLS) || !h->values) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "heat map of %lld x %lld%s; expected at least one cell, at most 2^28",
                         (long long)h->rows, (long long)h->columns,
                         h->values ? "" : " without values");
    } else if (h->diverging && h->low != -h->high) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "diverging colours from %g to %g; expected -a to a, as they meet at 0",
                         h->low, h->high);
    } else if (h->logarithmic && h->diverging) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "colours both logarithmic and diverging; expected one of these");
    } else if (!has_finite_cells(h->x0, h->dx, h->columns) ||
               !has_finite_cells(h->y0, h->dy, h->rows)) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "heat map at (%g, %g), cells of %g x %g; expected finite numbers to its "
                         "last cell, no negative size",
                         h->x0, h->y0, h->dx, h->dy);
    }
    return figure->first.status == SAL_OK;
}

/* Mean of the finite values in a block; NaN if there are none. */
static double block_mean(const sal_heatmap *h, int64_t row, int64_t column, int64_t rows,
                         int64_t columns)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t r = row; r < row + rows && r < h->rows; r++) {
        for (int64_t c = column; c < column + columns && c < h->columns; c++) {
            double value = h->values[r * h->columns + c];
            if (isfinite(value)) {
                sum += value;
                n++;
            }
        }
    }
    return sum / (double)n;
}

/* Copy the heat map into the panel's cells. A side longer than MAX_SHOWN is reduced by averaging
 * blocks of values. */
static void add_heatmap(sal_figure *figure, const sal_heatmap *h, sali_panel *panel)
{
    if (!check_heatmap(figure, h)) {
        return;
    }
    sali_cells cells = { .block_rows = (h->rows + MAX_SHOWN - 1) / MAX_SHOWN,
                         .block_columns = (h->columns + MAX_SHOWN - 1) / MAX_SHOWN,
                         .low = h->low,
                         .high = h->high,
                         .logarithmic = h->logarithmic,
                         .diverging = h->diverging,
                         .upward = h->upward };
    double dx = h->dx > 0 ? h->dx : 1, dy = h->dy > 0 ? h->dy : 1;
    cells.left = h->x0 - dx / 2;
    cells.top = h->y0 - dy / 2;
    cells.dx = dx * (double)cells.block_columns;
    cells.dy = dy * (double)cells.block_rows;
    cells.rows = (h->rows + cells.block_rows - 1) / cells.block_rows;
    cells.columns = (h->columns + cells.block_columns - 1) / cells.block_columns;
    cells.values = sali_figure_room(figure, cells.rows * cells.columns, sizeof(double));
    if (!cells.values) {
        return;
    }
    for (int64_t i = 0; i < cells.rows * cells.columns; i++) {
        cells.values[i] = block_mean(h, i / cells.columns * cells.block_rows,
                                     i % cells.columns * cells.block_columns, cells.block_rows,
                                     cells.block_columns);
    }
    panel->cells = cells;
    panel->cells.label = sali_figure_text(figure, h->label);
}

/* ---- pictures */

/* Copy a picture [height x width], its values cut to 0 .. 1, into the sheet at `corner`; rows of
 * the sheet are `stride` values long. */
static void place_picture(const double *picture, int64_t height, int64_t width, double *corner,
                          int64_t stride)
{
    for (int64_t i = 0; i < height; i++) {
        for (int64_t j = 0; j < width; j++) {
            double value = picture[i * width + j];
            corner[i * stride + j] = !(value > 0) ? 0 : value < 1 ? value : 1;
        }
    }
}

/* Lay out the pictures as one sheet in the panel's cells, with an empty cell between neighbours. */
static void add_images(sal_figure *figure, const sal_images *m, sali_panel *panel)
{
    if (!product_within(m->n, m->height, m->width, MAX_PIXELS) || !m->values || m->columns < 0) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "%lld pictures of %lld x %lld pixels%s in %lld columns; expected at least "
                         "one pixel, at most 2^20, no negative number",
                         (long long)m->n, (long long)m->height, (long long)m->width,
                         m->values ? "" : " without values", (long long)m->columns);
        return;
    }
    int64_t columns = m->columns ? m->columns : (int64_t)ceil(sqrt((double)m->n));
    columns = columns < m->n ? columns : m->n;
    int64_t rows = (m->n + columns - 1) / columns;
    sali_cells cells = { .picture = true, .block_rows = 1, .block_columns = 1, .dx = 1, .dy = 1 };
    cells.rows = rows * (m->height + 1) - 1; /* a cell between pictures */
    cells.columns = columns * (m->width + 1) - 1;
    cells.values = sali_figure_room(figure, cells.rows * cells.columns, sizeof(double));
    if (!cells.values) {
        return;
    }
    for (int64_t i = 0; i < cells.rows * cells.columns; i++) {
        cells.values[i] = NAN;
    }
    for (int64_t k = 0; k < m->n; k++) {
        place_picture(m->values + k * m->height * m->width, m->height, m->width,
                      cells.values + k / columns * (m->height + 1) * cells.columns +
                          k % columns * (m->width + 1),
                      cells.columns);
    }
    panel->cells = cells;
}

void sali_panel_cells(sal_figure *figure, const sal_panel *from, sali_panel *to)
{
    if (from->heatmap && from->images) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT, "has both a heat map and pictures");
    } else if ((from->heatmap || from->images) && (from->x.logarithmic || from->y.logarithmic)) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "heat map or pictures on a logarithmic axis; expected linear ones");
    } else if (from->heatmap) {
        add_heatmap(figure, from->heatmap, to);
    } else if (from->images) {
        add_images(figure, from->images, to);
    }
}
