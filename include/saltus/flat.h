/* SPDX-License-Identifier: MIT */
/* The library for other languages: handles, numbers, texts and plain arrays only.
 *
 * Functions of the other headers whose arguments are already such can be called from other
 * languages as they are: sal_space_create, sal_model_evaluate, sal_run_draws, sal_stats_diagnose
 * and many more. This header has the rest: what takes or gives structs elsewhere takes options as
 * text and gives results as JSON here. Python's package `saltus` is made of nothing else.
 *
 * Structs are never seen but for sal_error: an int (the status) and 1024 bytes (the message).
 * Results as JSON are strings to be freed by sal_free. JSON lacks NaN, which is null there, and
 * infinities, which are the texts "inf" and "-inf". Callbacks run while the function that was given
 * them runs, with the `data` given beside them.
 *
 * This header, and those functions of the others, are the library's stable binary interface. Within
 * a minor version they keep their arguments and their JSON keys (keys may be added), so that a
 * program runs with every library of that version without being compiled again. The structs of
 * other headers promise this for sources only, because they may gain fields. */
#ifndef SALTUS_FLAT_H
#define SALTUS_FLAT_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/ad.h>
#include <saltus/chains.h>
#include <saltus/data.h>
#include <saltus/meeting.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/sample.h>
#include <saltus/space.h>
#include <saltus/status.h>
#include <saltus/train.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: 1000 times the major plus the minor version of the library. A
 * program made for another number must not go on.
 * Threads: any. */
SAL_API int sal_flat_version(void);

/* What there is to choose from, as a JSON array of objects: the same as `saltus list WHAT --json`.
 * Params:  what  "samplers", "models", "ops", "formats"; "options", which has the options of every
 *                struct: {"of": "run", "name": .., "kind": .., "values": .., "usual": .., "doc":
 *                ..}; or "figures", which has what sal_flat_run_summary gives: {"name": "ess.min"
 *                for ["ess"]["min"], "field": of sal_run_summary or null, "unit": .., "when":
 *                which runs have it, null for all, "doc": ..}.
 * Returns: SAL_ERR_NOT_FOUND (another word); SAL_ERR_MEMORY.
 * Cost:    O(entries).
 * Threads: any. */
SAL_API sal_status sal_flat_list(const char *what, char **json, sal_error *err);

/* ---- spaces and formulas
 *
 * Nodes are numbers of a tape, from 0. A mistake gives the node -1 and stays on the tape; later
 * calls pass it on, and sal_tape_check or sal_flat_model tell it. `file` and `line` say where the
 * user wrote the expression; NULL and 0: not known. The text of `file` must stay where it is as
 * long as the tape. */

/* Append a block to a space, as sal_space_add.
 * Params:  kind    sal_kind: 1 binary, 2 spin, 3 ordinal, 4 categorical, 5 count.
 *          levels  [states] of an ordinal block, or NULL; of a categorical block how many of its
 *                  variables have each label in every state (`labels` of sal_block), or NULL.
 *                  Sums are fixed by sal_space_fix_sum and sal_model_fix_sum.
 * Returns: as sal_space_add.
 * Cost:    O(count).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_space_add(sal_space *space, const char *name, int kind, int64_t count,
                                      int64_t states, const double *levels, int64_t cap,
                                      sal_error *err);

/* Create a tape over a copy of `space`, computing in doubles or floats; NULL when out of memory.
 * Free it with sal_tape_destroy. */
SAL_API sal_tape *sal_flat_tape_create(const sal_space *space, bool doubles);

/* Record the state (block NULL), or the part of it that belongs to a block: sal_state,
 * sal_state_block. */
SAL_API int32_t sal_flat_state(const char *file, int line, sal_tape *tape, const char *block);

/* Record a named parameter of the shape dim [rank]: sal_param. */
SAL_API int32_t sal_flat_param(const char *file, int line, sal_tape *tape, const char *name,
                               int32_t rank, const int64_t *dim);

/* Record a constant array of the shape dim [rank]: sal_constant. */
SAL_API int32_t sal_flat_constant(const char *file, int line, sal_tape *tape, const double *values,
                                  int32_t rank, const int64_t *dim);

