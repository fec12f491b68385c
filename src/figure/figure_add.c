/* What is put into a panel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "figure/figure.h"

static const char *shown(const char *name)
{
    return name ? name : "";
}

/* Room for one more element, zeroed; NULL, and a mistake, without memory. */
static void *add(sal_figure *figure, void **array, int64_t *n, int64_t *room, size_t size)
{
    if (sali_grow(array, room, *n + 1, size) != 0) {
        sali_fail_memory(&figure->first);
        return NULL;
    }
    return memset((char *)*array + size * (size_t)(*n)++, 0, size);
}

static sali_series *add_series(sal_figure *figure, const char *name, sal_mark mark, int64_t style)
{
    sali_panel *panel = sali_figure_panel(figure);
    sali_series *s = panel ? add(figure, (void **)&panel->series, &panel->n_series,
                                 &panel->series_room, sizeof *s)
                           : NULL;
    if (s) {
        s->mark = mark;
        s->style = style ? (style - 1) % SALI_LOOKS : (panel->n_series - 1) % SALI_LOOKS;
        s->name = sali_figure_text(figure, name);
    }
    return s;
}

static void count_up(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = (double)i;
    }
}

void sal_figure_series(sal_figure *figure, const sal_series *series)
{
    const sal_series *from = series;
    bool ends = from->low || from->high;
    if (!sali_figure_panel(figure)) {
        return;
    }
    if (from->n < 0 || (from->n > 0 && !from->y) || (ends && !(from->low && from->high)) ||
        from->style < 0 || from->mark < SAL_MARK_LINE || from->mark > SAL_MARK_BARS) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "series '%s' with n %lld%s%s, style %lld, mark %d; expected n >= 0 values "
                         "y, both of low and high or none, and a style >= 0",
                         shown(from->name), (long long)from->n, from->y ? "" : ", no y",
                         ends && !(from->low && from->high) ? ", one of low and high" : "",
                         (long long)from->style, (int)from->mark);
        return;
    }
    double *x = sali_alloc(from->n, sizeof *x);
    if (!x) {
        sali_fail_memory(&figure->first);
        return;
    }
    if (from->x && from->n > 0) {
        memcpy(x, from->x, (size_t)from->n * sizeof *x);
    } else {
        count_up(from->n, x);
    }
    sali_series *s = add_series(figure, from->name, from->mark, from->style);
    if (!s) {
        sali_free(x);
        return;
    }
    s->n = from->n;
    s->x = x;
    s->y = sali_figure_array(figure, from->n, from->y);
    s->low = ends ? sali_figure_array(figure, from->n, from->low) : NULL;
    s->high = ends ? sali_figure_array(figure, from->n, from->high) : NULL;
}

/* ---- histograms */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Bins as wide as 2 IQR n^(-1/3) (Freedman & Diaconis 1981). */
static int64_t usual_bins(int64_t n, const double *sorted)
{
    double spread = sorted[3 * (n - 1) / 4] - sorted[(n - 1) / 4];
    double range = sorted[n - 1] - sorted[0];
    double bins = ceil(range / (2 * spread / cbrt((double)n)));
    return (int64_t)fmin(fmax(bins, 5), 60);
}

/* Steps over the finite values, sorted. Edges x [bins + 1]; y has the last height twice. */
static void fill_bins(int64_t n, const double *sorted, int64_t bins, double *x, double *y)
{
    double low = sorted[0], high = sorted[n - 1];
    double size = fmax(fabs(low), fabs(high));
    if (!(high / 2 - low / 2 > fmax(1e-12 * size, 1e-290))) {
        double half = size < 1e-290 ? 0.5 : 0.05 * size;
        low -= half;
        high += half;
    }
    double half_width = (high / 2 - low / 2) / (double)bins;
    for (int64_t i = 0; i < n; i++) {
        int64_t bin = (int64_t)((sorted[i] / 2 - low / 2) / half_width);
        y[bin < 0 ? 0 : bin < bins ? bin : bins - 1]++;
    }
    for (int64_t k = 0; k <= bins; k++) {
        x[k] = low + (double)k * half_width + (double)k * half_width;
        y[k] /= 2 * (double)n * half_width;
    }
    y[bins] = y[bins - 1];
}

void sal_figure_histogram(sal_figure *figure, const char *name, int64_t n, const double *values,
                          int64_t bins)
{
    if (!sali_figure_panel(figure)) {
        return;
    }
    if (n < 0 || (n > 0 && !values) || bins < 0 || bins > 100000) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "histogram '%s' of %lld values in %lld bins; expected n >= 0, 0 to 100000 "
                         "bins",
                         shown(name), (long long)n, (long long)bins);
        return;
    }
    sali_series *s = add_series(figure, name, SAL_MARK_STEPS, 0);
    double *sorted = s ? sali_alloc(n, sizeof *sorted) : NULL;
    int64_t finite = 0;
    for (int64_t i = 0; sorted && i < n; i++) {
        if (isfinite(values[i])) {
            sorted[finite++] = values[i];
        }
    }
    if (finite > 0) {
        qsort(sorted, (size_t)finite, sizeof *sorted, ascending);
        bins = bins ? bins : usual_bins(finite, sorted);
    }
    int64_t edges = finite > 0 ? bins + 1 : 0;
    double *x = sorted ? sali_alloc(edges, sizeof *x) : NULL;
    double *y = x ? sali_alloc(edges, sizeof *y) : NULL;
    if (y) {
        if (edges > 0) {
            fill_bins(finite, sorted, bins, x, y);
        }
        s->area = true;
        s->n = edges;
        s->x = x;
        s->y = y;
    } else {
        sali_free(x);
        sali_figure_fail(figure, SAL_ERR_MEMORY, "out of memory");
    }
    sali_free(sorted);
}

/* ---- what points at something */

void sal_figure_mark(sal_figure *figure, double x, double y, const char *text)
{
    sali_panel *panel = sali_figure_panel(figure);
    if (isinf(x) || isinf(y) || (isnan(x) && isnan(y))) {
        return; /* nowhere */
    }
    sali_pointer *p = panel ? add(figure, (void **)&panel->pointers, &panel->n_pointers,
                                  &panel->pointers_room, sizeof *p)
                            : NULL;
    if (p) {
        p->x = x;
        p->y = y;
        p->text = sali_figure_text(figure, text);
    }
}

void sal_figure_arrows(sal_figure *figure, int64_t n, const double *x, const double *y,
                       const double *dx, const double *dy)
{
    sali_panel *panel = sali_figure_panel(figure);
    if (!panel) {
        return;
    }
    if (n < 0 || (n > 0 && !(x && y && dx && dy))) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT, "%lld arrows; expected n >= 0 and four arrays",
                         (long long)n);
        return;
    }
    sali_arrows *a =
        add(figure, (void **)&panel->arrows, &panel->n_arrows, &panel->arrows_room, sizeof *a);
    if (a) {
        a->n = n;
        a->x = sali_figure_array(figure, n, x);
        a->y = sali_figure_array(figure, n, y);
        a->dx = sali_figure_array(figure, n, dx);
        a->dy = sali_figure_array(figure, n, dy);
    }
}
