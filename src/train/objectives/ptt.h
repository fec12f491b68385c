/* SPDX-License-Identifier: MIT */
/* Parallel trajectory tempering: the chains of the model that is trained jump to states of a frozen
 * copy of the model. The chains of that copy jumped to states of an earlier copy, and so on down to
 * independent variables. After Bereux, Decelle, Furtlehner & Seoane 2026; docs/internals.md says
 * what differs. */
#ifndef SALI_PTT_H
#define SALI_PTT_H

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

/* Before the first iteration: levels up to the model as it is, and chains there. Cost: two
 * to twenty visits by all of the reservoir a level. */
sal_status sali_ptt_begin(sal_trainer *trainer, sal_error *err);

/* Climb the levels of another training's path, up to the model as it is, in place of training. The
 * stored states are then draws of the model, and the log Z of the last level is the model's. */
sal_status sali_ptt_replay(sal_trainer *trainer, const sal_trajectory *path,
                           int (*progress)(int64_t done, int64_t total, void *data), void *data,
                           bool *stopped, sal_error *err);

/* In place of sali_ptt_begin if ptt.first is given: climb its ladder, and continue from there. If
 * the progress callback stops the climb, *stopped becomes true, and the trainer is as before. Also
 * SAL_ERR_ARGUMENT: the other model is no part of this one. */
sal_status sali_ptt_begin_after(sal_trainer *trainer, bool *stopped, sal_error *err);

/* A trainer that never updates, to climb a path. It has a row of data for each chain, which no
 * update uses. */
typedef struct sali_ptt_climb {
    sal_model *model; /* a copy */
    sal_data rows;
    sal_trainer *trainer;
} sali_ptt_climb;

/* `options`: chains, reservoir and steps are given; `comm` may be NULL. Closed after a failure too;
 * starts as zeros. */
sal_status sali_ptt_climb_open(sali_ptt_climb *climb, const sal_model *model,
                               const sal_trajectory *path, const sal_trajectory_options *options,
                               struct sal_comm *comm, sal_error *err);
void sali_ptt_climb_close(sali_ptt_climb *climb);

/* After an update: keep it, freeze a level, or take the update back (also if `good` is false).
 * Returns: SAL_ERR_MODEL (30 updates were taken back in a row, or chains met NaN),
 * SAL_ERR_MEMORY. */
sal_status sali_ptt_follow(sal_trainer *trainer, bool good, sal_error *err);

/* log Z of the present model, from the last level's; its standard error into *error. */
double sali_ptt_log_z(sal_trainer *trainer, double *error);

/* ======== what ptt.c and ptt_levels.c share */

/* ---- ptt.c */

/* The chain numbers of random streams that all chains share; the streams' steps are the sweeps. */
enum { SALI_PTT_SWAP, SALI_PTT_CHOICE, SALI_PTT_RESAMPLE };
sali_stream sali_ptt_stream(const sal_trainer *trainer, uint32_t stream);

/* Put the chains at members of the reservoir, evenly spaced, and measure the next swap. */
void sali_ptt_take_chains(sal_trainer *trainer);

/* ---- ptt_levels.c */

static inline const sali_path_level *sali_ptt_last(const sali_ptt *p)
{
    return &p->path->levels[p->path->n - 1];
}

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

/* Add levels from the last one to the present model at `beta`, as many as it takes for each level
 * to keep a share of the states of the level before; then put the chains there. False in *arrived:
 * no states are left on the way, and the present model is one on the way. Cost: for each level some
 * visits by all the reservoir.
 * Returns: SAL_ERR_MODEL (too many levels; chains met NaN), SAL_ERR_MEMORY. */
sal_status sali_ptt_travel(sal_trainer *trainer, double beta, bool *arrived, sal_error *err);

void sali_ptt_free_visitors(const sal_trainer *trainer, sali_ptt *p);

#endif
