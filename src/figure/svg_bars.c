/* Bars, those of several series side by side. */
#include <math.h>

#include "figure/figure.h"

static const char *const hatches[SALI_STYLES] = { NULL,
                                                  "M0,6L6,0M-1,1L1,-1M5,7L7,5",
                                                  "M0,0L6,6M-1,5L1,7M5,-1L7,1",
                                                  "M0,3H6",
                                                  "M3,0V6",
                                                  "M0,3H6M3,0V6",
                                                  "M0,6L6,0M0,0L6,6" };

double sali_svg_foot(const sali_place *p)
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
    sali_put_start(c->w, "defs");
    for (int i = 1; i < SALI_STYLES; i++) {
        sali_put_start(c->w, "pattern");
        sali_put_format(c->w, "id", "%s-hatch-%lld-%d", c->prefix, (long long)c->number, i + 1);
        sali_put_attribute(c->w, "width", "6");
        sali_put_attribute(c->w, "height", "6");
        sali_put_attribute(c->w, "patternUnits", "userSpaceOnUse");
        sali_put_start(c->w, "path");
        sali_put_attribute(c->w, "class", "hatch");
        sali_put_attribute(c->w, "d", hatches[i]);
        sali_put_end(c->w);
        sali_put_end(c->w);
    }
    sali_put_end(c->w);
}

/* The smallest distance between neighbouring bars, in pixels. */
static double spacing(const sali_canvas *c)
{
    double gap = INFINITY;
    for (int64_t k = 0; k < c->panel->n_series; k++) {
        const sali_series *s = &c->panel->series[k];
        for (int64_t i = 1; s->mark == SAL_MARK_BARS && i < s->n; i++) {
            double distance = fabs(sali_scale_at(&c->place->x, s->x[i]) -
                                   sali_scale_at(&c->place->x, s->x[i - 1]));
            gap = distance > 0 ? fmin(gap, distance) : gap;
        }
    }
    double one = fabs(sali_scale_at(&c->place->x, 1) - sali_scale_at(&c->place->x, 0));
    return isfinite(gap) ? gap : one > 0 ? fmin(one, c->place->width) : 20;
}

/* Bars of a series, `width` pixels wide and `shift` beside their x, as one path. Thin ones that
 * share a pixel column are drawn as their union. */
static void put_bars(const sali_canvas *c, const sali_series *s, double width, double shift)
{
    const sali_place *p = c->place;
    double foot = sali_svg_foot(p);
    double column = NAN, low = foot, high = foot;
    sali_path path;
    sali_path_begin(&path, c->w);
    for (int64_t i = 0; i <= s->n; i++) {
        double x = i < s->n ? sali_scale_at(&p->x, s->x[i]) + shift : INFINITY;
        double y = i < s->n ? sali_scale_at(&p->y, s->y[i]) : foot;
        if (isnan(x) || isnan(y)) {
            continue;
        }
        if (!isnan(column) && (width >= 1 || floor(x) != floor(column))) {
            double w = fmax(width, 1);
            sali_path_point(&path, 'M', column - w / 2, low);
            sali_path_put(&path, 'V', 1, &high);
            sali_path_put(&path, 'h', 1, &w);
            sali_path_put(&path, 'V', 1, &low);
            sali_path_text(&path, "Z");
            column = NAN;
        }
        if (isnan(column)) {
            column = x;
            low = high = foot;
        }
        low = fmax(low, y);
        high = fmin(high, y);
    }
    sali_path_end(&path);
}

void sali_svg_bars(const sali_canvas *c)
{
    int64_t n = sali_bar_series(c->panel), k = 0;
    double slot = n > 0 ? 0.8 * spacing(c) / (double)n : 0;
    for (int64_t i = 0; i < c->panel->n_series; i++) {
        const sali_series *s = &c->panel->series[i];
        if (s->mark != SAL_MARK_BARS) {
            continue;
        }
        int64_t hatch = sali_style_dash(s->style);
        double shift = slot * ((double)k++ - (double)(n - 1) / 2);
        sali_put_start(c->w, "g");
        sali_put_format(c->w, "class", "s%d", (int)sali_style_colour(s->style) + 1);
        for (int layer = 0; layer < 1 + (n > 1 && hatch > 0); layer++) {
            sali_put_start(c->w, "path");
            if (layer == 0) {
                sali_put_attribute(c->w, "class", "bar");
            } else {
                sali_put_format(c->w, "fill", "url(#%s-hatch-%lld-%d)", c->prefix,
                                (long long)c->number, (int)hatch + 1);
            }
            put_bars(c, s, n > 1 ? 0.94 * slot : slot, shift);
            sali_put_end(c->w);
        }
        sali_put_end(c->w);
        if (s->low) {
            sali_svg_error_bars(c, s, shift);
        }
    }
}
