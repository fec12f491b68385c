/* SPDX-License-Identifier: MIT */
/* Marginals of all variables of a model, clamped ones included, as exact and sample write them. */
#ifndef MARGINALS_OUTPUT_H
#define MARGINALS_OUTPUT_H

#include <jansson.h>

#include "cli/cli.h"

/* Does the path end in .MAR, the UAI competitions' format? */
bool cli_is_mar(const char *path);

/* Write `marginals` of the model's variables as MAR; clamped variables are point masses. The exit
 * code. */
int cli_save_mar(const sal_model *model, const double *marginals, const char *path);

/* The same as rows for a JSON file; NULL when out of memory. */
json_t *cli_marginals_rows(const sal_model *model, const double *marginals);

/* Add "names" of all variables, clamped ones included, and "states", those of each, to an object,
 * if the model has names. */
void cli_add_names(json_t *object, const sal_model *model);

#endif
