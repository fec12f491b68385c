/* SPDX-License-Identifier: MIT */
/* The options of a run in its state: what a run that goes on must share with it. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/option.h"
#include "models/clamp.h"
#include "models/fingerprint.h"
#include "run/run.h"

/* Texts, "name\0value\0" each, in one item: the options, and what else a run that goes on must
 * share with the first one. */
#define OPTIONS "options"
#define MODEL "fingerprint"
#define DTYPE "dtype"
#define TUNED "tuned"
#define LEVELS "levels"
#define MOST_TEXT 8192

#define TEMPERATURES "given.temperatures"
#define VARIABLES "given.clamp_variables"
#define CODES "given.clamp_codes"
#define PRECONDITIONER "given.preconditioner"
#define NAME "model"

/* ---- noting them */

sal_status sali_run_note_given(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    const char *name = run->base->name;
    int64_t n = o->tempering.temperatures ? o->tempering.replicas : 0;
    int64_t N = run->base->space->width;
    const sali_state_item items[] = {
        sali_state_f64(TEMPERATURES, n, (double *)o->tempering.temperatures),
        sali_state_i64(VARIABLES, o->clamps.n, (int64_t *)o->clamps.variables),
        sali_state_i32(CODES, o->clamps.n, (int32_t *)o->clamps.codes),
        sali_state_f64(PRECONDITIONER, o->preconditioner ? N * N : 0, (double *)o->preconditioner),
        sali_state_u8(NAME, (int64_t)strlen(name) + 1, (uint8_t *)(uintptr_t)name),
    };
    run->state = run->state ? run->state : SALI_NEW(sal_run_state);
    bool ok = run->state != NULL;
    for (size_t k = 0; ok && k < sizeof items / sizeof *items; k++) {
        ok = sali_run_state_put(run->state, &items[k]);
    }
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* The options as they were resolved. */
static sal_run_options resolved(const sal_run *run, const char *sampler)
{
    sal_run_options o = run->options;
    o.sampler = sampler;
    o.warmup = o.warmup ? o.warmup : -1;
    o.step_size_rule = run->step_sizes.rule;
    o.tempering.replicas = run->ladder.n;
    o.tempering.swap_every = run->ladder.n > 1 ? run->ladder.every : 0;
    return o;
}

static void add_text(char *texts, int64_t *used, const char *name, const char *value)
{
    *used += 1 + snprintf(texts + *used, (size_t)(MOST_TEXT - *used), "%s%c%s", name, 0, value);
}

sal_status sali_run_note_resolved(sal_run *run, sal_error *err)
{
    char texts[MOST_TEXT], text[SALI_SAMPLER_TEXT];
    int64_t used = 0;
    uint64_t fingerprint = 0;
    sal_option_info info;
    sal_status status = sali_model_fingerprint(run->base, &fingerprint, err);
    if (status != SAL_OK) {
        return status;
    }
    char sampler[SALI_SAMPLER_TEXT];
    sali_run_sampler_text(run, sampler);
    /* by the name that it was called by, which may be its alias */
    snprintf(text, sizeof text, "%s%s", run->options.sampler, sampler + strcspn(sampler, ":"));
    memcpy(sampler, text, sizeof sampler);
    const sal_run_options o = resolved(run, sampler);
    for (int64_t k = 0; sal_option_list(sali_run_option_table(), k, &info); k++) {
        if (info.doc && info.resume != SAL_RESUME_ANY) {
            sal_option_get(sali_run_option_table(), &o, info.name, text, sizeof text, NULL);
            add_text(texts, &used, info.name, text);
        }
    }
    snprintf(text, sizeof text, "%lld", (long long)o.draws);
    add_text(texts, &used, "draws", text);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)fingerprint);
    add_text(texts, &used, MODEL, text);
    add_text(texts, &used, DTYPE, run->model->dtype == SAL_F32 ? "f32" : "f64");
    add_text(texts, &used, TUNED, run->tuned ? "yes" : "no");
    snprintf(text, sizeof text, "%lld",
             (long long)(o.trajectory ? sal_trajectory_levels(o.trajectory) : 0));
    add_text(texts, &used, LEVELS, text);
    const sali_state_item item = sali_state_u8(OPTIONS, used, (uint8_t *)texts);
    return sali_run_state_put(run->state, &item) ? SAL_OK : sali_fail_memory(err);
}

/* ---- reading them */

/* The text after this one among those of a state; the first one after NULL; NULL: the end. */
static const char *next_text(const sal_run_state *state, const char *text)
{
    const sali_state_item *item = sali_run_state_find(state, OPTIONS);
    const char *begin = sali_run_state_text(state, OPTIONS);
    const char *next = text ? text + strlen(text) + 1 : begin;
    return begin && next < begin + item->count ? next : NULL;
}

