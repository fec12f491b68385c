/* Draws into a netCDF file, window by window. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <saltus/io.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/draws/draw_configuration.h"
#include "io/draws/draw_layout.h"
#include "io/draws/draw_state.h"
#include "io/draws/draw_writer.h"
#include "models/model.h"

/* After so many seconds draws are written though their window is not full. */
#define SYNC_EVERY 5

struct sal_draw_writer {
    sali_netcdf *file;
    sali_draw_layout layout;
    int64_t made[2]; /* draws so far; of warm-up */

    /* Draws that are not written yet: numbers first .. first + n - 1 of a section. */
    int section;
    int64_t first, n;
    void **codes;                       /* [blocks] of [chains x window x count] */
    double *figures[SALI_DRAW_FIGURES]; /* [chains x window] */
    int64_t *numbers;                   /* [window] */

    sali_draw_state state;
    time_t synced, noted; /* noted: when the state was written last */
    sal_status status;    /* the first error that is not the file's */
    sal_error error;
};

static time_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ---- writing what is there */

/* Draws `first` .. of a variable from rows [chains x window x inner elements]: at once if the
 * window is full, else chain by chain, between whose rows there are gaps. */
static void write_rows(sal_draw_writer *w, int group, int variable, int64_t inner, int64_t bytes,
                       const void *rows)
{
    const sali_draw_layout *l = &w->layout;
    int64_t begin[3] = { 0, w->first, 0 }, count[3] = { l->chains, w->n, inner };
    if (w->n == l->window) {
        sali_netcdf_write(w->file, group, variable, begin, count, rows);
        return;
    }
    count[0] = 1;
    for (int64_t c = 0; c < l->chains; c++) {
        begin[0] = c;
        sali_netcdf_write(w->file, group, variable, begin, count,
                          (const char *)rows + c * l->window * inner * bytes);
    }
}

/* What a flush adds to the file at most: the draws since the last full window, which are compressed
 * together and may not get smaller, and where they are. */
static int64_t most_bytes(const sal_draw_writer *w)
{
    const sali_draw_layout *l = &w->layout;
    int64_t bytes = 8 * l->figures;
    for (int64_t b = 0; b < l->n_blocks; b++) {
        bytes += l->blocks[b].count * sali_dtype_bytes(l->blocks[b].dtype);
    }
    bytes *= l->chains * ((w->first + w->n - 1) % l->window + 1);
    return bytes + bytes / 8 + (l->n_blocks + l->figures + 4) * ((int64_t)16 << 10);
}

/* Write what is there and sync: at any other time the file on the disk is whole. */
static sal_status flush(sal_draw_writer *w, sal_error *err)
{
    const sali_draw_layout *l = &w->layout;
    const sali_draw_section *s = &l->sections[w->section];
    w->synced = seconds();
    if (w->n == 0) {
        return sali_netcdf_status(w->file, err);
    }
    sali_netcdf_reserve(w->file, most_bytes(w));
    for (int64_t k = 0; k < w->n; k++) {
        w->numbers[k] = w->first + k;
    }
    for (int64_t b = 0; b < l->n_blocks; b++) {
        const sali_draw_block *block = &l->blocks[b];
        write_rows(w, s->posterior, s->blocks[b], block->count, sali_dtype_bytes(block->dtype),
                   w->codes[b]);
    }
    for (int64_t k = 0; k < l->figures; k++) {
        write_rows(w, s->stats, s->figures[k], 1, sizeof(double), w->figures[k]);
    }
    sali_netcdf_write(w->file, s->posterior, s->posterior_draw, &w->first, &w->n, w->numbers);
    sali_netcdf_write(w->file, s->stats, s->stats_draw, &w->first, &w->n, w->numbers);
    sali_netcdf_sync(w->file);
    w->first += w->n;
    w->n = 0;
    return sali_netcdf_status(w->file, err);
}

sal_status sal_draw_writer_sync(sal_draw_writer *w, sal_error *err)
{
    return flush(w, err);
}

/* ---- taking draws up */

