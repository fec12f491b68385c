/* SPDX-License-Identifier: MIT */
/* What `saltus train` writes while it trains. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include <saltus/saltus.h>

#include "cli/cli.h"
#include "cli/pictures.h"

typedef struct cli_train_options {
    sal_train_options train;
    cli_data data;
    const char *out, *dtype;
    const char *from; /* directory of the training that it goes on from; NULL: none */
    const char *time; /* after which it stops; NULL: none */
    double seconds;   /* of that; 0: none */
    double pearson;   /* at which training stops; 0: none */
    bool data_covariance, json, overwrite, verbose;
    bool first;    /* of two trainings, whose end is not told */
    int64_t fresh; /* draws for the verdict; 0: none */
} cli_train_options;

typedef struct cli_training {
    const cli_train_options *o;
    sal_data train, test;
    sal_model *model;
    const char *settings;   /* of the specification, that suit training; NULL: none */
    double *preconditioner; /* NULL: none */
    sal_model *first_model; /* that of o->from, and its ladder; NULL: none */
    sal_trajectory *first;
    char *log;       /* the CSV so far; NULL: nothing */
    double baseline; /* MMD between as many training rows and the test set */
    double mmd;
    float *pairs;          /* connected pair frequencies of an alignment; NULL: none */
    double pearson;        /* of samples with them; NAN without */
    bool reached;          /* the one that was asked for */
    sal_train_report last; /* its numbers; zeros before the first */
    bool diverged;
    bool estimated; /* how long it will take was said */
    bool late;      /* --time is over */
    cli_progress progress, climb;
    double climbed; /* seconds until the first training's ladder was climbed; 0: there is none */
    bool sheet, chains_sheet; /* samples.png, persistent.png were written */
    bool judged;              /* there is a verdict */
    sal_verdict verdict;
    int code; /* of the first report that failed */
} cli_training;

/* Lines of an earlier log, if there is one, up to the iteration that training goes on from. */
int cli_train_read_log(cli_training *s);

/* MMD of training rows, as many as there are test rows, to the test set: about what perfect samples
 * give. Where the two sets are alike the unbiased estimate falls below zero, and this is 0. */
void cli_train_baseline(cli_training *s);

/* Of an alignment: what there is, printed, and its frequencies of pairs. */
int cli_train_alignment(cli_training *s);

/* Write the model with the parameters that it has now. */
sal_status cli_train_save(const cli_training *s, sal_error *err);

/* Callbacks of a training, with a cli_training: the progress line; and a report: a line of the log,
 * the sheet of samples, the parameters. */
int cli_train_progress(const sal_train_report *report, void *data);
int cli_train_report(const sal_train_report *report, void *data);

/* Remove the samples and the verdict of an earlier training in the directory; if this one does not
 * go on from it, all else that would be taken for this one's. */
void cli_train_forget(const cli_training *s);

/* The verdict on what was trained, unless nothing was and there is one: fresh samples, their sheet
 * samples.png, and verdict.json. A model that cannot be sampled has none, which a line on stderr
 * says. The exit code. */
int cli_train_verdict(cli_training *s);

#endif
