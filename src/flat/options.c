/* SPDX-License-Identifier: MIT */
#include "flat/options.h"

#include <stdio.h>
#include <string.h>

#include <saltus/mpi.h>
#include <saltus/program.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/space.h"
#include "flat/json.h"

/* ---- memory */

void *sali_flat_own(sali_flat_owner *owner, void *allocation)
{
    if (!allocation ||
        sali_grow((void **)&owner->items, &owner->room, owner->n + 1, sizeof *owner->items) != 0) {
        sali_free(allocation);
        return NULL;
    }
    return owner->items[owner->n++] = allocation;
}

void sali_flat_release(sali_flat_owner *owner)
{
    for (int64_t k = 0; k < owner->n; k++) {
        sali_free(owner->items[k]);
    }
    sali_free(owner->items);
    *owner = (sali_flat_owner){ 0 };
}

/* ---- text */

/* Where options that are read go. */
typedef struct reader {
    const sal_option_table *table;
    void *options;          /* the struct that the table describes */
    sali_flat_owner *owner; /* keeps copies of texts */
    char *given; /* the names of the options that were set, each with a comma; NULL: not wanted */
} reader;

/* Set an option by its name. The option may point to a copy of the text. */
static sal_status set_option(const reader *r, const char *name, const char *text, sal_error *err)
{
    char *kept = sali_flat_own(r->owner, sali_strdup(text)); /* the option may point to it */
    if (!kept) {
        return sali_fail_memory(err);
    }
    sal_status status = sal_option_set(r->table, r->options, name, kept, err);
    if (status == SAL_OK && r->given) {
        strcat(strcat(r->given, name), ",");
    }
    if (status != SAL_ERR_NOT_FOUND) {
        return status;
    }
    sal_nearest nearest = sal_nearest_begin(name);
    sal_option_info info;
    for (int64_t k = 0; sal_option_list(r->table, k, &info); k++) {
        sal_nearest_offer(&nearest, info.name);
    }
    return sali_fail(err, SAL_ERR_NOT_FOUND, "there is no option '%.100s'%s%s", name,
                     nearest.name ? "; " : "", sal_nearest_hint(&nearest, ""));
}

/* Set *text to a JSON value as the text of an option, in `room` or in the value itself. False: an
 * array, an object or null has no such text. */
static bool text_of(const json_t *value, char *room, size_t size, const char **text)
{
    *text = room;
    switch (json_typeof(value)) {
    case JSON_STRING:
        *text = json_string_value(value);
        return true;
    case JSON_TRUE:
        snprintf(room, size, "yes");
        return true;
    case JSON_FALSE:
        snprintf(room, size, "no");
        return true;
    case JSON_INTEGER:
        snprintf(room, size, "%lld", (long long)json_integer_value(value));
        return true;
    case JSON_REAL:
        snprintf(room, size, "%.17g", json_real_value(value));
        return true;
    default:
        return false;
    }
}

/* Set options from a JSON object; null leaves an option as it is. */
static sal_status read_json(const reader *r, const char *text, sal_error *err)
{
    json_error_t wrong;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
    const char *name, *value;
    json_t *item;
    char room[64];
    sal_status status = SAL_OK;
    if (!object) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "options: line %d, column %d: %.300s", wrong.line,
                         wrong.column, wrong.text);
    }
    json_object_foreach(object, name, item)
    {
        if (status != SAL_OK || json_is_null(item)) {
            continue;
        }
        status = text_of(item, room, sizeof room, &value)
                     ? set_option(r, name, value, err)
                     : sali_fail(err, SAL_ERR_ARGUMENT,
                                 "%.100s: expected a number, a text, true or false", name);
    }
    json_decref(object);
    return status;
}

