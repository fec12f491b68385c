/* SPDX-License-Identifier: MIT */
#include "train/trajectory_file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saltus/train.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/arrays/safetensors.h"
#include "models/base.h"
#include "models/clamp.h"
#include "models/fingerprint.h"
#include "models/structure.h"
#include "models/tape_model.h"
#include "samplers/sampler.h"

#define VERSION_KEY "saltus_ladder"
#define VERSION 1

/* Numbers of a level beside its parameters. */
enum { ITERATION, BETA, LOG_Z, LOG_Z_ERROR, ACCEPTANCE, VISITS, RELAXATION, STEP_SIZE, N_NUMBERS };

static sal_status level_path(const char *directory, int64_t k, char path[SALI_PATH], sal_error *err)
{
    char name[48];
    snprintf(name, sizeof name, "ladder/level-%03lld.safetensors", (long long)k);
    return sali_path_in(directory, name, path, err);
}

/* Note that `written` levels are in the directory `ladder`, which is identified by its device and
 * inode. */
static sal_status count_written(sal_trajectory *t, const char *ladder, int64_t written,
                                sal_error *err)
{
    struct stat info;
    if (stat(ladder, &info) != 0) {
        return sali_fail(err, SAL_ERR_IO, "%s: %m", ladder);
    }
    t->written = written;
    t->written_place[0] = (uint64_t)info.st_dev;
    t->written_place[1] = (uint64_t)info.st_ino;
    return SAL_OK;
}

/* How many levels an earlier call wrote here, if their files are still there. */
static int64_t find_written(const sal_trajectory *t, const char *directory, const char *ladder)
{
    char path[SALI_PATH];
    struct stat info;
    if (stat(ladder, &info) != 0 || t->written_place[0] != (uint64_t)info.st_dev ||
        t->written_place[1] != (uint64_t)info.st_ino) {
        return 0;
    }
    for (int64_t k = 0; k < t->written; k++) {
        if (level_path(directory, k, path, NULL) != SAL_OK || access(path, F_OK) != 0) {
            return k;
        }
    }
    return t->written;
}

/* ---- writing */

static sali_tensor tensor_of(const char *name, sali_dtype dtype, int64_t n, const void *data)
{
    return (sali_tensor){ .name = name, .dtype = dtype, .ndim = 1, .shape = { n }, .data = data };
}

/* Write level k to `path`, its parameters as `dtype`; level 0 also has log_base. */
static sal_status write_level(const sal_trajectory *t, int64_t k, sal_dtype dtype, const char *path,
                              sal_error *err)
{
    const sali_path_level *level = &t->levels[k];
    const sal_trajectory_level *i = &level->info;
    const double numbers[N_NUMBERS] = {
        [ITERATION] = (double)i->iteration,
        [BETA] = i->beta,
        [LOG_Z] = i->log_z,
        [LOG_Z_ERROR] = i->log_z_error,
        [ACCEPTANCE] = i->acceptance,
        [VISITS] = (double)i->visits,
        [RELAXATION] = i->relaxation,
        [STEP_SIZE] = level->step_size,
    };
    void *values = sali_alloc(t->parameters, sali_dtype_size(dtype));
    if (!values) {
        return sali_fail_memory(err);
    }
    for (int64_t p = 0; p < t->parameters; p++) {
        sali_store(dtype, values, p, level->values[p]);
    }
    const sali_dtype stored = dtype == SAL_F32 ? SALI_DTYPE_F32 : SALI_DTYPE_F64;
    const sali_tensor tensors[] = {
        tensor_of("level", SALI_DTYPE_F64, N_NUMBERS, numbers),
        tensor_of("parameters", stored, t->parameters, values),
        tensor_of("log_base", SALI_DTYPE_F64, t->states, t->log_base),
    };
    sal_status status = sali_safetensors_write(path, tensors, k == 0 ? 3 : 2, err);
    sali_free(values);
    return status;
}

sal_status sali_trajectory_write_levels(sal_trajectory *t, sal_dtype dtype, const char *directory,
                                        sal_error *err)
{
    char path[SALI_PATH];
    sal_status status = sali_path_in(directory, "ladder", path, err);
    if (status == SAL_OK && mkdir(path, 0777) != 0 && errno != EEXIST) {
        status = sali_fail(err, SAL_ERR_IO, "%s: %m", path);
    }
    status = status ? status : count_written(t, path, find_written(t, directory, path), err);
    for (int64_t k = t->written; status == SAL_OK && k < t->n; k++) {
        status = level_path(directory, k, path, err);
        status = status ? status : write_level(t, k, dtype, path, err);
        t->written = status == SAL_OK ? k + 1 : t->written;
    }
    return status;
}

