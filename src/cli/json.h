/* SPDX-License-Identifier: MIT */
/* Machine-readable output, and objects as text. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>

#include <jansson.h>

/* The text as a JSON string. JSON is UTF-8: if the text is not, as a path may be, its bytes beyond
 * ASCII become U+FFFD. NULL: no memory. */
json_t *cli_json_text(const char *text);

/* Set object[key] to a number. JSON has neither NaN, which is null, nor infinities, which are the
 * texts "inf" and "-inf". */
void cli_json_number(json_t *object, const char *key, double value);

/* Parse a text of the library, which is freed, as JSON; NULL: no memory. */
json_t *cli_json_take(char *text);

/* Add a text to the "remarks" of the object that will be printed. False: the text is there
 * already. */
bool cli_json_remark(const char *text);

/* Digits of estimates, and of exact answers (the most that a double always keeps). */
enum { CLI_DIGITS = 10, CLI_EXACT_DIGITS = 15 };

/* Print an object and a newline on stdout, or write the object to a file; the object is taken over.
 * Returns the exit code. */
int cli_json_print(json_t *object);
int cli_json_print_digits(json_t *object, int digits);
int cli_json_save(json_t *object, int digits, const char *path);

/* Print an object on stdout as text, by a template with fields "{key}" and "{key:how}": `how` is
 * the width of a text or a whole number (below 0: filled up on the right), the conversion of a real
 * ("{log_z:.10g}"), the words for true and false ("{exact:yes|no}"), or what stands between the
 * items of a list and in place of an empty one ("{names:, |none}"). A part "<..>" is left out
 * unless the object has all its fields; null counts as none. Elsewhere null is a real that is NaN.
 */
void cli_render(const json_t *object, const char *template);

#endif
