/* SPDX-License-Identifier: MIT */
/* Checkpoints. checkpoint.json names the file of arrays that belongs to it; the next checkpoint's
 * arrays go to the other of two files, and then the JSON is replaced: whenever the program dies,
 * the JSON and the arrays that it names are whole. */
#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/saved/run_state.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/arrays/state_file.h"
#include "train/sync.h"

#define VERSION_KEY "saltus_checkpoint"
#define VERSION 2 /* 1: of version 0.1.0 */

static const char *const array_files[] = { "checkpoint-a.safetensors", "checkpoint-b.safetensors" };

/* ---- what is kept */

/* Indices into the item list, for items that loading inspects singly; they must come first. */
enum { ITERATION, GOOD_ITERATION, UPDATES, LEARNING_RATE, SUMS, LOG_STEP_SIZE };
enum { OWN_ITEMS = 19, MOST_ITEMS = OWN_ITEMS + SALI_OBJECTIVE_ITEMS };

/* List the items of a checkpoint except the sampler's: the trainer's, then the objective's; their
 * number. */
static int list_items(sal_trainer *t, sali_state_item items[MOST_ITEMS])
{
    const int64_t n = t->optimiser.n;
    const double most = t->model->dtype == SAL_F32 ? FLT_MAX : DBL_MAX;
    const sali_adaptation *a = &t->step_size;
    const int64_t second = t->optimiser.kind == SALI_SGD ? 0 : n;
    const int64_t sums = sizeof t->sums / sizeof(double);
    const sali_state_item own[] = {
        [ITERATION] = sali_state_i64("iteration", 1, &t->iteration),
        [GOOD_ITERATION] = sali_state_i64("iteration.good", 1, &t->good_iteration),
        [UPDATES] = sali_state_i64("optimiser.updates", 1, &t->optimiser.updates),
        [LEARNING_RATE] =
            sali_state_sums("optimiser.learning_rate", 1, &t->optimiser.learning_rate),
        [SUMS] = sali_state_f64("sums", sums, &t->sums.accepted),
        [LOG_STEP_SIZE] = sali_state_within(
            sali_state_f64("log_step_size", t->follows ? a->n : 0, a->log_step), a->low, a->high),
        sali_state_within(sali_state_f64("parameters.best", t->best ? n : 0, t->best), -most, most),
        sali_state_counts("best.counters", t->best ? 2 : 0, &t->best_iteration),
        sali_state_f64("best.log_likelihood", t->best ? 1 : 0, &t->best_likelihood),
        sali_state_f64("now", t->objective->judge ? 3 : 0, &t->now.log_z),
        sali_state_within(sali_state_f64("parameters", n, t->values), -most, most),
        sali_state_within(sali_state_f64("parameters.good", n, t->good), -most, most),
        sali_state_reals("optimiser.m", n, t->optimiser.m),
        sali_state_sums("optimiser.v", second, t->optimiser.v),
        sali_state_within(sali_state_f64("averages", t->averages ? n : 0, t->averages), -most,
                          most),
        sali_state_reals("centring.offsets", t->centring.n_offsets, t->centring.offsets),
        sali_state_codes("buffer.codes", t->model->space, t->buffer.slots, t->buffer.codes),
        sali_state_u64("buffer.life", t->buffer.slots, t->buffer.life),
        sali_state_within(sali_state_u8("couplings.active",
                                        t->sparsity.active ? t->sparsity.pairs->n : 0,
                                        t->sparsity.active),
                          0, 1),
    };
    _Static_assert(sizeof own == OWN_ITEMS * sizeof *own, "all of them are counted");
    memcpy(items, own, sizeof own);
    return OWN_ITEMS + (t->objective->items ? t->objective->items(t, items + OWN_ITEMS) : 0);
}

/* ---- files */

/* The number of the file of arrays that a checkpoint's JSON names; -1: the JSON is not a checkpoint
 * of this version. */
static int named_file(const json_t *object)
{
    const char *arrays = json_string_value(json_object_get(object, "arrays"));
    bool ours = json_integer_value(json_object_get(object, VERSION_KEY)) == VERSION &&
                json_is_object(json_object_get(object, "options"));
    for (int k = 0; ours && arrays && k < 2; k++) {
        if (strcmp(arrays, array_files[k]) == 0) {
            return k;
        }
    }
    return -1;
}