/* The number of levels that existed when the model had its parameters of `iteration`. */
static int64_t levels_until(const sal_trajectory *t, int64_t iteration)
{
    int64_t n = 1;
    while (n < t->n && t->levels[n].info.iteration <= iteration) {
        n++;
    }
    return n;
}

/* ---- denoising chains */

#define NOISE_FILE "denoising.json"
#define NOISE_KEY "saltus_denoising"
#define NOISE_VERSION 1
/* The most steps at a level: nothing interrupts a pass, which is one step of a run. */
#define MOST_STEPS 100000

static json_t *reals_tensor(int64_t n, const double *values)
{
    json_t *array = json_array();
    for (int64_t k = 0; array && k < n; k++) {
        json_array_append_new(array, json_real(values[k]));
    }
    return array;
}

static json_t *wholes_tensor(int64_t n, const int64_t *values)
{
    json_t *array = json_array();
    for (int64_t k = 0; array && k < n; k++) {
        json_array_append_new(array, json_integer((json_int_t)values[k]));
    }
    return array;
}

/* Write the denoising chain of a trajectory to its file in a directory. */
static sal_status write_noise(const sal_trajectory *t, const char *directory, int64_t iteration,
                              sal_error *err)
{
    char path[SALI_PATH];
    const int64_t T = t->noise->T;
    sal_status status = sali_path_in(directory, NOISE_FILE, path, err);
    if (status != SAL_OK) {
        return status;
    }
    json_t *object =
        json_pack("{s:i, s:I, s:o, s:o, s:o, s:o, s:o}", NOISE_KEY, NOISE_VERSION, "iteration",
                  (json_int_t)iteration, "sampler", sali_json_text(t->sampler), "keep",
                  reals_tensor(T + 1, t->noise->keep), "steps", wholes_tensor(T, t->noise_steps),
                  "step_sizes", reals_tensor(T, t->noise_step_sizes), "log_base",
                  reals_tensor(t->states, t->noise->log_base));
    return sali_json_write(object, path, err);
}

/* The array `key` of n finite numbers, to be freed. NULL: there is no such array, or no memory
 * (then *memory becomes true). */
static double *read_reals(const json_t *object, const char *key, int64_t n, bool *memory)
{
    const json_t *array = json_object_get(object, key);
    double *values = NULL;
    if (json_array_size(array) == (size_t)n) {
        values = SALI_NEW_ARRAY(double, n);
        *memory |= !values;
    }
    for (int64_t k = 0; values && k < n; k++) {
        const json_t *number = json_array_get(array, (size_t)k);
        values[k] = json_number_value(number);
        if (!json_is_number(number) || !isfinite(values[k])) {
            sali_free(values);
            return NULL;
        }
    }
    return values;
}

/* The array "steps" of n whole numbers, to be freed; NULL as for read_reals. */
static int64_t *read_steps(const json_t *object, int64_t n, bool *memory)
{
    const json_t *array = json_object_get(object, "steps");
    int64_t *values = NULL;
    if (json_array_size(array) == (size_t)n) {
        values = SALI_NEW_ARRAY(int64_t, n);
        *memory |= !values;
    }
    for (int64_t k = 0; values && k < n; k++) {
        const json_t *number = json_array_get(array, (size_t)k);
        values[k] = json_integer_value(number);
        if (!json_is_integer(number) || values[k] < 1 || values[k] > MOST_STEPS) {
            sali_free(values);
            return NULL;
        }
    }
    return values;
}

static bool may_be_step_sizes(int64_t n, const double *sizes)
{
    bool may = sizes != NULL;
    for (int64_t k = 0; may && k < n; k++) {
        may = sizes[k] >= 0;
    }
    return may;
}

/* *out receives the denoising chain of `model` that a JSON object describes. SAL_ERR_DATA: the
 * object is no such chain. */
