/* SPDX-License-Identifier: MIT */
/* Names of series and of lines across, above the panel. */
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

/* Entries: the series, then the pointers that are lines. NULL: not in the legend. */
static const char *entry(const sali_panel *panel, int64_t i)
{
    if (i < panel->n_series) {
        return panel->series[i].name;
    }
    const sali_pointer *p = &panel->pointers[i - panel->n_series];
    return sali_pointer_across(panel, p) ? p->text : NULL;
}

static double entry_width(const char *name, double width)
{
    return fmin(SWATCH + 4 + sali_text_width(name), width);
}

/* Where the next entry goes; fills rows. */
static void advance(double entry, double width, double *x, int64_t *row)
{
    if (*x > 0 && *x + entry > width) {
        *x = 0;
        ++*row;
    }
}

int64_t sali_legend_rows(const sali_panel *panel, double width)
{
    double x = 0;
    int64_t row = 0;
    bool any = false;
    for (int64_t i = 0; i < panel->n_series + panel->n_pointers; i++) {
        const char *name = entry(panel, i);
        if (name) {
            double wide = entry_width(name, width);
            advance(wide, width, &x, &row);
            x += wide + BETWEEN;
            any = true;
        }
    }
    return any ? row + 1 : 0;
}

static void swatch_bar(const sali_canvas *c, const sali_series *s, double x, double y)
{
    int64_t hatch = sali_style_dash(s->style);
    bool hatched = hatch > 0 && sali_bar_series(c->panel) > 1;
    for (int layer = 0; layer < 1 + hatched; layer++) {
        sali_put(c->w, "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"10\"", x, y - 5, SWATCH - 6);
        if (layer == 0) {
            sali_put_raw(c->w, " class=\"bar\"");
        } else {
            sali_svg_hatch(c, hatch);
        }
        sali_put_raw(c->w, "/>");
    }
}

/* A series of two points in the place of a swatch, drawn as the series is. */
static void swatch(const sali_canvas *c, const sali_series *s, double x, double y)
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
    sali_series line = { .n = 2, .style = s->style, .x = xs, .y = ys };
    line.solid = sali_series_dense(s, c->place->width);
    sali_series point = { .n = 1, .style = s->style, .x = &middle, .y = ys };
    sali_put(c->w, "<g class=\"s%d\">", (int)sali_style_colour(s->style) + 1);
    if (s->mark == SAL_MARK_BARS) {
        swatch_bar(c, s, x, y);
    }
    if (s->mark != SAL_MARK_BARS && s->mark != SAL_MARK_POINTS) {
        sali_svg_line(&small, &line);
    }
    if (s->mark == SAL_MARK_POINTS || s->mark == SAL_MARK_BOTH) {
        sali_svg_markers(&small, &point);
    }
    sali_put_raw(c->w, "</g>");
}

void sali_svg_legend(const sali_canvas *c)
{
    const sali_panel *panel = c->panel;
    const sali_place *p = c->place;
    double top = p->top - 8 - SALI_LINE * (double)sali_legend_rows(panel, p->width);
    double x = 0;
    int64_t row = 0;
    for (int64_t i = 0; i < panel->n_series + panel->n_pointers; i++) {
        const char *name = entry(panel, i);
        if (!name) {
            continue;
        }
        char text[256];
        double wide = entry_width(name, p->width);
        advance(wide, p->width, &x, &row);
        double y = top + SALI_LINE * ((double)row + 0.5) + 2;
        if (i < panel->n_series) {
            swatch(c, &panel->series[i], p->left + x, y);
        } else {
            sali_svg_rule(c->w, "pointer across", p->left + x, y, p->left + x + SWATCH - 4, y);
        }
        sali_text_fit(name, p->width - SWATCH, text, sizeof text);
        sali_svg_text(c->w, p->left + x + SWATCH, y + 4, "start", NULL, text);
        x += wide + BETWEEN;
    }
}
