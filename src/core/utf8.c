/* SPDX-License-Identifier: MIT */
#include "core/utf8.h"

#include <string.h>

#include "core/alloc.h"

char *sali_utf8_valid(const char *text)
{
    const char *end = text + strlen(text);
    char *valid = sali_alloc(end - text + 1, 3); /* U+FFFD takes three bytes */
    char *to = valid;
    while (valid && text < end) {
        int32_t code = sali_utf8_next(&text, end);
        to += sali_utf8_put(code < 0 ? SALI_UTF8_REPLACEMENT : code, to);
    }
    return valid;
}