static sal_status make_noise(const char *path, const json_t *object, const sal_model *model,
                             sal_trajectory **out, sal_error *err)
{
    const int64_t T = sal_model_levels(model), S = model->space->n_states - T;
    bool memory = false;
    double *keep = read_reals(object, "keep", T + 1, &memory);
    double *sizes = read_reals(object, "step_sizes", T, &memory);
    double *log_base = read_reals(object, "log_base", S, &memory);
    int64_t *steps = read_steps(object, T, &memory);
    const char *sampler = json_string_value(json_object_get(object, "sampler"));
    sal_space *space = sali_levels_space(model);
    sali_noise *noise = NULL;
    memory |= !space;
    sal_status status = memory ? sali_fail_memory(err)
                        : keep && log_base && steps && sampler && may_be_step_sizes(T, sizes)
                            ? SAL_OK
                            : sali_fail(err, SAL_ERR_DATA,
                                        "%s: expected the record of a denoising chain of %lld "
                                        "levels over %lld states",
                                        path, (long long)T, (long long)S);
    if (status == SAL_OK) {
        status = sali_noise_create(space, T, keep, log_base, &noise, err);
        status =
            status == SAL_ERR_ARGUMENT ? sali_fail_prefix(err, SAL_ERR_DATA, "%s", path) : status;
    }
    if (status == SAL_OK) {
        const int64_t parameters = sali_model_tape(model)->program->parameters_size;
        *out = sali_trajectory_of_noise(parameters, noise, steps, sizes, sampler);
        status = *out ? SAL_OK : sali_fail_memory(err);
    }
    sal_space_destroy(space);
    sali_free(keep);
    sali_free(sizes);
    sali_free(log_base);
    sali_free(steps);
    return status;
}

/* Read the denoising chain of a directory; SAL_ERR_NOT_FOUND: there is none. */
static sal_status read_noise(const char *directory, const sal_model *model, sal_trajectory **out,
                             sal_error *err)
{
    char path[SALI_PATH];
    json_t *object = NULL;
    sal_status status = sali_path_in(directory, NOISE_FILE, path, err);
    if (status == SAL_OK && access(path, F_OK) != 0) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "%s: there is no such file", path);
    }
    status = status ? status : sali_json_read(path, &object, err);
    if (status == SAL_OK &&
        json_integer_value(json_object_get(object, NOISE_KEY)) != NOISE_VERSION) {
        status = sali_fail(err, SAL_ERR_DATA, "%s: expected a denoising chain (%s %d)", path,
                           NOISE_KEY, NOISE_VERSION);
    }
    status = status ? status : make_noise(path, object, model, out, err);
    json_decref(object);
    return status;
}

/* ---- ladders */

sal_status sali_trajectory_save(const sal_trajectory *trajectory, const char *directory,
                                const sal_model *model, const sal_train_report *report,
                                sal_error *err)
{
    char path[SALI_PATH], text[24];
    uint64_t fingerprint = 0;
    if (!trajectory || !directory || !model || !report) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_train_save: the trajectory, the directory, the model or the "
                         "report is NULL");
    }
    /* Only the "written" counters change, so casting const away is safe. */
    sal_trajectory *t = (sal_trajectory *)(uintptr_t)trajectory;
    if (t->noise) {
        return write_noise(t, directory, report->iteration, err);
    }
    sal_status status = sali_model_fingerprint(model, &fingerprint, err);
    status = status ? status : sali_trajectory_write_levels(t, model->dtype, directory, err);
    status = status ? status : sali_path_in(directory, "ladder/ladder.json", path, err);
    if (status != SAL_OK) {
        return status;
    }
    bool known = isfinite(report->log_z) && isfinite(report->log_z_error);
    snprintf(text, sizeof text, "%016llx", known ? (unsigned long long)fingerprint : 0);
    json_t *object = json_pack(
        "{s:i, s:I, s:o, s:I, s:{s:s, s:I, s:f, s:f, s:f}}", VERSION_KEY, VERSION, "levels",
        (json_int_t)levels_until(t, report->iteration), "sampler", sali_json_text(t->sampler),
        "steps", (json_int_t)t->steps, "model", "fingerprint", text, "iteration",
        (json_int_t)report->iteration, "log_z", known ? report->log_z : 0, "log_z_error",
        known ? report->log_z_error : 0, "step_size", report->step_size);
    return sali_json_write(object, path, err);
}

/* ---- reading */

static sal_status report_damage(const char *path, const char *what, sal_error *err)
{
    return sali_fail(err, SAL_ERR_DATA, "%s: expected %s of a training's ladder", path, what);
}

/* *out receives the tensor `name` of `count` numbers as doubles, all finite, except that number
 * `may_miss` (-1: none) may be NaN. NULL in *out after a failure. */
static sal_status take_tensor(const sali_safetensors *file, const char *path, const char *name,
                              int64_t count, int64_t may_miss, double **out, sal_error *err)
{
    const sali_tensor *tensor = sali_safetensors_find(file, name);
    *out = NULL;
    if (!tensor || tensor->count != count) {
        return sali_fail(err, SAL_ERR_DATA, "%s: expected an array '%s' of %lld numbers", path,
                         name, (long long)count);
    }
    double *values = SALI_NEW_ARRAY(double, count);
    if (!values) {
        return sali_fail_memory(err);
    }
    sali_tensor_doubles(tensor, values);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) && !(i == may_miss && isnan(values[i]))) {
            sali_free(values);
            return sali_fail(err, SAL_ERR_DATA, "%s: '%s' has a number that is not finite", path,
                             name);
        }
    }
    *out = values;
    return SAL_OK;
}

