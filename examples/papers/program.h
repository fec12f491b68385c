/* What the programs' main functions share: arguments, and the figure that is written at the end. */
#ifndef PAPERS_PROGRAM_H
#define PAPERS_PROGRAM_H

#include <saltus/figure.h>
#include <saltus/saltus.h>

typedef enum size { QUICK, USUAL, FULL } size;

typedef struct arguments {
    size size;    /* --quick, --full */
    char **files; /* what is left, files and words, ends with NULL */
} arguments;

typedef struct program {
    const char *title, *caption; /* of the figure; caption may be NULL */
    int columns;                 /* panels in a row; 0: up to 3 */
    double panel_width;          /* 0: 320 */
    bool files;                  /* whether arguments that name files are allowed */
    const char *const *words;    /* other arguments that are allowed, ends with NULL; NULL: none */
    /* Measure, print, and add panels to the figure, which is NULL without --svg FILE. */
    sal_status (*run)(const arguments *a, sal_figure *figure, sal_error *err);
} program;

/* The whole of a main function; returns the exit code, after a message on stderr if it is not 0. */
int program_main(int argc, char **argv, const program *p);

/* Whether `name` is among the files, or there are none: all are wanted then. */
bool arguments_want(const arguments *a, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
