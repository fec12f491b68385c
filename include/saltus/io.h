/* Files: opening and saving models, their parameters, and evidence. */
#ifndef SALTUS_IO_H
#define SALTUS_IO_H

#include <stdint.h>
#include <saltus/ad.h>
#include <saltus/model.h>
#include <saltus/sample.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model from a file or by the name of a ready-made one.
 * Params:  spec   the path of a file, which is one whatever its name if it exists; its format is
 *                 told by suffix and content ('saltus list formats'). A network: f is the sum of
 *                 its factors' logarithms, a categorical variable each. A saved tape
 *                 (sal_model_save), with the parameters beside it if it names a file of them. A
 *                 graph: the format's usual model of it. No code of the file's author runs; XML is
 *                 refused when it is not well-formed or has a DOCTYPE, a tape when it breaks the
 *                 schema saltus-tape.rng or any shape rule. A directory that 'saltus train' wrote:
 *                 its model.xml, with the parameters in ema.safetensors if that is there.
 *                 Otherwise the specification of a ready-made model, see sal_model_builtin, with
 *                 "file=PATH" among its keys where it can be made of a file ("max-cut:file=G.txt").
 *          dtype  0: the file's own type (networks: SAL_F64), or a ready-made model's usual one.
 * Returns: SAL_OK, the model's name being `spec`; SAL_ERR_NOT_FOUND when there is no such file or
 *          ready-made model; SAL_ERR_DATA with file and line when a file's content is not
 *          acceptable; SAL_ERR_ARGUMENT for a file of another kind or a bad specification;
 *          SAL_ERR_IO; SAL_ERR_MEMORY. On failure *model is untouched.
 * Cost:    O(size of the files).
 * Threads: any. */
SAL_API sal_status sal_model_open(const char *spec, sal_dtype dtype, sal_model **model,
                                  sal_error *err);

/* Save a model made from a tape: the formula as NAME.xml, and its parameters, if it has any,
 * beside it as NAME.safetensors. Each file is replaced at once, the formula last.
 * Params:  path_xml  ends in ".xml".
 * Returns: SAL_ERR_UNSUPPORTED for a model that is no tape (a callback), or a clamped one: save the
 *          model that it clamps, and for a formula too large to be opened again;
 *          SAL_ERR_ARGUMENT for a path that does not end in ".xml" or is not UTF-8; SAL_ERR_IO;
 *          SAL_ERR_MEMORY.
 * Cost:    O(nodes + constants + parameters).
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_model_save(const sal_model *model, const char *path_xml, sal_error *err);

/* Set all parameters of a model from a safetensors file with a tensor for each: its name, its
 * shape, and a type of real numbers (F64, F32, F16, BF16), converted to the model's.
 * Returns: SAL_ERR_DATA when tensors are missing, not the model's, or of another shape or type (all
 *          are named), or hold NaN or numbers beyond the model's type; SAL_ERR_NOT_FOUND;
 *          SAL_ERR_UNSUPPORTED for a model that is no tape; SAL_ERR_IO; SAL_ERR_MEMORY. On failure
 *          no parameter has changed.
 * Cost:    O(parameters), and what depends on them alone is computed again.
 * Threads: the model must not be in use elsewhere. */
SAL_API sal_status sal_model_load_params(sal_model *model, const char *path_safetensors,
                                         sal_error *err);

/* Write all parameters as tensors of the model's type; the file is replaced at once.
 * Returns: SAL_ERR_UNSUPPORTED for a model that is no tape; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(parameters).
 * Threads: any, while nobody sets them. */
SAL_API sal_status sal_model_save_params(const sal_model *model, const char *path_safetensors,
                                         sal_error *err);

/* Read a UAI evidence file for `model`: which variables were observed, in which states.
 * Params:  n          number of observed variables, may be 0.
 *          variables  [n], rising: indices of the model's variables.
 *          codes      [n]: their codes. Both fit sal_model_clamp; free both by sal_free.
 * Returns: SAL_ERR_DATA when the content is no evidence or does not fit the model;
 *          SAL_ERR_NOT_FOUND; SAL_ERR_IO; SAL_ERR_MEMORY. On failure outputs are untouched.
 * Cost:    O(size of the file + V).
 * Threads: any. */
SAL_API sal_status sal_model_evidence(const char *path, const sal_model *model, int64_t *n,
                                      int64_t **variables, int32_t **codes, sal_error *err);

/* Save the draws of a run that kept them (record.draws) as codes. NAME.npy: an array of shape
 * (chains, draws, variables), uint8, or int32 where a variable has more than 256 states or no cap.
 * NAME.nc: as a sal_draw_writer does, but for acceptance, jumps and step sizes, which runs do not
 * keep.
 * Params:  path  ends in ".npy" or ".nc".
 * Returns: SAL_ERR_UNSUPPORTED for another kind of file, or .nc without libnetcdf; SAL_ERR_ARGUMENT
 *          when the run kept or made no draws; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(chains draws V).
 * Threads: any; for .nc see sal_draw_writer_open. */
