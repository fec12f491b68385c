/* What a resumed training must share with the one that was saved. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "io/json_text.h"
#include "models/fingerprint.h"
#include "train/trainer.h"

/* ---- hashes */

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

static json_t *hexadecimal(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    return json_string(text);
}

json_t *sali_train_fingerprint(const sal_model *model, const sal_data *data,
                               const sal_train_options *o)
{
    return json_pack(
        "{s:o, s:o, s:s, s:o, s:i, s:I, s:o, s:s, s:I, s:f, s:o, s:I, s:i, s:i, s:f, s:i, s:f, "
        "s:I, s:i, s:f, "
        "s:f, s:f, s:f, s:f, s:f, s:s?, s:f, s:b, s:f, s:s?, s:i, s:f, s:I, s:f, s:o}",
        "model", sali_json_text(model->name), "structure", hexadecimal(sali_model_structure(model)),
        "dtype", model->dtype == SAL_F32 ? "f32" : "f64", "data", hexadecimal(hash_data(data)),
        "objective", (int)o->objective, "batch", (json_int_t)o->batch, "seed", hexadecimal(o->seed),
        "sampler", o->sampler, "steps", (json_int_t)o->steps, "step_size", o->step_size,
        "preconditioner", hexadecimal(hash_matrix(o->preconditioner, model->space->width)),
        "buffer", (json_int_t)o->buffer, "buffer_start", (int)o->buffer_start, "buffer_order",
        (int)o->buffer_order, "restart", o->restart, "optimiser", (int)o->optimiser,
        "learning_rate", o->learning_rate, "rate_warmup", (json_int_t)o->rate_warmup,
        "rate_schedule", (int)o->rate_schedule, "rate_cooldown", o->rate_cooldown, "momentum",
        o->momentum, "beta2", o->beta2, "epsilon", o->epsilon, "weight_decay", o->weight_decay,
        "averaging", o->averaging, "couplings", o->couplings, "l1", o->l1, "zero_diagonal",
        (int)o->zero_diagonal, "magnitude_penalty", o->magnitude_penalty, "fixed", o->fixed,
        "centring", (int)o->centring, "clip_norm", o->clip_norm, "reservoir",
        (json_int_t)(o->objective == SAL_PTT ? o->reservoir : 0), "group_penalty", o->group_penalty,
        "test", hexadecimal(o->objective == SAL_PTT && o->test ? hash_data(o->test) : 0));
}

/* ---- what may be another at a resume */

static const struct {
    const char *key, *words;
} may_change[] = { { "learning_rate", "learning rate" },
                   { "steps", "steps" },
                   { "sampler", "sampler" },
                   { "step_size", "step size" },
                   { "preconditioner", NULL } }; /* a hash, which says nothing */

#define MAY_CHANGE ((int)(sizeof may_change / sizeof *may_change))

static bool changes(const char *key)
{
    int k = 0;
    while (k < MAY_CHANGE && strcmp(may_change[k].key, key) != 0) {
        k++;
    }
    return k < MAY_CHANGE;
}

void sali_train_describe(const json_t *changed, char *text, size_t room)
{
    const size_t form = JSON_ENCODE_ANY | JSON_REAL_PRECISION(6);
    text[0] = '\0';
    for (int k = 0; k < MAY_CHANGE; k++) {
        const json_t *pair = json_object_get(changed, may_change[k].key);
        char words[200] = "another preconditioner";
        char *was = json_dumps(json_array_get(pair, 0), form);
        char *is = json_dumps(json_array_get(pair, 1), form);
        if (may_change[k].words) {
            snprintf(words, sizeof words, "%s %.60s instead of %.60s", may_change[k].words,
                     is ? is : "?", was ? was : "?");
        }
        if (pair) {
            sali_list_name(text, room, words);
        }
        free(was);
        free(is);
    }
}

/* ---- comparison */

static sal_status differs(const char *path, const char *key, const json_t *before,
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
        if (!before || !changes(key)) {
            status = differs(path, key, before, value, err);
        } else if (json_object_set_new(list, key, json_pack("[O, O]", before, value)) != 0) {
            status = sali_fail_memory(err);
        }
    }
    if (status != SAL_OK) {
        json_decref(list);
        return status;
    }
    *changed = list;
    return SAL_OK;
}
