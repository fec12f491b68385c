/* The draws of an open netCDF file, for the readers of such files. Whoever calls these holds the
 * lock (netcdf_lock.h). */
#ifndef SALI_NETCDF_POSTERIOR_H
#define SALI_NETCDF_POSTERIOR_H

#include <stddef.h>

#include "io/draws/netcdf.h"

/* A variable of a group of draws. */
typedef struct sali_netcdf_draws {
    int id;
    int dimensions;
    size_t sizes[SALI_NETCDF_MOST_DIMENSIONS];
    int64_t sites; /* elements of a draw */
} sali_netcdf_draws;

typedef struct sali_netcdf_posterior {
    const char *name; /* of the file, for messages */
    int64_t size;     /* its bytes */
    int file, id;     /* -1: not open; the group */
    int64_t chains, draws, V;
    sali_netcdf_draws *variables;
    int64_t n, room;
} sali_netcdf_posterior;

/* The numeric variables over chain, draw and others of the group `id`, whose numbers of elements
 * fit the file's size. Returns: DATA, also when there are none; MEMORY. */
sal_status sali_netcdf_find_draws(sali_netcdf_posterior *p, sal_error *err);

/* Open a file in memory and find its draws; `name`, `size` and file = -1 are set. DATA, MEMORY.
 * Close in any case. */
sal_status sali_netcdf_open_draws(sali_netcdf_posterior *p, const char *data, sal_error *err);
void sali_netcdf_close_draws(sali_netcdf_posterior *p);

/* Draws as an array (chains, draws, V). */
sal_status sali_netcdf_read_draws(const sali_netcdf_posterior *p, sali_content *out,
                                  sal_error *err);

#endif
