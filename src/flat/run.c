/* SPDX-License-Identifier: MIT */
/* Runs from options as text, and their figures as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saltus/io.h>
#include <saltus/mpi.h>
#include <saltus/program.h>
#include <saltus/sampler.h>
#include <saltus/stats.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/saved/tuning.h"
#include "flat/json.h"
#include "flat/options.h"
#include "models/clamp.h"
#include "run/results/figures.h"
#include "train/trajectory_file.h"

/* ---- running */

/* Room for the sums of a model's blocks as a text. */
#define SUMS_TEXT 4096

/* The fixed sums of a model's blocks as the program's --fix-sum takes them, "spin=0,hidden=3":
 * empty if there are none, if variables are clamped, or if they do not fit. */
static void list_sums(const sal_model *model, char text[SUMS_TEXT])
{
    const sal_space *space = sal_model_space(model);
    const sal_block *block;
    size_t used = 0;
    text[0] = '\0';
    for (int64_t b = 0; (block = sal_space_block(space, b)); b++) {
        if (block->fixed_sum && used < SUMS_TEXT) {
            used += (size_t)snprintf(text + used, SUMS_TEXT - used, "%s%s=%lld", used ? "," : "",
                                     block->name, (long long)block->sum);
        }
    }
    if (used >= SUMS_TEXT || sali_clamp_inner(model) != model) {
        text[0] = '\0';
    }
}

/* Make a run that rank 0 writes to `path` (NULL: not written). All ranks call this, also those
 * without a path: if rank 0 cannot open the file, all ranks fail, so that none waits for rank 0.
 * *run is set even if closing the file fails. `opened`: the specification that the model was opened
 * by; NULL: not known. */
static sal_status sample_to(sal_model *model, const char *opened, sal_run_options *options,
                            const char *path, sal_run **run, sal_error *err)
{
    const char *name = opened ? opened : sal_model_name(model);
    char sums[SUMS_TEXT];
    list_sums(model, sums);
    const sal_note notes[] = { { "model", name[0] ? name : NULL },
                               { "dtype", sal_model_dtype(model) == SAL_F32 ? "f32" : "f64" },
                               { "fix_sum", sums[0] ? sums : NULL },
                               { "ladder", options->trajectory ? "yes" : "no" },
                               { 0 } };
    sal_draw_writer *writer = NULL;
    sal_comm *comm = options->comm;
    const bool writes = path && sal_comm_rank(comm) == 0;
    sal_status status =
        writes ? sal_draw_writer_open(path, model, options, notes, &writer, err) : SAL_OK;
    status = sal_comm_agree(comm, status, err);
    if (status != SAL_OK) {
        sal_draw_writer_close(writer, NULL, NULL);
        return status;
    }
    status = sal_sample(model, options, run, err);
    sal_status written = sal_draw_writer_close(writer, status ? NULL : *run, status ? NULL : err);
    return sal_comm_agree(comm, status ? status : written, err);
}

/* Set o->trajectory, if the run is to follow one: to the trajectory of the trainer in `given`, or
 * to one that is opened as *opened. */
static sal_status find_trajectory(const sal_flat_options *given, const sal_model *model,
                                  sal_run_options *o, sal_trajectory **opened, sal_error *err)
{
    const char *place = given->training ? given->training : given->model;
    bool wanted = false;
    sal_train_report report = { 0 };
    sal_status status = sali_trajectory_wanted(o, given->ladder, &wanted, err);
    if (status != SAL_OK || o->trajectory || (!given->trainer && !place && !given->ladder)) {
        return status;
    }
    if (given->trainer) {
        sal_trainer_report(given->trainer, &report);
        o->trajectory = wanted ? report.trajectory : NULL;
    } else if (place) {
        status = sal_trajectory_suggest(place, model, o, given->ladder, opened, err);
        o->trajectory = *opened;
    }
    return status || o->trajectory || !wanted || !given->ladder
               ? status
               : sali_fail(err, SAL_ERR_NOT_FOUND,
                           "ladder: there is none; trainings by the objectives ptt and denoising "
                           "make one");
}

