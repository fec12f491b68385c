/* SPDX-License-Identifier: MIT */
/* Hashes of models, to check that a resumed run uses the same model. FNV-1a, 64 bits. */
#ifndef SALI_FINGERPRINT_H
#define SALI_FINGERPRINT_H

#include "models/model.h"

#define SALI_HASH_START UINT64_C(0xcbf29ce484222325)

/* h extended by `bytes` bytes of data; sali_hash_whole: by the 8 bytes of a number. */
uint64_t sali_hash(uint64_t h, const void *data, int64_t bytes);
uint64_t sali_hash_whole(uint64_t h, int64_t value);

/* Hash of the variables and, for a tape, of the nodes: ops, shapes, names and numbers, with
 * constants but without the values of parameters. For a clamped model: of its inner model. */
uint64_t sali_model_structure(const sal_model *model);

/* sali_model_structure extended by the type, the fixed variables, and the values of parameters.
 * Models that are no tapes have the same fingerprint if their variables and types agree. Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_model_fingerprint(const sal_model *model, uint64_t *out, sal_error *err);

#endif
