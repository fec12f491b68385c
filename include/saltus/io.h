/* SPDX-License-Identifier: MIT */
/* Files: opening and saving models, parameters, draws, evidence, arrays and tunings. */
#ifndef SALTUS_IO_H
#define SALTUS_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/ad.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/sample.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Open a model from a file, or make a ready-made one from its specification.
 * Params:  spec   a path or a specification. If a file of that name exists, it is opened; suffix
 *                 and content tell its format ('saltus list formats').
 *          A network: f is the sum of its factors' logarithms, and each variable is categorical.
 *          A saved tape (sal_model_save): its parameters come from the file beside it that it
 *          names.
 *          A graph: the model is the usual one of the file's format.
 *          A directory that 'saltus train' wrote: its model.xml, with the parameters in
 *          ema.safetensors if that file exists.
 *          No code of the file's author runs. XML is refused when it is not well-formed or has a
 *          DOCTYPE, a tape when it breaks the schema saltus-tape.rng or any shape rule.
 *          Otherwise `spec` is a specification, "name" or "name:key=value,..", such as
 *          "ising:side=10,theta=0.2" ('saltus list models'), with "file=PATH" among its keys for
 *          models made from a file ("max-cut:file=G.txt"); or "formula: .." with variables,
 *          parameters and f as a text, "formula: x: spin[9]; 0.5 sum(i~j: x[i] x[j])"
 *          (docs/energies.md has the grammar).
 *          dtype  SAL_DTYPE_DEFAULT: the file's own type (networks, formulas: SAL_F64), or the
 *                 usual one of a ready-made model.
 * Returns: SAL_OK, with `spec` as the model's name; SAL_ERR_NOT_FOUND when there is no such file or
 *          ready-made model; SAL_ERR_DATA with file and line when a file's content is not
 *          acceptable, with the place when a formula is not; SAL_ERR_ARGUMENT for a file of another
 *          kind or a bad specification; SAL_ERR_IO; SAL_ERR_MEMORY. On failure *model is
 *          untouched.
 * Cost:    O(size of the files).
 * Threads: any. */
SAL_API sal_status sal_model_open(const char *spec, sal_dtype dtype, sal_model **model,
                                  sal_error *err);

/* Save a model made from a tape: the formula as NAME.xml and its parameters, if any, as
 * NAME.safetensors beside it. Each file is replaced at once, the formula last.
 * Params:  path_xml  ends in ".xml".
 * Returns: SAL_ERR_UNSUPPORTED for a model that is no tape (a callback), for a clamped model (save
 *          the model that it clamps instead), and for a formula too large to be opened again;
 *          SAL_ERR_ARGUMENT for a path that does not end in ".xml" or is not UTF-8; SAL_ERR_IO;
 *          SAL_ERR_MEMORY.
 * Cost:    O(nodes + constants + parameters).
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_model_save(const sal_model *model, const char *path_xml, sal_error *err);

/* Set all parameters of a model from a safetensors file, which has one tensor for each parameter,
 * with its name and shape. Tensors of real numbers (F64, F32, F16, BF16) are converted to the
 * model's type.
 * Returns: SAL_ERR_DATA when tensors are missing, do not belong to the model, or have another shape
 *          or type (names all of them), or hold NaN or numbers beyond the model's type;
 *          SAL_ERR_NOT_FOUND; SAL_ERR_UNSUPPORTED for a model that is no tape; SAL_ERR_IO;
 *          SAL_ERR_MEMORY. On failure no parameter has changed.
 * Cost:    O(parameters), and what depends on them alone is computed again.
 * Threads: the model must not be in use elsewhere. */
SAL_API sal_status sal_model_load_params(sal_model *model, const char *path_safetensors,
                                         sal_error *err);

/* Write all parameters of a model as tensors of its type. The file is replaced at once.
 * Returns: SAL_ERR_UNSUPPORTED for a model that is no tape; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(parameters).
 * Threads: any, while nobody sets the parameters. */
