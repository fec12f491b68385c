/* Options by their names, for command lines, files and other languages: each struct of options has
 * a table of those that a text can say. */
#ifndef SALTUS_OPTIONS_H
#define SALTUS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The options of one struct: sal_run_option_table and so on. */
typedef struct sal_option_table sal_option_table;

/* What an option is. */
typedef enum sal_option_kind {
    SAL_OPTION_FLAG,  /* bool; as a text "yes" or "no" */
    SAL_OPTION_WHOLE, /* int64_t */
    SAL_OPTION_INT,   /* int */
    SAL_OPTION_SEED,  /* uint64_t */
    SAL_OPTION_REAL,  /* double */
    SAL_OPTION_WORD,  /* an enumeration, by its words */
    SAL_OPTION_TEXT   /* const char *, which must live as long as the options */
} sal_option_kind;

/* What a run or training that goes on from where another one stopped may do. */
typedef enum sal_option_resume {
    SAL_RESUME_SAME,  /* the option must be what it was */
    SAL_RESUME_NOTED, /* it may be another, which is noted */
    SAL_RESUME_ANY    /* it may be another */
} sal_option_resume;

/* An option. */
typedef struct sal_option_info {
    const char *name;         /* "swap-every"; in JSON "swap_every" */
    const char *field;        /* of the struct: "tempering.swap_every" */
    sal_option_kind kind;     /* what it is */
    const char *values;       /* what stands for its value: "N", "data|uniform"; NULL for a flag */
    const char *usual;        /* what holds without it: "1000", "a sweep, or 5"; NULL: nothing */
    const char *doc;          /* what it does; NULL: another reading of the option before it, which
                                 has the same name */
    sal_option_resume resume; /* whether it may change */
} sal_option_info;

/* Option `index` of a table, from 0; false past the end. */
SAL_API bool sal_option_list(const sal_option_table *table, int64_t index, sal_option_info *info);

/* Set an option by its name. Where 0 in the struct asks for the usual value and the option can be
 * none, the text "0" says none.
 * Params:  options: the struct that the table is of. name: '_' counts as '-'.
 * Returns: SAL_ERR_NOT_FOUND (no such option); SAL_ERR_ARGUMENT (not a value of
 *          it, or out of range; says "name text: expected .."). *options is then untouched.
 * Cost:    O(options).
 * Threads: any. */
SAL_API sal_status sal_option_set(const sal_option_table *table, void *options, const char *name,
                                  const char *text, sal_error *err);

/* The value of an option as the text that sets it, cut to `room` bytes; "" where it asks for a
 * usual value that is only known later.
 * Returns: SAL_ERR_NOT_FOUND (no such option).
 * Cost:    O(options).
 * Threads: any. */
SAL_API sal_status sal_option_get(const sal_option_table *table, const void *options,
                                  const char *name, char *text, size_t room, sal_error *err);

/* Put usual values in place of zeros, where they are always the same, and check all ranges. Every
 * function that takes such options does so.
 * Returns: SAL_ERR_ARGUMENT, naming the field: "rate.warmup is -1; expected an integer of 0 or
 *          more".
 * Cost:    O(options).
 * Threads: any. */
SAL_API sal_status sal_option_resolve(const sal_option_table *table, void *options, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
