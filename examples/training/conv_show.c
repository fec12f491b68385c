/* The tables and figures of conv_table2: what its cells have so far. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <saltus/figure.h>
#include "conv_table2.h"

enum { ERROR, MMD, MARGINAL, COVARIANCE, COLUMNS };

static const char *const titles[COLUMNS] = { "|J - J*|_F / sqrt(256)",
                                             "MMD, samples to samples of the ground truth",
                                             "mean absolute difference of the means",
                                             "|difference of the covariances|_F" };

/* Over the seeds 0 to 9 of a cell; NaN where there are none, or one for a deviation. */
typedef struct summary {
    int n;
    double mean[COLUMNS], sd[COLUMNS];
} summary;

static bool read_result(const settings *s, const cell *c, double x[COLUMNS])
{
    char path[1024];
    cell_path(s, c, "result.csv", path);
    FILE *file = fopen(path, "r");
    bool whole = file && fscanf(file, "%lf,%lf,%lf,%lf", &x[ERROR], &x[MMD], &x[MARGINAL],
                                &x[COVARIANCE]) == COLUMNS;
    if (file) {
        fclose(file);
    }
    return whole;
}

static summary summarise(const settings *s, int m, int level)
{
    summary all = { 0 };
    double x[COLUMNS], squares[COLUMNS] = { 0 };
    for (int seed = 0; seed < 10; seed++) {
        cell c = make_cell(s, m, level, seed);
        bool found = read_result(s, &c, x);
        for (int k = 0; found && k < COLUMNS; k++) {
            all.mean[k] += x[k];
            squares[k] += x[k] * x[k];
        }
        all.n += found;
    }
    for (int k = 0; k < COLUMNS; k++) {
        all.mean[k] /= all.n;
        double rest = fmax(squares[k] - all.n * all.mean[k] * all.mean[k], 0);
        all.sd[k] = all.n > 1 ? sqrt(rest / (all.n - 1)) : NAN;
    }
    return all;
}

static void print_cell(const summary *of, int column)
{
    if (of->n == 0) {
        printf("%18s", "-");
    } else if (of->n > 1) {
        printf("%9.4f (%.4f)", of->mean[column], of->sd[column]);
    } else {
        printf("%18.4f", of->mean[column]);
    }
}

static void print_tables(const settings *s, summary cells[METHODS][LEVELS])
{
    for (int column = 0; column < COLUMNS; column++) {
        printf("\n%s, as %s\n%-8s%18s%18s%18s%18s\n", titles[column], s->protocol->name, "", "K=5",
               "K=10", "K=15", "K=20");
        for (int m = 0; m < METHODS; m++) {
            printf("%-8s", s->protocol->methods[m].name);
            for (int level = 0; level < LEVELS; level++) {
                print_cell(&cells[m][level], column);
            }
            printf("\n");
        }
    }
}

/* The error of J against what the samples show, a point a cell. */
static void draw_figure13(const settings *s, summary cells[METHODS][LEVELS], sal_figure *figure)
{
    for (int column = MMD; column < COLUMNS; column++) {
        sal_figure_panel(figure,
                         &(sal_panel){ .x = { .label = titles[ERROR], .logarithmic = true },
                                       .y = { .label = titles[column], .logarithmic = true } });
        for (int m = 0; m < METHODS; m++) {
            double x[LEVELS], y[LEVELS];
            for (int level = 0; level < LEVELS; level++) {
                x[level] = cells[m][level].mean[ERROR];
                y[level] = cells[m][level].mean[column];
            }
            sal_figure_series(figure, &(sal_series){ .name = s->protocol->methods[m].name,
                                                     .mark = SAL_MARK_POINTS,
                                                     .n = LEVELS,
                                                     .x = x,
                                                     .y = y });
        }
    }
}

/* 64 of the persistent chains of the cells of this seed, with their errors. */
static void draw_figure15(const settings *s, sal_figure *figure)
{
    for (int k = 0; k < METHODS * LEVELS; k++) {
        char path[1024], title[128];
        double x[COLUMNS];
        sal_array shown = { 0 };
        cell c = make_cell(s, k / LEVELS, k % LEVELS, (int)s->seed);
        cell_path(s, &c, "shown.npy", path);
        if (read_result(s, &c, x) && sal_array_read(path, 0, &shown, NULL) == SAL_OK &&
            shown.count == SHOWN * V) {
            snprintf(title, sizeof title, "%s, K = %d: %.3f", c.method->name, 5 * (c.level + 1),
                     x[ERROR]);
            sal_images images = {
                .n = SHOWN, .height = SIDE, .width = SIDE, .values = shown.values
            };
            sal_figure_panel(figure, &(sal_panel){ .title = title, .images = &images });
        }
        sal_array_free(&shown);
    }
}

static sal_status write_figure(const settings *s, const char *name,
                               const sal_figure_options *options, summary cells[METHODS][LEVELS],
                               sal_error *err)
{
    char file[64], path[1024];
    sal_figure *figure = NULL;
    snprintf(file, sizeof file, "%s.svg", name);
    path_of(s, file, path);
    sal_status status = sal_figure_create(options, &figure, err);
    if (status == SAL_OK) {
        if (strcmp(name, "figure13") == 0) {
            draw_figure13(s, cells, figure);
        } else {
            draw_figure15(s, figure);
        }
        status = sal_figure_write(figure, path, err);
    }
    sal_figure_destroy(figure);
    return status;
}

sal_status tabulate(const settings *s, sal_error *err)
{
    static summary cells[METHODS][LEVELS];
    int done = 0;
    for (int m = 0; m < METHODS; m++) {
        for (int level = 0; level < LEVELS; level++) {
            cells[m][level] = summarise(s, m, level);
            done += cells[m][level].n;
        }
    }
    print_tables(s, cells);
    if (done == 0) {
        return SAL_OK;
    }
    const sal_figure_options scatter = {
        .title = "Rhodes & Gutmann 2022, figure 13: errors of J, and what the samples show"
    };
    const sal_figure_options sheets = {
        .title = "Rhodes & Gutmann 2022, figure 15: chains at the end of training, errors of J",
        .columns = LEVELS,
        .panel_width = 160,
        .panel_height = 160
    };
    sal_status status = write_figure(s, "figure13", &scatter, cells, err);
    return status ? status : write_figure(s, "figure15", &sheets, cells, err);
}

/* SPDX-License-Identifier: MIT */
