#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/utf8.h"
#include "figure/figure.h"

/* ---- texts */

/* Write a text; what is no UTF-8 or not allowed in XML becomes U+FFFD. */
static void put_text(sali_page *page, const char *text)
{
    const char *end = text + strlen(text);
    char part[512];
    int used = 0;
    while (text < end) {
        int32_t code = sali_utf8_next(&text, end);
        bool allowed = code >= 0x20 || code == '\n' || code == '\t';
        allowed = allowed && code != 0xfffe && code != 0xffff && !(code >= 0x7f && code < 0xa0);
        used += sali_utf8_put(allowed ? code : SALI_UTF8_REPLACEMENT, part + used);
        if (used > (int)sizeof part - 8 || text == end) {
            part[used] = '\0';
            sali_put_string(&page->w, part);
            used = 0;
        }
    }
}

/* An element with a class (or NULL) and a text. HTML's parsers want an end tag even of one without
 * content. */
static void element(sali_page *page, const char *name, const char *class, const char *text)
{
    sali_put_start(&page->w, name);
    if (class) {
        sali_put_attribute(&page->w, "class", class);
    }
    put_text(page, text);
    sali_put_close(&page->w);
}

static void format_text(char *out, size_t room, const char *format, va_list arguments)
{
    vsnprintf(out, room, format, arguments);
}

void sali_page_paragraph(sali_page *page, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    element(page, "p", NULL, text);
}

void sali_page_heading(sali_page *page, const char *text)
{
    element(page, "h3", NULL, text);
}

