/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the XML Interchange Format 0.3 (Cozman 1998), as JavaBayes, Weka, SamIam and
 * AISpace write it. */
#ifndef SALI_XMLBIF_H
#define SALI_XMLBIF_H

#include "models/content.h"

/* How far from 1 a row of a table may sum: decimals are rounded. */
#define SALI_XMLBIF_ROUNDING 0.02

/* Read a network; `name` is for messages. Variables are in the order of their VARIABLE elements,
 * factors in that of the DEFINITIONs. Every variable is of nature and has one DEFINITION, and no
 * variable is its own ancestor; a row that sums to 1 but for rounding is divided by its sum. A
 * DOCTYPE is skipped (sali_xml_parse_doctype); namespaces and PROPERTY elements are ignored.
 * Returns:   DATA with name:line; MEMORY. On failure *out is untouched.
 * Cost:      linear in the size. */
sal_status sali_xmlbif_parse(const char *name, const void *text, int64_t size,
                             sali_factor_graph *out, sal_error *err);

/* Write a network, atomically. Variables without names are x0, x1, ..; states s0, s1, ...
 * Returns:   ARGUMENT for what the format cannot say: a Markov network, rows that do not sum to 1,
 *            a variable that is not the last of exactly one scope, names that are not UTF-8 or
 *            hold control characters; IO; MEMORY. */
sal_status sali_xmlbif_write(const char *path, const sali_factor_graph *graph, sal_error *err);

#endif
