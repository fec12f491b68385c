/* SPDX-License-Identifier: MIT */
/* Figures inside: what was added, and how it is laid out and drawn. */
#ifndef SALI_FIGURE_H
#define SALI_FIGURE_H

#include <saltus/figure.h>

#include "core/memory.h"
#include "io/text_output.h"

#define SALI_STYLES 7                          /* different colours, dashes and markers */
#define SALI_LOOKS (SALI_STYLES * SALI_STYLES) /* number of pairs of a colour and a dash */

typedef struct sali_pointer {
    double x, y; /* one may be NaN */
    char *text;
} sali_pointer;

/* A heat map or a sheet of pictures. rows 0: none. */
typedef struct sali_cells {
    bool picture;
    int64_t rows, columns;
    double *values;                    /* [rows x columns] */
    int64_t block_rows, block_columns; /* cells of the matrix that a value averages */
    char *label;
    double low, high;
    bool logarithmic, diverging, upward;
    double left, top, dx, dy; /* the outer corner of cell [0, 0], and the size of a cell */
} sali_cells;

typedef struct sali_panel {
    const char *title;
    sal_axis x, y;
    bool square;
    sal_series *series; /* with x; the style from 0 on, below SALI_LOOKS */
    int64_t n_series, series_room;
    sali_pointer *pointers;
    int64_t n_pointers, pointers_room;
    sali_cells cells;
} sali_panel;

struct sal_figure {
    sal_figure_options options; /* without defaults */
    sali_panel *panels;
    int64_t n_panels, panels_room;
    sali_memory memory; /* texts and arrays of all panels */
    sal_error first;    /* the first mistake */
};

/* ---- building (figure.c) */

