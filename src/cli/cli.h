/* SPDX-License-Identifier: MIT */
/* What the subcommands share: options, errors, models, numbers. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <saltus/saltus.h>

/* sysexits */
enum { CLI_OK = 0, CLI_USAGE = 64, CLI_DATA = 65, CLI_NO_INPUT = 66, CLI_FAULT = 70, CLI_IO = 74 };

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "MODEL"; in brackets if it may be left out; FILE...: several */
    const char *doc;       /* one line */
    int (*run)(const struct cli_command *command, int argc, char **argv);
} cli_command;

/* Several ranks (ranks.c). Whether a command works on all that mpirun started; else the first one
 * works alone. Before and after one that does: the exit code. */
bool cli_on_ranks(const cli_command *command);
int cli_ranks_begin(void);
void cli_ranks_end(void);

/* Their communicator, NULL without; whether this is rank 0, which prints and writes. */
sal_comm *cli_comm(void);
bool cli_is_first(void);

/* At rank 0 of several: what it exchanged so far, in all and for each of n steps of work. */
void cli_ranks_report(int64_t n, const char *step);
#define CLI_VERBOSE_OPTION(to)                                                            \
    {                                                                                     \
        "verbose", CLI_FLAG, &(to), NULL, "on several ranks: print what rank 0 exchanged" \
    }

/* Report what reading a file found besides its content (NULL: nothing): as an entry of "remarks" in
 * the JSON object that the command prints, and on stderr, once, if it warns. */
void cli_remark(const char *text, bool warns);
/* What exact answers warn of. */
void cli_remark_exact(const sal_exact *exact);
void cli_remark_model(const sal_model *model);

/* Print the remarks that were not on stderr, in lines of a text summary. */
void cli_print_remarks(void);

/* The first exit code that is not CLI_OK of all ranks, whose message rank 0 prints. All ranks call
 * this before they wait for one another. */
int cli_agree(int code);

/* What rank 0 says, at all ranks; no, where it cannot be heard. */
bool cli_first_says(bool yes);

extern const cli_command cli_sample, cli_train, cli_value, cli_check, cli_stats, cli_bench,
    cli_list, cli_exact, cli_evaluate, cli_compare, cli_convert, cli_show, cli_report, cli_inpaint,
    cli_help;

/* CLI_LIBRARY: an option of one of the library's structs. */
typedef enum cli_kind { CLI_FLAG, CLI_INT, CLI_SEED, CLI_REAL, CLI_TEXT, CLI_LIBRARY } cli_kind;

/* An option --name; `value` points to a bool, int64_t, uint64_t, double, const char * or
 * cli_library. */
typedef struct cli_option {
    const char *name;
    cli_kind kind;
    void *value;
    const char *meta; /* what stands for its value in the help */
    const char *doc;
} cli_option;

/* A struct of options of the library, and their table. */
typedef struct cli_library {
    const sal_option_table *table;
    void *options;
} cli_library;

/* Room for a command's options, and the end. */
#define CLI_MOST_OPTIONS 80

/* Put the options of the library before those of the command. */
void cli_add_options(cli_option rows[CLI_MOST_OPTIONS], cli_library *library);

/* What the table says of an option; false for one of the command's own. */
bool cli_option_info(const cli_option *option, sal_option_info *info);

/* Put the usual values in and check them; the exit code. */
int cli_resolve(const cli_library *library);

/* Whether an option is among the words of the command line. */
bool cli_given(int argc, char **argv, const char *name);

/* Parse "--name value" and "--name=value" (of --out also "-o value") and exactly `n_arguments`
 * other words; or none, where they may be left out; or at least one and at most `n_arguments` of
 * "FILE...". Returns CLI_OK; CLI_USAGE after a message; or -1 after printing the help
 * that --help asked for. `options` ends with a NULL name. */
int cli_parse(const cli_command *command, int argc, char **argv, const cli_option *options,
              int n_arguments, const char **arguments);

/* What --help prints. */
void cli_help_print(const cli_command *command, const cli_option *options);

