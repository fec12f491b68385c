/* SPDX-License-Identifier: MIT */
/* Saving the draws of a run, and draws without a run. */
#include <saltus/io.h>
#include <saltus/program.h>
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/format.h"
#include "io/arrays/npy.h"
#include "io/draws/draw_configuration.h"
#include "io/draws/draw_netcdf.h"
#include "models/clamp.h"
#include "models/sequences.h"

/* Write the draws that a run kept in memory, with f as their only figure. */
static sal_status save_netcdf(const sal_run *run, const char *path, sal_error *err)
{
    const sal_run_state *state = sal_run_last_state(run);
    sal_run_options options;
    sal_status status = sal_run_state_options(state, &options, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_draw_source source = { .replay = state->replay,
                                .figures = 1,
                                .configuration =
                                    sali_draw_configuration(sali_run_model(run), &options, NULL) };
    status = source.configuration ? sali_draw_netcdf_write(path, run, &source, err)
                                  : sali_fail_memory(err);
    json_decref(source.configuration);
    return status;
}

/* The format of alignments that the suffix of `path` names, or NULL. */
static const sali_format *format_of_sequences(const char *path)
{
    const sali_format *f;
    for (int64_t k = 0; path && (f = sali_format_at(k)); k++) {
        if (f->content == SALI_CONTENT_ALIGNMENT && f->write && sali_format_has_suffix(f, path)) {
            return f;
        }
    }
    return NULL;
}

/* Write the draws of a run, [shape], as sequences of letters. */
static sal_status save_sequences(const sal_run *run, const char *path, const int64_t shape[3],
                                 const char *alphabet, sal_error *err)
{
    int bytes = 0;
    const void *draws = sal_run_draws(run, &bytes);
    char letters[SAL_ALPHABET_ROOM];
    sali_content content = { 0 };
    sal_status status =
        sal_space_alphabet(sal_model_space(sali_run_model(run)), alphabet, letters, err);
    status = status ? sali_fail_prefix(err, status, "%s", path) : status;
    status = status ? status
                    : sali_sequences_make(shape[0], shape[1], shape[2], bytes, draws, letters,
                                          &content, err);
    status = status ? status : sali_content_write(path, NULL, &content, err);
    sali_content_free(&content);
    return status;
}

sal_status sal_run_save(const sal_run *run, const char *path, const char *alphabet, sal_error *err)
{
    int bytes = 0;
    int64_t shape[3];
    const void *draws = run ? sal_run_draws(run, &bytes) : NULL;
    const bool netcdf = sali_has_suffix(path, ".nc"), sequences = format_of_sequences(path);
    if (!netcdf && !sequences && !sali_has_suffix(path, ".npy")) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: draws are saved as NAME.npy, NAME.nc or sequences (NAME.fasta)",
                         path ? path : "no path");
    }
    if (!draws) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: the run kept no draws; set record.draws in its options", path);
    }
    sal_run_size(run, &shape[0], &shape[1], &shape[2]);
    if (shape[1] == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: the run was stopped before its first draw",
                         path);
    }
    if (sequences) {
        return save_sequences(run, path, shape, alphabet, err);
    }
    return netcdf ? save_netcdf(run, path, err)
                  : sali_npy_write(path, bytes == 1 ? SALI_DTYPE_U8 : SALI_DTYPE_I32, 3, shape,
                                   draws, err);
}

/* Expand draws of `model` to all variables of the inner model, as bytes or as int32. `row` has room
 * for one state. */
static void expand_draws(const sal_model *model, int64_t draws, const int32_t *codes, bool narrow,
                         int32_t *row, void *to)
{
    const int64_t V = sali_clamp_inner(model)->space->n_variables;
    for (int64_t d = 0; d < draws; d++, codes += model->space->n_variables) {
        sali_clamp_expand(model, 1, codes, narrow ? row : (int32_t *)to + d * V);
        for (int64_t v = 0; narrow && v < V; v++) {
            ((uint8_t *)to)[d * V + v] = (uint8_t)row[v];
        }
    }
}

sal_status sal_draws_write(const char *path, const sal_model *model, int64_t draws,
                           const int32_t *codes, sal_error *err)
{
    if (!sali_has_suffix(path, ".npy")) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: these draws are saved as NAME.npy",
                         path ? path : "no path");
    }
    const sal_space *space = sali_clamp_inner(model)->space;
    const int64_t V = space->n_variables, shape[3] = { 1, draws, V };
    const bool narrow = !space->unbounded && space->max_states <= 256;
    sali_memory memory = { 0 };
    int32_t *row = SALI_TAKE(&memory, int32_t, V);
    void *all = sali_memory_take(&memory, draws * V, narrow ? sizeof(uint8_t) : sizeof(int32_t));
    sal_status status = sali_memory_status(&memory, err);
    if (status == SAL_OK) {
        expand_draws(model, draws, codes, narrow, row, all);
        status = sali_npy_write(path, narrow ? SALI_DTYPE_U8 : SALI_DTYPE_I32, 3, shape, all, err);
    }
    sali_memory_free(&memory);
    return status;
}
