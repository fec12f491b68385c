/* SPDX-License-Identifier: MIT */
/* libnetcdf and libhdf5 are not safe for threads: whoever calls them holds this. */
#ifndef SALI_NETCDF_LOCK_H
#define SALI_NETCDF_LOCK_H

#include <pthread.h>

extern pthread_mutex_t sali_netcdf_mutex;

#endif
