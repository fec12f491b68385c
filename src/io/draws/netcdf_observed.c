/* The variables that a run held fixed, out of the group observed_data of its file. */
#include <netcdf.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/draws/netcdf_observed.h"

/* The coordinate of the only dimension of a variable, and its length; false without. */
static bool find_sites(int group, int variable, int *coordinate, nc_type *type, size_t *n)
{
    int count = 0, dimension, over = 0, over_dimension;
    char name[NC_MAX_NAME + 1];
    return nc_inq_varndims(group, variable, &count) == NC_NOERR && count == 1 &&
           nc_inq_vardimid(group, variable, &dimension) == NC_NOERR &&
           nc_inq_dimname(group, dimension, name) == NC_NOERR &&
           nc_inq_dimlen(group, dimension, n) == NC_NOERR &&
           nc_inq_varid(group, name, coordinate) == NC_NOERR &&
           nc_inq_varndims(group, *coordinate, &over) == NC_NOERR && over == 1 &&
           nc_inq_vardimid(group, *coordinate, &over_dimension) == NC_NOERR &&
           over_dimension == dimension && nc_inq_vartype(group, *coordinate, type) == NC_NOERR;
}

/* The variable from v on, before `end`, that site k of the coordinate is; `end`: none. */
static int64_t find_variable(int group, int coordinate, nc_type type, size_t k,
                             const sali_run_record *r, int64_t v, int64_t end)
{
    long long number;
    char *text = NULL;
    if (type != NC_STRING) {
        bool fits = nc_get_var1_longlong(group, coordinate, &k, &number) == NC_NOERR &&
                    number >= v && number < end;
        return fits ? number : end;
    }
    if (!r->names || nc_get_var1_string(group, coordinate, &k, &text) != NC_NOERR || !text) {
        return end;
    }
    while (v < end && strcmp(text, r->names[v]) != 0) {
        v++;
    }
    nc_free_string(1, &text);
    return v;
}

/* Those of a block of variables from `first` on, in its order; false: not all were found. */
static bool read_block(int group, const char *name, int64_t first, int64_t count,
                       sali_run_record *r)
{
    int variable, coordinate;
    nc_type type, kind;
    size_t n = 0;
    if (nc_inq_varid(group, name, &variable) != NC_NOERR) {
        return true; /* none of this block */
    }
    if (!find_sites(group, variable, &coordinate, &type, &n) || n > (size_t)count ||
        nc_inq_vartype(group, variable, &kind) != NC_NOERR || kind == NC_STRING) {
        return false;
    }
    int64_t v = first, end = first + count;
    for (size_t k = 0; k < n; v++, k++) {
        int code;
        v = find_variable(group, coordinate, type, k, r, v, end);
        if (v == end || nc_get_var1_int(group, variable, &k, &code) != NC_NOERR) {
            return false;
        }
        r->clamp_variables[r->n_clamped] = v;
        r->clamp_codes[r->n_clamped++] = code;
    }
    return true;
}

sal_status sali_netcdf_read_observed(const sali_netcdf_posterior *p, sali_run_record *r,
                                     sal_error *err)
{
    int group;
    bool all = true;
    r->clamped = nc_inq_grp_ncid(p->file, "observed_data", &group) == NC_NOERR;
    if (!r->clamped) {
        return SAL_OK;
    }
    r->clamp_variables = SALI_NEW_ARRAY(int64_t, p->V);
    r->clamp_codes = SALI_NEW_ARRAY(int32_t, p->V);
    if (!r->clamp_variables || !r->clamp_codes) {
        return sali_fail_memory(err);
    }
    for (int64_t b = 0, first = 0; all && b < p->n; first += p->variables[b++].sites) {
        char name[NC_MAX_NAME + 1];
        all = nc_inq_varname(p->id, p->variables[b].id, name) == NC_NOERR &&
              read_block(group, name, first, p->variables[b].sites, r);
    }
    r->n_clamped = all ? r->n_clamped : 0;
    return SAL_OK;
}
