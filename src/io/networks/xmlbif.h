/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the XML Interchange Format 0.3 (Cozman 1998), as JavaBayes, Weka, SamIam and
 * AISpace write it. */
#ifndef SALI_XMLBIF_H
#define SALI_XMLBIF_H

#include "io/text_output.h"
#include "models/content.h"

/* Write a network. Variables without names are called x0, x1, ..; states s0, s1, .. Fails with
 * ARGUMENT for what the format cannot express: a Markov network, rows that do not sum to 1, a
 * variable that is not the last of exactly one scope, names that are not UTF-8 or hold control
 * characters. */
void sali_xmlbif_write(sali_text_output *w, const sali_content *content);

#endif
