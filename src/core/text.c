#include "core/text.h"

#include <stdio.h>
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
