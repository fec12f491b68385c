/* SPDX-License-Identifier: MIT */
/* From values to pixels. */
#include <math.h>

#include "figure/figure.h"

/* Nothing is drawn farther away than FAR pixels, except the corners of a heat map, which is drawn
 * in one piece. */
#define FAR 30000.0
#define FAR_CORNER 1e9

/* The powers of ten that a logarithmic axis may span: all are normal numbers, and so are sums of a
 * few of them. */
#define LOWEST_POWER -290.0
#define HIGHEST_POWER 308.0

/* The range of values seen so far; low > high before the first. */
typedef struct sali_range {
    bool logarithmic;
    double low, high;
} sali_range;

/* Extend a range to `value`, if the axis can show it. */
static void take_in(sali_range *range, double value)
{
    if (isfinite(value) && (value > 0 || !range->logarithmic)) {
        range->low = fmin(range->low, value);
        range->high = fmax(range->high, value);
    }
}

/* Widen a range whose values are equal, or nearly so for a double, and keep it within 1e308. */
static void widen_range(double *low, double *high)
{
    double size = fmax(fabs(*low), fabs(*high));
    if (size < 1e-290) {
        *low = -1;
        *high = 1;
    } else if (!(*high / 2 - *low / 2 > 1e-11 * size)) {
        *low -= 0.1 * size;
        *high += 0.1 * size;
    }
    *low = fmax(*low, -1e308);
    *high = fmin(*high, 1e308);
}

static double within_powers(double power)
{
    return fmin(fmax(power, LOWEST_POWER), HIGHEST_POWER);
}

/* The scale of a range, extended by the fraction `margin` on both sides; never empty. */
static sali_scale scale_of(const sali_range *range, double margin)
{
    sali_scale scale = { .logarithmic = range->logarithmic,
                         .low = range->low,
                         .high = range->high };
    bool empty = !(range->low <= range->high);
    if (scale.logarithmic) {
        scale.low = empty ? 0 : within_powers(log10(range->low));
        scale.high = empty ? 1 : within_powers(log10(range->high));
        if (scale.high - scale.low < 0.01) {
            scale.low -= 0.5;
            scale.high += 0.5;
        }
    } else if (empty) {
        scale.low = 0;
        scale.high = 1;
    } else {
        widen_range(&scale.low, &scale.high);
    }
    double more = margin * (scale.high - scale.low);
    if (isfinite(more)) {
        scale.low -= more;
        scale.high += more;
    }
    if (scale.logarithmic) {
        scale.low = within_powers(scale.low);
        scale.high = within_powers(scale.high);
    }
    return scale;
}

/* The pixel position of a value, at most `far` pixels from where the axis begins; NaN if the scale
 * cannot show it. */
static double pixel_position(const sali_scale *scale, double value, double far)
{
    if (!isfinite(value) || (scale->logarithmic && !(value > 0))) {
        return NAN;
    }
    double v = scale->logarithmic ? log10(value) : value;
    double share = (v / 2 - scale->low / 2) / (scale->high / 2 - scale->low / 2);
    return scale->from + fmin(fmax(share * (scale->to - scale->from), -far), far);
}

double sali_scale_at(const sali_scale *scale, double value)
{
    return pixel_position(scale, value, FAR);
}

double sali_scale_corner(const sali_scale *scale, double value)
{
    return pixel_position(scale, value, FAR_CORNER);
}

/* ---- of a panel */

/* Extend the range to the low end of a band or error bar. On a logarithmic axis the low end may be
 * close to zero, so it extends the axis to at most a factor of 10 below `value`. */
static void add_low(sali_range *range, double value, double low)
{
    bool shown = isfinite(value) && value > 0;
    take_in(range, range->logarithmic && shown ? fmax(low, value / 10) : low);
}

/* Extend the ranges of both axes to all points of a series, with the ends of its bands and the feet
 * of its bars. */