SAL_API sal_status sal_model_save_params(const sal_model *model, const char *path_safetensors,
                                         sal_error *err);

/* Read a UAI evidence file for `model`: the observed variables and their states.
 * Params:  sample     which sample of a file with several, from 1; 0: the only one of the file.
 *          n          number of observed variables, may be 0.
 *          variables  [n], rising: indices of the model's variables.
 *          codes      [n]: the variables' codes. Pass both arrays to sal_model_clamp; free both by
 *                     sal_free.
 *          remark     gets what was decided in reading, as sal_model_remark, or NULL. Free it by
 *                     sal_free. NULL: not wanted.
 * Returns: SAL_ERR_DATA when the content is no evidence or does not fit the model;
 *          SAL_ERR_ARGUMENT for a sample that the file lacks, and for 0 where it has several;
 *          SAL_ERR_NOT_FOUND; SAL_ERR_IO; SAL_ERR_MEMORY. On failure outputs are untouched.
 * Cost:    O(size of the file + V).
 * Threads: any. */
SAL_API sal_status sal_model_evidence(const char *path, const sal_model *model, int64_t sample,
                                      int64_t *n, int64_t **variables, int32_t **codes,
                                      char **remark, sal_error *err);

/* Save the draws of a run that kept them (record.draws) as codes. NAME.npy: an array of shape
 * (chains, draws, variables), uint8, or int32 where a variable has more than 256 states or no cap.
 * NAME.nc: the layout of sal_draw_writer, without acceptance, jumps and step sizes, which runs do
 * not keep. A format of alignments (NAME.fasta): each draw is a sequence.
 * Params:  path      ends in ".npy", ".nc" or a suffix of a format of alignments.
 *          alphabet  of sequences: the letters of the states, or a name (saltus/space.h).
 *                    NULL: those of the model, or else of the alphabet with as many letters as the
 *                    variables have states, or with one more, the gap (RNA for 5 and 4).
 * Returns: SAL_ERR_UNSUPPORTED for another kind of file, for .nc without libnetcdf, and for
 *          sequences of variables that are not all categorical with a state for each letter;
 *          SAL_ERR_ARGUMENT when the run kept or made no draws, or the alphabet is none;
 *          SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(chains draws V).
 * Threads: any; for .nc see sal_draw_writer_close. */
SAL_API sal_status sal_run_save(const sal_run *run, const char *path, const char *alphabet,
                                sal_error *err);

/* A writer of draws to a netCDF-4 file in ArviZ's layout. It writes draws to disk while a run makes
 * them, so memory does not grow with the number of draws, and a killed run can be resumed.
 *
 *     sal_draw_writer_open("run.nc", model, &options, NULL, &writer, &err);
 *     sal_sample(model, &options, &run, &err);
 *     sal_draw_writer_close(writer, run, &err);
 *
 * Group `posterior` has a variable of codes for each block of the space (chain, draw, BLOCK_site),
 * uint8, or int32 where a code can exceed 255. Sites have the variables' names, or numbers within
 * the block. Group `sample_stats` has lp (f), acceptance_rate, jump and step_size as in sal_draw.
 * With options->record.warmup `warmup_posterior` and `warmup_sample_stats` hold the same for
 * warm-up; with clamped variables there is `observed_data`. Attributes describe the run. The
 * variable saltus_state holds what is needed to resume the run (sal_run_state_open). */
typedef struct sal_draw_writer sal_draw_writer;

/* A text that is kept with the state of a run, for whoever resumes it. */
typedef struct sal_note {
    const char *name; /* at most 40 letters, digits, '_', '-'; NULL ends a list */
    const char *text; /* NULL: there is none, and the note is left out */
} sal_note;

