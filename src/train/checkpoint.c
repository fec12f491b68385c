/* Checkpoints. checkpoint.json names the file of arrays that belongs to it; the next checkpoint's
 * arrays go to the other of two files, and then the JSON is replaced: whenever the program dies,
 * the JSON and the arrays that it names are whole. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"
#include "io/state_file.h"
#include "train/trainer.h"

#define VERSION_KEY "saltus_checkpoint"
#define VERSION 1
#define MOST_ITEMS 64

static const char *const array_files[] = { "checkpoint-a.safetensors", "checkpoint-b.safetensors" };

/* ---- what is kept */

/* Single numbers, gathered for a file. */
typedef struct counters {
    int64_t iteration, good_iteration, updates;
    double accepted, jump, moves, log_step;
} counters;

static counters gather(const sal_trainer *t)
{
    return (counters){
        .iteration = t->iteration,
        .good_iteration = t->good_iteration,
        .updates = (int64_t)t->optimiser.updates,
        .accepted = t->accepted,
        .jump = t->jump,
        .moves = t->moves,
        .log_step = t->step_size.log_step,
    };
}

/* Number of items. The order does not matter. */
static int64_t list_items(sal_trainer *t, counters *c, sali_state_item *items)
{
    const int64_t n = t->optimiser.n, V = t->model->space->n_variables;
    const sali_state_item all[] = {
        { "counters", SALI_STATE_I64, 3, &c->iteration },
        { "since_report", SALI_STATE_F64, 3, &c->accepted },
        { "log_step_size", SALI_STATE_F64, 1, &c->log_step },
        { "parameters", SALI_STATE_F64, n, t->values },
        { "parameters.good", SALI_STATE_F64, n, t->good },
        { "optimiser.m", SALI_STATE_F64, n, t->optimiser.m },
        { "optimiser.v", SALI_STATE_F64, t->optimiser.kind == SALI_SGD ? 0 : n, t->optimiser.v },
        { "averages", SALI_STATE_F64, t->averages ? n : 0, t->averages },
        { "buffer.codes", SALI_STATE_I32, t->buffer.slots * V, t->buffer.codes },
        { "buffer.life", SALI_STATE_U64, t->buffer.slots, t->buffer.life },
    };
    memcpy(items, all, sizeof all);
    int64_t count = sizeof all / sizeof *all;
    if (t->shared && t->sampler->state) {
        count += t->sampler->state(t->shared, items + count);
    }
    return count;
}

/* ---- what must be the same */

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t h, const void *data, int64_t bytes)
{
    const unsigned char *byte = data;
    for (int64_t i = 0; i < bytes; i++) {
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

static uint64_t hash_data(const sal_data *data)
{
    uint64_t h = hash(UINT64_C(0xcbf29ce484222325), &data->rows, sizeof data->rows);
    return hash(h, data->codes, data->rows * data->variables);
}

static json_t *hexadecimal(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    return json_string(text);
}

/* All that a resumed training must share with the one that was saved. */
json_t *sali_train_fingerprint(const sal_model *model, const sal_data *data,
                               const sal_train_options *o)
{
    const int64_t N = model->space->width;
    uint64_t matrix =
        o->preconditioner ? hash(1, o->preconditioner, N * N * (int64_t)sizeof(double)) : 0;
    return json_pack(
        "{s:s, s:s, s:o, s:i, s:I, s:o, s:s, s:I, s:f, s:o, s:I, s:i, s:f, s:i, s:f, s:I, s:f, "
        "s:f, "
        "s:f, s:f, s:f, s:s, s:f, s:b, s:f, s:s}",
        "model", model->name, "dtype", model->dtype == SAL_F32 ? "f32" : "f64", "data",
        hexadecimal(hash_data(data)), "objective", (int)o->objective, "batch", (json_int_t)o->batch,
        "seed", hexadecimal(o->seed), "sampler", o->sampler, "steps", (json_int_t)o->steps,
        "step_size", o->step_size, "preconditioner", hexadecimal(matrix), "buffer",
        (json_int_t)o->buffer, "buffer_start", (int)o->buffer_start, "restart", o->restart,
        "optimiser", (int)o->optimiser, "learning_rate", o->learning_rate, "rate_warmup",
        (json_int_t)o->rate_warmup, "momentum", o->momentum, "beta2", o->beta2, "epsilon",
        o->epsilon, "weight_decay", o->weight_decay, "averaging", o->averaging, "couplings",
        o->couplings ? o->couplings : "", "l1", o->l1, "zero_diagonal", (int)o->zero_diagonal,
        "magnitude_penalty", o->magnitude_penalty, "fixed", o->fixed ? o->fixed : "");
}

static sal_status compare(const char *path, const json_t *saved, const json_t *now, sal_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value)
    {
        const json_t *before = json_object_get(saved, key);
        if (!before || !json_equal((json_t *)before, value)) {
            char *was =
                before ? json_dumps(before, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
            char *is = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
            sal_status status = sali_fail(err, SAL_ERR_DATA,
                                          "%s: the training was saved with %s %.60s and is to go "
                                          "on with %.60s; give the same "
                                          "options, or another directory",
                                          path, key, was ? was : "(none)", is ? is : "?");
            free(was);
            free(is);
            return status;
        }
    }
    return SAL_OK;
}

/* ---- files */

static sal_status path_in(const char *directory, const char *name, char *path, size_t room,
                          sal_error *err)
{
    return (size_t)snprintf(path, room, "%s/%s", directory, name) < room
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "%.100s...: the path is too long", directory);
}

/* The JSON of a directory, with the number of its file of arrays; *json is NULL if there is none.
 */
static sal_status read_json(const char *path, json_t **json, int *file, sal_error *err)
{
    sali_bytes bytes = { 0 };
    *json = NULL;
    if (access(path, F_OK) != 0) {
        return SAL_OK;
    }
    sal_status status = sali_file_read(path, &bytes, err);
    if (status != SAL_OK) {
        return status;
    }
    json_t *object = json_loadb((const char *)bytes.data, (size_t)bytes.size, 0, NULL);
    sali_bytes_free(&bytes);
    const char *arrays = json_string_value(json_object_get(object, "arrays"));
    for (int k = 0; arrays && k < 2; k++) {
        if (strcmp(arrays, array_files[k]) == 0 &&
            json_integer_value(json_object_get(object, VERSION_KEY)) == VERSION &&
            json_is_object(json_object_get(object, "options"))) {
            *file = k;
            *json = object;
            return SAL_OK;
        }
    }
    json_decref(object);
    return sali_fail(err, SAL_ERR_DATA, "%s: expected a checkpoint of a training (%s %d)", path,
                     VERSION_KEY, VERSION);
}

static sal_status write_json(const sal_trainer *t, const char *path, int file, sal_error *err)
{
    json_t *object =
        json_pack("{s:i, s:s, s:I, s:O}", VERSION_KEY, VERSION, "arrays", array_files[file],
                  "iteration", (json_int_t)t->iteration, "options", t->fingerprint);
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(17) | JSON_INDENT(1)) : NULL;
    json_decref(object);
    if (!text) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}

