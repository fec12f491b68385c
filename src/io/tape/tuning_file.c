/* SPDX-License-Identifier: MIT */
/* What warm-up found, as JSON. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/io.h>
#include "core/error.h"
#include "core/tuning.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/scan.h"

#define VERSION_KEY "saltus_tuning"
#define VERSION 1
/* More than any sampler writes. */
#define MOST_LISTS 64

/* ---- writing */

static json_t *make_values(const sal_tuning *tuning)
{
    json_t *values = json_object();
    bool ok = values != NULL;
    for (int64_t k = 0; ok && k < tuning->lists.n; k++) {
        const sali_state_item *from = &tuning->lists.items[k];
        json_t *list = json_array();
        ok = list != NULL;
        for (int64_t i = 0; ok && i < from->count; i++) {
            ok = json_array_append_new(list, json_real(((const double *)from->data)[i])) == 0;
        }
        ok = json_object_set_new(values, from->name, list) == 0 && ok;
    }
    if (!ok) {
        json_decref(values);
        return NULL;
    }
    return values;
}

sal_status sal_tuning_save(const sal_tuning *tuning, const char *path, sal_error *err)
{
    json_t *values = make_values(tuning);
    json_t *object =
        values ? json_pack("{s:i, s:s, s:I, s:o}", VERSION_KEY, VERSION, "sampler", tuning->sampler,
                           "variables", (json_int_t)tuning->variables, "values", values)
               : NULL;
    return sali_json_write(object, JSON_REAL_PRECISION(17) | JSON_INDENT(1), path, err);
}

/* ---- reading */

static sal_status bad(const char *path, const char *what, sal_error *err)
{
    return sali_fail(err, SAL_ERR_DATA, "%s: %s", path, what);
}

static sal_status bad_list(const char *path, const char *name, sal_error *err)
{
    char shown[SALI_SHOW_SIZE];
    sali_show(name, (int64_t)strlen(name), shown);
    return sali_fail(err, SAL_ERR_DATA, "%s: \"%s\": expected a list of finite numbers", path,
                     shown);
}

static sal_status read_list(const char *path, const char *name, const json_t *list,
                            sal_tuning *tuning, sal_error *err)
{
    size_t n = json_array_size(list);
    double *values = sali_run_state_room(&tuning->lists, name, SALI_STATE_F64, (int64_t)n);
    bool ok = json_is_array(list);
    if (!values) {
        return sali_fail_memory(err);
    }
    for (size_t i = 0; ok && i < n; i++) {
        const json_t *item = json_array_get(list, i);
        values[i] = json_number_value(item);
        ok = json_is_number(item) && isfinite(values[i]);
    }
    return ok ? SAL_OK : bad_list(path, name, err);
}

/* Names of samplers are plain text: they are shown in messages. */
static bool is_plain(const char *text)
{
    while (*text >= ' ' && *text <= '~') {
        text++;
    }
    return *text == '\0';
}

static sal_status read_object(const char *path, const json_t *object, sal_tuning **out,
                              sal_error *err)
{
    const json_t *variables = json_object_get(object, "variables");
    const char *sampler = json_string_value(json_object_get(object, "sampler")), *name;
    json_t *values = json_object_get(object, "values"), *list;
    if (json_integer_value(json_object_get(object, VERSION_KEY)) != VERSION) {
        return bad(path, "expected an object with \"" VERSION_KEY "\": 1", err);
    }
    if (!sampler || !is_plain(sampler) || !json_is_integer(variables) || !json_is_object(values)) {
        return bad(path,
                   "expected \"sampler\" (text), \"variables\" (a whole number) and "
                   "\"values\" (an object)",
                   err);
    }
    if (json_object_size(values) > MOST_LISTS) {
        return bad(path, "\"values\" has more lists than any sampler has", err);
    }
    sal_tuning *tuning = sali_tuning_make(sampler, json_integer_value(variables));
    sal_status status = tuning ? SAL_OK : sali_fail_memory(err);
    for (void *at = json_object_iter(values); status == SAL_OK && at;
         at = json_object_iter_next(values, at)) {
        name = json_object_iter_key(at);
        list = json_object_iter_value(at);
        status = read_list(path, name, list, tuning, err);
    }
    if (status != SAL_OK) {
        sal_tuning_destroy(tuning);
        return status;
    }
    *out = tuning;
    return SAL_OK;
}

sal_status sal_tuning_open(const char *path, sal_tuning **tuning, sal_error *err)
{
    sali_bytes bytes = { 0 };
    json_error_t error;
    sal_status status = sali_file_read(path, &bytes, err);
    if (status != SAL_OK) {
        return status;
    }
    json_t *object =
        json_loadb((const char *)bytes.data, (size_t)bytes.size, JSON_REJECT_DUPLICATES, &error);
    sali_bytes_free(&bytes);
    if (!object) {
        return sali_fail(err, SAL_ERR_DATA, "%s:%d: %s", path, error.line, error.text);
    }
    status = read_object(path, object, tuning, err);
    json_decref(object);
    return status;
}
