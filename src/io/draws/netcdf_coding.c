/* SPDX-License-Identifier: MIT */
#include "io/draws/netcdf_coding.h"

#include <float.h>
#include <math.h>
#include <netcdf.h>
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/draws/netcdf_posterior.h"

#define MOST_LEVELS ((size_t)1 << 24)

typedef struct loader {
    const char *file, *variable; /* names, for messages */
    int group, id, type;
    sal_error *err;
} loader;

static sal_status fail_attribute(const loader *l, const char *attribute, const char *expected)
{
    return sali_fail(l->err, SAL_ERR_DATA, "%s: the attribute %s of its variable '%s' is not %s",
                     l->file, attribute, l->variable, expected);
}

/* ---- attributes of packing */

/* Read the numbers of an attribute, at most `most`; *n = 0 if there is no such attribute.
 * SAL_ERR_DATA says what was `expected`. */
static sal_status get_numbers(const loader *l, const char *attribute, size_t most,
                              const char *expected, double *out, size_t *n)
{
    nc_type type;
    *n = 0;
    if (nc_inq_att(l->group, l->id, attribute, &type, n) != NC_NOERR) {
        *n = 0;
        return SAL_OK;
    }
    return *n >= 1 && *n <= most && nc_get_att_double(l->group, l->id, attribute, out) == NC_NOERR
               ? SAL_OK
               : fail_attribute(l, attribute, expected);
}

/* Load scale_factor and add_offset, 1 and 0 if absent. */
static sal_status load_scale(const loader *l, sali_netcdf_coding *c)
{
    static const char expected[] = "one finite number";
    size_t n, m;
    c->scale = 1;
    c->offset = 0;
    sal_status status = get_numbers(l, "scale_factor", 1, expected, &c->scale, &n);
    status = status ? status : get_numbers(l, "add_offset", 1, expected, &c->offset, &m);
    if (status == SAL_OK && (!isfinite(c->scale) || c->scale == 0)) {
        status = fail_attribute(l, "scale_factor", "a finite number other than 0");
    }
    if (status == SAL_OK && !isfinite(c->offset)) {
        status = fail_attribute(l, "add_offset", expected);
    }
    c->packed = status == SAL_OK && (n > 0 || m > 0);
    return status;
}

/* The number of bits of an integer type; 0 for other types. */
static int bits_of(int type)
{
    return type == NC_BYTE || type == NC_UBYTE     ? 8
           : type == NC_SHORT || type == NC_USHORT ? 16
           : type == NC_INT || type == NC_UINT     ? 32
           : type == NC_INT64 || type == NC_UINT64 ? 64
                                                   : 0;
}

static bool is_unsigned(int type)
{
    return type == NC_UBYTE || type == NC_USHORT || type == NC_UINT || type == NC_UINT64;
}

/* Load the attribute _Unsigned, which turns an integer type into its unsigned or signed
 * counterpart. */
static sal_status load_unsigned(const loader *l, sali_netcdf_coding *c)
{
    static const char attribute[] = "_Unsigned";
    int there;
    sali_memory memory = { 0 };
    if (nc_inq_attid(l->group, l->id, attribute, &there) != NC_NOERR || bits_of(l->type) == 0) {
        return SAL_OK;
    }
    const char *text = sali_netcdf_text(&memory, l->group, l->id, attribute);
    sal_status status = sali_memory_status(&memory, l->err);
    bool yes = text && strcasecmp(text, "true") == 0;
    if (status == SAL_OK && !yes && !(text && strcasecmp(text, "false") == 0)) {
        status = fail_attribute(l, attribute, "\"true\" or \"false\"");
    }
    c->is_unsigned = yes;
    c->modulus = yes == is_unsigned(l->type) ? 0 : ldexp(1, bits_of(l->type));
    sali_memory_free(&memory);
    return status;
}

/* The value with which libnetcdf fills elements that nobody wrote; NaN for bytes, where any value
 * is valid. */
