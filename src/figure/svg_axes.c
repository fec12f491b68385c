/* SPDX-License-Identifier: MIT */
/* Grid, axes, ticks and labels. */
#include <math.h>

#include "figure/figure.h"

void sali_svg_text(sali_text_output *w, double x, double y, const char *anchor, const char *class,
                   const char *text)
{
    sali_put_raw(w, "<text");
    if (class) {
        sali_put(w, " class=\"%s\"", class);
    }
    sali_put(w, " x=\"%f\" y=\"%f\"", x, y);
    if (*anchor != 's') {
        sali_put(w, " text-anchor=\"%s\"", anchor);
    }
    sali_put(w, ">%s</text>", text);
}

void sali_svg_rule(sali_text_output *w, const char *class, double x1, double y1, double x2,
                   double y2)
{
    sali_put(w, "<path class=\"%s\" d=\"M%f,%fL%f,%f\"/>", class, x1, y1, x2, y2);
}

/* Lines at the ticks of both axes, as one path: across the panel if `grid`, else short ones
 * outside. */
static void write_rules(const sali_canvas *c, const char *class, bool grid)
{
    const sali_place *p = c->place;
    double bottom = p->top + p->height, out = grid ? 0 : 4;
    sali_put(c->w, "<path class=\"%s\" d=\"", class);
    for (int i = 0; i < p->x_ticks.n && c->panel->x.n_categories == 0; i++) {
        double x = sali_scale_at(&p->x, p->x_ticks.tick[i].value);
        sali_put(c->w, "M%f,%fL%f,%f", x, grid ? p->top : bottom, x, bottom + out);
    }
    for (int i = 0; i < p->y_ticks.n && c->panel->y.n_categories == 0; i++) {
        double y = sali_scale_at(&p->y, p->y_ticks.tick[i].value);
        sali_put(c->w, "M%f,%fL%f,%f", p->left - out, y, grid ? p->left + p->width : p->left, y);
    }
    sali_put_raw(c->w, "\"/>");
}

/* A text rotated by `degrees` about its anchor. */
static void write_turned(const sali_canvas *c, double x, double y, int degrees, const char *anchor,
                         const char *text)
{
    sali_put(c->w, "<text transform=\"translate(%f,%f) rotate(%d)\" text-anchor=\"%s\">%s</text>",
             x, y, degrees, anchor, text);
}

/* A text below the panel (on_x) or before it, `at` pixels along the axis. */
static void write_beside(const sali_canvas *c, bool on_x, double at, double gap, const char *text)
{
    const sali_place *p = c->place;
    sali_svg_text(c->w, on_x ? at : p->left - gap, on_x ? p->top + p->height + 17 : at + 4,
                  on_x ? "middle" : "end", NULL, text);
}

/* Write the names of the categories of axis x or y that lie within the panel, at most as many as
 * fit. */
static void write_categories(const sali_canvas *c, bool on_x)
{
    const sali_place *p = c->place;
    const sal_axis *axis = on_x ? &c->panel->x : &c->panel->y;
    const double first = on_x ? p->left : p->top, last = first + (on_x ? p->width : p->height);
    const int64_t step =
        on_x ? p->name_step : (int64_t)ceil(14 * (double)axis->n_categories / p->height);
    for (int64_t i = 0; i < axis->n_categories; i += step) {
        char name[128];
        double at = sali_scale_at(on_x ? &p->x : &p->y, (double)i);
        sali_text_fit(axis->categories[i], 146, name, sizeof name);
        if (at >= first && at <= last && on_x && p->turned) {
            write_turned(c, at + 4, p->top + p->height + 14, -45, "end", name);
        } else if (at >= first && at <= last) {
            write_beside(c, on_x, at, 6, name);
        }
    }
}

/* Write the texts of the ticks of axis x or y, unless the axis has categories. */
static void write_numbers(const sali_canvas *c, bool on_x)
{
    const sali_place *p = c->place;
    const sali_ticks *ticks = on_x ? &p->x_ticks : &p->y_ticks;
    const bool named = (on_x ? &c->panel->x : &c->panel->y)->n_categories > 0;
    for (int i = 0; i < ticks->n && !named; i++) {
        double at = sali_scale_at(on_x ? &p->x : &p->y, ticks->tick[i].value);
        write_beside(c, on_x, at, 7, ticks->tick[i].text);
    }
}

void sali_svg_side_label(const sali_canvas *c, double x, const char *label)
{
    const sali_place *p = c->place;
    int64_t n = sali_label_lines(label, p->height);
    for (int64_t k = 0; k < n; k++) {
        char line[SALI_LINE_BYTES + 2];
        label = sali_text_next(label, sali_label_room(p->height), k == n - 1, line);
        write_turned(c, x + SALI_LINE * (double)k, p->top + p->height / 2, -90, "middle", line);
    }
}

/* Write the labels of both axes, and below them how many values a cell is the mean of. */
static void write_labels(const sali_canvas *c)
{
    const sali_place *p = c->place;
    const sali_cells *cells = &c->panel->cells;
    double bottom = p->top + p->height + p->below;
    if (cells->block_rows > 1 || cells->block_columns > 1) {
        char text[120];
        snprintf(text, sizeof text, "each cell: the mean of %lld × %lld",
                 (long long)cells->block_rows, (long long)cells->block_columns);
        sali_svg_text(c->w, p->left + p->width / 2, bottom - 4, "middle", "soft", text);
        bottom -= SALI_LINE;
    }
    char line[SALI_LINE_BYTES + 2];
    const char *label = c->panel->x.label;
    int64_t n = sali_label_lines(label, p->width);
    for (int64_t k = 0; k < n; k++) {
        label = sali_text_next(label, sali_label_room(p->width), k == n - 1, line);
        sali_svg_text(c->w, p->left + p->width / 2, bottom - 5 - SALI_LINE * (double)(n - 1 - k),
                      "middle", NULL, line);
    }
    sali_svg_side_label(c, p->left - p->before + 13, c->panel->y.label);
}

void sali_svg_axes(const sali_canvas *c)
{
    const sali_place *p = c->place;
    if (c->panel->cells.rows == 0) {
        write_rules(c, "grid", true);
    }
    write_rules(c, "axis", false);
    sali_put(c->w, "<rect class=\"axis\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\"/>", p->left,
             p->top, p->width, p->height);
    write_categories(c, true);
    write_categories(c, false);
    write_numbers(c, true);
    write_numbers(c, false);
    write_labels(c);
}
