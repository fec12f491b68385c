/* SPDX-License-Identifier: MIT */
/* Lists of named arrays (core/state.h) as safetensors files. */
#ifndef SALI_STATE_FILE_H
#define SALI_STATE_FILE_H

#include <saltus/status.h>
#include "core/state.h"

/* In memory, as a safetensors file has them: to be given to free. Returns: MEMORY. */
sal_status sali_state_format(const sali_state_item *items, int64_t n, char **bytes, int64_t *size,
                             sal_error *err);

/* All arrays among such bytes into a run's state. Returns: DATA, also for more arrays than any run
 * has; MEMORY. */
struct sal_run_state;
sal_status sali_state_parse(const char *name, const void *bytes, int64_t size,
                            struct sal_run_state *state, sal_error *err);

/* Atomically. Returns: IO, MEMORY. */
sal_status sali_state_save(const char *path, const sali_state_item *items, int64_t n,
                           sal_error *err);

typedef struct sali_state_file {
    const char *prefix; /* of the names of what is fetched; "" at first */
    struct sali_safetensors *arrays;
    int64_t fetched;
} sali_state_file;

/* Returns: those of sali_safetensors_open. */
sal_status sali_state_open(const char *path, sali_state_file *out, sal_error *err);
void sali_state_close(sali_state_file *file);

/* A sali_state_fetch with a sali_state_file for context. Items are fetched once each. */
sal_status sali_state_fetch_array(void *file, const sali_state_item *item, sal_error *err);

/* Arrays whose names begin so count as fetched. */
void sali_state_skip(sali_state_file *file, const char *prefix);

/* SAL_ERR_DATA if the file has arrays that were not fetched. Messages do not name the file. */
sal_status sali_state_finish(const sali_state_file *file, sal_error *err);

#endif
