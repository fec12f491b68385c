/* SPDX-License-Identifier: MIT */
/* log Z of any model, the log of the sum of exp f over all states, with its standard error and a
 * word on whether to trust them.
 *
 *     sal_log_z_options options = { .until = "error=.05" };
 *     sal_log_z_estimate z;
 *     sal_log_z(model, &options, &z, &err);
 *     printf("%g +- %g\n", z.log_z, z.standard_error);
 */
#ifndef SALTUS_LOG_Z_H
#define SALTUS_LOG_Z_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of sal_log_z. Fields left zero take their defaults. */
typedef struct sal_log_z_options {
    int64_t chains; /* independent ladders, 2 or more; 0: 16 */
    int64_t sweeps; /* made of each ladder after warm-up, 20 or more; with `until` at most; 0:
                       1000, or with `until` 102400 */
    int64_t warmup; /* sweeps before, in the first half of which the levels are placed, 32 or
                       more; 0: 512 */
    int64_t steps;  /* sampler steps of a level in a sweep; 0: as many as variables for gibbs where
                       f follows single moves; 16 for each count without a cap, at most 1024 or
                       the number of variables; else 4 */
    const char *sampler; /* an exact sampler whose chains do not depend on each other; NULL: gibbs
                            where f follows moves of single variables, else as in
                            sal_run_options */
    double step_size;    /* of samplers that have one, never adapted; 0: the sampler's default */
    const char *until; /* "error=E": end when the standard error is E or less. It is looked at after
                          100 sweeps, 200, 400 and so on. NULL: make all sweeps */
    double seconds;    /* stop after so much time; 0: never. The estimate then depends on the
                          clock */
    uint64_t seed;     /* the same seed gives the same bits */
    int threads;       /* 0: OMP_NUM_THREADS, or all processors; the results do not depend on it */

    const struct sal_sampler_descriptor *const *own_samplers; /* as in sal_run_options */

    /* The distribution p_0 at the hot end as log-probabilities [R], as in sal_ais_options; for a
     * count without a cap two entries, log(1 - t) and log t of a geometric distribution. NULL:
     * uniform; for counts without a cap geometric, with the means of a short run. */
    const double *log_base;

    /* Called from the calling thread with the number of sweeps of all ladders, now and then within
     * a sweep too. A return value other than 0 stops the call. NULL: not called. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */
} sal_log_z_options;

/* Why an estimate is not to be trusted. */
typedef enum sal_log_z_doubt {
    SAL_LOG_Z_TRUSTED = 0,   /* no reason was found */
    SAL_LOG_Z_GAP,           /* two levels next to each other hardly overlap */
    SAL_LOG_Z_FEW_ALLOWED,   /* few of the states met are allowed by the model */
    SAL_LOG_Z_NO_ARRIVALS,   /* hardly any states came from p_0 up to the model */
    SAL_LOG_Z_LADDERS_APART, /* the ladders disagree: R-hat is too large */
    SAL_LOG_Z_HALVES_APART,  /* the first and the second half of the sweeps disagree */
    SAL_LOG_Z_ENDS_APART,    /* the estimates in the two directions disagree */
    SAL_LOG_Z_SAME           /* f - log p_0 was the same at all states met */
} sal_log_z_doubt;

/* The result of sal_log_z. */
typedef struct sal_log_z_estimate {
    double log_z;          /* the estimate of log Z */
    double standard_error; /* of log_z, by the differences between independent ladders */
    double entropy;        /* of the model, log Z - mean f in nats; of counts without a cap, too */
    double entropy_error;  /* standard error of `entropy`; log Z and mean f vary together */
    double aim;            /* of `until`; 0: there was none */
    double forward;     /* log Z by the states of each level and exp of the difference to the next
                           one; tends to be too low */
    double reverse;     /* the same from the model down to p_0; tends to be too high */
    double rhat;        /* the largest R-hat of f - log p_0 at a level */
    double least_swaps; /* the least mean probability of a swap of neighbouring levels */
    double arrivals;    /* number of states that came from p_0 up to the model, a ladder */
    double allowed;     /* share of the states of the softened model that the model allows; 1 if
                           nothing was softened */
    int64_t levels;     /* from p_0 to the model, both included */
    int64_t chains;     /* number of ladders */
    int64_t sweeps;     /* made of each ladder after warm-up */
    int64_t steps;      /* sampler steps of a level in a sweep */
    bool softened;      /* forbidden states had a price on the way, instead of none */
    bool stopped;       /* `progress` or `seconds` ended the call early; without 20 sweeps after
                           warm-up the figures are NaN */
    sal_log_z_doubt doubt; /* SAL_LOG_Z_TRUSTED, or why not */
    char sampler[64];      /* that moved the states */
} sal_log_z_estimate;

/* Estimate log Z by parallel tempering between independent variables and the model.
 * Math:    p_l is proportional to p_0^(1 - beta_l) exp(beta_l f), 0 = beta_0 < .. < beta_L = 1. In
 *          a sweep level 0 is drawn exactly, a sampler moves the states of all other levels, and
 *          neighbours exchange states. Warm-up places the levels for equal rates of rejection.
 *          log Z is the sum over neighbours of Bennett's estimate of log Z_(l + 1) / Z_l, and its
 *          error that of the sum of all states' first-order influences on it, as each of at least
 *          16 independent groups (ladders, or parts of them) has its own. Where tables or hard
 *          limits forbid states, the levels lead to a model in which such states have a price, and
 *          a last ratio, the share of its states that are allowed, to f itself. The entropy is log
 * Z less the mean of f at the model's own states; its error is that of the sum of both influences
 * of each group. Params:  options: NULL for the defaults. Clamp variables first (sal_model_clamp):
 * log Z is then that of the clamped model, the log of the sum over the free variables. estimate:
 *          receives the result, also if it is doubtful: see `doubt`.
 * Returns: SAL_ERR_ARGUMENT (options); SAL_ERR_UNSUPPORTED (a sampler that is approximate, couples
 *          its chains or cannot serve the levels; a conditional energy); SAL_ERR_MODEL (f is NaN or
 *          +inf, showing the state; or no state was met that the model allows); SAL_ERR_MEMORY.
 *          *estimate is then untouched.
 * Cost:    levels chains (warmup + sweeps) (steps of the sampler and 2 evaluations); the number of
 *          levels grows as the square root of the number of variables or, at a phase transition,
 *          faster. Memory: a copy of the model's parameters for each level, 8 bytes for each level,
 *          ladder and sweep.
 * Threads: several calls may share a model whose parameters do not change; works on `threads`
 *          threads.
 * Source:  Bennett 1976; Geyer 1991 and Hukushima & Nemoto 1996 (exchanges); Syed, Bouchard-Cote,
 *          Deligiannidis & Doucet 2022 (the levels). */
SAL_API sal_status sal_log_z(sal_model *model, const sal_log_z_options *options,
                             sal_log_z_estimate *estimate, sal_error *err);

/* Write why an estimate is not to be trusted, or that it is less precise than was asked for, and
 * what would help, as one or two sentences; else "". The text is cut to `room` bytes, including the
 * NUL; 512 are enough.
 * Cost:    O(1).
 * Threads: any. */
SAL_API void sal_log_z_sentence(const sal_log_z_estimate *estimate, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
