/* SPDX-License-Identifier: MIT */
/* Reading draws from a netCDF file. */
#include <math.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/format.h"
#include "io/scan.h"
#include "io/draws/netcdf_posterior.h"
#include "io/draws/run_record.h"

/* Longer attributes are ignored. */
#define MOST_TEXT ((size_t)1 << 20)

static sal_status fail_posterior(const sali_netcdf_posterior *p, const char *what, sal_error *err)
{
    return sali_fail(err, SAL_ERR_DATA, "%s: %s", p->name, what);
}

static bool is_number(nc_type type)
{
    return type == NC_BYTE || (type >= NC_SHORT && type <= NC_UINT64);
}

static bool dimension_is(const sali_netcdf_posterior *p, int dimension, const char *name)
{
    char text[NC_MAX_NAME + 1];
    return nc_inq_dimname(p->id, dimension, text) == NC_NOERR && strcmp(text, name) == 0;
}

bool sali_netcdf_inquire(int group, int id, sali_netcdf_variable *v)
{
    *v = (sali_netcdf_variable){ .id = id };
    bool ok = nc_inq_varndims(group, id, &v->n) == NC_NOERR &&
              v->n <= SALI_NETCDF_MOST_DIMENSIONS &&
              nc_inq_var(group, id, NULL, &v->type, NULL, v->dimensions, NULL) == NC_NOERR;
    for (int k = 0; ok && k < v->n; k++) {
        ok = nc_inq_dimlen(group, v->dimensions[k], &v->sizes[k]) == NC_NOERR;
    }
    return ok;
}

bool sali_netcdf_find(int group, const char *name, int n, sali_netcdf_variable *out)
{
    int id;
    return nc_inq_varid(group, name, &id) == NC_NOERR && sali_netcdf_inquire(group, id, out) &&
           out->n == n;
}

/* Whether a variable holds draws: numbers over chain, draw and others. */
static bool is_draws(const sali_netcdf_posterior *p, const sali_netcdf_variable *v)
{
    return is_number(v->type) && v->n >= 2 && dimension_is(p, v->dimensions[0], "chain") &&
           dimension_is(p, v->dimensions[1], "draw");
}

/* Add a variable to the draws, after checking its sizes; loads its coding. */
static sal_status add_variable(sali_netcdf_posterior *p, sali_netcdf_variable v, sal_error *err)
{
    int64_t total;
    v.sites = 1;
    for (int k = 2; k < v.n; k++) {
        if (v.sizes[k] > INT32_MAX ||
            __builtin_mul_overflow(v.sites, (int64_t)v.sizes[k], &v.sites)) {
            return fail_posterior(p, "a variable has too many elements", err);
        }
    }
    if (p->n > 0 && ((int64_t)v.sizes[0] != p->chains || (int64_t)v.sizes[1] != p->draws)) {
        return fail_posterior(p, "its variables have different numbers of chains or draws", err);
    }
    p->chains = v.sizes[0] <= INT32_MAX ? (int64_t)v.sizes[0] : -1;
    p->draws = v.sizes[1] <= INT64_MAX / 2 ? (int64_t)v.sizes[1] : -1;
    if (p->chains < 1 || p->draws < 1 || v.sites < 1) {
        return fail_posterior(p, "there are no draws in its group 'posterior'", err);
    }
    if (__builtin_add_overflow(p->V, v.sites, &p->V) ||
        __builtin_mul_overflow(p->chains, p->draws, &total) ||
        __builtin_mul_overflow(total, p->V, &total) ||
        total / SALI_NETCDF_MOST_EXPANSION > p->size) {
        return fail_posterior(p, "claims more draws than a file of its size can hold", err);
    }
    if (sali_grow((void **)&p->variables, &p->room, p->n + 1, sizeof v) != 0) {
        return sali_fail_memory(err);
    }
    p->variables[p->n] = v;
    return sali_netcdf_coding_load(p->name, p->id, v.id, v.type, p->own,
                                   &p->variables[p->n++].coding, err);
}

void sali_netcdf_forget_draws(sali_netcdf_posterior *p)
{
    for (int64_t k = 0; k < p->n; k++) {
        sali_netcdf_coding_free(&p->variables[k].coding);
    }
    sali_free(p->variables);
    p->variables = NULL;
    p->n = 0;
}

sal_status sali_netcdf_find_draws(sali_netcdf_posterior *p, sal_error *err)
{
    int n = 0;
    sal_status status = SAL_OK;
    if (nc_inq_nvars(p->id, &n) != NC_NOERR) {
        return fail_posterior(p, "its group 'posterior' cannot be read", err);
    }
    for (int k = 0; status == SAL_OK && k < n; k++) {
        sali_netcdf_variable v;
        if (sali_netcdf_inquire(p->id, k, &v) && is_draws(p, &v)) {
            status = add_variable(p, v, err);
        }
    }
    if (status == SAL_OK && p->n == 0) {
        return fail_posterior(
            p, "its group 'posterior' has no numbers over the dimensions chain, draw", err);
    }
    return status;
}

