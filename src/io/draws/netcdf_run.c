/* SPDX-License-Identifier: MIT */
/* Reading a run from a netCDF file: its draws, the figures recorded with them, and the
 * attributes. */
#include <inttypes.h>
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/error.h"
#include "io/draws/netcdf_posterior.h"
#include "io/draws/run_record.h"

#define MOST_NAMED 100000
#define MOST_LEVELS (1 << 24)

/* ---- attributes */

/* Set the texts and numbers of the record from the attributes of the file. */
static void get_attributes(int file, sali_run_record *r)
{
    sali_memory *m = &r->memory;
    unsigned long long seed;
    size_t one = 0;
    r->model = sali_netcdf_text(m, file, NC_GLOBAL, "model");
    r->sampler = sali_netcdf_text(m, file, NC_GLOBAL, "sampler");
    r->created = sali_netcdf_text(m, file, NC_GLOBAL, "created_at");
    r->version = sali_netcdf_text(m, file, NC_GLOBAL, "inference_library_version");
    r->configuration = sali_netcdf_text(m, file, NC_GLOBAL, "configuration");
    if (sali_netcdf_number(file, "seed", &seed)) {
        char text[32];
        snprintf(text, sizeof text, "%llu", seed);
        r->seed = sali_memory_text(m, text);
    }
    if (nc_inq_attlen(file, NC_GLOBAL, "sampling_time", &one) != NC_NOERR || one != 1 ||
        nc_get_att_double(file, NC_GLOBAL, "sampling_time", &r->seconds) != NC_NOERR) {
        r->seconds = NAN;
    }
}

/* ---- what was noted */

/* Read one of the figures recorded with the draws, [chains x *draws]; nothing happens if the group
 * has no such variable. *draws is the number of draws, or -1 before it is known. */
static sal_status get_noted(const sali_netcdf_posterior *p, int group, int noted,
                            sali_memory *memory, int64_t *draws, double **out, sal_error *err)
{
    const char *name = sali_noted_names[noted];
    sali_netcdf_variable v;
    if (!sali_netcdf_find_noted(group, noted, &v) || v.sizes[1] == 0) {
        return SAL_OK;
    }
    const int64_t chains = (int64_t)v.sizes[0], steps = (int64_t)v.sizes[1];
    int64_t count;
    if (chains != p->chains || (*draws >= 0 && steps != *draws) ||
        __builtin_mul_overflow(chains, steps, &count) || count < 0 ||
        count / SALI_NETCDF_MOST_EXPANSION > p->size) {
        return sali_fail(err, SAL_ERR_DATA, "%s: its %s has not the shape of its draws", p->name,
                         name);
    }
    *out = SALI_TAKE(memory, double, count);
    if (!*out) {
        return sali_fail_memory(err);
    }
    *draws = steps;
    sali_netcdf_part part = sali_netcdf_first_part(&v, 0, NULL, NULL);
    double *to = *out;
    int code;
    do {
        code = nc_get_vara_double(group, v.id, part.start, part.count, to);
        to += part.elements;
    } while (code == NC_NOERR && sali_netcdf_next_part(&part));
    return code == NC_NOERR ? SAL_OK
                            : sali_fail(err, SAL_ERR_DATA, "%s: its %s cannot be read: %s", p->name,
                                        name, nc_strerror(code));
}

/* Read all figures of a group, as far as the group and they exist. */
static sal_status get_all_noted(const sali_netcdf_posterior *p, const char *group_name,
                                sali_memory *memory, int64_t *draws, double *noted[SALI_NOTED],
                                sal_error *err)
{
    int group;
    sal_status status = SAL_OK;
    if (nc_inq_grp_ncid(p->file, group_name, &group) != NC_NOERR) {
        return SAL_OK;
    }
    for (int k = 0; status == SAL_OK && k < SALI_NOTED; k++) {
        status = get_noted(p, group, k, memory, draws, &noted[k], err);
    }
    return status;
}

/* ---- names */

typedef enum coordinate { NO_COORDINATE, A_NUMBER, A_NAME } coordinate;

/* The coordinate of entry `site` of a dimension of the group, as text. */
static coordinate site_coordinate(int group, int dimension, int64_t site, char *out, size_t room)
{
    char name[NC_MAX_NAME + 1], *text = NULL;
    sali_netcdf_variable v;
    long long number;
    size_t at = (size_t)site;
    if (nc_inq_dimname(group, dimension, name) != NC_NOERR ||
        !sali_netcdf_find(group, name, 1, &v) || v.dimensions[0] != dimension) {
        return NO_COORDINATE;
    }
    if (v.type != NC_STRING) {
        bool known = nc_get_var1_longlong(group, v.id, &at, &number) == NC_NOERR;
        snprintf(out, room, "%lld", known ? number : -1);
        return known ? A_NUMBER : NO_COORDINATE;
    }
    if (nc_get_var1_string(group, v.id, &at, &text) != NC_NOERR || !text) {
        return NO_COORDINATE;
    }
    snprintf(out, room, "%s", text);
    nc_free_string(1, &text);
    return A_NAME;
}

