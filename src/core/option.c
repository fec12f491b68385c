/* SPDX-License-Identifier: MIT */
#include "core/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/number.h"

/* ---- numbers in the struct */

static bool is_number(const sali_option *o)
{
    return o->kind != SAL_OPTION_FLAG && o->kind != SAL_OPTION_TEXT;
}

double sali_field_number(sal_option_kind kind, const void *field)
{
    switch (kind) {
    case SAL_OPTION_FLAG:
        return *(const bool *)field;
    case SAL_OPTION_WHOLE:
        return (double)*(const int64_t *)field;
    case SAL_OPTION_INT:
    case SAL_OPTION_WORD:
        return *(const int *)field;
    case SAL_OPTION_SEED:
        return (double)*(const uint64_t *)field;
    case SAL_OPTION_REAL:
        return *(const double *)field;
    case SAL_OPTION_TEXT:
        break;
    }
    return 0;
}

/* The present value of option `o` in the struct `options`. */
static double number_of(const sali_option *o, const void *options)
{
    return sali_field_number(o->kind, (const char *)options + o->offset);
}

/* Write the field of option `o`: flags, integers, seeds and words take `whole`, reals `real`, texts
 * `text`; the other two arguments are ignored. */
static void put_value(const sali_option *o, void *options, int64_t whole, double real,
                      const char *text)
{
    void *at = (char *)options + o->offset;
    switch (o->kind) {
    case SAL_OPTION_FLAG:
        *(bool *)at = whole != 0;
        break;
    case SAL_OPTION_WHOLE:
    case SAL_OPTION_SEED:
        memcpy(at, &whole, sizeof whole);
        break;
    case SAL_OPTION_INT:
    case SAL_OPTION_WORD:
        *(int *)at = (int)whole;
        break;
    case SAL_OPTION_REAL:
        *(double *)at = real;
        break;
    case SAL_OPTION_TEXT:
        *(const char **)at = text;
        break;
    }
}

static const char *text_in(const sali_option *o, const void *options)
{
    return *(const char *const *)(const void *)((const char *)options + o->offset);
}

bool sali_option_is_zero(const sali_option *o, const void *options)
{
    return o->kind == SAL_OPTION_TEXT ? !text_in(o, options) : number_of(o, options) == 0;
}

void sali_option_copy(const sali_option *o, const void *from, void *to)
{
    const char *at = (const char *)from + o->offset;
    int64_t whole = 0;
    if (o->kind == SAL_OPTION_WHOLE || o->kind == SAL_OPTION_SEED) {
        memcpy(&whole, at, sizeof whole); /* a double has not all of them */
    } else {
        whole = o->kind == SAL_OPTION_REAL ? 0 : (int64_t)number_of(o, from);
    }
    put_value(o, to, whole, number_of(o, from),
              o->kind == SAL_OPTION_TEXT ? text_in(o, from) : NULL);
}

/* ---- ranges */

static double highest_value(const sali_option *o)
{
    int n = 0;
    while (o->words && o->words[n]) {
        n++;
    }
    return o->words ? n - 1 : o->high;
}

static bool in_range(const sali_option *o, double x)
{
    bool from = o->range & SALI_ABOVE ? x > o->low : x >= o->low;
    bool to = o->range & SALI_BELOW ? x < o->high : x <= highest_value(o);
    return (from && to) || (x == -1 && o->range & SALI_OR_MINUS_ONE);
}

/* Whether 0 in the struct stands for the default value. */
static bool zero_is_default(const sali_option *o)
{
    return is_number(o) && (o->range & SALI_OR_NONE || !in_range(o, 0));
}

static sal_status check_given(bool given, sal_error *err)
{
    return given ? SAL_OK
                 : sali_fail(err, SAL_ERR_ARGUMENT,
                             "options: expected a table, options, a name and a text; one is NULL");
}

/* Write what values option `o` accepts: "an integer from 1 to 4096", "a number above 0", "a time
 * ..". */
static void describe_range(const sali_option *o, char text[SALI_OPTION_ROOM])
{
    const double high = highest_value(o);
    if (o->range & SALI_TIME) {
        snprintf(text, SALI_OPTION_ROOM, "a time such as 10s, 2m or 1h");
        return;
    }
    const char *kind = o->kind == SAL_OPTION_REAL ? "a number" : "an integer";
    char to[SALI_NUMBER_SIZE] = " or more";
    if (high < 1e300) {
        snprintf(to, sizeof to, o->range & SALI_BELOW ? " to below %.*g" : " to %.*g",
                 o->kind == SAL_OPTION_REAL ? 6 : 19, high);
    }
    snprintf(text, SALI_OPTION_ROOM, "%s %s %g%s%s", kind,
             o->range & SALI_ABOVE ? "above"
             : high < 1e300        ? "from"
                                   : "of",
             o->low, o->range & SALI_ABOVE && high >= 1e300 ? "" : to,
             o->range & SALI_OR_MINUS_ONE ? ", or -1" : "");
}