/* Record an operation by its name: sal_operation. in [n_in] are nodes. */
SAL_API int32_t sal_flat_operation(const char *file, int line, sal_tape *tape, const char *op,
                                   int32_t n_in, const int32_t *in, int64_t n_ints,
                                   const int64_t *ints, int64_t n_reals, const double *reals);

/* The rank of a node, whose sizes go to dim [SAL_MAX_RANK]; -1 after a mistake. */
SAL_API int32_t sal_flat_shape(sal_tape *tape, int32_t node, int64_t *dim);

/* Make a model from the formula `node`: sal_model_from_tape.
 * Returns: as sal_model_from_tape.
 * Cost:    O(nodes + constants).
 * Threads: any. */
SAL_API sal_status sal_flat_model(sal_tape *tape, int32_t node, sal_model **model, sal_error *err);

/* Make a model from a function of many states at once, in doubles. The function gets x [states x N]
 * and fills f [states] and, where that is not NULL, gradient [states x N]. It may be called from
 * several threads. To report a failure of its own, fill f with NaN: the call that needed f then
 * fails with SAL_ERR_MODEL.
 * Params:  has_gradient  whether `f` can fill gradients.
 *          data          passed to f; must outlive the model.
 * Returns: as sal_model_from_callback.
 * Cost:    O(V + N).
 * Threads: any. */
SAL_API sal_status sal_flat_model_from_function(
    const sal_space *space,
    void (*f)(int64_t states, const double *x, double *values, double *gradient, void *data),
    void *data, bool has_gradient, sal_model **model, sal_error *err);

/* ---- models */

/* What a model is: {"model": its name, "dtype": "f32" or "f64", "variables": V, "width": N,
 * "blocks": [{"name", "kind", "count", "states", "levels" of ordinals}], "parameters": [{"name",
 * "shape"}], "operations": {op: nodes}, "samplers": names of those that can sample it,
 * "multilinear": whether it is known to be so}. If there is something to report of the file that
 * the model was made from, also {"remark": sal_model_remark, "warns": whether something was dropped
 * or decided that may be meant otherwise}.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(nodes + samplers).
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_flat_model_info(const sal_model *model, char **json, sal_error *err);

/* sal_model_check as JSON: {"states", "slopes", "skipped", "kinks", "changes", "differences_by",
 * "against", "gradient_error", "first_order_error", "against_error"}.
 * Returns: as sal_model_check.
 * Cost:    as sal_model_check.
 * Threads: any, while nobody sets the models' parameters. */
SAL_API sal_status sal_flat_check(const sal_model *model, const sal_model *exact, uint64_t seed,
                                  char **json, sal_error *err);

/* sal_model_exact: the answer as JSON {"oracle", "log_z", "log_prob_mean", "rounding", "entropy",
 * "width", "memory"} and, if sal_exact_warning warns, "warning"; and arrays, each of which may be
 * NULL.
 * Params:  options  text (see sal_flat_options_create) with "oracle", "limit", "memory", "threads",
 *                   or NULL.
 * Returns: as sal_model_exact; SAL_ERR_NOT_FOUND and SAL_ERR_ARGUMENT for options.
 * Cost:    as sal_model_exact.
 * Threads: any; works on `threads` threads. */
SAL_API sal_status sal_flat_exact(const sal_model *model, const char *options, double *marginals,
                                  double *pairs, double *covariance, char **json, sal_error *err);

/* sal_model_exact_draws: n draws, codes [n x V], and the JSON of sal_flat_exact.
 * Params:  options  as of sal_flat_exact.
 * Returns: as sal_model_exact_draws; SAL_ERR_NOT_FOUND and SAL_ERR_ARGUMENT for options.
 * Cost:    as sal_model_exact_draws.
 * Threads: any; works on `threads` threads. */
SAL_API sal_status sal_flat_exact_draws(const sal_model *model, const char *options, int64_t n,
                                        uint64_t seed, int32_t *codes, char **json, sal_error *err);

/* ---- options */

/* Options of a run, a training and so on, with the arrays and handles that belong to them. */
typedef struct sal_flat_options sal_flat_options;

