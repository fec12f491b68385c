/* What the files of conv_table2 share. */
#ifndef CONV_TABLE2_H
#define CONV_TABLE2_H

#include <saltus/saltus.h>

enum { SIDE = 16, V = SIDE * SIDE, LEVELS = 4, METHODS = 5, SHOWN = 64 };

typedef struct method {
    const char *name, *sampler;
    double step_size;
    int64_t steps[LEVELS]; /* for a nominal K of 5, 10, 15, 20: the same cost for all methods */
} method;

/* Spins are 2 apart: step sizes are four times the paper's, which are 0.2, 0.1 and 0.1, or 0.2,
 * 0.08 and 0.08. The authors' program stops at the end of the pass through the data in which it has
 * made more updates than it was told to: of 145 batches and 5100 updates in its fit, after 5220; of
 * 100 batches and 2100 updates, after 2200. */
typedef struct protocol {
    const char *name, *prefix;  /* of files and directories */
    int64_t iterations, refits; /* updates of the fit, and of a cell */
    bool to_buffer;             /* J is fitted to the persistent chains of `fit` */
    method methods[METHODS];
} protocol;

typedef struct settings {
    const char *directory, *only, *images, *cells, *start, *as;
    const protocol *protocol;
    double iterations, refits, rows, chains, steps, l1, seed, threads;
} settings;

typedef struct cell {
    const method *method;
    int level, seed;
    char name[64];
} cell;

/* A cell of the table, for a seed. */
cell make_cell(const settings *s, int m, int level, int seed);

/* DIR/NAME, and a file of a cell. */
void path_of(const settings *s, const char *name, char path[static 1024]);
void cell_path(const settings *s, const cell *c, const char *file, char path[static 1024]);

/* Print what all cells of a protocol have so far, and draw figures 13 and 15 into DIR. */
sal_status tabulate(const settings *s, sal_error *err);

#endif

/* SPDX-License-Identifier: MIT */