sal_status sal_option_resolve(const sal_option_table *table, void *options, sal_error *err)
{
    sal_status status = check_given(table && options, err);
    for (int64_t k = 0; status == SAL_OK && k < table->n; k++) {
        const sali_option *o = &table->options[k];
        const double x = number_of(o, options);
        if (x == 0 && zero_is_default(o)) {
            put_value(o, options, (int64_t)o->fill, o->fill, NULL);
        } else if (is_number(o) && !in_range(o, x) && !(x == -1 && o->range & SALI_OR_NONE)) {
            char expected[SALI_OPTION_ROOM];
            describe_range(o, expected);
            return sali_fail(err, SAL_ERR_ARGUMENT, "%s%s is %.*g; expected %s", table->what,
                             o->field, o->kind == SAL_OPTION_REAL ? 6 : 19, x, expected);
        }
    }
    return status;
}

/* ---- texts */

/* Write the number of option `o` as the text that would set it, the default in place of 0; "" if
 * the default is not known here. */
static void print_number(const sali_option *o, const void *options, char room[SALI_NUMBER_SIZE])
{
    const void *at = (const char *)options + o->offset;
    double x = number_of(o, options);
    x = x == 0 && zero_is_default(o) ? o->fill : x;
    if (x == -1 && o->range & SALI_OR_NONE) {
        strcpy(room, "0");
    } else if (x == 0 && zero_is_default(o)) {
        room[0] = '\0';
    } else if (o->kind == SAL_OPTION_SEED) {
        snprintf(room, SALI_NUMBER_SIZE, "%llu", (unsigned long long)*(const uint64_t *)at);
    } else if (o->kind == SAL_OPTION_WHOLE && *(const int64_t *)at != 0) {
        snprintf(room, SALI_NUMBER_SIZE, "%lld", (long long)*(const int64_t *)at);
    } else if (o->kind != SAL_OPTION_REAL) { /* an int, or what fills a 0 */
        snprintf(room, SALI_NUMBER_SIZE, "%lld", (long long)x);
    } else if (isfinite(x)) {
        sali_format_double(x, room);
    } else {
        room[0] = '\0';
    }
}

static const char *text_of(const sali_option *o, const void *options, char room[SALI_NUMBER_SIZE])
{
    const double x = number_of(o, options);
    if (o->kind == SAL_OPTION_TEXT) {
        const char *text = text_in(o, options);
        return text ? text : "";
    }
    if (o->kind == SAL_OPTION_WORD) {
        return in_range(o, x) ? o->words[(int)x] : "";
    }
    if (o->kind == SAL_OPTION_FLAG) {
        return x != 0 ? "yes" : "no";
    }
    print_number(o, options, room);
    return room;
}

/* The place of a text in a list, or -1. */
static int place_of(const char *text, const char *const *words)
{
    int k = 0;
    while (words[k] && strcmp(words[k], text) != 0) {
        k++;
    }
    return words[k] && text[0] ? k : -1;
}

/* Read "90", "90s", "10m" or "2h" as seconds; false: the text is none of these. */
static bool read_time(const char *text, int64_t size, double *seconds)
{
    static const char units[] = "smh";
    static const double factors[] = { 1, 60, 3600 };
    const char *unit = size > 0 ? strchr(units, text[size - 1]) : NULL;
    const bool ok = sali_parse_double(text, size - (unit != NULL), seconds) == SAL_OK;
    *seconds *= unit ? factors[unit - units] : 1;
    return ok;
}

/* Set option `o` from `text`; false: the text is no value or out of range, and the struct is
 * untouched. */