/* Create options from text: a JSON object {"chains": 20, "sampler": "ncg"}, or lines "chains=20".
 * Names and values are those of the commands (sal_flat_list "options"); '_' counts as '-'. A JSON
 * null leaves an option at its default. Of lines the last one wins; JSON has a key once. One thread
 * at a time uses options, and each use may add to their memory.
 * Params:  which  sal_options: SAL_OPTIONS_RUN and so on.
 *          text   NULL: all defaults.
 * Returns: SAL_ERR_NOT_FOUND (no such option; names those that are near, or all); SAL_ERR_ARGUMENT
 *          (not a value of the option; neither JSON nor lines); SAL_ERR_MEMORY.
 * Cost:    O(text options).
 * Threads: any. */
SAL_API sal_status sal_flat_options_create(sal_options which, const char *text,
                                           sal_flat_options **out, sal_error *err);

/* Create options of a training by text, and where it gives none by what is suggested for a
 * ready-made model and `rows` rows to train on (sal_train_suggest). *out is NULL if nothing is
 * suggested for such options.
 * Returns: as sal_flat_options_create.
 * Cost:    O(text options).
 * Threads: any. */
SAL_API sal_status sal_flat_options_suggested(const char *specification, int64_t rows,
                                              const char *text, sal_flat_options **out,
                                              sal_error *err);

/* Create the options that resume a run from its state (sal_run_state_options), changed by text. The
 * state must outlive them.
 * Returns: as sal_flat_options_create; SAL_ERR_DATA for a damaged state.
 * Cost:    O(chains V).
 * Threads: any. */
SAL_API sal_status sal_flat_options_resumed(const sal_run_state *state, const char *text,
                                            sal_flat_options **out, sal_error *err);

/* Free options, with the copies of arrays in them; NULL is fine. */
SAL_API void sal_flat_options_destroy(sal_flat_options *options);

/* Give an array of reals (copied); n 0: none. Runs: "temperatures" [replicas] and
 * "preconditioner" [N x N]. Trainings: "preconditioner". AIS: "log-base" [R].
 * Returns: SAL_ERR_NOT_FOUND (no such array of these options, naming those that there are) or
 *          SAL_ERR_MEMORY. Sizes are checked when the options are used.
 * Cost:    O(n).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_options_reals(sal_flat_options *options, const char *name, int64_t n,
                                          const double *values, sal_error *err);

/* Give an array of codes (copied); n 0: none. Runs: "init" [V] for all chains, or
 * [chains x V]. Other options have none.
 * Returns: as sal_flat_options_reals.
 * Cost:    O(n).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_options_codes(sal_flat_options *options, const char *name, int64_t n,
                                          const int32_t *codes, sal_error *err);

/* Fix variables [n] of a run to codes [n] (copied); n 0: none.
 * Returns: SAL_ERR_NOT_FOUND (options of another struct); SAL_ERR_MEMORY.
 * Cost:    O(n).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_options_clamp(sal_flat_options *options, int64_t n,
                                          const int64_t *variables, const int32_t *codes,
                                          sal_error *err);

/* Give a text (copied) that says where the model of a run came from; NULL: none. "model": what it
 * was opened by, which the run's file then names, and whose training has a trajectory, if any.
 * "training": the directory of another training whose trajectory it is. "ladder": "yes" or "no",
 * as in sal_trajectory_suggest.
 * Returns: SAL_ERR_NOT_FOUND (no such text, or options of another struct); SAL_ERR_MEMORY.
 * Cost:    O(text).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_options_text(sal_flat_options *options, const char *name,
                                         const char *text, sal_error *err);

/* Give a handle, which must outlive the options. Runs: "tuning" (sal_tuning), "trajectory"
 * (sal_trajectory), "trainer" (sal_trainer, whose trajectory sal_flat_sample takes as it takes that
 * of a directory), "sampler" (sal_flat_sampler; may be given several times). Trainings: "test"
 * (sal_data, the held-out rows of ptt), "first" and "first_model" (sal_trajectory, sal_model: the
 * ladder that ptt goes on from), "sampler". AIS: "sampler". All: "comm" (sal_comm, mpi.h).
 * Returns: SAL_ERR_NOT_FOUND (no such handle of these options);
 *          SAL_ERR_ARGUMENT (too many samplers).
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_options_handle(sal_flat_options *options, const char *name,
                                           const void *handle, sal_error *err);

/* Give a function that is called with the work done and the total, from the calling thread. A
 * return value other than 0 stops the run, which keeps what there is. NULL: none.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_options_progress(sal_flat_options *options,
                                             int (*progress)(int64_t done, int64_t total,
                                                             void *data),
                                             void *data, sal_error *err);

/* Give a function that a training calls with its reports (sal_train_callbacks): the argument is
 * valid during the call, for sal_flat_report and sal_train_save. NULL: none.
 * Returns: SAL_ERR_NOT_FOUND (options of another struct).
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_options_report(sal_flat_options *options,
                                           int (*report)(const sal_train_report *report,
                                                         void *data),
                                           void *data, sal_error *err);

/* ---- runs */

