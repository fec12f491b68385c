/* SPDX-License-Identifier: MIT */
/* The levels of a training's trajectory, and chains that visit them. */
#ifndef SALI_TRAJECTORY_H
#define SALI_TRAJECTORY_H

#include <saltus/trajectory.h>
#include "core/memory.h"
#include "models/make/bridge.h"
#include "models/levels/levels.h"
#include "models/levels/noise.h"
#include "samplers/sampler.h"

/* More than any training needs. */
#define SALI_MOST_LEVELS 10000

typedef struct sali_path_level {
    sal_trajectory_level info;
    double step_size; /* of the sampler; 0: the sampler has none */
    double *values;   /* [parameters], numbers of the model's type */
} sali_path_level;

/* A ladder of copies of a model; or, with `noise`, a denoising chain of conditional energies, whose
 * levels are the model's own. */
struct sal_trajectory {
    sali_noise *noise;        /* NULL: a ladder */
    int64_t *noise_steps;     /* [noise->T] of the sampler at each level */
    double *noise_step_sizes; /* [noise->T]; 0: the sampler has none */
    int64_t parameters;       /* of the model */
    int64_t states;           /* [R] */
    double *log_base;         /* [R] of level 0 */
    char *sampler;            /* specification of the sampler */
    int64_t steps;            /* at a visit of a level */
    int64_t n, room;
    sali_path_level *levels;
    int64_t written;           /* levels that are in files already, */
    uint64_t written_place[2]; /* of the directory with this device and inode */
    /* The model that was saved with it. */
    double step_size, log_z, log_z_error;
    uint64_t fingerprint; /* of the model with its parameters */
};

/* The sampler that moved the training's chains, and its steps at each visit of a level. The text
 * lives as long as the trajectory; `steps` may be NULL. */
const char *sali_trajectory_sampler(const sal_trajectory *trajectory, int64_t *steps);

/* A new trajectory of level 0 alone. `log_base` [R] is copied. NULL: out of memory. */
sal_trajectory *sali_trajectory_create(int64_t parameters, int64_t states, const double *log_base,
                                       const char *sampler, int64_t steps);

/* A new trajectory that is a denoising chain. It takes the noise over, also on failure, and copies
 * the rest. `sizes` NULL: zeros. NULL: out of memory. */
sal_trajectory *sali_trajectory_of_noise(int64_t parameters, sali_noise *noise,
                                         const int64_t *steps, const double *sizes,
                                         const char *sampler);

/* Whether the trajectory is of this model, or of the model of which this one is a single level. */
bool sali_trajectory_fits(const sal_trajectory *trajectory, const sal_model *model);

/* Whether a sampler may move chains that have linear terms of their own, as on a denoising chain:
 * it must be exact, have independent chains, and go by gradients. Other samplers may read the
 * model, which does not contain the terms. Returns: SAL_ERR_UNSUPPORTED, with a message that begins
 * with `who`. */
sal_status sali_check_field_sampler(const sali_sampler *sampler, const char *who, sal_error *err);

/* Append a level, with a copy of `values` [parameters]; false: out of memory. */
bool sali_trajectory_push(sal_trajectory *trajectory, const sal_trajectory_level *info,
                          double step_size, const double *values);

/* Round parameters to the model's type. */
void sali_round_values(sal_dtype dtype, int64_t n, double *values);

/* Chains that a sampler moves. */
typedef struct sali_moved {
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    void *shared, *self;
    sali_chains *chains; /* NULL: not needed so far */
} sali_moved;

/* Open n chains on a model, with the sampler and settings of m; and close them, also after a
 * failure. */
sal_status sali_moved_open(sali_moved *m, const sal_model *model, int64_t n, uint64_t seed,
                           sal_error *err);
void sali_moved_close(sali_moved *m);

/* Move the chains by K steps from their present states, which may be new to the sampler. */
void sali_moved_go(sali_moved *m, int64_t K);

/* Chains of one shard that visit levels: a copy of the model with parameters of its own, and the
 * bridge from independent variables for levels with beta below 1. */
typedef struct sali_visitor {
    sali_memory memory;     /* of the arrays */
    const double *log_base; /* [R] borrowed */
    sal_model *model;       /* of the copy */
    sali_bridge bridge;     /* model NULL: not needed so far */
    double beta;            /* of the level that it is at */
    double *flat;           /* [parameters + 1] */
    double *uniform;        /* [V] */
    sali_moved at[2];       /* on the model, on the bridge */
} sali_visitor;

/* Make a visitor of n chains. `mixed`: levels with beta between 0 and 1 will be visited. On the
 * bridge the same sampler moves the chains where it can, else gwg. Call sali_visitor_free in any
 * case. Returns: what creating samplers returns. */
sal_status sali_visitor_create(sali_visitor *v, const sal_model *of, const double *log_base,
                               const sali_sampler *sampler, const sali_sampler_settings *settings,
                               bool mixed, int64_t n, uint64_t seed, sal_error *err);
void sali_visitor_free(void *visitor);

/* Go to the level with these parameters and this beta. */
void sali_visitor_go(sali_visitor *v, const double *values, double beta);

/* f of the level at codes [n x V]; n is at most the visitor's number of chains. */
void sali_visitor_value(sali_visitor *v, int64_t n, const int32_t *codes, double *f);

/* Move the states `codes` [n x V] by K steps, in place; at beta = 0 draw them anew, exactly. Chain
 * c has random stream id[c] and has made step[c] steps, which rises. */
void sali_visitor_move(sali_visitor *v, int64_t K, double step_size, const uint32_t *id,
                       uint64_t *step, int32_t *codes);

/* The chains that met NaN or +inf on the way, with chains->bad_chain and so on; NULL: none did. */
const sali_chains *sali_visitor_fault(const sali_visitor *v);

/* For chains whose step is a step over levels: add the L1 distances from the states in x_new, where
 * the step began, to their jumps; and take over the first fault that the chains of a level met
 * (NULL: none). */
void sali_levels_note_jumps(sali_chains *chains);
void sali_levels_take_fault(sali_chains *chains, const sali_chains *inner);

/* The sampler whose steps are sweeps over the levels of settings->trajectory. */
extern const sali_sampler sali_trajectory_record;

/* The sampler whose steps are passes down settings->trajectory, a denoising chain
 * (denoising/pass.c), on a model that stands for its levels. */
extern const sali_sampler sali_denoising_record;

/* Counts of one shard [levels + 2]: sweeps, swaps made of each pair of levels (k, k + 1), the model
 * itself last, and arrivals. From these of all shards [n_shards x (levels + 2)] for the summary:
 * rates of swaps [levels], and arrivals per chain. */
void sali_trajectory_counts(const void *self, double *counts);
void sali_trajectory_rates(int64_t n_shards, int64_t levels, const double *counts, double chains,
                           double *rate, double *arrivals);

#endif
