/* SPDX-License-Identifier: MIT */
/* Reports: a page from the files that commands write. */
#ifndef SALI_REPORT_H
#define SALI_REPORT_H

#include <saltus/io.h>
#include <saltus/model.h>
#include <saltus/program.h>
#include <saltus/stats.h>
#include "io/draws/run_record.h"
#include "report/page.h"

/* ---- kinds of sections: section k, from 1 */

sal_status sali_report_run(sali_page *page, int64_t k, const char *path,
                           const sal_report_options *options, sal_error *err);
sal_status sali_report_compare(sali_page *page, int64_t k, const char *path, sal_error *err);
sal_status sali_report_training(sali_page *page, int64_t k, const char *path, sal_error *err);

/* Read the JSON object of a file in a training's directory; *root is NULL if there is no such file.
 * An object without `key` is refused, with a message that expects `what`. Returns: SAL_ERR_DATA;
 * ARGUMENT for a path too long; those of sali_json_read. */
sal_status sali_report_json(const char *directory, const char *name, const char *key,
                            const char *what, json_t **root, sal_error *err);

/* Write the verdict of a training, or that there is none. */
sal_status sali_report_verdict(sali_page *page, const char *directory, sal_error *err);

/* ---- parts of the section on a run */

/* Diagnostics of f and of the variables. */
typedef struct sali_diagnosed {
    bool has_f;
    sal_diagnostics f;
    int64_t n, every;           /* only every `every`-th variable was analysed */
    sal_diagnostics *variables; /* [n] of variables 0, every, 2 every, .. */
    int64_t *worst;             /* [n] indices into `variables`, ascending ESS */
    int64_t apart;              /* index of the largest R-hat; -1: none has one */
    int64_t unmoved;            /* chains that never moved; if any, all ESS and R-hat are NaN */
} sali_diagnosed;

sal_status sali_report_diagnose(const sali_run_record *run, sali_diagnosed *out, sal_error *err);
void sali_diagnosed_free(sali_diagnosed *d);

/* The series [chains x draws] of a variable: its values or, if they have no order, whether the draw
 * is the most common value. NULL when out of memory. */
double *sali_report_series(const sali_run_record *run, int64_t variable);

/* Axis label for sali_report_series; for variables without an order "letter[3] = 7". Valid until
 * the next call with the same buffer. */
const char *sali_report_quantity(const sali_run_record *run, int64_t variable, char out[80]);

/* The name of a variable. Valid until the next call with the same buffer. */
const char *sali_report_name(const sali_run_record *run, int64_t variable, char out[80]);

/* Whether the draws can be trusted, in a sentence. */
void sali_report_diagnostics_verdict(sali_page *page, const sali_run_record *run,
                                     const sali_diagnosed *diagnosed);
void sali_report_diagnostics_table(sali_page *page, const sali_run_record *run,
                                   const sali_diagnosed *diagnosed);
void sali_report_diagnostics_figures(sali_page *page, const sali_run_record *run,
                                     const sali_diagnosed *diagnosed);
sal_status sali_report_chains(sali_page *page, const sali_run_record *run,
                              const sali_diagnosed *diagnosed, sal_error *err);
void sali_report_steps(sali_page *page, const sali_run_record *run);
sal_status sali_report_marginals(sali_page *page, const sali_run_record *run,
                                 const sal_report_options *options, sal_error *err);

/* A new figure of one panel; NULL when out of memory. */
sal_figure *sali_report_figure(const sal_panel *panel);

#endif
