/* The balancing functions that a run used, also learned ones. */
#ifndef LEARNED_H
#define LEARNED_H

#include "trace.h"

/* g at n points t, of a run with the sampler of `method`. */
sal_status balancing_function(const sal_run *run, int method, int n, const double *t, double *g,
                              sal_error *err);

#endif

/* SPDX-License-Identifier: MIT */
