/* SPDX-License-Identifier: MIT */
/* The trainer: what a training consists of, and its parts. */
#ifndef SALI_TRAINER_H
#define SALI_TRAINER_H

#include <saltus/train.h>
#include "ad/workspace.h"
#include "core/memory.h"
#include "core/optimiser.h"
#include "core/rng.h"
#include "core/threads/shard.h"
#include "models/levels/levels.h"
#include "samplers/sampler.h"
#include "run/parts/step_size.h"
#include "stats/pairs.h"
#include "train/centring.h"
#include "train/constraints.h"
#include "train/objectives/objective.h"
#include "train/sparsity.h"

/* A shard of the minibatch: chains that move, and a workspace for parameter gradients. */
typedef struct sali_train_shard {
    int64_t first, n; /* rows of the minibatch */
    int64_t level;    /* noise level of its rows; 0 without levels */
    sali_chains *chains;
    sali_workspace *ws;
    int32_t *codes; /* [n x V] of data */
    void *x;        /* real [n x N] of data */
    double *weight, *f;
    double *means; /* [offsets of centring] means over the data, of the units of each bias */
    double sum_data, sum_samples; /* of f */
    sal_error error;              /* of its samples; status SAL_OK: none */
} sali_train_shard;

/* The sampler's state beside the chains. */
typedef struct sali_train_sampler {
    void *shared;  /* NULL: nothing */
    void **selves; /* [n_shards] */
} sali_train_sampler;

/* The persistent chains. A chain is a slot: its random stream is its slot, its step the number of
 * steps that it has made in its life. */
typedef struct sali_buffer {
    int64_t slots;
    int32_t *codes;  /* [slots x V] */
    uint64_t *life;  /* [slots] steps made */
    uint32_t *slot;  /* [batch] the slots of this iteration */
    uint32_t *order; /* [slots] room for a pass */
    bool *fresh;     /* [batch] the chain has just started, or started again */
    uint32_t *row;   /* [batch] rows of data of this iteration */
    double *below;   /* [rows] share of the rows' weights up to this one; NULL: all weigh alike */
    uint32_t *work;  /* [the larger of slots and rows] */
} sali_buffer;

/* Figures for the next report. */
typedef struct sali_train_sums {
    double accepted, jump, moves;                          /* since the last report */
    double log_prob_data, log_prob_samples, gradient_norm; /* of the last iteration */
} sali_train_sums;

struct sal_trainer {
    sali_memory memory;        /* owns all arrays of the trainer and its parts */
    sal_model *model;          /* over the data's variables: the given model, or all its levels */
    sal_model *given;          /* the model that is trained */
    const sali_levels *levels; /* of the data's noise, of which shards of rows are in turn; NULL:
                                  the given model has none */
    sali_tape_model *tape;     /* tape of `given` */
    const sal_data *data;
    sal_train_options options;  /* defaults filled in; its pointers are the trainer's own */
    struct json_t *fingerprint; /* what a resume must share */
    struct json_t *resumes;     /* resumes that changed an option; NULL: none */
    char resumed_with[400];     /* what the last resume changed; "": nothing */

    const sali_objective *objective;
    void *own; /* what the objective keeps; NULL: nothing */

    const sali_sampler *sampler; /* NULL: the objective needs no samples */
    sali_sampler_settings settings;
    sali_train_sampler state;
    bool follows;              /* the step size is adapted to an acceptance of 0.574 */
    sali_adaptation step_size; /* of each level */

    int64_t n_shards;
    sali_ranks ranks; /* which shards are this rank's; shards of other ranks have numbers and codes
                         of chains only */
    int64_t *row_begin; /* [n_shards + 1] rows of the batch of each shard */
    struct {
        int64_t *begin;  /* [n_shards + 1] */
        int32_t *codes;  /* [batch x V] */
        double *numbers; /* of chains and shards */
    } sent;              /* room for what ranks send; NULLs on one */
    sal_error broken;    /* the first failure of sending; status SAL_OK: none */
    sali_train_shard *shards;
    sali_pace sampling_pace, gradient_pace;
    sali_workspace **workspaces; /* [n_shards], for the reduction; NULL of other ranks */
    sali_chains **chains;        /* [n_shards], for the sampler's adaptation */

    sali_buffer buffer;
    sali_constraints constraints;
    sali_sparsity sparsity;
    sali_centring centring;
    sali_optimiser optimiser;
    double *values, *gradient; /* [parameters_size] */
    double *part;              /* the same, the gradient of one level; NULL without levels */
    /* Mean gradient of f over all data, if the gradient does not depend on the parameters, and mean
     * f at parameters 0. NULL: the gradient depends on them, or batches of data are wanted. */
    double *data_gradient, data_constant;
    double *good;                  /* values at the last report */
    double *averages;              /* NULL: none are kept */
    double *best;                  /* [parameters_size] of the best report; NULL: not judged */
    int64_t best_iteration, worse; /* of the best report, and reports since it; saved together */
    double best_likelihood;        /* of the held-out rows */
    struct {
        sali_pairs of;
        sali_pair_frequencies data, samples;
        double limit; /* of the correlation of so many samples; NaN without options.pearson */
    } pairs;          /* of states, with options.pearson */
    bool reached;     /* at the last report: the training ends, as options.pearson asks for */
    struct {
        double log_z, log_z_error, log_likelihood, pearson;
    } now; /* at the last report; NaN before */

