/* SPDX-License-Identifier: MIT */
/* One stretch of the factorised kernel whose variables are not of two levels: its part of the
 * functions of sali_factorised_kernels (kernels.h). `norm` as in flips.h. */
#ifndef SALI_FACTORISED_LEVELS_H
#define SALI_FACTORISED_LEVELS_H

#include "samplers/kernels.h"

#define SALI_LEVELS_DECLARE(type)                                                         \
    double sali_levels_prepare_##type(const sali_stretch *s, const int32_t *codes,        \
                                      const sali_factorised *q, const sali_move_row *row, \
                                      double *norm);                                      \
    double sali_levels_normalise_##type(const sali_stretch *s, const sali_move_row *row,  \
                                        double *norm);                                    \
    double sali_levels_draw_##type(const sali_stretch *s, const int32_t *codes,           \
                                   const void *uniforms, const sali_move_row *row,        \
                                   int32_t *codes_new, void *x_new);                      \
    double sali_levels_weigh_##type(const sali_stretch *s, const int32_t *codes,          \
                                    const int32_t *to, const sali_move_row *row);
SALI_LEVELS_DECLARE(f32)
SALI_LEVELS_DECLARE(f64)
#undef SALI_LEVELS_DECLARE

#endif
