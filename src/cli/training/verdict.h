/* SPDX-License-Identifier: MIT */
/* The verdict on a model by samples drawn from scratch, and the MMD as text. */
#ifndef CLI_VERDICT_H
#define CLI_VERDICT_H

#include <jansson.h>

#include "cli/cli.h"

/* Judge a model by samples drawn from scratch, by the options inputs->sampling, with progress on
 * stderr. *judged: there is a verdict; false after Ctrl-C, and for a model that cannot be sampled,
 * which a line on stderr reports. `sheet`: the file for some samples, if inputs->train are
 * pictures, or NULL; *written: it was written (not without libpng). */
sal_status cli_judge(sal_model *model, sal_verdict_inputs *inputs, const char *sheet,
                     sal_verdict *verdict, bool *judged, bool *written, sal_error *err);

/* A verdict as an object of JSON, and as lines on stdout. */
json_t *cli_verdict_json(const sal_verdict *verdict);
void cli_verdict_print(const sal_verdict *verdict);

/* The MMD from its unbiased square, and as text. The square is at most 0 where samples differ by no
 * more than chance: the MMD is then 0, and "below noise" as text. */
#define CLI_MMD_TEXT 32
double cli_mmd_of(double squared); /* NaN of NaN */
void cli_mmd_text(double mmd, char text[CLI_MMD_TEXT]);

#endif