/* Mantissa and power of ten, as in 1.5·10⁻⁸. */
static void format_power(double value, int digits, char out[SALI_PAGE_NUMBER])
{
    static const char *const powers[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char plain[40];
    snprintf(plain, sizeof plain, "%.*e", digits < 4 ? digits - 1 : 3, value);
    char *e = strchr(plain, 'e');
    int power = (int)strtol(e + 1, NULL, 10);
    *e = '\0';
    char *to = out + sprintf(out, "%s·10%s", plain, power < 0 ? "⁻" : "");
    snprintf(plain, sizeof plain, "%d", power < 0 ? -power : power);
    for (const char *p = plain; *p; p++) {
        to += sprintf(to, "%s", powers[*p - '0']);
    }
}

void sali_page_format(double value, int digits, char out[SALI_PAGE_NUMBER])
{
    double size = fabs(value);
    if (!isfinite(value)) {
        strcpy(out, isnan(value) ? "–" : value > 0 ? "∞" : "−∞");
        return;
    }
    const char *minus = value < 0 ? "−" : "";
    char *to = out + sprintf(out, "%s", minus);
    if (size == floor(size) && size < 1e12) {
        sprintf(to, "%.0f", size);
    } else if (size >= 1e7 || size < 1e-4) {
        char power[SALI_PAGE_NUMBER];
        format_power(size, digits, power);
        strcpy(to, power);
    } else {
        int places = digits - 1 - (int)floor(log10(size));
        snprintf(to, SALI_PAGE_NUMBER - 4, "%.*f", places > 0 ? places : 0, size);
    }
    for (char *p = out; (p = strchr(p, ','));) {
        *p = '.'; /* of another locale */
    }
}

void sali_page_short(double value, int digits, char out[SALI_PAGE_NUMBER])
{
    sali_page_format(value, digits, out);
    char *point = strchr(out, '.'), *power = strstr(out, "·");
    if (point) {
        char *end = power ? power : out + strlen(out), *last = end;
        while (last[-1] == '0') {
            last--;
        }
        last -= last[-1] == '.';
        memmove(last, end, strlen(end) + 1);
    }
}

/* ---- the document */

static void put_contents(sali_page *page, int64_t n, const char *const *sections)
{
    sali_put_start(&page->w, "nav");
    sali_put_attribute(&page->w, "aria-label", "Contents");
    sali_put_start(&page->w, "ol");
    for (int64_t k = 0; k < n; k++) {
        sali_put_start(&page->w, "li");
        sali_put_start(&page->w, "a");
        sali_put_format(&page->w, "href", "#file-%lld", (long long)k + 1);
        put_text(page, sections[k]);
        sali_put_close(&page->w);
        sali_put_close(&page->w);
    }
    sali_put_close(&page->w);
    sali_put_close(&page->w);
}

static void put_meta(sali_page *page, const char *kind, const char *name, const char *content)
{
    sali_put_start(&page->w, "meta");
    sali_put_attribute(&page->w, kind, name);
    sali_put_attribute(&page->w, "content", content);
    sali_put_end(&page->w);
}

void sali_page_begin(sali_page *page, sali_output *out, const char *title, int64_t n,
                     const char *const *sections, sal_error *err)
{
    *page = (sali_page){ 0 };
    sali_markup *w = &page->w;
    sali_markup_open(w, out, err);
    sali_put_raw(w, "<!DOCTYPE html>\n");
    sali_put_start(w, "html");
    sali_put_attribute(w, "xmlns", "http://www.w3.org/1999/xhtml");
    sali_put_attribute(w, "lang", "en");
    sali_put_start(w, "head");
    sali_put_start(w, "meta");
    sali_put_attribute(w, "charset", "utf-8");
    sali_put_end(w);
    put_meta(page, "name", "viewport", "width=device-width, initial-scale=1");
    put_meta(page, "name", "generator", "saltus " SALI_VERSION);
    put_meta(page, "http-equiv", "Content-Security-Policy",
             "default-src 'none'; img-src data:; style-src 'unsafe-inline'");
    element(page, "title", NULL, title);
    sali_put_start(w, "style");
    sali_put_raw(w, sali_page_style);
    sali_put_raw(w, sali_figure_style);
    sali_put_close(w);
    sali_put_close(w);
    sali_put_start(w, "body");
    sali_put_start(w, "header");
    element(page, "h1", NULL, title);
    if (n > 1) {
        put_contents(page, n, sections);
    }
    sali_put_close(w);
    sali_put_start(w, "main");
}

sal_status sali_page_end(sali_page *page)
{
    sali_put_close(&page->w);
    sali_put_start(&page->w, "footer");
    element(page, "p", NULL, "Written by saltus " SALI_VERSION ".");
    sali_put_close(&page->w);
    sali_put_close(&page->w);
    sali_put_close(&page->w);
    sali_put_raw(&page->w, "\n");
    return sali_markup_close(&page->w);
}

void sali_page_section(sali_page *page, int64_t k, const char *title, const char *kind)
{
    sali_put_start(&page->w, "section");
    sali_put_format(&page->w, "id", "file-%lld", (long long)k);
    element(page, "h2", NULL, title);
    element(page, "p", "soft", kind);
}

void sali_page_section_end(sali_page *page)
{
    sali_put_close(&page->w);
}

/* ---- facts */

#define LONG_FACT 17 /* characters of a value that gets a line of its own */

void sali_page_facts(sali_page *page)
{
    sali_put_start(&page->w, "dl");
}

void sali_page_fact(sali_page *page, const char *name, const char *value)
{
    if (value) {
        sali_put_start(&page->w, "div");
        if (strlen(value) > LONG_FACT) {
            sali_put_attribute(&page->w, "class", "long");
        }
        element(page, "dt", NULL, name);
        element(page, "dd", NULL, value);
        sali_put_close(&page->w);
    }
}

static void json_text(const json_t *value, char *out, size_t room)
{
    char number[SALI_PAGE_NUMBER];
    size_t used = 0;
    out[0] = '\0';
    if (json_is_string(value)) {
        snprintf(out, room, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        snprintf(out, room, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        sali_page_short(json_real_value(value), 6, number);
        snprintf(out, room, "%s", number);
    } else if (json_is_boolean(value)) {
        snprintf(out, room, "%s", json_is_true(value) ? "yes" : "no");
    } else if (json_is_array(value)) {
        for (size_t k = 0; k < json_array_size(value) && used + SALI_PAGE_NUMBER + 8 < room; k++) {
            const json_t *entry = json_array_get(value, k);
            sali_page_short(json_is_number(entry) ? json_number_value(entry) : NAN, 4, number);
            used += (size_t)snprintf(out + used, room - used, "%s%s", k ? ", " : "", number);
        }
    }
}

void sali_page_fact_json(sali_page *page, const char *name, const json_t *value)
{
    char text[512], shown[64];
    json_text(value, text, sizeof text);
    snprintf(shown, sizeof shown, "%s", name);
    for (char *p = shown; *p; p++) {
        *p = *p == '_' ? ' ' : *p;
    }
    sali_page_fact(page, shown, text[0] ? text : NULL);
}

void sali_page_facts_end(sali_page *page)
{
    sali_put_close(&page->w);
}

/* ---- tables */

void sali_page_table(sali_page *page, const char *caption, int64_t n, const sali_column *columns)
{
    sali_markup *w = &page->w;
    element(page, "p", "caption", caption); /* no caption element: its lines fit the page */
    sali_put_start(w, "div");               /* may be wider than a phone: it is moved by itself */
    sali_put_attribute(w, "class", "scroll");
    sali_put_attribute(w, "role", "region");
    sali_put_attribute(w, "tabindex", "0");
    sali_put_attribute(w, "aria-label", caption);
    sali_put_start(w, "table");
    sali_put_start(w, "thead");
    sali_put_start(w, "tr");
    for (int64_t k = 0; k < n; k++) {
        sali_put_start(w, "th");
        sali_put_attribute(w, "scope", "col");
        if (columns[k].digits > 0) {
            sali_put_attribute(w, "class", "n");
        }
        put_text(page, columns[k].title);
        sali_put_close(w);
    }
    sali_put_close(w);
    sali_put_close(w);
    sali_put_start(w, "tbody");
}

void sali_page_row(sali_page *page)
{
    sali_put_start(&page->w, "tr");
}

void sali_page_text(sali_page *page, const char *text)
{
    element(page, "td", NULL, text);
}

void sali_page_number(sali_page *page, double value, int digits)
{
    char text[SALI_PAGE_NUMBER];
    sali_page_format(value, digits, text);
    element(page, "td", "n", text);
}

void sali_page_row_end(sali_page *page)
{
    sali_put_close(&page->w);
}

void sali_page_table_end(sali_page *page)
{
    sali_put_close(&page->w);
    sali_put_close(&page->w);
    sali_put_close(&page->w);
}

/* ---- figures */

void sali_page_figures(sali_page *page)
{
    sali_put_start(&page->w, "div");
    sali_put_attribute(&page->w, "class", "figures");
}

void sali_page_figures_end(sali_page *page)
{
    sali_put_close(&page->w);
}

void sali_page_figure(sali_page *page, sal_figure *figure, const char *format, ...)
{
    char caption[1024], prefix[32];
    va_list arguments;
    va_start(arguments, format);
    format_text(caption, sizeof caption, format, arguments);
    va_end(arguments);
    sali_markup *w = &page->w;
    if (!figure) {
        w->status = w->status == SAL_OK ? sali_fail_memory(w->err) : w->status;
        return;
    }
    snprintf(prefix, sizeof prefix, "f%lld", (long long)++page->figures);
    sali_put_start(w, "figure");
    if (w->status == SAL_OK) {
        sal_status status = sali_figure_draw(figure, w, prefix, false, false, w->err);
        w->status = w->status == SAL_OK ? status : w->status;
    }
    element(page, "figcaption", NULL, caption);
    sali_put_close(w);
    sal_figure_destroy(figure);
}

void sali_page_picture(sali_page *page, const void *png, int64_t size, const char *alt,
                       const char *caption)
{
    sali_markup *w = &page->w;
    sali_put_start(w, "figure");
    sali_put_start(w, "img");
    sali_put_attribute(w, "alt", alt);
    sali_put_base64(w, "src", "data:image/png;base64,", png, size);
    sali_put_end(w);
    element(page, "figcaption", NULL, caption);
    sali_put_close(w);
}