static void keep_codes(const sali_draw_layout *l, const sali_draw_block *block,
                       const sal_draw *draw, int64_t row, void *to)
{
    for (int64_t c = 0; c < l->chains; c++) {
        const int32_t *codes = draw->codes + c * l->V + block->first;
        int64_t at = (c * l->window + row) * block->count;
        if (block->dtype == SALI_DTYPE_I32) {
            memcpy((int32_t *)to + at, codes, (size_t)block->count * sizeof *codes);
            continue;
        }
        for (int64_t v = 0; v < block->count; v++) {
            ((uint8_t *)to)[at + v] = (uint8_t)codes[v];
        }
    }
}

static void keep_draw(sal_draw_writer *w, const sal_draw *draw)
{
    const sali_draw_layout *l = &w->layout;
    const double *figures[SALI_DRAW_FIGURES] = { draw->log_prob, draw->acceptance_rate, draw->jump,
                                                 draw->step_size };
    for (int64_t b = 0; b < l->n_blocks; b++) {
        keep_codes(l, &l->blocks[b], draw, w->n, w->codes[b]);
    }
    for (int64_t k = 0; k < l->figures; k++) {
        for (int64_t c = 0; c < l->chains; c++) {
            w->figures[k][c * l->window + w->n] = figures[k][c];
        }
    }
    w->n++;
}

static bool is_next(const sal_draw_writer *w, const sal_draw *draw)
{
    return draw->chains == w->layout.chains && draw->variables == w->layout.V &&
           draw->warmup < w->layout.n_sections && draw->index == w->made[draw->warmup] &&
           !(draw->warmup && w->made[0] > 0);
}

int sal_draw_writer_add(const sal_draw *draw, void *writer)
{
    sal_draw_writer *w = writer;
    if (w->status == SAL_OK && !is_next(w, draw)) {
        w->status =
            sali_fail(&w->error, SAL_ERR_ARGUMENT,
                      "draw %lld of %lld chains and %lld variables is not the next one of "
                      "the run that the file was opened for",
                      (long long)draw->index, (long long)draw->chains, (long long)draw->variables);
    }
    if (w->status != SAL_OK) {
        return 1;
    }
    if (w->section != draw->warmup) { /* warm-up is over */
        flush(w, NULL);
        w->section = draw->warmup;
        w->first = 0;
    }
    keep_draw(w, draw);
    w->made[w->section]++;
    if (w->made[w->section] % w->layout.window == 0 || seconds() - w->synced >= SYNC_EVERY) {
        flush(w, NULL);
    }
    return sali_netcdf_status(w->file, NULL) != SAL_OK;
}

/* ---- the state of the run */

/* After the draws that it stands behind. */
static void write_state(sal_draw_writer *w, const sal_run_state *state)
{
    flush(w, NULL);
    sali_draw_state_write(&w->state, w->file, state);
    w->noted = seconds();
}

static int64_t whole_number(const sal_run_state *state, const char *name)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    return item && item->type == SALI_STATE_I64 && item->count == 1 ? *(const int64_t *)item->data
                                                                    : -1;
}

/* Whether all draws that the state of a run counts were added. */
static bool has_draws_of(const sal_draw_writer *w, const sal_run *run)
{
    const sal_run_state *state = sal_run_last_state(run);
    sal_run_options options;
    if (sal_run_state_options(state, &options, NULL) != SAL_OK) {
        return false;
    }
    int64_t made = whole_number(state, "draws_made");
    int64_t warmup = whole_number(state, "warmup_done") / options.thin;
    bool fits = made >= 0 && made <= w->made[0];
    bool warm = w->layout.n_sections == 1 || warmup <= w->made[1];
    return fits && warm && (w->made[0] > 0 || sal_run_n_draws(run) == 0);
}

int sal_draw_writer_state(const sal_run_state *state, void *writer)
{
    sal_draw_writer *w = writer;
    if (w->state.written == 0 || seconds() - w->noted >= SYNC_EVERY) {
        write_state(w, state);
    }
    return w->status != SAL_OK || sali_netcdf_status(w->file, NULL) != SAL_OK;
}

bool sali_draw_writer_note(sal_draw_writer *w, const char *name, const char *text)
{
    const sali_state_item item =
        sali_state_u8(name, (int64_t)strlen(text) + 1, (uint8_t *)(uintptr_t)text);
    return sali_run_state_put(&w->state.notes, &item);
}

