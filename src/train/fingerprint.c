/* SPDX-License-Identifier: MIT */
/* The fingerprint of a training: what a resumed training must share with the saved one. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/option.h"
#include "core/text.h"
#include "io/json_text.h"
#include "models/fingerprint.h"
#include "train/trainer.h"

#define PRECONDITIONER "preconditioner"
/* Options with longer texts are compared up to this length only. */
#define MOST_TEXT 4096

/* ---- hashes */

/* A hash of the rows of data, with intensities and weights but without labels. */
static uint64_t hash_data(const sal_data *data)
{
    uint64_t h = sali_hash_whole(SALI_HASH_START, data->rows);
    h = sali_hash(h, data->codes, data->rows * data->variables);
    if (data->intensity) {
        h = sali_hash(h, data->intensity,
                      data->rows * data->variables * (int64_t)sizeof *data->intensity);
    }
    return data->weight ? sali_hash(h, data->weight, data->rows * (int64_t)sizeof *data->weight)
                        : h;
}

static uint64_t hash_matrix(const double *matrix, int64_t side)
{
    return matrix ? sali_hash(SALI_HASH_START, matrix, side * side * (int64_t)sizeof *matrix) : 0;
}

/* ---- the whole */

static json_t *hexadecimal_text(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    return json_string(text);
}

/* An object with hashes of what is not an option's text: model, data, preconditioner, held-out
 * rows. */
static json_t *list_hashes(const sal_model *model, const sal_data *data, const sal_train_options *o)
{
    const bool judged = sali_objective_of(o->objective)->judge != NULL;
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "model", sali_json_text(model->name),
                     "structure", hexadecimal_text(sali_model_structure(model)), "dtype",
                     model->dtype == SAL_F32 ? "f32" : "f64", "data",
                     hexadecimal_text(hash_data(data)), PRECONDITIONER,
                     hexadecimal_text(hash_matrix(o->preconditioner, model->space->width)), "test",
                     hexadecimal_text(judged && o->ptt.test ? hash_data(o->ptt.test) : 0));
}

json_t *sali_train_fingerprint(const sal_model *model, const sal_data *data,
                               const sal_train_options *options)
{
    const sal_option_table *table = sali_train_option_table();
    sal_train_options o = *options;
    sal_option_info info;
    char text[MOST_TEXT];
    json_t *object = json_object(), *hashes = list_hashes(model, data, options);
    bool ok = object && hashes;
    o.ptt.reservoir = sali_objective_of(o.objective)->reservoir ? o.ptt.reservoir : 0;
    for (int64_t k = 0; ok && sal_option_list(table, k, &info); k++) {
        sal_option_get(table, &o, info.name, text, sizeof text, NULL);
        ok = info.resume == SAL_RESUME_ANY || sali_json_set_option(object, &info, text);
    }
    ok = ok && json_object_update(object, hashes) == 0;
    json_decref(hashes);
    if (!ok) {
        json_decref(object);
    }
    return ok ? object : NULL;
}

/* ---- what may be another at a resume */

/* Whether a resumed training may have another value of an option. */
static bool may_change(const char *key)
{
    sal_option_info info;
    for (int64_t k = 0; sal_option_list(sali_train_option_table(), k, &info); k++) {
        if (info.resume == SAL_RESUME_NOTED && sali_json_is_option(key, &info)) {
            return true;
        }
    }
    return strcmp(key, PRECONDITIONER) == 0;
}

void sali_train_describe(const json_t *changed, char *text, size_t room)
{
    const size_t form = JSON_ENCODE_ANY | JSON_REAL_PRECISION(6);
    const char *key;
    json_t *pair;
    text[0] = '\0';
    json_object_foreach((json_t *)changed, key, pair)
    {
        char words[256] = "another preconditioner"; /* a hash means nothing to readers */
        char *was = json_dumps(json_array_get(pair, 0), form);
        char *is = json_dumps(json_array_get(pair, 1), form);
        const size_t length = strcspn(key, "_");
        if (strcmp(key, PRECONDITIONER) != 0) { /* "step_size" as "step size" */
            snprintf(words, sizeof words, "%.*s%s%s %.60s instead of %.60s", (int)length, key,
                     key[length] ? " " : "", key[length] ? key + length + 1 : "", is ? is : "?",
                     was ? was : "?");
        }
        sali_list_name(text, room, words);
        free(was);
        free(is);
    }
}

/* ---- comparison */

/* SAL_ERR_DATA with a message about an option that may not change. */
static sal_status refuse_change(const char *path, const char *key, const json_t *before,
                                const json_t *now, sal_error *err)
{
    const size_t form = JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    char *was = before ? json_dumps(before, form) : NULL, *is = json_dumps(now, form);
    sal_status status = sali_fail(err, SAL_ERR_DATA,
                                  "%s: the training was saved with %s %.60s and is to go on with "
                                  "%.60s; give the same options, or another directory",
                                  path, key, was ? was : "(none)", is ? is : "?");
    free(was);
    free(is);
    return status;
}

sal_status sali_train_compare(const char *path, const json_t *saved, const json_t *now,
                              json_t **changed, sal_error *err)
{
    const char *key;
    json_t *value, *list = json_object();
    sal_status status = list ? SAL_OK : sali_fail_memory(err);
    json_object_foreach((json_t *)now, key, value)
    {
        json_t *before = json_object_get(saved, key);
        if (status != SAL_OK || (before && json_equal(before, value))) {
            continue;
        }
        if (!before || !may_change(key)) {
            status = refuse_change(path, key, before, value, err);
        } else if (json_object_set_new(list, key, json_pack("[O, O]", before, value)) != 0) {
            status = sali_fail_memory(err);
        }
    }
    return SALI_GIVE(status, list, changed, json_decref);
}
