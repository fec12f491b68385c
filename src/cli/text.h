/* SPDX-License-Identifier: MIT */
/* Texts: suffixes, numbers, paths, settings. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a text ends with the suffix and has something before it; false for NULL. */
bool cli_has_suffix(const char *text, const char *suffix);

/* Parse `size` characters as an integer, or as a finite decimal number; false if they are not
 * one. */
bool cli_parse_int(const char *text, size_t size, int64_t *out);
bool cli_parse_real(const char *text, size_t size, double *out);

/* Set path to "directory/name"; false if that is too long. */
#define CLI_PATH 4096
bool cli_path(char path[CLI_PATH], const char *directory, const char *name);

/* Append a name to a list "a, b", as far as there is room for it. */
void cli_list_name(char *list, size_t room, const char *name);

/* Pointer to the value of a key in "name:key=value,..", which the next comma ends; NULL: no such
 * key. */
char *cli_find_setting(const char *specification, const char *key);

/* Remove a setting from a specification. `value` points to its value in the specification; NULL is
 * fine. */
void cli_drop_setting(char *value);

#endif