/* The text of a name, or NULL. */
static const char *text_of(const sal_run_state *state, const char *name)
{
    const char *at = next_text(state, NULL);
    for (bool is_name = true; at && !(is_name && strcmp(at, name) == 0); is_name = !is_name) {
        at = next_text(state, at);
    }
    return at ? next_text(state, at) : NULL;
}

/* An array [n] of the state, NULL if it has none there; false: one of another size or type. */
static bool read_array(const sal_run_state *state, const char *name, sali_state_type type,
                       int64_t n, const void **out)
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

/* The options among its texts. */
static sal_status read_options(const sal_run_state *state, sal_run_options *o, sal_error *err)
{
    sal_option_info info;
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

sal_status sal_run_state_options(const sal_run_state *state, sal_run_options *options,
                                 sal_error *err)
{
    int64_t clamped = count_of(state, VARIABLES);
    sal_run_options o = { .clamps.n = clamped, .resume = state };
    const void *temperatures, *variables, *codes;
    sal_status status = read_options(state, &o, err);
    if (status != SAL_OK) {
        return status;
    }
    if (!read_array(state, TEMPERATURES, SALI_STATE_F64, o.tempering.replicas, &temperatures) ||
        !read_array(state, VARIABLES, SALI_STATE_I64, clamped, &variables) ||
        !read_array(state, CODES, SALI_STATE_I32, clamped, &codes) || !variables != !codes) {
        return sali_fail(err, SAL_ERR_DATA, "the options in the state of the run are damaged");
    }
    o.tempering.replicas = o.tempering.replicas > 1 || temperatures ? o.tempering.replicas : 0;
    o.tempering.temperatures = temperatures;
    o.clamps.variables = variables;
    o.clamps.codes = codes;
    *options = o;
    return SAL_OK;
}

const char *sali_run_state_model(const sal_run_state *state)
{
    const char *name = sali_run_state_text(state, NAME);
    return name ? name : "";
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
    if (o->tuning) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "both tuning and resume are given: what the run found is in its state");
    }
    const char *tuned = text_of(o->resume, TUNED);
    run->tuned = tuned && strcmp(tuned, "yes") == 0;
    if (__builtin_mul_overflow(N, N, &size) ||
        !read_array(o->resume, PRECONDITIONER, SALI_STATE_F64, size, &matrix)) {
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

static sal_status compare_array(const sal_run *run, const char *name, const char *called,
                                sal_error *err)
{
    const sali_state_item *was = sali_run_state_find(run->options.resume, name);
    const sali_state_item *is = sali_run_state_find(run->state, name);
    int64_t count = was ? was->count : 0;
    bool same = is->count == count &&
                (count == 0 ||
                 (was->type == is->type &&
                  memcmp(was->data, is->data, (size_t)count * sali_state_bytes(is->type)) == 0));
    return same ? SAL_OK
                : sali_fail(err, SAL_ERR_ARGUMENT,
                            "the run was made with other %s; leave them out, or begin a new run",
                            called);
}

/* Whether two specifications are of one sampler with equal settings. */
static bool is_same_sampler(const char *a, const char *b)
{
    const sali_sampler *one = sali_sampler_find(a);
    return one && one == sali_sampler_find(b) &&
           strcmp(a + strcspn(a, ":"), b + strcspn(b, ":")) == 0;
}

/* Texts of the same names in the same order, but for those of other versions of the program. */
static sal_status compare_texts(const sal_run *run, sal_error *err)
{
    const sal_run_state *before = run->options.resume;
    const char *name = next_text(run->state, NULL), *is = NULL;
    for (; name; name = next_text(run->state, is)) {
        const char *was = text_of(before, name);
        is = next_text(run->state, name);
        if ((was && strcmp(was, is) == 0) ||
            (was && strcmp(name, "sampler") == 0 && is_same_sampler(was, is)) ||
            (strcmp(name, "draws") == 0 && !run->options.annealing.on)) {
            continue;
        }
        if (strcmp(name, MODEL) == 0) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "the run was made with another model, other parameters or another "
                             "type (it was called %.200s)",
                             sali_run_state_model(before));
        }
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run was made with %s %.200s and is to go on with %.200s; leave that "
                         "option out, or begin a new run",
                         name, was && was[0] ? was : "(none)", is[0] ? is : "(none)");
    }
    return SAL_OK;
}

sal_status sali_run_compare_given(const sal_run *run, sal_error *err)
{
    sal_status status = compare_array(run, VARIABLES, "clamped variables", err);
    status = status ? status : compare_array(run, CODES, "clamped variables", err);
    status = status ? status : compare_texts(run, err);
    return status ? status : compare_array(run, TEMPERATURES, "temperatures", err);
}
