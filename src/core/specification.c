/* SPDX-License-Identifier: MIT */
#include "core/specification.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"

static const sal_setting none[] = { { 0 } };

size_t sali_specification_name(const char *specification)
{
    return strcspn(specification, ":");
}

const char *sali_specification_find(const char *specification, const char *key, size_t length)
{
    const char *at = strchr(specification, ':');
    while (at && (strncmp(at + 1, key, length) != 0 || at[1 + length] != '=')) {
        at = strchr(at + 1, ',');
    }
    return at ? at + length + 2 : NULL;
}

int64_t sali_setting_words(const sal_setting *setting)
{
    int64_t n = 0;
    while (setting->choices && setting->choices[n]) {
        n++;
    }
    return n;
}

bool sali_setting_takes_numbers(const sal_setting *setting)
{
    return !setting->choices || setting->high >= setting->low + (double)sali_setting_words(setting);
}

const char *sali_setting_word(const sal_setting *setting, double value)
{
    const double place = value - setting->low;
    const bool named = place >= 0 && place < (double)sali_setting_words(setting);
    return named && place == floor(place) ? setting->choices[(int64_t)place] : NULL;
}

void sali_specification_keys(const sal_setting *settings, char *text, size_t room)
{
    text[0] = '\0';
    for (const sal_setting *p = settings ? settings : none; p->name; p++) {
        size_t used = strlen(text);
        const char *comma = used ? ", " : "";
        const char *word = sali_setting_word(p, p->standard);
        if (word) {
            snprintf(text + used, room - used, "%s%s=%s", comma, p->name, word);
        } else {
            snprintf(text + used, room - used, "%s%s=%g", comma, p->name, p->standard);
        }
    }
}

/* Find the value that the word `text` stands for; false: the setting has no such word. */
static bool find_word(const sal_setting *p, const char *text, double *value)
{
    for (int64_t k = 0; k < sali_setting_words(p); k++) {
        if (strcmp(p->choices[k], text) == 0) {
            *value = p->low + (double)k;
            return true;
        }
    }
    return false;
}

/* Read `text` as a number that setting `p` accepts; false if it is none, out of range, not whole
 * where it must be, or the number of a word. */
static bool find_number(const sal_setting *p, const char *text, double *out)
{
    double value;
    if (!sali_setting_takes_numbers(p) ||
        sali_parse_double(text, (int64_t)strlen(text), &value) != SAL_OK ||
        !(value >= p->low && value <= p->high) || (p->whole && value != floor(value)) ||
        sali_setting_word(p, value)) {
        return false;
    }
    *out = value;
    return true;
}

/* "adapt or an integer from 0 to 100" */
static void list_values(const sal_setting *p, char *text, size_t room)
{
    size_t used = 0;
    for (int64_t k = 0; k < sali_setting_words(p) && used < room; k++) {
        used += (size_t)snprintf(text + used, room - used, "%s%s", k ? " or " : "", p->choices[k]);
    }
    if (sali_setting_takes_numbers(p) && used < room) {
        const double words = (double)sali_setting_words(p); /* their numbers are refused */
        const char *kind = p->whole    ? "an integer from"
                           : words > 0 ? "a number above"
                                       : "a number from";
        snprintf(text + used, room - used, "%s%s %g to %g", used ? " or " : "", kind,
                 p->low + (p->whole ? words : 0), p->high);
    }
}

/* Read the value of setting `p`, a word or a number. SAL_ERR_ARGUMENT says what is accepted;
 * `owner` is the name before the ':'. */
static sal_status parse_value(const char *owner, const sal_setting *p, const char *text,
                              double *value, sal_error *err)
{
    char values[192] = "";
    if (find_word(p, text, value) || find_number(p, text, value)) {
        return SAL_OK;
    }
    list_values(p, values, sizeof values);
    return sali_fail(err, SAL_ERR_ARGUMENT, "%s: %s=%s; expected %s", owner, p->name, text, values);
}

