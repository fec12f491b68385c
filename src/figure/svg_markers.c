/* SPDX-License-Identifier: MIT */
/* Markers, error bars, crosses and lines across. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "figure/figure.h"

/* Append the marker of a style at (x, y) to an open path. */
static void put_marker(sali_text_output *w, int64_t style, double x, double y)
{
    /* Each shape begins and ends at the point. */
    static const char *const shapes[SALI_STYLES] = {
        "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z", /* disc */
        "m-2.7,-2.7h5.4v5.4h-5.4z",            /* square */
        "m0,-3.6l3.4,6.2h-6.8z",               /* triangle */
        "m0,-3.9l3.2,3.9l-3.2,3.9l-3.2,-3.9z", /* diamond */
        "m0,3.6l3.4,-6.2h-6.8z",               /* triangle, downwards */
        "m-3.6,0h7.2m-3.6,-3.6v7.2",           /* plus */
        "m-2.8,-2.8l5.6,5.6m0,-5.6l-5.6,5.6",  /* cross */
    };
    sali_put(w, "M%f,%f%s", x, y, shapes[sali_style_dash(style)]);
}

/* Whether the pixel at (x, y) has a marker already or is outside the panel; marks it in `seen`. */
static bool is_taken(uint8_t *seen, const sali_place *p, double x, double y)
{
    int64_t column = (int64_t)floor(x - p->left), row = (int64_t)floor(y - p->top);
    int64_t width = (int64_t)p->width + 1, height = (int64_t)p->height + 1;
    if (column < 0 || column >= width || row < 0 || row >= height) {
        return true; /* outside: not shown */
    }
    uint8_t *at = &seen[row * width + column];
    bool was = *at;
    *at = 1;
    return was;
}

void sali_svg_markers(const sali_canvas *c, const sal_series *s)
{
    const sali_place *p = c->place;
    uint8_t *seen = sali_alloc(((int64_t)p->width + 1) * ((int64_t)p->height + 1), 1);
    if (!seen) {
        c->w->status = c->w->status == SAL_OK ? sali_fail_memory(c->w->err) : c->w->status;
        return;
    }
    sali_put_raw(c->w, "<path class=\"marker\" d=\"");
    for (int64_t i = 0; i < s->n; i++) {
        double x = sali_scale_at(&p->x, s->x[i]), y = sali_scale_at(&p->y, s->y[i]);
        if (!isnan(x) && !isnan(y) && !is_taken(seen, p, x, y)) {
            put_marker(c->w, s->style, x, y);
        }
    }
    sali_put_raw(c->w, "\"/>");
    sali_free(seen);
}

/* The pixel position of an end of an error bar; an infinite one, or one that is not positive on a
 * logarithmic axis, is at the edge of the panel. */
static double end_at(const sali_place *p, double value)
{
    if (value == INFINITY) {
        return p->y.to;
    }
    return value == -INFINITY || (p->y.logarithmic && value <= 0) ? p->y.from
                                                                  : sali_scale_at(&p->y, value);
}

void sali_svg_error_bars(const sali_canvas *c, const sal_series *s, double shift)
{
    const sali_place *p = c->place;
    double column = NAN;
    sali_put(c->w, "<path class=\"%s\" d=\"", s->mark == SAL_MARK_BARS ? "pointer" : "line thin");
    for (int64_t i = 0; i < s->n; i++) {
        double x = sali_scale_at(&p->x, s->x[i]) + shift;
        double low = end_at(p, s->low[i]), high = end_at(p, s->high[i]);
        if (isnan(x) || isnan(sali_scale_at(&p->y, s->y[i])) || isnan(low) || isnan(high)) {
            continue;
        }
        sali_put(c->w, "M%f,%fV%f", x, low, high);
        if (!(fabs(x - column) < 6)) { /* caps that would run into one another are left out */
            sali_put(c->w, "M%f,%fh6M%f,%fh6", x - 3, low, x - 3, high);
            column = x;
        }
    }
    sali_put_raw(c->w, "\"/>");
}

/* ---- what points at something */

static void draw_cross(const sali_canvas *c, double x, double y)
{
    for (int i = 0; i < 2; i++) {
        sali_put(c->w, "<path class=\"%s\" d=\"", i == 0 ? "halo" : "pointer");
        put_marker(c->w, 6, x, y);
        sali_put_raw(c->w, "\"/>");
    }
}

/* Write the text of a cross at (x, y), on its right side if there is room. */
static void cross_text(const sali_canvas *c, double x, double y, const char *text)
{
    const sali_place *p = c->place;
    bool right = x + 8 + sali_text_width(text) <= p->left + p->width;
    sali_svg_text(c->w, right ? x + 8 : x - 8, y < p->top + 12 ? y + 14 : y - 5,
                  right ? "start" : "end", "label", text);
}

void sali_svg_pointers(const sali_canvas *c)
{
    const sali_place *p = c->place;
    for (int64_t i = 0; i < c->panel->n_pointers; i++) {
        const sali_pointer *pointer = &c->panel->pointers[i];
        double x = sali_scale_at(&p->x, pointer->x), y = sali_scale_at(&p->y, pointer->y);
        if (sali_pointer_across(c->panel, pointer)) {
            bool level = isnan(pointer->x);
            sali_svg_rule(c->w, "pointer across", level ? p->left : x, level ? y : p->top,
                          level ? p->left + p->width : x, level ? y : p->top + p->height);
        } else if (!isnan(x) && !isnan(y)) {
            draw_cross(c, x, y);
            if (pointer->text) {
                cross_text(c, x, y, pointer->text);
            }
        }
    }
}