static void add_series(const sal_series *s, sali_range *x, sali_range *y)
{
    for (int64_t i = 0; i < s->n; i++) {
        take_in(x, s->x[i]);
        take_in(y, s->y[i]);
        if (s->low) {
            add_low(y, s->y[i], s->low[i]);
            take_in(y, s->high[i]);
        }
    }
    if (s->mark == SAL_MARK_BARS && !y->logarithmic) {
        take_in(y, 0);
    }
}

static void add_rest(const sali_panel *panel, sali_range *x, sali_range *y)
{
    for (int64_t i = 0; i < panel->n_pointers; i++) {
        take_in(x, panel->pointers[i].x);
        take_in(y, panel->pointers[i].y);
    }
}

double sali_bar_gap(const sali_panel *panel, const sali_scale *scale)
{
    double gap = NAN, last = NAN;
    for (int64_t k = 0; k < panel->n_series; k++) {
        const sal_series *s = &panel->series[k];
        for (int64_t i = 0; s->mark == SAL_MARK_BARS && i < s->n; i++) {
            double at = scale ? sali_scale_at(scale, s->x[i]) : s->x[i];
            double distance = i > 0 ? fabs(at - last) : INFINITY;
            gap = distance > 0 ? fmin(gap, distance) : gap;
            last = at;
        }
    }
    return gap;
}

/* Extend the range of x to the outer halves of the outermost bars. */
static void add_bar_ends(const sali_panel *panel, sali_range *x)
{
    const double gap = sali_bar_gap(panel, NULL);
    if (!isnan(gap) && !x->logarithmic && x->low <= x->high) {
        double half = isfinite(gap) ? gap / 2 : 0.5;
        take_in(x, x->low - half);
        take_in(x, x->high + half);
    }
}

/* The scale of an axis: its own limits if it has any, else its categories, else `range` with the
 * margin. */
static sali_scale axis_scale(const sal_axis *axis, const sali_range *range, double margin)
{
    sali_range known = *range;
    if (axis->n_categories > 0) {
        known.low = -0.5;
        known.high = (double)axis->n_categories - 0.5;
        margin = 0;
    }
    if (axis->low != 0 || axis->high != 0) {
        known.low = axis->low;
        known.high = axis->high;
        margin = 0;
    }
    return scale_of(&known, margin);
}

void sali_panel_scales(const sali_panel *panel, sali_scale *x, sali_scale *y)
{
    sali_range in_x = { panel->x.logarithmic, INFINITY, -INFINITY };
    sali_range in_y = { panel->y.logarithmic, INFINITY, -INFINITY };
    for (int64_t k = 0; k < panel->n_series; k++) {
        add_series(&panel->series[k], &in_x, &in_y);
    }
    add_rest(panel, &in_x, &in_y);
    add_bar_ends(panel, &in_x);
    const sali_cells *cells = &panel->cells;
    if (cells->rows > 0) {
        take_in(&in_x, cells->left);
        take_in(&in_x, cells->left + cells->dx * (double)cells->columns);
        take_in(&in_y, cells->top);
        take_in(&in_y, cells->top + cells->dy * (double)cells->rows);
    }
    double margin = cells->rows > 0 ? 0 : 0.03;
    *x = axis_scale(&panel->x, &in_x, margin);
    *y = axis_scale(&panel->y, &in_y, margin);
    if (sali_bar_series(panel) > 0 && in_y.low == 0 && !in_y.logarithmic && panel->y.low == 0) {
        y->low = 0; /* the axis begins where the bars do */
    }
}

sali_scale sali_colour_scale(const sali_cells *cells)
{
    sali_range range = { cells->logarithmic, INFINITY, -INFINITY };
    for (int64_t i = 0; i < cells->rows * cells->columns; i++) {
        take_in(&range, cells->values[i]);
    }
    if (cells->low != 0 || cells->high != 0) {
        range.low = cells->low;
        range.high = cells->high;
    } else if (cells->diverging && range.low <= range.high) {
        range.high = fmax(fabs(range.low), fabs(range.high));
        range.low = -range.high;
    }
    return scale_of(&range, 0);
}