sal_status sal_flat_sample(sal_model *model, sal_flat_options *options, bool keep, const char *path,
                           sal_run **run, sal_error *err)
{
    sal_status status = sali_flat_fit(options, SAL_OPTIONS_RUN, model, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run_options o = options ? options->of.run : (sal_run_options){ 0 };
    sal_trajectory *opened = NULL;
    sal_model *drawn = NULL; /* the model over x of a denoising chain */
    o.record.draws = keep;
    status = options ? find_trajectory(options, model, &o, &opened, err) : SAL_OK;
    if (status == SAL_OK && o.trajectory) {
        status = sal_trajectory_model(o.trajectory, model, &drawn, err);
    }
    status = sal_comm_agree(o.comm, status, err);
    if (status == SAL_OK) {
        status =
            sample_to(drawn ? drawn : model, options ? options->model : NULL, &o, path, run, err);
    }
    sal_model_destroy(drawn);
    sal_trajectory_destroy(opened);
    return status;
}

/* ---- figures */

/* Codes [n] as an array. */
static json_t *codes_json(int64_t n, const int32_t *codes)
{
    json_t *array = json_array();
    for (int64_t v = 0; v < n; v++) {
        json_array_append_new(array, json_integer(codes[v]));
    }
    return array;
}

/* The codes of a state that `find` copies, as an array; NULL: no memory. */
static json_t *state_of(const sal_run *run, int64_t variables,
                        sal_status (*find)(const sal_run *, int32_t *, double *, sal_error *))
{
    int32_t *codes = SALI_NEW_ARRAY(int32_t, variables);
    json_t *state = NULL;
    if (codes && find(run, codes, NULL, NULL) == SAL_OK) {
        state = codes_json(variables, codes);
    }
    sali_free(codes);
    return state;
}

/* Whether the chains agree; null if that is not known: a single chain whose halves agree may be in
 * one of several modes. */
static json_t *agreement_of(const sal_run_summary *s)
{
    bool agree = s->unmoved == 0 && s->rhat_max <= SAL_RHAT_LIMIT;
    bool known = s->unmoved > 0 || (!isnan(s->rhat_max) && (s->chains > 1 || !agree));
    return known ? json_boolean(agree) : json_null();
}

/* An array with the warning about the run, if there is one. */
static json_t *warnings_of(const sal_run_summary *s)
{
    json_t *list = json_array();
    char text[SAL_WARNING_SIZE];
    if (sal_run_warning(s, text, sizeof text)) {
        json_array_append_new(list, sali_json_text(text));
    }
    return list;
}

/* An array of the numbers in a list of `most` numbers at most, which -1 ends. */
static json_t *list_variables(size_t most, const int64_t *list)
{
    json_t *array = json_array();
    for (size_t k = 0; k < most && list[k] >= 0; k++) {
        json_array_append_new(array, json_integer(list[k]));
    }
    return array;
}

/* A figure that the run has; NULL: no memory. A whole number below 0 means that there is none, or
 * that it is not known, and becomes null. */
static json_t *value_of(const sali_figure *f, const sal_run *run, const sal_run_summary *s)
{
    const void *at = (const char *)s + f->offset;
    switch (f->kind) {
    case SALI_FIGURE_BEST:
        return state_of(run, s->variables, sal_run_best);
    case SALI_FIGURE_DECODED:
        return state_of(run, s->variables, sal_run_decoded);
    case SALI_FIGURE_AGREEMENT:
        return agreement_of(s);
    case SALI_FIGURE_WARNINGS:
        return warnings_of(s);
    case SALI_FIGURE_LIST:
        return list_variables(f->size / sizeof(int64_t), at);
    case SALI_FIGURE_REPLICAS:
        return sali_flat_reals(s->replicas, *(const double *const *)at);
    case SALI_FIGURE_PAIRS:
        return sali_flat_reals(s->replicas - 1, *(const double *const *)at);
    case SAL_OPTION_TEXT:
        return sali_json_text(*(const char *const *)at);
    case SAL_OPTION_FLAG:
        return json_boolean(*(const bool *)at);
    case SAL_OPTION_WHOLE:
        return *(const int64_t *)at < 0 ? json_null() : json_integer(*(const int64_t *)at);
    case SAL_OPTION_INT:
        return json_integer(*(const int *)at);
    case SAL_OPTION_SEED:
        return sali_flat_seed(*(const uint64_t *)at);
    default:
        return sali_flat_real(*(const double *)at);
    }
}

/* Set object[key], or of a key "ess.min" object["ess"]["min"]. */
static void set_figure(json_t *object, const char *key, json_t *value)
{
    char outer[32];
    const char *dot = strchr(key, '.');
    if (dot) {
        snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
        if (!json_object_get(object, outer)) {
            json_object_set_new(object, outer, json_object());
        }
        object = json_object_get(object, outer);
    }
    json_object_set_new(object, dot ? dot + 1 : key, value);
}

sal_status sal_flat_run_summary(const sal_run *run, char **json, sal_error *err)
{
    sal_run_summary s;
    const sali_figure *f;
    sal_status status = sal_run_summarise(run, &s, err);
    json_t *object = status == SAL_OK ? json_object() : NULL;
    for (int64_t k = 0; status == SAL_OK && (f = sali_figure_at(k)); k++) {
        const bool applies = sali_figure_applies(f, &s);
        if (f->key && (applies || f->when == SALI_WITH_RHAT)) {
            json_t *value = applies ? value_of(f, run, &s) : json_null();
            status = value ? SAL_OK : sali_fail_memory(err);
            set_figure(object, f->key, value);
        }
    }
    if (status != SAL_OK) {
        json_decref(object);
        return status;
    }
    return sali_flat_give(object, json, err);
}

/* ---- tunings */

sal_status sal_flat_tuning(const sal_tuning *tuning, char **json, sal_error *err)
{
    json_t *object = json_object();
    const struct sal_run_state *lists = &tuning->lists;
    json_object_set_new(object, "sampler", sali_flat_text(tuning->sampler));
    for (int64_t k = 0; k < lists->n; k++) {
        json_object_set_new(object, lists->items[k].name,
                            sali_flat_reals(lists->items[k].count, lists->items[k].data));
    }
    return sali_flat_give(object, json, err);
}

/* ---- proofs */

sal_status sal_flat_balance(const sal_model *model, sal_flat_options *options, char **json,
                            sal_error *err)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("states", WHOLE, sal_balance, states),
        SALI_FLAT_FIELD("invariance", REAL, sal_balance, invariance),
        SALI_FLAT_FIELD("reversibility", REAL, sal_balance, reversibility),
        SALI_FLAT_FIELD("normalisation", REAL, sal_balance, normalisation),
        SALI_FLAT_FIELD("frequency", REAL, sal_balance, frequency),
        SALI_FLAT_FIELD("unreached", WHOLE, sal_balance, unreached),
        SALI_FLAT_FIELD("directions", WHOLE, sal_balance, directions),
        { 0 },
    };
    sal_balance balance;
    sal_status status = sali_flat_fit(options, SAL_OPTIONS_RUN, model, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t V = sal_space_variables(sal_model_space(model));
    sal_run_options o = options ? options->of.run : (sal_run_options){ 0 };
    int32_t *worst = SALI_NEW_ARRAY(int32_t, 2 * V);
    status = worst ? sal_sampler_balance(model, &o, &balance, worst, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        json_t *object = sali_flat_record(&balance, fields);
        json_object_set_new(object, "worst",
                            json_pack("[o, o]", codes_json(V, worst), codes_json(V, worst + V)));
        status = sali_flat_give(object, json, err);
    }
    sali_free(worst);
    return status;
}
