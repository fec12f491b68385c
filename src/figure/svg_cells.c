/* SPDX-License-Identifier: MIT */
/* Cells of heat maps and pictures, and the colour bar. All cells of one colour are one path, in
 * which equal neighbours of a row are one rectangle. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "figure/figure.h"

#define LEVELS 256

/* Neighbouring cells of a row with the same colour. */
typedef struct run {
    int32_t row, column, length;
    int32_t level; /* LEVELS: empty */
} run;

/* The colour of a value, 0 .. LEVELS - 1; LEVELS if it has none. */
static int32_t level_of(const sali_canvas *c, double value)
{
    if (c->panel->cells.picture) {
        return isnan(value) ? LEVELS : (int32_t)lrint(value * (LEVELS - 1));
    }
    sali_scale scale = c->place->colour;
    scale.from = 0;
    scale.to = LEVELS - 1;
    double at = sali_scale_at(&scale, value);
    return isnan(at) ? LEVELS : (int32_t)lrint(fmin(fmax(at, 0), LEVELS - 1));
}

/* List all runs, row by row, and return their number; count[k + 1] grows by the number of runs with
 * level k. */
static int64_t find_runs(const sali_canvas *c, run *runs, int64_t *count)
{
    const sali_cells *cells = &c->panel->cells;
    int64_t n = 0;
    for (int64_t r = 0; r < cells->rows; r++) {
        for (int64_t k = 0; k < cells->columns; k++) {
            int32_t level = level_of(c, cells->values[r * cells->columns + k]);
            if (k > 0 && runs[n - 1].level == level) {
                runs[n - 1].length++;
            } else {
                runs[n++] = (run){ (int32_t)r, (int32_t)k, 1, level };
                count[level + 1]++;
            }
        }
    }
    return n;
}

/* Draw the runs, one path for each level; those of level k are runs[begin[k]] .. runs[begin[k + 1]
 * - 1]. Empty cells are not drawn. */
static void put_levels(const sali_canvas *c, const run *runs, const int64_t *begin)
{
    const sali_cells *cells = &c->panel->cells;
    for (int level = 0; level < LEVELS; level++) {
        if (begin[level] == begin[level + 1]) {
            continue;
        }
        uint32_t colour = cells->picture
                              ? (uint32_t)level * 0x10101
                              : sali_colour((double)level / (LEVELS - 1), cells->diverging);
        sali_put(c->w, "<path fill=\"#%06x\" d=\"", colour);
        for (int64_t i = begin[level]; i < begin[level + 1]; i++) {
            const run *r = &runs[i];
            sali_put(c->w, "M%d,%dh%dv1h-%dz", r->column, r->row, r->length, r->length);
        }
        sali_put_raw(c->w, "\"/>");
    }
}

/* Open a group in which the unit of length is one cell. */
static void begin_cells(const sali_canvas *c)
{
    const sali_cells *cells = &c->panel->cells;
    const sali_place *p = c->place;
    double x = sali_scale_corner(&p->x, cells->left), y = sali_scale_corner(&p->y, cells->top);
    double right = sali_scale_corner(&p->x, cells->left + cells->dx * (double)cells->columns);
    double end = sali_scale_corner(&p->y, cells->top + cells->dy * (double)cells->rows);
    sali_put(c->w,
             "<g shape-rendering=\"crispEdges\" "
             "transform=\"translate(%.4f,%.4f) scale(%.6f,%.6f)\">",
             x, y, (right - x) / (double)cells->columns, (end - y) / (double)cells->rows);
}

void sali_svg_cells(const sali_canvas *c)
{
    const sali_cells *cells = &c->panel->cells;
    int64_t n = cells->rows * cells->columns;
    int64_t begin[LEVELS + 2] = { 0 }, next[LEVELS + 2];
    run *runs = SALI_NEW_ARRAY(run, n);
    run *sorted = runs ? SALI_NEW_ARRAY(run, n) : NULL;
    if (sorted) {
        int64_t found = find_runs(c, runs, begin);
        for (int k = 0; k <= LEVELS; k++) {
            begin[k + 1] += begin[k];
            next[k] = begin[k];
        }
        for (int64_t i = 0; i < found; i++) {
            sorted[next[runs[i].level]++] = runs[i];
        }
        begin_cells(c);
        put_levels(c, sorted, begin);
        sali_put_raw(c->w, "</g>");
    } else if (c->w->status == SAL_OK) {
        c->w->status = sali_fail_memory(c->w->err);
    }
    sali_free(runs);
    sali_free(sorted);
}

/* ---- the scale of colours */

/* Define the gradient of the colour bar, from the lowest colour at the bottom to the highest. */
static void put_gradient(const sali_canvas *c)
{
    bool diverging = c->panel->cells.diverging;
    int stops = diverging ? 4 : 8;
    sali_put(c->w, "<linearGradient id=\"%s-colours-%lld\" x1=\"0\" x2=\"0\" y1=\"1\" y2=\"0\">",
             c->prefix, (long long)c->number);
    for (int i = 0; i <= stops; i++) {
        double at = (double)i / stops;
        sali_put(c->w, "<stop offset=\"%.3f\" stop-color=\"#%06x\"/>", at,
                 sali_colour(at, diverging));
    }
    sali_put_raw(c->w, "</linearGradient>");
}

void sali_svg_colour_bar(const sali_canvas *c)
{
    const sali_place *p = c->place;
    double left = p->left + p->width + 10, width = 12;
    put_gradient(c);
    sali_put(c->w,
             "<rect fill=\"url(#%s-colours-%lld)\" x=\"%f\" y=\"%f\" width=\"%f\" "
             "height=\"%f\"/>",
             c->prefix, (long long)c->number, left, p->top, width, p->height);
    for (int i = 0; i < p->colour_ticks.n; i++) {
        const sali_tick *tick = &p->colour_ticks.tick[i];
        double y = sali_scale_at(&p->colour, tick->value);
        sali_svg_rule(c->w, "axis", left + width, y, left + width + 4, y);
        sali_svg_text(c->w, left + width + 7, y + 4, "start", NULL, tick->text);
    }
    double lines = (double)sali_label_lines(c->panel->cells.label, p->height);
    sali_svg_side_label(c, p->left + p->width + p->after - 6 - SALI_LINE * (lines - 1),
                        c->panel->cells.label);
}
