/* The path of a training, as a ladder of models along which states change places. */
#ifndef SALTUS_TRAJECTORY_H
#define SALTUS_TRAJECTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/model.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frozen copies of a model along its own training, from independent variables (level 0, whose
 * states are drawn exactly and whose log Z is 0) to the last copy before the model itself. The
 * objective SAL_PTT makes one; a run of sal_sample takes one as `trajectory`. Never changed after
 * it was opened. */
typedef struct sal_trajectory sal_trajectory;

/* One level. */
typedef struct sal_trajectory_level {
    int64_t iteration;  /* of the training, when it was frozen */
    double beta;        /* its f is beta f(parameters) + (1 - beta) log p_0 */
    double log_z;       /* by Bennett's acceptance ratio from level to level */
    double log_z_error; /* standard error, from level 0 on */
    double acceptance;  /* mean probability of a swap with the level before, when frozen */
    int64_t visits;     /* that its states made before it was frozen */
    double relaxation;  /* how far their last visits moved the mean of f, in standard
                           errors: beyond 3 the states were not at equilibrium */
} sal_trajectory_level;

/* The trajectory that a training saved beside its model, in `directory`/ladder, for the model that
 * was saved with it. Levels frozen after the model's iteration are left out.
 * Params:  model: as opened from the directory; it must have the trajectory's parameters by name
 *          and shape, whatever their values.
 * Returns: SAL_ERR_NOT_FOUND (the directory has none); SAL_ERR_DATA (files that do not fit each
 *          other or the model); SAL_ERR_UNSUPPORTED (the model is no tape, or has clamped
 *          variables); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(levels parameters), time and memory.
 * Threads: any. */
SAL_API sal_status sal_trajectory_open(const char *directory, const sal_model *model,
                                       sal_trajectory **out, sal_error *err);

/* Free a trajectory; NULL is fine. */
SAL_API void sal_trajectory_destroy(sal_trajectory *trajectory);

/* Number of levels, without the model itself. */
SAL_API int64_t sal_trajectory_levels(const sal_trajectory *trajectory);

/* Level k in 0 .. levels - 1; all NaN and 0 for any other k. */
SAL_API sal_trajectory_level sal_trajectory_level_at(const sal_trajectory *trajectory, int64_t k);

/* The sampler that the training moved chains by, and its steps at each visit of a level. The text
 * lives as long as the trajectory; `steps` may be NULL. */
SAL_API const char *sal_trajectory_sampler(const sal_trajectory *trajectory, int64_t *steps);

/* log Z of the model of the directory, by Bennett's acceptance ratio along the levels, and its
 * standard error: what the training found for the parameters that it saved.
 * Returns: SAL_ERR_DATA (the parameters of `model` are others; says so); SAL_ERR_ARGUMENT (NULL).
 * Cost:    O(parameters).
 * Threads: any. */
SAL_API sal_status sal_trajectory_log_z(const sal_trajectory *trajectory, const sal_model *model,
                                        double *log_z, double *standard_error, sal_error *err);

/* Zeros stand for the defaults. */
typedef struct sal_trajectory_options {
    int64_t chains;      /* 100; 2 or more */
    int64_t draws;       /* of each chain; 10 */
    int64_t reservoir;   /* draws of each level that the next one is reached by, a multiple of
                            chains; more keep the weights of modes better; 0: 10 chains draws */
    const char *sampler; /* NULL: the training's */
    int64_t steps;       /* of the sampler at each visit of a level; 0: the training's */
    uint64_t seed;       /* same seed, same bits */
    int threads;         /* 0: OpenMP's choice; the results do not depend on it */

    /* Called from the calling thread after each level; a return value other than 0 stops. NULL:
     * none. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */
} sal_trajectory_options;

/* What sal_trajectory_draw found. */
typedef struct sal_trajectory_draws {
    double log_z;       /* of the model, by Bennett's acceptance ratio along the levels */
    double log_z_error; /* its standard error */
    int64_t levels;     /* visited, the model included */
    int64_t disturbed;  /* of these, whose states were found not to be at equilibrium */
    bool stopped;       /* by `progress`: there are no draws */
} sal_trajectory_draws;

/* Draws of a model from scratch: exact draws of the independent variables of level 0 climb the
 * levels. At each they are drawn again by their weights, and move by the sampler; where levels are
 * far apart, others come in between. Nothing of the training's own chains is used.
 * Params:  codes [chains x draws x V]; log_prob [chains x draws], f of the draws, or NULL. A chain
 *          is a stretch of the states, which share ancestors; neighbours may, too.
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