/* Run chains: sal_sample, along the trajectory that sal_trajectory_suggest finds by the texts and
 * the trainer of the options.
 * Params:  options  of SAL_OPTIONS_RUN; NULL: the defaults.
 *          keep     whether the run keeps its draws in memory, for sal_run_draws.
 *          path     NULL, or the file NAME.nc that is written while the run goes on, as
 *                   sal_draw_writer_open says. If the run fails or dies, what it has made is kept
 *                   beside the file.
 * Returns: as sal_sample, sal_trajectory_suggest and the draw writer; SAL_ERR_ARGUMENT also for
 *          arrays of wrong sizes. If
 *          only writing failed, *run is set all the same.
 * Cost:    as sal_sample.
 * Threads: several runs may share a model whose parameters do not change. */
SAL_API sal_status sal_flat_sample(sal_model *model, sal_flat_options *options, bool keep,
                                   const char *path, sal_run **run, sal_error *err);

/* The figures of a run as JSON, the same as `saltus sample --json` (sal_flat_list "figures").
 * Returns: SAL_ERR_MEMORY.
 * Cost:    as sal_run_summarise.
 * Threads: any. */
SAL_API sal_status sal_flat_run_summary(const sal_run *run, char **json, sal_error *err);

/* Create chains that go on (chains.h).
 * Params:  options  of SAL_OPTIONS_RUN; NULL: the defaults.
 * Returns: as sal_chains_create; SAL_ERR_ARGUMENT also for arrays of wrong sizes.
 * Cost:    as sal_chains_create.
 * Threads: several chains and runs may share a model. */
SAL_API sal_status sal_flat_chains_create(sal_model *model, sal_flat_options *options, bool apart,
                                          sal_chains **chains, sal_error *err);

/* The numbers of sal_chains_describe as a JSON object with the names of sal_chains_info; null for
 * NaN.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(chains).
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_flat_chains_describe(const sal_chains *chains, char **json, sal_error *err);

/* Measure as sal_meeting_times does. The JSON object has the names of sal_meeting, and "times", a
 * list of tau of all pairs; null for NaN, and for a pair that did not meet.
 * Params:  options  of SAL_OPTIONS_RUN; NULL: the defaults.
 *          pairs    as lag and most_steps a field of sal_meeting_options.
 * Returns: as sal_meeting_times; SAL_ERR_ARGUMENT also for arrays of wrong sizes.
 * Cost:    as sal_meeting_times.
 * Threads: several calls may share a model whose parameters do not change. */
SAL_API sal_status sal_flat_meeting_times(sal_model *model, sal_flat_options *options,
                                          int64_t pairs, int64_t lag, int64_t most_steps,
                                          char **json, sal_error *err);

/* Numbers of a tuning as JSON: {"sampler": .., "step_size": [..], "temperatures": [..],
 * "sampler.NAME": [..]}.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(numbers).
 * Threads: any. */
SAL_API sal_status sal_flat_tuning(const sal_tuning *tuning, char **json, sal_error *err);

/* sal_sampler_balance as JSON: {"states", "invariance", "reversibility", "normalisation",
 * "frequency", "unreached", "directions", "worst": [codes, codes]}. `options` are of
 * SAL_OPTIONS_RUN.
 * Returns: as sal_sampler_balance.
 * Cost:    as sal_sampler_balance.
 * Threads: several calls may share a model whose parameters do not change. */
SAL_API sal_status sal_flat_balance(const sal_model *model, sal_flat_options *options, char **json,
                                    sal_error *err);

/* ---- samplers of your own */

/* A sampler made of functions in another language: a sal_sampler_descriptor. */
typedef struct sal_flat_sampler sal_flat_sampler;