SAL_API sal_status sal_run_save(const sal_run *run, const char *path, sal_error *err);

/* Draws on their way to a netCDF-4 file in ArviZ's layout: kept on the disk while a run makes them,
 * so that memory does not grow with their number and a run that is killed can go on.
 *
 *     sal_draw_writer_open("run.nc", model, &options, &writer, &err);
 *     sal_sample(model, &options, &run, &err);
 *     sal_draw_writer_close(writer, run, &err);
 *
 * Group `posterior`: a variable for each block of the space, of codes (chain, draw, BLOCK_site),
 * uint8, or int32 where a code can pass 255; sites are called by the variables' names, or by
 * numbers within the block. Group `sample_stats`: lp (f), acceptance_rate, jump and step_size as in
 * sal_draw. With options->show_warmup the same as `warmup_posterior` and `warmup_sample_stats`;
 * with clamped variables `observed_data`. Attributes say what was run; the variable saltus_state
 * is what the run needs to go on (sal_run_state_open). */
typedef struct sal_draw_writer sal_draw_writer;

/* Begin. Draws go to PATH.draws, a file that only grows: about 4 MiB of them at once, or all after
 * 5 seconds, and as often the run's state; in long runs whose states are larger than their draws,
 * each time that a hundredth of the run's time has gone. Each piece has a checksum, so that a
 * process that is killed at any moment, or finds no room on the disk, leaves there what it had
 * written before. PATH is written when the writer is closed.
 * Params:  path     ends in ".nc".
 *          options  those of the run; the writer sets draw, draw_data, state and state_data. Who
 *                   wants to see draws too puts a function in their place that calls these.
 * Returns: SAL_ERR_UNSUPPORTED for another kind of file, or if the library was built without
 *          libnetcdf; SAL_ERR_ARGUMENT for a number of chains out of range; SAL_ERR_IO,
 *          also while another run writes to PATH, and when PATH.draws holds a run that ended early
 *          and is not the one that options->resume goes on with: it is not overwritten;
 *          SAL_ERR_MEMORY.
 * Cost:    memory about 4 MiB, or a draw of all chains; of PATH.draws, if the run goes on with it,
 *          one reading.
 * Threads: a writer is used by one at a time. */
SAL_API sal_status sal_draw_writer_open(const char *path, const sal_model *model,
                                        sal_run_options *options, sal_draw_writer **writer,
                                        sal_error *err);

/* Write PATH out of PATH.draws, remove that, and free the writer, whatever is returned.
 * Params:  run   what came out; or NULL, when sal_sample failed: then the draws before that stay in
 *                PATH.draws. Without a draw no file is left.
 * Returns: SAL_OK, or the first error since the writer was opened: then too PATH.draws has what was
 *          written before, and can be resumed. NULL for `writer` is fine.
 * Cost:    O(draws), and the disk's; memory about 30 MiB, or a few draws of all chains.
 * Threads: writers that close, and what reads netCDF here, share a lock, because libnetcdf and
 *          libhdf5 bear one thread. Who calls these libraries beside Saltus must do so at other
 *          times. */
SAL_API sal_status sal_draw_writer_close(sal_draw_writer *writer, const sal_run *run,
                                         sal_error *err);

/* The state of the run that a draw writer wrote to PATH (NAME.nc), stopped, killed or complete,
 * with its draws, which are read as they are needed:
 *
 *     sal_run_state_open("run.nc", &state, &err);
 *     sal_run_state_options(state, &options, &err);
 *     options.draws = 5000;
 *     sal_draw_writer_open("run.nc", model, &options, &writer, &err);
 *
 * and on as for a new run. A killed run leaves PATH.draws: if that is of the same run and as far
 * on, or PATH is not there, it is read up to the last piece that is whole, and the writer goes on
 * behind that.
 * Returns: SAL_ERR_DATA for a file without a state, as those of others and of sal_run_save, or with
 *          a damaged one, and when PATH.draws is of another run than PATH; SAL_ERR_NOT_FOUND;
 *          SAL_ERR_UNSUPPORTED for another kind of file (.npy has no state), or without libnetcdf;
 *          SAL_ERR_IO, also while the run is not over; SAL_ERR_MEMORY. On failure *state is
 *          untouched.
 * Cost:    one reading of PATH.draws; memory 8 MiB and a few draws of all chains.
 * Threads: as for writers that close. */
SAL_API sal_status sal_run_state_open(const char *path, sal_run_state **state, sal_error *err);

/* Replace a file by these bytes at once: until then, and if it fails, PATH is as it was.
 * Returns: SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(size).
 * Threads: any. */