/* Record a mistake, unless there is one already; the message begins with the panel's number. */
void sali_figure_fail(sal_figure *figure, sal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Record a mistake unless low < high, both finite, and positive if logarithmic. Limits 0 and 0 mean
 * "automatic" and are fine. */
void sali_figure_limits(sal_figure *figure, const char *what, bool logarithmic, double low,
                        double high);

/* Zeroed memory that is freed with the figure; NULL, and a mistake of the figure, when out of
 * memory. */
void *sali_figure_room(sal_figure *figure, int64_t n, size_t size);

/* A copy of `text` in which everything that is not valid UTF-8 or not allowed in XML is U+FFFD;
 * NULL if `text` is NULL. The figure owns it. When out of memory: NULL and a mistake of the
 * figure. */
char *sali_figure_text(sal_figure *figure, const char *text);

/* Check and copy the heat map or the pictures of a panel (figure_cells.c). */
void sali_panel_cells(sal_figure *figure, const sal_panel *from, sali_panel *to);

/* ---- scales (figure_scale.c) */

/* Values to pixels: `low` lies at `from`, `high` at `to`. */
typedef struct sali_scale {
    bool logarithmic;
    double low, high; /* decimal logarithms if logarithmic */
    double from, to;
} sali_scale;

/* The pixel position of a value, NaN if the scale cannot show it; at most 30000 pixels from the
 * panel. The corner of something drawn in one piece on a linear axis may be farther: at most 1e9
 * pixels. */
double sali_scale_at(const sali_scale *scale, double value);
double sali_scale_corner(const sali_scale *scale, double value);

/* The smallest distance between neighbouring bars, in pixels of `scale` or, if NULL, in units of x;
 * infinite if no bar has a neighbour, NaN without bars. */
double sali_bar_gap(const sali_panel *panel, const sali_scale *scale);

/* The scales of a panel's axes and colours; `from` and `to` are not set. */
void sali_panel_scales(const sali_panel *panel, sali_scale *x, sali_scale *y);
sali_scale sali_colour_scale(const sali_cells *cells);

/* ---- ticks (figure_ticks.c) */

#define SALI_MAX_TICKS 24

typedef struct sali_tick {
    double value;
    char text[40];
} sali_tick;

typedef struct sali_ticks {
    int n;
    sali_tick tick[SALI_MAX_TICKS];
} sali_ticks;

/* Write an exponent such as -12 in superscript digits. Returns its length in bytes. */
int sali_put_exponent(int exponent, char *out);

/* Round numbers within the scale, about `most` of them. */
void sali_ticks_make(const sali_scale *scale, int most, sali_ticks *ticks);

/* ---- texts (figure_text.c) */

#define SALI_FONT 12.0 /* size of all text, in pixels */
#define SALI_LINE 16.0 /* from one line of text to the next */

/* The approximate width of a text, in pixels. The reader's font is unknown, so the estimate allows
 * for wide fonts. */
double sali_text_width(const char *text);

#define SALI_BOLD 1.12     /* how much wider titles of panels are than plain text */
#define SALI_MAIN_BOLD 1.3 /* and titles of figures */

#define SALI_LINE_BYTES 1000 /* the longest line of text, in bytes */

/* The length in bytes of the first line of a text broken at blanks to a width; at most
 * SALI_LINE_BYTES + 1. */
int64_t sali_text_line(const char *text, double width);

/* Copy that first line to `line` and return the rest of the text. If `last`, the line ends in an
 * ellipsis if more text follows. */
const char *sali_text_next(const char *text, double width, bool last,
                           char line[SALI_LINE_BYTES + 2]);

/* The number of lines into which sali_text_line breaks a text; 0 for NULL. */
int64_t sali_text_lines(const char *text, double width);

/* Copy as much of a text as fits into `width` pixels and `size` >= 8 bytes, with an ellipsis for
 * the rest. */
void sali_text_fit(const char *text, double width, char *out, int64_t size);

/* ---- layout (figure_layout.c) */

/* Where a panel lies, in pixels: the area inside the axes, and the margins around it. */
typedef struct sali_place {
    double left, top, width, height;
    double above, below, before, after;
    bool turned;       /* the names on the axis x do not fit side by side */
    int64_t name_step; /* only every name_step-th name is shown */
    sali_scale x, y, colour;
    sali_ticks x_ticks, y_ticks, colour_ticks;
} sali_place;

typedef struct sali_layout {
    double width, height;
    double caption;     /* upper edge of the caption */
    sali_place *places; /* [panels]; sali_free */
} sali_layout;

sal_status sali_figure_layout(const sal_figure *figure, bool words, sali_layout *layout,
                              sal_error *err);

/* ---- drawing (svg*.c) */

/* Where to draw: the output, and one panel of the figure. */
typedef struct sali_canvas {
    sali_text_output *w;
    const char *prefix; /* of ids */
    int64_t number;     /* of the panel */
    const sali_panel *panel;
    const sali_place *place;
} sali_canvas;

/* The rules that colour figures, for a style element: once a document. */
extern const char sali_figure_style[];

/* Write an <svg> element. `prefix` makes ids unique in a page that holds several figures; `style`
 * includes the CSS rules, as a document of its own needs them. Titles and captions are visible if
 * `words`, else only present for screen readers. */
void sali_figure_draw(const sal_figure *figure, sali_text_output *w, const char *prefix, bool style,
                      bool words);

/* A text; `anchor` is start, middle or end, `class` may be NULL. */
void sali_svg_text(sali_text_output *w, double x, double y, const char *anchor, const char *class,
                   const char *text);

/* A straight line of a class. */
void sali_svg_rule(sali_text_output *w, const char *class, double x1, double y1, double x2,
                   double y2);

/* A label along a side of the panel, reading upwards; its first line is at x, centred on the
 * height. */
void sali_svg_side_label(const sali_canvas *c, double x, const char *label);

void sali_svg_axes(const sali_canvas *c);   /* svg_axes.c */
void sali_svg_legend(const sali_canvas *c); /* svg_legend.c */
void sali_svg_cells(const sali_canvas *c);  /* svg_cells.c */
void sali_svg_colour_bar(const sali_canvas *c);
void sali_svg_line(const sali_canvas *c, const sal_series *series, bool dense); /* svg_line.c */
void sali_svg_band(const sali_canvas *c, const sal_series *series);
void sali_svg_bars(const sali_canvas *c); /* svg_bars.c */
void sali_svg_hatches(const sali_canvas *c);
void sali_svg_bar_fill(const sali_canvas *c, const sal_series *series, int layer);
void sali_svg_markers(const sali_canvas *c, const sal_series *series); /* svg_markers.c */
void sali_svg_error_bars(const sali_canvas *c, const sal_series *series, double shift);
void sali_svg_pointers(const sali_canvas *c);

/* Numbers of the colour of a style and of its dash, marker and hatching. After the last colour, the
 * first is used again with another dash. */
int64_t sali_style_colour(int64_t style);
int64_t sali_style_dash(int64_t style);

/* Whether the pointer is a line across the panel: one coordinate is NaN, and the axis can show the
 * other coordinate. */
bool sali_pointer_across(const sali_panel *panel, const sali_pointer *pointer);

/* The number of lines, at most 2, of the label of an axis that is `length` pixels long; 0 without a
 * label. */
int64_t sali_label_lines(const char *label, double length);

/* The longest line of such a label, in pixels: somewhat longer than the axis, and more so for short
 * axes. */
double sali_label_room(double length);

/* The number of rows of the legend at a width. */
int64_t sali_legend_rows(const sali_panel *panel, double width);

/* Whether the points are too close for dashes and thick lines; such a line is drawn as `dense`. */
bool sali_series_dense(const sal_series *series, double width);

/* The number of series of bars, which stand side by side; and the layers of a bar: 2 if its series
 * needs hatching, else 1. */
int64_t sali_bar_series(const sali_panel *panel);
int sali_bar_layers(const sali_panel *panel, const sal_series *series);

/* The colour of t in [0, 1], as 0xRRGGBB. */
uint32_t sali_colour(double t, bool diverging);

#endif
