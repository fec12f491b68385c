/* SPDX-License-Identifier: MIT */
/* What the program `saltus` needs of the library beside saltus.h: its options by name, lists for
 * help, files that no result needs, and figures that it prints.
 *
 * saltus.h does not include this header, nor figure.h: what they declare may change in any version.
 * A program of yours may use them if you are ready to change it with a new version. */
#ifndef SALTUS_PROGRAM_H
#define SALTUS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <saltus/options.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types of other headers, which programs that call functions with them include */

/* Options of annealed importance sampling (evaluate.h). */
typedef struct sal_ais_options sal_ais_options;
/* A communicator (mpi.h). */
typedef struct sal_comm sal_comm;
/* Rows of data (data.h). */
typedef struct sal_data sal_data;
/* Exact answers about a model (model.h). */
typedef struct sal_exact sal_exact;
/* An estimate of log Z (log_z.h). */
typedef struct sal_log_z_estimate sal_log_z_estimate;
/* Grey pictures (figure.h). */
typedef struct sal_images sal_images;
/* A model (model.h). */
typedef struct sal_model sal_model;
/* A space (space.h). */
typedef struct sal_space sal_space;
/* A description of a sampler (sample.h). */
typedef struct sal_sampler_info sal_sampler_info;
/* Options of a training (train.h). */
typedef struct sal_train_options sal_train_options;
/* A verdict on a model's samples (evaluate.h). */
typedef struct sal_verdict sal_verdict;

/* ---- options of structs by name */

/* The options of one struct. */
typedef struct sal_option_table sal_option_table;

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

/* Put in place of zeros what suits the objective, the model and the data, as sal_train does: with
 * SAL_DENOISING the sampler "dlmcf:balance=barker", 4 steps, and 18 rows of each level in a batch,
 * or as many as there are; with samples of an alignment `pearson` -1, and with SAL_PCD and SAL_SGD
 * without momentum, if f is affine in the parameters, the learning rate .04 (states / 5)^2, times
 * 136 / sites if these are more. For the rest see sal_option_resolve.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(size of the formula).
 * Threads: any. */
SAL_API sal_status sal_train_complete(const sal_model *model, const sal_data *data,
                                      sal_train_options *options, sal_error *err);

/* ---- "did you mean" */