/* The commands, on stderr; CLI_USAGE. */
int cli_no_command(void);

/* A message with the nearest name; CLI_USAGE. */
int cli_unknown_command(const char *name);

/* Bytes of the value of an option: "512M", "4G", "1.5T" or a number of bytes; at least 1. NULL
 * leaves *bytes as it is. CLI_USAGE after a message. */
int cli_bytes(const char *option, const char *text, int64_t *bytes);

/* Seconds of the value of an option: "10s", "2m", "1h" or a number of seconds; above 0. CLI_USAGE
 * after a message. */
int cli_seconds(const char *option, const char *text, double *seconds);

/* Print "saltus: message" to stderr; the exit code of the status. */
int cli_fail(sal_status status, const sal_error *err);

#ifdef SALTUS_ANALYSE /* analysers see one file at a time: it is not CLI_OK */
#define cli_fail(status, err) (cli_fail(status, err), CLI_DATA)
#endif

/* The same with a message of the program's own. */
int cli_error(sal_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a mistake in the call. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The words of the command line, up to NULL, for what follows. */
void cli_set_words(char **argv);

/* Claim the file that an option or argument of the command line (a pointer into it) is to be
 * written to, before a long run that would end in vain: it can be written, is none of those that
 * the words name, by a link neither, and no other process writes it until this one ends. CLI_OK
 * (also for NULL), or CLI_USAGE or CLI_IO after a message. */
int cli_claim_output(const char *path);

/* What of a training's directory tells it from a directory. */
#define CLI_N_TRAINING_FILES 4
extern const char *const cli_training_files[CLI_N_TRAINING_FILES];

/* The values of an array that was read from `path` as codes [array->count]; NULL for `codes`: there
 * was no memory. CLI_DATA after a message when one is no whole number of 32 bits. */
int cli_codes(const char *path, const sal_array *array, int32_t *codes);

/* Read an array as sal_array_read does, and report its remark (cli_remark). */
sal_status cli_array_read(const char *path, sal_columns_from columns_from, sal_array *array,
                          sal_error *err);

/* The value of --columns-from, NULL where it is not given: CLI_OK, or CLI_USAGE after a message. */
int cli_columns_from(const char *text, sal_columns_from *columns_from);

#define CLI_COLUMNS_FROM_OPTION(text)                                                   \
    {                                                                                   \
        "columns-from", CLI_TEXT, &(text), "0|1",                                       \
            "index of the first column of libsvm files [found: 1 where nothing says 0]" \
    }

/* "f32", "f64" or NULL (0: the model's own); false after a message. */
bool cli_dtype(const char *text, sal_dtype *dtype);

/* Open a model as sal_model_open does and load parameters (NULL: its own); the exit code. */
int cli_open(const char *specification, const char *dtype, const char *params, sal_model **model);

/* Entries of a variable in marginals: its states, or SAL_COUNT_LEVELS of a count without a cap. */
int64_t cli_levels(const sal_space *space, int64_t variable);

/* Zeros for the marginals of all variables; `entries` (may be NULL) gets their number. To be freed;
 * NULL: no memory. */
double *cli_marginals(const sal_space *space, int64_t *entries);

/* The ready-made model that a specification names; false: there is none. */
bool cli_find_builtin(const char *specification, sal_builtin_info *info);

/* Refuse a denoising chain, whose f is no log-probability of a state, for this command. */
int cli_check_joint(const char *command, const sal_model *model);

/* Whether it is a directory to which 'saltus train' wrote a model. */
bool cli_is_training(const char *specification);

/* Whether it is a formula, a file or a directory of a training, which say what parameters are; not
 * the name of a ready-made model beside which a directory of that name lies. */
bool cli_is_saved(const char *specification);

/* Variables fixed by --clamp 3=1,7=0 (or rain=yes, where the model has names, which go before
 * numbers) and --evidence FILE. */
typedef struct cli_clamps {
    int64_t n;
    int64_t *variables;
    int32_t *codes;
} cli_clamps;

/* What the options --clamp, --evidence and --sample say; NULL and 0: not given. */
typedef struct cli_fixed {
    const char *clamp, *evidence;
    int64_t sample; /* of the evidence, from 1 */
} cli_fixed;

/* The rows of an option table for them. */
#define CLI_FIXED_OPTIONS(f)                                                                     \
    { "clamp", CLI_TEXT, &(f).clamp, "I=V,...", "fix variables to codes, by numbers or names" }, \
        { "evidence", CLI_TEXT, &(f).evidence, "FILE",                                           \
          "fix variables to the evidence in a .uai.evid file" },                                 \
    {                                                                                            \
        "sample", CLI_INT, &(f).sample, "K",                                                     \
            "which sample of an --evidence FILE with several, from 1 [the only one]"             \
    }

/* Read what is given into a zeroed list. */
int cli_clamps_read(const cli_fixed *fixed, const sal_model *model, cli_clamps *list);
void cli_clamps_free(cli_clamps *list);

/* Put the clamped model in place of *model, if anything is clamped. */
int cli_clamps_apply(const cli_clamps *list, sal_model **model);

/* Settings of a sampler by options of their own, each as text. */
typedef struct cli_sampler_options {
    const char *radius, *block, *hops, *balance, *scan;
    char specification[1024]; /* what cli_sampler made of them */
} cli_sampler_options;

/* The rows of an option table for them. */
#define CLI_SAMPLER_OPTIONS(o)                                                              \
    { "radius", CLI_TEXT, &(o).radius, "adapt|search|R", "setting radius of the sampler" }, \
        { "block", CLI_TEXT, &(o).block, "B", "setting block of the sampler" },             \
        { "hops", CLI_TEXT, &(o).hops, "adapt|N", "setting hops of the sampler" },          \
        { "balance", CLI_TEXT, &(o).balance, "sqrt|barker|min|max",                         \
          "setting balance of the sampler" },                                               \
    {                                                                                       \
        "scan", CLI_TEXT, &(o).scan, "systematic|shuffled|random|adaptive",                 \
            "setting scan of the sampler"                                                   \
    }

/* Add them to a sampler's name, which NULL leaves to the model; `replace`: in place of the settings
 * that it has. CLI_USAGE after a message. */
int cli_sampler(cli_sampler_options *options, const char **sampler, bool replace);

/* One sampler of a list --samplers: NAME or NAME:key=value,... (commas separate samplers and
 * settings: what has a '=' and no name before it belongs to the sampler before). */
typedef struct cli_sampler_item {
    char name[256];          /* as it was given */
    char specification[256]; /* without the step size */
    double step_size;        /* of "step-size=X" among the settings; 0: not given */
} cli_sampler_item;

/* The next one; *list moves on, to the NUL after the last. CLI_USAGE after a message. */
int cli_next_sampler(const char **list, cli_sampler_item *item);

/* A progress line on stderr, if that is a terminal: `what`, share done, rate, time left, and a note
 * of the caller's. */
typedef struct cli_progress {
    bool on, shown;
    double start, last;
    int64_t from; /* what was done before the start; -1: by the first call */
    double limit; /* seconds after which it ends anyway; 0: none */
    char note[128];
} cli_progress;
cli_progress cli_progress_begin(void);
void cli_progress_wait(cli_progress *progress, const char *what); /* what comes first */
void cli_progress_show(cli_progress *progress, const char *what, int64_t done, int64_t total);
void cli_progress_end(cli_progress *progress);

/* The operations of formulas as the page docs/ops.md. */
void cli_list_ops_markdown(void);

/* Start the program again if OpenBLAS should have chosen other kernels. What the user has set
 * stays. The number of its threads, and how threads wait, are set before this. */
void cli_set_environment(char **argv);

/* Set when the user pressed Ctrl-C, after cli_catch_interrupt(); SIGTERM, SIGUSR1 and SIGHUP count
 * as that, but a SIGHUP that nohup ignores. The second one of a kind kills the program. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

#endif
