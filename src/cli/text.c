/* SPDX-License-Identifier: MIT */
#include "cli/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_has_suffix(const char *text, const char *suffix)
{
    size_t length = text ? strlen(text) : 0, n = strlen(suffix);
    return length > n && strcmp(text + length - n, suffix) == 0;
}

/* ---- numbers; the program keeps the locale "C" */

/* Whether all `size` characters are in `among`: strtod also takes "nan" and "0x1". */
static bool are_of(const char *text, size_t size, const char *among)
{
    return size > 0 && strspn(text, among) >= size;
}

bool cli_parse_int(const char *text, size_t size, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!are_of(text, size, "+-0123456789") || end != text + size || errno != 0) {
        return false;
    }
    *out = value;
    return true;
}

bool cli_parse_real(const char *text, size_t size, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (!are_of(text, size, "+-.eE0123456789") || end != text + size || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

bool cli_path(char path[CLI_PATH], const char *directory, const char *name)
{
    return snprintf(path, CLI_PATH, "%s/%s", directory, name) < CLI_PATH;
}

void cli_list_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used ? ", " : "", name);
}

/* ---- specifications */

char *cli_find_setting(const char *specification, const char *key)
{
    const size_t length = strlen(key);
    char *at = strchr(specification, ':');
    while (at && (strncmp(at + 1, key, length) != 0 || at[1 + length] != '=')) {
        at = strchr(at + 1, ',');
    }
    return at ? at + length + 2 : NULL;
}

void cli_drop_setting(char *value)
{
    char *from = value;
    while (from && *from != ':' && *from != ',') {
        from--;
    }
    if (from) {
        const char *rest = value + strcspn(value, ",");
        const bool first = *from == ':' && *rest; /* the first of several: keep the colon */
        memmove(from + first, rest + first, strlen(rest + first) + 1);
    }
}
