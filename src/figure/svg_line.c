/* SPDX-License-Identifier: MIT */
/* Lines and bands. Where a line has more points than the panel has pixels, each pixel column
 * shows its first, lowest, highest and last point: no peak is lost. */
#include <math.h>

#include "figure/figure.h"

bool sali_series_dense(const sal_series *series, double width)
{
    return (double)series->n > width;
}

/* Whether x never decreases, so that points may be merged by pixel columns. */
static bool is_ascending(const sal_series *s)
{
    for (int64_t i = 1; i < s->n; i++) {
        if (s->x[i] < s->x[i - 1]) {
            return false;
        }
    }
    return true;
}

/* ---- lines */

typedef struct point {
    int64_t i;
    double x, y;
} point;

/* A line being drawn. */
typedef struct line_pen {
    sali_text_output *w;
    bool steps, down;
    point last;                     /* the last point drawn */
    point first, low, high, latest; /* in the present pixel column */
    bool any;                       /* the column has a point */
} line_pen;

/* Draw a line from the last point to p, or move to p if the pen is up; the last point is not drawn
 * twice. */
static void draw_to(line_pen *pen, point p)
{
    if (pen->down && p.i == pen->last.i) {
        return;
    }
    if (pen->down && pen->steps) {
        sali_put(pen->w, "H%fV%f", p.x, p.y);
    } else {
        sali_put(pen->w, "%c%f,%f", pen->down ? 'L' : 'M', p.x, p.y);
    }
    pen->last = p;
    pen->down = true;
}

/* Draw the first, lowest, highest and last point of the present pixel column, in the order in which
 * they came. */
static void end_column(line_pen *pen)
{
    if (pen->any) {
        bool falls = pen->high.i < pen->low.i;
        draw_to(pen, pen->first);
        draw_to(pen, falls ? pen->high : pen->low);
        draw_to(pen, falls ? pen->low : pen->high);
        draw_to(pen, pen->latest);
        pen->any = false;
    }
}

/* Add p to the present pixel column; a point in another column first draws the present one. */
static void add_to_column(line_pen *pen, point p)
{
    if (pen->any && floor(p.x) != floor(pen->first.x)) {
        end_column(pen);
    }
    if (!pen->any) {
        pen->first = pen->low = pen->high = p;
        pen->any = true;
    }
    pen->low = p.y < pen->low.y ? p : pen->low;
    pen->high = p.y > pen->high.y ? p : pen->high;
    pen->latest = p;
}

/* Draw a dot where the piece of line has one point only, `drawn_since` = 1: it would be invisible
 * otherwise. */
static void draw_dot(line_pen *pen, int64_t drawn_since)
{
    if (pen->down && drawn_since == 1) {
        sali_put_raw(pen->w, "h0");
    }
}

void sali_svg_line(const sali_canvas *c, const sal_series *s, bool dense)
{
    const sali_place *p = c->place;
    line_pen pen = { .w = c->w, .steps = s->mark == SAL_MARK_STEPS };
    bool columns = (double)s->n > 4 * p->width && is_ascending(s);
    sali_put(c->w, "<path class=\"%s\"", dense ? "line thin" : "line");
    if (!dense) {
        /* Round ends make dashes longer, and gaps shorter, by the width of the line, 1.7. */
        static const char *const dashes[SALI_STYLES] = {
            NULL, "6 5", "0.1 4", "8 4 0.1 4", "2 4.5", "13 5", "6 4 0.1 4 0.1 4"
        };
        const char *dash = dashes[sali_style_dash(s->style)];
        if (dash) {
            sali_put(c->w, " stroke-dasharray=\"%s\"", dash);
        }
    }
    sali_put(c->w, " stroke-linecap=\"%s\" d=\"", dense ? "butt" : "round");
    int64_t since = 0;
    for (int64_t i = 0; i < s->n; i++) {
        point at = { i, sali_scale_at(&p->x, s->x[i]), sali_scale_at(&p->y, s->y[i]) };
        if (isnan(at.x) || isnan(at.y)) {
            end_column(&pen);
            draw_dot(&pen, since);
            pen.down = false;
            since = 0;
            continue;
        }
        since++;
        if (columns) {
            add_to_column(&pen, at);
        } else {
            draw_to(&pen, at);
        }
    }
    end_column(&pen);
    draw_dot(&pen, since);
    sali_put_raw(c->w, "\"/>");
}

/* ---- bands */

/* The pixel position of an end of a band; an end that is not positive is at the edge of a
 * logarithmic axis. */
static double end_at(const sali_scale *y, double value)
{
    return y->logarithmic && value <= 0 ? y->from : sali_scale_at(y, value);
}

/* The first point from `begin` on that the panel cannot show with both ends of the band, or n. */
static int64_t run_end(const sali_canvas *c, const sal_series *s, int64_t begin)
{
    int64_t i = begin;
    while (i < s->n && !isnan(sali_scale_at(&c->place->x, s->x[i])) &&
           !isnan(end_at(&c->place->y, s->low[i])) && !isnan(end_at(&c->place->y, s->high[i]))) {
        i++;
    }
    return i;
}

/* Draw the upper edge of a band from point `begin` to `end` - 1, or, if `back`, the lower edge in
 * the opposite order. If `columns`, each pixel column has one point, the outermost. */
static void draw_edge(const sali_canvas *c, const sal_series *s, int64_t begin, int64_t end,
                      bool back, bool columns)
{
    const double *values = back ? s->low : s->high;
    double x = NAN, y = 0;
    char command = back ? 'L' : 'M';
    for (int64_t k = 0; k < end - begin; k++) {
        int64_t i = back ? end - 1 - k : begin + k;
        double px = sali_scale_at(&c->place->x, s->x[i]);
        double py = end_at(&c->place->y, values[i]);
        if (columns && floor(px) == floor(x)) {
            y = back ? fmax(y, py) : fmin(y, py);
            continue;
        }
        if (!isnan(x)) {
            sali_put(c->w, "%c%f,%f", command, x, y);
            command = 'L';
        }
        x = px;
        y = py;
    }
    sali_put(c->w, "%c%f,%f", command, x, y);
}

void sali_svg_band(const sali_canvas *c, const sal_series *s)
{
    bool columns = (double)s->n > 4 * c->place->width && is_ascending(s);
    sali_put_raw(c->w, "<path class=\"band\" d=\"");
    for (int64_t i = 0; i < s->n; i++) {
        int64_t end = run_end(c, s, i);
        if (end > i) {
            draw_edge(c, s, i, end, false, columns);
            draw_edge(c, s, i, end, true, columns);
            sali_put_raw(c->w, "Z");
            i = end;
        }
    }
    sali_put_raw(c->w, "\"/>");
}
