/* Fresh samples of a model, drawn from scratch, and what they say of it. */
#ifndef CLI_FRESH_H
#define CLI_FRESH_H

#include <jansson.h>

#include "cli/cli.h"

/* Zeros stand for the defaults. */
typedef struct cli_fresh_options {
    int64_t draws;   /* in all, rounded up to whole chains; 0: 1000 */
    int64_t longest; /* swap intervals of a chain, warm-up included, at most, at first; 0: by
                        `draws` alone */
    uint64_t seed;
    int threads;
} cli_fresh_options;

/* Draws of independent chains. */
typedef struct cli_fresh {
    int64_t chains, draws, variables;
    uint8_t *codes;           /* [chains x draws x variables] */
    double rhat, round_trips; /* of f over all states that chains went through; per chain */
    sal_verdict_value log_z;  /* by Bennett's ratio along a ladder; NaN without */
    bool stopped;             /* by Ctrl-C: there are no codes */
} cli_fresh;

/* Draw samples of a model, never from the training's chains: along the ladder of the training, if
 * `directory` (NULL: none) has one; else by parallel tempering, from independent variables with the
 * frequencies of the training data, four times as long if they have not mixed. The number of steps
 * depends on the options only, so that the same seed gives the same bits. Returns: those of
 * sal_sample and sal_trajectory_open. */
sal_status cli_fresh_draws(sal_model *model, const char *directory, const sal_data *train,
                           const cli_fresh_options *options, cli_fresh *out, sal_error *err);
void cli_fresh_free(cli_fresh *fresh);

/* The persistent chains of a training's checkpoint as codes [rows x V]; no rows if the directory
 * (NULL: none) has no checkpoint with chains of that many variables. */
sal_status cli_persistent_chains(const char *directory, int64_t variables, sal_data *out,
                                 sal_error *err);

/* Some rows, evenly spaced, as a sheet of pictures of the data's size; whether it was written:
 * not without libpng. */
sal_status cli_sheet(const char *path, int64_t rows, const uint8_t *codes, const sal_data *pictures,
                     bool *written, sal_error *err);

/* A verdict as an object of JSON, and as lines on stdout. */
json_t *cli_verdict_json(const sal_verdict *verdict);
void cli_verdict_print(const sal_verdict *verdict);

#endif
