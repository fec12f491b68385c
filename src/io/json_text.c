/* SPDX-License-Identifier: MIT */
#include "io/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
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

/* The JSON value of an option's text: null for "", else a boolean, number or string by its kind. */
static json_t *option_value(sal_option_kind kind, const char *text)
{
    const int64_t size = (int64_t)strlen(text);
    int64_t whole;
    double real;
    if (size == 0) {
        return json_null();
    }
    if (kind == SAL_OPTION_FLAG) {
        return json_boolean(strcmp(text, "yes") == 0);
    }
    if (kind != SAL_OPTION_REAL && kind != SAL_OPTION_TEXT &&
        sali_parse_int(text, size, &whole) == SAL_OK) {
        return json_integer(whole);
    }
    return kind == SAL_OPTION_REAL && sali_parse_double(text, size, &real) == SAL_OK
               ? json_real(real)
               : sali_json_text(text);
}

static void make_key(const sal_option_info *info, char key[64])
{
    snprintf(key, 64, "%s", info->name);
    for (char *c = key; *c; c++) {
        *c = *c == '-' ? '_' : *c;
    }
}

bool sali_json_is_option(const char *key, const sal_option_info *info)
{
    char own[64];
    make_key(info, own);
    return strcmp(own, key) == 0;
}

bool sali_json_set_option(json_t *object, const sal_option_info *info, const char *text)
{
    char key[64];
    make_key(info, key);
    return json_object_set_new(object, key, option_value(info->kind, text)) == 0;
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