/* The nearest of some names to a mistyped word, for "did you mean". */
typedef struct sal_nearest {
    const char *word; /* as it was typed */
    const char *name; /* the nearest of the names offered so far; NULL if none is near */
    int distance;     /* what that of a nearer name must be below */
    char hint[64];    /* what sal_nearest_hint wrote */
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

/* End a message about the word: "did you mean 'NAME'?", in nearest->hint; `otherwise` if none of
 * the names is near.
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API const char *sal_nearest_hint(sal_nearest *nearest, const char *otherwise);

/* ---- lists, for help and completion (sal_flat_list gives them as JSON) */

/* A description of one ready-made model. */
typedef struct sal_builtin_info {
    const char *name;            /* the name in a specification */
    const sal_setting *settings; /* ends with a NULL name */
    const char *doc;             /* the formula, one line */
    const char *source;          /* paper and equation */
    const char *file; /* what file=PATH may name ("a graph"); NULL: the model takes no file */
    bool needs_file;  /* whether the model needs a file */
} sal_builtin_info;

/* Get ready-made model `index`, counted from 0; false past the end. */
SAL_API bool sal_builtin_list(int64_t index, sal_builtin_info *info);

/* Get sampler `index`, counted from 0; false past the end. */
SAL_API bool sal_sampler_list(int64_t index, sal_sampler_info *info);

/* A description of one operation. */
typedef struct sal_op_info {
    const char *name;   /* the name in saved tapes */
    const char *doc;    /* the formula, one line */
    const char *degree; /* how its value's degree in the state follows from the inputs' */
    int32_t inputs;     /* number of inputs; -1: one or more */
    uint32_t fixed;     /* bit k: input k, counted from 0, must not depend on the state */
    bool changes; /* whether the value is updated after changes of single variables; else it is
                     evaluated anew */
} sal_op_info;

/* Get operation `index`, counted from 0; false past the end. */
SAL_API bool sal_op_list(int64_t index, sal_op_info *info);

/* A file format for models and data. */
typedef struct sal_format_info {
    const char *name;            /* "graphml" */
    const char *doc;             /* a description, in one line */
    const char *content;         /* what the file holds, such as "graph", "network" or "array" */
    const char *const *suffixes; /* suffixes of such files' names, the usual one first; ends with
                                    NULL. A format without suffixes is told by its content */
    bool reads;                  /* whether Saltus reads the format */
    bool writes;                 /* whether Saltus writes the format */
    const char *model;           /* the model that such a file alone gives, or NULL */
} sal_format_info;

/* Get format `index`, counted from 0; formats of one content are adjacent. False past the end. */
SAL_API bool sal_format_list(int64_t index, sal_format_info *info);

/* Print the program of a tape model, before and after its passes, one line for each node, and the
 * memory that it takes.
 * Returns: SAL_ERR_IO when the stream has an error; SAL_ERR_MEMORY.
 * Cost:    O(nodes), and the memory of 32 chains.
 * Threads: any. */
SAL_API sal_status sal_model_print_program(const sal_model *model, FILE *stream, sal_error *err);

/* ---- files */

/* Tell the format of a file by its name and content.
 * Returns: SAL_ERR_ARGUMENT when no format fits; SAL_ERR_NOT_FOUND; SAL_ERR_DATA (damaged gzip);
 *          SAL_ERR_IO; SAL_ERR_MEMORY. On failure *info is untouched.
 * Cost:    O(size of the file).
 * Threads: any. */
SAL_API sal_status sal_format_find(const char *path, sal_format_info *info, sal_error *err);

/* Find the letters that stand for the states of all variables of a space, one for each state:
 * `alphabet`, a name or letters; if it is NULL, the letters of the space, or else
 * those of the first named alphabet that has as many. Where the alphabet has one letter more, the
 * gap is left out.
 * Params:  letters  [SAL_ALPHABET_ROOM] (saltus/space.h).
 * Returns: SAL_ERR_UNSUPPORTED when the variables are not all categorical with as many states as
 *          letters; SAL_ERR_ARGUMENT for a text that is no alphabet. `letters` are then unchanged.
 * Cost:    O(blocks).
 * Threads: any. */
SAL_API sal_status sal_space_alphabet(const sal_space *space, const char *alphabet, char *letters,
                                      sal_error *err);

/* The gauge of the parameters of a Potts model. f changes by a constant only. */
typedef enum sal_gauge {
    SAL_GAUGE_AS_IS = 0,  /* that of the file */
    SAL_GAUGE_ZERO_SUM,   /* sums over the states of h_i, and of J_ij for either site, are 0 */
    SAL_GAUGE_LATTICE_GAS /* h_i and J_ij are 0 where a state is 0 */
} sal_gauge;

/* How to convert a file. Zeros are the defaults. */
typedef struct sal_convert_options {
    const char *from; /* the format of the file; NULL: the one that its name and content tell */
    const char *to;   /* that of the new file; NULL: the one that its name tells */
    sal_columns_from columns_from; /* of a libsvm file; FIND for any other one */
    sal_gauge gauge; /* of parameters of a Potts model; AS_IS for anything else, and for a model
                        the zero-sum gauge, or its own where most of its couplings are 0 */
    const char *alphabet; /* of sequences, of parameters of a Potts model that do not say it, and of
                             draws as an array: a name or letters (space.h); NULL: found */
} sal_convert_options;

/* Write what a file holds in another format. It may be a network, a graph, an alignment, parameters
 * of a Potts model or an array (sal_format_list), a saved tape, or the directory of a training. A
 * model of a tape or training can be written as parameters if it is a Potts model: its variables
 * have labels, equally many, and its formula shows that f has terms of one and of two variables
 * only.
 * Params:  in    its path; or the specification of a model of graphs, for a random graph
 *                ("max-cut:nodes=100") or a file ("ising:file=PATH,vartype=spin").
 *          options  NULL for the defaults.
 *          remark  gets what was dropped or decided in reading `in` or in writing `out`, as
 *                  sal_model_remark, or NULL.
 *                  Free it by sal_free. NULL: not wanted.
 * Returns: SAL_ERR_ARGUMENT (no such format, one that cannot express what the file holds, a model
 *          that is no Potts model, a gauge or an alphabet for anything else, columns_from of no
 *          libsvm file); SAL_ERR_DATA; SAL_ERR_NOT_FOUND; SAL_ERR_IO; SAL_ERR_MEMORY. On failure
 *          the file `out` is as before.
 * Cost:    O(size of the files); of N states of a Potts model O(N^2).
 * Threads: any; for .nc as sal_draw_writer_open. */
SAL_API sal_status sal_convert(const char *in, const char *out, const sal_convert_options *options,
                               char **remark, sal_error *err);

/* Write marginals, as exact answers or draws give them, for sal_marginals_read and other programs.
 * NAME.MAR: the format of the UAI competitions. Any other name: JSON, {"log_z": ..,
 * "evidence": number of clamped variables, "marginals": [[p(0), p(1), ..], ..]} with "names" and
 * "states" if the model has names (sal_model_label). The file has a row for every variable; those
 * of clamped variables are point masses. It is replaced at once.
 * Params:  marginals  of the model's variables, in the layout of sal_run_marginals.
 *          log_z      NaN: not known, and left out with "evidence".
 * Returns: SAL_ERR_UNSUPPORTED (NAME.MAR with a count without a cap); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(entries).
 * Threads: any. */
SAL_API sal_status sal_marginals_write(const char *path, const sal_model *model,
                                       const double *marginals, double log_z, sal_error *err);

/* Read a file of marginals, in either format of sal_marginals_write, for a model. Of a clamped
 * model the rows of clamped variables must be point masses at their codes.
 * Params:  marginals  [sum of states] of the model's variables.
 *          log_z      natural; NaN if the file has none. Of NAME.MAR it comes from NAME.PR, if that
 *                     file exists. NULL: not wanted.
 * Returns: SAL_ERR_DATA for another kind of file, or of another model; SAL_ERR_ARGUMENT when the
 *          marginals are for other evidence; SAL_ERR_NOT_FOUND; SAL_ERR_UNSUPPORTED (counts without
 *          a cap); SAL_ERR_IO; SAL_ERR_MEMORY. Outputs are then untouched.
 * Cost:    O(size of the file).
 * Threads: any. */
SAL_API sal_status sal_marginals_read(const char *path, const sal_model *model, double *marginals,
                                      double *log_z, sal_error *err);

/* Replace the content of a file at once. Until then, and on failure, the file at PATH is unchanged.
 * Returns: SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(size).
 * Threads: any. */
SAL_API sal_status sal_file_write(const char *path, const void *bytes, int64_t size,
                                  sal_error *err);

/* A place for a file that is written later. */
typedef struct sal_reservation sal_reservation;

/* Keep other processes from writing the file PATH by this library, or from reserving it, so that a
 * long run does not end with the file of another one. This process may write it, once. PATH is not
 * touched; an empty PATH.tmp lies beside it until it is written or released.
 * Returns: SAL_ERR_IO where another process has reserved it or is writing it, where PATH is a
 *          directory or device, or its directory cannot be written; SAL_ERR_ARGUMENT for NULL;
 *          SAL_ERR_MEMORY.
 * Cost:    O(1), and an open file until the release.
 * Threads: any; but not while another thread of the process writes or releases the same path. */
SAL_API sal_status sal_file_reserve(const char *path, sal_reservation **out, sal_error *err);

/* Give a place back; NULL is fine. */
SAL_API void sal_file_release(sal_reservation *reservation);

/* Write grey pictures in a grid, separated by grey lines.
 * Params:  path     a PNG file, replaced at once.
 *          images   the pictures, as in figures (figure.h).
 *          zoom     side, in pixels of the sheet, of one pixel of a picture; 0: 1.
 * Returns: SAL_ERR_ARGUMENT (sides of the sheet are at most 1,000,000); SAL_ERR_UNSUPPORTED when
 *          the library was built without libpng; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(pixels of the sheet).
 * Threads: any. */
SAL_API sal_status sal_sheet_write(const char *path, const sal_images *images, int64_t zoom,
                                   sal_error *err);

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

/* ---- threads */

/* The number of threads that an option `threads` stands for: itself, or for 0 the (first) number of
 * the environment's OMP_NUM_THREADS, else the number of processors that the calling thread may use.
 * Threads: any, while none changes the environment. */
SAL_API int sal_threads_number(int threads);

/* Call work(context, k) for k = 0 .. pieces - 1, in no order, on several threads, of which the
 * caller is one. Calls of BLAS in work() run on one thread. Returns when all are done.
 * Params:  threads  as in sal_threads_number. There are fewer where the system refuses to start
 *                   so many, and inside of work() there is the caller alone.
 * Cost:    some microseconds. The other threads are kept for later calls of any caller, on the
 *          processors of the one that they were started for; they sleep until the process ends, so
 *          an object with the static library in it must not be unloaded.
 * Threads: any, each with other threads of its own. A child process after fork() starts new ones;
 *          one that was forked inside of work() must not return from it. */
SAL_API void sal_threads_run(int64_t pieces, int threads,
                             void (*work)(void *context, int64_t piece), void *context);

/* ---- figures that the program reports */

/* Compare the pair correlations of two samples: Pearson's correlation of their connected pair
 * frequencies. 1 means equal up to a factor.
 * Math:    f_i(x) is the weighted share of rows with s_i = x, f_ij(x, y) that of rows with s_i = x
 *          and s_j = y, and c_ij(x, y) = f_ij(x, y) - f_i(x) f_j(y), without a pseudocount. The
 *          result is cov(c^a, c^b) / sqrt(var c^a var c^b) over all pairs i > j and all their
 *          states.
 * Params:  space: 2 variables or more, with 256 states at most. a, b: samples of its states, of
 *          which rows, variables, codes and weight count (weights positive and finite, or NULL for
 *          equal ones); they may be the same. threads: as in sal_threads_number. correlation: not
 *          NULL; NaN if all entries of a sample are equal, as of one row. limit: NULL, or receives
 *          what the correlation would be on average if the rows of b were independent and had the
 *          frequencies of a: sqrt(S / (S + N / rows)), with S = sum c_ij(x, y)^2 and N the sum of
 *          the variances of (s_i = x) - f_i(x) times (s_j = y) - f_j(y); rows are (sum w)^2 / sum
 *          w^2 of the weights.
 * Returns: SAL_ERR_ARGUMENT (names the row of a bad code or weight); SAL_ERR_MEMORY. *correlation
 *          is then untouched.
 * Cost:    O(rows V^2 + pairs of states), and 16 bytes for each pair of states.
 * Threads: any; works on `threads` threads, whose number does not change the result.
 * Source:  Figliuzzi, Barrat-Charlaix & Weigt (2018), Molecular Biology and Evolution 35(4). The
 *          program adabmDCA stops training by the same number; its data have a pseudocount of
 *          1 / (sum of the weights). */
SAL_API sal_status sal_stats_pair_correlation(const sal_space *space, const sal_data *a,
                                              const sal_data *b, int threads, double *correlation,
                                              double *limit, sal_error *err);

/* Write draws as an array of shape (1, draws, variables), uint8, or int32 where a variable has more
 * than 256 states or no cap, as sal_run_save writes the draws of one chain. Draws of a clamped
 * model are written with the clamped variables.
 * Params:  path   ends in ".npy".
 *          codes  [draws x V] of the model's variables.
 * Returns: SAL_ERR_UNSUPPORTED for another kind of file; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(entries).
 * Threads: any. */
SAL_API sal_status sal_draws_write(const char *path, const sal_model *model, int64_t draws,
                                   const int32_t *codes, sal_error *err);

/* Write exact answers as a JSON object, as sal_flat_exact does, to be freed by sal_free.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: any. */
SAL_API sal_status sal_exact_json(const sal_exact *exact, char **json, sal_error *err);

/* Write an estimate of log Z as a JSON object, as sal_flat_log_z does, to be freed by sal_free.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: any. */
SAL_API sal_status sal_log_z_json(const sal_log_z_estimate *estimate, char **json, sal_error *err);

/* Estimate log Z and the log-likelihood of held-out rows, as sal_flat_evaluate does, with options
 * as a struct, of which reverse_from is not used.
 * Returns: as sal_flat_evaluate.
 * Cost:    as sal_flat_evaluate.
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_evaluate_json(sal_model *model, const sal_ais_options *options,
                                     const char *directory, const sal_data *test,
                                     const sal_data *samples,
                                     void (*report)(const char *direction, void *data), void *data,
                                     char **json, sal_error *err);

/* Write a verdict as a JSON object, as sal_flat_verdict does, to be freed by sal_free.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: any. */
SAL_API sal_status sal_verdict_json(const sal_verdict *verdict, char **json, sal_error *err);

/* ---- processes that the program starts with */

/* Whether mpirun, srun or the like started this process, by the variables that they set; and as
 * which rank (NULL is fine). MPI is not initialised for this. */
SAL_API bool sal_comm_launched(int64_t *rank);

/* Make the failure of any rank the failure of all: each gives its status, and *err with a message
 * where it is not SAL_OK; all get those of the first rank that failed. Call it before work that all
 * ranks share, so that none waits for one that gave up. NULL: `status` itself.
 * Returns: SAL_OK if all gave it; else the first other status; SAL_ERR_IO.
 * Cost:    an exchange of 4 bytes with all ranks; of a failure, one of its message.
 * Threads: that of MPI. */
SAL_API sal_status sal_comm_agree(sal_comm *comm, sal_status status, sal_error *err);

/* Give rank 0's data to all ranks: what it decided, or what only it knows. NULL: nothing to do.
 * Returns: SAL_ERR_IO.
 * Cost:    an exchange of so many bytes.
 * Threads: that of MPI. */
SAL_API sal_status sal_comm_broadcast(sal_comm *comm, void *data, int64_t bytes, sal_error *err);

/* What a communicator was used for, since it was made: calls of MPI that exchange something, and
 * bytes that this rank sent and received. */
typedef struct sal_comm_traffic {
    int64_t calls;    /* number of calls */
    int64_t sent;     /* bytes that this rank sent */
    int64_t received; /* bytes that it received */
} sal_comm_traffic;

/* The same of a communicator; zeros of NULL. */
SAL_API sal_comm_traffic sal_comm_count(const sal_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
