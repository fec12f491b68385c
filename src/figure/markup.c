#include "figure/markup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

/* libxml2 reports what this returns below zero on the standard error, so failures are kept aside.
 */
static int sink(void *context, const char *data, int size)
{
    sali_markup *w = context;
    if (w->status == SAL_OK) {
        w->status = sali_output_write(w->out, data, size, w->err);
    }
    return size;
}

/* The result of a call of libxml2: only memory can fail. */
static void took(sali_markup *w, int result)
{
    if (result < 0 && w->status == SAL_OK) {
        w->status = sali_fail_memory(w->err);
    }
}

void sali_markup_open(sali_markup *w, sali_output *out, sal_error *err)
{
    *w = (sali_markup){ .out = out, .err = err };
    xmlOutputBuffer *buffer = xmlOutputBufferCreateIO(sink, NULL, w, NULL);
    w->xml = buffer ? xmlNewTextWriter(buffer) : NULL;
    if (!w->xml) {
        xmlOutputBufferClose(buffer);
        w->status = sali_fail_memory(err);
    }
}

sal_status sali_markup_close(sali_markup *w)
{
    if (w->xml) {
        xmlFreeTextWriter(w->xml); /* writes what is left, and closes the buffer */
        w->xml = NULL;
    }
    return w->status;
}

void sali_put_start(sali_markup *w, const char *element)
{
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterStartElement(w->xml, BAD_CAST element));
    }
}

void sali_put_end(sali_markup *w)
{
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterEndElement(w->xml));
    }
}

void sali_put_close(sali_markup *w)
{
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterFullEndElement(w->xml));
    }
}

void sali_put_string(sali_markup *w, const char *text)
{
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterWriteString(w->xml, BAD_CAST text));
    }
}

void sali_put_raw(sali_markup *w, const char *text)
{
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterWriteRaw(w->xml, BAD_CAST text));
    }
}

void sali_put_attribute(sali_markup *w, const char *name, const char *value)
{
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterWriteAttribute(w->xml, BAD_CAST name, BAD_CAST value));
    }
}

void sali_put_number(sali_markup *w, const char *name, double value)
{
    char text[SALI_FIXED_SIZE];
    sali_fixed(value, 2, text);
    sali_put_attribute(w, name, text);
}

void sali_put_format(sali_markup *w, const char *name, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sali_put_attribute(w, name, text);
}

void sali_put_base64(sali_markup *w, const char *name, const char *before, const void *bytes,
                     int64_t size)
{
    static const int64_t piece = 3 << 12; /* libxml2 pads each piece that is no multiple of 3 */
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterStartAttribute(w->xml, BAD_CAST name));
        took(w, xmlTextWriterWriteString(w->xml, BAD_CAST before));
    }
    for (int64_t at = 0; at < size && w->status == SAL_OK; at += piece) {
        int64_t n = size - at < piece ? size - at : piece;
        took(w, xmlTextWriterWriteBase64(w->xml, (const char *)bytes + at, 0, (int)n));
    }
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterEndAttribute(w->xml));
    }
}

void sali_put_element(sali_markup *w, const char *element, const char *text)
{
    sali_put_start(w, element);
    sali_put_string(w, text);
    sali_put_end(w);
}

void sali_fixed(double value, int decimals, char out[SALI_FIXED_SIZE])
{
    static const double powers[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6 };
    value = isnan(value) ? 0 : fmin(fmax(value, -1e12), 1e12);
    long long scaled = llround(value * powers[decimals]);
    long long unit = (long long)powers[decimals];
    long long size = scaled < 0 ? -scaled : scaled;
    int used = snprintf(out, SALI_FIXED_SIZE, "%s%lld", scaled < 0 ? "-" : "", size / unit);
    if (size % unit == 0) {
        return;
    }
    used +=
        snprintf(out + used, (size_t)(SALI_FIXED_SIZE - used), ".%0*lld", decimals, size % unit);
    while (out[used - 1] == '0') {
        out[--used] = '\0';
    }
}

/* ---- paths */

static void flush(sali_path *path)
{
    path->text[path->used] = '\0';
    sali_put_string(path->w, path->text);
    path->used = 0;
}

void sali_path_begin(sali_path *path, sali_markup *w)
{
    path->w = w;
    path->used = 0;
    if (w->status == SAL_OK) {
        took(w, xmlTextWriterStartAttribute(w->xml, BAD_CAST "d"));
    }
}

void sali_path_end(sali_path *path)
{
    flush(path);
    if (path->w->status == SAL_OK) {
        took(path->w, xmlTextWriterEndAttribute(path->w->xml));
    }
}

void sali_path_text(sali_path *path, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)path->used + size >= sizeof path->text) {
        flush(path);
    }
    memcpy(path->text + path->used, text, size);
    path->used += (int)size;
}

void sali_path_put(sali_path *path, char command, int n, const double *numbers)
{
    char text[8 * SALI_FIXED_SIZE] = { command, '\0' };
    char *at = text + 1;
    for (int i = 0; i < n; i++) {
        char number[SALI_FIXED_SIZE];
        sali_fixed(numbers[i], 2, number);
        at += sprintf(at, "%s%s", i ? "," : "", number);
    }
    if (strlen(text) + (size_t)path->used >= sizeof path->text) {
        flush(path);
    }
    memcpy(path->text + path->used, text, (size_t)(at - text));
    path->used += (int)(at - text);
}

void sali_path_point(sali_path *path, char command, double x, double y)
{
    sali_path_put(path, command, 2, (const double[]){ x, y });
}
