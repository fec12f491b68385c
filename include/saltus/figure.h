/* Figures: panels of lines, points, bars, heat maps and pictures, written as SVG.
 *
 *     sal_figure *figure = NULL;
 *     sal_figure_create(&(sal_figure_options){ .title = "GWG" }, &figure, &err);
 *     sal_figure_panel(figure, &(sal_panel){ .x = { .label = "step" }, .y = { .label = "f" } });
 *     sal_figure_series(figure, &(sal_series){ .name = "chain 1", .n = n, .y = f });
 *     sal_figure_write(figure, "trace.svg", &err);
 *     sal_figure_destroy(figure);
 *
 * The first mistake is kept in the figure, later calls pass through, and sal_figure_write reports
 * it. Arrays and texts are copied. Colours suit colour-blind readers; series differ in dash, marker
 * or hatching too, so that they can be told apart in print. Pictures follow the reader's light or
 * dark setting and print black on white. They hold no script and fetch nothing; the same calls give
 * the same bytes, whatever the locale. Values that are NaN or infinite, or not positive on a
 * logarithmic axis, leave gaps; the low ends of their bands and error bars reach its edge. Texts
 * are UTF-8; bytes that are not, and control characters, are shown as U+FFFD. */
#ifndef SALTUS_FIGURE_H
#define SALTUS_FIGURE_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A figure: its panels and what is in them. One thread at a time works on it. */
typedef struct sal_figure sal_figure;

/* How a figure looks. Fields left zero take their defaults. */
typedef struct sal_figure_options {
    const char *title;       /* above the panels, and the name for readers who listen */
    const char *caption;     /* below the panels, in as many lines as it takes */
    const char *description; /* what is to be seen, for readers who listen; NULL: the caption */
    int64_t columns;         /* panels in a row; 0: up to 3 */
    double panel_width;      /* of the area inside the axes, in CSS pixels; 0: 320; 60 .. 4000 */
    double panel_height;     /* the same; 0: 220 */
} sal_figure_options;

/* An empty figure.
 * Params:  options  NULL: the defaults.
 * Returns: SAL_ERR_ARGUMENT (options out of range), SAL_ERR_MEMORY; on failure *figure is
 *          untouched.
 * Cost:    O(1).
 * Threads: any; a figure is used by one at a time. */
SAL_API sal_status sal_figure_create(const sal_figure_options *options, sal_figure **figure,
                                     sal_error *err);

/* Free a figure; NULL is fine. */
SAL_API void sal_figure_destroy(sal_figure *figure);

/* One axis. Zero is linear, with limits from the data. */
typedef struct sal_axis {
    const char *label;             /* with its unit, "time [s]", in at most two lines; NULL: none */
    bool logarithmic;              /* not with categories */
    double low;                    /* lower limit; both limits 0: from the data */
    double high;                   /* upper limit, above low */
    const char *const *categories; /* [n_categories] names of the positions 0, 1, ..; or NULL */
    int64_t n_categories;          /* how many; 0: numbers */
} sal_axis;

/* A matrix as coloured cells with a scale of numbers beside it. The cell [r, c] lies
 * around x = c, y = r. On matrices of more than 256 rows or columns a cell shown is the mean over a
 * block, and the panel says so. Cells that are NaN or infinite stay empty. */
typedef struct sal_heatmap {
    int64_t rows;         /* >= 1 */
    int64_t columns;      /* >= 1; at most 2^28 cells */
    const double *values; /* [rows x columns] */
    const char *label;    /* of the colour scale, with its unit */
    double low;           /* lower end of the colour scale; both ends 0: from the values */
    double high;          /* upper end; beyond the ends colours stay as they are there */
    bool logarithmic;     /* colours by log(value) */
    bool diverging;       /* two colours that meet at 0, for covariances and couplings; low, if
                             given, is then -high */
    bool upward;          /* row 0 is at the bottom (lattices, planes), not at the top (matrices) */
    double x0;            /* cells lie around x = x0 + c dx */
    double dx;            /* > 0, or 0: 1 */
    double y0;            /* and y = y0 + r dy */
    double dy;            /* > 0, or 0: 1 */
} sal_heatmap;

/* n grey pictures of height x width pixels as a sheet without axes. */
typedef struct sal_images {
    int64_t n;            /* pictures, >= 1 */
    int64_t height;       /* of each, >= 1 */
    int64_t width;        /* of each, >= 1; at most 2^20 pixels in all */
    const double *values; /* [n x height x width] from 0 (black) to 1 (white), clipped; NaN is
                             black */
    int64_t columns;      /* pictures in a row; 0: as many as make the sheet about square */
} sal_images;

/* A panel. */
typedef struct sal_panel {
    const char *title; /* above it; NULL: none */
    sal_axis x;        /* to the right */
    sal_axis y;        /* upwards */
    bool square; /* one unit is as long on x as on y, and the panel's height follows from its width,
                    up to twice the figure's panel_height: for lattices and planes; not on
                    logarithmic axes. Not so where a side would be shorter than 24 pixels */
    const sal_heatmap *heatmap; /* below the series, on linear axes; or NULL */
    const sal_images *images;   /* the same, in place of a heat map */
} sal_panel;

/* Begin a panel; what is added from now on is in it. Panels fill rows from the left. A figure to
 * which something is added before gets a panel without labels. NULL: the same.
 * Cost:    O(cells and pixels). */
SAL_API void sal_figure_panel(sal_figure *figure, const sal_panel *panel);

/* How a series is drawn. */
typedef enum sal_mark {
    SAL_MARK_LINE,   /* a line through the points in their order; low .. high is a band */
    SAL_MARK_POINTS, /* markers; low .. high are error bars */
    SAL_MARK_BOTH,   /* a line with markers; low .. high are error bars */
    SAL_MARK_STEPS,  /* a line that stays at y until the next x */
    SAL_MARK_BARS    /* bars from 0 (logarithmic axes: from the axis), those of several series side
                        by side; low .. high are error bars */
} sal_mark;

/* A series of n >= 0 points. A line with more points than the panel has room for is drawn by the
 * first, lowest, highest and last point of each pixel column, if x never falls; markers that would
 * lie on the same pixel are drawn once. */
typedef struct sal_series {
    const char *name;   /* in the legend; NULL: not there */
    sal_mark mark;      /* 0: SAL_MARK_LINE */
    int64_t n;          /* points */
    const double *x;    /* [n]; NULL: 0 to n - 1 */
    const double *y;    /* [n] */
    const double *low;  /* [n] lower ends on the axis y; NULL, as high: none */
    const double *high; /* [n] upper ends */
    int64_t style; /* 1, 2, .., 7 differ in colour, dash and marker; from 8 on the colours begin
                      again with other dashes and markers, from 50 on all; 0: the panel's next */
} sal_series;

/* Add a series to the panel.
 * Cost:    O(n). */
SAL_API void sal_figure_series(sal_figure *figure, const sal_series *series);

/* A cross at (x, y) with a text (or NULL) beside it. With NaN for x a line at y across the panel,
 * with NaN for y one at x; their text goes into the legend. With NaN for both or an infinite one
 * nothing is drawn. */
SAL_API void sal_figure_mark(sal_figure *figure, double x, double y, const char *text);

/* Write the figure; the file is replaced at once. The figure can be added to and written again.
 * Returns: the figure's first mistake (SAL_ERR_ARGUMENT, SAL_ERR_MEMORY); SAL_ERR_ARGUMENT for a
 *          path that does not end in ".svg" or a figure without panels; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(points + cells).
 * Threads: one at a time. */
SAL_API sal_status sal_figure_write(const sal_figure *figure, const char *path, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
