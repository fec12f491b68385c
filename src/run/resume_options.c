/* SPDX-License-Identifier: MIT */
/* The options of a run, stored in its state. A resumed run must have the same options. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/option.h"
#include "models/clamp.h"
#include "models/fingerprint.h"
#include "run/run.h"
#include "run/trajectory/trajectory.h"

/* Names of items that a resumed run must share with the first one: options and other texts, and
 * arrays. */
#define GIVEN "given."
#define MODEL "fingerprint"
#define LEVELS "levels"
#define TUNED "tuned"
#define TEMPERATURES GIVEN "temperatures"
#define VARIABLES GIVEN "clamped variables"
#define CODES GIVEN "states of clamped variables"

#define PRECONDITIONER "preconditioner"
#define NAME "model"
#define STREAM_SEED "stream_seed"

/* Version of the state format. States written by 0.1.0 have none. */
#define FORMAT "format"
#define FORMAT_NOW 2

/* ---- storing them */

/* The options of the run as a later call would have to give them to get the same run: with the
 * specification `sampler`, and -1 for no warm-up. */
static sal_run_options resolved_options(const sal_run *run, const char *sampler)
{
    sal_run_options o = run->options;
    o.sampler = sampler;
    o.warmup = o.warmup ? o.warmup : -1;
    o.tempering.replicas = run->replicas;
    return o;
}

/* Writes the name of the item that holds option `name` into key, which it returns. */
static const char *item_key(const char *name, char key[128])
{
    snprintf(key, 128, GIVEN "%s", name);
    return key;
}

/* Store a text, formatted as by printf, as option `name` of the state; false: out of memory. */
__attribute__((format(printf, 3, 4))) static bool put_option(sal_run *run, const char *name,
                                                             const char *format, ...)
{
    char key[128], text[SALI_SAMPLER_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sali_run_state_put_text(run->state, item_key(name, key), text);
}

/* Store all options of the table that a resumed run must share, as texts; false: out of memory. */
static bool put_options(sal_run *run, const sal_run_options *o)
{
    char text[SALI_SAMPLER_TEXT];
    sal_option_info info;
    bool ok = true;
    for (int64_t k = 0; ok && sal_option_list(sali_run_option_table(), k, &info); k++) {
        if (info.doc && info.resume != SAL_RESUME_ANY) {
            sal_option_get(sali_run_option_table(), o, info.name, text, sizeof text, NULL);
            ok = (info.resume == SAL_RESUME_NOTED && !text[0]) ||
                 put_option(run, info.name, "%s", text);
        }
    }
    return ok;
}

/* Store the caller's arrays (clamps, temperatures, preconditioner), the format and the stream seed
 * in the state; false: out of memory. */
static bool put_arrays(sal_run *run)
{
    const sal_run_options *o = &run->options;
    int64_t format = FORMAT_NOW, N = run->base->space->width;
    int64_t n = o->tempering.temperatures ? o->tempering.replicas : 0;
    const sali_state_item items[] = {
        sali_state_i64(VARIABLES, o->clamps.n, (int64_t *)o->clamps.variables),
        sali_state_i32(CODES, o->clamps.n, (int32_t *)o->clamps.codes),
        sali_state_f64(TEMPERATURES, n, (double *)o->tempering.temperatures),
        sali_state_f64(PRECONDITIONER, o->preconditioner ? N * N : 0, (double *)o->preconditioner),
        sali_state_i64(FORMAT, 1, &format),
        sali_state_u64(STREAM_SEED, 1, &run->stream_seed),
    };
    bool ok = true;
    for (size_t k = 0; ok && k < sizeof items / sizeof *items; k++) {
        ok = sali_run_state_put(run->state, &items[k]);
    }
    return ok;
}

sal_status sali_run_note_options(sal_run *run, sal_error *err)
{
    char spelt[SALI_SAMPLER_TEXT], sampler[SALI_SAMPLER_TEXT + 64];
    uint64_t fingerprint = 0;
    const sali_levels *levels_of = sali_model_levels(run->base);
    sal_status status =
        sali_model_fingerprint(levels_of ? levels_of->joint : run->base, &fingerprint, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_run_sampler_text(run, spelt);
    /* keep the name by which the caller asked for the sampler, which may be an alias */
    snprintf(sampler, sizeof sampler, "%.*s%s", (int)strcspn(run->options.sampler, ":"),
             run->options.sampler, spelt + strcspn(spelt, ":"));
    const sal_run_options o = resolved_options(run, sampler);
    int64_t levels = !o.trajectory         ? 0
                     : o.trajectory->noise ? o.trajectory->noise->T
                                           : o.trajectory->n;
    run->state = SALI_NEW(sal_run_state);
    bool ok = run->state && sali_run_state_put_text(run->state, NAME, run->base->name) &&
              put_options(run, &o) && put_arrays(run) &&
              put_option(run, MODEL, "%016llx", (unsigned long long)fingerprint) &&
              put_option(run, "dtype", "%s", run->model->dtype == SAL_F32 ? "f32" : "f64") &&
              put_option(run, TUNED, "%s", run->tuned ? "yes" : "no") &&
              put_option(run, LEVELS, "%lld", (long long)levels);
    return ok ? SAL_OK : sali_fail_memory(err);
}

sal_status sali_run_note_present(sal_run *run, sal_error *err)
{
    uint64_t fingerprint = 0;
    const sal_status status = sali_model_fingerprint(run->base, &fingerprint, err);
    const bool ok = put_option(run, MODEL, "%016llx", (unsigned long long)fingerprint) &&
                    put_option(run, "warmup", "%lld", (long long)run->options.warmup);
    return status || ok ? status : sali_fail_memory(err);
}

/* ---- reading them */

/* The text of option `name` in a state, or NULL. */
static const char *text_of(const sal_run_state *state, const char *name)
{
    char key[128];
    return sali_run_state_text(state, item_key(name, key));
}

/* *out receives the data of an array of the state, NULL if the state has none of this name or an
 * empty one. False: the array has another type or length than n. */
static bool read_array(const sal_run_state *state, const char *name, sali_dtype type, int64_t n,
                       const void **out)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    *out = item && item->count > 0 ? item->data : NULL;
    return !item || item->count == 0 || (item->type == type && item->count == n);
}

static int64_t count_of(const sal_run_state *state, const char *name)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    return item ? item->count : 0;
}

