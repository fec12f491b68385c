/* SPDX-License-Identifier: MIT */
/* Reports: one page of HTML about what the program wrote. */
#ifndef SALTUS_REPORT_H
#define SALTUS_REPORT_H

#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a report. Zeros stand for the defaults. */
typedef struct sal_report_options {
    const char *exact; /* a file of exact marginals, for all runs; NULL: they are computed where
                          that is cheap */
    const char *model; /* the model of all runs; NULL: the one that their files name */
} sal_report_options;

/* Write one page with a section for each file: a run (.nc, .npy), the output of `saltus compare
 * --json`, or a directory that `saltus train` wrote. The page needs no other file.
 * Params:  n        number of files, at least 1.
 *          paths    [n] the files.
 *          options  NULL for the defaults.
 *          out      the page, replaced at once.
 * Returns: SAL_ERR_DATA for a file of another kind, or a damaged one; SAL_ERR_NOT_FOUND;
 *          SAL_ERR_ARGUMENT; SAL_ERR_UNSUPPORTED (.nc without libnetcdf); SAL_ERR_IO;
 *          SAL_ERR_MEMORY. No page is written then.
 * Cost:    O(draws log draws) for each variable that is shown; memory for the draws of one run.
 * Threads: any; for .nc as sal_draw_writer_open. */
SAL_API sal_status sal_report_write(int64_t n, const char *const *paths,
                                    const sal_report_options *options, const char *out,
                                    sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
