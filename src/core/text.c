/* SPDX-License-Identifier: MIT */
#include "core/text.h"

#include <string.h>

void sali_list_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used ? ", " : "", name);
}

bool sali_has_suffix(const char *text, const char *suffix)
{
    size_t length = text ? strlen(text) : 0, n = strlen(suffix);
    return length > n && strcmp(text + length - n, suffix) == 0;
}

void sali_print_wrapped(const char *text, FILE *stream)
{
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > 78) {
            fputc('\n', stream);
            column = 0;
        }
        column += (size_t)fprintf(stream, "%s%.*s", column ? " " : "", (int)word, text);
        text += word + (text[word] == ' ');
    }
    fputc('\n', stream);
}
