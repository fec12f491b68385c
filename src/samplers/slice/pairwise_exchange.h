/* SPDX-License-Identifier: MIT */
/* Balanced exchanges on pairwise models of two-level variables (models/structure/couplings.h),
 * O(degree + log V) each: an exchange changes the differences of two variables and of their
 * neighbours only, and two sum trees hold the weights of going up and of going down. */
#ifndef SALI_PAIRWISE_EXCHANGE_H
#define SALI_PAIRWISE_EXCHANGE_H

#include "models/structure/couplings.h"
#include "samplers/sampler.h"

typedef struct sali_pairwise_exchange sali_pairwise_exchange;

/* *out is NULL, with SAL_OK, if the model is not pairwise, or has more than one block. All memory
 * belongs to `object` (core/object.h), which records a failed allocation. */
sal_status sali_pairwise_exchange_open(void *object, const sali_chains *chains,
                                       sali_pairwise_exchange **out, sal_error *err);

/* Start from the chains' states and temperatures; sets f. Returns false, and does nothing, if the
 * parameters have changed so that the model is not pairwise any more, or if weights would leave the
 * range of double. */
bool sali_pairwise_exchange_refresh(sali_pairwise_exchange *e, sali_chains *chains);

/* A step of every chain; step counters and sums of `chains` are updated. */
void sali_pairwise_exchange_step(sali_pairwise_exchange *e, sali_chains *chains);

/* log q(present state -> to) of an exchange, [n]. */
void sali_pairwise_exchange_log_q(const sali_pairwise_exchange *e, const sali_chains *chains,
                                  const int32_t *to, double *log_q);

#endif