/* Set the options that a state holds as texts. SAL_ERR_DATA: the state is of another format, or has
 * no options. */
static sal_status read_options(const sal_run_state *state, sal_run_options *o, sal_error *err)
{
    sal_option_info info;
    if (sali_run_state_whole(state, FORMAT) != FORMAT_NOW) {
        return sali_fail(err, SAL_ERR_DATA,
                         "the state of a run of version 0.1.0; this program goes on with those of "
                         "0.2.0 and later: begin the run again, or use 0.1.0");
    }
    for (int64_t k = 0; sal_option_list(sali_run_option_table(), k, &info); k++) {
        const char *text = info.doc ? text_of(state, info.name) : NULL;
        if (text && text[0] &&
            sal_option_set(sali_run_option_table(), o, info.name, text, err) != SAL_OK) {
            return sali_fail_prefix(err, SAL_ERR_DATA, "the options in the state of the run");
        }
    }
    return o->sampler && text_of(state, LEVELS)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA, "the state of the run has no options");
}

/* *options receives the options in a state. Their arrays and texts point into the state.
 * SAL_ERR_DATA. */
static sal_status take_options(const sal_run_state *state, sal_run_options *options, sal_error *err)
{
    int64_t clamped = count_of(state, VARIABLES);
    sal_run_options o = { .clamps.n = clamped, .resume = state };
    const void *temperatures, *variables, *codes;
    sal_status status = read_options(state, &o, err);
    if (status != SAL_OK) {
        return status;
    }
    if (!read_array(state, TEMPERATURES, SALI_DTYPE_F64, o.tempering.replicas, &temperatures) ||
        !read_array(state, VARIABLES, SALI_DTYPE_I64, clamped, &variables) ||
        !read_array(state, CODES, SALI_DTYPE_I32, clamped, &codes) || !variables != !codes) {
        return sali_fail(err, SAL_ERR_DATA, "the options in the state of the run are damaged");
    }
    o.tempering.replicas = o.tempering.replicas > 1 || temperatures ? o.tempering.replicas : 0;
    o.tempering.temperatures = temperatures;
    o.clamps.variables = variables;
    o.clamps.codes = codes;
    const sali_state_item *matrix = sali_run_state_find(state, PRECONDITIONER);
    o.preconditioner =
        matrix && matrix->type == SALI_DTYPE_F64 && matrix->count > 0 ? matrix->data : NULL;
    *options = o;
    return SAL_OK;
}

sal_status sal_run_state_options(const sal_run_state *state, sal_run_options *options,
                                 sal_error *err)
{
    sal_status status = take_options(state, options, err);
    return status && state->name ? sali_fail_prefix(err, status, "%s", state->name) : status;
}

const char *sali_run_state_model(const sal_run_state *state)
{
    const char *name = sali_run_state_text(state, NAME);
    return name ? name : "";
}

/* The seed of a run's random streams. Starts that are given are mixed into the seed, so that chains
 * that start at the last states of another run with the same seed do not repeat the proposals of
 * that run. A resumed run keeps its stream seed; states without a stream seed are from runs whose
 * streams used the plain seed. */
