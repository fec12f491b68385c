/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the Interchange Format 0.15 (Cozman), as bnlearn, pgmpy and JavaBayes write
 * it. */
#ifndef SALI_BIF_H
#define SALI_BIF_H

#include "io/text_output.h"
#include "models/content.h"

/* The characters that are pieces by themselves. */
#define SALI_BIF_MARKS "{}()[]|,;"

/* Write a network. Fails with ARGUMENT for a network that is not Bayesian, and for names with
 * double quotes. */
void sali_bif_write(sali_text_output *w, const sali_content *content);

#endif
