/* A figure as an SVG document, or as part of a page. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "figure/figure.h"

/* A text of several lines. */
static void paragraph(sali_markup *w, double x, double y, double width, const char *anchor,
                      const char *class, const char *text)
{
    for (; text && *text; y += SALI_LINE) {
        char line[SALI_LINE_BYTES + 2];
        int64_t size = sali_text_line(text, width);
        memcpy(line, text, (size_t)size);
        line[size] = '\0';
        sali_svg_text(w, x, y, anchor, class, line);
        text += size;
    }
}

static void put_clip(const sali_canvas *c)
{
    const sali_place *p = c->place;
    sali_put_start(c->w, "clipPath");
    sali_put_format(c->w, "id", "%s-panel-%lld", c->prefix, (long long)c->number);
    sali_put_start(c->w, "rect");
    sali_put_number(c->w, "x", p->left - 1);
    sali_put_number(c->w, "y", p->top - 1);
    sali_put_number(c->w, "width", p->width + 2);
    sali_put_number(c->w, "height", p->height + 2);
    sali_put_end(c->w);
    sali_put_end(c->w);
}

static void put_series(const sali_canvas *c, const sali_series *s)
{
    if (s->mark == SAL_MARK_BARS) {
        return; /* drawn together */
    }
    sali_put_start(c->w, "g");
    sali_put_format(c->w, "class", "s%d", (int)sali_style_colour(s->style) + 1);
    bool band = s->low && (s->mark == SAL_MARK_LINE || s->mark == SAL_MARK_STEPS);
    if (band) {
        sali_svg_band(c, s);
    } else if (s->low) {
        sali_svg_error_bars(c, s, 0);
    }
    if (s->mark != SAL_MARK_POINTS) {
        sali_svg_line(c, s);
    }
    if (s->mark == SAL_MARK_POINTS || s->mark == SAL_MARK_BOTH) {
        sali_svg_markers(c, s);
    }
    sali_put_end(c->w);
}

/* Has the panel anything to show? */
static bool is_empty(const sali_panel *panel)
{
    bool any = panel->cells.rows > 0 || panel->n_pointers > 0 || panel->n_arrows > 0;
    sali_range x = sali_range_empty(panel->x.logarithmic);
    sali_range y = sali_range_empty(panel->y.logarithmic);
    for (int64_t k = 0; k < panel->n_series && !any; k++) {
        const sali_series *s = &panel->series[k];
        for (int64_t i = 0; i < s->n && !(x.low <= x.high && y.low <= y.high); i++) {
            sali_range_add(&x, s->x[i]);
            sali_range_add(&y, s->y[i]);
        }
    }
    return !any && !(x.low <= x.high && y.low <= y.high);
}

static void put_panel(const sali_canvas *c)
{
    const sali_panel *panel = c->panel;
    const sali_place *p = c->place;
    sali_put_start(c->w, "g");
    put_clip(c);
    sali_svg_hatches(c);
    paragraph(c->w, p->left, p->top - p->above + 13, p->width / SALI_BOLD, "start", "title",
              panel->title);
    if (!panel->cells.picture) {
        sali_svg_axes(c);
        sali_svg_legend(c);
    }
    sali_put_start(c->w, "g");
    sali_put_format(c->w, "clip-path", "url(#%s-panel-%lld)", c->prefix, (long long)c->number);
    if (panel->cells.rows > 0) {
        sali_svg_cells(c);
    }
    sali_svg_bars(c);
    for (int64_t k = 0; k < panel->n_series; k++) {
        put_series(c, &panel->series[k]);
    }
    sali_svg_arrows(c);
    sali_svg_pointers(c);
    if (is_empty(panel)) {
        sali_svg_text(c->w, p->left + p->width / 2, p->top + p->height / 2, "middle", "soft",
                      "nothing to show");
    }
    sali_put_end(c->w);
    if (panel->cells.rows > 0 && !panel->cells.picture) {
        sali_svg_colour_bar(c);
    }
    sali_put_end(c->w);
}

