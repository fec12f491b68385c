/* SPDX-License-Identifier: MIT */
/* Lists of named arrays (core/state.h) as safetensors files. */
#ifndef SALI_STATE_FILE_H
#define SALI_STATE_FILE_H

#include <saltus/status.h>
#include "core/state.h"

/* The bytes of a safetensors file with all items, to be freed with free. Returns: MEMORY. */
sal_status sali_state_format(const sali_state_item *items, int64_t n, char **bytes, int64_t *size,
                             sal_error *err);

/* Read all arrays of a safetensors file, from memory or at a path, into an empty state. Returns:
 * DATA, also for more arrays than any state has; those of sali_file_read; MEMORY. */
struct sal_run_state;
sal_status sali_state_parse(const char *name, const void *bytes, int64_t size,
                            struct sal_run_state *state, sal_error *err);
sal_status sali_state_read(const char *path, struct sal_run_state *state, sal_error *err);

/* Write a safetensors file with all items, atomically. Returns: IO, MEMORY. */
sal_status sali_state_save(const char *path, const sali_state_item *items, int64_t n,
                           sal_error *err);

#endif
