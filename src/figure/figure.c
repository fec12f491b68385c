/* SPDX-License-Identifier: MIT */
/* Building a figure: panels and what they show are copied into it. */
#include "figure/figure.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/utf8.h"

/* ---- errors and copies */

void sali_figure_fail(sal_figure *figure, sal_status status, const char *format, ...)
{
    if (figure->first.status != SAL_OK) {
        return;
    }
    char text[SAL_ERROR_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sali_fail(&figure->first, status, "figure, panel %lld: %s", (long long)figure->n_panels, text);
}

void *sali_figure_room(sal_figure *figure, int64_t n, size_t size)
{
    void *room = sali_memory_take(&figure->memory, n, size);
    if (!room) {
        sali_fail_memory(&figure->first);
    }
    return room;
}

/* Whether XML allows the code point and it may stand in a line of text. */
static bool is_allowed(int32_t code)
{
    return code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0) && code != 0xfffe &&
           code != 0xffff;
}

char *sali_figure_text(sal_figure *figure, const char *text)
{
    if (!text) {
        return NULL;
    }
    int64_t size = (int64_t)strlen(text);
    char *copy = sali_figure_room(figure, size < INT64_MAX / 4 ? 3 * size + 1 : -1, 1);
    if (!copy) {
        return NULL;
    }
    char *to = copy;
    for (const char *at = text; at < text + size;) {
        int32_t code = sali_utf8_next(&at, text + size);
        code = code == '\n' || code == '\t' ? ' ' : code;
        to += sali_utf8_put(is_allowed(code) ? code : SALI_UTF8_REPLACEMENT, to);
    }
    return copy;
}

/* A copy of `values` [n], or of 0, 1, .. if `values` is NULL. The figure owns it; NULL, and a
 * mistake of the figure, when out of memory. */
static double *copy_array(sal_figure *figure, int64_t n, const double *values)
{
    double *copy = sali_figure_room(figure, n, sizeof *copy);
    for (int64_t i = 0; copy && i < n; i++) {
        copy[i] = values ? values[i] : (double)i;
    }
    return copy;
}

/* Append a zeroed element to *array and return it. NULL, and a mistake of the figure, when out of
 * memory. */
static void *append_element(sal_figure *figure, void **array, int64_t *n, int64_t *room,
                            size_t size)
{
    if (sali_grow(array, room, *n + 1, size) != 0) {
        sali_fail_memory(&figure->first);
        return NULL;
    }
    return memset((char *)*array + size * (size_t)(*n)++, 0, size);
}

/* ---- the figure */

sal_status sal_figure_create(const sal_figure_options *options, sal_figure **figure, sal_error *err)
{
    sal_figure_options o = options ? *options : (sal_figure_options){ 0 };
    o.panel_width = o.panel_width == 0 ? 320 : o.panel_width;
    o.panel_height = o.panel_height == 0 ? 220 : o.panel_height;
    if (!(o.panel_width >= 60 && o.panel_width <= 4000 && o.panel_height >= 60 &&
          o.panel_height <= 4000) ||
        o.columns < 0 || o.columns > 100) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "figure: panels of %g x %g pixels, %lld in a row; expected 60 to 4000, "
                         "and at most 100",
                         o.panel_width, o.panel_height, (long long)o.columns);
    }
    sal_figure *made = SALI_NEW(sal_figure);
    if (!made) {
        return sali_fail_memory(err);
    }
    o.title = sali_figure_text(made, o.title);
    o.caption = sali_figure_text(made, o.caption);
    o.description = sali_figure_text(made, o.description);
    made->options = o;
    if (made->first.status != SAL_OK) {
        sal_figure_destroy(made);
        return sali_fail_memory(err);
    }
    *figure = made;
    return SAL_OK;
}

void sal_figure_destroy(sal_figure *figure)
{
    if (!figure) {
        return;
    }
    for (int64_t i = 0; i < figure->n_panels; i++) {
        sali_free(figure->panels[i].series);
        sali_free(figure->panels[i].pointers);
    }
    sali_free(figure->panels);
    sali_memory_free(&figure->memory);
    sali_free(figure);
}

/* ---- panels */

void sali_figure_limits(sal_figure *figure, const char *what, bool logarithmic, double low,
                        double high)
{
    const bool fine = isfinite(low) && isfinite(high) && low < high && (low > 0 || !logarithmic);
    if ((low != 0 || high != 0) && !fine) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "%s from %g to %g; expected low < high, positive if logarithmic", what,
                         low, high);
    }
}

