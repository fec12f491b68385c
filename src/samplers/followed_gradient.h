/* SPDX-License-Identifier: MIT */
/* Gradients of a shard's chains, at the present and the proposed states. Where f is quadratic,
 * gradients follow the moves by the rows of its couplings: with d = x' - x, H = scale J,
 *
 *     grad f(x') = grad f(x) + H d,    f(x') = f(x) + d'(grad f(x) + grad f(x')) / 2,
 *
 * O(N) for every variable that moves. Gradients and f are recomputed at fixed steps, lest rounding
 * errors add up. With the couplings of each variable to itself, gradients also give exact
 * differences. For other f, gradients are evaluated, and chains->gradient holds those of the states
 * evaluated last. */
#ifndef SALI_FOLLOWED_GRADIENT_H
#define SALI_FOLLOWED_GRADIENT_H

#include "samplers/shared.h"

typedef struct sali_followed_gradient {
    sali_couplings *couplings;          /* NULL: gradients are not followed */
    const sali_coupling_values *values; /* NULL: gradients are not followed since the last start */
    void *rows;                         /* real [2n x N], times beta as in sali_chains */
    void *diagonal;                     /* real [N] of J */
    uint8_t *current; /* [n] index (0 or 1) of the row that holds the gradient at the chain's
                         current state */
    /* The list of one move: the coordinates that change, their changes, the weights of their rows,
     * and their gradients before the move; [N] each. */
    int64_t *coordinate;
    double *change, *weight, *before; /* before: the gradient before the move */
    int32_t *moved;                   /* [V] the variables that change */
    uint64_t period;                  /* steps after which gradients and f are recomputed */
    bool fresh;                       /* no proposal since the last start */
    bool evaluated; /* true: recompute gradients by the chains' evaluator; false: by rows of the
                       couplings */
} sali_followed_gradient;

/* The largest N for which following gradients saves more than it costs. */
#define SALI_MOST_FOLLOWED 2048

/* Create the couplings that all shards share, in the first member of a shared object: NULL where f
 * is not quadratic, where they do not pay, or in training, where they would be recomputed too
 * often. Returns: SAL_ERR_MEMORY. */
sal_status sali_followed_gradient_couplings(sali_shared *shared, const sal_model *model,
                                            const sali_sampler_settings *settings, sal_error *err);

/* The `share` of engines whose shared state is a sali_shared with these couplings only. */
sal_status sali_followed_gradient_share(const sal_model *model,
                                        const sali_sampler_settings *settings, void **shared,
                                        sal_error *err);

/* Allocate the arrays, which belong to `object` (core/object.h); it records a failed allocation.
 * Without `couplings` (NULL) gradients are evaluated. `paths`: steps are of many moves, else of
 * one. `evaluated`: see the field. */
void sali_followed_gradient_open(sali_followed_gradient *g, void *object, const sali_chains *chains,
                                 sali_couplings *couplings, bool paths, bool evaluated);

/* Start from the chains' states and temperatures; sets f, and chains->gradient if `evaluated`, as
 * sali_chains_start. */
void sali_followed_gradient_start(sali_followed_gradient *g, sali_chains *chains);

/* Whether gradients are followed since the last start. */
static inline bool sali_followed_gradient_active(const sali_followed_gradient *g)
{
    return g->values != NULL;
}

/* At the beginning of a step: recompute f and the followed gradient of chain c if this is due.
 * Returns whether they were recomputed. */
bool sali_followed_gradient_renew(sali_followed_gradient *g, sali_chains *chains, int64_t c);

/* At the beginning of a step: whether to start all chains again, because a chain is at a step of
 * recomputing and no start has just been made. */
bool sali_followed_gradient_due(const sali_followed_gradient *g, const sali_chains *chains);

/* f_new and the gradients of all proposed states. Uses the evaluator if gradients are not followed,
 * or if the evaluator gives gradients and so many variables move that adding rows would take
 * longer; notes NaN and +inf. */
void sali_followed_gradient_propose(sali_followed_gradient *g, sali_chains *chains);

/* A path of moves, if gradients are followed. stay: the proposed state of chain c is the present
 * one, with its gradient. move: the proposed state has changed variable `site`, which had the code
 * `from`; update f_new and the gradient. */
void sali_followed_gradient_stay(sali_followed_gradient *g, sali_chains *chains, int64_t c);
void sali_followed_gradient_move(sali_followed_gradient *g, sali_chains *chains, int64_t c,
                                 int64_t site, int32_t from);

/* If gradients are followed. rise: by how much f rises if `sites` [n] of chain c, which are
 * distinct, are set to `codes`. go: makes this move for the gradient, while codes, x and f are left
 * to the caller; f_new becomes f after the move. */
double sali_followed_gradient_rise(sali_followed_gradient *g, const sali_chains *chains, int64_t c,
                                   int64_t n, const int64_t *sites, const int32_t *codes);
void sali_followed_gradient_go(sali_followed_gradient *g, sali_chains *chains, int64_t c, int64_t n,
                               const int64_t *sites, const int32_t *codes);

/* Gradient at the present state of chain c, and at the proposed one; chain c's row of
 * chains->gradient if gradients are not followed. */
void *sali_followed_gradient_now(const sali_followed_gradient *g, const sali_chains *chains,
                                 int64_t c);
void *sali_followed_gradient_next(const sali_followed_gradient *g, const sali_chains *chains,
                                  int64_t c);

/* Turn the first-order differences `slots` real [S] of chain c from `codes` [V] into exact ones, by
 * the couplings that are followed. */
void sali_followed_gradient_correct(const sali_followed_gradient *g, const sali_chains *chains,
                                    int64_t c, const int32_t *codes, void *slots);

/* Make chain c's proposed gradient the present one, when the chain accepts. */
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
