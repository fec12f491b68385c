/* SPDX-License-Identifier: MIT */
/* Options and settings by name, for command lines, files and other languages: each struct of
 * options has a table of the options that can be set from text. */
#ifndef SALTUS_OPTIONS_H
#define SALTUS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
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

/* Get the word that stands for a value of a setting; NULL if the value is written as a number.
 * Params:  setting: not NULL. value: one of its values.
 * Returns: a word of `choices`, or NULL.
 * Cost:    O(words).
 * Threads: any. */
SAL_API const char *sal_setting_word(const sal_setting *setting, double value);

/* The nearest of some names to a mistyped word, for "did you mean". */
typedef struct sal_nearest {
    const char *word; /* as it was typed */
    const char *name; /* the nearest of the names offered so far; NULL if none is near */
    int distance;     /* what that of a nearer name must be below */
} sal_nearest;

/* Start with a word and no names.
 * Cost:    O(word).
 * Threads: any. */
SAL_API sal_nearest sal_nearest_begin(const char *word);

/* Offer a name, which must live as long as `nearest` is used. Its distance is the number of letters
 * to insert, leave out or replace, and of neighbours to exchange (optimal string alignment).
 * Cost:    O(word name).
 * Threads: one at a time. */
SAL_API void sal_nearest_offer(sal_nearest *nearest, const char *name);

/* The options of one struct. */
typedef struct sal_option_table sal_option_table;

/* The structs whose options can be set from text, under the names that a command has. */
typedef enum sal_options {
    SAL_OPTIONS_RUN,     /* sal_run_options: `saltus sample` */
    SAL_OPTIONS_TRAIN,   /* sal_train_options: `saltus train` */
    SAL_OPTIONS_AIS,     /* sal_ais_options: `saltus evaluate` */
    SAL_OPTIONS_INPAINT, /* sal_inpaint_options: `saltus inpaint` */
    SAL_OPTIONS_EXACT,   /* sal_exact_options */
    SAL_OPTIONS_DATA     /* sal_data_options */
} sal_options;

/* The options of a struct; NULL for another value. */
SAL_API const sal_option_table *sal_option_table_of(sal_options which);

/* The type of an option. */
typedef enum sal_option_kind {
    SAL_OPTION_FLAG,  /* bool; the text is "yes" or "no" */
    SAL_OPTION_WHOLE, /* int64_t */
    SAL_OPTION_INT,   /* int */
    SAL_OPTION_SEED,  /* uint64_t */
    SAL_OPTION_REAL,  /* double */
    SAL_OPTION_WORD,  /* an enumeration; the text is one of its words */
    SAL_OPTION_TEXT   /* const char *; the text must live as long as the options */
} sal_option_kind;

/* Whether a resumed run or training may change an option. */
typedef enum sal_option_resume {
    SAL_RESUME_SAME,  /* the option must not change */
    SAL_RESUME_NOTED, /* the option may change, and the change is noted */
    SAL_RESUME_ANY    /* the option may change */
} sal_option_resume;

/* A description of one option. */
typedef struct sal_option_info {
    const char *name;     /* "swap-every"; in JSON "swap_every" */
    const char *field;    /* the field of the struct: "tempering.swap_every" */
    sal_option_kind kind; /* its type */
    const char *values;   /* placeholder of the value: "N", "data|uniform"; NULL for a flag */
    const char *usual;    /* the default: "1000", "a sweep, or 5"; NULL: none */
    const char *doc; /* what the option does; NULL: another form of the option before it, with the
                        same name */
    sal_option_resume resume; /* whether a resume may change it */
} sal_option_info;

/* Get option `index` of a table, counted from 0; false past the end. */
SAL_API bool sal_option_list(const sal_option_table *table, int64_t index, sal_option_info *info);

/* Set an option by name. Where 0 in the struct means the default and the option can be switched
 * off, the text "0" switches it off.
 * Params:  options: the struct that the table describes. name: '_' counts as '-'.
 * Returns: SAL_ERR_NOT_FOUND (no such option); SAL_ERR_ARGUMENT (not a value of the option, or out
 *          of range; says "name text: expected .."; NULL). *options is then untouched.
 * Cost:    O(options).
 * Threads: any. */
SAL_API sal_status sal_option_set(const sal_option_table *table, void *options, const char *name,
                                  const char *text, sal_error *err);

/* Get the value of an option as the text that sets it, cut to `room` bytes; "" if the option takes
 * a default that is not known yet.
 * Returns: SAL_ERR_NOT_FOUND (no such option); SAL_ERR_ARGUMENT (NULL).
 * Cost:    O(options).
 * Threads: any. */
SAL_API sal_status sal_option_get(const sal_option_table *table, const void *options,
                                  const char *name, char *text, size_t room, sal_error *err);

/* Replace zeros by defaults, where these are always the same, and check all ranges. Every function
 * that takes such options does so.
 * Returns: SAL_ERR_ARGUMENT, naming the field: "rate.warmup is -1; expected an integer of 0 or
 *          more".
 * Cost:    O(options).
 * Threads: any. */
SAL_API sal_status sal_option_resolve(const sal_option_table *table, void *options, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