/* Open a writer of draws. It appends draws to PATH.draws, at least once in 5 seconds, and saves the
 * run's state as often (in long runs whose states are larger than their draws, after each hundredth
 * of the run's time). Each piece has a checksum: if the process is killed or the disk is full,
 * everything written before can be read. PATH itself is written when the writer is closed.
 * Params:  path     ends in ".nc".
 *          options  those of the run. The writer sets draw, draw_data, state and state_data in
 *                   `callbacks`. To see draws too, replace these callbacks by functions that call
 *                   them.
 *          notes    texts for sal_run_state_note; the last name is NULL. The file's attribute
 *                   `configuration` tells those named params, tuning, preconditioner, init, clamp,
 *                   evidence and fix_sum, which say where the options came from. NULL: none.
 * Returns: SAL_ERR_UNSUPPORTED for another kind of file, or if the library was built without
 *          libnetcdf; SAL_ERR_ARGUMENT for a number of chains out of range; SAL_ERR_IO, also while
 *          another run writes to PATH, and when PATH.draws holds a run that ended early and is not
 *          the one that options->resume resumes: it is not overwritten; SAL_ERR_MEMORY.
 * Cost:    memory about 256 KiB and two draws of all chains; one reading of PATH.draws if the run
 *          resumes from it, or of the draws that it resumes from.
 * Threads: one at a time with a writer. */
SAL_API sal_status sal_draw_writer_open(const char *path, const sal_model *model,
                                        sal_run_options *options, const sal_note *notes,
                                        sal_draw_writer **writer, sal_error *err);

/* Write PATH from PATH.draws, remove PATH.draws, and free the writer. The writer is freed whatever
 * is returned; NULL for `writer` is fine.
 * Params:  run   the run that sal_sample made; NULL if sal_sample failed: the draws made before
 *                then stay in PATH.draws. Without a draw no file is left.
 * Returns: SAL_OK, or the first error since the writer was opened. After an error PATH.draws still
 *          has what was written before, and can be resumed. SAL_ERR_ARGUMENT for a run that was
 *          stopped before its first draw and has nothing to resume: a file that was at PATH is left
 *          as it was.
 * Cost:    O(draws), and the disk's; memory about 30 MiB, or a few draws of all chains.
 * Threads: closing writers and everything that reads netCDF here share a lock, because libnetcdf
 *          and libhdf5 allow one thread only. Do not call these libraries yourself at the same
 *          time. */
SAL_API sal_status sal_draw_writer_close(sal_draw_writer *writer, const sal_run *run,
                                         sal_error *err);

/* Open the state of chains that go on, which sal_run_state_save wrote to PATH (NAME.safetensors);
 * or the state of a run that a draw writer wrote to PATH (NAME.nc), whether stopped, killed or
 * complete. The state of a run includes the draws, which are read when they are needed. To resume
 * the run:
 *
 *     sal_run_state_open("run.nc", &state, &err);
 *     sal_run_state_options(state, &options, &err);
 *     options.draws = 5000;
 *     sal_draw_writer_open("run.nc", model, &options, NULL, &writer, &err);
 *
 * and continue as for a new run. A killed run leaves PATH.draws. If PATH does not exist, or
 * PATH.draws belongs to the same run and is as far on as PATH, PATH.draws is read up to the last
 * complete piece, and the writer continues there.
 * Returns: SAL_ERR_DATA for a file without a state (of another program or of sal_run_save), for a
 *          damaged state, and when PATH.draws belongs to another run than PATH; SAL_ERR_NOT_FOUND;
 *          SAL_ERR_UNSUPPORTED for another kind of file (.npy has no state), or without libnetcdf;
 *          SAL_ERR_IO, also while the run is not over; SAL_ERR_MEMORY. On failure *state is
 *          untouched.
 * Cost:    one reading of PATH.draws; memory 4 MiB and a few draws of all chains.
 * Threads: as sal_draw_writer_close. */
SAL_API sal_status sal_run_state_open(const char *path, sal_run_state **state, sal_error *err);