/* Read one "key=value" of `length` characters into values[k] and mark given[k]. SAL_ERR_ARGUMENT if
 * there is no such key, it was given before, or the value is not accepted. */
static sal_status parse_pair(const char *owner, const sal_setting *settings, const char *pair,
                             size_t length, double *values, bool *given, sal_error *err)
{
    char text[128], keys[512];
    const char *equals = memchr(pair, '=', length);
    sali_specification_keys(settings, keys, sizeof keys);
    if (!equals || length >= sizeof text) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: '%.*s'; expected key=value with keys %s",
                         owner, (int)(length < 100 ? length : 100), pair, keys[0] ? keys : "none");
    }
    memcpy(text, pair, length);
    text[length] = '\0';
    text[equals - pair] = '\0';
    sal_nearest nearest = sal_nearest_begin(text);
    for (int k = 0; settings[k].name; k++) {
        const sal_setting *p = &settings[k];
        if (strcmp(p->name, text) == 0) {
            const char *value = text + (equals - pair) + 1;
            if (given[k]) {
                return sali_fail(err, SAL_ERR_ARGUMENT, "%s: '%s' is given twice", owner, text);
            }
            given[k] = true;
            return parse_value(owner, p, value, &values[k], err);
        }
        sal_nearest_offer(&nearest, p->name);
    }
    return sali_fail(err, SAL_ERR_ARGUMENT, "%s has no setting '%s'; %s%s has %s", owner, text,
                     sal_nearest_hint(&nearest, ""), nearest.name ? " It" : "it",
                     keys[0] ? keys : "none");
}

sal_status sali_specification_values(const char *specification, const sal_setting *settings,
                                     double *values, sal_error *err)
{
    char owner[64];
    bool given[SAL_SETTINGS] = { false };
    size_t length = sali_specification_name(specification);
    settings = settings ? settings : none;
    snprintf(owner, sizeof owner, "%.*s", (int)(length < 60 ? length : 60), specification);
    for (int k = 0; settings[k].name; k++) {
        values[k] = settings[k].standard;
    }
    const char *at = specification + length;
    while (*at) {
        at++; /* skip the ':' or ',' before the pair */
        size_t pair = strcspn(at, ",");
        sal_status status = parse_pair(owner, settings, at, pair, values, given, err);
        if (status != SAL_OK) {
            return status;
        }
        at += pair;
    }
    return SAL_OK;
}

/* The text after "key=", at the start of a pair; NULL without such a pair. */
static char *find_pair(char *specification, const char *key)
{
    size_t length = strlen(key);
    char *at = specification + sali_specification_name(specification);
    while (*at) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            return at + length + 1;
        }
        at += strcspn(at, ",");
    }
    return NULL;
}

sal_status sali_specification_take(char *specification, const char *key, char **value,
                                   sal_error *err)
{
    char *text = find_pair(specification, key);
    *value = NULL;
    if (!text) {
        return SAL_OK;
    }
    size_t length = strcspn(text, ",");
    char *copy = sali_alloc((int64_t)length + 1, 1);
    if (!copy) {
        return sali_fail_memory(err);
    }
    memcpy(copy, text, length);
    char *begin = text - strlen(key) - 1, *rest = text + length;
    begin -= *rest == '\0'; /* the last pair goes with the ':' or ',' before it */
    rest += *rest == ',';
    memmove(begin, rest, strlen(rest) + 1);
    if (length == 0 || find_pair(specification, key)) {
        sali_free(copy);
        return sali_fail(err, SAL_ERR_ARGUMENT, "%.*s: %s= is %s",
                         (int)sali_specification_name(specification), specification, key,
                         length == 0 ? "empty" : "given twice");
    }
    *value = copy;
    return SAL_OK;
}

sal_status sali_specification_until(const char *until, const sal_setting *aims,
                                    double values[SAL_SETTINGS], sal_error *err)
{
    char text[256];
    if (snprintf(text, sizeof text, "until:%s", until) >= (int)sizeof text) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "until: the text is longer than %zu letters",
                         sizeof text - 7);
    }
    return sali_specification_values(text, aims, values, err);
}