/* Set the size of the part that begins at p->start. */
static void set_part(sali_netcdf_part *p)
{
    p->elements = 1;
    for (int k = 0; k < p->n; k++) {
        const size_t left = p->to[k] - p->start[k];
        p->count[k] = p->step[k] < left ? p->step[k] : left;
        p->elements *= p->count[k];
    }
}

sali_netcdf_part sali_netcdf_first_part(const sali_netcdf_variable *v, int divided,
                                        const size_t *first, const size_t *entries)
{
    sali_netcdf_part p = { .n = v->n, .whole = v->n };
    size_t room = SALI_NETCDF_PART;
    for (int k = 0; k < v->n; k++) {
        p.from[k] = p.start[k] = k < divided ? first[k] : 0;
        p.to[k] = k < divided ? first[k] + entries[k] : v->sizes[k];
        p.step[k] = 1;
    }
    for (int k = v->n - 1; k >= 0 && room > 1; k--) {
        const size_t size = p.to[k] - p.from[k];
        p.step[k] = size < room ? size : room;
        p.whole = size <= room ? k : p.whole;
        room = size <= room ? room / size : 1;
    }
    set_part(&p);
    return p;
}

bool sali_netcdf_next_part(sali_netcdf_part *p)
{
    bool more = false;
    for (int k = p->whole - 1; k >= 0 && !more; k--) {
        p->start[k] += p->count[k];
        more = p->start[k] < p->to[k];
        p->start[k] = more ? p->start[k] : p->from[k];
    }
    set_part(p);
    return more;
}

/* SAL_ERR_DATA if one of the values x [n] is missing or not finite. The values belong to one chain;
 * x[0] is element `at` of its draws, which begin with draw `first`. */
static sal_status check_values(const sali_netcdf_posterior *p, const sali_netcdf_variable *v,
                               int64_t chain, int64_t first, int64_t at, int64_t n, const double *x,
                               sal_error *err)
{
    int64_t k = 0;
    const bool coded = v->coding.coded;
    while (k < n && isfinite(x[k])) {
        k++;
    }
    if (k == n) {
        return SAL_OK;
    }
    char name[NC_MAX_NAME + 1] = "";
    nc_inq_varname(p->id, v->id, name);
    return sali_fail(
        err, SAL_ERR_DATA,
        isnan(x[k]) ? "%s: '%s' has no value in draw %lld of chain %lld (it is NaN, or "
                      "marked as missing); expected a number in every draw"
        : coded     ? "%s: '%s' has a number in draw %lld of chain %lld that is no code of "
                      "its levels"
                    : "%s: '%s' has a number in draw %lld of chain %lld that is infinite",
        p->name, name, (long long)(first + (at + k) / v->sites), (long long)chain);
}

/* Read n draws of one chain and variable, from draw `first` on, into the columns from `column` on
 * of `out` (n, V). `room` has SALI_NETCDF_PART elements. */
static sal_status read_chain(const sali_netcdf_posterior *p, const sali_netcdf_variable *v,
                             int64_t chain, int64_t first, int64_t n, int64_t column, double *room,
                             double *out, sal_error *err)
{
    const size_t start[2] = { (size_t)chain, (size_t)first }, count[2] = { 1, (size_t)n };
    sali_netcdf_part part = sali_netcdf_first_part(v, 2, start, count);
    int64_t at = 0;
    do {
        int code = nc_get_vara_double(p->id, v->id, part.start, part.count, room);
        if (code != NC_NOERR) {
            return sali_fail(err, SAL_ERR_DATA, "%s: cannot be read: %s", p->name,
                             nc_strerror(code));
        }
        const int64_t end = at + (int64_t)part.elements;
        sali_netcdf_decode(&v->coding, end - at, room);
        sal_status status = check_values(p, v, chain, first, at, end - at, room, err);
        if (status != SAL_OK) {
            return status;
        }
        for (const double *from = room; at < end;) {
            const int64_t site = at % v->sites, left = v->sites - site;
            const int64_t run = left < end - at ? left : end - at;
            memcpy(out + at / v->sites * p->V + column + site, from, (size_t)run * sizeof *out);
            from += run;
            at += run;
        }
    } while (sali_netcdf_next_part(&part));
    return SAL_OK;
}

