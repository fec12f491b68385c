/* The path of a training, as a ladder of models along which states change places. */
#ifndef SALTUS_TRAJECTORY_H
#define SALTUS_TRAJECTORY_H

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
    int64_t sweeps;     /* that freezing took */
    double relaxation;  /* how far a further run without swaps moved the mean of f, in standard
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
 */
SAL_API sal_status sal_trajectory_log_z(const sal_trajectory *trajectory, const sal_model *model,
                                        double *log_z, double *standard_error, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