    int64_t iteration, good_iteration;
    sali_train_sums sums;
    bool failed; /* the trainer can no longer be used */
    double sampling_seconds, gradient_seconds, start;
};

/* options.c: put defaults in place of zeros and check ranges, also against data and model. */
sal_status sali_train_resolve(sal_train_options *options, const sal_model *model,
                              const sal_data *data, sal_error *err);

/* trainer.c: open the sampler on all shards of this rank, as before the first iteration; and close
 * it, also after a failure. */
sal_status sali_train_open_sampler(sal_trainer *trainer, sali_train_sampler *state, sal_error *err);
void sali_train_close_sampler(const sal_trainer *trainer, sali_train_sampler *state);

/* buffer.c */
sal_status sali_buffer_create(sal_trainer *trainer, sal_error *err);
/* The rows of data of an iteration; then the objective chooses the slots. */
void sali_buffer_choose(sal_trainer *trainer);
/* Choose slots in turn or at random, as the options say, and restart the chains that are to start
 * again. */
void sali_buffer_take_turns(sal_trainer *trainer);
/* Start the chains of slots 0 .. batch - 1 at the batch of data. */
void sali_buffer_start_at_data(sal_trainer *trainer);
/* The codes [V] of place c of the batch of data: drawn from its greys, if the data have them. */
void sali_train_row(const sal_trainer *trainer, int64_t c, int32_t *codes);
/* Give the shard's chains that have just started a state near it where f is finite. Returns:
 * SAL_ERR_MODEL (none was found), SAL_ERR_MEMORY. */
sal_status sali_buffer_repair(const sal_trainer *trainer, sali_train_shard *shard, sal_error *err);
/* Copy the shard's slots into its chains, and back. */
void sali_buffer_load(const sal_trainer *trainer, sali_train_shard *shard);
void sali_buffer_store(sal_trainer *trainer, const sali_train_shard *shard);

/* fingerprint.c: what a resumed training must share with the one that was saved, model, data and
 * options, as a JSON object (NULL: no memory); and whether it does. `path` is for messages. The
 * learning rate, the steps and the sampler with its settings may differ: *changed receives a new
 * object with [before, now] of each, and sali_train_describe puts it in words. */
struct json_t *sali_train_fingerprint(const sal_model *model, const sal_data *data,
                                      const sal_train_options *options);
sal_status sali_train_compare(const char *path, const struct json_t *saved,
                              const struct json_t *now, struct json_t **changed, sal_error *err);
void sali_train_describe(const struct json_t *changed, char *text, size_t room);

/* contrast.c: an iteration's samples, and the gradient of the objective from data and samples, both
 * by shards on all threads; false when a chain met NaN or +inf. */
sal_status sali_train_sample(sal_trainer *trainer, bool *good, sal_error *err);
void sali_train_gradient(sal_trainer *trainer);
/* Whether the gradient over all rows takes the place of batches of rows: the objective allows it,
 * with persistent chains if a batch is no smaller, and f is linear in the parameters, so that it
 * does not change. SAL_ERR_MEMORY. */
sal_status sali_train_takes_whole_data(const sal_train_options *options, const sal_model *model,
                                       const sal_data *data, bool *takes, sal_error *err);
/* Then fill data_gradient. Cost: the gradients of all rows. SAL_ERR_MEMORY. */
sal_status sali_train_whole_data(sal_trainer *trainer, sal_error *err);

/* iterate.c: report progress to the caller. Whether the caller asks to stop. */
bool sali_train_show_progress(sal_trainer *trainer);
/* iterate.c: the share of the learning rate that the update of an iteration, counted from 0, has by
 * warm-up, schedule and cool-down. */
double sali_train_rate_share(const sal_trainer *trainer, int64_t iteration);

/* trainer.c: sali_train_model_at: the model that the chains of a level move on.
 * sali_train_set_params: copy `values` into the model, or into its levels. sali_train_shown: the
 * parameters that the caller sees, which with levels are the averages if there are any.
 * sali_train_show_params: copy these into the caller's model. */
const sal_model *sali_train_model_at(const sal_trainer *trainer, int64_t level);
void sali_train_set_params(sal_trainer *trainer);
const double *sali_train_shown(const sal_trainer *trainer);
void sali_train_show_params(sal_trainer *trainer);

/* Training begins at the parameters in `values`. */
void sali_train_start_at(sal_trainer *trainer);

/* Forget that chains met values that are not finite. */
void sali_train_forget_faults(sal_trainer *trainer);

/* pearson.c: with options.pearson, count the pairs of the data, and at a report or a step of
 * sparsity those of the samples, whose correlation now.pearson becomes. SAL_ERR_ARGUMENT (they
 * cannot be compared), SAL_ERR_MEMORY. */
sal_status sali_pearson_create(sal_trainer *trainer, sal_error *err);
void sali_pearson_measure(sal_trainer *trainer);

/* contrast.c: move all chains of the batch by the steps of an iteration, without adapting
 * anything. */
sal_status sali_train_move(sal_trainer *trainer, sal_error *err);

/* iterate.c: the step size in use; 0: the sampler has none. */
double sali_train_step_size(const sal_trainer *trainer);

/* contrast.c: the shards as the sampler sees them when it adapts after an iteration's steps. */
sali_warmup sali_train_shows(const sal_trainer *trainer, void *const *selves);

#endif
