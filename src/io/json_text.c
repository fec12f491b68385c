#include "io/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/utf8.h"
#include "io/file.h"

json_t *sali_json_text(const char *text)
{
    char *valid = sali_utf8_valid(text);
    json_t *string = valid ? json_string(valid) : NULL;
    sali_free(valid);
    return string;
}

sal_status sali_json_read(const char *path, json_t **out, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sal_status status = sali_file_read(path, &bytes, err);
    if (status == SAL_OK) {
        *out = json_loadb((const char *)bytes.data, (size_t)bytes.size, 0, NULL);
    }
    sali_bytes_free(&bytes);
    return status;
}

double sali_json_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

sal_status sali_json_write(json_t *object, size_t flags, const char *path, sal_error *err)
{
    char *text = object ? json_dumps(object, flags) : NULL;
    json_decref(object);
    if (!text) {
        return sali_fail_memory(err);
    }
    sal_status status = sal_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}