/* The coordinate of element `site` of a variable of draws. */
static coordinate draw_coordinate(const sali_netcdf_posterior *p, const sali_netcdf_variable *v,
                                  int64_t site, char *out, size_t room)
{
    return v->n == 3 ? site_coordinate(p->id, v->dimensions[2], site, out, room) : NO_COORDINATE;
}

/* The largest code in the draws of a variable whose elements are columns from `column` on; -1 if a
 * value has no code. */
static int64_t find_largest_code(const sali_netcdf_variable *v, int64_t column,
                                 const sali_run_record *r)
{
    int64_t largest = 0;
    for (int64_t i = 0; largest >= 0 && i < r->chains * r->n_draws; i++) {
        for (int64_t k = column; largest >= 0 && k < column + v->sites; k++) {
            const int64_t code = sali_netcdf_code(&v->coding, r->draws.values[i * r->V + k]);
            largest = code < 0 ? -1 : code > largest ? code : largest;
        }
    }
    return largest;
}

/* Turn the values of a variable's draws into codes, in place, and return the value of each code;
 * NULL if the values are codes themselves. */
static double *take_levels(const sali_netcdf_variable *v, int64_t column, sali_run_record *r)
{
    const sali_netcdf_coding *c = &v->coding;
    const int64_t largest = sali_netcdf_has_codes(c) ? find_largest_code(v, column, r) : -1;
    const int64_t n = c->levels ? c->n_levels : largest + 1;
    if (largest < 0 || n > MOST_LEVELS) {
        return NULL;
    }
    double *levels = SALI_TAKE(&r->memory, double, n);
    for (int64_t k = 0; levels && k < n; k++) {
        levels[k] = c->levels ? c->levels[k] : (double)k * c->scale + c->offset;
    }
    for (int64_t i = 0; levels && i < r->chains * r->n_draws; i++) {
        double *row = r->draws.values + i * r->V;
        for (int64_t k = column; k < column + v->sites; k++) {
            row[k] = (double)sali_netcdf_code(c, row[k]);
        }
    }
    return levels;
}

/* Set the names, levels and kinds of all variables, and turn values into codes. */
static sal_status get_names(const sali_netcdf_posterior *p, sali_run_record *r, sal_error *err)
{
    sali_memory *m = &r->memory;
    r->nominal = SALI_TAKE(m, bool, p->V);
    r->levels = SALI_TAKE(m, double *, p->V);
    r->names = p->V <= MOST_NAMED ? SALI_TAKE(m, char *, p->V) : NULL;
    r->spins = p->n > 0;
    if (m->refused) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0, column = 0; k < p->n; k++) {
        const sali_netcdf_variable *v = &p->variables[k];
        char block[NC_MAX_NAME + 1] = "", text[NC_MAX_NAME + 64];
        nc_inq_varname(p->id, v->id, block);
        const char *kind = sali_netcdf_text(m, p->id, v->id, "kind");
        bool spin = kind && strcmp(kind, "spin") == 0;
        double *levels = take_levels(v, column, r);
        r->spins = r->spins && spin && levels;
        for (int64_t i = 0; i < v->sites; i++, column++) {
            r->nominal[column] = kind && strcmp(kind, "categorical") == 0;
            r->levels[column] = levels;
            if (r->names && draw_coordinate(p, v, i, text, sizeof text) != A_NAME) {
                snprintf(text, sizeof text, "%s[%" PRId64 "]", block, i);
            }
            if (r->names) {
                r->names[column] = sali_memory_text(m, text);
            }
        }
    }
    return sali_memory_status(m, err);
}

/* ---- variables that were held fixed */

/* The code of element k of a variable of the group; -1: none. */
static int64_t get_code(int group, const sali_netcdf_variable *v, size_t k)
{
    double value;
    if (nc_get_var1_double(group, v->id, &k, &value) != NC_NOERR) {
        return -1;
    }
    sali_netcdf_decode(&v->coding, 1, &value);
    if (sali_netcdf_has_codes(&v->coding)) {
        return sali_netcdf_code(&v->coding, value);
    }
    return value >= 0 && value <= INT32_MAX && value == floor(value) ? (int64_t)value : -1;
}

/* Match the clamped variables `given` of the group with the elements of variable v of the draws, by
 * their coordinates. The elements of v are variables `first` and following. False: not all were
 * found. */
