/* SPDX-License-Identifier: MIT */
/* JSON objects as files, and any text as a JSON string. */
#ifndef SALI_JSON_TEXT_H
#define SALI_JSON_TEXT_H

#include <jansson.h>

#include <saltus/options.h>

/* The text as a JSON string; JSON is UTF-8, so bytes that are not, as paths may have, become
 * U+FFFD. NULL: no memory. */
json_t *sali_json_text(const char *text);

/* What a file holds; *out is NULL if that is no JSON. Returns: those of sali_file_read. */
sal_status sali_json_read(const char *path, json_t **out, sal_error *err);

/* A number of an object; NaN if there is none of that name. */
double sali_json_number(const json_t *object, const char *key);

/* Set the key of an option, its name with '_' for '-', to a text that sal_option_get gave: a
 * number, a truth or a string; "" is null. false: no memory. */
bool sali_json_set_option(json_t *object, const sal_option_info *info, const char *text);

/* Whether a key is that of an option. */
bool sali_json_is_option(const char *key, const sal_option_info *info);

/* Write an object, which is taken over, to a file; `flags` are those of json_dumps. NULL counts as
 * an object for which there was no memory. Returns: SAL_ERR_MEMORY, SAL_ERR_IO. */
sal_status sali_json_write(json_t *object, size_t flags, const char *path, sal_error *err);

#endif
