/* SPDX-License-Identifier: MIT */
/* Parallel trajectory tempering: the chains of the model that is trained go to states of a frozen
 * copy of it, whose chains went to states of an earlier one, and so on down to independent
 * variables. After Bereux, Decelle, Furtlehner & Seoane 2026; docs/internals.md says what differs.
 */
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
    /* Of which group of states of level 0 each member descends [M], and what these groups add to
     * the error of the last level's log Z. */
    uint32_t *family;
    double *influence; /* [SALI_PTT_FAMILIES] */
    /* The swap that comes next: which members of the reservoir the chains meet, f of the present
     * model and of the last level at the chains, and of the present model at those members. */
    uint32_t *pick;
    double *f_now, *f_last, *f_pick;
    double *weight;     /* [n] of the chains, drawn before the update, under the model after it */
    int64_t sweeps;     /* made so far: numbers the random streams of swaps */
    int64_t frozen;     /* 1: the last update ended with a new level, or was taken back */
    int64_t held;       /* updates since the last level */
    int64_t rejections; /* updates taken back in a row */
    int64_t climbed;    /* levels of the first training, while they are climbed; else 0 */
    int64_t disturbed;  /* levels whose states were not at equilibrium by the relaxation check */
    double acceptance;  /* of the coming swap, estimated */

    sali_params *last; /* parameters of the last level */
    sali_workspace **last_ws;
    sali_visitor *visitors; /* [shards] while a level with beta below 1 is approached */
    double beta;            /* of the present model; 1 once that is over */
    double *f_old;          /* [n] before the update */
    /* Scratch. */
    int32_t *fresh;
    double *stored_now; /* [M] */
    double *fresh_f, *a, *b, *sorted, *below;
    uint32_t *work, *fresh_family;
    int32_t *test_codes; /* [test rows x V]; NULL: no held-out rows */
    double *test_f;      /* [test rows] */
} sali_ptt;

/* The own part of a trainer with this objective. It has level 0 only before sali_ptt_begin. */
static inline sali_ptt *sali_ptt_of(const sal_trainer *trainer)
{
    return trainer->own;
}

/* Before the first iteration: levels up to the model as it is, and chains there. Cost: two
 * to twenty visits by all of the reservoir a level. */
sal_status sali_ptt_begin(sal_trainer *trainer, sal_error *err);

/* Climb the levels of another training's path, up to the model as it is, in place of training: the
 * stored states are then draws of the model, and the last level's log Z is its. */
sal_status sali_ptt_replay(sal_trainer *trainer, const sal_trajectory *path,
                           int (*progress)(int64_t done, int64_t total, void *data), void *data,
                           bool *stopped, sal_error *err);

/* The same where ptt.first is given: its ladder is climbed, and the way leads on from there. Where
 * `progress` stops that, *stopped becomes true, and the trainer is as before. Also
 * SAL_ERR_ARGUMENT: the other model is no part of this one. */
sal_status sali_ptt_begin_after(sal_trainer *trainer, bool *stopped, sal_error *err);

/* A trainer that never updates, to climb a path. Its data are a row for each chain, which no update
 * looks at. */
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

/* After an update: goes on, freezes a level, or takes the update back (also where `good` is false:
 * the update led to no numbers). Returns: SAL_ERR_MODEL (30 updates were taken back in a row, or
 * chains met NaN), SAL_ERR_MEMORY. */
sal_status sali_ptt_follow(sal_trainer *trainer, bool good, sal_error *err);

/* log Z of the present model, from the last level's; its standard error into *error. */
double sali_ptt_log_z(sal_trainer *trainer, double *error);

/* ======== what its two files tell each other */

/* ---- ptt.c */

/* Streams of random numbers that all chains share, numbered by sweeps. */
enum { SALI_PTT_SWAP, SALI_PTT_CHOICE, SALI_PTT_RESAMPLE };
sali_stream sali_ptt_stream(const sal_trainer *trainer, uint32_t stream);

/* Chains at members of the reservoir, evenly spaced. */
void sali_ptt_take_chains(sal_trainer *trainer);

/* ---- ptt_levels.c */

static inline const sali_path_level *sali_ptt_last(const sali_ptt *p)
{
    return &p->path->levels[p->path->n - 1];
}

/* f at codes [n x V]: of the present model, and of the last level. */
void sali_ptt_value_now(sal_trainer *trainer, int64_t n, const int32_t *codes, double *f);
void sali_ptt_value_last(sal_trainer *trainer, int64_t n, const int32_t *codes, double *f);

/* The weights [n] of states of one distribution under another, whose log-weights are d [n] up to a
 * constant; they sum to 1. Returns: the share of the states that counts, their effective number
 * over that of those that the other allows; 0: none has a weight. Few states that weigh much are a
 * mode that grows, which the rates of swaps hardly see. */
double sali_ptt_weights(int64_t n, const double *d, double *weight);

/* The rate of swaps between the two, from states of the first with these weights. */
double sali_ptt_rate(sali_ptt *p, int64_t n, const double *d, const double *weight);

/* f of the present model at the reservoir, into stored_now, and less that of the last level, into
 * a. */
void sali_ptt_compare(sal_trainer *trainer);

/* Levels up to the present model, which is left to be at `beta`, as many as it takes for each to
 * keep a share of the states of the one before; then chains there. False in *arrived: there is no
 * way, and the present model is one on it. Cost: for each level some visits by all the reservoir.
 * Returns: SAL_ERR_MODEL (too many levels; chains met NaN), SAL_ERR_MEMORY. */
sal_status sali_ptt_travel(sal_trainer *trainer, double beta, bool *arrived, sal_error *err);

void sali_ptt_free_visitors(const sal_trainer *trainer, sali_ptt *p);

#endif
