/* SPDX-License-Identifier: MIT */
/* Where panels, margins and captions lie. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "figure/figure.h"

#define LINE SALI_LINE
#define GAP 16.0 /* between panels */

/* ---- one panel */

static double ticks_width(const sali_ticks *ticks)
{
    double width = 0;
    for (int i = 0; i < ticks->n; i++) {
        width = fmax(width, sali_text_width(ticks->tick[i].text));
    }
    return width;
}

/* Whether the texts of ticks run into one another along a horizontal axis of `length` pixels. */
static bool ticks_collide(const sali_scale *scale, const sali_ticks *ticks, double length)
{
    sali_scale x = *scale;
    x.from = 0;
    x.to = length;
    for (int i = 1; i < ticks->n; i++) {
        const sali_tick *a = &ticks->tick[i - 1], *b = &ticks->tick[i];
        double room = sali_scale_at(&x, b->value) - sali_scale_at(&x, a->value);
        if (room < (sali_text_width(a->text) + sali_text_width(b->text)) / 2 + 6) {
            return true;
        }
    }
    return false;
}

static double label_height(const char *label, double length)
{
    return label ? LINE * (double)sali_label_lines(label, length) + 2 : 0;
}

static double names_width(const sal_axis *axis)
{
    double width = 0;
    for (int64_t i = 0; i < axis->n_categories; i++) {
        width = fmax(width, sali_text_width(axis->categories[i]));
    }
    return fmin(width, 140);
}

#define SHORTEST 24.0

/* Set the width and height inside the axes. Square units never make a panel wider than requested,
 * or more than twice as high unless the panel is flat; no side is shorter than SHORTEST. */
static void set_panel_size(const sal_figure *figure, const sali_panel *panel, sali_place *p)
{
    p->width = figure->options.panel_width;
    p->height = figure->options.panel_height;
    if (panel->square || panel->cells.picture) {
        double ratio = (p->y.high - p->y.low) / (p->x.high - p->x.low);
        double wish = p->width * ratio;
        double most = 2 * figure->options.panel_height;
        if (wish > most && !(p->width / 2 > wish)) {
            p->width = fmax(most / ratio, SHORTEST);
            wish = most;
        }
        p->height = fmax(wish, SHORTEST);
    }
}

/* Decide whether the categories on axis x are written side by side or turned, and how many are
 * skipped. */
static void name_axis(const sali_panel *panel, sali_place *p)
{
    double each = p->width / (double)panel->x.n_categories;
    p->turned = names_width(&panel->x) + 6 > each;
    p->name_step = p->turned ? (int64_t)ceil(14 / each) : 1;
}

/* Set the scales, ticks, size and margins of one panel; its position is not known yet. */
static void measure_panel(const sal_figure *figure, const sali_panel *panel, sali_place *p)
{
    sali_panel_scales(panel, &p->x, &p->y);
    set_panel_size(figure, panel, p);
    bool axes = !panel->cells.picture;
    p->above = LINE * (double)sali_text_lines(panel->title, p->width / SALI_BOLD) + 8;
    p->below = axes ? 8 : 2;
    p->before = axes ? 10 : 2;
    p->after = axes ? 14 : 2;
    p->name_step = 1;
    if (!axes) {
        return;
    }
    p->above += LINE * (double)sali_legend_rows(panel, p->width);
    sali_ticks_make(&p->y, (int)fmax(2, fmin(p->height / 32, 8)), &p->y_ticks);
    int most = (int)fmax(2, fmin(p->width / 52, 9));
    do {
        sali_ticks_make(&p->x, most, &p->x_ticks);
    } while (ticks_collide(&p->x, &p->x_ticks, p->width) && --most > 0);
    if (panel->x.n_categories > 0) {
        name_axis(panel, p);
    } else if (p->x_ticks.n > 0) {
        p->after = fmax(p->after, sali_text_width(p->x_ticks.tick[p->x_ticks.n - 1].text) / 2);
    }
    p->below += p->turned ? 8 + 0.71 * (names_width(&panel->x) + SALI_FONT) : LINE;
    p->below += label_height(panel->x.label, p->width);
    p->before += panel->y.n_categories > 0 ? names_width(&panel->y) : ticks_width(&p->y_ticks);
    p->before += label_height(panel->y.label, p->height);
    if (panel->cells.rows > 0) {
        p->colour = sali_colour_scale(&panel->cells);
        sali_ticks_make(&p->colour, (int)fmax(2, fmin(p->height / 32, 8)), &p->colour_ticks);
        p->after +=
            30 + ticks_width(&p->colour_ticks) + label_height(panel->cells.label, p->height) + 2;
        bool blocks = panel->cells.block_rows > 1 || panel->cells.block_columns > 1;
        p->below += blocks ? LINE : 0;
    }
}

