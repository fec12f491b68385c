/* SPDX-License-Identifier: MIT */
/* What the subcommands share: options, errors, models, numbers. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <saltus/figure.h>
#include <saltus/program.h>
#include <saltus/saltus.h>

/* sysexits */
enum { CLI_OK = 0, CLI_USAGE = 64, CLI_DATA = 65, CLI_NO_INPUT = 66, CLI_FAULT = 70, CLI_IO = 74 };

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "MODEL"; in brackets if it may be left out; FILE...: several */
    const char *doc;       /* one line */
    /* Run the command with the words after its name. Returns the exit code, or -1 after printing
     * the help. */
    int (*run)(const struct cli_command *command, int argc, char **argv);
} cli_command;

/* Several ranks (ranks.c). Whether a command works on all ranks that mpirun started; if not, rank 0
 * works alone. A command that does is run between cli_ranks_begin, which returns an exit code, and
 * cli_ranks_end. */
bool cli_on_ranks(const cli_command *command);
int cli_ranks_begin(void);
void cli_ranks_end(void);

/* The communicator of the ranks, NULL if the program works alone; whether this is rank 0, which
 * prints and writes. */
sal_comm *cli_comm(void);
bool cli_is_first(void);

/* At rank 0 of several: print what rank 0 has exchanged so far, in all and for each of n steps of
 * work, each of which is called `step`. */
void cli_ranks_report(int64_t n, const char *step);
#define CLI_VERBOSE_OPTION(to)                                                            \
    {                                                                                     \
        "verbose", CLI_FLAG, &(to), NULL, "on several ranks: print what rank 0 exchanged" \
    }

/* Report what reading a file found besides its content (NULL: nothing): as an entry of "remarks" in
 * the JSON object that the command prints, and on stderr, once, if it warns. */
void cli_remark(const char *text, bool warns);
/* Report the warning about exact answers, if there is one; then the remark of a model. */
void cli_remark_exact(const sal_exact *exact);
void cli_remark_model(const sal_model *model);

/* Print the remarks that were not on stderr, in lines of a text summary. */
void cli_print_remarks(void);

/* The exit code of the first rank for which it is not CLI_OK, else CLI_OK; rank 0 prints the
 * message of that rank. All ranks call this before they wait for one another. */
int cli_agree(int code);

/* Rank 0's value of `yes`, at all ranks; false if it cannot be received. */
bool cli_first_says(bool yes);

extern const cli_command cli_sample, cli_train, cli_value, cli_check, cli_stats, cli_bench,
    cli_list, cli_exact, cli_logz, cli_evaluate, cli_compare, cli_convert, cli_show, cli_report,
    cli_inpaint, cli_help;

/* CLI_LIBRARY: an option of one of the library's structs. */
typedef enum cli_kind { CLI_FLAG, CLI_INT, CLI_SEED, CLI_REAL, CLI_TEXT, CLI_LIBRARY } cli_kind;

/* An option --name; `value` points to a bool, int64_t, uint64_t, double, const char * or
 * cli_library. */
typedef struct cli_option {
    const char *name;
    cli_kind kind;
    void *value;
    const char *meta; /* the placeholder of its value in the help */
    const char *doc;
} cli_option;

/* A struct of options of the library, and their table. */
typedef struct cli_library {
    const sal_option_table *table;
    void *options;
} cli_library;

/* Room for a command's options, and the end. */
#define CLI_MOST_OPTIONS 80

/* Put the options of the library before the command's own, in `rows`, which a NULL name ends. */
void cli_add_options(cli_option rows[CLI_MOST_OPTIONS], cli_library *library);

/* Set *info to the entry of an option in its table of the library; false for an option of the
 * command's own. */
bool cli_option_info(const cli_option *option, sal_option_info *info);

/* Set options that were not given to their defaults, and check all. Returns the exit code. */
int cli_resolve(const cli_library *library);

/* Whether an option is among the words of the command line. */
bool cli_given(int argc, char **argv, const char *name);

