/* SPDX-License-Identifier: MIT */
/* Weights of Langevin-like Monte Carlo in discrete spaces: Sun, Dai, Sutton, Schuurmans & Dai 2023.
 *
 * Every variable moves independently, like a jump process that runs for the time tau and jumps from
 * state v to w at the rate g(t_w), where t_w = pi(w) / pi(v) with the other variables fixed. The
 * equilibrium of this process is nu, with nu_w proportional to t_w. After the time tau the process
 * is at w with a probability of about
 *
 *     p_w = nu_w (1 - exp(-r_w)),   r_w = tau g(t_w) / nu_w,
 *
 * which is exact with two states; one step of Euler's method gives nu_w min(r_w, 1) instead.
 * Neither is ever above nu_w. Relative to staying, with d = log t, A = 1 - exp(-r) and B = exp(-r),
 * or A = min(r, 1) and B = 1 - A,
 *
 *     log(p_w / p_v) = d_w + log A_w - log(1 + sum_u exp(d_u) B_u). */
#ifndef SALI_DLMC_H
#define SALI_DLMC_H

#include "core/space.h"
#include "samplers/balance.h"

typedef struct sali_dlmc_rates {
    double log_tau;
    bool euler;
    sali_balance balance;
    void *weight, *rate;  /* real [S] scratch */
    void *largest, *stay; /* real [V] scratch */
} sali_dlmc_rates;

/* Replace d [S], which is -inf for staying and for slots that are no move, by log-weights for the
 * factorised kernel. NaN stays NaN. */
void sali_dlmc_weights_f32(const sal_space *space, const sali_dlmc_rates *rates,
                           const int32_t *codes, float *d);
void sali_dlmc_weights_f64(const sal_space *space, const sali_dlmc_rates *rates,
                           const int32_t *codes, double *d);

#endif
