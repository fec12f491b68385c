/* SPDX-License-Identifier: MIT */
#include "flat/json.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* Digits that keep every double. */
#define DIGITS 17

json_t *sali_flat_real(double value)
{
    return isfinite(value) ? json_real(value)
           : isnan(value)  ? json_null()
                           : json_string(value > 0 ? "inf" : "-inf");
}

void sali_flat_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, sali_flat_real(value));
}

json_t *sali_flat_text(const char *text)
{
    return text && text[0] ? sali_json_text(text) : json_null();
}

json_t *sali_flat_reals(int64_t n, const double *values)
{
    json_t *array = values ? json_array() : json_null();
    for (int64_t k = 0; values && k < n; k++) {
        json_array_append_new(array, sali_flat_real(values[k]));
    }
    return array;
}

sal_status sali_flat_give(json_t *object, char **json, sal_error *err)
{
    /* the text belongs to users, who free it by sal_free */
    const size_t flags = JSON_REAL_PRECISION(DIGITS) | JSON_ENCODE_ANY;
    const size_t size = object ? json_dumpb(object, NULL, 0, flags) : 0;
    char *text = size > 0 ? sali_alloc((int64_t)size + 1, 1) : NULL;
    if (text) {
        json_dumpb(object, text, size, flags);
    }
    json_decref(object);
    if (!text) {
        return sali_fail_memory(err);
    }
    *json = text;
    return SAL_OK;
}

json_t *sali_flat_seed(uint64_t seed)
{
    return seed > INT64_MAX ? json_sprintf("%llu", (unsigned long long)seed)
                            : json_integer((json_int_t)seed);
}

/* The field at `at` as a JSON value. */
static json_t *value_of(const void *at, sali_flat_kind kind)
{
    switch (kind) {
    case SALI_FLAT_REAL:
        return sali_flat_real(*(const double *)at);
    case SALI_FLAT_WHOLE:
        return json_integer(*(const int64_t *)at);
    case SALI_FLAT_TRUTH:
        return json_boolean(*(const bool *)at);
    case SALI_FLAT_SEED:
        return sali_flat_seed(*(const uint64_t *)at);
    case SALI_FLAT_TEXT:
        break;
    }
    return sali_flat_text(*(const char *const *)at);
}

json_t *sali_flat_record(const void *record, const sali_flat_field *fields)
{
    json_t *object = json_object();
    for (const sali_flat_field *f = fields; f->key; f++) {
        json_object_set_new(object, f->key, value_of((const char *)record + f->offset, f->kind));
    }
    return object;
}
