/* SPDX-License-Identifier: MIT */
#ifndef SALI_HDF5_LOCK_H
#define SALI_HDF5_LOCK_H

#include <pthread.h>

/* libhdf5, and libnetcdf upon it, are not thread-safe: whoever calls them holds this lock. */
extern pthread_mutex_t sali_hdf5_mutex;

#endif
