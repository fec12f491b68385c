/* SPDX-License-Identifier: MIT */
#include "io/text_output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/number.h"
#include "core/utf8.h"
#include "io/checksum.h"

void sali_text_open(sali_text_output *w, const char *path, bool xml, sal_error *err)
{
    *w = (sali_text_output){ .xml = xml, .checksum = SALI_CHECKSUM_START, .err = err };
    w->status = sali_output_open(path, &w->out, err);
}

void sali_text_fail(sali_text_output *w, sal_status status, const char *format, ...)
{
    if (w->status == SAL_OK) {
        char message[SAL_ERROR_SIZE];
        va_list args;
        va_start(args, format);
        vsnprintf(message, sizeof message, format, args);
        va_end(args);
        w->status = sali_fail(w->err, status, "%s: %s", w->out.path, message);
    }
}

void sali_text_remark(sali_text_output *w, const char *format, ...)
{
    if (w->status == SAL_OK && w->remark) {
        char statement[400];
        va_list args;
        va_start(args, format);
        vsnprintf(statement, sizeof statement, format, args);
        va_end(args);
        w->status = sali_remark_add(w->remark, true, w->err, "%s", statement);
    }
}

bool sali_text_granted(sali_text_output *w, bool granted)
{
    if (w->status == SAL_OK && !granted) {
        w->status = sali_fail_memory(w->err);
    }
    return w->status == SAL_OK;
}

/* The word of 8 bytes as it lies in memory on a little-endian machine. */
static uint64_t add_word(uint64_t checksum, uint64_t word)
{
    word = htole64(word);
    return sali_checksum(checksum, &word, sizeof word);
}

/* Add the next bytes to the checksum. */
static void add_bytes(sali_text_output *w, const unsigned char *bytes, int64_t size)
{
    for (int64_t k = 0; k < size; k++) {
        const int64_t place = (w->size + k) % 8;
        w->word |= (uint64_t)bytes[k] << place * 8;
        if (place == 7) {
            w->checksum = add_word(w->checksum, w->word);
            w->word = 0;
        }
    }
}

void sali_put_bytes(sali_text_output *w, const void *bytes, int64_t size)
{
    if (w->status == SAL_OK) {
        w->status = sali_output_write(&w->out, bytes, size, w->err);
        if (w->sums) {
            add_bytes(w, bytes, size);
        }
        w->size += size;
    }
}

uint64_t sali_text_checksum(const sali_text_output *w)
{
    return w->size % 8 ? add_word(w->checksum, w->word) : w->checksum;
}

void sali_put_raw(sali_text_output *w, const char *text)
{
    sali_put_bytes(w, text, (int64_t)strlen(text));
}

/* ---- values */

/* The XML reference that replaces a character; NULL: the character is written as it is. */
static const char *xml_reference(int32_t code)
{
    bool allowed = code >= 0x20 && code != 0xfffe && code != 0xffff;
    return code == '&'    ? "&amp;"
           : code == '<'  ? "&lt;"
           : code == '>'  ? "&gt;"
           : code == '"'  ? "&quot;"
           : code == '\n' ? "&#10;"
           : code == '\t' ? "&#9;"
           : code == '\r' ? "&#13;"
           : allowed      ? NULL
                          : "\xef\xbf\xbd"; /* U+FFFD */
}

/* Write `text` with the characters escaped that XML reserves. */
static void put_escaped(sali_text_output *w, const char *text)
{
    const char *end = text + strlen(text), *plain = text;
    while (text < end) {
        const char *at = text, *instead = xml_reference(sali_utf8_next(&text, end));
        if (instead) {
            sali_put_bytes(w, plain, at - plain);
            sali_put_raw(w, instead);
            plain = text;
        }
    }
    sali_put_bytes(w, plain, end - plain);
}

/* Write a double as %g of sali_put: shortest form, "inf", "-inf" or "nan". */
static void put_double(sali_text_output *w, double value)
{
    char text[SALI_NUMBER_SIZE];
    if (!isfinite(value)) {
        sali_put_raw(w, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    } else {
        sali_format_double(value, text);
        sali_put_raw(w, text);
    }
}

/* Write the next value by the conversion that begins at `format`, after its '%'. Returns what
 * follows the conversion. */
static const char *put_value(sali_text_output *w, const char *format, va_list *values)
{
    char text[SALI_NUMBER_SIZE] = "";
    size_t n = strspn(format, "0123456789.l");
    switch (format[n]) {
    case 's': {
        const char *string = va_arg(*values, const char *);
        (w->xml ? put_escaped : sali_put_raw)(w, string);
        break;
    }
    case 'g':
        put_double(w, va_arg(*values, double));
        break;
    case 'f':
        sali_fixed(va_arg(*values, double), n > 0 ? format[1] - '0' : 2, text);
        break;
    case 'd':
        snprintf(text, sizeof text, "%lld",
                 n > 0 ? va_arg(*values, long long) : va_arg(*values, int));
        break;
    case 'x':
        snprintf(text, sizeof text, "%06x", va_arg(*values, unsigned));
        break;
    default:
        text[0] = format[n] == '%' ? '%' : (char)va_arg(*values, int);
    }
    sali_put_raw(w, text);
    return format + n + 1;
}

void sali_put(sali_text_output *w, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    while (*format && w->status == SAL_OK) {
        size_t plain = strcspn(format, "%");
        sali_put_bytes(w, format, (int64_t)plain);
        format += plain;
        format = *format ? put_value(w, format + 1, &values) : format;
    }
    va_end(values);
}

/* exp(log_value), rounded to 15 digits if the logarithm is still the same then: so a probability
 * 0.1 is not written as 0.10000000000000002. */
static double short_exp(double log_value)
{
    char text[SALI_NUMBER_SIZE];
    double value = exp(log_value);
    snprintf(text, sizeof text, "%.15g", value);
    double rounded = strtod(text, NULL); /* in the same locale */
    return log(rounded) == log_value ? rounded : value;
}

void sali_put_exp(sali_text_output *w, double log_value, const char *after)
{
    double value = short_exp(log_value);
    if (isfinite(value) && (value > 0 || log_value == -INFINITY)) {
        sali_put(w, "%g", value);
        sali_put_raw(w, after);
    } else {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "a table entry has log %g, whose exponential is no positive finite number; "
                       "subtract a constant from that table",
                       log_value);
    }
}

void sali_put_base64(sali_text_output *w, const void *bytes, int64_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = bytes;
    for (int64_t i = 0; i < size && w->status == SAL_OK; i += 3) {
        uint32_t three = (uint32_t)from[i] << 16;
        three |= i + 1 < size ? (uint32_t)from[i + 1] << 8 : 0;
        three |= i + 2 < size ? from[i + 2] : 0;
        char four[] = { digits[three >> 18], digits[three >> 12 & 63],
                        i + 1 < size ? digits[three >> 6 & 63] : '=',
                        i + 2 < size ? digits[three & 63] : '=' };
        sali_put_bytes(w, four, sizeof four);
    }
}

const char *sali_separator(int64_t i, int64_t n)
{
    return i + 1 == n ? "\n" : " ";
}

void sali_text_sync(sali_text_output *w)
{
    if (w->status == SAL_OK) {
        w->status = sali_output_sync(&w->out, w->err);
    }
}

sal_status sali_text_close(sali_text_output *w)
{
    if (w->status == SAL_OK) {
        w->status = sali_output_commit(&w->out, w->err);
    }
    sali_output_discard(&w->out);
    return w->status;
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