/* Parse "--name value" and "--name=value" (of --out also "-o value") and exactly `n_arguments`
 * other words; or none, where they may be left out; or at least one and at most `n_arguments` of
 * "FILE...". Returns CLI_OK; CLI_USAGE after a message; or -1 after printing the help
 * that --help asked for. `options` ends with a NULL name. */
int cli_parse(const cli_command *command, int argc, char **argv, const cli_option *options,
              int n_arguments, const char **arguments);

/* A function that prints something about a command and its options to stdout, as --help does; the
 * list of options ends with a NULL name. */
typedef void cli_help_writer(const cli_command *command, const cli_option *options);

/* Set what cli_parse calls for --help. A command's options are a table in its run(), so this is
 * also the way to get at them: run the command with --help. */
void cli_set_help_writer(cli_help_writer *writer);

/* Print the commands on stderr. Returns CLI_USAGE. */
int cli_no_command(void);

/* Print that there is no such command, with the nearest name. Returns CLI_USAGE. */
int cli_unknown_command(const char *name);

/* Bytes of the value of an option: "512M", "4G", "1.5T" or a number of bytes; at least 1. NULL
 * leaves *bytes as it is. CLI_USAGE after a message. */
int cli_bytes(const char *option, const char *text, int64_t *bytes);

/* Seconds of the value of an option: "10s", "2m", "1h" or a number of seconds; above 0. CLI_USAGE
 * after a message. */
int cli_seconds(const char *option, const char *text, double *seconds);

/* Print "saltus: message" to stderr. Returns the exit code for the status. */
int cli_fail(sal_status status, const sal_error *err);

#ifdef SALTUS_ANALYSE /* analysers see one file at a time: it is not CLI_OK */
#define cli_fail(status, err) (cli_fail(status, err), CLI_DATA)
#endif