uint64_t sali_run_stream_seed(const sal_run *run)
{
    const sal_run_options *o = &run->options;
    const sali_state_item *kept = o->resume ? sali_run_state_find(o->resume, STREAM_SEED) : NULL;
    if (kept && kept->type == SALI_DTYPE_U64 && kept->count == 1) {
        return *(const uint64_t *)kept->data;
    }
    const int64_t n = o->chains * run->base->space->n_variables;
    return o->init && !o->resume ? sali_hash(sali_hash(SALI_HASH_START, &o->seed, sizeof o->seed),
                                             o->init, n * (int64_t)sizeof *o->init)
                                 : o->seed;
}

sal_status sali_run_take_given(sal_run *run, sal_error *err)
{
    sal_run_options *o = &run->options;
    int64_t N = run->base->space->width, size;
    const void *matrix;
    run->tuned = o->tuning != NULL;
    if (!o->resume) {
        return SAL_OK;
    }
    if ((sali_run_state_whole(o->resume, SALI_RUN_AHEAD) >= 0) != run->endless) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         run->endless ? "the state is of a run, and not of chains that go on"
                                      : "the state is of chains that go on, and not of a run");
    }
    if (o->tuning) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "both tuning and resume are given: what the run found is in its state");
    }
    const char *tuned = text_of(o->resume, TUNED);
    run->tuned = tuned && strcmp(tuned, "yes") == 0;
    if (__builtin_mul_overflow(N, N, &size) ||
        !read_array(o->resume, PRECONDITIONER, SALI_DTYPE_F64, size, &matrix)) {
        return sali_fail(err, SAL_ERR_DATA, "the preconditioner in the state has the wrong size");
    }
    if (o->preconditioner &&
        (!matrix || memcmp(matrix, o->preconditioner, (size_t)size * sizeof(double)) != 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run had another preconditioner; leave it out to go on with that");
    }
    o->preconditioner = matrix;
    return SAL_OK;
}

/* ---- comparing them */

static bool same_item(const sali_state_item *was, const sali_state_item *is)
{
    int64_t count = was ? was->count : 0;
    return is->count == count &&
           (count == 0 ||
            (was->type == is->type &&
             memcmp(was->data, is->data, (size_t)count * sali_state_bytes(is->type)) == 0));
}

/* Whether two specifications are of one sampler with equal settings; NULL is none. */
static bool is_same_sampler(const char *a, const char *b)
{
    const sali_sampler *one = a && b ? sali_sampler_find(a) : NULL;
    return one && one == sali_sampler_find(b) &&
           strcmp(a + strcspn(a, ":"), b + strcspn(b, ":")) == 0;
}

/* Whether a resumed run may have another value of item `name`. A changed number of draws is refused
 * with annealing, because it would move the end of the cooling. */
static bool is_free(const sal_run *run, const char *name)
{
    sal_option_info info;
    if (strncmp(name, GIVEN, strlen(GIVEN)) != 0) {
        return true;
    }
    name += strlen(GIVEN);
    for (int64_t k = 0; sal_option_list(sali_run_option_table(), k, &info); k++) {
        if (strcmp(info.name, name) == 0) {
            return info.resume == SAL_RESUME_NOTED &&
                   !(strcmp(name, "draws") == 0 && run->options.annealing.on);
        }
    }
    return false;
}

/* SAL_ERR_ARGUMENT with a message about item `is` of this run, which is not what the resumed run
 * had; SAL_OK if both are samplers that mean the same. */
static sal_status report_difference(const sal_run *run, const sali_state_item *is, sal_error *err)
{
    const sal_run_state *before = run->options.resume;
    const char *name = is->name + strlen(GIVEN), *was = sali_run_state_text(before, is->name);
    const char *now = sali_run_state_text(run->state, is->name);
    if (strcmp(name, "sampler") == 0 && is_same_sampler(was, now)) {
        return SAL_OK;
    }
    if (!now) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run was made with other %s; leave them out, or begin a new run",
                         name);
    }
    return strcmp(name, MODEL) == 0
               ? sali_fail(err, SAL_ERR_ARGUMENT,
                           "the run was made with another model, other parameters or another type "
                           "(it was called %.200s)",
                           sali_run_state_model(before))
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "the run was made with %s %.200s and is to go on with %.200s; leave "
                           "that option out, or begin a new run",
                           name, was && was[0] ? was : "(none)", now[0] ? now : "(none)");
}

sal_status sali_run_compare_given(const sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < run->state->n; k++) {
        const sali_state_item *is = &run->state->items[k];
        if (!is_free(run, is->name) &&
            !same_item(sali_run_state_find(run->options.resume, is->name), is)) {
            status = report_difference(run, is, err);
        }
    }
    return status;
}
