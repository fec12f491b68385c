/* SPDX-License-Identifier: MIT */
/* The verdict on a model by samples drawn from scratch, and the MMD as text. */
#ifndef CLI_VERDICT_H
#define CLI_VERDICT_H

#include <jansson.h>

#include "cli/cli.h"

/* Judge a model by samples that are drawn from scratch, as inputs->sampling says, with progress on
 * stderr. *judged: there is a verdict; not after Ctrl-C, nor of a model that cannot be sampled,
 * which a line on stderr says. `sheet`: the file for some of them, if they are pictures of
 * inputs->train, or NULL; *written: there is one (not without libpng). */
sal_status cli_judge(sal_model *model, sal_verdict_inputs *inputs, const char *sheet,
                     sal_verdict *verdict, bool *judged, bool *written, sal_error *err);

/* A verdict as an object of JSON, and as lines on stdout. */
json_t *cli_verdict_json(const sal_verdict *verdict);
void cli_verdict_print(const sal_verdict *verdict);

/* Connected pair frequencies of rows of an alignment, weighted (NULL: alike), to be freed; and the
 * Pearson correlation of others' with them. */
sal_status cli_pairs(const sal_data *alignment, int64_t rows, const uint8_t *codes,
                     const double *weight, float **out, sal_error *err);
sal_status cli_compare_pairs(const sal_data *alignment, const float *pairs, int64_t rows,
                             const uint8_t *codes, double *pearson, sal_error *err);

/* An MMD as people read it. Its unbiased square is at most 0 where samples differ by no more than
 * chance: it is then 0, and "below noise" as a text. */
#define CLI_MMD_TEXT 32
double cli_mmd_of(double squared); /* NaN of NaN */
void cli_mmd_text(double mmd, char text[CLI_MMD_TEXT]);

#endif
