/* SPDX-License-Identifier: MIT */
/* Parallel trajectory tempering: the chains of the model that is trained jump to states of a frozen
 * copy of the model. The chains of that copy jumped to states of an earlier copy, and so on down to
 * independent variables. After Bereux, Decelle, Furtlehner & Seoane 2026; docs/training.md says
 * what differs. */
#ifndef SALI_PTT_RESERVOIR_H
#define SALI_PTT_RESERVOIR_H

#include "run/trajectory/trajectory.h"
#include "stats/bennett.h"
#include "train/trainer.h"

enum { SALI_PTT_FAMILIES = 100 };

/* The chains are the trainer's buffer, [n x V], all moved at every iteration; n is the batch. */
typedef struct sali_ptt {
    sali_memory memory; /* of the arrays */
    sal_trajectory *path;
    int64_t n, M;
    /* The reservoir: equilibrium states [M x V] of the last level, and its f there. */
    int32_t *stored;
    double *stored_f;
    /* [M] the group of states of level 0 from which each member descends, and what each group adds
     * to the error of the last level's log Z. */
    uint32_t *family;
    double *influence; /* [SALI_PTT_FAMILIES] */
    /* The next swap: which members of the reservoir the chains meet, f of the present model and of
     * the last level at the chains, and f of the present model at these members. */
    uint32_t *pick;
    double *f_now, *f_last, *f_pick;
    double *weight;     /* [n] weights under the present model of chains drawn before the update */
    int64_t sweeps;     /* sweeps made so far; numbers the random streams of swaps */
    int64_t frozen;     /* 1: the last update ended with a new level, or was taken back */
    int64_t held;       /* updates since the last level */
    int64_t rejections; /* updates taken back in a row */
    int64_t disturbed;  /* levels whose states were not at equilibrium by the relaxation check; the
                           last one of those that are saved together with `sweeps` */
    int64_t climbed;    /* levels of the first training, while they are climbed; else 0 */
    double acceptance;  /* estimated acceptance of the next swap */

    sali_params *last; /* parameters of the last level */
    sali_workspace **last_ws;
    sali_visitor *visitors; /* [shards] while a level with beta below 1 is approached */
    double beta;            /* beta of the present model; 1 after that approach */
    double *f_old;          /* [n] f at the chains before the update */
    /* Scratch. */
    int32_t *fresh;
    double *stored_now; /* [M] */
    double *fresh_f, *a, *b, *sorted, *below;
    uint32_t *work, *fresh_family;
    int32_t *test_codes; /* [test rows x V]; NULL: no held-out rows */
    double *test_f;      /* [test rows] */
} sali_ptt;

/* The objective's part of a trainer. Its path has level 0 only before sali_ptt_begin. */
static inline sali_ptt *sali_ptt_of(const sal_trainer *trainer)
{
    return trainer->own;
}

static inline const sali_path_level *sali_ptt_last(const sali_ptt *p)
{
    return &p->path->levels[p->path->n - 1];
}

/* ---- f at states */

/* f at codes [n x V]: of the present model, and of the last level. */
void sali_ptt_value_now(sal_trainer *trainer, int64_t n, const int32_t *codes, double *f);
void sali_ptt_value_last(sal_trainer *trainer, int64_t n, const int32_t *codes, double *f);

/* weight [n] receives the weights, of sum 1, that states of one distribution have under another; d
 * [n] are their log-weights up to a constant.
 * Returns: the share of the states that counts: their effective number divided by the number of
 * states that the second distribution allows; 0: no state has a weight. Few states with large
 * weights are a mode that grows, which rates of swaps hardly show. */
double sali_ptt_weights(int64_t n, const double *d, double *weight);

/* The rate of swaps between the two distributions, from states of the first with these weights. */
double sali_ptt_rate(sali_ptt *p, int64_t n, const double *d, const double *weight);

/* Set stored_now to f of the present model at the reservoir, and a to the difference from f of the
 * last level. */
void sali_ptt_compare(sal_trainer *trainer);

/* ---- swaps */

/* The chain numbers of random streams that all chains share; the streams' steps are the sweeps. */
enum { SALI_PTT_SWAP, SALI_PTT_CHOICE, SALI_PTT_RESAMPLE };
sali_stream sali_ptt_stream(const sal_trainer *trainer, uint32_t stream);

/* Copy rows at[0 .. n - 1] of codes to rows 0 .. n - 1 of `to`. */
void sali_ptt_gather(int64_t V, int64_t n, const uint32_t *at, const int32_t *codes, int32_t *to);

/* Choose the member of the reservoir that each chain meets in the next swap, and compute f_now,
 * f_pick and f_last. */
void sali_ptt_measure(sal_trainer *trainer);

/* Move each chain to its member of the reservoir with the Metropolis-Hastings probability; members
 * are draws of the last level. */
void sali_ptt_swap(sal_trainer *trainer);

/* Put the chains at members of the reservoir, evenly spaced, and measure the next swap. */
void sali_ptt_take_chains(sal_trainer *trainer);

#endif