static double default_fill(int type)
{
    switch (type) {
    case NC_SHORT:
        return NC_FILL_SHORT;
    case NC_USHORT:
        return NC_FILL_USHORT;
    case NC_INT:
        return NC_FILL_INT;
    case NC_UINT:
        return NC_FILL_UINT;
    case NC_INT64:
        return (double)NC_FILL_INT64;
    case NC_UINT64:
        return (double)NC_FILL_UINT64;
    case NC_FLOAT:
        return (double)NC_FILL_FLOAT;
    case NC_DOUBLE:
        return NC_FILL_DOUBLE;
    default:
        return NAN;
    }
}

static double wrap_value(const sali_netcdf_coding *c, double x)
{
    return c->is_unsigned ? (x < 0 ? x + c->modulus : x)
                          : (x >= c->modulus / 2 ? x - c->modulus : x);
}

/* Load the values that mean "missing": _FillValue or the default of the type, and missing_value. */
static sal_status load_missing(const loader *l, sali_netcdf_coding *c)
{
    int no_fill = 0;
    size_t fills, others;
    sal_status status = get_numbers(l, "_FillValue", 1, "one number", c->missing, &fills);
    if (status == SAL_OK && fills == 0 &&
        nc_inq_var_fill(l->group, l->id, &no_fill, NULL) == NC_NOERR && !no_fill &&
        !isnan(default_fill(l->type))) {
        c->missing[0] = default_fill(l->type);
        fills = 1;
    }
    status = status ? status
                    : get_numbers(l, "missing_value", SALI_NETCDF_MOST_MISSING - 1,
                                  "one number, or up to 15", c->missing + fills, &others);
    c->n_missing = status == SAL_OK ? (int)(fills + others) : 0;
    for (int k = 0; k < c->n_missing && c->modulus > 0; k++) {
        c->missing[k] = wrap_value(c, c->missing[k]);
    }
    return status;
}

/* ---- attributes of this library */

static bool is_ascending(int64_t n, const double *levels)
{
    bool good = isfinite(levels[0]);
    for (int64_t k = 1; good && k < n; k++) {
        good = isfinite(levels[k]) && levels[k] > levels[k - 1];
    }
    return good;
}

/* Whether k scale + offset is level k, up to rounding, for all n levels. */
static bool is_packing(int64_t n, const double *levels, double scale, double offset)
{
    const double bound = 4 * DBL_EPSILON * fmax(fabs(levels[0]), fabs(levels[n - 1]));
    bool equal = true;
    for (int64_t k = 0; equal && k < n; k++) {
        equal = fabs((double)k * scale + offset - levels[k]) <= bound;
    }
    return equal;
}

/* Load the levels: those of spins are known, those of ordinal variables are an attribute. */
static sal_status load_levels(const loader *l, const char *kind, sali_netcdf_coding *c)
{
    static const char attribute[] = "levels", expected[] = "a rising list of numbers";
    const bool spin = strcmp(kind, "spin") == 0;
    nc_type type = NC_DOUBLE;
    size_t n = 2;
    if (!spin && (strcmp(kind, "ordinal") != 0 ||
                  nc_inq_att(l->group, l->id, attribute, &type, &n) != NC_NOERR)) {
        return SAL_OK;
    }
    if (type != NC_DOUBLE || n < 1 || n > MOST_LEVELS) {
        return fail_attribute(l, attribute, expected);
    }
    c->levels = SALI_NEW_ARRAY(double, (int64_t)n);
    if (!c->levels) {
        return sali_fail_memory(l->err);
    }
    c->n_levels = (int64_t)n;
    if (spin) {
        c->levels[0] = -1;
        c->levels[1] = 1;
    } else if (nc_get_att_double(l->group, l->id, attribute, c->levels) != NC_NOERR ||
               !is_ascending(c->n_levels, c->levels)) {
        return fail_attribute(l, attribute, expected);
    }
    return SAL_OK;
}

/* Load the attribute `kind`, which variables of runs have. Integers without a scale are codes in
 * files of earlier versions (`own`), and values in files that another program made from later
 * ones. */
