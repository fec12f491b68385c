/* What a file of draws says about itself: attributes of all its groups. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/error.h"
#include "io/draw_layout.h"
#include "io/json_text.h"
#include "models/model.h"

/* The version of ArviZ whose layout this is: its readers before 1.0 look for one. */
#define ARVIZ_VERSION "0.17.0"

/* All groups of a file, the file itself first; their number. */
static int groups_of(const sali_draw_layout *l, int groups[6])
{
    int n = 0;
    groups[n++] = SALI_NETCDF_ROOT;
    for (int k = 0; k < l->n_sections; k++) {
        groups[n++] = l->sections[k].posterior;
        groups[n++] = l->sections[k].stats;
    }
    if (l->observed) {
        groups[n++] = l->observed;
    }
    return n;
}

/* ---- the configuration as JSON */

static void set_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

static json_t *numbers(int64_t n, const double *values)
{
    json_t *array = json_array();
    for (int64_t k = 0; k < n; k++) {
        json_array_append_new(array, json_real(values[k]));
    }
    return array;
}

static const char *rule_name(const sal_run_options *o)
{
    static const char *const names[] = { "usual", "adapt", "search" };
    bool known = (int)o->step_size_rule >= 0 && (int)o->step_size_rule <= 2;
    return o->step_size != 0 ? "given"
           : o->tuning       ? "tuning"
           : known           ? names[o->step_size_rule]
                             : "";
}

/* The options as they were given; those not given are missing, and the library's to choose. */
static json_t *given_options(const sali_draw_layout *l, const sal_model *model,
                             const sal_run_options *o)
{
    json_t *c = json_object();
    json_object_set_new(c, "model", sali_json_text(model->name));
    if (o->sampler) {
        json_object_set_new(c, "sampler", sali_json_text(o->sampler));
    }
    json_object_set_new(c, "chains", json_integer(l->chains));
    json_object_set_new(c, "draws", json_integer(o->draws > 0 ? o->draws : 1000));
    if (o->warmup != 0) {
        json_object_set_new(c, "warmup", json_integer(o->warmup > 0 ? o->warmup : 0));
    }
    if (o->thin != 0) {
        json_object_set_new(c, "thin", json_integer(o->thin));
    }
    json_object_set_new(c, "step_size_rule", json_string(rule_name(o)));
    if (o->step_size != 0) {
        set_number(c, "step_size", o->step_size);
    }
    if (o->temperatures && o->replicas > 0) {
        json_object_set_new(c, "temperatures", numbers(o->replicas, o->temperatures));
    }
    if (o->replicas > 0) {
        json_object_set_new(c, "replicas", json_integer(o->replicas));
    }
    if (o->swap_every > 0) {
        json_object_set_new(c, "swap_every", json_integer(o->swap_every));
    }
    json_object_set_new(c, "anneal", json_boolean(o->anneal));
    json_object_set_new(c, "starts", json_string(o->init ? "given" : "random"));
    json_object_set_new(c, "clamped", json_integer(o->clamped)); /* see observed_data */
    return c;
}

static sal_status note_configuration(const sali_draw_layout *l, sali_netcdf *file, sal_error *err)
{
    char *text = json_dumps(l->configuration, JSON_COMPACT);
    int groups[6], n = groups_of(l, groups);
    for (int k = 0; text && k < n; k++) {
        sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "configuration", text);
    }
    bool ok = text != NULL;
    free(text);
    return ok ? sali_netcdf_status(file, err) : sali_fail_memory(err);
}

/* ---- attributes */

static void note_maker(sali_netcdf *file, int group, const char *created)
{
    const char *const pairs[][2] = {
        { "created_at", created },
        { "creation_library", "saltus" },
        { "creation_library_version", SALI_VERSION },
        { "creation_library_language", "C" },
        { "inference_library", "saltus" },
        { "inference_library_version", SALI_VERSION },
        { "arviz_version", ARVIZ_VERSION },
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        sali_netcdf_note_text(file, group, SALI_NETCDF_GROUP, pairs[k][0], pairs[k][1]);
    }
}

sal_status sali_draw_note_origin(sali_draw_layout *l, sali_netcdf *file, const sal_model *model,
                                 const sal_run_options *o, sal_error *err)
{
    static const char *const sample_dims[] = { "chain", "draw" };
    char created[40];
    time_t now = time(NULL);
    struct tm utc;
    int groups[6], n = groups_of(l, groups);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%S+00:00", gmtime_r(&now, &utc));
    for (int k = 0; k < n; k++) {
        note_maker(file, groups[k], created);
        if (k > 0 && groups[k] != l->observed) {
            sali_netcdf_note_list(file, groups[k], SALI_NETCDF_GROUP, "sample_dims", 2,
                                  sample_dims);
        }
        sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "model", model->name);
        sali_netcdf_note_uint(file, groups[k], SALI_NETCDF_GROUP, "seed", o->seed);
        if (o->sampler) {
            sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "sampler", o->sampler);
        }
    }
    l->configuration = given_options(l, model, o);
    return note_configuration(l, file, err);
}

sal_status sali_draw_note_run(sali_draw_layout *l, sali_netcdf *file, const sal_run *run,
                              sal_error *err)
{
    sal_run_summary s;
    sal_status status = sal_run_summarise(run, &s, err);
    if (status != SAL_OK) {
        return status;
    }
    json_t *c = l->configuration;
    double steps = (double)s.warmup;
    int groups[6], n = groups_of(l, groups);
    sali_netcdf_reserve(file, SALI_DRAW_ATTRIBUTES);
    for (int k = 0; k < n; k++) {
        sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "sampler", s.sampler);
        sali_netcdf_note_double(file, groups[k], SALI_NETCDF_GROUP, "sampling_time", 1, &s.seconds);
        sali_netcdf_note_double(file, groups[k], SALI_NETCDF_GROUP, "tuning_steps", 1, &steps);
    }
    json_object_set_new(c, "sampler", sali_json_text(s.sampler));
    json_object_set_new(c, "warmup", json_integer(s.warmup));
    json_object_set_new(c, "thin", json_integer(s.thin));
    json_object_set_new(c, "replicas", json_integer(s.replicas));
    if (s.replicas > 1) {
        json_object_set_new(c, "temperatures", numbers(s.replicas, s.temperatures));
    }
    json_object_set_new(c, "stopped", json_boolean(s.stopped));
    set_number(c, "step_size", s.step_size);
    if (s.annealed) {
        set_number(c, "anneal_from", s.anneal_from);
        set_number(c, "anneal_to", s.anneal_to);
    }
    return note_configuration(l, file, err);
}
