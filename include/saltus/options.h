/* SPDX-License-Identifier: MIT */
/* Settings of models and samplers, and the structs whose options can be given as text. */
#ifndef SALTUS_OPTIONS_H
#define SALTUS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A setting of a model or sampler, as in "ising:side=10,theta=0.2": its name and its values. */
typedef struct sal_setting {
    const char *name; /* at most 40 letters, digits, '_', '-'; NULL ends a list */
    double standard;  /* the default; of values that a sampler tunes, where tuning starts */
    double low;       /* smallest value; finite */
    double high;      /* largest value; finite */
    bool whole;       /* whole numbers only */
    const char *doc;  /* one line; may be NULL */
    /* Words for the values low, low + 1, ..., of at most 31 letters, digits, '_', '-'; the list
     * ends with NULL. If high is beyond the last of them, the numbers that have no word are values
     * too: "adapt" or 1 .. 100. Otherwise the words are the only values, and high and whole are
     * ignored. NULL: numbers.
     */
    const char *const *choices;
} sal_setting;

#define SAL_SETTINGS 12 /* largest number of settings */

/* The structs whose options can be set from text, under the names that a command has. */
typedef enum sal_options {
    SAL_OPTIONS_RUN,     /* sal_run_options: `saltus sample` */
    SAL_OPTIONS_TRAIN,   /* sal_train_options: `saltus train` */
    SAL_OPTIONS_AIS,     /* sal_ais_options: `saltus evaluate` */
    SAL_OPTIONS_INPAINT, /* sal_inpaint_options: `saltus inpaint` */
    SAL_OPTIONS_EXACT,   /* sal_exact_options */
    SAL_OPTIONS_DATA,    /* sal_data_options */
    SAL_OPTIONS_LOG_Z    /* sal_log_z_options: `saltus logz` */
} sal_options;

/* Which index the first column has in a libsvm file. LIBSVM's own files count from 1, those of
 * scikit-learn from 0 unless it was asked otherwise. */
typedef enum sal_columns_from {
    SAL_COLUMNS_FIND = 0, /* found: 0 where an index 0 or the heading of scikit-learn says so, or
                             the number of columns; else 1 */
    SAL_COLUMNS_FROM_0,
    SAL_COLUMNS_FROM_1
} sal_columns_from;

#ifdef __cplusplus
}
#endif
#endif
