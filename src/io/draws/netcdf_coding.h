/* SPDX-License-Identifier: MIT */
/* How the numbers of a netCDF variable are decoded, by its attributes. Values are packed by
 * scale_factor, add_offset and _Unsigned, and some numbers mean "missing"; variables of this
 * library also have levels.
 * Source: NetCDF Users Guide, appendix A; CF conventions 1.10, sections 2.5.1 and 8.1. */
#ifndef SALI_NETCDF_CODING_H
#define SALI_NETCDF_CODING_H

#include <stdbool.h>

#include <saltus/status.h>
#include "core/space.h"

#define SALI_NETCDF_MOST_MISSING 16

/* Zero is no coding. */
typedef struct sali_netcdf_coding {
    /* A number x of the file is first wrapped, then compared with the missing values, then
     * scaled. */
    double modulus;   /* 2^bits where _Unsigned differs from the type; else 0 */
    bool is_unsigned; /* true: wrapped to 0 .. modulus - 1; false: to -modulus / 2 .. modulus / 2 -
                         1 */
    double missing[SALI_NETCDF_MOST_MISSING];
    int n_missing;
    bool packed; /* there is a scale or an offset */
    double scale, offset;

    bool own;       /* the variable has an attribute `kind`: it is from a run of this library */
    double *levels; /* [n_levels] values of the codes 0, 1, ..; NULL: not in the file */
    int64_t n_levels;
    bool coded; /* numbers of the file are codes: indices of levels */
} sali_netcdf_coding;

/* Load the coding of a variable; `name` is the file's, for messages. `own`: the file is as this
 * library wrote it, perhaps an earlier version. Call sali_netcdf_coding_free in any case.
 * Returns: DATA for attributes that cannot be used to decode; MEMORY. */
sal_status sali_netcdf_coding_load(const char *name, int group, int variable, int type, bool own,
                                   sali_netcdf_coding *out, sal_error *err);
void sali_netcdf_coding_free(sali_netcdf_coding *coding);

/* Replace n numbers of the file by their values: NaN if missing, infinity if the number should be a
 * code of the levels and is none. */
void sali_netcdf_decode(const sali_netcdf_coding *coding, int64_t n, double *x);

/* Whether values of the variable have codes other than themselves. */
bool sali_netcdf_has_codes(const sali_netcdf_coding *coding);

/* The code of a value of a variable that has codes; -1: there is none. */
int64_t sali_netcdf_code(const sali_netcdf_coding *coding, double value);

/* ---- how this library writes blocks */

/* How the values of a block are stored: as codes, with scale and offset unless these are 1 and 0;
 * or, if levels are not equally spaced, as the values themselves. */
typedef struct sali_netcdf_storage {
    int type; /* NC_UBYTE, NC_INT or NC_DOUBLE */
    double scale, offset;
    const double *levels; /* [states] of NC_DOUBLE: the value of each code; else NULL */
    int32_t states;
} sali_netcdf_storage;

sali_netcdf_storage sali_netcdf_storage_of(const sali_stretch *stretch);

#endif
