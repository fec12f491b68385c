/* SPDX-License-Identifier: MIT */
/* What `saltus train` writes while it trains. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include <saltus/saltus.h>

#include "cli/cli.h"
#include "cli/pictures.h"

typedef struct cli_train_options {
    sal_train_options train;
    char given[1024]; /* names of the options that are given, for sal_train_suggest */
    cli_data data;
    const char *out, *dtype;
    const char *from; /* directory of the training that this one continues; NULL: none */
    const char *time; /* when training stops, as text; NULL: no limit */
    double seconds;   /* `time` in seconds; 0: no limit */
    bool data_covariance, json, overwrite, verbose;
    bool first;    /* the first of two stages: no summary at its end */
    int64_t fresh; /* draws for the verdict; 0: none */
} cli_train_options;

typedef struct cli_training {
    const cli_train_options *o;
    sal_data train, test;
    sal_model *model;
    const char *settings;   /* settings of the specification that suit training; NULL: none */
    double *preconditioner; /* NULL: none */
    sal_model *first_model; /* model and ladder of the training o->from; NULL: none */
    sal_trajectory *first;
    char *log;       /* the CSV so far; NULL: nothing */
    double baseline; /* MMD between test rows and as many training rows */
    double mmd;
    bool reached; /* training ended at --pearson, with --sparsity as sparse as it was to be */
    sal_train_report last; /* the last report; zeros before the first */
    bool diverged;
    bool estimated; /* the estimate of the time was printed */
    bool late;      /* --time is over */
    cli_progress progress, climb;
    double climbed; /* seconds until the first training's ladder was climbed; 0: there is none */
    bool sheet, chains_sheet; /* samples.png, persistent.png were written */
    bool judged;              /* there is a verdict */
    sal_verdict verdict;
    int code; /* of the first report that failed */
} cli_training;

/* Read the log of an earlier training, if it is resumed and has one. */
int cli_train_read_log(cli_training *s);

/* Set s->baseline, the MMD between training rows and as many test rows: about what perfect samples
 * reach. Where the unbiased estimate is below zero, this is 0. */
void cli_train_baseline(cli_training *s);

/* Print remarks, and what the pictures or the alignment consist of. */
void cli_train_describe_data(const cli_training *s);

/* Write the model with its present parameters. */
sal_status cli_train_save(const cli_training *s, sal_error *err);

/* Callbacks of a training, with a cli_training: progress updates the progress line; a report adds a
 * line to the log, and writes the sheet of samples and the parameters. */
int cli_train_progress(const sal_train_report *report, void *data);
int cli_train_report(const sal_train_report *report, void *data);

/* Remove samples and verdict of an earlier training in the directory; unless it is resumed, also
 * all other files that would be mistaken for this training's. */
void cli_train_forget(const cli_training *s);

/* Find the verdict on the trained model and write samples.png and verdict.json; nothing happens if
 * no iteration was made and there is a verdict. A model that cannot be sampled has none, as a line
 * on stderr says. Returns the exit code. */
int cli_train_verdict(cli_training *s);

#endif
