/* SPDX-License-Identifier: MIT */
/* Figures: panels of lines, points, bars, heat maps and pictures, written as SVG.
 *
 *     sal_figure *figure = NULL;
 *     sal_figure_create(&(sal_figure_options){ .title = "GWG" }, &figure, &err);
 *     sal_figure_panel(figure, &(sal_panel){ .x = { .label = "step" }, .y = { .label = "f" } });
 *     sal_figure_series(figure, &(sal_series){ .name = "chain 1", .n = n, .y = f });
 *     sal_figure_write(figure, "trace.svg", &err);
 *     sal_figure_destroy(figure);
 *
 * The figure keeps its first mistake and ignores later calls; sal_figure_write reports the mistake.
 * Arrays and texts are copied. Colours suit colour-blind readers, and series also differ in dash,
 * marker or hatching, so that you can tell them apart in print. The SVG follows the reader's light
 * or dark setting and prints black on white. It holds no script and fetches nothing. The same calls
 * give the same bytes in every locale. Values that are NaN or infinite, or not positive on a
 * logarithmic axis, leave gaps; the low ends of their bands and error bars reach the axis's edge.
 * Texts are UTF-8; invalid bytes and control characters are shown as U+FFFD. */
#ifndef SALTUS_FIGURE_H
#define SALTUS_FIGURE_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A figure: its panels and their content. One thread at a time works on it. */
typedef struct sal_figure sal_figure;

/* How a figure looks. Fields left zero take their defaults. */
typedef struct sal_figure_options {
    const char *title;       /* above the panels; also the name for screen readers */
    const char *caption;     /* below the panels, wrapped to as many lines as needed */
    const char *description; /* what the figure shows, for screen readers; NULL: the caption */
    int64_t columns;         /* number of panels in a row; 0: up to 3 */
    double panel_width;      /* of the area inside the axes, in CSS pixels; 0: 320; 60 .. 4000 */
    double panel_height;     /* of the area inside the axes, in CSS pixels; 0: 220; 60 .. 4000 */
} sal_figure_options;

/* Create an empty figure.
 * Params:  options  NULL: the defaults.
 * Returns: SAL_ERR_ARGUMENT (options out of range), SAL_ERR_MEMORY; on failure *figure is
 *          untouched.
 * Cost:    O(1).
 * Threads: any; one at a time with a figure. */
SAL_API sal_status sal_figure_create(const sal_figure_options *options, sal_figure **figure,
                                     sal_error *err);

/* Free a figure; NULL is fine. */
SAL_API void sal_figure_destroy(sal_figure *figure);

/* One axis. A zero struct is a linear axis with limits from the data. */
typedef struct sal_axis {
    const char *label;             /* with its unit, "time [s]", in at most two lines; NULL: none */
    bool logarithmic;              /* cannot be combined with categories */
    double low;                    /* lower limit; both limits 0: from the data */
    double high;                   /* upper limit, above low */
    const char *const *categories; /* [n_categories] names of the positions 0, 1, ..; or NULL */
    int64_t n_categories;          /* number of categories; 0: a numeric axis */
} sal_axis;

/* A matrix as coloured cells, with a colour scale beside it. If a matrix has more than 256 rows or
 * columns, each cell shown is the mean of a block of cells, and the panel says so. Cells that are
 * NaN or infinite stay empty. */
typedef struct sal_heatmap {
    int64_t rows;         /* >= 1 */
    int64_t columns;      /* >= 1; at most 2^28 cells */
    const double *values; /* [rows x columns] */
    const char *label;    /* label of the colour scale, with its unit */
    double low;           /* lower end of the colour scale; both ends 0: from the values */
    double high;          /* upper end; values beyond an end take the colour of that end */
    bool logarithmic;     /* colours by log(value) */
    bool diverging; /* two colours that meet at 0, for covariances and couplings; low, if given,
                       must be -high */
    bool upward;    /* put row 0 at the bottom (lattices, planes), not at the top (matrices) */
    double x0;      /* the cell [r, c] lies around x = x0 + c dx */
    double dx;      /* > 0, or 0: 1 */
    double y0;      /* the cell [r, c] lies around y = y0 + r dy */
    double dy;      /* > 0, or 0: 1 */
} sal_heatmap;

