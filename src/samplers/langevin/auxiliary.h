/* SPDX-License-Identifier: MIT */
/* The step of the auxiliary-variable samplers, AVG and PAVG (Rhodes & Gutmann 2022, sec. 3.2-3.3,
 * algorithms B.2, B.3, F.2), for every kind of variable.
 *
 * For a chain with target exp(f), H = gamma M is a symmetric matrix that may approximate f's
 * curvature (0: AVG), delta = 2/eps - min(0, least eigenvalue of H), and R the symmetric root of H
 * + delta I. With xi standard normal, z = R s + xi is drawn, then s' from
 *
 *     q(s' | z, s) ~ exp((g(s) - H s + R z)'s' - delta |s'|^2 / 2)
 *
 * which is accepted with the ratio of exp(f(s')) N(z; R s', I) q(s | z, s') to exp(f(s)) N(z; R s,
 * I) q(s' | z, s). Only w = R xi, normal with covariance H + delta I, enters:
 *
 *     g(s)  - H s  + R z = g(s)  + delta s + w
 *     g(s') - H s' + R z = g(s') + delta s + w - H d,    d = s' - s
 *     log N(z; R s', I) - log N(z; R s, I) = w'd - d'(H + delta I) d / 2
 *
 * so R is never formed: xi = Q zeta for the eigenvectors Q of M and standard normal zeta, hence
 * w = Q (sqrt(gamma lambda + delta) zeta), one matrix product for all chains, whatever step size
 * and temperature each has.
 *
 * Where H is the Hessian of f everywhere, g(s) - H s is the same at all s. Then q(s' | z, s) does
 * not depend on s: it is p(s' | z), the ratio is 1, and the reverse proposal is not computed.
 *
 * With momentum, xi is kept in part from step to step, and a correction may move it: momentum.h. */
#ifndef SALI_AUXILIARY_H
#define SALI_AUXILIARY_H

#include "samplers/fixed_rows.h"
#include "samplers/kernels.h"
#include "samplers/langevin/momentum.h"
#include "samplers/langevin/preconditioner.h"
#include "samplers/sampler.h"

typedef struct sali_auxiliary_state {
    const sali_chains *chains; /* the chains of this shard */
    const sali_factorised_kernels *kernels;
    sali_preconditioner *preconditioner; /* shared by all shards; NULL: AVG */
    sali_move_rows moves;                /* scratch, for one chain at a time */
    void *gradient;                      /* real [n x N] at the present states */
    void *noise, *w, *product;           /* real [n x N] */
    void *scale;                         /* real [n x N] sqrt(gamma lambda + delta) */
    void *y;                             /* real [n x N] the term of the proposal beside the
                                            gradient */
    double *factor, *delta;              /* [n]; factor is gamma times beta */
    double *log_q, *log_q_reverse;       /* [n] forward and reverse, before log norm is
                                            subtracted */
    double *norm, *norm_reverse;         /* [n] norms of the forward and reverse log_q */
    bool flat;                           /* H = 0 */
    bool exact;                          /* H is the Hessian: q is p(s' | z) and does not depend
                                            on s */
    sali_fixed_rows fixed;
    sali_momentum momentum;
    sali_history *history; /* where steps are recorded, or NULL */
} sali_auxiliary_state;

/* Functions of the engines. `preconditioner` is what shards share, or NULL. */
sal_status sali_auxiliary_create(const sali_chains *chains, const sali_sampler_settings *settings,
                                 void *preconditioner, void **self, sal_error *err);
int64_t sali_auxiliary_state_of(void *self, sali_state_item *items);
void sali_auxiliary_refresh(void *self, sali_chains *chains);
void sali_auxiliary_step(void *self, sali_chains *chains);

/* ---- for one element type (auxiliary_real.c) */

#define SALI_AUXILIARY_KERNELS(suffix)                                                            \
    /* noise[k] scale[k], or times one factor. */                                                 \
    void sali_scale_each_##suffix(int64_t n, const void *scale, void *noise);                     \
    void sali_scale_all_##suffix(int64_t n, double factor, void *noise);                          \
    /* v[k] /= scale[k]. */                                                                       \
    void sali_divide_each_##suffix(int64_t n, const void *scale, void *v);                        \
    /* u = keep u + part noise, and the same into noise. */                                       \
    void sali_mix_##suffix(int64_t n, double keep, double part, void *noise, void *u);            \
    /* u = v - u where v is not NULL; else -u. */                                                 \
    void sali_turn_##suffix(int64_t n, const void *v, void *u);                                   \
    /* u'v - |v|^2 / 2. */                                                                        \
    double sali_turn_ratio_##suffix(int64_t n, const void *u, const void *v);                     \
    /* c = delta (to - from) + factor product + phi (g_to - g_from), where gradients that are not \
     * finite count as 0, and y = delta to + w - c; product may be NULL. */                       \
    void sali_momentum_change_##suffix(                                                           \
        int64_t n, double delta, const void *from, const void *to, const void *w, double factor,  \
        const void *product, double phi, const void *g_from, const void *g_to, void *c, void *y); \
    /* d = to - from. */                                                                          \
    void sali_subtract_##suffix(int64_t n, const void *to, const void *from, void *d);            \
    /* y = delta x + w - factor product; product may be NULL. */                                  \
    void sali_auxiliary_shift_##suffix(int64_t n, double delta, const void *x, const void *w,     \
                                       double factor, const void *product, void *y);              \
    /* w'd - d'(factor product + delta d) / 2, d = to - from; product may be NULL. */             \
    double sali_auxiliary_ratio_##suffix(int64_t n, const void *from, const void *to,             \
                                         const void *w, double delta, double factor,              \
                                         const void *product);                                    \
    /* Reals of a matrix [n x n] in panels (ad/ops/panels.h), and M or its transpose in them;     \
     * scratch: real [n x n]. */                                                                  \
    int64_t sali_auxiliary_panels_##suffix(int64_t n);                                            \
    void sali_auxiliary_pack_##suffix(int64_t n, const double *M, bool transposed, void *scratch, \
                                      void *panels);                                              \
    /* C = A B, [chains x n] times [n x n], B in panels. */                                       \
    void sali_auxiliary_product_##suffix(int64_t chains, int64_t n, const void *A, const void *B, \
                                         void *C);
SALI_AUXILIARY_KERNELS(f32)
SALI_AUXILIARY_KERNELS(f64)
#undef SALI_AUXILIARY_KERNELS

#endif