static sal_status load_kind(const loader *l, bool own, sali_netcdf_coding *c)
{
    sali_memory memory = { 0 };
    const char *kind = sali_netcdf_text(&memory, l->group, l->id, "kind");
    sal_status status = sali_memory_status(&memory, l->err);
    if (status == SAL_OK && kind) {
        c->own = true;
        status = load_levels(l, kind, c);
        c->coded = status == SAL_OK && c->levels && bits_of(l->type) > 0 &&
                   (c->packed ? is_packing(c->n_levels, c->levels, c->scale, c->offset) : own);
    }
    sali_memory_free(&memory);
    return status;
}

sal_status sali_netcdf_coding_load(const char *name, int group, int variable, int type, bool own,
                                   sali_netcdf_coding *out, sal_error *err)
{
    char text[NC_MAX_NAME + 1] = "";
    const loader l = { name, text, group, variable, type, err };
    *out = (sali_netcdf_coding){ 0 };
    nc_inq_varname(group, variable, text);
    sal_status status = load_scale(&l, out);
    status = status ? status : load_unsigned(&l, out);
    status = status ? status : load_missing(&l, out);
    return status ? status : load_kind(&l, own, out);
}

void sali_netcdf_coding_free(sali_netcdf_coding *c)
{
    sali_free(c->levels);
    *c = (sali_netcdf_coding){ 0 };
}

/* ---- numbers, values and codes */

/* The index of the level that equals x up to the rounding of a float or a packing; -1: none. */
static int64_t find_level(const sali_netcdf_coding *c, double x)
{
    const double *levels = c->levels;
    int64_t low = 0, high = c->n_levels - 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(levels[middle] <= x ? &low : &high) = middle;
    }
    const int64_t near = fabs(x - levels[low]) <= fabs(x - levels[high]) ? low : high;
    const double bound = 1e-6 * (levels[high] - levels[low]) +
                         4 * DBL_EPSILON * fmax(fabs(levels[0]), fabs(levels[c->n_levels - 1]));
    return fabs(x - levels[near]) <= bound ? near : -1;
}

/* The value that a number x of the file stands for; NaN if missing, infinity if no code. */
static double value_of(const sali_netcdf_coding *c, double x)
{
    x = c->modulus > 0 ? wrap_value(c, x) : x;
    for (int k = 0; k < c->n_missing; k++) {
        if (x == c->missing[k]) {
            return NAN;
        }
    }
    if (c->coded) {
        return isnan(x)                                             ? NAN
               : x >= 0 && x < (double)c->n_levels && x == floor(x) ? c->levels[(int64_t)x]
                                                                    : INFINITY;
    }
    x = c->packed ? x * c->scale + c->offset : x;
    const int64_t level = c->levels && isfinite(x) ? find_level(c, x) : -1;
    return level >= 0 ? c->levels[level] : x;
}

void sali_netcdf_decode(const sali_netcdf_coding *c, int64_t n, double *x)
{
    for (int64_t k = 0; k < n; k++) {
        x[k] = value_of(c, x[k]);
    }
}

bool sali_netcdf_has_codes(const sali_netcdf_coding *c)
{
    return c->own && (c->levels || c->packed);
}

int64_t sali_netcdf_code(const sali_netcdf_coding *c, double value)
{
    if (c->levels) {
        const int64_t level = find_level(c, value);
        return level >= 0 && c->levels[level] == value ? level : -1;
    }
    const double code = round((value - c->offset) / c->scale);
    return code >= 0 && code <= INT32_MAX ? (int64_t)code : -1;
}

/* ---- writing */

sali_netcdf_storage sali_netcdf_storage_of(const sali_stretch *s)
{
    const bool byte = s->states > 0 && s->states <= 256;
    sali_netcdf_storage plain = { .type = byte ? NC_UBYTE : NC_INT, .scale = 1 };
    if (!s->levels) {
        return plain;
    }
    const double first = s->levels[0], last = s->levels[s->states - 1];
    const double step = s->states > 1 ? (last - first) / (s->states - 1) : 1;
    if (!is_packing(s->states, s->levels, step, first)) {
        return (sali_netcdf_storage){
            .type = NC_DOUBLE, .scale = 1, .levels = s->levels, .states = s->states
        };
    }
    plain.scale = step;
    plain.offset = first;
    return plain;
}
