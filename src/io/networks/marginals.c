/* SPDX-License-Identifier: MIT */
#include "io/networks/marginals.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/networks/uai_results.h"

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

static sal_status parse_row(const char *name, int64_t v, const json_t *row, int64_t states,
                            double *p, sal_error *err)
{
    double sum = 0;
    if (!json_is_array(row) || (int64_t)json_array_size(row) != states) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%.200s: variable %lld has %lld probabilities; expected %lld", name,
                         (long long)v, (long long)json_array_size(row), (long long)states);
    }
    for (int64_t k = 0; k < states; k++) {
        const json_t *entry = json_array_get(row, (size_t)k);
        p[k] = json_is_number(entry) ? json_number_value(entry) : NAN;
        if (!(p[k] >= 0 && p[k] <= 1)) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%.200s: variable %lld, state %lld: expected a number from 0 to 1",
                             name, (long long)v, (long long)k);
        }
        sum += p[k];
    }
    return fabs(sum - 1) <= SALI_MARGINALS_TOLERANCE
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA,
                           "%.200s: the probabilities of variable %lld sum to %.6g; expected 1",
                           name, (long long)v, sum);
}

static sal_status parse_rows(const char *name, const json_t *rows, const sal_space *space,
                             double *marginals, sal_error *err)
{
    int64_t V = sal_space_variables(space);
    if (!json_is_array(rows)) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%.200s: expected an object with an array \"marginals\"", name);
    }
    if ((int64_t)json_array_size(rows) != V) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%.200s: marginals of %lld variables; the model has %lld", name,
                         (long long)json_array_size(rows), (long long)V);
    }
    sal_status status = SAL_OK;
    for (int64_t v = 0; status == SAL_OK && v < V; v++) {
        int64_t states = sal_space_states(space, v);
        status = sali_marginals_states(name, space, v, err);
        status = status
                     ? status
                     : parse_row(name, v, json_array_get(rows, (size_t)v), states, marginals, err);
        marginals += states;
    }
    return status;
}

static sal_status parse_rest(const char *name, const json_t *root, double *log_z, int64_t *evidence,
                             sal_error *err)
{
    const json_t *z = json_object_get(root, "log_z"), *n = json_object_get(root, "evidence");
    if ((z && !json_is_number(z)) || (n && (!json_is_integer(n) || json_integer_value(n) < 0))) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%.200s: expected a number as \"log_z\" and a count as \"evidence\"",
                         name);
    }
    *log_z = z ? json_number_value(z) : NAN;
    *evidence = n ? (int64_t)json_integer_value(n) : -1;
    return SAL_OK;
}

static sal_status parse_json(const char *name, const void *bytes, int64_t size,
                             const sal_space *space, double *marginals, double *log_z,
                             int64_t *evidence, sal_error *err)
{
    json_error_t error;
    json_t *root = json_loadb(bytes, (size_t)size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        return sali_fail(err, SAL_ERR_DATA, "%.200s:%d: %.200s", name, error.line, error.text);
    }
    sal_status status = parse_rows(name, json_object_get(root, "marginals"), space, marginals, err);
    status = status ? status : parse_rest(name, root, log_z, evidence, err);
    json_decref(root);
    return status;
}

/* ---- both */

sal_status sali_marginals_parse(const char *name, const void *bytes, int64_t size,
                                const sal_space *space, double *marginals, double *log_z,
                                int64_t *evidence, sal_error *err)
{
    if (!sali_uai_is_mar(bytes, size)) {
        return parse_json(name, bytes, size, space, marginals, log_z, evidence, err);
    }
    *log_z = NAN;
    *evidence = -1;
    return sali_uai_parse_mar(name, bytes, size, space, marginals, err);
}

/* log Z of NAME.PR beside NAME.MAR, if that is there. */
static sal_status read_beside(const char *path, double *log_z, sal_error *err)
{
    if (!sali_has_suffix(path, ".MAR")) {
        return SAL_OK;
    }
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
    status = status ? status
                    : sali_marginals_parse(path, bytes.data, bytes.size, space, marginals, log_z,
                                           evidence, err);
    if (status == SAL_OK && sali_uai_is_mar(bytes.data, bytes.size)) {
        status = read_beside(path, log_z, err);
    }
    sali_bytes_free(&bytes);
    return status;
}
