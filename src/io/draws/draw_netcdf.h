/* SPDX-License-Identifier: MIT */
/* The draws of a run as netCDF-4 in ArviZ's layout.
 * Source: the InferenceData schema specification of ArviZ. */
#ifndef SALI_DRAW_NETCDF_H
#define SALI_DRAW_NETCDF_H

#include <jansson.h>

#include <saltus/sample.h>
#include "core/saved/run_state.h"

/* The variable of a file that holds the state of its run: bytes of a safetensors file. */
#define SALI_DRAW_STATE "saltus_state"

/* What to write of a run: its draws, with the first `figures` of log_prob, acceptance_rate, jump
 * and step_size. */
typedef struct sali_draw_source {
    sali_replay replay;
    bool warmup; /* there are groups for draws of warm-up */
    int64_t figures;
    json_t *configuration; /* the options, as they were given */
    void *state;           /* NULL: none */
    int64_t state_size;
} sali_draw_source;

/* SAL_OK if `path` can be written. Returns: UNSUPPORTED for another kind of file, or without
 * libnetcdf. */
sal_status sali_draw_netcdf_check(const char *path, sal_error *err);

/* Write the whole file; PATH is replaced at once. Memory does not grow with the draws. Returns: IO;
 * MEMORY; errors of reading the draws. */
sal_status sali_draw_netcdf_write(const char *path, const sal_run *run,
                                  const sali_draw_source *source, sal_error *err);

/* Fill an empty state from a file of draws, which the state then keeps open for its draws. Returns:
 * NOT_FOUND; DATA; UNSUPPORTED without libnetcdf; MEMORY. */
sal_status sali_draw_netcdf_state(const char *path, sal_run_state *state, sal_error *err);

#endif
