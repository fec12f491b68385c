/* SPDX-License-Identifier: MIT */
/* Gradients of a shard's chains, at the present states and at the proposed ones. Where f is
 * quadratic, gradients follow the moves by the rows of its couplings: with d = x' - x, H = scale J,
 *
 *     grad f(x') = grad f(x) + H d,    f(x') = f(x) + d'(grad f(x) + grad f(x')) / 2,
 *
 * O(N) for every variable that moves. They are recomputed at fixed steps, lest rounding errors add
 * up. With the couplings of each variable to itself they give exact differences, too. Elsewhere
 * gradients are evaluated, and those of the states that were evaluated last are in
 * chains->gradient. */
#ifndef SALI_FOLLOWED_GRADIENT_H
#define SALI_FOLLOWED_GRADIENT_H

#include "samplers/shared.h"

typedef struct sali_followed_gradient {
    sali_couplings *couplings;          /* NULL: gradients are not followed */
    const sali_coupling_values *values; /* NULL: not since the last start */
    void *rows;                         /* real [2n x N], times beta as in sali_chains */
    void *diagonal;                     /* real [N] of J */
    uint8_t *current; /* [n] which of a chain's two is that of its present state */
    /* Of one move: the coordinates that change, and by how much; [N] each. */
    int64_t *coordinate;
    double *change, *weight, *before; /* before: the gradient there */
    int32_t *moved;                   /* [V] the variables that change */
    uint64_t period;                  /* steps after which all is made anew */
    bool fresh;                       /* no proposal since all was made anew */
    bool evaluated; /* then the chains' evaluator gives gradients; else rows of the couplings */
} sali_followed_gradient;

/* More reals than this and following costs more than it saves. */
#define SALI_MOST_FOLLOWED 2048

/* Find the couplings that all shards share, at the beginning of an object: NULL where f is not
 * quadratic or it does not pay. In training they would have to be made too often. Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_followed_gradient_couplings(sali_shared *shared, const sal_model *model,
                                            const sali_sampler_settings *settings, sal_error *err);

/* An engine's `share` of a sali_shared with these couplings alone. */
sal_status sali_followed_gradient_share(const sal_model *model,
                                        const sali_sampler_settings *settings, void **shared,
                                        sal_error *err);

/* The arrays belong to `object` (core/object.h), which knows if there is no memory. `couplings` may
 * be NULL: nothing is followed then. Steps are of one move, or of paths; the
 * evaluator gives gradients if `evaluated`. */
void sali_followed_gradient_open(sali_followed_gradient *g, void *object, const sali_chains *chains,
                                 sali_couplings *couplings, bool paths, bool evaluated);

/* Take the chains' states and temperatures; sets f, and chains->gradient if evaluated, as
 * sali_chains_start. */
void sali_followed_gradient_start(sali_followed_gradient *g, sali_chains *chains);

/* Whether gradients are followed since the last start. */
static inline bool sali_followed_gradient_active(const sali_followed_gradient *g)
{
    return g->values != NULL;
}

/* At the step's beginning: whether chain c's gradient was followed, and it and f were recomputed.
 */
bool sali_followed_gradient_renew(sali_followed_gradient *g, sali_chains *chains, int64_t c);

/* At the step's beginning: whether it is one to start all chains again at, which has not just been
 * done. */
bool sali_followed_gradient_due(const sali_followed_gradient *g, const sali_chains *chains);

/* f_new and the gradients of all proposed states: by the evaluator if gradients are not followed,
 * or where it gives them and so much moves that rows would take longer; notes NaN and +inf. */
void sali_followed_gradient_propose(sali_followed_gradient *g, sali_chains *chains);

/* The same along a path, if gradients are followed: the proposed state of chain c is the present
 * one; then it has moved variable `site`, which had the code `from`. */
void sali_followed_gradient_stay(sali_followed_gradient *g, sali_chains *chains, int64_t c);
void sali_followed_gradient_move(sali_followed_gradient *g, sali_chains *chains, int64_t c,
                                 int64_t site, int32_t from);

/* If gradients are followed, by how much f rises where chain c's `sites` [n], distinct, are set to
 * `codes`; it then goes there, but for codes, x and f: f_new is f there. */
double sali_followed_gradient_rise(sali_followed_gradient *g, const sali_chains *chains, int64_t c,
                                   int64_t n, const int64_t *sites, const int32_t *codes);
void sali_followed_gradient_go(sali_followed_gradient *g, sali_chains *chains, int64_t c, int64_t n,
                               const int64_t *sites, const int32_t *codes);

/* Gradient of the present state of chain c, and of the proposed one; chain c's row of
 * chains->gradient if gradients are not followed. */
void *sali_followed_gradient_now(const sali_followed_gradient *g, const sali_chains *chains,
                                 int64_t c);
void *sali_followed_gradient_next(const sali_followed_gradient *g, const sali_chains *chains,
                                  int64_t c);

/* First-order differences real [S] of chain c from `codes` [V] become exact ones, by the couplings
 * that are followed. */
void sali_followed_gradient_correct(const sali_followed_gradient *g, const sali_chains *chains,
                                    int64_t c, const int32_t *codes, void *slots);

/* Chain c takes the proposed state. */
static inline void sali_followed_gradient_flip(sali_followed_gradient *g, int64_t c)
{
    if (sali_followed_gradient_active(g)) {
        g->current[c] ^= 1;
    }
}

/* ---- the kernels, for both types */

/* gradient_new = gradient + sum_j weight[j] J[row[j]], of width n. */
void sali_follow_rows_f32(int64_t n, const float *J, int64_t k, const int64_t *row,
                          const double *weight, const float *gradient, float *gradient_new);
void sali_follow_rows_f64(int64_t n, const double *J, int64_t k, const int64_t *row,
                          const double *weight, const double *gradient, double *gradient_new);

/* Add weight d'J d to the slot of each move, d the change of the embedding; `diagonal` is J's. */
void sali_follow_squares_f32(const sal_space *space, const float *J, const float *diagonal,
                             float weight, const int32_t *codes, float *slots);
void sali_follow_squares_f64(const sal_space *space, const double *J, const double *diagonal,
                             double weight, const int32_t *codes, double *slots);

#endif