sal_status sali_netcdf_read_draws(const sali_netcdf_posterior *p, int64_t first, int64_t n,
                                  sal_array *out, sal_error *err)
{
    int64_t shape[3] = { p->chains, n, p->V };
    sal_array array = { 0 };
    double *room = sali_alloc((int64_t)SALI_NETCDF_PART, sizeof *room);
    sal_status status =
        room ? sali_array_make(p->name, 3, shape, &array, err) : sali_fail_memory(err);
    for (int64_t k = 0, column = 0; status == SAL_OK && k < p->n;
         column += p->variables[k++].sites) {
        for (int64_t c = 0; status == SAL_OK && c < p->chains; c++) {
            status = read_chain(p, &p->variables[k], c, first, n, column, room,
                                array.values + c * n * p->V, err);
        }
    }
    sali_free(room);
    return SALI_GIVE_STRUCT(status, array, out, sal_array_free);
}

bool sali_netcdf_find_codes(const sali_netcdf_posterior *p, const double *row, int32_t *codes)
{
    bool all = true;
    for (int64_t k = 0, v = 0; k < p->n; k++) {
        const sali_netcdf_coding *coding = &p->variables[k].coding;
        const bool other = sali_netcdf_has_codes(coding);
        for (const int64_t end = v + p->variables[k].sites; v < end; v++) {
            const double code = other ? (double)sali_netcdf_code(coding, row[v]) : row[v];
            codes[v] = code >= 0 && code <= INT32_MAX ? (int32_t)code : -1;
            all = all && codes[v] >= 0;
        }
    }
    return all;
}

sal_status sali_netcdf_open(const char *name, const char *data, int64_t size, int *out, bool *own,
                            sal_error *err)
{
    sal_status status = sali_netcdf_check(name, data, size, own, err);
    if (status != SAL_OK) {
        return status;
    }
    int file = -1, code = data ? nc_open_mem(name, NC_NOWRITE, (size_t)size, (void *)data, &file)
                               : nc_open(name, NC_NOWRITE, &file);
    if (code != NC_NOERR) {
        return sali_fail(err, SAL_ERR_DATA, "%s: is no netCDF-4 file: %s", name, nc_strerror(code));
    }
    sali_memory memory = { 0 };
    const char *version = sali_netcdf_text(&memory, file, NC_GLOBAL, "inference_library_version");
    *own = *own || (version && strncmp(version, "0.1.", 4) == 0);
    status = sali_memory_status(&memory, err);
    sali_memory_free(&memory);
    if (status != SAL_OK) {
        nc_close(file);
        return status;
    }
    *out = file;
    return SAL_OK;
}

sal_status sali_netcdf_open_draws(sali_netcdf_posterior *p, const char *data, sal_error *err)
{
    sal_status status = sali_netcdf_open(p->name, data, p->size, &p->file, &p->own, err);
    if (status != SAL_OK) {
        return status;
    }
    return nc_inq_grp_ncid(p->file, "posterior", &p->id) == NC_NOERR
               ? sali_netcdf_find_draws(p, err)
               : fail_posterior(p, "has no group 'posterior'", err);
}

bool sali_netcdf_find_noted(int group, int noted, sali_netcdf_variable *out)
{
    return sali_netcdf_find(group, sali_noted_names[noted], 2, out) && out->type == NC_DOUBLE;
}

void sali_netcdf_close_draws(sali_netcdf_posterior *p)
{
    if (p->file >= 0) {
        nc_close(p->file);
    }
    sali_netcdf_forget_draws(p);
}

/* ---- attributes */

char *sali_netcdf_text(sali_memory *memory, int group, int variable, const char *name)
{
    nc_type type;
    size_t size = 0;
    char *string = NULL;
    if (nc_inq_att(group, variable, name, &type, &size) != NC_NOERR || size > MOST_TEXT) {
        return NULL;
    }
    if (type == NC_STRING && size == 1 &&
        nc_get_att_string(group, variable, name, &string) == NC_NOERR) {
        char *copy = string && strnlen(string, MOST_TEXT) < MOST_TEXT
                         ? sali_memory_text(memory, string)
                         : NULL;
        nc_free_string(1, &string);
        return copy;
    }
    if (type != NC_CHAR) {
        return NULL;
    }
    char *text = SALI_TAKE(memory, char, (int64_t)size + 1);
    return text && nc_get_att_text(group, variable, name, text) == NC_NOERR ? text : NULL;
}

bool sali_netcdf_number(int file, const char *name, unsigned long long *out)
{
    size_t one = 0;
    return nc_inq_attlen(file, NC_GLOBAL, name, &one) == NC_NOERR && one == 1 &&
           nc_get_att_ulonglong(file, NC_GLOBAL, name, out) == NC_NOERR;
}

