/* SPDX-License-Identifier: MIT */
/* Independent variables given by the log-probabilities of their states, [R] with variable 0 first:
 * the distribution p_0 from which annealing starts. A count without a cap has two entries, log(1 -
 * t) and log t of the geometric distribution P(k) = (1 - t) t^k. */
#ifndef SALI_BASE_H
#define SALI_BASE_H

#include "core/rng.h"
#include "models/model.h"

/* A copy in which every variable's probabilities sum to 1 exactly; uniform for NULL. The caller
 * frees it. Returns: SAL_ERR_ARGUMENT naming the variable whose entries are not finite or do not
 * sum to 1 within 1e-6; SAL_ERR_UNSUPPORTED (NULL for a count without a cap); SAL_ERR_MEMORY. */
sal_status sali_base_create(const sal_space *space, const double *log_base, double **out,
                            sal_error *err);

/* log p_0 of codes [V]. */
double sali_base_value(const sal_space *space, const double *log_base, const int32_t *codes);

/* Codes [V] drawn from p_0 by the uniforms of a stream; `uniform` [V] is scratch. Counts without a
 * cap end at SAL_COUNT_MOST. */
void sali_base_draw(const sal_space *space, const double *log_base, const sali_stream *stream,
                    double *uniform, int32_t *codes);

/* Set kinks [R] to what log p_0 has beside its linear part, which the record below of bounded
 * variables has as a linear function of the state: 0 but for ordinal variables, and counts, of more
 * than two levels. */
void sali_base_kinks(const sal_space *space, const double *log_base, double *kinks);

/* Record log p_0 on a tape over the space. Off the lattice log p_0 is linear in one-hot and
 * two-level variables. In ordinal variables of more levels it is linear between two levels, and its
 * derivative at a level is the mean of the slopes on both sides. */
sal_expr sali_base_record(sal_tape *tape, const sal_space *space, const double *log_base);

#endif
