/* SPDX-License-Identifier: MIT */
/* The legend above the panel: names of series and of lines across. */
#include <math.h>

#include "figure/figure.h"

#define SWATCH 32.0 /* the piece of line before a name */
#define BETWEEN 14.0

bool sali_pointer_across(const sali_panel *panel, const sali_pointer *p)
{
    bool level = isnan(p->x);
    double at = level ? p->y : p->x;
    bool logarithmic = level ? panel->y.logarithmic : panel->x.logarithmic;
    return level != isnan(p->y) && (at > 0 || !logarithmic);
}

/* The name of legend entry i: entries are the series, then the pointers. NULL: not in the
 * legend. */
static const char *entry_name(const sali_panel *panel, int64_t i)
{
    if (i < panel->n_series) {
        return panel->series[i].name;
    }
    const sali_pointer *p = &panel->pointers[i - panel->n_series];
    return sali_pointer_across(panel, p) ? p->text : NULL;
}

static void swatch_bar(const sali_canvas *c, const sal_series *s, double x, double y)
{
    for (int layer = 0; layer < sali_bar_layers(c->panel, s); layer++) {
        sali_put(c->w, "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"10\"", x, y - 5, SWATCH - 6);
        sali_svg_bar_fill(c, s, layer);
        sali_put_raw(c->w, "/>");
    }
}

/* Draw the sample of a series at (x, y): a short series of two points with the same style. */
static void draw_swatch(const sali_canvas *c, const sal_series *s, double x, double y)
{
    double xs[2] = { 0, SWATCH - 4 }, ys[2] = { 0, 0 };
    double middle = SWATCH / 2 - 2;
    sali_place place = *c->place;
    place.x = (sali_scale){ .low = 0, .high = 1, .from = x, .to = x + 1 };
    place.y = (sali_scale){ .low = 0, .high = 1, .from = y, .to = y + 1 };
    place.left = x;
    place.top = y - 8;
    sali_canvas small = *c;
    small.place = &place;
    sal_series line = { .n = 2, .style = s->style, .x = xs, .y = ys };
    sal_series point = { .n = 1, .style = s->style, .x = &middle, .y = ys };
    sali_put(c->w, "<g class=\"s%d\">", (int)sali_style_colour(s->style) + 1);
    if (s->mark == SAL_MARK_BARS) {
        swatch_bar(c, s, x, y);
    }
    if (s->mark != SAL_MARK_BARS && s->mark != SAL_MARK_POINTS) {
        sali_svg_line(&small, &line, sali_series_dense(s, c->place->width));
    }
    if (s->mark == SAL_MARK_POINTS || s->mark == SAL_MARK_BOTH) {
        sali_svg_markers(&small, &point);
    }
    sali_put_raw(c->w, "</g>");
}

/* Draw entry i from x on; y is the middle of its line. */
static void put_entry(const sali_canvas *c, int64_t i, const char *name, double x, double y)
{
    char text[256];
    if (i < c->panel->n_series) {
        draw_swatch(c, &c->panel->series[i], x, y);
    } else {
        sali_svg_rule(c->w, "pointer across", x, y, x + SWATCH - 4, y);
    }
    sali_text_fit(name, c->place->width - SWATCH, text, sizeof text);
    sali_svg_text(c->w, x + SWATCH, y + 4, "start", NULL, text);
}

/* Fill rows of `width` pixels with entries and return the number of rows. The entries are drawn
 * from `top` on, or only counted if c is NULL. */
static int64_t fill_rows(const sali_panel *panel, double width, const sali_canvas *c, double top)
{
    double x = 0;
    int64_t rows = 0;
    for (int64_t i = 0; i < panel->n_series + panel->n_pointers; i++) {
        const char *name = entry_name(panel, i);
        const double wide = name ? fmin(SWATCH + 4 + sali_text_width(name), width) : 0;
        if (name && (rows == 0 || x + wide > width)) {
            x = 0;
            rows++;
        }
        if (name && c) {
            put_entry(c, i, name, c->place->left + x, top + SALI_LINE * ((double)rows - 0.5) + 2);
        }
        x += name ? wide + BETWEEN : 0;
    }
    return rows;
}

int64_t sali_legend_rows(const sali_panel *panel, double width)
{
    return fill_rows(panel, width, NULL, 0);
}

void sali_svg_legend(const sali_canvas *c)
{
    const sali_place *p = c->place;
    const double rows = (double)sali_legend_rows(c->panel, p->width);
    fill_rows(c->panel, p->width, c, p->top - 8 - SALI_LINE * rows);
}
