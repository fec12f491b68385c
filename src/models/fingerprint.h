/* SPDX-License-Identifier: MIT */
/* Numbers that tell models apart: whether what goes on later is the same. FNV-1a, 64 bits. */
#ifndef SALI_FINGERPRINT_H
#define SALI_FINGERPRINT_H

#include "models/model.h"

#define SALI_HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash that follows h after so many bytes. */
uint64_t sali_hash(uint64_t h, const void *data, int64_t bytes);
uint64_t sali_hash_whole(uint64_t h, int64_t value);

/* The variables, and of a tape ops, shapes, names and all their numbers, constants among them, but
 * not what parameters are. Models inside clamped ones count whole. */
uint64_t sali_model_structure(const sal_model *model);

/* The same with the clamped variables, the parameters and the type. Of a model that is no tape only
 * its variables are known. Returns: SAL_ERR_MEMORY. */
sal_status sali_model_fingerprint(const sal_model *model, uint64_t *out, sal_error *err);

#endif