/* A whole number that a file stores as a real; -1: it is none from 0 to 9e15. */
static int64_t count_of(double number)
{
    return number >= 0 && number < 9e15 ? (int64_t)number : -1;
}

/* Append level k, read from `path`, to t. SAL_ERR_DATA: missing, damaged, or not a level that can
 * follow. */
static sal_status read_level(sal_trajectory *t, int64_t k, const char *path, sal_error *err)
{
    sali_safetensors *file = NULL;
    double *numbers = NULL, *values = NULL;
    sal_status status = sali_safetensors_open(path, &file, err);
    if (status != SAL_OK) {
        return status == SAL_ERR_NOT_FOUND ? SAL_ERR_DATA : status;
    }
    status = take_tensor(file, path, "level", N_NUMBERS, ACCEPTANCE, &numbers, err);
    status =
        status ? status : take_tensor(file, path, "parameters", t->parameters, -1, &values, err);
    if (status == SAL_OK) {
        const sal_trajectory_level info = {
            .iteration = count_of(numbers[ITERATION]),
            .beta = numbers[BETA],
            .log_z = numbers[LOG_Z],
            .log_z_error = numbers[LOG_Z_ERROR],
            .acceptance = numbers[ACCEPTANCE],
            .visits = count_of(numbers[VISITS]),
            .relaxation = numbers[RELAXATION],
        };
        const double before = t->n > 0 ? t->levels[t->n - 1].info.beta : 0;
        bool sound = info.beta >= before && info.beta <= 1 && (info.beta > 0) == (k > 0) &&
                     info.iteration >= 0 && info.visits >= 0 && info.log_z_error >= 0 &&
                     numbers[STEP_SIZE] >= 0;
        status = !sound ? report_damage(path, "numbers of a level", err)
                 : sali_trajectory_push(t, &info, numbers[STEP_SIZE], values)
                     ? SAL_OK
                     : sali_fail_memory(err);
    }
    sali_free(numbers);
    sali_free(values);
    sali_safetensors_close(file);
    return status;
}

sal_status sali_trajectory_read_levels(const sal_trajectory *like, const char *directory, int64_t n,
                                       sal_trajectory **out, sal_error *err)
{
    char path[SALI_PATH];
    sal_trajectory *t = sali_trajectory_create(like->parameters, like->states, like->log_base,
                                               like->sampler, like->steps);
    sal_status status = t ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 1; status == SAL_OK && k < n; k++) {
        status = level_path(directory, k, path, err);
        status = status ? status : read_level(t, k, path, err);
    }
    status = status ? status : sali_path_in(directory, "ladder", path, err);
    status = status || n == 1 ? status : count_written(t, path, n, err);
    return SALI_GIVE(status, t, out, sal_trajectory_destroy);
}

/* *log_base receives the independent variables of level 0 [R], read from `path`, to be freed. */
static sal_status read_base(const char *path, const sal_space *space, double **log_base,
                            sal_error *err)
{
    sali_safetensors *file = NULL;
    double *given = NULL;
    sal_status status = sali_safetensors_open(path, &file, err);
    if (status != SAL_OK) {
        return status == SAL_ERR_NOT_FOUND ? SAL_ERR_DATA : status;
    }
    status = take_tensor(file, path, "log_base", space->n_states, -1, &given, err);
    if (status == SAL_OK) {
        status = sali_base_create(space, given, log_base, err);
        status =
            status ? sali_fail_prefix(err, status == SAL_ERR_MEMORY ? SAL_ERR_MEMORY : SAL_ERR_DATA,
                                      "%s", path)
                   : SAL_OK;
    }
    sali_free(given);
    sali_safetensors_close(file);
    return status;
}

