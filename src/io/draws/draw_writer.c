/* SPDX-License-Identifier: MIT */
/* Writing draws: into a log while they are made, and from there into a netCDF file.
 *
 * PATH.draws (draw_log.h) grows while the run works. When the run ends or is stopped, PATH is
 * written from it at once (draw_netcdf.h), with the state of the run, and PATH.draws is removed. A
 * run that was killed is resumed from PATH.draws, which it continues. A run that is resumed from
 * PATH begins a new PATH.draws with the old draws, also those made after the saved state, which
 * it makes once more; PATH stays as it was until the end. A PATH.draws from which another run can
 * still be resumed is never overwritten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <saltus/io.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/saved/run_state.h"
#include "io/arrays/state_file.h"
#include "io/draws/draw_configuration.h"
#include "io/draws/draw_log.h"
#include "io/draws/draw_netcdf.h"
#include "models/model.h"

/* The log is flushed after this many draws, or seconds. */
#define SYNC_DRAWS 1024
#define SYNC_EVERY 5

/* A state is written SYNC_EVERY seconds after the last one, as long as all states together take
 * less than the draws or than STATES_BYTES; after that, when 1 / STATES_SHARE of the run's time has
 * passed. */
#define STATES_BYTES ((int64_t)64 << 20)
#define STATES_SHARE 100

struct sal_draw_writer {
    char *path;
    sali_draw_log *log;
    bool shows_warmup;
    bool goes_on;   /* the log of a killed run is continued */
    int64_t had[2]; /* numbers of draws of the resumed run that are in the log from the start */
    json_t *configuration;
    struct sal_run_state notes;
    int64_t state_bytes; /* bytes of all states written */
    time_t begun, synced, noted;
    sal_status status; /* the first error */
    sal_error error;
};

static time_t monotonic_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ---- draws */

static void flush_log(sal_draw_writer *w)
{
    if (w->status == SAL_OK) {
        w->status = sali_draw_log_flush(w->log, &w->error);
    }
    w->synced = monotonic_seconds();
}

static bool fits_log(const sali_draw_log *log, const sal_draw *draw)
{
    return draw->chains == log->chains && draw->variables == log->V;
}

/* The callback `draw` of the run. */
static int take_draw(const sal_draw *draw, void *writer)
{
    sal_draw_writer *w = writer;
    const sali_draw_log *log = w->log;
    if (fits_log(log, draw) && draw->index < w->had[draw->warmup]) {
        return w->status != SAL_OK;
    }
    if (w->status == SAL_OK && (!fits_log(log, draw) || draw->index != log->made[draw->warmup] ||
                                (draw->warmup && (log->made[0] > 0 || !w->shows_warmup)))) {
        w->status =
            sali_fail(&w->error, SAL_ERR_ARGUMENT,
                      "draw %lld of %lld chains and %lld variables is not the next one of "
                      "the run that the file was opened for",
                      (long long)draw->index, (long long)draw->chains, (long long)draw->variables);
    }
    if (w->status == SAL_OK) {
        w->status = sali_draw_log_add(w->log, draw, &w->error);
    }
    if (log->made[draw->warmup] % SYNC_DRAWS == 0 ||
        monotonic_seconds() - w->synced >= SYNC_EVERY) {
        flush_log(w);
    }
    return w->status != SAL_OK;
}

/* ---- the state of the run */

/* Append the run's state. Skip it if it counts draws that are not in the log. */
static void write_state(sal_draw_writer *w, const sal_run_state *state)
{
    char *bytes = NULL;
    int64_t size = 0;
    if (w->status != SAL_OK || sali_run_state_whole(state, "draws_made") > w->log->made[0]) {
        return;
    }
    sali_state_item *items = SALI_NEW_ARRAY(sali_state_item, state->n + w->notes.n);
    if (!items) {
        w->status = sali_fail_memory(&w->error);
        return;
    }
    memcpy(items, state->items, (size_t)state->n * sizeof *items);
    for (int64_t k = 0; k < w->notes.n; k++) {
        items[state->n + k] = w->notes.items[k];
    }
    w->status = sali_state_format(items, state->n + w->notes.n, &bytes, &size, &w->error);
    if (w->status == SAL_OK) {
        w->status = sali_draw_log_add_state(w->log, bytes, size, &w->error);
    }
    w->state_bytes += size;
    w->noted = w->synced = monotonic_seconds();
    sali_free(items);
    free(bytes);
}

