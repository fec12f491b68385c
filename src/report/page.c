/* SPDX-License-Identifier: MIT */
#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "figure/figure.h"

/* ---- texts */

void sali_page_paragraph(sali_page *page, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sali_put(&page->w, "<p>%s</p>", text);
}

/* Write value > 0 as mantissa and power of ten, such as 1.5·10⁻⁸; at most 4 digits. */
static void format_power(double value, int digits, char out[SALI_PAGE_NUMBER])
{
    char plain[40];
    snprintf(plain, sizeof plain, "%.*e", digits < 4 ? digits - 1 : 3, value);
    char *e = strchr(plain, 'e');
    int power = (int)strtol(e + 1, NULL, 10);
    *e = '\0';
    sali_put_exponent(power, out + sprintf(out, "%s·10", plain));
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
        *p = '.'; /* in some locales printf writes a decimal comma */
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

void sali_page_begin(sali_page *page, const char *path, const char *title, int64_t n,
                     const char *const *sections, sal_error *err)
{
    *page = (sali_page){ 0 };
    sali_text_output *w = &page->w;
    sali_text_open(w, path, true, err);
    sali_put(w,
             "<!DOCTYPE html>\n"
             "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>"
             "<meta charset=\"utf-8\"/>"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
             "<meta name=\"generator\" content=\"saltus " SALI_VERSION "\"/>"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "img-src data:; style-src 'unsafe-inline'\"/><title>%s</title><style>",
             title);
    sali_put_raw(w, sali_page_style);
    sali_put_raw(w, sali_figure_style);
    sali_put(w, "</style></head><body><header><h1>%s</h1>", title);
    if (n > 1) {
        sali_put_raw(w, "<nav aria-label=\"Contents\"><ol>");
        for (int64_t k = 0; k < n; k++) {
            sali_put(w, "<li><a href=\"#file-%lld\">%s</a></li>", (long long)k + 1, sections[k]);
        }
        sali_put_raw(w, "</ol></nav>");
    }
    sali_put_raw(w, "</header><main>");
}

sal_status sali_page_end(sali_page *page)
{
    sali_put_raw(&page->w, "</main><footer><p>Written by saltus " SALI_VERSION
                           ".</p></footer></body></html>\n");
    return sali_text_close(&page->w);
}

void sali_page_section(sali_page *page, int64_t k, const char *title, const char *kind)
{
    sali_put(&page->w, "<section id=\"file-%lld\"><h2>%s</h2><p class=\"soft\">%s</p>",
             (long long)k, title, kind);
}

/* ---- facts */

#define LONG_FACT 17 /* characters of a value that gets a line of its own */

void sali_page_fact(sali_page *page, const char *name, const char *value)
{
    if (value) {
        sali_put_raw(&page->w, strlen(value) > LONG_FACT ? "<div class=\"long\">" : "<div>");
        sali_put(&page->w, "<dt>%s</dt><dd>%s</dd></div>", name, value);
    }
}

/* Write a JSON string, number, boolean or array of numbers as text of `room` bytes; "" for anything
 * else. */
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

/* ---- tables */

void sali_page_table(sali_page *page, const char *caption, int64_t n, const sali_column *columns)
{
    /* No caption element: this way the caption is as wide as the page. The table may be wider than
     * a phone, and scrolls by itself. */
    sali_put(&page->w,
             "<p class=\"caption\">%s</p>"
             "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">"
             "<table><thead><tr>",
             caption, caption);
    for (int64_t k = 0; k < n; k++) {
        sali_put_raw(&page->w, columns[k].digits > 0 ? "<th scope=\"col\" class=\"n\">"
                                                     : "<th scope=\"col\">");
        sali_put(&page->w, "%s</th>", columns[k].title);
    }
    sali_put_raw(&page->w, "</tr></thead><tbody>");
}

void sali_page_number(sali_page *page, double value, int digits)
{
    char text[SALI_PAGE_NUMBER];
    sali_page_format(value, digits, text);
    sali_put(&page->w, "<td class=\"n\">%s</td>", text);
}

/* ---- figures */

void sali_page_figure(sali_page *page, sal_figure *figure, const char *format, ...)
{
    char caption[1024], prefix[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(caption, sizeof caption, format, arguments);
    va_end(arguments);
    sali_text_output *w = &page->w;
    if (!figure) {
        w->status = w->status ? w->status : sali_fail_memory(w->err);
        return;
    }
    snprintf(prefix, sizeof prefix, "f%lld", (long long)++page->figures);
    sali_put_raw(w, "<figure>");
    sali_figure_draw(figure, w, prefix, false, false);
    sali_put(w, "<figcaption>%s</figcaption></figure>", caption);
    sal_figure_destroy(figure);
}