/* Save the state of chains that go on (sal_chains_state) as NAME.safetensors, for
 * sal_run_state_open. It has all that the chains need but the parameters of the model
 * (sal_model_save_params). An existing file is replaced when the new one is complete.
 * Returns: SAL_ERR_ARGUMENT (another kind of file); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(chains V).
 * Threads: any. */
SAL_API sal_status sal_run_state_save(const sal_run_state *state, const char *path, sal_error *err);

/* The text of a note that sal_draw_writer_open was given; NULL if there is none of that name. It
 * lives as long as the state.
 * Threads: any. */
SAL_API const char *sal_run_state_note(const sal_run_state *state, const char *name);

/* The most dimensions of an array. */
#define SAL_ARRAY_DIMENSIONS 4

/* An array of numbers, row by row. Zeros: none. */
typedef struct sal_array {
    int ndim;                            /* number of dimensions, 1 to 4 */
    int64_t shape[SAL_ARRAY_DIMENSIONS]; /* their sizes; the first one counts rows */
    int64_t count;                       /* number of elements: the product of the shape */
    double *values;                      /* [count] */
    int32_t *codes;                      /* [count] of draws in .nc whose values (spins -1 and 1)
                                            are no codes: the codes; else NULL */
    int32_t *labels;                     /* [rows] classes, if the file has some; or NULL */
    bool whole;      /* for sal_array_write: whole numbers of 32 bits, written as int32 */
    int64_t unmoved; /* of draws in .nc: number of chains that no step moved; else 0 */
    char *warning;   /* of draws in .nc: what the run's summary warned of; NULL: nothing */
    char *remark;    /* what reading the file found besides, as sal_model_remark; NULL: nothing */
    bool warns;      /* the remark says that something was dropped or decided */
} sal_array;

/* Read an array in any of the formats of arrays ('saltus list formats'), gzip-compressed or not.
 * The caller frees it with sal_array_free.
 * Params:  columns_from  of a libsvm file; FIND for any other one.
 * Returns: SAL_ERR_DATA for a damaged file, and for values that are not finite, which only .npy may
 *          hold; SAL_ERR_ARGUMENT for another kind of file, and for columns_from of no libsvm file;
 *          SAL_ERR_NOT_FOUND; SAL_ERR_IO; SAL_ERR_MEMORY. On failure *array is untouched.
 * Cost:    O(size of the file).
 * Threads: any. */
SAL_API sal_status sal_array_read(const char *path, sal_columns_from columns_from, sal_array *array,
                                  sal_error *err);

/* Write an array as a NumPy file (.npy) in double precision, or with `whole` as int32. It is
 * replaced at once.
 * Returns: SAL_ERR_ARGUMENT (a shape that does not fit `count`); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(count).
 * Threads: any. */
SAL_API sal_status sal_array_write(const char *path, const sal_array *array, sal_error *err);

/* Free the contents of an array and set it to zeros. */
SAL_API void sal_array_free(sal_array *array);

/* Save a tuning, found by a run in warm-up, as JSON: {"saltus_tuning": 1, "sampler": "ncg:...",
 * "variables": V, "values": {"step_size": [..], "temperatures": [..], ..}}. The file is replaced at
 * once.
 * Returns: SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(numbers of the tuning).
 * Threads: any. */
SAL_API sal_status sal_tuning_save(const sal_tuning *tuning, const char *path, sal_error *err);

/* Open a tuning that sal_tuning_save wrote. sal_sample checks whether it fits a run.
 * Returns: SAL_ERR_DATA, saying what was expected, for content that is no tuning;
 *          SAL_ERR_NOT_FOUND; SAL_ERR_IO; SAL_ERR_MEMORY. On failure *tuning is untouched.
 * Cost:    O(size of the file).
 * Threads: any. */
SAL_API sal_status sal_tuning_open(const char *path, sal_tuning **tuning, sal_error *err);

/* Free an array that a library function returned to you; NULL is fine. */
SAL_API void sal_free(void *array);

#ifdef __cplusplus
}
#endif
#endif