/* ---- all panels */

/* The largest margins and sizes in a row or column. */
typedef struct margins {
    double above, below, before, after, width, height;
} margins;

/* The largest of the margins and sizes of places first, first + step, .. below `end`. */
static margins largest_margins(const sali_place *places, int64_t first, int64_t end, int64_t step)
{
    margins m = { 0 };
    for (int64_t i = first; i < end; i += step) {
        const sali_place *p = &places[i];
        m.above = fmax(m.above, p->above);
        m.below = fmax(m.below, p->below);
        m.before = fmax(m.before, p->before);
        m.after = fmax(m.after, p->after);
        m.width = fmax(m.width, p->width);
        m.height = fmax(m.height, p->height);
    }
    return m;
}

/* Set the positions of all panels in a grid of `columns` columns, and the size of the figure;
 * `words` makes room for title and caption. */
static void place_panels(const sal_figure *figure, int64_t columns, bool words, sali_layout *layout)
{
    int64_t n = figure->n_panels;
    double right = 0;
    for (int64_t c = 0; c < columns; c++) {
        const margins m = largest_margins(layout->places, c, n, columns);
        for (int64_t i = c; i < n; i += columns) {
            layout->places[i].left = right + m.before;
        }
        right += m.before + m.width + m.after + (c + 1 < columns ? GAP : 0);
    }
    layout->width = fmax(right, 120);
    double bottom = 0;
    if (words && figure->options.title) {
        double room = (layout->width - 8) / SALI_MAIN_BOLD;
        bottom = 6 + LINE * (double)sali_text_lines(figure->options.title, room);
    }
    for (int64_t r = 0; r < n; r += columns) {
        const int64_t end = r + columns < n ? r + columns : n;
        const margins m = largest_margins(layout->places, r, end, 1);
        for (int64_t i = r; i < end; i++) {
            layout->places[i].top = bottom + m.above;
        }
        bottom += m.above + m.height + m.below + (end < n ? GAP / 2 : 0);
    }
    layout->caption = bottom + 4;
    if (words && figure->options.caption) {
        bottom += 12 + LINE * (double)sali_text_lines(figure->options.caption, layout->width - 8);
    }
    layout->height = bottom;
}

/* Set the pixel ends of a panel's scales from its position. */
static void set_pixels(const sali_panel *panel, sali_place *p)
{
    bool down = panel->cells.rows > 0 && !panel->cells.upward;
    p->x.from = p->left;
    p->x.to = p->left + p->width;
    p->y.from = down ? p->top : p->top + p->height;
    p->y.to = down ? p->top + p->height : p->top;
    p->colour.from = p->top + p->height;
    p->colour.to = p->top;
}

sal_status sali_figure_layout(const sal_figure *figure, bool words, sali_layout *layout,
                              sal_error *err)
{
    int64_t n = figure->n_panels;
    int64_t columns = figure->options.columns ? figure->options.columns
                      : n < 4                 ? n
                      : n == 4                ? 2
                                              : 3;
    columns = columns < n ? columns : n;
    *layout = (sali_layout){ .places = SALI_NEW_ARRAY(sali_place, n) };
    if (!layout->places) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < n; i++) {
        measure_panel(figure, &figure->panels[i], &layout->places[i]);
    }
    place_panels(figure, columns, words, layout);
    for (int64_t i = 0; i < n; i++) {
        set_pixels(&figure->panels[i], &layout->places[i]);
    }
    return SAL_OK;
}