/* Create a sampler. Its functions get the origin (below); they may be called from several threads.
 * A failure of their own: `log_q` returns NaN, and the run fails with SAL_ERR_MODEL.
 * Params:  kinds              OR of SAL_MOVES_*; 0: all finite ones.
 *          needs_gradient, needs_differences, has_step_size, unadjusted: as in the descriptor.
 *          draw               draws a proposal into `to` [V], which holds the codes of the origin.
 *          log_q              log q(to | origin); NULL for an unadjusted sampler.
 * Returns: SAL_ERR_ARGUMENT (no name, or a function that is missing; whether the name is acceptable
 *          is checked when a run uses the sampler) or
 *          SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: any. */
SAL_API sal_status
sal_flat_sampler_create(const char *name, unsigned kinds, bool needs_gradient,
                        bool needs_differences, bool has_step_size, bool unadjusted,
                        void (*draw)(const void *origin, void *random, int32_t *to, void *data),
                        double (*log_q)(const void *origin, const int32_t *to, void *data),
                        void *data, sal_flat_sampler **out, sal_error *err);

/* Give a sampler directions (saltus/sampler.h), before a run uses it.
 * Params:  directions  0: none, as at first; at most SAL_SAMPLER_DIRECTIONS.
 *          reverse     [directions] the reverse of each, copied; NULL: directions - 1 - v.
 *          refresh     the probability of a new direction before a step.
 * Returns: SAL_ERR_ARGUMENT (too many; whether `reverse` undoes itself, and `refresh`, are
 *          checked when a run uses the sampler).
 * Cost:    O(directions).
 * Threads: one at a time for a sampler. */
SAL_API sal_status sal_flat_sampler_set_directions(sal_flat_sampler *sampler, int64_t directions,
                                                   const int32_t *reverse, double refresh,
                                                   sal_error *err);

/* Free a sampler that no run uses any more; NULL is fine. */
SAL_API void sal_flat_sampler_destroy(sal_flat_sampler *sampler);

/* An array of the state that a proposal starts from, valid during the call: "x" [N], "gradient"
 * [N], "differences" [R]. NULL for another name, and for what the sampler did not ask for.
 * Threads: any. */
SAL_API const double *sal_flat_origin_array(const void *origin, const char *name, int64_t *n);

/* The codes [V] of that state. */
SAL_API const int32_t *sal_flat_origin_codes(const void *origin, int64_t *n);

/* A number of that state: "f", "beta", "step_size", "direction"; NaN for another name. */
SAL_API double sal_flat_origin_number(const void *origin, const char *name);

/* The next n random numbers of the proposal, uniform in (0, 1) or standard normal: functions of
 * seed, chain and step alone. */
SAL_API void sal_flat_random(void *random, bool normal, int64_t n, double *numbers);

/* ---- data */

/* Create a data set from arrays (copied); free it with sal_flat_data_destroy.
 * Params:  codes      [rows x variables]; NULL with `intensity`: these cut in the middle.
 *          intensity  [rows x variables] in [0, 1], or NULL.
 *          weight     [rows] positive and finite, or NULL.
 *          height     of pictures, height x width = variables; 0 and 0: rows are not pictures.
 * Returns: SAL_ERR_ARGUMENT; SAL_ERR_MEMORY.
 * Cost:    O(rows variables).
 * Threads: any. */
SAL_API sal_status sal_flat_data_create(int64_t rows, int64_t variables, const uint8_t *codes,
                                        const float *intensity, const double *weight,
                                        int64_t height, int64_t width, sal_data **out,
                                        sal_error *err);

/* Read a data set from a file: sal_data_read.
 * Params:  options  text with the fields of sal_data_options, or NULL: {"kind": "codes"}.
 * Returns: as sal_data_read; SAL_ERR_NOT_FOUND and SAL_ERR_ARGUMENT for options.
 * Cost:    as sal_data_read.
 * Threads: any. */
SAL_API sal_status sal_flat_data_read(const char *path, const char *options, sal_data **out,
                                      sal_error *err);

/* Copy a data set, with all that belongs to it.
 * Returns: SAL_ERR_ARGUMENT (NULL); SAL_ERR_MEMORY.
 * Cost:    O(rows variables).
 * Threads: any. */
SAL_API sal_status sal_flat_data_copy(const sal_data *data, sal_data **out, sal_error *err);

