/* SPDX-License-Identifier: MIT */
/* Bars; several series stand side by side. */
#include <math.h>

#include "figure/figure.h"

static const char *const hatches[SALI_STYLES] = { NULL,
                                                  "M0,6L6,0M-1,1L1,-1M5,7L7,5",
                                                  "M0,0L6,6M-1,5L1,7M5,-1L7,1",
                                                  "M0,3H6",
                                                  "M3,0V6",
                                                  "M0,3H6M3,0V6",
                                                  "M0,6L6,0M0,0L6,6" };

/* The pixel position of the foot of bars: 0, or the edge of the panel nearest to 0. */
static double foot_of(const sali_place *p)
{
    double zero = sali_scale_at(&p->y, p->y.logarithmic ? 1e-300 : 0);
    return fmin(fmax(zero, p->top), p->top + p->height);
}

int64_t sali_bar_series(const sali_panel *panel)
{
    int64_t n = 0;
    for (int64_t k = 0; k < panel->n_series; k++) {
        n += panel->series[k].mark == SAL_MARK_BARS;
    }
    return n;
}

void sali_svg_hatches(const sali_canvas *c)
{
    if (sali_bar_series(c->panel) < 2) {
        return;
    }
    sali_put_raw(c->w, "<defs>");
    for (int i = 1; i < SALI_STYLES; i++) {
        sali_put(c->w,
                 "<pattern id=\"%s-hatch-%lld-%d\" width=\"6\" height=\"6\" "
                 "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" d=\"%s\"/></pattern>",
                 c->prefix, (long long)c->number, i + 1, hatches[i]);
    }
    sali_put_raw(c->w, "</defs>");
}

int sali_bar_layers(const sali_panel *panel, const sal_series *s)
{
    return sali_bar_series(panel) > 1 && sali_style_dash(s->style) > 0 ? 2 : 1;
}

/* Write the fill of one layer: layer 0 has the colour of the series, layer 1 its hatching. */
void sali_svg_bar_fill(const sali_canvas *c, const sal_series *s, int layer)
{
    if (layer == 0) {
        sali_put_raw(c->w, " class=\"bar\"");
    } else {
        sali_put(c->w, " fill=\"url(#%s-hatch-%lld-%d)\"", c->prefix, (long long)c->number,
                 (int)sali_style_dash(s->style) + 1);
    }
}

/* The width of the space for a bar, or for the bars of several series at one x, in pixels. */
static double bar_spacing(const sali_canvas *c)
{
    const double gap = sali_bar_gap(c->panel, &c->place->x);
    double one = fabs(sali_scale_at(&c->place->x, 1) - sali_scale_at(&c->place->x, 0));
    return isfinite(gap) ? gap : one > 0 ? fmin(one, c->place->width) : 20;
}

/* Write the bars of a series, `width` pixels wide and moved by `shift`, as the data of one path.
 * Bars thinner than a pixel that share a pixel column are drawn as their union. */
static void put_bars(const sali_canvas *c, const sal_series *s, double width, double shift)
{
    const sali_place *p = c->place;
    double foot = foot_of(p);
    double column = NAN, low = foot, high = foot;
    for (int64_t i = 0; i <= s->n; i++) {
        double x = i < s->n ? sali_scale_at(&p->x, s->x[i]) + shift : INFINITY;
        double y = i < s->n ? sali_scale_at(&p->y, s->y[i]) : foot;
        if (isnan(x) || isnan(y)) {
            continue;
        }
        if (!isnan(column) && (width >= 1 || floor(x) != floor(column))) {
            double w = fmax(width, 1);
            sali_put(c->w, "M%f,%fV%fh%fV%fZ", column - w / 2, low, high, w, low);
            column = NAN;
        }
        if (isnan(column)) {
            column = x;
            low = high = foot;
        }
        low = fmax(low, y);
        high = fmin(high, y);
    }
}

void sali_svg_bars(const sali_canvas *c)
{
    int64_t n = sali_bar_series(c->panel), k = 0;
    double slot = n > 0 ? 0.8 * bar_spacing(c) / (double)n : 0;
    for (int64_t i = 0; i < c->panel->n_series; i++) {
        const sal_series *s = &c->panel->series[i];
        if (s->mark != SAL_MARK_BARS) {
            continue;
        }
        double shift = slot * ((double)k++ - (double)(n - 1) / 2);
        sali_put(c->w, "<g class=\"s%d\">", (int)sali_style_colour(s->style) + 1);
        for (int layer = 0; layer < sali_bar_layers(c->panel, s); layer++) {
            sali_put_raw(c->w, "<path");
            sali_svg_bar_fill(c, s, layer);
            sali_put_raw(c->w, " d=\"");
            put_bars(c, s, n > 1 ? 0.94 * slot : slot, shift);
            sali_put_raw(c->w, "\"/>");
        }
        sali_put_raw(c->w, "</g>");
        if (s->low) {
            sali_svg_error_bars(c, s, shift);
        }
    }
}
