/* SPDX-License-Identifier: MIT */
#include "io/networks/marginals.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saltus/io.h>
#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/networks/uai.h"
#include "io/networks/uai_results.h"
#include "models/clamp.h"
#include "models/names.h"

sal_status sali_marginals_states(const char *name, const sal_space *space, int64_t v,
                                 sal_error *err)
{
    return sal_space_states(space, v) > 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%.200s: variable %lld is a count without a cap, which has no finite "
                           "row of marginals",
                           name, (long long)v);
}

/* ---- JSON */

/* Read the probabilities of variable v, p [states], which must sum to 1. */
static void read_row(sali_scan *scan, int64_t v, const json_t *row, int64_t states, double *p)
{
    double sum = 0;
    if (!json_is_array(row) || (int64_t)json_array_size(row) != states) {
        sali_scan_refuse(scan, "variable %lld has %lld probabilities; expected %lld", (long long)v,
                         (long long)json_array_size(row), (long long)states);
    }
    for (int64_t k = 0; scan->status == SAL_OK && k < states; k++) {
        const json_t *entry = json_array_get(row, (size_t)k);
        p[k] = json_is_number(entry) ? json_number_value(entry) : NAN;
        if (!(p[k] >= 0 && p[k] <= 1)) {
            sali_scan_refuse(scan, "variable %lld, state %lld: expected a number from 0 to 1",
                             (long long)v, (long long)k);
        }
        sum += p[k];
    }
    if (!(fabs(sum - 1) <= SALI_MARGINALS_TOLERANCE)) {
        sali_scan_refuse(scan, "the probabilities of variable %lld sum to %.6g; expected 1",
                         (long long)v, sum);
    }
}

/* Read the marginals of all variables of `space`, row by row. */
static void read_rows(sali_scan *scan, const json_t *rows, const sal_space *space,
                      double *marginals)
{
    int64_t V = sal_space_variables(space);
    if (!json_is_array(rows)) {
        sali_scan_refuse(scan, "expected an object with an array \"marginals\"");
    } else if ((int64_t)json_array_size(rows) != V) {
        sali_scan_refuse(scan, "marginals of %lld variables; the model has %lld",
                         (long long)json_array_size(rows), (long long)V);
    }
    for (int64_t v = 0; scan->status == SAL_OK && v < V; v++) {
        int64_t states = sal_space_states(space, v);
        scan->status = sali_marginals_states(scan->name, space, v, scan->err);
        read_row(scan, v, json_array_get(rows, (size_t)v), states, marginals);
        marginals += states;
    }
}

/* Read marginals from JSON; *log_z is NaN and *evidence -1 if the file lacks them. */
static void read_json(sali_scan *scan, const sal_space *space, double *marginals, double *log_z,
                      int64_t *evidence)
{
    json_error_t error;
    json_t *root =
        json_loadb(scan->begin, (size_t)(scan->end - scan->begin), JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        sali_scan_fail(scan, error.line, "%.200s", error.text);
        return;
    }
    const json_t *z = json_object_get(root, "log_z"), *n = json_object_get(root, "evidence");
    read_rows(scan, json_object_get(root, "marginals"), space, marginals);
    if ((z && !json_is_number(z)) || (n && (!json_is_integer(n) || json_integer_value(n) < 0))) {
        sali_scan_refuse(scan, "expected a number as \"log_z\" and a count as \"evidence\"");
    }
    *log_z = z ? json_number_value(z) : NAN;
    *evidence = n ? (int64_t)json_integer_value(n) : -1;
    json_decref(root);
}

/* ---- both */

sal_status sali_marginals_parse(const char *name, const void *bytes, int64_t size,
                                const sal_space *space, double *marginals, double *log_z,
                                int64_t *evidence, sal_error *err)
{
    sali_scan scan = sali_scan_of(name, bytes, size, SALI_UAI_COMMENTS, err);
    *log_z = NAN;
    *evidence = -1;
    if (sali_uai_is_mar(&scan)) {
        sali_uai_read_mar(&scan, space, marginals);
    } else {
        read_json(&scan, space, marginals, log_z, evidence);
    }
    return scan.status;
}

/* Read log Z from NAME.PR next to `path` = NAME.MAR; *log_z is untouched if there is no such
 * file. */
static sal_status read_beside(const char *path, double *log_z, sal_error *err)
{
    sali_bytes bytes = { 0 };
    char *beside = sali_strdup(path);
    if (!beside) {
        return sali_fail_memory(err);
    }
    strcpy(beside + strlen(path) - 4, ".PR");
    sal_status status = SAL_OK;
    if (access(beside, R_OK) == 0) {
        status = sali_file_read(beside, &bytes, err);
        status = status ? status : sali_uai_parse_pr(beside, bytes.data, bytes.size, log_z, err);
    }
    sali_bytes_free(&bytes);
    sali_free(beside);
    return status;
}

sal_status sali_marginals_read(const char *path, const sal_space *space, double *marginals,
                               double *log_z, int64_t *evidence, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sal_status status = sali_file_read(path, &bytes, err);
    sali_scan scan = sali_scan_of(path, bytes.data, bytes.size, SALI_UAI_COMMENTS, err);
    bool mar = sali_uai_is_mar(&scan) && sali_has_suffix(path, ".MAR");
    status = status ? status
                    : sali_marginals_parse(path, bytes.data, bytes.size, space, marginals, log_z,
                                           evidence, err);
    sali_bytes_free(&bytes);
    return status || !mar ? status : read_beside(path, log_z, err);
}

/* ---- of a model, which may be a clamped one */

