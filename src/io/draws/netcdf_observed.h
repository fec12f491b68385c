/* The variables that a run held fixed. Whoever calls this holds the lock (netcdf_lock.h). */
#ifndef SALI_NETCDF_OBSERVED_H
#define SALI_NETCDF_OBSERVED_H

#include "io/draws/netcdf_posterior.h"
#include "io/draws/run_record.h"

/* Set clamped and, if the group observed_data tells of all of them, n_clamped and the two lists;
 * names are there already. Returns: MEMORY. */
sal_status sali_netcdf_read_observed(const sali_netcdf_posterior *p, sali_run_record *record,
                                     sal_error *err);

#endif
