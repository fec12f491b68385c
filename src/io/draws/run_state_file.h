/* The states of runs in files. */
#ifndef SALI_RUN_STATE_FILE_H
#define SALI_RUN_STATE_FILE_H

#include "core/run_state.h"

/* Fill an empty state from a netCDF file, whose draws it then keeps open. Returns: NOT_FOUND; DATA;
 * UNSUPPORTED without libnetcdf; MEMORY. */
sal_status sali_netcdf_state(const char *path, sal_run_state *state, sal_error *err);

#endif
