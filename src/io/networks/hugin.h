/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the NET language of Hugin. */
#ifndef SALI_HUGIN_H
#define SALI_HUGIN_H

#include "io/text_output.h"
#include "models/content.h"

/* The identifier of a node of that name: each character other than letters of ASCII, digits and '_'
 * becomes '_', and an 'x' goes before a first character that is no letter. The caller frees it;
 * NULL when out of memory. */
char *sali_hugin_identifier(const char *name);

/* Write a network. Nodes whose names are no identifiers have them as labels. Fails with ARGUMENT
 * for a network that is not Bayesian, for names with double quotes or backslashes, and where two
 * identifiers would be equal. */
void sali_hugin_write(sali_text_output *w, const sali_content *content);

#endif
