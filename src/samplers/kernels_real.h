/* SPDX-License-Identifier: MIT */
/* The kernels' functions of one type, which kernels.c gathers into the table. */
#ifndef SALI_KERNELS_REAL_H
#define SALI_KERNELS_REAL_H

#include "core/real.h"
#include <math.h>

#include "samplers/kernels.h"

/* A log-weight less the largest. So far below it counts as -inf: the weight would be a denormal
 * number, which adds nothing to the sum of weights, and at which processors are ten times slower.
 */
static inline real sali_below_largest(real log_weight, real largest)
{
    const real negligible = SALI_REAL_BITS == 32 ? -87 : -708;
    real below = log_weight - largest;
    return below < negligible ? -(real)INFINITY : below;
}

void RN(sali_log_sqrt)(const void *context, int64_t n, const void *log_t, void *log_g);
void RN(sali_log_barker)(const void *context, int64_t n, const void *log_t, void *log_g);
void RN(sali_log_min)(const void *context, int64_t n, const void *log_t, void *log_g);
void RN(sali_log_max)(const void *context, int64_t n, const void *log_t, void *log_g);
void RN(sali_single_site_exclude)(const sal_space *space, const int32_t *codes, int64_t radius,
                                  void *log_t);
void RN(sali_single_site_combine)(int64_t n, int64_t width, const int32_t *slots, const void *log_t,
                                  void *out);
void RN(sali_single_site_prepare)(int64_t n, sali_move_row *row);
int64_t RN(sali_single_site_pick)(int64_t n, const sali_move_row *row, double u);
double RN(sali_single_site_remove)(int64_t moves, sali_move_row *row, int64_t first, int64_t count);
void RN(sali_factorised_prepare)(const sal_space *space, const int32_t *codes, double alpha,
                                 const void *gradient, double beta, const void *y, double b,
                                 sali_move_row *row, void *buffer);
void RN(sali_factorised_prepare_weighted)(const sal_space *space, const int32_t *codes,
                                          double alpha, const void *gradient, double beta,
                                          const void *y, double b, const void *w,
                                          sali_move_row *row, void *buffer);
double RN(sali_factorised_draw)(const sal_space *space, const int32_t *codes, const void *uniforms,
                                const sali_move_row *row, int32_t *codes_new, void *x_new);
double RN(sali_factorised_log_q)(const sal_space *space, const int32_t *codes, const int32_t *to,
                                 const sali_move_row *row);

#endif
