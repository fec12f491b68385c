/* The kernels' functions of one type, which kernels.c gathers into the table. */
#ifndef SALI_KERNELS_REAL_H
#define SALI_KERNELS_REAL_H

#include "core/real.h"
#include "samplers/kernels.h"

void RN(sali_single_site_prepare)(const sal_space *space, const int32_t *codes, int64_t radius,
                                  sali_move_row *row);
int64_t RN(sali_single_site_pick)(const sal_space *space, const sali_move_row *row, double u);
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
