/* SPDX-License-Identifier: MIT */
#include "io/json_scan.h"

json_t *sali_json_scan(sali_scan *scan, const char *text, int64_t size)
{
    json_error_t wrong;
    json_t *value = scan->status == SAL_OK
                        ? json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, &wrong)
                        : NULL;
    if (scan->status == SAL_OK && !value) {
        if (json_error_code(&wrong) == json_error_out_of_memory) {
            sali_scan_granted(scan, false);
        } else {
            char shown[SALI_SHOW_SIZE];
            int64_t line = sali_scan_line_of(scan, text) + (wrong.line > 0 ? wrong.line - 1 : 0);
            sali_scan_fail(scan, line, "no valid JSON: %s", sali_show(wrong.text, -1, shown));
        }
    }
    return value;
}

/* The type of a JSON value for messages. */
static const char *type_name(json_type type)
{
    return type == JSON_STRING   ? "a text"
           : type == JSON_ARRAY  ? "a list"
           : type == JSON_OBJECT ? "an object"
                                 : "a number";
}

json_t *sali_json_member(sali_scan *scan, const json_t *object, const char *key, json_type type)
{
    json_t *value = json_object_get(object, key);
    bool fits = value && (type == JSON_REAL ? json_is_number(value) : json_typeof(value) == type);
    if (!fits) {
        sali_scan_refuse(scan, "\"%s\" is %s; expected %s", key,
                         value ? "of another type" : "missing", type_name(type));
    }
    return scan->status == SAL_OK ? value : NULL;
}

double sali_json_member_number(sali_scan *scan, const json_t *object, const char *key,
                               const char *what, int64_t index)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) {
        sali_scan_refuse(scan, "%s number %lld: expected a number \"%s\"", what, (long long)index,
                         key);
    }
    return scan->status == SAL_OK ? json_number_value(value) : 0;
}