sal_status sali_netcdf_findings(const sali_netcdf_posterior *p, sal_array *array, sal_error *err)
{
    unsigned long long unmoved;
    if (sali_netcdf_number(p->file, "unmoved_chains", &unmoved) && unmoved <= (uint64_t)p->chains) {
        array->unmoved = (int64_t)unmoved;
    }
    sali_memory memory = { 0 };
    const char *warning = sali_netcdf_text(&memory, p->file, NC_GLOBAL, "warning");
    array->warning = warning ? sali_strdup(warning) : NULL;
    const bool failed = memory.refused || (warning && !array->warning);
    sali_memory_free(&memory);
    return failed ? sali_fail_memory(err) : SAL_OK;
}

/* For draws of a run of this library, set array->codes where values are not their own codes. */
static sal_status add_codes(const sali_netcdf_posterior *p, sal_array *array, sal_error *err)
{
    bool own = true, other = false;
    for (int64_t k = 0; k < p->n; k++) {
        own = own && p->variables[k].coding.own;
        other = other || sali_netcdf_has_codes(&p->variables[k].coding);
    }
    if (!own || !other) {
        return SAL_OK;
    }
    array->codes = SALI_NEW_ARRAY(int32_t, array->count);
    bool all = array->codes != NULL;
    for (int64_t i = 0; all && i < array->count; i += p->V) {
        all = sali_netcdf_find_codes(p, array->values + i, array->codes + i);
    }
    if (array->codes && !all) { /* another program changed the values */
        sali_free(array->codes);
        array->codes = NULL;
        return SAL_OK;
    }
    return all ? SAL_OK : sali_fail_memory(err);
}

/* ---- what is left out */

#define MOST_NAMED 4

/* Whether a variable holds numbers that are neither draws nor the labels of a dimension. */
static bool is_left_out(const sali_netcdf_posterior *p, int id, const char *name)
{
    sali_netcdf_variable v;
    nc_type type;
    int dimension;
    return nc_inq_vartype(p->id, id, &type) == NC_NOERR && is_number(type) &&
           nc_inq_dimid(p->id, name, &dimension) != NC_NOERR &&
           !(sali_netcdf_inquire(p->id, id, &v) && is_draws(p, &v));
}

/* List the names of a variable's dimensions, as many as fit into `out` [size]. */
static void show_dimensions(const sali_netcdf_posterior *p, int id, size_t size, char *out)
{
    sali_netcdf_variable v;
    size_t used = 0;
    if (!sali_netcdf_inquire(p->id, id, &v)) {
        snprintf(out, size, "more than %d", SALI_NETCDF_MOST_DIMENSIONS);
        return;
    }
    snprintf(out, size, "none");
    for (int k = 0; k < v.n && used + SALI_SHOW_SIZE + 2 < size; k++) {
        char name[NC_MAX_NAME + 1] = "", shown[SALI_SHOW_SIZE];
        nc_inq_dimname(p->id, v.dimensions[k], name);
        used += (size_t)snprintf(out + used, size - used, "%s%s", k > 0 ? ", " : "",
                                 sali_show(name, -1, shown));
    }
}

/* Add remarks on numeric variables that are no draws: most often their dimensions are in another
 * order. */
static sal_status tell_left_out(const sali_netcdf_posterior *p, sali_remark *remark, sal_error *err)
{
    int n = 0;
    long long left_out = 0;
    sal_status status = SAL_OK;
    nc_inq_nvars(p->id, &n);
    for (int k = 0; status == SAL_OK && k < n; k++) {
        char name[NC_MAX_NAME + 1] = "", shown[SALI_SHOW_SIZE], dimensions[240];
        nc_inq_varname(p->id, k, name);
        if (!is_left_out(p, k, name) || left_out++ >= MOST_NAMED) {
            continue;
        }
        show_dimensions(p, k, sizeof dimensions, dimensions);
        status = sali_remark_add(remark, true, err,
                                 "'%s' is not read: its dimensions are %s (those of draws begin "
                                 "with chain, draw)",
                                 sali_show(name, -1, shown), dimensions);
    }
    return status == SAL_OK && left_out > MOST_NAMED
               ? sali_remark_add(remark, true, err, "nor are %lld more variables",
                                 left_out - MOST_NAMED)
               : status;
}

sal_status sali_netcdf_parse(const char *name, const char *data, int64_t size, sali_content *out,
                             sal_error *err)
{
    sali_netcdf_posterior p = { .name = name, .size = size, .file = -1 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    pthread_mutex_lock(&sali_hdf5_mutex);
    sal_status status = sali_netcdf_open_draws(&p, data, err);
    status = status ? status : sali_netcdf_read_draws(&p, 0, p.draws, &content.array, err);
    status = status ? status : sali_netcdf_findings(&p, &content.array, err);
    status = status ? status : add_codes(&p, &content.array, err);
    status = status ? status : tell_left_out(&p, &content.remark, err);
    sali_netcdf_close_draws(&p);
    pthread_mutex_unlock(&sali_hdf5_mutex);
    return SALI_GIVE_STRUCT(status, content, out, sali_content_free);
}
