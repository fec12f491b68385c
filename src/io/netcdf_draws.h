/* The draws in an open netCDF file; whoever calls this holds the lock (io/netcdf_lock.h). */
#ifndef SALI_NETCDF_DRAWS_H
#define SALI_NETCDF_DRAWS_H

#include <stddef.h>
#include <stdint.h>

#include <saltus/status.h>
#include "io/netcdf.h"

/* A variable of a group of draws. */
typedef struct sali_posterior_variable {
    int id;
    int dimensions;
    size_t sizes[SALI_NETCDF_MOST_DIMENSIONS];
    int64_t sites; /* elements of a draw */
} sali_posterior_variable;

typedef struct sali_posterior {
    const char *name; /* of the file, for messages */
    int64_t size;     /* its bytes */
    int id;           /* the group */
    int64_t chains, draws, V;
    sali_posterior_variable *variables; /* to be given to sali_free */
    int64_t n, room;
} sali_posterior;

/* The numeric variables over chain, draw and others of the group, whose numbers of elements fit the
 * file's size. Returns: DATA, also when there are none; MEMORY. */
sal_status sali_posterior_find(sali_posterior *p, sal_error *err);

#endif