/* Set options from lines NAME=VALUE; empty lines are skipped. */
static sal_status read_lines(const reader *r, const char *text, sal_error *err)
{
    sal_status status = SAL_OK;
    while (status == SAL_OK && *text) {
        const size_t length = strcspn(text, "\n"), name = strcspn(text, "=\n");
        char *line = sali_memdup(text, (int64_t)length + 1, 1);
        if (!line) {
            return sali_fail_memory(err);
        }
        line[length] = '\0';
        if (name < length) {
            line[name] = '\0';
            status = set_option(r, line, line + name + 1, err);
        } else if (length > 0) {
            status = sali_fail(err, SAL_ERR_ARGUMENT,
                               "options: expected NAME=VALUE; found '%.100s'", line);
        }
        sali_free(line);
        text += length + (text[length] == '\n');
    }
    return status;
}

static sal_status read_options(const reader *r, const char *text, sal_error *err)
{
    const char *start = text ? text + strspn(text, " \t\r\n") : "";
    return *start == '{' ? read_json(r, start, err) : read_lines(r, start, err);
}

sal_status sali_flat_read(const sal_option_table *table, const char *text, void *options,
                          sali_flat_owner *owner, sal_error *err)
{
    const reader r = { .table = table, .options = options, .owner = owner };
    return read_options(&r, text, err);
}

/* ---- the handle */

/* Allocate options of this kind, all unset, as *made. SAL_ERR_ARGUMENT: there are no handles of
 * this kind of options. */
static sal_status begin_options(sal_options which, sal_flat_options **made, sal_error *err)
{
    if (which != SAL_OPTIONS_RUN && which != SAL_OPTIONS_TRAIN && which != SAL_OPTIONS_AIS &&
        which != SAL_OPTIONS_LOG_Z) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "options: expected those of a run, of a training, of AIS or of log Z");
    }
    *made = SALI_NEW(sal_flat_options);
    if (!*made) {
        return sali_fail_memory(err);
    }
    (*made)->which = which;
    return SAL_OK;
}

/* Unless `status` is a failure, set options from the text, and hand `made` over to *out. After a
 * failure `made` is destroyed. */
static sal_status finish_options(sal_status status, const char *text, sal_flat_options *made,
                                 sal_flat_options **out, sal_error *err)
{
    status = status ? status
                    : sali_flat_read(sal_option_table_of(made->which), text, &made->of,
                                     &made->owner, err);
    return SALI_GIVE(status, made, out, sal_flat_options_destroy);
}

sal_status sal_flat_options_create(sal_options which, const char *text, sal_flat_options **out,
                                   sal_error *err)
{
    sal_flat_options *made = NULL;
    sal_status status = begin_options(which, &made, err);
    return finish_options(status, text, made, out, err);
}

sal_status sal_flat_options_suggested(const char *specification, int64_t rows, const char *text,
                                      sal_flat_options **out, sal_error *err)
{
    const size_t room = text ? strlen(text) + 2 : 1; /* every name is in the text */
    sal_flat_options *made = NULL;
    char *given = sali_alloc((int64_t)room, 1);
    sal_status status =
        given ? begin_options(SAL_OPTIONS_TRAIN, &made, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        const reader r = { sal_option_table_of(made->which), &made->of, &made->owner, given };
        status = read_options(&r, text, err);
    }
    if (status == SAL_OK && !sal_train_suggest(specification, given, rows, &made->of.train, NULL)) {
        sal_flat_options_destroy(made);
        made = NULL;
    }
    sali_free(given);
    return SALI_GIVE(status, made, out, sal_flat_options_destroy);
}

sal_status sal_flat_options_resumed(const sal_run_state *state, const char *text,
                                    sal_flat_options **out, sal_error *err)
{
    sal_flat_options *made = NULL;
    sal_status status = begin_options(SAL_OPTIONS_RUN, &made, err);
    status = status ? status : sal_run_state_options(state, &made->of.run, err);
    return finish_options(status, text, made, out, err);
}

void sal_flat_options_destroy(sal_flat_options *options)
{
    if (options) {
        sali_flat_release(&options->owner);
        sali_free(options);
    }
}

/* ---- arrays and handles */

/* SAL_ERR_NOT_FOUND, with a message that lists the names that are `there`. */
static sal_status no_such(const char *what, const char *name, const char *there, sal_error *err)
{
    return sali_fail(err, SAL_ERR_NOT_FOUND, "these options have no %s '%.60s'; there are: %s",
                     what, name, there);
}