/* As cli_fail, with a message of the program's own. */
int cli_error(sal_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print a message about a mistake in the call. Returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set the words of the command line, up to NULL, for cli_claim_output. */
void cli_set_words(char **argv);

/* Claim the file that an option or argument of the command line (a pointer into it) is to be
 * written to, before a long run that would end in vain: check that the file can be written and is
 * none of the files that the words name, also by links, and keep other processes from writing it
 * until this one ends. CLI_OK (also for NULL), or CLI_USAGE or CLI_IO after a message. */
int cli_claim_output(const char *path);

/* Write log10 of Z in PR, a format of the UAI competitions, with the fewest digits, 15 or more,
 * that keep the number. */
sal_status cli_save_pr(double log_z, const char *path, sal_error *err);

/* The files of a training's directory by which it is recognised. */
#define CLI_N_TRAINING_FILES 4
extern const char *const cli_training_files[CLI_N_TRAINING_FILES];

/* Convert an array that was read from `path` to codes [array->count]; NULL for `codes`: there was
 * no memory. Returns the exit code: CLI_DATA, after a message, when an element is no whole number
 * of 32 bits. */
int cli_codes(const char *path, const sal_array *array, int32_t *codes);

/* Read an array as sal_array_read does, and report its remark (cli_remark). */
sal_status cli_array_read(const char *path, sal_columns_from columns_from, sal_array *array,
                          sal_error *err);

/* Parse the value of --columns-from, NULL if it is not given: CLI_OK, or CLI_USAGE after a
 * message. */
int cli_columns_from(const char *text, sal_columns_from *columns_from);

#define CLI_COLUMNS_FROM_OPTION(text)                                                   \
    {                                                                                   \
        "columns-from", CLI_TEXT, &(text), "0|1",                                       \
            "index of the first column of libsvm files [found: 1 where nothing says 0]" \
    }

/* Parse "f32", "f64" or NULL (0: the model's own type); false after a message. */
bool cli_dtype(const char *text, sal_dtype *dtype);

/* Open a model as sal_model_open does, and load parameters (NULL: its own). Returns the exit
 * code. */
int cli_open(const char *specification, const char *dtype, const char *params, sal_model **model);

/* cli_open, and fix the sums of blocks that a text BLOCK=SUM,... gives (NULL: none). Returns the
 * exit code. */
int cli_open_fixed(const char *specification, const char *dtype, const char *params,
                   const char *sums, sal_model **model);
#define CLI_FIX_SUM_OPTION(text)                                                   \
    {                                                                              \
        "fix-sum", CLI_TEXT, &(text), "BLOCK=SUM,...",                             \
            "keep to states in which the values of a block's variables have a sum" \
    }

/* Entries of a variable in marginals: its states, or SAL_COUNT_LEVELS of a count without a cap. */
int64_t cli_levels(const sal_space *space, int64_t variable);

/* Zeros for the marginals of all variables; `entries` (may be NULL) gets their number. To be freed;
 * NULL: no memory. */
double *cli_marginals(const sal_space *space, int64_t *entries);

/* The ready-made model that a specification names; false: there is none. */
bool cli_find_builtin(const char *specification, sal_builtin_info *info);

/* Refuse a denoising chain, whose f is no log-probability of a state, for this command. */
int cli_check_joint(const char *command, const sal_model *model);

/* Whether a specification is a directory to which 'saltus train' wrote a model. */
bool cli_is_training(const char *specification);

/* What a specification that is a formula begins with. */
#define CLI_FORMULA "formula:"

/* Whether a specification is a formula, a file or a directory of a training, which determine the
 * parameters; not the name of a ready-made model, even if a directory of that name exists. */
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

/* Read the clamps that the options give into a zeroed list. Returns the exit code. */
int cli_clamps_read(const cli_fixed *fixed, const sal_model *model, cli_clamps *list);
void cli_clamps_free(cli_clamps *list);

/* Put the clamped model in place of *model, if anything is clamped. */
int cli_clamps_apply(const cli_clamps *list, sal_model **model);

/* Settings of a sampler by options of their own, each as text. */
typedef struct cli_sampler_options {
    const char *radius, *block, *hops, *balance, *scan;
    char specification[1024]; /* the specification that cli_sampler made of the settings */
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

/* Add the settings to a sampler's name (NULL: the model's choice); `replace`: in place of the
 * settings that the name has. CLI_USAGE after a message. */
int cli_sampler(cli_sampler_options *options, const char **sampler, bool replace);

/* One sampler of a list --samplers: NAME or NAME:key=value,... (commas separate samplers and
 * settings: what has a '=' and no name before it belongs to the sampler before). */
typedef struct cli_sampler_item {
    char name[256];          /* the text as it was given */
    char specification[256]; /* the name and settings, without the step size */
    double step_size;        /* of "step-size=X" among the settings; 0: not given */
} cli_sampler_item;

/* Read the next sampler, and move *list to the one after it, or to the NUL after the last.
 * CLI_USAGE after a message. */
int cli_next_sampler(const char **list, cli_sampler_item *item);

/* A progress line on stderr, if stderr is a terminal: `what`, share done, rate, time left, and the
 * caller's note. */
typedef struct cli_progress {
    bool on, shown;
    double start, last;
    int64_t from; /* work done before the start; -1: take it from the first call */
    double limit; /* seconds after which the work ends in any case; 0: none */
    char note[128];
} cli_progress;
/* Seconds of a monotonic clock. */
double cli_clock(void);
cli_progress cli_progress_begin(void);
void cli_progress_wait(cli_progress *progress, const char *what); /* before the first step */
void cli_progress_show(cli_progress *progress, const char *what, int64_t done, int64_t total);
void cli_progress_end(cli_progress *progress);

/* The operations of formulas as the page docs/ops.md. */
void cli_list_ops_markdown(void);

/* Start the program again if OpenBLAS should have chosen other kernels, unless the user has set
 * them. The number of threads of OpenBLAS, and how threads wait, are set before `main`. */
void cli_set_environment(char **argv);

/* Whether the user pressed Ctrl-C after cli_catch_interrupt(). SIGTERM, SIGUSR1 and SIGHUP (unless
 * nohup ignores it) count as Ctrl-C. The second signal of a kind kills the program. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

#endif
