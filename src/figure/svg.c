/* SPDX-License-Identifier: MIT */
/* A figure as an SVG document, or as part of a page. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "figure/figure.h"

/* Write a text as lines of at most `width` pixels, the first at (x, y); nothing if `text` is
 * NULL. */
static void write_paragraph(sali_text_output *w, double x, double y, double width,
                            const char *anchor, const char *class, const char *text)
{
    char line[SALI_LINE_BYTES + 2];
    for (; text && *text; y += SALI_LINE) {
        text = sali_text_next(text, width, false, line);
        sali_svg_text(w, x, y, anchor, class, line);
    }
}

static void put_clip(const sali_canvas *c)
{
    const sali_place *p = c->place;
    sali_put(c->w,
             "<clipPath id=\"%s-panel-%lld\">"
             "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\"/></clipPath>",
             c->prefix, (long long)c->number, p->left - 1, p->top - 1, p->width + 2, p->height + 2);
}

/* Draw one series: band or error bars, line, markers. Bars are drawn by sali_svg_bars, all series
 * at once. */
static void put_series(const sali_canvas *c, const sal_series *s)
{
    if (s->mark == SAL_MARK_BARS) {
        return; /* drawn together */
    }
    sali_put(c->w, "<g class=\"s%d\">", (int)sali_style_colour(s->style) + 1);
    bool band = s->low && (s->mark == SAL_MARK_LINE || s->mark == SAL_MARK_STEPS);
    if (band) {
        sali_svg_band(c, s);
    } else if (s->low) {
        sali_svg_error_bars(c, s, 0);
    }
    if (s->mark != SAL_MARK_POINTS) {
        sali_svg_line(c, s, sali_series_dense(s, c->place->width));
    }
    if (s->mark == SAL_MARK_POINTS || s->mark == SAL_MARK_BOTH) {
        sali_svg_markers(c, s);
    }
    sali_put_raw(c->w, "</g>");
}

/* Whether the panel has nothing to show. */
static bool is_empty(const sali_panel *panel, const sali_place *p)
{
    bool any = panel->cells.rows > 0 || panel->n_pointers > 0;
    for (int64_t k = 0; k < panel->n_series && !any; k++) {
        const sal_series *s = &panel->series[k];
        for (int64_t i = 0; i < s->n && !any; i++) {
            any = !isnan(sali_scale_at(&p->x, s->x[i])) && !isnan(sali_scale_at(&p->y, s->y[i]));
        }
    }
    return !any;
}

/* Draw one panel, from the grid to the colour bar. */
static void put_panel(const sali_canvas *c)
{
    const sali_panel *panel = c->panel;
    const sali_place *p = c->place;
    sali_put_raw(c->w, "<g>");
    put_clip(c);
    sali_svg_hatches(c);
    write_paragraph(c->w, p->left, p->top - p->above + 13, p->width / SALI_BOLD, "start", "title",
                    panel->title);
    if (!panel->cells.picture) {
        sali_svg_axes(c);
        sali_svg_legend(c);
    }
    sali_put(c->w, "<g clip-path=\"url(#%s-panel-%lld)\">", c->prefix, (long long)c->number);
    if (panel->cells.rows > 0) {
        sali_svg_cells(c);
    }
    sali_svg_bars(c);
    for (int64_t k = 0; k < panel->n_series; k++) {
        put_series(c, &panel->series[k]);
    }
    sali_svg_pointers(c);
    if (is_empty(panel, p)) {
        sali_svg_text(c->w, p->left + p->width / 2, p->top + p->height / 2, "middle", "soft",
                      "nothing to show");
    }
    sali_put_raw(c->w, "</g>");
    if (panel->cells.rows > 0 && !panel->cells.picture) {
        sali_svg_colour_bar(c);
    }
    sali_put_raw(c->w, "</g>");
}

/* The opening <svg> tag, with title and description for screen readers, and the CSS rules if
 * `style`. */
static void put_root(const sal_figure *figure, const sali_layout *layout, sali_text_output *w,
                     const char *prefix, bool style)
{
    const char *title = figure->options.title ? figure->options.title : figure->panels[0].title;
    const char *description =
        figure->options.description ? figure->options.description : figure->options.caption;
    sali_put(w,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"saltus-figure\" "
             "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" "
             "aria-labelledby=\"%s-title",
             layout->width, layout->height, layout->width, layout->height, prefix);
    if (description) {
        sali_put(w, " %s-desc", prefix);
    }
    sali_put(w, "\"><title id=\"%s-title\">%s</title>", prefix, title ? title : "figure");
    if (description) {
        sali_put(w, "<desc id=\"%s-desc\">%s</desc>", prefix, description);
    }
    if (style) {
        sali_put_raw(w, "<style>");
        sali_put_raw(w, sali_figure_style);
        sali_put_raw(w, "</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>");
    }
}

static sal_status check_figure(const sal_figure *figure, sal_error *err)
{
    return figure->first.status != SAL_OK
               ? sali_fail(err, figure->first.status, "%s", figure->first.message)
           : figure->n_panels == 0
               ? sali_fail(err, SAL_ERR_ARGUMENT, "figure: has no panels; expected at least one")
               : SAL_OK;
}

void sali_figure_draw(const sal_figure *figure, sali_text_output *w, const char *prefix, bool style,
                      bool words)
{
    sali_layout layout = { 0 };
    w->status = w->status ? w->status : check_figure(figure, w->err);
    w->status = w->status ? w->status : sali_figure_layout(figure, words, &layout, w->err);
    if (w->status != SAL_OK) {
        return;
    }
    put_root(figure, &layout, w, prefix, style);
    if (words) {
        double room = layout.width - 8;
        write_paragraph(w, layout.width / 2, 15, room / SALI_MAIN_BOLD, "middle", "main",
                        figure->options.title);
        write_paragraph(w, 4, layout.caption + 12, room, "start", "soft", figure->options.caption);
    }
    for (int64_t i = 0; i < figure->n_panels; i++) {
        put_panel(&(sali_canvas){ w, prefix, i + 1, &figure->panels[i], &layout.places[i] });
    }
    sali_put_raw(w, "</svg>");
    sali_free(layout.places);
}

sal_status sal_figure_write(const sal_figure *figure, const char *path, sal_error *err)
{
    if (!sali_has_suffix(path, ".svg")) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: expected a path that ends in '.svg'",
                         path ? path : "no path");
    }
    sali_text_output w;
    sali_text_open(&w, path, true, err);
    sali_figure_draw(figure, &w, "figure", true, true);
    sali_put_raw(&w, "\n");
    return sali_text_close(&w);
}