sal_status sal_trainer_save(sal_trainer *t, const char *directory, sal_error *err)
{
    char path[4096], arrays[4096], older[4096];
    json_t *json = NULL;
    int last = 1;
    sal_status status = path_in(directory, "checkpoint.json", path, sizeof path, err);
    status = status ? status : read_json(path, &json, &last, err);
    json_decref(json);
    status =
        status ? status : path_in(directory, array_files[1 - last], arrays, sizeof arrays, err);
    status = status ? status : path_in(directory, array_files[last], older, sizeof older, err);
    if (status == SAL_OK) {
        counters c = gather(t);
        sali_state_item items[MOST_ITEMS];
        status = sali_state_save(arrays, items, list_items(t, &c, items), err);
    }
    status = status ? status : write_json(t, path, 1 - last, err);
    if (status == SAL_OK) {
        unlink(older); /* its JSON is gone */
    }
    return status;
}

/* ---- taking it up again */

static sal_status check_buffer(const sal_trainer *t, const char *path, sal_error *err)
{
    const sal_space *space = t->model->space;
    for (int64_t k = 0; k < t->buffer.slots * space->n_variables; k++) {
        if (!sali_has_code(&space->variables[k % space->n_variables], t->buffer.codes[k])) {
            return sali_fail(err, SAL_ERR_DATA, "%s: buffer.codes: %d is no code of variable %lld",
                             path, (int)t->buffer.codes[k], (long long)(k % space->n_variables));
        }
    }
    return SAL_OK;
}

static sal_status take_over(sal_trainer *t, const counters *c, const char *path, sal_error *err)
{
    sal_status status = check_buffer(t, path, err);
    if (status == SAL_OK && (c->iteration < 0 || c->updates < 0)) {
        status = sali_fail(err, SAL_ERR_DATA,
                           "%s: counters: expected numbers that are not negative", path);
    }
    if (status == SAL_OK && t->shared && t->sampler->restored) {
        status = t->sampler->restored(t->shared, err);
    }
    t->iteration = c->iteration;
    t->good_iteration = c->good_iteration;
    t->optimiser.updates = (uint64_t)c->updates;
    t->accepted = c->accepted;
    t->jump = c->jump;
    t->moves = c->moves;
    t->step_size.log_step = c->log_step;
    sali_params_set(t->tape->params, t->values);
    return status;
}

sal_status sal_trainer_load(sal_trainer *t, const char *directory, sal_error *err)
{
    char path[4096];
    json_t *json = NULL;
    int file = 0;
    sal_status status = path_in(directory, "checkpoint.json", path, sizeof path, err);
    status = status ? status : read_json(path, &json, &file, err);
    if (status != SAL_OK || !json) {
        return status;
    }
    status = compare(path, json_object_get(json, "options"), t->fingerprint, err);
    status = status ? status : path_in(directory, array_files[file], path, sizeof path, err);
    if (status == SAL_OK) {
        counters c = { 0 };
        sali_state_item items[MOST_ITEMS];
        status = sali_state_load(path, items, list_items(t, &c, items), err);
        status = status ? status : take_over(t, &c, path, err);
    }
    json_decref(json);
    return status;
}
