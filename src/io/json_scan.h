/* SPDX-License-Identifier: MIT */
/* JSON within a file that is being scanned. */
#ifndef SALI_JSON_SCAN_H
#define SALI_JSON_SCAN_H

#include <jansson.h>

#include "io/scan.h"

/* The JSON value of `size` characters of the scanned text, to be released by json_decref. NULL
 * after a failure, which names the line; an object with one key twice is one. */
json_t *sali_json_scan(sali_scan *scan, const char *text, int64_t size);

/* The member `key` of an object, which must have this type; JSON_REAL: any number. NULL after a
 * failure. */
json_t *sali_json_member(sali_scan *scan, const json_t *object, const char *key, json_type type);

/* The number `key` of an object, which is entry `index` of the list `what`; 0 after a failure. */
double sali_json_member_number(sali_scan *scan, const json_t *object, const char *key,
                               const char *what, int64_t index);

/* The value of an integer of at least 0; -1 if `value` is none. */
static inline int64_t sali_json_index(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0
               ? (int64_t)json_integer_value(value)
               : -1;
}

#endif
