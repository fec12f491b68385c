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

/* What is written of a run: draws of which the first `figures` of log_prob, acceptance_rate, jump
 * and step_size are known. */
typedef struct sali_draw_source {
    sali_replay replay;
    bool warmup; /* there are groups for draws of warm-up */
    int64_t figures;
    json_t *configuration; /* as it was given */
    void *state;           /* NULL: none */
    int64_t state_size;
} sali_draw_source;

/* Whether such a file can be written. Returns: UNSUPPORTED for another kind of file, or without
 * libnetcdf. */
sal_status sali_draw_netcdf_check(const char *path, sal_error *err);

/* Write all of it; PATH is replaced at once. Memory does not grow with the draws. Returns: IO;
 * MEMORY; what reading draws does. */
sal_status sali_draw_netcdf_write(const char *path, const sal_run *run,
                                  const sali_draw_source *source, sal_error *err);

/* Fill an empty state from such a file, whose draws it then keeps open. Returns: NOT_FOUND; DATA;
 * UNSUPPORTED without libnetcdf; MEMORY. */
sal_status sali_draw_netcdf_state(const char *path, sal_run_state *state, sal_error *err);

#endif