/* Record a mistake of the figure if the axis has bad limits, categories without names, or
 * categories on a logarithmic scale. `name` is put into the message. */
static void check_axis(sal_figure *figure, const char *name, const sal_axis *axis)
{
    sali_figure_limits(figure, name, axis->logarithmic, axis->low, axis->high);
    if (axis->n_categories < 0 || (axis->n_categories > 0 && !axis->categories)) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT, "%s has %lld categories and no names", name,
                         (long long)axis->n_categories);
    }
    if (axis->n_categories > 0 && axis->logarithmic) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "%s is logarithmic and has categories; expected one of these", name);
    }
}

/* A copy of `axis` with texts that the figure owns. */
static sal_axis copy_axis(sal_figure *figure, const sal_axis *axis)
{
    sal_axis copy = *axis;
    const char **names = sali_figure_room(figure, axis->n_categories, sizeof *names);
    copy.label = sali_figure_text(figure, axis->label);
    copy.categories = names;
    for (int64_t i = 0; names && i < axis->n_categories; i++) {
        names[i] = sali_figure_text(figure, axis->categories[i] ? axis->categories[i] : "");
    }
    return copy;
}

void sal_figure_panel(sal_figure *figure, const sal_panel *panel)
{
    static const sal_panel plain = { 0 };
    const sal_panel *p = panel ? panel : &plain;
    if (figure->first.status != SAL_OK) {
        return;
    }
    sali_panel *to = append_element(figure, (void **)&figure->panels, &figure->n_panels,
                                    &figure->panels_room, sizeof *to);
    if (!to) {
        return;
    }
    check_axis(figure, "axis x", &p->x);
    check_axis(figure, "axis y", &p->y);
    if (p->square && (p->x.logarithmic || p->y.logarithmic)) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT, "square units on a logarithmic axis");
    }
    if (figure->first.status == SAL_OK) {
        to->title = sali_figure_text(figure, p->title);
        to->square = p->square;
        to->x = copy_axis(figure, &p->x);
        to->y = copy_axis(figure, &p->y);
        sali_panel_cells(figure, p, to);
    }
}

/* The last panel, to which series and marks are added; an empty one is made if there is none. NULL
 * after a mistake, or if `figure` is NULL. */
static sali_panel *present_panel(sal_figure *figure)
{
    if (figure && figure->n_panels == 0) {
        sal_figure_panel(figure, NULL);
    }
    return figure && figure->first.status == SAL_OK ? &figure->panels[figure->n_panels - 1] : NULL;
}

/* ---- what is in them */

void sal_figure_series(sal_figure *figure, const sal_series *from)
{
    bool ends = from->low || from->high;
    sali_panel *panel = present_panel(figure);
    if (!panel) {
        return;
    }
    if (from->n < 0 || (from->n > 0 && !from->y) || (ends && !(from->low && from->high)) ||
        from->style < 0 || from->mark < SAL_MARK_LINE || from->mark > SAL_MARK_BARS) {
        sali_figure_fail(figure, SAL_ERR_ARGUMENT,
                         "series '%s' with n %lld%s%s, style %lld, mark %d; expected n >= 0 values "
                         "y, both of low and high or none, and a style >= 0",
                         from->name ? from->name : "", (long long)from->n, from->y ? "" : ", no y",
                         ends && !(from->low && from->high) ? ", one of low and high" : "",
                         (long long)from->style, (int)from->mark);
        return;
    }
    sal_series *s = append_element(figure, (void **)&panel->series, &panel->n_series,
                                   &panel->series_room, sizeof *s);
    if (s) {
        *s = *from;
        s->style = (from->style ? from->style - 1 : panel->n_series - 1) % SALI_LOOKS;
        s->name = sali_figure_text(figure, from->name);
        s->x = copy_array(figure, from->n, from->x);
        s->y = copy_array(figure, from->n, from->y);
        s->low = ends ? copy_array(figure, from->n, from->low) : NULL;
        s->high = ends ? copy_array(figure, from->n, from->high) : NULL;
    }
}

void sal_figure_mark(sal_figure *figure, double x, double y, const char *text)
{
    sali_panel *panel = present_panel(figure);
    if (!panel || isinf(x) || isinf(y) || (isnan(x) && isnan(y))) {
        return; /* nowhere */
    }
    sali_pointer *p = append_element(figure, (void **)&panel->pointers, &panel->n_pointers,
                                     &panel->pointers_room, sizeof *p);
    if (p) {
        p->x = x;
        p->y = y;
        p->text = sali_figure_text(figure, text);
    }
}
