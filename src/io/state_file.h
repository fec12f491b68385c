/* Lists of named arrays (core/state.h) as safetensors files. */
#ifndef SALI_STATE_FILE_H
#define SALI_STATE_FILE_H

#include <saltus/status.h>
#include "core/state.h"

/* Atomically. Returns: IO, MEMORY. */
sal_status sali_state_save(const char *path, const sali_state_item *items, int64_t n,
                           sal_error *err);

/* Fill the arrays; the file must have each of them, of its type and size, and no other.
 * Returns: those of sali_safetensors_open; DATA. On failure nothing is filled. */
sal_status sali_state_load(const char *path, const sali_state_item *items, int64_t n,
                           sal_error *err);

#endif
