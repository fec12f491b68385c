/* SPDX-License-Identifier: MIT */
/* Machine-readable output. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

/* The text as a JSON string. JSON is UTF-8: of a text that is not, as a path may be, only ASCII is
 * kept. NULL: no memory. */
json_t *cli_json_text(const char *text);

/* Set object[key] to a number, or to null where JSON has none (NaN, infinities). */
void cli_json_number(json_t *object, const char *key, double value);

/* The object in a text of the library, which is freed; NULL: no memory. */
json_t *cli_json_take(char *text);

/* Digits of numbers: of estimates, and of exact answers (as many as decimals always keep). */
enum { CLI_DIGITS = 10, CLI_EXACT_DIGITS = 15 };

/* Print one object and a newline on stdout, or write it to a file; takes the object over. What
 * cli_say printed becomes its "notes", where it is printed. The exit code. */
int cli_json_print(json_t *object);
int cli_json_print_digits(json_t *object, int digits);
int cli_json_save(json_t *object, int digits, const char *path);

#endif