/* Read the JSON at `path`, with the number of its file of arrays; *json is NULL if there is no such
 * file. */
static sal_status read_json(const char *path, json_t **json, int *file, sal_error *err)
{
    json_t *object = NULL;
    *json = NULL;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return SAL_OK;
    }
    sal_status status = sali_json_read(path, &object, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status == SAL_ERR_NOT_FOUND ? SAL_ERR_IO : status,
                                "checkpoint");
    }
    *file = named_file(object);
    if (json_integer_value(json_object_get(object, VERSION_KEY)) == 1) {
        status = sali_fail(err, SAL_ERR_DATA,
                           "%s: a checkpoint of version 0.1.0; this program reads those of 0.2.0 "
                           "and later: train again, or use 0.1.0",
                           path);
    } else if (*file < 0) {
        status = sali_fail(err, SAL_ERR_DATA, "%s: expected a checkpoint of a training (%s %d)",
                           path, VERSION_KEY, VERSION);
    }
    return SALI_GIVE(status, object, json, json_decref);
}

/* *file receives the number of the file of arrays that may be overwritten: not the file that a
 * complete checkpoint names. */
static sal_status free_file(const char *path, int *file, sal_error *err)
{
    json_t *json = NULL;
    int last = 1;
    sal_status status = read_json(path, &json, &last, err);
    json_decref(json);
    *file = last == 0;
    return status == SAL_ERR_DATA ? SAL_OK : status;
}

/* Write the JSON that names file of arrays number `file`, with the iteration and the
 * fingerprint. */
static sal_status write_json(const sal_trainer *t, const char *path, int file, sal_error *err)
{
    json_t *object =
        json_pack("{s:i, s:s, s:I, s:O}", VERSION_KEY, VERSION, "arrays", array_files[file],
                  "iteration", (json_int_t)t->iteration, "options", t->fingerprint);
    if (t->resumes && json_object_set(object, "resumes", t->resumes) != 0) {
        json_decref(object);
        return sali_fail_memory(err);
    }
    return sali_json_write(object, path, err);
}

/* Names of the sampler's items in the file. */
#define SAMPLER "sampler."

/* Write all items of a checkpoint, the sampler's included, to `path`. */
static sal_status write_arrays(sal_trainer *t, const char *path, sal_error *err)
{
    sali_state_item items[MOST_ITEMS + SALI_MOST_STATE];
    char names[SALI_MOST_STATE][128];
    int64_t n = 0;
    const int own = list_items(t, items);
    if (t->sampler) {
        n = sali_sampler_items(t->sampler, t->state.shared, NULL, SALI_STATE_KEPT, items + own);
    }
    for (int64_t k = 0; k < n; k++) {
        snprintf(names[k], sizeof names[k], SAMPLER "%s", items[own + k].name);
        items[own + k].name = names[k];
    }
    return sali_state_save(path, items, own + n, err);
}

sal_status sal_trainer_save(sal_trainer *t, const char *directory, sal_error *err)
{
    char path[SALI_PATH], arrays[SALI_PATH], older[SALI_PATH];
    int file = 0;
    if (t->failed) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "train: this trainer has failed: nothing to save");
    }
    if (sal_comm_rank(t->options.comm) > 0) {
        return sali_train_sync_status(t, SAL_OK, err);
    }
    sal_status status = sali_path_in(directory, "checkpoint.json", path, err);
    status = status ? status : free_file(path, &file, err);
    status = status ? status : sali_path_in(directory, array_files[file], arrays, err);
    status = status ? status : sali_path_in(directory, array_files[1 - file], older, err);
    if (status == SAL_OK && t->objective->write_files) { /* before the arrays */
        status = t->objective->write_files(t, directory, err);
    }
    status = status ? status : write_arrays(t, arrays, err);
    status = status ? status : write_json(t, path, file, err);
    if (status == SAL_OK) {
        unlink(older); /* no JSON names it any more */
    }
    return sali_train_sync_status(t, status, err);
}

/* ---- loading: into arrays of its own, until everything is known to be good */

