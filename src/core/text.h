/* SPDX-License-Identifier: MIT */
/* Names in messages, what file names end in, lines of text, and the letters of alphabets. */
#ifndef SALI_TEXT_H
#define SALI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <saltus/space.h>

/* Append `name` to the text `list` "a, b" of `room` bytes, as far as there is room. */
void sali_list_name(char *list, size_t room, const char *name);

/* Whether `text` ends in `suffix` and has something before it; false if `text` is NULL. */
bool sali_has_suffix(const char *text, const char *suffix);

/* Print text in lines of at most 78 characters. */
void sali_print_wrapped(const char *text, FILE *stream);

/* SAL_ERR_ARGUMENT, saying what is wrong, unless `letters` are an alphabet (saltus/space.h): two
 * letters or more, each once, printable and without a meaning of their own in files and
 * specifications, the gap '-' first. */
sal_status sali_letters_check(const char *letters, sal_error *err);

#endif
