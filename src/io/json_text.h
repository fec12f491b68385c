/* SPDX-License-Identifier: MIT */
/* JSON objects as files, and any text as a JSON string. */
#ifndef SALI_JSON_TEXT_H
#define SALI_JSON_TEXT_H

#include <jansson.h>

#include <saltus/options.h>
#include <saltus/program.h>

/* `text` as a JSON string. JSON is UTF-8: invalid bytes, which paths may have, become U+FFFD. NULL:
 * out of memory. */
json_t *sali_json_text(const char *text);

/* Read the JSON value of a file; *out is NULL if it is not JSON. Returns: those of sali_file_read
 * and sali_json_unseal, on which *out is NULL. */
sal_status sali_json_read(const char *path, json_t **out, sal_error *err);

/* The number `key` of an object; NaN if there is none. */
double sali_json_number(const json_t *object, const char *key);

/* Set an option in an object, from the text of sal_option_get: as a number, a boolean or a string;
 * "" becomes null. The key is the option's name with '_' for '-'. False: out of memory. */
bool sali_json_set_option(json_t *object, const sal_option_info *info, const char *text);

/* Whether `key` is the key of an option. */
bool sali_json_is_option(const char *key, const sal_option_info *info);

/* Write an object to a file, one member a line, and release it. A member SALI_CHECKSUM_KEY has the
 * checksum of the others by value: layout, order and the spelling of numbers may change. NULL
 * stands for an object that could not be allocated. Returns: SAL_ERR_MEMORY, SAL_ERR_IO. */
sal_status sali_json_write(json_t *object, const char *path, sal_error *err);

/* Take the checksum out of what was read from the file `path`; a value without one is left as it
 * is. Returns: SAL_ERR_DATA if the other members have another checksum. */
sal_status sali_json_unseal(json_t *value, const char *path, sal_error *err);

#endif
