/* SPDX-License-Identifier: MIT */
/* Files of what warm-up found, as JSON. */
#include <jansson.h>
#include <math.h>

#include <saltus/io.h>
#include "core/error.h"
#include "core/saved/tuning.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/scan.h"

#define VERSION_KEY "saltus_tuning"
#define VERSION 1
/* More lists than any sampler writes. */
#define MOST_LISTS 64

/* ---- writing */

/* A JSON object of the tuning's lists; NULL when out of memory. */
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
    return sali_json_write(object, path, err);
}

/* ---- reading */

/* Add a list of finite numbers to the tuning. */
static void read_list(sali_scan *scan, const char *name, const json_t *list, sal_tuning *tuning)
{
    size_t n = json_array_size(list);
    double *values = sali_run_state_room(&tuning->lists, name, SALI_DTYPE_F64, (int64_t)n);
    bool good = json_is_array(list);
    sali_scan_granted(scan, values);
    for (size_t i = 0; values && i < n; i++) {
        const json_t *item = json_array_get(list, i);
        values[i] = json_number_value(item);
        good = good && json_is_number(item) && isfinite(values[i]);
    }
    if (!good) {
        char shown[SALI_SHOW_SIZE];
        sali_scan_refuse(scan, "\"%s\": expected a list of finite numbers",
                         sali_show(name, -1, shown));
    }
}

/* Whether a text is printable ASCII, as names of samplers are: they appear in messages. */
static bool is_plain(const char *text)
{
    while (*text >= ' ' && *text <= '~') {
        text++;
    }
    return *text == '\0';
}

/* Make a tuning from a JSON object; NULL, or a partial tuning, after a failure. */
static sal_tuning *read_object(sali_scan *scan, const json_t *object)
{
    const json_t *variables = json_object_get(object, "variables");
    const char *sampler = json_string_value(json_object_get(object, "sampler")), *name;
    json_t *values = json_object_get(object, "values"), *list;
    if (json_integer_value(json_object_get(object, VERSION_KEY)) != VERSION) {
        sali_scan_refuse(scan, "expected an object with \"" VERSION_KEY "\": 1");
    } else if (!sampler || !is_plain(sampler) || !json_is_integer(variables) ||
               !json_is_object(values)) {
        sali_scan_refuse(scan, "expected \"sampler\" (text), \"variables\" (a whole number) and "
                               "\"values\" (an object)");
    } else if (json_object_size(values) > MOST_LISTS) {
        sali_scan_refuse(scan, "\"values\" has more lists than any sampler has");
    }
    if (scan->status != SAL_OK) {
        return NULL;
    }
    sal_tuning *tuning = sali_tuning_make(sampler, json_integer_value(variables));
    sali_scan_granted(scan, tuning);
    json_object_foreach(values, name, list)
    {
        if (scan->status == SAL_OK) {
            read_list(scan, name, list, tuning);
        }
    }
    return tuning;
}

sal_status sal_tuning_open(const char *path, sal_tuning **tuning, sal_error *err)
{
    sali_bytes bytes = { 0 };
    json_error_t error = { 0 };
    sal_tuning *made = NULL;
    sal_status status = sali_file_read(path, &bytes, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_scan scan = sali_scan_of(path, bytes.data, bytes.size, SALI_BYTES, err);
    json_t *object = json_loadb(scan.begin, (size_t)bytes.size, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        sali_scan_fail(&scan, error.line, "%s", error.text);
    }
    scan.status = scan.status ? scan.status : sali_json_unseal(object, path, err);
    made = scan.status ? NULL : read_object(&scan, object);
    json_decref(object);
    sali_bytes_free(&bytes);
    return SALI_GIVE(scan.status, made, tuning, sal_tuning_destroy);
}