/* Set *field to a copy of values [n], of `size` bytes each, and *count to n; n = 0 clears the
 * field. */
static sal_status copy_array(sal_flat_options *o, const void *values, int64_t n, size_t size,
                             const void **field, int64_t *count, sal_error *err)
{
    if (n == 0) { /* as if it had not been given */
        *field = NULL;
        *count = 0;
        return SAL_OK;
    }
    const void *kept = n > 0 ? sali_flat_own(&o->owner, sali_memdup(values, n, size)) : NULL;
    if (!kept) {
        return n < 0 ? sali_fail(err, SAL_ERR_ARGUMENT, "an array of %lld elements", (long long)n)
                     : sali_fail_memory(err);
    }
    *field = kept;
    *count = n;
    return SAL_OK;
}

sal_status sal_flat_options_reals(sal_flat_options *o, const char *name, int64_t n,
                                  const double *values, sal_error *err)
{
    static const char *const there[] = { [SAL_OPTIONS_RUN] = "temperatures, preconditioner",
                                         [SAL_OPTIONS_TRAIN] = "preconditioner",
                                         [SAL_OPTIONS_AIS] = "log-base",
                                         [SAL_OPTIONS_LOG_Z] = "log-base" };
    const bool matrix = strcmp(name, "preconditioner") == 0;
    const void *kept = NULL;
    int64_t *count = NULL;
    const double **field = NULL;
    if (o->which == SAL_OPTIONS_RUN && strcmp(name, "temperatures") == 0) {
        field = &o->of.run.tempering.temperatures;
        count = &o->sizes.temperatures;
    } else if (o->which == SAL_OPTIONS_RUN && matrix) {
        field = &o->of.run.preconditioner;
        count = &o->sizes.preconditioner;
    } else if (o->which == SAL_OPTIONS_TRAIN && matrix) {
        field = &o->of.train.preconditioner;
        count = &o->sizes.preconditioner;
    } else if (o->which == SAL_OPTIONS_AIS && strcmp(name, "log-base") == 0) {
        field = &o->of.ais.log_base;
        count = &o->sizes.log_base;
    } else if (o->which == SAL_OPTIONS_LOG_Z && strcmp(name, "log-base") == 0) {
        field = &o->of.log_z.log_base;
        count = &o->sizes.log_base;
    } else {
        return no_such("array of reals", name, there[o->which], err);
    }
    sal_status status = copy_array(o, values, n, sizeof *values, &kept, count, err);
    if (status == SAL_OK) {
        *field = kept;
    }
    if (status == SAL_OK && field == &o->of.run.tempering.temperatures) {
        o->of.run.tempering.replicas = n;
    }
    return status;
}

sal_status sal_flat_options_codes(sal_flat_options *o, const char *name, int64_t n,
                                  const int32_t *codes, sal_error *err)
{
    const void *kept = NULL;
    const bool run = o->which == SAL_OPTIONS_RUN;
    if (!run || strcmp(name, "init") != 0) {
        return no_such("array of codes", name, run ? "init" : "none", err);
    }
    sal_status status = copy_array(o, codes, n, sizeof *codes, &kept, &o->sizes.init, err);
    if (status == SAL_OK) {
        o->init = kept;
    }
    return status;
}

sal_status sal_flat_options_clamp(sal_flat_options *o, int64_t n, const int64_t *variables,
                                  const int32_t *codes, sal_error *err)
{
    const void *kept[2] = { NULL };
    int64_t count;
    if (o->which != SAL_OPTIONS_RUN) {
        return no_such("array", "clamp", "none", err);
    }
    sal_status status = copy_array(o, variables, n, sizeof *variables, &kept[0], &count, err);
    status = status ? status : copy_array(o, codes, n, sizeof *codes, &kept[1], &count, err);
    if (status == SAL_OK) {
        o->of.run.clamps = (sal_clamps){ .n = n, .variables = kept[0], .codes = kept[1] };
    }
    return status;
}