/* Hold out `rows` rows, at random by the seed, or with seed NULL the last ones: sal_data_split.
 * Arrays that were asked for before (sal_flat_data_codes) are no longer valid.
 * Returns: as sal_data_split.
 * Cost:    O(rows variables).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_data_split(sal_data *data, int64_t rows, const uint64_t *seed,
                                       sal_data **out, sal_error *err);

/* Make pictures of digits without a file: sal_data_digits.
 * Returns: as sal_data_digits.
 * Cost:    O(rows side^2).
 * Threads: any. */
SAL_API sal_status sal_flat_data_digits(int64_t rows, int64_t side, uint64_t seed, sal_data **out,
                                        sal_error *err);

/* Sizes of a data set: rows, variables, height, width (0: no pictures). Each may be NULL. */
SAL_API void sal_flat_data_size(const sal_data *data, int64_t *rows, int64_t *variables,
                                int64_t *height, int64_t *width);

/* The codes [rows x variables] of a data set, which live as long as it. */
SAL_API const uint8_t *sal_flat_data_codes(const sal_data *data);

/* The intensities [rows x variables] of a data set; NULL: it has none. */
SAL_API const float *sal_flat_data_intensity(const sal_data *data);

/* The weights [rows] of a data set; NULL: it has none. */
SAL_API const double *sal_flat_data_weight(const sal_data *data);

/* What reading the file of a data set found besides the rows (sal_data.remark), which lives as long
 * as the data set; NULL: nothing. *warns (may be NULL): 1 if something was dropped or decided that
 * may be meant otherwise, else 0. */
SAL_API const char *sal_flat_data_remark(const sal_data *data, int *warns);

/* Free a data set; NULL is fine. */
SAL_API void sal_flat_data_destroy(sal_data *data);

/* ---- training and evaluation */

/* Create a trainer: sal_trainer_create. Then call sal_trainer_run, sal_trainer_save and so on, and
 * sal_trainer_destroy.
 * Params:  options    of SAL_OPTIONS_TRAIN, which must outlive the trainer; NULL: the defaults.
 *          directory  NULL, or an existing directory for checkpoints, one at each report; a
 *                     checkpoint in it is resumed.
 * Returns: as sal_trainer_create and sal_trainer_load.
 * Cost:    as sal_trainer_create.
 * Threads: alone with its model. */
SAL_API sal_status sal_flat_trainer_create(sal_model *model, const sal_data *data,
                                           sal_flat_options *options, const char *directory,
                                           sal_trainer **out, sal_error *err);

/* A report as JSON, under the names of sal_train_report.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_report(const sal_train_report *report, char **json, sal_error *err);

/* The progress of a trainer as JSON, as sal_flat_report. Rates count from the last report.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_flat_trainer_report(const sal_trainer *trainer, char **json, sal_error *err);

/* Save what a trainer has into an existing directory: the model with its present parameters and the
 * moving averages (sal_train_save), and a checkpoint.
 * Returns: as sal_train_save and sal_trainer_save.
 * Cost:    O(parameters + buffer V).
 * Threads: alone with its model. */
SAL_API sal_status sal_flat_trainer_save(sal_trainer *trainer, sal_model *model,
                                         const char *directory, sal_error *err);

/* The persistent chains [n x V] of a trainer, or NULL; valid until it runs again. */
SAL_API const int32_t *sal_flat_trainer_samples(const sal_trainer *trainer, int64_t *n);

/* Moving averages of the parameters [parameters]; NULL if there are none. Valid until the trainer
 * runs again. */
SAL_API const double *sal_flat_trainer_averages(const sal_trainer *trainer);

