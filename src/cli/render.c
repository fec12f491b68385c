/* SPDX-License-Identifier: MIT */
/* JSON objects as text for people. */
#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field of a template, "{key:how}" or "{key}". */
typedef struct field {
    const json_t *value; /* NULL: the object has none, or null */
    char how[32];
    size_t length; /* characters of the field in the template */
} field;

/* The field that the text of a template begins with, and its value in the object. */
static field read_field(const json_t *object, const char *text)
{
    const size_t length = strcspn(text, "}"), key = strcspn(text + 1, ":}");
    char name[32];
    field f = { .length = length + 1 };
    snprintf(name, sizeof name, "%.*s", (int)key, text + 1);
    if (key + 2 < length) {
        snprintf(f.how, sizeof f.how, "%.*s", (int)(length - key - 2), text + key + 2);
    }
    f.value = json_object_get(object, name);
    f.value = json_is_null(f.value) ? NULL : f.value;
    return f;
}

/* Whether the object has values for all fields of an optional part, "<..>". */
static bool has_fields(const json_t *object, const char *part)
{
    for (; *part != '>'; part++) {
        if (*part == '{' && !read_field(object, part).value) {
            return false;
        }
    }
    return true;
}

/* Print the first word of "yes|no", or the second, if there is one. */
static void print_word(const char *words, bool first)
{
    const char *bar = strchr(words, '|');
    if (first) {
        printf("%.*s", (int)strcspn(words, "|"), words);
    } else if (bar) {
        fputs(bar + 1, stdout);
    }
}

/* Print a value by `how` (see cli_render); NULL is printed as "nan". */
static void print_value(const json_t *value, const char *how)
{
    char format[40];
    const size_t items = json_array_size(value);
    if (json_is_boolean(value) || (json_is_array(value) && items == 0)) {
        print_word(how, json_is_true(value));
    } else if (json_is_integer(value)) {
        printf("%*lld", atoi(how), (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        snprintf(format, sizeof format, "%%%s", how);
        printf(format, json_real_value(value));
    } else if (json_is_string(value)) {
        printf("%*s", atoi(how), json_string_value(value));
    } else if (!value) {
        printf("%*s", atoi(how), "nan");
    }
    for (size_t k = 0; k < items; k++) {
        print_word(k > 0 ? how : "", true);
        print_value(json_array_get(value, k), "");
    }
}

void cli_render(const json_t *object, const char *template)
{
    for (const char *text = template; *text; text++) {
        if (*text == '{') {
            const field f = read_field(object, text);
            print_value(f.value, f.how);
            text += f.length - 1;
        } else if (*text == '<' && !has_fields(object, text)) {
            text = strchr(text, '>');
        } else if (*text != '<' && *text != '>') {
            putchar(*text);
        }
    }
}
