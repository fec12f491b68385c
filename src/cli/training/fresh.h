/* SPDX-License-Identifier: MIT */
/* The verdict on a model by fresh samples, drawn from scratch. */
#ifndef CLI_FRESH_H
#define CLI_FRESH_H

#include <jansson.h>

#include "cli/cli.h"

/* Zeros stand for the defaults. */
typedef struct cli_fresh_options {
    const char *directory; /* of a training; NULL: none */
    const sal_data *train, *test;
    const sal_verdict_value *forward, *reverse; /* log Z; NULL: not known */
    bool no_chains;    /* those of the training's checkpoint, if there are any, do not count */
    const char *sheet; /* of the samples, if they are pictures; NULL: none */
    int64_t draws;     /* in all, rounded up to whole chains; 0: 1000 */
    int64_t longest;   /* swap intervals of a chain, warm-up included, at most, at first; 0: by
                          `draws` alone */
    uint64_t seed;
    int threads;
} cli_fresh_options;

/* Draw samples of a model, never from the training's chains, and judge it by them: along the ladder
 * of the training, if there is one; else by parallel tempering, from independent variables with the
 * frequencies of the training data, four times as long if they have not mixed. The number of steps
 * depends on the options only, so that the same seed gives the same bits. *judged: there is a
 * verdict; not after Ctrl-C, nor of a model that cannot be sampled, which a line on stderr says.
 * *sheet: one was written (not without libpng). */
sal_status cli_judge(sal_model *model, const cli_fresh_options *options, sal_verdict *verdict,
                     bool *judged, bool *sheet, sal_error *err);

/* A verdict as an object of JSON, and as lines on stdout. */
json_t *cli_verdict_json(const sal_verdict *verdict);
void cli_verdict_print(const sal_verdict *verdict);

#endif