/* sal_ais in both directions, and the log-likelihood of held-out rows, as JSON: {"forward": {..},
 * "reverse": {..}, "both_ways": {..}, "warnings": [..]}. A direction has "sampler", "chains",
 * "log_z", "log_z_error", "log_z_jackknife", "effective_chains", "dead", "acceptance_rate" and,
 * with `test`, the keys of sal_flat_likelihood. "both_ways" has "log_z", "log_z_error"
 * (sal_ais_bennett) and the same keys; it is null without `samples`, where the directions do not
 * overlap, and where forward is above reverse by more than both errors, which a warning then
 * explains.
 * Params:  options    of SAL_OPTIONS_AIS; NULL: the defaults. If their progress asks to stop,
 *                     directions that are not finished are null. Reverse paths are at most as many
 *                     as the states that they start from, evenly spaced ones.
 *          directory  of the model's training: the default sampler of an RBM with other terms
 *                     beside it is "block-gibbs" if that made its ladder (SAL_PTT); NULL: none.
 *          test       held-out rows; NULL: none.
 *          samples    draws of the model, where reverse paths start; NULL: they start at `test`.
 *                     With neither there is no reverse direction.
 *          report     called with each direction when it is finished, as JSON, valid during the
 *                     call; NULL: not called. It gets `data`.
 * Returns: as sal_ais and sal_log_likelihood; SAL_ERR_ARGUMENT also for arrays of wrong sizes;
 *          SAL_ERR_DATA, SAL_ERR_IO (a ladder that is damaged or cannot be read; a sampler in the
 *          options makes it needless).
 * Cost:    twice sal_ais, and f of all rows.
 * Threads: any, while nobody sets the model's parameters; works on `threads` threads. */
SAL_API sal_status sal_flat_evaluate(sal_model *model, sal_flat_options *options,
                                     const char *directory, const sal_data *test,
                                     const sal_data *samples,
                                     void (*report)(const char *direction, void *data), void *data,
                                     char **json, sal_error *err);

/* sal_log_z as JSON: {"log_z", "log_z_error", "entropy", "entropy_error", "forward", "reverse",
 * "rhat", "least_swaps", "arrivals", "allowed", "levels", "chains", "sweeps", "steps", "softened",
 * "stopped", "sampler", "trusted", "warning": the sentence, or null}.
 * Params:  options  of SAL_OPTIONS_LOG_Z; NULL: the defaults.
 * Returns: as sal_log_z; SAL_ERR_ARGUMENT also for arrays of wrong sizes.
 * Cost:    as sal_log_z.
 * Threads: several calls may share a model whose parameters do not change. */
SAL_API sal_status sal_flat_log_z(sal_model *model, sal_flat_options *options, char **json,
                                  sal_error *err);

/* sal_log_likelihood as JSON: {"mean_f", "log_likelihood", "data_error", "log_likelihood_error"}.
 * Returns: as sal_log_likelihood.
 * Cost:    f of all rows.
 * Threads: any; runs in the calling thread. */
SAL_API sal_status sal_flat_likelihood(const sal_model *model, const sal_data *data, double log_z,
                                       double log_z_error, char **json, sal_error *err);

/* The log-likelihood of data under independent variables (sal_base_log_prob) as JSON, with the keys
 * of sal_flat_likelihood.
 * Params:  log_base  [R] log-probabilities, as sal_base_fit gives them.
 * Returns: as sal_base_log_prob.
 * Cost:    O(rows V + R).
 * Threads: any. */
SAL_API sal_status sal_flat_base_likelihood(const sal_model *model, const double *log_base,
                                            const sal_data *data, char **json, sal_error *err);

/* sal_verdict_judge with samples drawn from scratch, as JSON: {"verdict": "like", "close",
 * "unlike" or "unknown", "sentence", "chains", "draws", "persistent_rows", "train_rows",
 * "test_rows", "log_z": {"forward", "forward_error", ..}, "rhat", "round_trips"} and the figures
 * "log_prob", "means_correlation", "covariances_correlation", "mmd", "neighbours", "steps":
 * {"fresh", "fresh_error", .., "shortfall", "shortfall_error", "margin", "judged", "differs"}. What
 * is not known is null, and so is the whole if `progress` stopped the call.
 * Params:  directory  of the training; NULL: none.
 *          draws      in all chains together; 0: 1000.
 *          log_z      [4]: forward, its standard error, reverse, its standard error; NaN: not
 *                     known. NULL: none.
 *          progress   may be NULL.
 *          samples    the draws [chains x draws x V], to be freed by sal_free, or NULL.
 * Returns: as sal_verdict_judge.
 * Cost:    as sal_verdict_judge.
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_flat_verdict(sal_model *model, const sal_data *train, const sal_data *test,
                                    const char *directory, int64_t draws, uint64_t seed,
                                    int threads, const double *log_z,
                                    int (*progress)(int64_t done, int64_t total, void *data),
                                    void *data, uint8_t **samples, char **json, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