/* Names for readers who listen. */
static void put_names(const sal_figure *figure, sali_markup *w, const char *prefix)
{
    const char *title = figure->title ? figure->title : figure->panels[0].title;
    const char *description = figure->description ? figure->description : figure->caption;
    sali_put_attribute(w, "role", "img");
    sali_put_format(w, "aria-labelledby", description ? "%s-title %s-desc" : "%s-title", prefix,
                    prefix);
    sali_put_start(w, "title");
    sali_put_format(w, "id", "%s-title", prefix);
    sali_put_string(w, title ? title : "figure");
    sali_put_end(w);
    if (description) {
        sali_put_start(w, "desc");
        sali_put_format(w, "id", "%s-desc", prefix);
        sali_put_string(w, description);
        sali_put_end(w);
    }
}

static void put_root(const sal_figure *figure, const sali_layout *layout, sali_markup *w,
                     const char *prefix, bool style)
{
    char width[SALI_FIXED_SIZE], height[SALI_FIXED_SIZE];
    sali_fixed(layout->width, 0, width);
    sali_fixed(layout->height, 0, height);
    sali_put_start(w, "svg");
    sali_put_attribute(w, "xmlns", "http://www.w3.org/2000/svg");
    sali_put_attribute(w, "class", "saltus-figure");
    sali_put_format(w, "viewBox", "0 0 %s %s", width, height);
    sali_put_attribute(w, "width", width);
    sali_put_attribute(w, "height", height);
    put_names(figure, w, prefix);
    if (style) {
        sali_put_element(w, "style", sali_figure_style);
        sali_put_start(w, "rect");
        sali_put_attribute(w, "class", "paper");
        sali_put_attribute(w, "width", "100%");
        sali_put_attribute(w, "height", "100%");
        sali_put_end(w);
    }
}

sal_status sali_figure_draw(const sal_figure *figure, sali_markup *w, const char *prefix,
                            bool style, bool words, sal_error *err)
{
    sali_layout layout = { 0 };
    if (figure->first.status != SAL_OK) {
        return sali_fail(err, figure->first.status, "%s", figure->first.message);
    }
    if (figure->n_panels == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "figure: has no panels; expected at least one");
    }
    sal_status status = sali_figure_layout(figure, words, &layout, err);
    if (status != SAL_OK) {
        return status;
    }
    put_root(figure, &layout, w, prefix, style);
    if (words) {
        double room = layout.width - 8;
        paragraph(w, layout.width / 2, 15, room / SALI_MAIN_BOLD, "middle", "main", figure->title);
        paragraph(w, 4, layout.caption + 12, room, "start", "soft", figure->caption);
    }
    for (int64_t i = 0; i < figure->n_panels; i++) {
        put_panel(&(sali_canvas){ w, prefix, i + 1, &figure->panels[i], &layout.places[i] });
    }
    sali_put_end(w);
    sali_free(layout.places);
    return w->status;
}

sal_status sal_figure_write(const sal_figure *figure, const char *path, sal_error *err)
{
    size_t size = path ? strlen(path) : 0;
    if (size < 4 || strcmp(path + size - 4, ".svg") != 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: expected a path that ends in '.svg'",
                         path ? path : "no path");
    }
    sali_output out = { 0 };
    sal_status status = sali_output_open(path, &out, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_markup w;
    sali_markup_open(&w, &out, err);
    status =
        w.status == SAL_OK ? sali_figure_draw(figure, &w, "figure", true, true, err) : w.status;
    sali_put_raw(&w, "\n");
    sal_status closed = sali_markup_close(&w);
    status = status == SAL_OK ? closed : status;
    status = status == SAL_OK ? sali_output_commit(&out, err) : status;
    sali_output_discard(&out);
    return status;
}