static int64_t entries_of(const sal_space *space, int64_t v)
{
    int64_t states = sal_space_states(space, v);
    return states > 0 ? states : SAL_COUNT_LEVELS;
}

/* Copy the rows of the free variables from `all`, which has rows of all variables. ARGUMENT if the
 * row of a clamped variable is not a point mass at its code. */
static sal_status take_free(const char *path, const sal_model *model, int64_t evidence,
                            const double *all, double *marginals, sal_error *err)
{
    const sal_space *whole = sali_clamp_inner(model)->space;
    int32_t *index = SALI_NEW_ARRAY(int32_t, whole->n_variables);
    int32_t *code = SALI_NEW_ARRAY(int32_t, whole->n_variables);
    sal_status status =
        index && code ? sali_clamp_index(model, index, code) : sali_fail_memory(err);
    bool fits = evidence < 0 || evidence == whole->n_variables - model->space->n_variables;
    for (int pass = 0; status == SAL_OK && pass < 2; pass++) { /* first check, then copy */
        const double *row = all;
        for (int64_t v = 0; v < whole->n_variables; row += sal_space_states(whole, v++)) {
            const int64_t states = sal_space_states(whole, v);
            if (index[v] < 0) {
                fits = fits && row[code[v]] > 0.999;
            } else if (pass == 1) {
                memcpy(marginals, row, (size_t)states * sizeof *row);
                marginals += states;
            }
        }
        if (!fits) {
            status = sali_fail(err, SAL_ERR_ARGUMENT,
                               "%.300s: these marginals are for other evidence; give the same by "
                               "--evidence or --clamp",
                               path);
        }
    }
    sali_free(index);
    sali_free(code);
    return status;
}

sal_status sal_marginals_read(const char *path, const sal_model *model, double *marginals,
                              double *log_z, sal_error *err)
{
    if (!path || !model || !marginals) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "marginals: path, model or marginals is NULL");
    }
    const sal_space *whole = sali_clamp_inner(model)->space;
    int64_t evidence = -1;
    double found = NAN, *all = SALI_NEW_ARRAY(double, whole->n_states);
    sal_status status =
        all ? sali_marginals_read(path, whole, all, &found, &evidence, err) : sali_fail_memory(err);
    status = status ? status : take_free(path, model, evidence, all, marginals, err);
    if (status == SAL_OK && log_z) {
        *log_z = found;
    }
    sali_free(all);
    return status;
}

/* A JSON list of n names of variables or states; null for those without a name. */
static json_t *names_json(char *const *names, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++) {
        json_t *name = names[k] ? json_string(names[k]) : NULL; /* NULL also if not UTF-8 */
        json_array_append_new(list, name ? name : json_null());
    }
    return list;
}

/* Add the names of variables and states to the object, if there are any. */
static void add_names(json_t *object, const sali_names *names)
{
    if (names && names->names) {
        json_object_set_new(object, "names", names_json(names->names, names->variables));
    }
    if (names && names->state_names) {
        json_t *states = json_array();
        for (int64_t v = 0; v < names->variables; v++) {
            json_array_append_new(states, names_json(names->state_names[v], names->states[v]));
        }
        json_object_set_new(object, "states", states);
    }
}

/* Significant digits of estimates and of exact answers (15 decimal digits always survive a round
 * trip). */
enum { DIGITS = 10, EXACT_DIGITS = 15 };

/* Write marginals of all variables as JSON; log_z and the evidence are added if log_z is finite,
 * that is, for exact answers. */
static sal_status write_json(const char *path, const sal_model *model, const double *all,
                             double log_z, sal_error *err)
{
    const sal_model *inner = sali_clamp_inner(model);
    const bool exact = isfinite(log_z);
    json_t *object = json_object(), *rows = json_array();
    if (exact) {
        json_object_set_new(object, "log_z", json_real(log_z));
        json_object_set_new(object, "evidence",
                            json_integer(inner->space->n_variables - model->space->n_variables));
    }
    for (int64_t v = 0; v < inner->space->n_variables; v++) {
        json_t *row = json_array();
        for (int64_t k = 0; k < entries_of(inner->space, v); k++) {
            json_array_append_new(row, json_real(*all++));
        }
        json_array_append_new(rows, row);
    }
    json_object_set_new(object, "marginals", rows);
    add_names(object, inner->names);
    char *text = json_dumps(object, JSON_REAL_PRECISION(exact ? EXACT_DIGITS : DIGITS));
    sal_status status =
        text ? sal_file_write(path, text, (int64_t)strlen(text), err) : sali_fail_memory(err);
    json_decref(object);
    free(text);
    return status;
}

sal_status sal_marginals_write(const char *path, const sal_model *model, const double *marginals,
                               double log_z, sal_error *err)
{
    if (!path || !model || !marginals) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "marginals: path, model or marginals is NULL");
    }
    const sal_space *whole = sali_clamp_inner(model)->space;
    const bool mar = sali_has_suffix(path, ".MAR");
    int64_t entries = 0;
    for (int64_t v = 0; v < whole->n_variables; v++) {
        sal_status status = mar ? sali_marginals_states(path, whole, v, err) : SAL_OK;
        if (status != SAL_OK) {
            return status;
        }
        entries += entries_of(whole, v);
    }
    double *all = SALI_NEW_ARRAY(double, entries);
    sal_status status = all ? sali_clamp_marginals(model, marginals, all) : sali_fail_memory(err);
    if (status == SAL_OK) {
        status = mar ? sali_uai_write_mar(path, whole, all, err)
                     : write_json(path, model, all, log_z, err);
    }
    sali_free(all);
    return status;
}