/* SAL_ERR_DATA unless the counters among the items fit each other. */
static sal_status check_counters(const sali_state_item *items, sal_error *err)
{
    const int64_t iteration = *(const int64_t *)items[ITERATION].data;
    const int64_t good = *(const int64_t *)items[GOOD_ITERATION].data;
    const int64_t updates = *(const int64_t *)items[UPDATES].data;
    sali_state_item since = sali_state_within(items[SUMS], 0, DBL_MAX);
    since.count = 3; /* the figures of the last iteration may be NaN */
    if (sali_state_check(&since, err) != SAL_OK) {
        return SAL_ERR_DATA;
    }
    return iteration >= 0 && iteration < INT64_MAX && good >= 0 && good <= iteration &&
                   updates >= 0 && updates <= iteration
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA,
                           "iteration %lld, good iteration %lld, %lld updates: expected numbers "
                           "that go together",
                           (long long)iteration, (long long)good, (long long)updates);
}

/* Fill n items from the file, except the step size if another sampler found it. */
static sal_status fetch_items(int n, const sali_state_item *items, bool same_sampler,
                              sali_run_state_reader *file, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int k = 0; status == SAL_OK && k < n; k++) {
        if (same_sampler || k != LOG_STEP_SIZE) {
            status = sali_run_state_fill(file, 1, &items[k], err);
        }
    }
    return status;
}

/* *state receives a newly opened sampler; with `same_sampler` what the file has of it is
 * restored. */
static sal_status restore_sampler(sal_trainer *t, bool same_sampler, sali_run_state_reader *file,
                                  sali_train_sampler *state, sal_error *err)
{
    sal_status status = t->sampler ? sali_train_open_sampler(t, state, err) : SAL_OK;
    if (status != SAL_OK || !t->sampler || !same_sampler) {
        return status;
    }
    const sali_warmup at = sali_train_shows(t, state->selves);
    file->prefix = SAMPLER;
    return sali_sampler_restore(t->sampler, state->shared, &at, file, err);
}

/* SAL_ERR_DATA if the file has arrays that were not read, other than those of another sampler. */
static sal_status check_all_fetched(const sali_run_state_reader *file, bool same_sampler,
                                    sal_error *err)
{
    const int64_t n = file->state->n;
    int64_t known = file->fetched;
    for (int64_t k = 0; !same_sampler && k < n; k++) {
        const char *name = file->state->items[k].name;
        known += strcmp(name, "log_step_size") == 0 || strncmp(name, SAMPLER, strlen(SAMPLER)) == 0;
    }
    return n == known ? SAL_OK
                      : sali_fail(err, SAL_ERR_DATA, "%lld arrays; expected %lld", (long long)n,
                                  (long long)known);
}

/* Copy the loaded items `from` into the trainer. Nothing can fail any more. *state and *files
 * receive what the trainer had before, to be destroyed. */
static void take_over(sal_trainer *t, const sali_state_item *from, sali_train_sampler *state,
                      void **files)
{
    const sali_train_sampler old = t->state;
    sali_state_item to[MOST_ITEMS];
    if (t->objective->exchange_files) {
        t->objective->exchange_files(t, files);
    }
    const int n = list_items(t, to);
    for (int k = 0; k < n; k++) {
        if (to[k].count > 0) {
            memcpy(to[k].data, from[k].data, (size_t)to[k].count * sali_state_bytes(to[k].type));
        }
    }
    t->state = *state;
    *state = old;
    t->failed = false;
    sali_sparsity_resume(&t->sparsity, &t->constraints, t->values);
    sali_train_forget_faults(t);
    sali_train_set_params(t);
    sali_train_show_params(t);
    if (t->objective->resumed) {
        t->objective->resumed(t);
    }
}

/* Limit a loaded learning rate: it is kept if the objective has lowered it, else replaced by the
 * option. */
static void limit_rate(const sal_trainer *t, double *rate)
{
    const double largest = t->options.learning_rate;
    *rate = t->objective->steers && *rate < largest ? *rate : largest;
}

