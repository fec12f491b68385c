/* SPDX-License-Identifier: MIT */
#ifndef SALI_HDF5_H
#define SALI_HDF5_H

#include "io/scan.h"
#include "models/content.h"

/* Read a data set of an HDF5 file, the one that the path names. Of MATLAB's files of version 7.3
 * (`matlab`) the dimensions are in MATLAB's order. Fails with UNSUPPORTED without libhdf5. */
void sali_hdf5_parse(sali_scan *scan, bool matlab, sali_content *out);

#endif
