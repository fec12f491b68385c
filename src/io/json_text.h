/* JSON objects as files, and any text as a JSON string. */
#ifndef SALI_JSON_TEXT_H
#define SALI_JSON_TEXT_H

#include <jansson.h>

#include <saltus/status.h>

/* The text as a JSON string; JSON is UTF-8, so bytes that are not, as paths may have, become
 * U+FFFD. NULL: no memory. */
json_t *sali_json_text(const char *text);

/* What a file holds; *out is NULL if that is no JSON. Returns: those of sali_file_read. */
sal_status sali_json_read(const char *path, json_t **out, sal_error *err);

/* A number of an object; NaN if there is none of that name. */
double sali_json_number(const json_t *object, const char *key);

/* Write an object, which is taken over, to a file; `flags` are those of json_dumps. NULL counts as
 * an object for which there was no memory. Returns: SAL_ERR_MEMORY, SAL_ERR_IO. */
sal_status sali_json_write(json_t *object, size_t flags, const char *path, sal_error *err);

#endif
