/* SPDX-License-Identifier: MIT */
/* Names in messages, what file names end in, and lines of text. */
#ifndef SALI_TEXT_H
#define SALI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Append a name to a list "a, b", as far as there is room for it. */
void sali_list_name(char *list, size_t room, const char *name);

/* Whether a text has that end and something before it; NULL has none. */
bool sali_has_suffix(const char *text, const char *suffix);

/* Print text in lines of at most 78 characters. */
void sali_print_wrapped(const char *text, FILE *stream);

#endif
