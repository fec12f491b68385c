/* SPDX-License-Identifier: MIT */
/* Runs from options as text, and their figures as JSON. */
#include <math.h>

#include <saltus/mpi.h>
#include <string.h>

#include <saltus/io.h>
#include <saltus/program.h>
#include <saltus/sampler.h>
#include <saltus/stats.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/saved/tuning.h"
#include "flat/json.h"
#include "flat/options.h"
#include "train/trajectory_file.h"

/* ---- running */

/* Make a run that rank 0 writes to `path` (NULL: not written). All ranks call this, also those
 * without a path: if rank 0 cannot open the file, all ranks fail, so that none waits for rank 0.
 * *run is set even if closing the file fails. `opened`: the specification that the model was opened
 * by; NULL: not known. */
static sal_status sample_to(sal_model *model, const char *opened, sal_run_options *options,
                            const char *path, sal_run **run, sal_error *err)
{
    const char *name = opened ? opened : sal_model_name(model);
    const sal_note notes[] = { { "model", name[0] ? name : NULL },
                               { "dtype", sal_model_dtype(model) == SAL_F32 ? "f32" : "f64" },
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

/* Add objects for tempering, the ladder and annealing, as far as the run has them. */
static void add_tempering(json_t *object, const sal_run_summary *s)
{
    if (s->replicas > 1) {
        json_t *tempering = json_object();
        json_object_set_new(tempering, "temperatures",
                            sali_flat_reals(s->replicas, s->temperatures));
        json_object_set_new(tempering, "swap_rates",
                            sali_flat_reals(s->replicas - 1, s->swap_rates));
        sali_flat_number(tempering, "round_trips", s->round_trips);
        sali_flat_number(tempering, "barrier", s->barrier);
        json_object_set_new(object, "tempering", tempering);
    }
    if (s->levels > 0) {
        json_t *ladder = json_pack("{s:I}", "levels", (json_int_t)s->levels);
        sali_flat_number(ladder, "swap_rate_min", s->level_rate_min);
        sali_flat_number(ladder, "arrivals", s->arrivals);
        json_object_set_new(object, "ladder", ladder);
    }
    if (s->annealed) {
        json_t *anneal = json_pack("{s:f, s:f, s:I, s:I, s:I}", "from", s->anneal_from, "to",
                                   s->anneal_to, "coolings", (json_int_t)s->coolings, "cooling",
                                   (json_int_t)s->cooling, "reheats", (json_int_t)s->reheats);
        sali_flat_number(anneal, "reheat_to", s->reheat_to);
        sali_flat_number(anneal, "search_seconds", s->search_seconds);
        json_object_set_new(object, "anneal", anneal);
    }
}

/* Codes [n] as an array. */
static json_t *codes_json(int64_t n, const int32_t *codes)
{
    json_t *array = json_array();
    for (int64_t v = 0; v < n; v++) {
        json_array_append_new(array, json_integer(codes[v]));
    }
    return array;
}

/* Add the best state and its log-probability, if the run has them. */
static sal_status add_best(json_t *object, const sal_run *run, const sal_run_summary *s,
                           sal_error *err)
{
    if (isnan(s->best_log_prob)) {
        return SAL_OK;
    }
    int32_t *codes = SALI_NEW_ARRAY(int32_t, s->variables);
    sal_status status = codes ? sal_run_best(run, codes, NULL, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        sali_flat_number(object, "best_log_prob", s->best_log_prob);
        json_object_set_new(object, "best_state", codes_json(s->variables, codes));
    }
    sali_free(codes);
    return status;
}

/* Add the decoded state and its figures, if the run has one. */
static sal_status add_decoded(json_t *object, const sal_run *run, const sal_run_summary *s,
                              sal_error *err)
{
    if (!s->decoded) {
        return SAL_OK;
    }
    int32_t *codes = SALI_NEW_ARRAY(int32_t, s->variables);
    sal_status status = codes ? sal_run_decoded(run, codes, NULL, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        json_t *entry = json_object();
        json_object_set_new(entry, "name", sali_flat_text(s->decoded));
        sali_flat_number(entry, "log_prob", s->decoded_log_prob);
        sali_flat_number(entry, "statistic", s->statistic_decoded);
        json_object_set_new(entry, "state", codes_json(s->variables, codes));
        json_object_set_new(object, "decoded", entry);
    }
    sali_free(codes);
    return status;
}

/* Add what the run was to reach, and whether it did; nothing for a run without an aim. */
static void add_aim(json_t *object, const sal_run_summary *s)
{
    if (s->until) {
        json_object_set_new(
            object, "until",
            json_pack("{s:o, s:b}", "aim", sali_flat_text(s->until), "reached", s->reached));
    }
}

/* Add the statistic's name and figures, if the run has one. */
static void add_statistic(json_t *object, const sal_run_summary *s)
{
    if (s->statistic) {
        json_t *entry = json_object();
        json_object_set_new(entry, "name", sali_flat_text(s->statistic));
        sali_flat_number(entry, "mean", s->statistic_mean);
        sali_flat_number(entry, "deviation", s->statistic_deviation);
        sali_flat_number(entry, "best", s->statistic_best);
        json_object_set_new(object, "statistic", entry);
    }
}

/* Whether the chains agree; null if that is not known: a single chain whose halves agree may be in
 * one of several modes. */
static json_t *agreement_of(const sal_run_summary *s)
{
    bool agree = s->unmoved == 0 && s->rhat_max <= SAL_RHAT_LIMIT;
    bool known = s->unmoved > 0 || (!isnan(s->rhat_max) && (s->chains > 1 || !agree));
    return known ? json_boolean(agree) : json_null();
}

/* The least, median and largest ESS as an object. */
static json_t *ess_range(const sal_run_summary *s)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("min", REAL, sal_run_summary, ess_min),
        SALI_FLAT_FIELD("median", REAL, sal_run_summary, ess_median),
        SALI_FLAT_FIELD("max", REAL, sal_run_summary, ess_max),
        { 0 },
    };
    return sali_flat_record(s, fields);
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
static json_t *list_variables(int64_t most, const int64_t *list)
{
    json_t *array = json_array();
    for (int64_t k = 0; k < most && list[k] >= 0; k++) {
        json_array_append_new(array, json_integer(list[k]));
    }
    return array;
}

/* Add the variables that never changed, the variables among them that f lets change, and the number
 * of states out of reach. */
static void add_unchanged(json_t *object, const sal_run_summary *s)
{
    json_object_set_new(object, "unchanged_variables", json_integer(s->unchanged));
    json_object_set_new(object, "first_unchanged",
                        list_variables(SAL_RUN_NAMED, s->unchanged_first));
    json_object_set_new(object, "stuck_variables", list_variables(2, s->stuck));
    json_object_set_new(object, "unreached_states",
                        s->unreached < 0 ? json_null() : json_integer(s->unreached));
}

/* A seed as an integer, or as a text if it is beyond the integers of readers of JSON. */
static json_t *seed_of(uint64_t seed)
{
    return seed > INT64_MAX ? json_sprintf("%llu", (unsigned long long)seed)
                            : json_integer((json_int_t)seed);
}

sal_status sal_flat_run_summary(const sal_run *run, char **json, sal_error *err)
{
    static const sali_flat_field first[] = {
        SALI_FLAT_FIELD("model", TEXT, sal_run_summary, model),
        SALI_FLAT_FIELD("sampler", TEXT, sal_run_summary, sampler),
        SALI_FLAT_FIELD("variables", WHOLE, sal_run_summary, variables),
        SALI_FLAT_FIELD("chains", WHOLE, sal_run_summary, chains),
        SALI_FLAT_FIELD("warmup", WHOLE, sal_run_summary, warmup),
        SALI_FLAT_FIELD("draws", WHOLE, sal_run_summary, draws),
        SALI_FLAT_FIELD("thin", WHOLE, sal_run_summary, thin),
        { 0 },
    };
    static const sali_flat_field second[] = {
        SALI_FLAT_FIELD("stopped", TRUTH, sal_run_summary, stopped),
        SALI_FLAT_FIELD("step_size", REAL, sal_run_summary, step_size),
        SALI_FLAT_FIELD("acceptance_rate", REAL, sal_run_summary, acceptance_rate),
        SALI_FLAT_FIELD("mean_jump", REAL, sal_run_summary, mean_jump),
        SALI_FLAT_FIELD("unmoved_chains", WHOLE, sal_run_summary, unmoved),
        { 0 },
    };
    static const sali_flat_field last[] = {
        SALI_FLAT_FIELD("steps_per_second", REAL, sal_run_summary, steps_per_second),
        SALI_FLAT_FIELD("seconds", REAL, sal_run_summary, seconds),
        SALI_FLAT_FIELD("log_prob_mean", REAL, sal_run_summary, log_prob_mean),
        { 0 },
    };
    sal_run_summary s;
    sal_status status = sal_run_summarise(run, &s, err);
    if (status != SAL_OK) {
        return status;
    }
    const double rhat = s.rhat_max;
    json_t *object = sali_flat_record(&s, first);
    if (!s.model[0]) { /* a formula has no name */
        json_object_set_new(object, "model", json_string(""));
    }
    json_object_set_new(object, "seed", seed_of(s.seed));
    json_object_set_new(object, "threads", json_integer(s.threads));
    json_object_update_new(object, sali_flat_record(&s, second));
    json_object_set_new(object, "ess", ess_range(&s));
    sali_flat_number(object, "ess_per_second", s.ess_per_second);
    sali_flat_number(object, "rhat_max", rhat);
    json_object_set_new(object, "rhat_variable",
                        isnan(rhat) || s.rhat_variable < 0 ? json_null()
                                                           : json_integer(s.rhat_variable));
    json_object_set_new(object, "disagreeing_variables",
                        isnan(rhat) ? json_null() : json_integer(s.disagreeing));
    json_object_set_new(object, "chains_agree", agreement_of(&s));
    add_unchanged(object, &s);
    add_aim(object, &s);
    json_object_set_new(object, "warnings", warnings_of(&s));
    json_object_update_new(object, sali_flat_record(&s, last));
    add_statistic(object, &s);
    add_tempering(object, &s);
    status = add_best(object, run, &s, err);
    status = status ? status : add_decoded(object, run, &s, err);
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
