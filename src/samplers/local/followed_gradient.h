/* SPDX-License-Identifier: MIT */
/* Gradients of a shard's chains where f is quadratic, found from those of the present states by the
 * rows of its couplings: with d = x' - x, H = scale J,
 *
 *     grad f(x') = grad f(x) + H d,    f(x') = f(x) + d'(grad f(x) + grad f(x')) / 2,
 *
 * O(N) for every variable that moves. They are made anew at fixed steps, lest rounding errors add
 * up. */
#ifndef SALI_FOLLOWED_GRADIENT_H
#define SALI_FOLLOWED_GRADIENT_H

#include "models/structure/couplings.h"
#include "samplers/sampler.h"

typedef struct sali_followed_gradient {
    sali_couplings *couplings;          /* NULL: gradients are not followed */
    const sali_coupling_values *values; /* NULL: not since the last start */
    void *rows;                         /* real [2n x N], times beta as in sali_chains */
    uint8_t *current; /* [n] which of a chain's two is that of its present state */
    /* Of one move: the coordinates that change, and by how much; [N] each. */
    int64_t *coordinate;
    double *change, *weight;
} sali_followed_gradient;

/* More reals than this and following costs more than it saves. */
#define SALI_MOST_FOLLOWED 2048

/* The arrays belong to `object` (core/object.h), which knows if there is no memory. `couplings` may
 * be NULL: nothing is followed then. */
void sali_followed_gradient_open(sali_followed_gradient *g, void *object, const sali_chains *chains,
                                 sali_couplings *couplings);

/* Take the chains' states and temperatures; sets f and chains->gradient, as sali_chains_start. */
void sali_followed_gradient_start(sali_followed_gradient *g, sali_chains *chains);

/* Whether gradients are followed since the last start; the functions below are for that case. */
static inline bool sali_followed_gradient_active(const sali_followed_gradient *g)
{
    return g->values != NULL;
}

/* At the step's beginning: whether chain c's gradient, and f, were made anew. */
bool sali_followed_gradient_renew(sali_followed_gradient *g, sali_chains *chains, int64_t c);

/* f_new and the gradients of all proposed states; notes NaN and +inf. */
void sali_followed_gradient_propose(sali_followed_gradient *g, sali_chains *chains);

/* Gradient of the present state of chain c, and of the proposed one. */
void *sali_followed_gradient_now(const sali_followed_gradient *g, const sali_chains *chains,
                                 int64_t c);
void *sali_followed_gradient_next(const sali_followed_gradient *g, const sali_chains *chains,
                                  int64_t c);

/* Chain c takes the proposed state. */
static inline void sali_followed_gradient_flip(sali_followed_gradient *g, int64_t c)
{
    g->current[c] ^= 1;
}

/* ---- the kernel, for both types */

/* gradient_new = gradient + sum_j weight[j] J[row[j]], of width n; `weight` is not 0. */
void sali_follow_rows_f32(int64_t n, const float *J, int64_t k, const int64_t *row,
                          const double *weight, const float *gradient, float *gradient_new);
void sali_follow_rows_f64(int64_t n, const double *J, int64_t k, const int64_t *row,
                          const double *weight, const double *gradient, double *gradient_new);

#endif