/* The callback `state` of the run. */
static int take_state(const sal_run_state *state, void *writer)
{
    sal_draw_writer *w = writer;
    time_t passed = monotonic_seconds() - w->noted;
    int64_t draw_bytes = (w->log->made[0] + w->log->made[1]) * w->log->row;
    bool small = w->state_bytes <= draw_bytes || w->state_bytes <= STATES_BYTES;
    bool late = passed >= (monotonic_seconds() - w->begun) / STATES_SHARE;
    if (w->state_bytes == 0 || (passed >= SYNC_EVERY && (small || late))) {
        write_state(w, state);
    }
    return w->status != SAL_OK;
}

/* Name of the item of a run's state that holds the note `name`. */
#define NOTE "argument.%.40s"

/* Add copies of `notes` (may be NULL) to what is saved with each state. */
static sal_status keep_notes(sal_draw_writer *w, const sal_note *notes, sal_error *err)
{
    char name[64];
    bool ok = true;
    for (const sal_note *n = notes; n && n->name && ok; n++) {
        snprintf(name, sizeof name, NOTE, n->name);
        ok = !n->text || sali_run_state_put_text(&w->notes, name, n->text);
    }
    return ok ? SAL_OK : sali_fail_memory(err);
}

const char *sal_run_state_note(const sal_run_state *state, const char *name)
{
    char item[64];
    snprintf(item, sizeof item, NOTE, name);
    return sali_run_state_text(state, item);
}

/* Make the configuration for the file of the run, and save it with each state for runs that resume
 * this one. */
static sal_status keep_configuration(sal_draw_writer *w, const sal_model *model,
                                     const sal_run_options *options, const sal_note *notes,
                                     sal_error *err)
{
    w->configuration = sali_draw_configuration(model, options, notes);
    char *text = json_dumps(w->configuration, SALI_DRAW_CONFIGURATION_STYLE);
    bool ok = text && sali_run_state_put_text(&w->notes, SALI_DRAW_CONFIGURATION, text);
    free(text);
    return ok ? keep_notes(w, notes, err) : sali_fail_memory(err);
}

/* ---- opening */

/* Whether two paths name the same file. */
static bool is_same(const char *a, const char *b)
{
    struct stat one, two;
    return strcmp(a, b) == 0 || (stat(a, &one) == 0 && stat(b, &two) == 0 &&
                                 one.st_dev == two.st_dev && one.st_ino == two.st_ino);
}

/* Open the log, empty for a new run, or continued if the run is resumed from this very log. A log
 * that could still be resumed, by another run, is not overwritten. */
static sal_status open_log(sal_draw_writer *w, const sal_model *model, const sal_run_options *o,
                           sal_error *err)
{
    const char *from = o->resume && o->resume->name ? o->resume->name : "";
    sal_status status = sali_draw_log_open(w->path, true, &w->log, err);
    if (status != SAL_OK) {
        return status;
    }
    bool wanted = w->log->state_size > 0;
    w->goes_on = wanted && is_same(from, w->log->path);
    if (w->goes_on) {
        return SAL_OK;
    }
    if (wanted && !is_same(from, w->path)) {
        return sali_fail(err, SAL_ERR_IO,
                         "%s: holds the draws of a run that ended early: go on with it ('saltus "
                         "sample --resume %s'), or remove it",
                         w->log->path, w->path);
    }
    const bool wide = model->space->max_states > 256 || model->space->unbounded;
    return sali_draw_log_begin(w->log, o->chains ? o->chains : 4, model->space->n_variables,
                               wide ? 4 : 1, err);
}

/* Copy the draws of the resumed run to the log, also those after its state, which the run will make
 * again: it may be stopped before. It is not yet known whether the options belong to the same
 * run. */
