/* SPDX-License-Identifier: MIT */
#include "io/draws/draw_configuration.h"

#include <math.h>
#include <string.h>

#include "core/saved/run_state.h"
#include "io/json_text.h"
#include "models/model.h"

/* Longer texts are not accepted as a configuration (MOST_BYTES), or left out of one (MOST_TEXT):
 * clamps, for example, are in the group observed_data. */
#define MOST_BYTES 65536
#define MOST_TEXT 512

/* ---- setting what is given */

static void put_text(json_t *c, const char *key, const char *text)
{
    if (text && strlen(text) <= MOST_TEXT) {
        json_object_set_new(c, key, sali_json_text(text));
    }
}

/* Set `key` unless the count is 0, which means "not given". */
static void put_count(json_t *c, const char *key, int64_t count)
{
    if (count > 0) {
        json_object_set_new(c, key, json_integer(count));
    }
}

static void put_real(json_t *c, const char *key, double value)
{
    if (value != 0 && isfinite(value)) {
        json_object_set_new(c, key, json_real(value));
    }
}

static void put_reals(json_t *c, const char *key, int64_t n, const double *values)
{
    json_t *array = json_array();
    for (int64_t k = 0; k < n; k++) {
        json_array_append_new(array, json_real(values[k]));
    }
    json_object_set_new(c, key, array);
}

/* Set the options that have texts, except flags that are not set and options that a resume may
 * change; and the temperatures. */
static void put_options(json_t *c, const sal_run_options *o)
{
    const sal_option_table *table = sal_option_table_of(SAL_OPTIONS_RUN);
    const sal_tempering_options *t = &o->tempering;
    sal_option_info info;
    char text[MOST_TEXT + 2];
    for (int64_t k = 0; sal_option_list(table, k, &info); k++) {
        sal_option_get(table, o, info.name, text, sizeof text, NULL);
        if (info.doc && info.resume == SAL_RESUME_SAME && text[0] && strcmp(text, "no") != 0 &&
            strlen(text) <= MOST_TEXT) {
            sali_json_set_option(c, &info, text);
        }
    }
    if (t->temperatures && t->replicas > 0 && t->replicas <= 1000) {
        put_reals(c, "temperatures", t->replicas, t->temperatures);
        json_object_del(c, "tempering");
    }
    put_count(c, "clamped", o->clamps.n);
}

/* Set an option that has no text of its own to what `notes` report about it; if they are silent but
 * there is `data`, it came from the program's memory and the value is "given". */
static void put_note(json_t *c, const char *key, const void *data, const sal_note *notes)
{
    const char *text = data ? "given" : NULL;
    for (const sal_note *n = notes; n && n->name; n++) {
        text = strcmp(n->name, key) == 0 && n->text ? n->text : text;
    }
    put_text(c, key, text);
}

/* The configuration kept in a run's state; NULL if there is none. */
static json_t *read_kept(const sal_run_state *state)
{
    const char *text = state ? sali_run_state_text(state, SALI_DRAW_CONFIGURATION) : NULL;
    json_t *kept = text && strlen(text) <= MOST_BYTES ? json_loads(text, 0, NULL) : NULL;
    if (json_is_object(kept)) {
        return kept;
    }
    json_decref(kept);
    return NULL;
}

json_t *sali_draw_configuration(const sal_model *model, const sal_run_options *o,
                                const sal_note *notes)
{
    json_t *c = read_kept(o->resume);
    if (!c) {
        c = json_object();
        put_text(c, "model", model->name);
        put_text(c, "dtype", model->dtype == SAL_F32 ? "f32" : "f64");
        put_options(c, o);
        put_note(c, "params", NULL, notes);
        put_note(c, "tuning", o->tuning, o->tuning ? notes : NULL);
        put_note(c, "preconditioner", o->preconditioner, notes);
        put_note(c, "init", o->init, notes);
        put_note(c, "clamp", NULL, notes);
        put_note(c, "evidence", NULL, notes);
        put_note(c, "fix_sum", NULL, notes);
    }
    put_count(c, "draws", o->draws ? o->draws : 1000); /* a resumed run may */
    return c;
}

/* ---- what the run took and found */

void sali_draw_configuration_complete(json_t *c, const sal_run *run, const sal_run_summary *s)
{
    sal_run_options resolved;
    json_t *found = json_object();
    if (sal_run_state_options(sal_run_last_state(run), &resolved, NULL) == SAL_OK) {
        put_options(found, &resolved);
    }
    if (s->annealed) {
        put_real(found, "anneal_from", s->anneal_from);
        put_real(found, "anneal_to", s->anneal_to);
    }
    json_object_update_missing(c, found);
    json_decref(found);
    /* a step size that was neither given nor adapted is the default */
    if (!isnan(s->step_size) && !json_object_get(c, "step_size") && !json_object_get(c, "tuning")) {
        put_real(c, "step_size", s->step_size);
    }
    if (!isnan(s->step_size) && !json_is_number(json_object_get(c, "step_size"))) {
        put_real(c, "step_size_found", s->step_size);
    }
    if (s->replicas > 1 && !json_object_get(c, "temperatures")) {
        put_reals(c, "temperatures_found", s->replicas, s->temperatures);
    }
    json_object_set_new(c, "stopped", json_boolean(s->stopped));
}
