/* SPDX-License-Identifier: MIT */
/* Texts: suffixes, numbers, paths, settings. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a text has that end and something before it; NULL has none. */
bool cli_has_suffix(const char *text, const char *suffix);

/* `size` characters as an integer, or as a finite decimal number; false: they are none. */
bool cli_parse_int(const char *text, size_t size, int64_t *out);
bool cli_parse_real(const char *text, size_t size, double *out);

/* "directory/name"; false: it is too long. */
#define CLI_PATH 4096
bool cli_path(char path[CLI_PATH], const char *directory, const char *name);

/* Append a name to a list "a, b", as far as there is room for it. */
void cli_list_name(char *list, size_t room, const char *name);

/* The value of a key in "name:key=value,..", up to the next comma; NULL: it has none. */
char *cli_find_setting(const char *specification, const char *key);

/* Take a setting out, given by its value in a specification; NULL is fine. */
void cli_drop_setting(char *value);

#endif