static bool set_option(const sali_option *o, void *options, const char *text)
{
    static const char *const truths[] = { "no", "yes", NULL };
    const int64_t size = (int64_t)strlen(text);
    int64_t whole = 0;
    double x = 0;
    bool ok = true;
    if (o->kind == SAL_OPTION_FLAG || o->kind == SAL_OPTION_WORD) {
        whole = place_of(text, o->words ? o->words : truths);
        ok = whole >= 0;
    } else if (o->kind == SAL_OPTION_SEED) {
        errno = 0;
        whole = (int64_t)strtoull(text, NULL, 10);
        ok = size > 0 && strspn(text, "0123456789") == (size_t)size && errno == 0;
    } else if (o->kind == SAL_OPTION_REAL) {
        ok = o->range & SALI_TIME ? read_time(text, size, &x)
                                  : sali_parse_double(text, size, &x) == SAL_OK;
    } else if (o->kind != SAL_OPTION_TEXT) {
        ok = sali_parse_int(text, size, &whole) == SAL_OK;
        x = (double)whole;
    }
    if (ok && x == 0 && o->range & SALI_OR_NONE) {
        x = -1;
        whole = -1;
    } else if (o->kind == SAL_OPTION_REAL || o->kind == SAL_OPTION_WHOLE ||
               o->kind == SAL_OPTION_INT) {
        ok = ok && in_range(o, x);
    }
    if (ok) {
        put_value(o, options, whole, x, text);
    }
    return ok;
}

/* The rest of `name` after the option's name, with '_' for '-'; NULL if it does not begin so. */
static const char *after_name(const sali_option *o, const char *name)
{
    const char *own = o->name;
    while (*own && (*own == *name || (*own == '-' && *name == '_'))) {
        own++;
        name++;
    }
    return *own ? NULL : name;
}

static bool is_called(const sali_option *o, const char *name)
{
    const char *rest = after_name(o, name);
    return rest && !*rest;
}

bool sali_option_is_among(const sali_option *o, const char *names)
{
    const char *at = names, *rest = after_name(o, at);
    while (!(rest && (!*rest || *rest == ','))) {
        at = strchr(at, ',');
        if (!at) {
            return false;
        }
        rest = after_name(o, ++at);
    }
    return true;
}

/* The options called `name`, which follow each other in the table, begin at *first. Returns how
 * many. */
static int64_t find_options(const sal_option_table *table, const char *name,
                            const sali_option **first)
{
    int64_t k = 0, n = 0;
    while (k < table->n && !is_called(&table->options[k], name)) {
        k++;
    }
    *first = &table->options[k];
    while (k + n < table->n && is_called(&table->options[k + n], name)) {
        n++;
    }
    return n;
}

static sal_status not_found(const sal_option_table *table, const char *name, sal_error *err)
{
    return sali_fail(err, SAL_ERR_NOT_FOUND, "%sno option '%.100s'", table->what, name);
}

bool sal_option_list(const sal_option_table *table, int64_t index, sal_option_info *info)
{
    if (!table || !info || index < 0 || index >= table->n) {
        return false;
    }
    const sali_option *o = &table->options[index];
    *info = (sal_option_info){ o->name, o->field, o->kind, o->values, o->usual, o->doc, o->resume };
    return true;
}

sal_status sal_option_set(const sal_option_table *table, void *options, const char *name,
                          const char *text, sal_error *err)
{
    const sali_option *o;
    sal_status status = check_given(table && options && name && text, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t n = find_options(table, name, &o);
    int64_t k = 0;
    while (k < n && !set_option(&o[k], options, text)) {
        k++;
    }
    if (n == 0) {
        return not_found(table, name, err);
    }
    if (k == n) {
        char expected[SALI_OPTION_ROOM];
        describe_range(o, expected);
        const bool flag = o[n - 1].kind == SAL_OPTION_FLAG; /* perhaps as its second form */
        const char *values = o->values ? o->values : "";
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s %.200s: expected %s%s%s", o->name, text,
                         flag ? "yes|no" : "", flag && values[0] ? " or " : "",
                         flag || strchr(values, '|') ? values : expected);
    }
    for (int64_t other = 0; other < n; other++) {
        if (other != k) { /* the last word counts */
            put_value(&o[other], options, 0, 0, NULL);
        }
    }
    return SAL_OK;
}

sal_status sal_option_get(const sal_option_table *table, const void *options, const char *name,
                          char *text, size_t room, sal_error *err)
{
    const sali_option *o;
    char own[SALI_NUMBER_SIZE];
    const char *value = "";
    sal_status status = check_given(table && options && name && text, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t n = find_options(table, name, &o);
    for (int64_t k = 0; k < n && !value[0]; k++) {
        value = text_of(&o[k], options, own);
    }
    snprintf(text, room, "%s", value);
    return n > 0 ? SAL_OK : not_found(table, name, err);
}
