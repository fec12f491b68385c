/* SPDX-License-Identifier: MIT */
/* Locally balanced moves of single variables on pairwise models (models/structure/couplings.h),
 * O(degree + log V) each: a flip of variable i changes the differences of i and of its neighbours
 * only, and a sum tree holds the proposal's weights g(t). f is multilinear in the bits, so exact
 * differences equal first-order ones, if f is also multilinear off the lattice. */
#ifndef SALI_PAIRWISE_MOVES_H
#define SALI_PAIRWISE_MOVES_H

#include "models/structure/couplings.h"
#include "samplers/balance.h"
#include "samplers/local/path_length.h"
#include "samplers/sum_tree.h"
#include "samplers/sampler.h"

typedef struct sali_pairwise_path sali_pairwise_path;

typedef struct sali_pairwise_moves {
    const sal_model *model;
    sali_balance balance;
    sali_couplings *couplings;
    const sali_coupling_values *pairs; /* as of the last refresh */
    sali_sum_tree tree;
    double *nodes; /* [chains x tree.size] */
    double *rise;  /* [chains x V] f(b_i = 1) - f(b_i = 0) */
    /* While a move is tried: the variable that flips and its neighbours, [V] each. */
    int32_t *site, *leaf;
    double *new_rise, *old_weight, *weight;
    void *log_t, *log_g;      /* real */
    sali_pairwise_path *path; /* NULL before the first sali_pairwise_moves_take_paths */
} sali_pairwise_moves;

/* *out is NULL, with SAL_OK, if the model is not pairwise. All memory belongs to `object`
 * (core/object.h), which records a failed allocation. */
sal_status sali_pairwise_moves_open(void *object, const sali_chains *chains,
                                    const sali_balance *balance, sali_pairwise_moves **out,
                                    sal_error *err);

/* Start from the chains' states and temperatures; sets f. Returns false, and does nothing, if the
 * parameters have changed so that the model is not pairwise any more, or if weights would leave the
 * range of double. */
bool sali_pairwise_moves_refresh(sali_pairwise_moves *moves, sali_chains *chains);

/* n steps of every chain; step counters and sums of `chains` are updated. */
void sali_pairwise_moves_steps(sali_pairwise_moves *moves, sali_chains *chains, int64_t n);

/* log q(present state -> to) of one move, [n]. */
void sali_pairwise_moves_log_q(const sali_pairwise_moves *moves, const sali_chains *chains,
                               const int32_t *to, double *log_q);

/* ---- steps of paths (pairwise_path.c) */

/* Allocate what paths need, which belongs to `object`. */
void sali_pairwise_moves_take_paths(void *object, sali_pairwise_moves *moves);

/* n steps of every chain, each a path of moves: every move is drawn by the weights at the state
 * that it starts from, and all moves are accepted or none. */
void sali_pairwise_moves_paths(sali_pairwise_moves *moves, sali_chains *chains,
                               const sali_path_length *length, int64_t n);

/* ---- the parts of steps */

/* Recompute rises, weights and f of chain c from its codes. */
void sali_pairwise_moves_rebuild(sali_pairwise_moves *moves, sali_chains *chains, int64_t c);

/* Number of steps, of `length` moves each, after which rises, weights and f are recomputed:
 * between, they are updated by differences. */
int64_t sali_pairwise_moves_period(const sali_pairwise_moves *moves, int64_t length);

/* Rebuild chain c if this is due at its next step. */
static inline void sali_pairwise_moves_renew(sali_pairwise_moves *moves, sali_chains *chains,
                                             int64_t c, int64_t period)
{
    if (chains->step[c] > 0 && chains->step[c] % (uint64_t)period == 0) {
        sali_pairwise_moves_rebuild(moves, chains, c);
    }
}

/* A tried move: how many rises and weights it changes, what it adds to f, and its factor pi(s')
 * q(s' -> s) / (pi(s) q(s -> s')) of the acceptance ratio. */
typedef struct sali_pairwise_move {
    int64_t changes;
    double df, ratio;
} sali_pairwise_move;

/* Change the weights of chain c as if variable i had flipped; `site` then lists the variables whose
 * rises and weights change, i first, beside new_rise, old_weight and weight. Codes and rises still
 * are those before the move. */
sali_pairwise_move sali_pairwise_moves_try(sali_pairwise_moves *moves, const sali_chains *chains,
                                           int64_t c, int64_t i);

/* Make a tried move: update the rises and the code. */
void sali_pairwise_moves_make(sali_pairwise_moves *moves, sali_chains *chains, int64_t c,
                              sali_pairwise_move move);

/* Set k weights of chain c, at `site`: to take moves back, pass the weights before them. */
void sali_pairwise_moves_put(sali_pairwise_moves *moves, int64_t c, int64_t k, const int32_t *site,
                             const double *weight);

/* After variable i of chain c has flipped: update x and add the distance to jump_sum. */
void sali_pairwise_moves_arrive(const sali_pairwise_moves *moves, sali_chains *chains, int64_t c,
                                int64_t i);

#endif
