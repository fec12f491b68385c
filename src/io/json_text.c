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
#include "io/checksum.h"
#include "io/file.h"

json_t *sali_json_text(const char *text)
{
    char *valid = sali_utf8_valid(text);
    json_t *string = valid ? json_string(valid) : NULL;
    sali_free(valid);
    return string;
}

/* ---- files */

/* The checksum h continued by a value: of what it is, not of how it is spelt, which differs between
 * versions of Jansson. Members of an object may come in any order. Depth is limited by Jansson. */
static uint64_t add_value(uint64_t h, const json_t *value)
{
    const uint64_t type = htole64((uint64_t)json_typeof(value));
    h = sali_checksum(h, &type, sizeof type);
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        uint64_t sum = 0;
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
        {
            sum += add_value(sali_checksum(SALI_CHECKSUM_START, key, (int64_t)strlen(key) + 1),
                             member);
        }
        sum = htole64(sum);
        return sali_checksum(h, &sum, sizeof sum);
    }
    if (json_is_array(value)) {
        for (size_t k = 0; k < json_array_size(value); k++) {
            h = add_value(h, json_array_get(value, k));
        }
        return h;
    }
    uint64_t bits = (uint64_t)json_integer_value(value);
    if (json_is_real(value)) {
        const double real = json_real_value(value);
        memcpy(&bits, &real, sizeof bits);
    }
    bits = htole64(bits);
    return json_is_string(value)
               ? sali_checksum(h, json_string_value(value), (int64_t)json_string_length(value) + 1)
               : sali_checksum(h, &bits, sizeof bits);
}

sal_status sali_json_write(json_t *object, const char *path, sal_error *err)
{
    char checksum[SALI_CHECKSUM_TEXT], *text = NULL;
    if (object) {
        sali_checksum_text(add_value(SALI_CHECKSUM_START, object), checksum);
        const bool set = json_object_set_new(object, SALI_CHECKSUM_KEY, json_string(checksum)) == 0;
        text = set ? json_dumps(object, JSON_INDENT(1)) : NULL; /* reals with all their digits */
    }
    json_decref(object);
    if (!text) {
        return sali_fail_memory(err);
    }
    sal_status status = sal_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}

sal_status sali_json_unseal(json_t *value, const char *path, sal_error *err)
{
    json_t *given = json_object_get(value, SALI_CHECKSUM_KEY);
    if (!given) {
        return SAL_OK;
    }
    char found[SALI_CHECKSUM_TEXT];
    json_incref(given);
    json_object_del(value, SALI_CHECKSUM_KEY);
    sali_checksum_text(add_value(SALI_CHECKSUM_START, value), found);
    const bool same = json_is_string(given) && strcmp(json_string_value(given), found) == 0;
    json_decref(given);
    return same ? SAL_OK
                : sali_fail(err, SAL_ERR_DATA,
                            "%s: the file is damaged: it is not what was written. Take another "
                            "copy (if you changed it on purpose, take \"" SALI_CHECKSUM_KEY
                            "\" out of it)",
                            path);
}

sal_status sali_json_read(const char *path, json_t **out, sal_error *err)
{
    sali_bytes bytes = { 0 };
    json_t *value = NULL;
    sal_status status = sali_file_read(path, &bytes, err);
    if (status == SAL_OK) {
        value = json_loadb((const char *)bytes.data, (size_t)bytes.size, 0, NULL);
        status = sali_json_unseal(value, path, err);
    }
    sali_bytes_free(&bytes);
    *out = NULL;
    return SALI_GIVE(status, value, out, json_decref);
}

/* ---- values and options */

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