/* For the file of the run that goes on. */
static sal_status keep_configuration(sal_draw_writer *w, sal_error *err)
{
    char *text = json_dumps(w->layout.configuration, SALI_DRAW_CONFIGURATION_STYLE);
    bool ok = text && sali_draw_writer_note(w, SALI_DRAW_CONFIGURATION, text);
    free(text);
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* ---- opening and closing */

static sal_status make_room(sal_draw_writer *w, sal_error *err)
{
    const sali_draw_layout *l = &w->layout;
    bool ok = (w->codes = SALI_NEW_ARRAY(void *, l->n_blocks)) != NULL;
    ok = ok && (w->numbers = SALI_NEW_ARRAY(int64_t, l->window)) != NULL;
    for (int64_t b = 0; ok && b < l->n_blocks; b++) {
        int64_t bytes = sali_dtype_bytes(l->blocks[b].dtype);
        ok = (w->codes[b] =
                  sali_alloc(l->chains * l->window * bytes, (size_t)l->blocks[b].count)) != NULL;
    }
    for (int64_t k = 0; ok && k < l->figures; k++) {
        ok = (w->figures[k] = SALI_NEW_ARRAY(double, l->chains * l->window)) != NULL;
    }
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* All but the file. */
static void free_writer(sal_draw_writer *w)
{
    for (int64_t b = 0; w->codes && b < w->layout.n_blocks; b++) {
        sali_free(w->codes[b]);
    }
    for (int k = 0; k < SALI_DRAW_FIGURES; k++) {
        sali_free(w->figures[k]);
    }
    sali_free(w->codes);
    sali_free(w->numbers);
    sali_draw_layout_free(&w->layout);
    sali_run_state_clear(&w->state.notes);
    sali_free(w);
}

sal_status sali_draw_writer_open(const char *path, const sal_model *model,
                                 const sal_run_options *options,
                                 const sali_draw_arguments *arguments, int64_t figures,
                                 sal_draw_writer **out, sal_error *err)
{
    size_t length = path ? strlen(path) : 0;
    if (length < 4 || strcmp(path + length - 3, ".nc") != 0) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: draws are written to NAME.nc",
                         path ? path : "no path");
    }
    sal_draw_writer *w = SALI_NEW(sal_draw_writer);
    if (!w) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_netcdf_create(path, &w->file, err);
    status = status ? status
                    : sali_draw_layout_define(&w->layout, w->file, model, options, arguments,
                                              figures, err);
    status = status ? status : keep_configuration(w, err);
    status = status ? status : make_room(w, err);
    if (status == SAL_OK) {
        sali_netcdf_sync(w->file);
        status = sali_netcdf_status(w->file, err);
    }
    if (status != SAL_OK) {
        sali_netcdf_discard(w->file);
        free_writer(w);
        return status;
    }
    w->section = w->layout.n_sections - 1;
    w->synced = seconds();
    *out = w;
    return SAL_OK;
}

sal_status sal_draw_writer_open(const char *path, const sal_model *model,
                                const sal_run_options *options, sal_draw_writer **writer,
                                sal_error *err)
{
    return sali_draw_writer_open(path, model, options, NULL, SALI_DRAW_FIGURES, writer, err);
}

sal_status sal_draw_writer_close(sal_draw_writer *w, const sal_run *run, sal_error *err)
{
    if (!w) {
        return SAL_OK;
    }
    bool whole = w->layout.figures == SALI_DRAW_FIGURES; /* else the run did not write it */
    bool empty = w->made[0] + w->made[1] == 0;
    sal_status status = flush(w, err);
    if (status == SAL_OK && w->status != SAL_OK) {
        status = w->status;
        *(err ? err : &w->error) = w->error;
    }
    if (status == SAL_OK && whole && run && has_draws_of(w, run)) {
        write_state(w, sal_run_last_state(run));
        status = sali_netcdf_status(w->file, err);
        empty = false;
    }
    if (status == SAL_OK && empty && run) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "the run was stopped before its first draw: no file is written");
    }
    if (status == SAL_OK && run) {
        status = sali_draw_note_run(&w->layout, w->file, run, err);
    }
    if (empty) {
        sali_netcdf_discard(w->file);
    } else if (status != SAL_OK || !run) {
        sali_netcdf_leave(w->file);
    } else {
        status = sali_netcdf_commit(w->file, err);
    }
    free_writer(w);
    return status;
}