sal_status sal_flat_options_text(sal_flat_options *o, const char *name, const char *text,
                                 sal_error *err)
{
    const struct {
        const char *name, **field;
    } fields[] = { { "model", &o->model }, { "training", &o->training }, { "ladder", &o->ladder } };
    for (size_t k = 0; o->which == SAL_OPTIONS_RUN && k < sizeof fields / sizeof *fields; k++) {
        if (strcmp(name, fields[k].name) == 0) {
            const char *kept = text ? sali_flat_own(&o->owner, sali_strdup(text)) : NULL;
            if (text && !kept) {
                return sali_fail_memory(err);
            }
            *fields[k].field = kept;
            return SAL_OK;
        }
    }
    return no_such("text", name, o->which == SAL_OPTIONS_RUN ? "model, training, ladder" : "none",
                   err);
}

/* Append a sampler of the user's own to the samplers of the options. */
static sal_status add_sampler(sal_flat_options *o, const void *handle, sal_error *err)
{
    int k = 0;
    while (k < SALI_FLAT_SAMPLERS && o->samplers[k]) {
        k++;
    }
    if (k == SALI_FLAT_SAMPLERS) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "more than %d samplers", SALI_FLAT_SAMPLERS);
    }
    o->samplers[k] = handle; /* a sal_flat_sampler begins with its descriptor */
    if (o->which == SAL_OPTIONS_RUN) {
        o->of.run.own_samplers = o->samplers;
    } else if (o->which == SAL_OPTIONS_TRAIN) {
        o->of.train.own_samplers = o->samplers;
    } else if (o->which == SAL_OPTIONS_AIS) {
        o->of.ais.own_samplers = o->samplers;
    } else {
        o->of.log_z.own_samplers = o->samplers;
    }
    return SAL_OK;
}

/* Set the communicator of the options. */
static void give_comm(sal_flat_options *o, sal_comm *comm)
{
    if (o->which == SAL_OPTIONS_RUN) {
        o->of.run.comm = comm;
    } else if (o->which == SAL_OPTIONS_TRAIN) {
        o->of.train.comm = comm;
    } else {
        o->of.ais.comm = comm;
    }
}

sal_status sal_flat_options_handle(sal_flat_options *o, const char *name, const void *handle,
                                   sal_error *err)
{
    static const char *const there[] = { [SAL_OPTIONS_RUN] =
                                             "tuning, trajectory, sampler, trainer, comm",
                                         [SAL_OPTIONS_TRAIN] =
                                             "test, first, first_model, sampler, comm",
                                         [SAL_OPTIONS_AIS] = "sampler, comm",
                                         [SAL_OPTIONS_LOG_Z] = "sampler" };
    if (strcmp(name, "sampler") == 0) {
        return add_sampler(o, handle, err);
    }
    if (strcmp(name, "comm") == 0 && o->which != SAL_OPTIONS_LOG_Z) {
        give_comm(o, (sal_comm *)handle);
        return SAL_OK;
    }
    if (o->which == SAL_OPTIONS_RUN && strcmp(name, "tuning") == 0) {
        o->of.run.tuning = handle;
    } else if (o->which == SAL_OPTIONS_RUN && strcmp(name, "trajectory") == 0) {
        o->of.run.trajectory = handle;
    } else if (o->which == SAL_OPTIONS_RUN && strcmp(name, "trainer") == 0) {
        o->trainer = handle;
    } else if (o->which == SAL_OPTIONS_TRAIN && strcmp(name, "test") == 0) {
        o->of.train.ptt.test = handle;
    } else if (o->which == SAL_OPTIONS_TRAIN && strcmp(name, "first") == 0) {
        o->of.train.ptt.first = handle;
    } else if (o->which == SAL_OPTIONS_TRAIN && strcmp(name, "first_model") == 0) {
        o->of.train.ptt.first_model = handle;
    } else {
        return no_such("handle", name, there[o->which], err);
    }
    return SAL_OK;
}

/* A progress function of the user. Trainings report more than numbers of iterations: see
 * tell_progress. */
typedef struct train_progress {
    int (*progress)(int64_t done, int64_t total, void *data);
    void *data;
} train_progress;