static bool match_observed(const sali_netcdf_posterior *p, const sali_netcdf_variable *v, int group,
                           const sali_netcdf_variable *given, int64_t first, sali_run_record *r)
{
    char fixed[NC_MAX_NAME + 1], text[NC_MAX_NAME + 1];
    int64_t site = 0;
    for (size_t k = 0; k < given->sizes[0]; site++, k++) {
        coordinate kind =
            site_coordinate(group, given->dimensions[0], (int64_t)k, fixed, sizeof fixed);
        while (site < v->sites && (draw_coordinate(p, v, site, text, sizeof text) != kind ||
                                   strcmp(text, fixed) != 0)) {
            site++;
        }
        const int64_t code = get_code(group, given, k);
        if (kind == NO_COORDINATE || site == v->sites || code < 0) {
            return false;
        }
        r->clamp_variables[r->n_clamped] = first + site;
        r->clamp_codes[r->n_clamped++] = (int32_t)code;
    }
    return true;
}

/* Find the clamped variables of one variable of the draws. *all = false: not all were found. */
static sal_status get_observed_block(const sali_netcdf_posterior *p, const sali_netcdf_variable *v,
                                     int group, int64_t first, sali_run_record *r, bool *all,
                                     sal_error *err)
{
    char name[NC_MAX_NAME + 1];
    sali_netcdf_variable given;
    int id;
    if (nc_inq_varname(p->id, v->id, name) != NC_NOERR ||
        nc_inq_varid(group, name, &id) != NC_NOERR) {
        return SAL_OK; /* none of these is clamped */
    }
    *all = sali_netcdf_find(group, name, 1, &given) && given.sizes[0] <= (size_t)v->sites;
    if (!*all) {
        return SAL_OK;
    }
    sal_status status =
        sali_netcdf_coding_load(p->name, group, id, given.type, p->own, &given.coding, err);
    *all = status == SAL_OK && match_observed(p, v, group, &given, first, r);
    sali_netcdf_coding_free(&given.coding);
    return status;
}

/* Set r->clamped if variables were clamped, and list them if the group observed_data has all of
 * them. */
static sal_status get_observed(const sali_netcdf_posterior *p, sali_run_record *r, sal_error *err)
{
    int group;
    bool all = true;
    r->clamped = nc_inq_grp_ncid(p->file, "observed_data", &group) == NC_NOERR;
    if (!r->clamped) {
        return SAL_OK;
    }
    r->clamp_variables = SALI_TAKE(&r->memory, int64_t, p->V);
    r->clamp_codes = SALI_TAKE(&r->memory, int32_t, p->V);
    if (r->memory.refused) {
        return sali_fail_memory(err);
    }
    sal_status status = SAL_OK;
    for (int64_t b = 0, first = 0; status == SAL_OK && all && b < p->n;
         first += p->variables[b++].sites) {
        status = get_observed_block(p, &p->variables[b], group, first, r, &all, err);
    }
    r->n_clamped = all ? r->n_clamped : 0;
    return status;
}

/* ---- all of it */

/* Read everything about the run from the open file. */
static sal_status read_run(const sali_netcdf_posterior *p, sali_run_record *r, sal_error *err)
{
    int64_t warmup = -1, draws = p->draws;
    sal_status status = sali_netcdf_read_draws(p, 0, draws, &r->draws, err);
    status = status ? status : sali_netcdf_findings(p, &r->draws, err);
    if (status != SAL_OK) {
        return status;
    }
    r->chains = p->chains;
    r->n_draws = p->draws;
    r->V = p->V;
    get_attributes(p->file, r);
    status = get_all_noted(p, "sample_stats", &r->memory, &draws, r->noted, err);
    status =
        status ? status
               : get_all_noted(p, "warmup_sample_stats", &r->memory, &warmup, r->warmup_noted, err);
    r->n_warmup = warmup > 0 ? warmup : 0;
    status = status ? status : get_names(p, r, err);
    return status ? status : get_observed(p, r, err);
}

sal_status sali_run_record_parse(const char *name, const char *data, int64_t size,
                                 sali_run_record *out, sal_error *err)
{
    sali_netcdf_posterior p = { .name = name, .size = size, .file = -1 };
    sali_run_record record = { 0 };
    pthread_mutex_lock(&sali_hdf5_mutex);
    sal_status status = sali_netcdf_open_draws(&p, data, err);
    status = status ? status : read_run(&p, &record, err);
    sali_netcdf_close_draws(&p);
    pthread_mutex_unlock(&sali_hdf5_mutex);
    return SALI_GIVE_STRUCT(status, record, out, sali_run_record_free);
}
