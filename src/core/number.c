/* SPDX-License-Identifier: MIT */
#include "core/number.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer texts are refused: no double needs so many digits, though a few programs print them. */
#define MAX_LENGTH 1200

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

sal_status sali_parse_int(const char *text, int64_t size, int64_t *out)
{
    int64_t i = size > 0 && (text[0] == '-' || text[0] == '+');
    int negative = i && text[0] == '-';
    int64_t value = 0; /* kept negative, as INT64_MIN has no positive */
    if (i == size) {
        return SAL_ERR_DATA;
    }
    for (; i < size; i++) {
        if (!is_digit(text[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, text[i] - '0', &value)) {
            return SAL_ERR_DATA;
        }
    }
    if (!negative && __builtin_sub_overflow(0, value, &value)) {
        return SAL_ERR_DATA;
    }
    *out = value;
    return SAL_OK;
}

/* Whether a text is over, or is one exponent: a letter, [sign] and decimal digits. */
static int ends_with_exponent(const char *text, char lower, char upper)
{
    const char *p = text;
    if (*p == lower || *p == upper) {
        p++;
        p += *p == '-' || *p == '+';
        if (!is_digit(*p)) {
            return 0;
        }
        while (is_digit(*p)) {
            p++;
        }
    }
    return *p == '\0';
}

/* [sign] digits [. digits] [e [sign] digits], with a digit before or after the point. */
static int is_decimal(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');
    int digits = 0;
    for (; is_digit(*p); p++) {
        digits = 1;
    }
    if (*p == '.') {
        for (p++; is_digit(*p); p++) {
            digits = 1;
        }
    }
    return digits && ends_with_exponent(p, 'e', 'E');
}

/* [sign] 0x hexadecimal digits [. digits] [p [sign] decimal digits], with a digit before or after
 * the point. */
static int is_hexadecimal(const char *text)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    const char *p = text + (*text == '-' || *text == '+');
    if (p[0] != '0' || (p[1] != 'x' && p[1] != 'X')) {
        return 0;
    }
    p += 2;
    size_t before = strspn(p, hex), after = p[before] == '.' ? strspn(p + before + 1, hex) : 0;
    p += before + (p[before] == '.') + after;
    return before + after > 0 && ends_with_exponent(p, 'p', 'P');
}

/* Read `size` characters as a finite double if `is_number` accepts their form. SAL_ERR_DATA
 * otherwise, without a message; *out is then untouched. */
static sal_status parse_number(const char *text, int64_t size, int (*is_number)(const char *text),
                               double *out)
{
    char buffer[MAX_LENGTH + 1];
    if (size < 1 || size > MAX_LENGTH || memchr(text, 0, (size_t)size)) {
        return SAL_ERR_DATA;
    }
    memcpy(buffer, text, (size_t)size);
    buffer[size] = '\0';
    if (!is_number(buffer)) {
        return SAL_ERR_DATA;
    }
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* takes no memory in Linux */
    double x = c_locale ? strtod_l(buffer, NULL, c_locale) : NAN;
    if (c_locale) {
        freelocale(c_locale);
    }
    if (!isfinite(x)) {
        return SAL_ERR_DATA;
    }
    *out = x;
    return SAL_OK;
}

sal_status sali_parse_double(const char *text, int64_t size, double *out)
{
    return parse_number(text, size, is_decimal, out);
}

sal_status sali_parse_real(const char *text, int64_t size, double *out)
{
    return parse_number(text, size, is_decimal, out) == SAL_OK
               ? SAL_OK
               : parse_number(text, size, is_hexadecimal, out);
}

/* printf writes the locale's decimal point. Whatever is no digit, sign or letter of an exponent,
 * "inf" or "nan" is that point, of one byte or more, and becomes '.'. */
void sali_format_double(double x, char out[SALI_NUMBER_SIZE])
{
    char text[SALI_NUMBER_SIZE] = "";
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) {
            break;
        }
    }
    bool point = false;
    for (const char *from = text; *from; from++) {
        bool plain = strchr("0123456789+-aefin", *from);
        if (plain || !point) {
            *out++ = (char)(plain ? *from : '.');
        }
        point = !plain;
    }
    *out = '\0';
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sali_sort_doubles(int64_t n, double *values)
{
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
}