/* A sheet of n grey pictures of height x width pixels, without axes. */
typedef struct sal_images {
    int64_t n;            /* number of pictures, >= 1 */
    int64_t height;       /* of each picture, >= 1 */
    int64_t width;        /* of each picture, >= 1; at most 2^20 pixels in all pictures */
    const double *values; /* [n x height x width] from 0 (black) to 1 (white), clipped; NaN is
                             black */
    int64_t columns;      /* pictures in a row; 0: makes the sheet about square */
} sal_images;

/* The axes and background of a panel. */
typedef struct sal_panel {
    const char *title; /* above the panel; NULL: none */
    sal_axis x;        /* the horizontal axis */
    sal_axis y;        /* the vertical axis, upwards */
    bool square; /* units of equal length on x and y, for lattices and planes: the panel's height
                    follows from its width, up to twice the figure's panel_height. An error on
                    logarithmic axes; ignored where a side would be shorter than 24 pixels */
    const sal_heatmap *heatmap; /* drawn below the series, on linear axes; or NULL */
    const sal_images *images;   /* drawn in place of a heat map, on linear axes; or NULL */
} sal_panel;

/* Begin a panel: everything added from now on goes into it. Panels fill rows from the left. If you
 * add something before the first panel, the figure gets a panel without labels. NULL also gives a
 * panel without labels.
 * Cost:    O(cells and pixels). */
SAL_API void sal_figure_panel(sal_figure *figure, const sal_panel *panel);

/* How a series is drawn. */
typedef enum sal_mark {
    SAL_MARK_LINE,   /* a line through the points in their order; low .. high is a band */
    SAL_MARK_POINTS, /* markers; low .. high are error bars */
    SAL_MARK_BOTH,   /* a line with markers; low .. high are error bars */
    SAL_MARK_STEPS,  /* a line that stays at y until the next x */
    SAL_MARK_BARS /* bars from 0 (on logarithmic axes from the axis); bars of several series stand
                     side by side; low .. high are error bars */
} sal_mark;

/* A series of n >= 0 points. If a line has more points than the panel has room for and x never
 * falls, the first, lowest, highest and last point of each pixel column are drawn. Markers on the
 * same pixel are drawn once. */
typedef struct sal_series {
    const char *name;   /* in the legend; NULL: not in the legend */
    sal_mark mark;      /* 0: SAL_MARK_LINE */
    int64_t n;          /* number of points */
    const double *x;    /* [n]; NULL: 0 to n - 1 */
    const double *y;    /* [n] */
    const double *low;  /* [n] lower ends on the axis y; NULL, as for high: none */
    const double *high; /* [n] upper ends */
    int64_t style; /* 1, 2, .., 7 differ in colour, dash and marker; from 8 on colours repeat with
                      other dashes and markers, from 50 on all repeat; 0: the panel's next style */
} sal_series;

/* Add a series to the current panel.
 * Cost:    O(n). */
SAL_API void sal_figure_series(sal_figure *figure, const sal_series *series);

/* Add a cross at (x, y) with a text (or NULL) beside it. If x is NaN, add a line across the panel
 * at y, and if y is NaN, one at x; the text of a line goes into the legend. If both are NaN or one
 * is infinite, nothing is drawn. */
SAL_API void sal_figure_mark(sal_figure *figure, double x, double y, const char *text);

/* Write the figure to a file, which is replaced at once. You can add to the figure and write it
 * again.
 * Returns: the figure's first mistake (SAL_ERR_ARGUMENT, SAL_ERR_MEMORY); SAL_ERR_ARGUMENT for a
 *          path that does not end in ".svg" or a figure without panels; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(points + cells).
 * Threads: one at a time. */
SAL_API sal_status sal_figure_write(const sal_figure *figure, const char *path, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