/* Read ladder.json into t, whose sampler is to be freed, and the number of levels. */
static sal_status read_head(const char *path, sal_trajectory *t, json_int_t *levels, sal_error *err)
{
    json_t *object = NULL;
    json_int_t version = 0, steps = 0;
    const char *sampler = NULL, *text = NULL;
    char *end = NULL;
    sal_status status = sali_json_read(path, &object, err);
    if (status != SAL_OK) {
        return status;
    }
    bool ok = json_unpack(object, "{s:I, s:I, s:s, s:I, s:{s:s, s:F, s:F, s:F}}", VERSION_KEY,
                          &version, "levels", levels, "sampler", &sampler, "steps", &steps, "model",
                          "fingerprint", &text, "log_z", &t->log_z, "log_z_error", &t->log_z_error,
                          "step_size", &t->step_size) == 0;
    ok = ok && version == VERSION && *levels >= 1 && *levels <= SALI_MOST_LEVELS && steps >= 1 &&
         steps <= INT32_MAX && t->log_z_error >= 0 && t->step_size >= 0;
    t->steps = steps;
    t->fingerprint = ok ? strtoull(text, &end, 16) : 0;
    ok = ok && *text && !*end;
    t->sampler = ok ? sali_strdup(sampler) : NULL;
    json_decref(object);
    return !ok           ? report_damage(path, "the record", err)
           : !t->sampler ? sali_fail_memory(err)
                         : SAL_OK;
}

/* *path receives the name of a directory's ladder.json. SAL_ERR_NOT_FOUND: there is none. */
static sal_status find_ladder(const char *directory, char path[SALI_PATH], sal_error *err)
{
    sal_status status = sali_path_in(directory, "ladder/ladder.json", path, err);
    return status == SAL_OK && access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
               ? sali_fail(err, SAL_ERR_NOT_FOUND, "%s: there is no such file", path)
               : status;
}

sal_status sali_ladder_of_layers(const char *directory, const sal_model *model, bool *layers,
                                 sal_error *err)
{
    char path[SALI_PATH];
    sal_trajectory said = { 0 };
    json_int_t levels = 0;
    *layers = false;
    if (!model->structure || sali_structure_is_whole(model)) {
        return SAL_OK;
    }
    sal_status status = find_ladder(directory, path, err);
    if (status == SAL_ERR_NOT_FOUND) {
        return SAL_OK;
    }
    status = status ? status : read_head(path, &said, &levels, err);
    *layers =
        status == SAL_OK && sali_sampler_find(said.sampler) == sali_sampler_find("block-gibbs");
    sali_free(said.sampler);
    return status;
}

sal_status sal_trajectory_open(const char *directory, const sal_model *model, sal_trajectory **out,
                               sal_error *err)
{
    char path[SALI_PATH];
    sal_trajectory said = { 0 };
    json_int_t levels = 0;
    if (!directory || !model || !out) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_trajectory_open: the directory, the model or the result is NULL");
    }
    if (sal_model_levels(model) > 0) {
        sal_status found = read_noise(directory, model, out, err);
        if (found != SAL_ERR_NOT_FOUND) {
            return found;
        }
    }
    sal_status status = find_ladder(directory, path, err);
    if (status == SAL_OK &&
        (!sali_model_tape(model) || sali_clamp_inner(model) != model || model->space->unbounded)) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: a ladder goes with a model made of a tape, without clamped variables "
                         "and counts without a cap",
                         directory);
    }
    status = status ? status : read_head(path, &said, &levels, err);
    status = status ? status : level_path(directory, 0, path, err);
    status = status ? status : read_base(path, model->space, &said.log_base, err);
    if (status == SAL_OK) {
        said.parameters = sali_model_tape(model)->program->parameters_size;
        said.states = model->space->n_states;
        status = sali_trajectory_read_levels(&said, directory, levels, out, err);
    }
    if (status == SAL_OK) {
        (*out)->step_size = said.step_size;
        (*out)->log_z = said.log_z;
        (*out)->log_z_error = said.log_z_error;
        (*out)->fingerprint = said.fingerprint;
    }
    sali_free(said.log_base);
    sali_free(said.sampler);
    return status;
}

sal_status sal_trajectory_log_z(const sal_trajectory *t, const sal_model *model, double *log_z,
                                double *standard_error, sal_error *err)
{
    uint64_t fingerprint = 0;
    if (!t || !model || !log_z || !standard_error) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_trajectory_log_z: the trajectory, the model or a result is NULL");
    }
    if (t->noise) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s is a denoising chain of conditional energies: it has no log Z",
                         model->name);
    }
    sal_status status = sali_model_fingerprint(model, &fingerprint, err);
    if (status == SAL_OK && (fingerprint != t->fingerprint || !isfinite(t->log_z))) {
        status =
            sali_fail(err, SAL_ERR_DATA,
                      "the ladder's log Z is of other parameters than those of %s", model->name);
    }
    if (status == SAL_OK) {
        *log_z = t->log_z;
        *standard_error = t->log_z_error;
    }
    return status;
}