static sal_status copy_earlier(sal_draw_writer *w, const sal_run_state *from, sal_error *err)
{
    const sali_replay *replay = &from->replay;
    const int64_t n[2] = { replay->read ? replay->made : 0,
                           w->shows_warmup ? replay->made_in_warmup : 0 };
    sal_draw draw;
    sal_status status = SAL_OK;
    for (int warmup = 1; warmup >= 0; warmup--) {
        for (int64_t d = w->log->made[warmup]; status == SAL_OK && d < n[warmup]; d++) {
            status = replay->read(replay->source, warmup, d, &draw, err);
            if (status == SAL_OK && !fits_log(w->log, &draw)) {
                return SAL_OK; /* of another run, which sal_sample will report */
            }
            if (status == SAL_OK && take_draw(&draw, w) != 0) {
                status = sali_fail(err, w->status, "%s", w->error.message);
            }
        }
    }
    memcpy(w->had, w->log->made, sizeof w->had);
    return status;
}

/* Close the log and free the writer; if `remove`, delete the log file. */
static void free_writer(sal_draw_writer *w, bool remove)
{
    if (remove && w->log) {
        unlink(w->log->path);
    }
    sali_draw_log_close(w->log);
    sali_free(w->path);
    json_decref(w->configuration);
    sali_run_state_clear(&w->notes);
    sali_free(w);
}

sal_status sal_draw_writer_open(const char *path, const sal_model *model, sal_run_options *options,
                                const sal_note *notes, sal_draw_writer **out, sal_error *err)
{
    sal_status status = sali_draw_netcdf_check(path, err);
    if (status == SAL_OK && (options->chains < 0 || options->chains > INT32_MAX)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "chains %lld: expected 1 to %d",
                           (long long)options->chains, INT32_MAX);
    }
    sal_draw_writer *w = status == SAL_OK ? SALI_NEW(sal_draw_writer) : NULL;
    if (!w) {
        return status ? status : sali_fail_memory(err);
    }
    w->path = sali_strdup(path);
    status = w->path ? keep_configuration(w, model, options, notes, err) : sali_fail_memory(err);
    status = status ? status : open_log(w, model, options, err);
    w->shows_warmup = options->record.warmup;
    w->begun = w->synced = monotonic_seconds();
    if (status == SAL_OK && options->resume) {
        status = copy_earlier(w, options->resume, err);
    }
    if (status != SAL_OK) {
        free_writer(w, w->log && w->log->state_size == 0);
        return status;
    }
    options->callbacks.draw = take_draw;
    options->callbacks.state = take_state;
    options->callbacks.draw_data = options->callbacks.state_data = w;
    *out = w;
    return SAL_OK;
}

/* ---- closing */

/* Write the netCDF file from the log. */
static sal_status write_netcdf(sal_draw_writer *w, const sal_run *run, sal_error *err)
{
    const sali_draw_log *log = w->log;
    sali_draw_source source = { .replay = sali_draw_log_replay(w->log),
                                .warmup = w->shows_warmup,
                                .figures = SALI_NOTED,
                                .configuration = w->configuration,
                                .state_size = log->state_size };
    sal_status status =
        log->state_size > 0 ? sali_draw_log_state(w->log, &source.state, err) : SAL_OK;
    status = status ? status : sali_draw_netcdf_write(w->path, run, &source, err);
    sali_free(source.state);
    return status;
}

/* Append the last state of a run that has ended. A run that was stopped while it searched for its
 * starting states has no state to resume from. */
static void write_last_state(sal_draw_writer *w, const sal_run *run)
{
    const sal_run_state *state = sal_run_last_state(run);
    int64_t made = 0;
    sal_run_size(run, NULL, &made, NULL);
    if ((w->log->made[0] > 0 || made == 0) && sali_run_state_find(state, "sampling")) {
        write_state(w, state);
    }
}

sal_status sal_draw_writer_close(sal_draw_writer *w, const sal_run *run, sal_error *err)
{
    if (!w) {
        return SAL_OK;
    }
    flush_log(w);
    if (run) {
        write_last_state(w, run);
    }
    sal_status status = w->status;
    bool empty = w->log->made[0] + w->log->made[1] == 0, stateless = w->log->state_size == 0;
    if (status != SAL_OK && err) {
        *err = w->error;
    } else if (status == SAL_OK && run && empty && stateless) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "%s: the run was stopped before its first draw: no file is written, and "
                           "one that was there is left as it was",
                           w->path);
    } else if (status == SAL_OK && run) {
        status = write_netcdf(w, run, err);
    }
    bool done = run && status == SAL_OK;
    free_writer(w, done || stateless || (!run && empty && !w->goes_on));
    return status;
}
