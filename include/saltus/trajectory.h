/* SPDX-License-Identifier: MIT */
/* The path of a training, as a ladder of models between which states are exchanged. */
#ifndef SALTUS_TRAJECTORY_H
#define SALTUS_TRAJECTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/model.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a training found besides its model, from which the model is sampled. With the objective
 * SAL_PTT a ladder: frozen copies of the model, one per level. Level 0 consists of independent
 * variables: its states are drawn exactly, and its log Z is 0. The last level is the last copy
 * before the model itself. With SAL_DENOISING the noise, steps and step sizes of a denoising chain,
 * whose levels are the model's own. sal_sample takes either as `trajectory`. A trajectory does not
 * change after it was opened. */
typedef struct sal_trajectory sal_trajectory;

/* One level of a trajectory. */
typedef struct sal_trajectory_level {
    int64_t iteration;  /* of the training, when the level was frozen */
    double beta;        /* the level's f is beta f(parameters) + (1 - beta) log p_0 */
    double log_z;       /* by Bennett's acceptance ratio from level to level */
    double log_z_error; /* standard error of log_z, accumulated from level 0 */
    double acceptance;  /* mean probability of a swap with the previous level, when frozen */
    int64_t visits;     /* number of visits that its states made before it was frozen */
    double relaxation;  /* how far the last visits moved the mean of f, in standard errors; above 3
                           the states were not at equilibrium */
} sal_trajectory_level;

/* Open the trajectory that a training saved beside its model, in `directory`/ladder or
 * `directory`/denoising.json. Levels frozen after the model's iteration are left out.
 * Params:  model: as opened from the directory. Names and shapes of its parameters must match the
 *          trajectory's; their values may differ.
 * Returns: SAL_ERR_NOT_FOUND (the directory has no trajectory); SAL_ERR_DATA (files that do not fit
 *          each other or the model); SAL_ERR_UNSUPPORTED (the model is no tape, or has clamped
 *          variables); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(levels parameters), time and memory.
 * Threads: any. */
SAL_API sal_status sal_trajectory_open(const char *directory, const sal_model *model,
                                       sal_trajectory **out, sal_error *err);

/* Free a trajectory; NULL is fine. */
SAL_API void sal_trajectory_destroy(sal_trajectory *trajectory);

/* Get the model that a run along the trajectory draws from: `model` itself, or for a denoising
 * chain the model over x, all variables but the level, whose states are drawn down all levels. The
 * f of the latter is that of level 0 alone, and no log-probability.
 * Params:  model  as opened from the directory. out: a reference, to be released by
 *                 sal_model_destroy.
 * Returns: SAL_ERR_ARGUMENT (NULL; a trajectory of another model); SAL_ERR_UNSUPPORTED (an op of
 *          the formula cannot do with the level held); SAL_ERR_MEMORY.
 * Cost:    of a denoising chain, as making one model for each level.
 * Threads: alone with `model`. */
SAL_API sal_status sal_trajectory_model(const sal_trajectory *trajectory, sal_model *model,
                                        sal_model **out, sal_error *err);

/* Get level k of a ladder, counted from 0; false past the last. The model itself is not among them.
 */
SAL_API bool sal_trajectory_level_at(const sal_trajectory *trajectory, int64_t k,
                                     sal_trajectory_level *level);

/* Get log Z of the directory's model, by Bennett's acceptance ratio along the levels, and its
 * standard error. Training computed both for the parameters that it saved.
 * Returns: SAL_ERR_DATA (`model` has other parameters; says so); SAL_ERR_UNSUPPORTED (a denoising
 *          chain, which has none); SAL_ERR_ARGUMENT (NULL).
 * Cost:    O(parameters).
 * Threads: any. */
SAL_API sal_status sal_trajectory_log_z(const sal_trajectory *trajectory, const sal_model *model,
                                        double *log_z, double *standard_error, sal_error *err);

/* Options of sal_trajectory_draw. Fields left zero take their defaults. */
typedef struct sal_trajectory_options {
    int64_t chains;      /* 2 or more; 0: 100 */
    int64_t draws;       /* of each chain; 0: 10 */
    int64_t reservoir;   /* draws of each level from which the next level starts, a multiple of
                            chains; more draws keep the weights of modes better; 0: 10 chains draws */
    const char *sampler; /* NULL: the sampler of the training */
    int64_t steps;       /* of the sampler at each visit of a level; 0: as in the training. Down a
                            denoising chain: so many times as many as in the training; 0: 2 */
    uint64_t seed;       /* the same seed gives the same bits */
    int threads; /* 0: OMP_NUM_THREADS, or all processors; the results do not depend on it */

    /* Called from the calling thread after each level. A return value other than 0 stops the call.
     * NULL: not called. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */
} sal_trajectory_options;

/* The figures of sal_trajectory_draw. */
typedef struct sal_trajectory_draws {
    double log_z;       /* of the model, by Bennett's acceptance ratio along the levels; NaN for a
                           denoising chain */
    double log_z_error; /* standard error of log_z */
    int64_t levels;     /* number of levels visited, including the model */
    int64_t disturbed; /* number of these levels whose states were found not to be at equilibrium */
    bool stopped;      /* `progress` stopped the call: there are no draws */
} sal_trajectory_draws;

/* Draw states of a model from scratch. Exact draws of level 0 climb the levels; at each level they
 * are resampled by their weights and moved by the sampler. Where levels are far apart, the call
 * inserts levels between them. The training's own chains are not used. Draws of a denoising chain
 * are a run's along it, all independent.
 * Params:  codes [chains x draws x V]; log_prob [chains x draws], f of the draws, or NULL. A chain
 *          is a contiguous part of the states, which share ancestors; neighbouring chains may share
 *          some too.
 * Returns: SAL_ERR_ARGUMENT (options; a trajectory of another model); SAL_ERR_UNSUPPORTED (a
 *          sampler that is not exact); SAL_ERR_MODEL (NaN or +inf); SAL_ERR_MEMORY.
 * Cost:    two to twenty visits of `steps` steps by all states of the reservoir at each level.
 * Threads: any; works on `threads` threads.
 * Source:  Bereux, Decelle, Furtlehner & Seoane 2026. */
SAL_API sal_status sal_trajectory_draw(const sal_model *model, const sal_trajectory *trajectory,
                                       const sal_trajectory_options *options, int32_t *codes,
                                       double *log_prob, sal_trajectory_draws *draws,
                                       sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
