/* SPDX-License-Identifier: MIT */
/* Momentum for the auxiliary-variable samplers, AVG and PAVG (auxiliary.h, whose symbols these
 * are): the auxiliary variable is kept from step to step, and corrected by the gradient. The idea
 * is that of Zhou & Tan 2025 (arXiv 2507.09807, 2507.21982); the formulas below were derived for
 * z = R s + u here, and theirs differ.
 *
 * Each chain has u, standard normal whatever the state. With e(s) = g(s) - H s and
 *
 *     h(s) = -R s - phi R^-1 e(s)
 *
 * a step is three kernels, each of which leaves pi(s) N(u) invariant:
 *
 *     (i)   u <- a u + sqrt(1 - a^2) xi,  xi standard normal
 *     (ii)  s' from q(. | z, s), z = R s + u;  u' = u + h(s') - h(s), z' = R s' + u';
 *           accepted with the ratio of pi(s') N(u') q(s | z', s') to pi(s) N(u) q(s' | z, s)
 *     (iii) u <- -u, accepted or not.
 *
 * u - h(s) stays the same in (ii), so that (s, u) -> (s', u') undoes itself and preserves volume:
 * detailed balance holds on the finite set of the (s, u) that share it. (iii)(ii) has generalised
 * detailed balance, pi(s) N(u) K(s, u -> s', u') = pi(s') N(u') K(s', -u' -> s, -u), and the whole
 * step is irreversible unless a = 0. With a = 0 and phi = 0 it is the step of AVG or PAVG: z' = z.
 *
 * phi has no unit. Where f is smooth on the scale of a step, phi = 1/2 takes away the ratio's terms
 * of first order in the change of e. e is 0, and phi without effect, where H is the Hessian.
 *
 * R is never formed: with the eigenvectors Q of M, zeta = Q'u is kept. With w = R u and
 * c = (H + delta I) d + phi (e(s') - e(s)),
 *
 *     R u' = w - c,  g(s') - H s' + R z' = g(s') + delta s' + w - c
 *     v = (gamma lambda + delta)^-1/2 Q'c,  log N(u') - log N(u) = zeta . v - v . v / 2
 *
 * and zeta - v is the new zeta; v = (gamma lambda + delta)^1/2 Q'd if phi e does nothing. So
 * momentum costs PAVG one more matrix product, Q'c or Q'd, and AVG none. Where H is the Hessian,
 * PAVG needs no further product either: c = g(s') - g(s) + delta d then, and as N(u') is not
 * needed, w is kept in place of zeta, w <- a w + sqrt(1 - a^2) R xi, until zeta is wanted.
 *
 * u stays valid when step sizes, temperatures, M, parameters or the state are changed from outside,
 * because u is standard normal under all of them. u is redrawn when the sampler has to forget its
 * chains (sali_sampler_forget), and with another Hessian. */
#ifndef SALI_MOMENTUM_H
#define SALI_MOMENTUM_H

#include "samplers/sampler.h"

/* The settings of both samplers, last in their lists. */
#define SALI_MOMENTUM_PARAMETERS                                                                  \
    { "momentum", 0,     0,                                                                       \
      0.999,      false, "a: how much of its auxiliary variable a chain keeps from step to step", \
      NULL },                                                                                     \
    {                                                                                             \
        "correction", 0, 0, 1, false,                                                             \
            "phi: how much the change of the gradient moves the auxiliary variable", NULL         \
    }

typedef struct sali_momentum {
    double a, phi;
    bool corrects; /* phi is not 0, and H not the Hessian */
    void *zeta;    /* real [n x N] Q'u after the last step; zeros: not drawn yet; NULL: off */
    void *v;       /* real [n x N] */
    bool carried;  /* the last step left w, and zeta is out of date */
    uint64_t of;   /* the preparation of M whose eigenvectors zeta refers to, or 0 */
} sali_momentum;

struct sali_auxiliary_state;

/* Read the settings; allocate the arrays, which belong to `a`, if they ask for momentum or
 * correction. */
void sali_momentum_create(struct sali_auxiliary_state *a, const sali_chains *chains,
                          const sali_sampler_settings *settings);

/* List the state item that keeps u of the chains. Returns the number of items. */
int64_t sali_momentum_state(struct sali_auxiliary_state *a, sali_state_item *items);

/* settle: call before M, step sizes or temperatures may change; computes zeta from a carried w.
 * check: call after M is up to date; drops zeta unless it still refers to M's eigenvectors. */
void sali_momentum_settle(struct sali_auxiliary_state *a);
void sali_momentum_check(struct sali_auxiliary_state *a);

/* Kernel (i) of chain c: `noise` real [N] is xi, and becomes zeta. */
void sali_momentum_draw(struct sali_auxiliary_state *a, const sali_chains *chains, int64_t c,
                        void *noise);

/* Kernel (i) of all chains whose w is carried: `noise` real [n x N] is (gamma lambda + delta)^1/2
 * xi. */
void sali_momentum_carry(struct sali_auxiliary_state *a, const sali_chains *chains,
                         const void *noise);

/* v of all chains for the proposed states; with a correction, also y of the reverse proposals.
 * `product` is M d or NULL, w as in auxiliary.c. Overwrites `noise` if H is not 0. */
void sali_momentum_propose(struct sali_auxiliary_state *a, const sali_chains *chains, const void *w,
                           const void *product);

/* log N(u') - log N(u) of chain c. */
double sali_momentum_ratio(const struct sali_auxiliary_state *a, const sali_chains *chains,
                           int64_t c);

/* The end of (ii), and (iii), after the chains' decision. */
void sali_momentum_decide(struct sali_auxiliary_state *a, const sali_chains *chains);

#endif
