/* SPDX-License-Identifier: MIT */
#include "io/hdf5_lock.h"

pthread_mutex_t sali_hdf5_mutex = PTHREAD_MUTEX_INITIALIZER;
