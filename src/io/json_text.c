#include "io/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/utf8.h"
#include "io/file.h"

/* What stands for a byte that is no UTF-8. */
#define REPLACEMENT 0xfffd

json_t *sali_json_text(const char *text)
{
    size_t size = strlen(text), used = 0;
    char *valid = malloc(3 * size + 1); /* U+FFFD takes three bytes */
    if (!valid) {
        return NULL;
    }
    for (const char *at = text, *end = text + size; at < end;) {
        int32_t code = sali_utf8_next(&at, end);
        used += (size_t)sali_utf8_put(code < 0 ? REPLACEMENT : code, valid + used);
    }
    json_t *string = json_stringn(valid, used);
    free(valid);
    return string;
}

sal_status sali_json_write(json_t *object, size_t flags, const char *path, sal_error *err)
{
    char *text = object ? json_dumps(object, flags) : NULL;
    json_decref(object);
    if (!text) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}