SAL_API sal_status sal_file_write(const char *path, const void *bytes, int64_t size,
                                  sal_error *err);

/* A format of files that models and data are made of. */
typedef struct sal_format_info {
    const char *name;            /* "graphml" */
    const char *doc;             /* what it is, one line */
    const char *content;         /* what a file holds: "graph", "network", "array", .. */
    const char *const *suffixes; /* of names of such files, the usual one first; ends with NULL.
                                    Without one, the content tells */
    bool reads;                  /* whether it can be read */
    bool writes;                 /* and written */
    const char *model;           /* the model that such a file is by itself, or NULL */
} sal_format_info;

/* Format `index`, from 0; those of one content follow one another. False past the end. */
SAL_API bool sal_format_list(int64_t index, sal_format_info *info);

/* Write what a file holds in another format: networks, graphs, alignments, arrays
 * (sal_format_list), saved tapes and directories of trainings. Params:  from  the format of `in`;
 * NULL: the one that its name and content tell. to    the format of `out`; NULL: the one that its
 * name tells. Returns: SAL_ERR_ARGUMENT (a format that is not there, or that cannot say what the
 * file holds); SAL_ERR_DATA; SAL_ERR_NOT_FOUND; SAL_ERR_IO; SAL_ERR_MEMORY. `out` is then as
 * before. Cost:    O(size of the files). Threads: any; for .nc as sal_draw_writer_open. */
SAL_API sal_status sal_convert(const char *in, const char *from, const char *out, const char *to,
                               sal_error *err);

/* The most dimensions of an array. */
#define SAL_ARRAY_DIMENSIONS 4

/* An array of numbers, row by row. Zeros: none. */
typedef struct sal_array {
    int ndim;                            /* number of dimensions, 1 to 4 */
    int64_t shape[SAL_ARRAY_DIMENSIONS]; /* their sizes; the first one counts rows */
    int64_t count;                       /* number of elements: the product of the shape */
    double *values;                      /* [count] */
    int32_t *labels;                     /* [rows] classes, if the file has some; or NULL */
} sal_array;

/* Read an array in any of the formats of arrays (sal_format_list), gzip-compressed or not. The
 * caller frees it with sal_array_free.
 * Returns: SAL_ERR_DATA for a damaged file, and for values that are not finite, which only .npy may
 *          hold; SAL_ERR_ARGUMENT for another kind of file; SAL_ERR_NOT_FOUND; SAL_ERR_IO;
 *          SAL_ERR_MEMORY. On failure *array is untouched.
 * Cost:    O(size of the file).
 * Threads: any. */
SAL_API sal_status sal_array_read(const char *path, sal_array *array, sal_error *err);

/* Write an array as a NumPy file (.npy) in double precision, replaced at once.
 * Returns: SAL_ERR_ARGUMENT (a shape that does not fit `count`); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(count).
 * Threads: any. */
SAL_API sal_status sal_array_write(const char *path, const sal_array *array, sal_error *err);

/* Free the contents of an array and set it to zeros. */
SAL_API void sal_array_free(sal_array *array);

/* Write pictures of codes in a grid, with grey lines between: code 0 is black, the largest code
 * there is (at least 1) white.
 * Params:  path     a PNG file, replaced at once.
 *          codes    [rows x height x width].
 *          columns  pictures in a row; 0: as many as make the sheet about square.
 *          zoom     pixels of the sheet for one of a picture's side; 0: 1.
 * Returns: SAL_ERR_ARGUMENT (sides of the sheet are at most 1,000,000); SAL_ERR_UNSUPPORTED when
 *          the library was built without libpng; SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(pixels of the sheet).
 * Threads: any. */
SAL_API sal_status sal_sheet_write(const char *path, const uint8_t *codes, int64_t rows,
                                   int64_t height, int64_t width, int64_t columns, int64_t zoom,
                                   sal_error *err);

/* Write what a run found in warm-up as JSON: {"saltus_tuning": 1, "sampler": "ncg:...",
 * "variables": V, "values": {"step_size": [..], "temperatures": [..], ..}}; the file is replaced at
 * once.
 * Returns: SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(numbers in it).
 * Threads: any. */
SAL_API sal_status sal_tuning_save(const sal_tuning *tuning, const char *path, sal_error *err);

/* Read it back. Whether it fits a run is checked by sal_sample.
 * Returns: SAL_ERR_DATA, saying what was expected, for content that is none; SAL_ERR_NOT_FOUND;
 *          SAL_ERR_IO; SAL_ERR_MEMORY. On failure *tuning is untouched.
 * Cost:    O(size of the file).
 * Threads: any. */
SAL_API sal_status sal_tuning_open(const char *path, sal_tuning **tuning, sal_error *err);

/* Free an array that a function of the library handed to the caller; NULL is fine. */
SAL_API void sal_free(void *array);

#ifdef __cplusplus
}
#endif
#endif
