/* SPDX-License-Identifier: MIT */
/* What saltus sample prints and writes. */
#ifndef SAMPLE_OUTPUT_H
#define SAMPLE_OUTPUT_H

#include "cli/cli.h"

typedef struct cli_sample_outputs {
    const char *marginals, *out, *alphabet, *best, *vote, *vote_out, *shape;
    int64_t ones;
    bool json, check_exact, show, save_warmup;
    int threads; /* for check_exact */
} cli_sample_outputs;

/* Check that the options fit together, and claim the files that are to be written. Returns the exit
 * code. */
int cli_sample_check_outputs(const cli_sample_outputs *outputs);

/* Check that the model's states can be written to --out: sequences need letters, pictures levels.
 * Returns the exit code. */
int cli_sample_check_model(const cli_sample_outputs *outputs, const sal_model *model);

/* Whether the draws go to a netCDF file while they are made. */
bool cli_sample_streams(const cli_sample_outputs *outputs);

/* Whether --vote is a vote on whole states, which needs all draws. */
bool cli_sample_votes_on_states(const cli_sample_outputs *outputs);

/* Print the summary and write all files. Returns the exit code. */
int cli_sample_write(const sal_run *run, sal_model *model, const cli_sample_outputs *outputs);

#endif