/* Load the file of arrays at `path` into the trainer. On failure the trainer is as before. */
static sal_status load_arrays(sal_trainer *t, const char *directory, const char *path,
                              bool same_sampler, sal_error *err)
{
    sali_state_item items[MOST_ITEMS];
    void *files = NULL;
    sali_train_sampler state = { 0 };
    struct sal_run_state arrays = { 0 };
    sali_run_state_reader file = { .state = &arrays, .prefix = "" };
    sali_memory memory = { 0 };
    const int n = list_items(t, items);
    for (int k = 0; k < n; k++) {
        const size_t size = sali_state_bytes(items[k].type);
        items[k].data = sali_memory_copy(&memory, items[k].data, items[k].count, size);
    }
    sal_status status = sali_memory_status(&memory, err);
    status = status ? status : sali_state_read(path, &arrays, err);
    if (status == SAL_OK) {
        status = fetch_items(n, items, same_sampler, &file, err);
        status = status ? status : restore_sampler(t, same_sampler, &file, &state, err);
        status = status ? status : check_all_fetched(&file, same_sampler, err);
        status = status ? status : check_counters(items, err);
        status = status ? sali_fail_prefix(err, status, "%s", path) : SAL_OK;
    }
    sali_run_state_clear(&arrays);
    if (status == SAL_OK && t->objective->read_files) {
        status =
            t->objective->read_files(t, directory, items + OWN_ITEMS, same_sampler, &files, err);
    }
    if (status == SAL_OK) {
        limit_rate(t, items[LEARNING_RATE].data);
        take_over(t, items, &state, &files);
    }
    if (files) {
        t->objective->destroy_files(files);
    }
    sali_train_close_sampler(t, &state);
    sali_memory_free(&memory);
    return status;
}

/* A new array: the resumes that `json` lists, and this one if it changes options. NULL: no
 * memory. */
static json_t *add_resume(const json_t *json, json_t *changed)
{
    const json_t *earlier = json_object_get(json, "resumes");
    json_t *all = json_is_array(earlier) ? json_copy((json_t *)earlier) : json_array();
    const json_int_t iteration = json_integer_value(json_object_get(json, "iteration"));
    if (json_object_size(changed) > 0 &&
        (json_object_set_new(changed, "iteration", json_integer(iteration)) != 0 ||
         json_array_append(all, changed) != 0)) {
        json_decref(all);
        return NULL;
    }
    return all;
}

/* Load the checkpoint whose JSON is `json`, read from `path`; it names file number `file`. `path`
 * is overwritten. */
static sal_status load_checkpoint(sal_trainer *t, const char *directory, const json_t *json,
                                  char path[SALI_PATH], int file, sal_error *err)
{
    char words[sizeof t->resumed_with];
    json_t *changed = NULL;
    sal_status status =
        sali_train_compare(path, json_object_get(json, "options"), t->fingerprint, &changed, err);
    if (status != SAL_OK) {
        return status;
    }
    const bool same_sampler = !json_object_get(changed, "sampler") &&
                              !json_object_get(changed, "step_size") &&
                              !json_object_get(changed, "preconditioner");
    sali_train_describe(changed, words, sizeof words);
    json_t *resumes = add_resume(json, changed);
    json_decref(changed);
    status =
        resumes ? sali_path_in(directory, array_files[file], path, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        status = load_arrays(t, directory, path, same_sampler, err);
        status = status == SAL_ERR_NOT_FOUND ? SAL_ERR_DATA : status;
    }
    if (status == SAL_OK) {
        json_decref(t->resumes);
        t->resumes = json_array_size(resumes) > 0 ? json_incref(resumes) : NULL;
        strcpy(t->resumed_with, words);
    }
    json_decref(resumes);
    return status;
}

sal_status sal_trainer_load(sal_trainer *t, const char *directory, sal_error *err)
{
    char path[SALI_PATH];
    json_t *json = NULL;
    int file = 0;
    sal_status status = sali_path_in(directory, "checkpoint.json", path, err);
    status = status ? status : read_json(path, &json, &file, err);
    status = sali_train_sync_status(t, status, err);
    if (status == SAL_OK && json) {
        status = load_checkpoint(t, directory, json, path, file, err);
    }
    json_decref(json);
    return sali_train_sync_status(t, status, err);
}
