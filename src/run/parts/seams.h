/* SPDX-License-Identifier: MIT */
#ifndef SALI_SEAMS_H
#define SALI_SEAMS_H

#include "run/part.h"

/* Whether some ladder of the run is cut into parts that shards have. */
bool sali_run_has_seams(const sal_run *run);

#endif
