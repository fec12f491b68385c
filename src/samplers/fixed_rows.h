/* SPDX-License-Identifier: MIT */
/* The factorised proposal given its sums: within the blocks whose sum is fixed, q of the kernel
 * (samplers/kernels.h) conditioned on the sum, by samplers/fixed_sum.h. Nobody but the norm of a
 * row and the draw knows of it. */
#ifndef SALI_FIXED_ROWS_H
#define SALI_FIXED_ROWS_H

#include "samplers/fixed_sum.h"
#include "samplers/kernels.h"
#include "samplers/sampler.h"

typedef struct sali_fixed_rows {
    bool on; /* the space has fixed sums; else nothing else is used */
    sali_fixed_sum sum;
    double *uniforms; /* [variables of a block] */
    bool lost;        /* the sum of the block that was summed up last is lost to rounding */
} sali_fixed_rows;

/* The `obstacle` of samplers with factorised proposals (saltus/sampler.h), whatever their settings:
 * labels are fixed. */
const char *sali_fixed_rows_obstacle(const sal_model *model, const double *values,
                                     const void *data);

/* The arrays belong to `object` (core/object.h), which records a failed allocation. */
void sali_fixed_rows_create(void *object, const sal_space *space, sali_fixed_rows *fixed);

/* Replace log_norm of chain c's prepared row at `codes` [n x V] by that of the conditioned
 * proposal. A norm that is lost to rounding (fixed_sum.h) is noted as a fault. */
void sali_fixed_rows_prepare(sali_fixed_rows *fixed, sali_chains *chains, int64_t c,
                             const int32_t *codes, sali_move_row *row);

/* Draw codes_new and x_new, as the kernel's `draw` with uniforms real [V], from a row that
 * sali_fixed_rows_prepare has finished; returns log q of the draw. Where the norm of the row is NaN
 * the state stays, and NaN is returned. */
double sali_fixed_rows_draw(sali_fixed_rows *fixed, const sal_model *model, const int32_t *codes,
                            const void *uniforms, const sali_move_row *row, int32_t *codes_new,
                            void *x_new);

#endif