static int tell_progress(const sal_train_report *report, void *data)
{
    const train_progress *p = data;
    return p->progress(report->iteration, report->iterations, p->data);
}

sal_status sal_flat_options_progress(sal_flat_options *o,
                                     int (*progress)(int64_t done, int64_t total, void *data),
                                     void *data, sal_error *err)
{
    if (o->which == SAL_OPTIONS_RUN) {
        o->of.run.callbacks.progress = progress;
        o->of.run.callbacks.progress_data = data;
    } else if (o->which == SAL_OPTIONS_AIS) {
        o->of.ais.progress = progress;
        o->of.ais.progress_data = data;
    } else if (o->which == SAL_OPTIONS_LOG_Z) {
        o->of.log_z.progress = progress;
        o->of.log_z.progress_data = data;
    } else {
        train_progress *p = sali_flat_own(&o->owner, SALI_NEW(train_progress));
        if (!p) {
            return sali_fail_memory(err);
        }
        *p = (train_progress){ progress, data };
        o->of.train.callbacks.progress = progress ? tell_progress : NULL;
        o->of.train.callbacks.progress_data = p;
    }
    return SAL_OK;
}

sal_status sal_flat_options_report(sal_flat_options *o,
                                   int (*report)(const sal_train_report *report, void *data),
                                   void *data, sal_error *err)
{
    if (o->which != SAL_OPTIONS_TRAIN) {
        return no_such("function", "report", "progress", err);
    }
    o->of.train.callbacks.report = report;
    o->of.train.callbacks.report_data = data;
    return SAL_OK;
}

/* ---- use */

/* SAL_ERR_ARGUMENT if an array was given (not 0 elements) and does not have `wanted` elements. */
static sal_status check_size(const char *name, int64_t given, int64_t wanted, sal_error *err)
{
    return given == 0 || given == wanted
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "%s: expected %lld elements; there are %lld",
                           name, (long long)wanted, (long long)given);
}

/* Set the starting codes [chains x V] of the run from o->init: one state for all chains, or one for
 * each. */
static sal_status fit_init(sal_flat_options *o, int64_t V, sal_error *err)
{
    sal_run_options *run = &o->of.run;
    sal_run_options resolved = *run;
    const int64_t n = o->sizes.init;
    sal_status status = sal_option_resolve(sal_option_table_of(SAL_OPTIONS_RUN), &resolved, err);
    if (status != SAL_OK || !o->init) {
        return status;
    }
    const int64_t chains = resolved.chains;
    if (n == V && chains > 1 && chains <= INT64_MAX / 4 / V) {
        int32_t *all = sali_flat_own(&o->owner, SALI_NEW_ARRAY(int32_t, chains * V));
        for (int64_t c = 0; all && c < chains; c++) {
            memcpy(all + c * V, o->init, (size_t)V * sizeof *all);
        }
        run->init = all;
        return all ? SAL_OK : sali_fail_memory(err);
    }
    run->init = o->init;
    return n == chains * V
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "init: expected codes [%lld], or [%lld x %lld]; there are %lld",
                           (long long)V, (long long)chains, (long long)V, (long long)n);
}

sal_status sali_flat_fit(sal_flat_options *o, sal_options which, const sal_model *model,
                         sal_error *err)
{
    static const char *const names[] = {
        [SAL_OPTIONS_RUN] = "a run",
        [SAL_OPTIONS_TRAIN] = "a training",
        [SAL_OPTIONS_AIS] = "AIS",
        [SAL_OPTIONS_LOG_Z] = "log Z",
    };
    if (!model) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "expected a model; found NULL");
    }
    if (!o) {
        return SAL_OK;
    }
    if (o->which != which) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "expected options of %s; these are of %s",
                         names[which], names[o->which]);
    }
    const sal_space *space = sal_model_space(model);
    const int64_t V = sal_space_variables(space), N = sal_space_width(space);
    sal_status status = check_size("preconditioner", o->sizes.preconditioner, N * N, err);
    status = status ? status : check_size("log-base", o->sizes.log_base, space->n_states, err);
    return status || which != SAL_OPTIONS_RUN ? status : fit_init(o, V, err);
}
