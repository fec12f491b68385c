/* Training energy-based models: persistent contrastive divergence, contrastive divergence,
 * pseudo-likelihood and parallel trajectory tempering. */
#ifndef SALTUS_TRAIN_H
#define SALTUS_TRAIN_H

#include <stdint.h>
#include <saltus/data.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/status.h>
#include <saltus/trajectory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a training stands. Pointers are valid during the call. */
typedef struct sal_train_report {
    int64_t iteration;       /* updates made */
    int64_t iterations;      /* updates asked for */
    double seconds;          /* since the start, or since a resume */
    double log_prob_data;    /* mean f over the data batch, or over all rows with SAL_PTT
                                where f is affine in the parameters; mean log
                                pseudo-likelihood */
    double log_prob_samples; /* mean f over the samples; their difference should stay near 0.
                                NaN without samples */
    double acceptance_rate;  /* of the sampler, since the last report; NaN without steps */
    double mean_jump;        /* likewise */
    double step_size;        /* in use; 0: the sampler has none */
    double gradient_norm;    /* of the last update, before clipping */
    double sampling_seconds; /* since the start, or since a resume */
    double gradient_seconds; /* likewise */
    double learning_rate;    /* of the last update, with warm-up, schedule and cool-down; SAL_PTT
                                steers it */
    /* What the resume that this training began with changed: "learning rate 0.001 instead of 0.01".
     * NULL: nothing, or there was no resume. */
    const char *resumed_with;
    /* With SAL_PTT, else NaN, NULL and 0. In calls of `progress` all but the first two are those of
     * the last report. */
    int64_t levels;        /* of the trajectory */
    double swap_rate;      /* of chains with the last level, as estimated */
    double log_z;          /* of the model as it is now, by Bennett's acceptance ratio */
    double log_z_error;    /* its standard error, which grows with the levels */
    double log_likelihood; /* mean over the held-out rows; NaN without any */
    int64_t disturbed;     /* levels whose states were found not to be at equilibrium */
    bool best;             /* no report before had a larger log_likelihood; true without one */
    const struct sal_trajectory *trajectory; /* the levels so far */
    const sal_model *model;                  /* with its parameters as they are now */
    const double *averages; /* [parameters] exponential moving averages; NULL without */
    int64_t buffer;         /* number of `samples` */
    const int32_t *samples; /* [buffer x V] the persistent chains (with SAL_CD the last samples);
                               NULL without samples */
} sal_train_report;

/* What is made larger. */
typedef enum sal_objective {
    SAL_PCD, /* log-likelihood, samples from persistent chains (Tieleman 2008; Rhodes & Gutmann
                2022, algorithm L.6) */
    SAL_CD,  /* the same, chains begin at the data batch each time (Hinton 2002): biased */
    SAL_PSEUDO_LIKELIHOOD, /* sum_i log p(s_i | the others) (Besag 1975): no samples */
    SAL_PTT /* log-likelihood, samples kept at equilibrium by parallel trajectory tempering (Bereux,
               Decelle, Furtlehner & Seoane 2026); log Z is known all the time */
} sal_objective;

/* How parameters follow the gradient. */
typedef enum sal_optimiser {
    SAL_ADAM,  /* Kingma & Ba 2015; weight decay is part of the gradient */
    SAL_ADAMW, /* Loshchilov & Hutter 2019; weight decay is apart from it */
    SAL_SGD    /* with momentum */
} sal_optimiser;

/* How the learning rate falls after its warm-up, over T iterations of which t are over. */
typedef enum sal_rate_schedule {
    SAL_RATE_CONSTANT,   /* not at all */
    SAL_RATE_COSINE,     /* to 0, times (1 + cos(pi t / T)) / 2 (Loshchilov & Hutter 2017) */
    SAL_RATE_EXPONENTIAL /* to a hundredth, times 0.01^(t / T) */
} sal_rate_schedule;

/* Whether couplings are learned in centred coordinates. */
typedef enum sal_centring {
    SAL_CENTRING_AUTO, /* those of an RBM: sum softplus(W s + c) + b's */
    SAL_CENTRING_ON,   /* also those of a s'Js + b's; it is an error if there are neither */
    SAL_CENTRING_OFF
} sal_centring;

/* Where persistent chains start, and start again. */
typedef enum sal_buffer_start {
    SAL_BUFFER_MEAN,    /* independent variables with the data's frequencies */
    SAL_BUFFER_UNIFORM, /* uniformly random states */
    SAL_BUFFER_DATA     /* random rows of the data */
} sal_buffer_start;

/* Which persistent chains an iteration moves. */
typedef enum sal_buffer_order {
    SAL_BUFFER_RANDOM, /* any, drawn anew each time (Rhodes & Gutmann 2022, algorithm L.6) */
    SAL_BUFFER_PASSES  /* passes through the buffer, each in a new random order (the program behind
                          their tables): all chains are of one age. A scan in turn then leaves them
                          all at the same variable: better with scan=random */
} sal_buffer_order;

/* Persistent chains, which only SAL_PCD has. */
typedef struct sal_buffer_options {
    int64_t chains;         /* how many, >= batch; 0: the larger of batch and 1000 */
    sal_buffer_start start; /* 0: SAL_BUFFER_MEAN */
    sal_buffer_order order; /* 0: SAL_BUFFER_RANDOM */
    double restart;         /* probability that a chain starts again before an iteration; 0 .. 1 */
} sal_buffer_options;

/* Parallel trajectory tempering, SAL_PTT (docs/training.md), whose chains are as many as the batch.
 */
typedef struct sal_ptt_options {
    int64_t reservoir;    /* equilibrium states of the last level, a multiple of batch; 0: 10 batch
                           */
    const sal_data *test; /* rows that are not trained on: reports have their log-likelihood, and
                             when training is over the model has the parameters of the report where
                             that was largest. Must live as long as the trainer; NULL: none */
    int64_t patience;     /* reports in a row without a larger one, after which training stops; 0:
                             none */
} sal_ptt_options;

/* How parameters are updated. */
typedef struct sal_optimiser_options {
    sal_optimiser method; /* 0: SAL_ADAM */
    double momentum;      /* beta_1 of Adam; 0: 0.9, -1: none */
    double beta2;         /* of Adam; 0: 0.999, -1: none */
    double epsilon;       /* of Adam; 0: 1e-8 */
    double weight_decay;  /* of all that are learned, but couplings with a penalty l1; that of AdamW
                             is multiplied by the learning rate */
    double clip_norm;     /* a gradient longer than this is scaled to this length; 0: none is */
} sal_optimiser_options;

/* How the learning rate changes over `iterations`. */
typedef struct sal_rate_options {
    int64_t warmup;             /* iterations over which it rises linearly from 0 */
    sal_rate_schedule schedule; /* of the rest; 0: SAL_RATE_CONSTANT */
    double cooldown;            /* share of the iterations, the last ones, over which it falls to 0
                                 */
} sal_rate_options;

/* Couplings between variables, and penalties of them. */
typedef struct sal_couplings_options {
    const char *names;  /* of parameters, separated by commas; NULL: "J", if there is one. Square
                           ones are kept symmetric */
    double l1;          /* penalty: l1 sum |J_ij| over all entries */
    double group;       /* penalty: group sum_{i<j} |J_ij|_F over the blocks between two variables;
                           those without effect become or stay 0. Couplings must be [N x N] */
    bool zero_diagonal; /* entries between a variable and itself stay 0, unless these are fixed */
} sal_couplings_options;

/* Where everything is saved after iterations that are multiples of `every` and after the last one.
 * On a resume the learning rate, steps, and sampler with its step size and preconditioner may be
 * others (docs/training.md); options but those, iterations, threads, reports, checkpoints and
 * largest_difference must be what they were. */
typedef struct sal_checkpoint_options {
    const char *directory; /* must exist; NULL: none */
    int64_t every;         /* iterations; 0: report_every */
    bool resume;           /* go on from what is there, if there is anything */
} sal_checkpoint_options;

/* What a training calls, with the last report; a return value other than 0 stops it. NULL: nothing.
 */
typedef struct sal_train_callbacks {
    /* After each iteration; where it stops, a report and a checkpoint follow. */
    int (*progress)(const sal_train_report *report, void *data);
    void *progress_data; /* passed to `progress` */

    /* After iterations that are multiples of report_every and after the last one. */
    int (*report)(const sal_train_report *report, void *data);
    void *report_data; /* passed to `report` */
} sal_train_callbacks;

/* How to train. Fields left zero take their defaults. */
typedef struct sal_train_options {
    sal_objective objective; /* 0: SAL_PCD */
    int64_t iterations;      /* parameter updates; 0: 2000 */
    int64_t batch;           /* data rows and chains an iteration; 0: 50 */
    double learning_rate;    /* the largest; 0: 1e-3 */
    uint64_t seed;           /* same seed, same bits */
    int threads;             /* 0: OpenMP's choice; results do not depend on it */

    /* Samples, of which SAL_PSEUDO_LIKELIHOOD has none. A chain whose start is forbidden (f = -inf)
     * starts at a state near it that is not, as in sal_sample. */
    const char *sampler;          /* NULL: "gwg". With few steps gibbs wants scan=random: in turn,
                                     chains that move together all stand at the same variable */
    int64_t steps;                /* K sampler steps an iteration; 0: 20; -1: as many as variables,
                                     a sweep of single sites */
    double step_size;             /* of samplers that have one; 0: follows an acceptance of 0.574 */
    const double *preconditioner; /* [N x N] of samplers that take one; NULL: their own choice */

    /* Samplers of the caller's, which `sampler` may name too (sampler.h); ends with NULL. They must
     * live as long as the trainer, and be the same in one that resumes. NULL: none. */
    const struct sal_sampler_descriptor *const *own_samplers;

    sal_buffer_options buffer;       /* persistent chains */
    sal_ptt_options ptt;             /* trajectory tempering */
    sal_optimiser_options optimiser; /* updates */
    sal_rate_options rate;           /* the learning rate over time */
    sal_couplings_options couplings; /* penalties of couplings */

    sal_centring centring;     /* 0: SAL_CENTRING_AUTO (docs/training.md) */
    double averaging;          /* decay of exponential moving averages of the parameters, below 1;
                                  0: none. At update t it is at most t / (t + 9) */
    double magnitude_penalty;  /* a in a mean(f(data)^2 + f(samples)^2) (Du & Mordatch 2019) */
    const char *fixed;         /* parameters, separated by commas, that stay as they are */
    double largest_difference; /* |mean f(data) - mean f(samples)| that counts as divergence; 0:
                                  1e4 */

    int64_t report_every;              /* iterations from report to report; 0: 100 */
    sal_checkpoint_options checkpoint; /* saving, and going on from there */
    sal_train_callbacks callbacks;     /* what is called */
} sal_train_options;

/* Those of them that texts can set, by their names in `saltus train`. */
SAL_API const sal_option_table *sal_train_option_table(void);

/* Fit a tape model's parameters to data. Each iteration draws a minibatch of data and one of the
 * buffer's chains, moves these by K steps of the sampler, and follows the gradient of
 * mean f(data) - mean f(samples), less penalties. Parameters start as they are (see
 * sal_model_train_start). What samplers adapt they adapt all the time.
 *
 * Centring makes training independent of which of two states is called 0, such as whether ink is
 * 1 or 0. It applies to terms sum softplus(W s + c) + b's of any formula, and if asked for also to
 * a s'Js + b's, where the biases are learned. The optimiser then updates (W, b~, c~), or (J, b~),
 * which write the same f with units counted from offsets near their means:
 *
 *     c~ = c + W lambda,  b~ = b + W'mu;    b~ = b + a (J + J')mu.
 *
 * After each update b and c are computed from these. The offsets lambda and mu are moving averages
 * (decay 0.99) of the units' means over data and samples. Penalties, clip_norm and the reported
 * gradient_norm apply to the gradient in these coordinates. Centring needs samples, and it does not
 * go with magnitude_penalty.
 *
 * Math:    d log-likelihood / d theta = E_data df/dtheta - E_model df/dtheta
 * Returns: SAL_ERR_ARGUMENT (options, or data that do not fit the space); SAL_ERR_UNSUPPORTED (no
 *          parameters, or a sampler that cannot); SAL_ERR_MODEL (f or a parameter became NaN or
 *          infinite, or the difference too large; the parameters are then those of the last good
 *          report); SAL_ERR_IO, SAL_ERR_DATA (checkpoints); SAL_ERR_MEMORY.
 * Cost:    an iteration: K steps of `batch` chains, and a gradient by the parameters at 2 `batch`
 *          states; pseudo-likelihood: at two points a row where f is quadratic, else at all
 *          neighbours. Memory O(parameters + buffer V).
 * Threads: alone with its model. Same seed, same bits, for any number of threads, and after a
 *          resume.
 * Source:  as sal_objective says; centring: Cho, Raiko & Ilin 2013, Melchior, Fischer & Wiskott
 *          2016. */
SAL_API sal_status sal_train(sal_model *model, const sal_data *data,
                             const sal_train_options *options, sal_error *err);

/* The same piece by piece. The model and the data must outlive the trainer, and so must what
 * progress_data and report_data point to; what other pointers in the options point to is copied.
 * After a failed sal_trainer_run, sal_trainer_destroy and sal_trainer_load are all that is left. */
typedef struct sal_trainer sal_trainer;

/* A trainer that stands before its first update.
 * Returns: SAL_ERR_ARGUMENT, SAL_ERR_UNSUPPORTED, SAL_ERR_MEMORY as sal_train.
 * Cost:    O(parameters + buffer V + rows V).
 * Threads: alone with its model. */
SAL_API sal_status sal_trainer_create(sal_model *model, const sal_data *data,
                                      const sal_train_options *options, sal_trainer **out,
                                      sal_error *err);

/* Free a trainer; NULL is fine. The model keeps its parameters. */
SAL_API void sal_trainer_destroy(sal_trainer *trainer);

/* At most `count` more iterations, with reports and checkpoints when they are due; none are left
 * when sal_trainer_iteration is the number of the options.
 * Returns: SAL_ERR_MODEL, SAL_ERR_IO, SAL_ERR_MEMORY as sal_train; SAL_ERR_ARGUMENT after a
 *          failure.
 * Cost:    as sal_train.
 * Threads: alone with its model. */
SAL_API sal_status sal_trainer_run(sal_trainer *trainer, int64_t count, sal_error *err);

/* Updates made so far. */
SAL_API int64_t sal_trainer_iteration(const sal_trainer *trainer);

/* Where it stands now. */
SAL_API void sal_trainer_report(const sal_trainer *trainer, sal_train_report *report);

/* Save everything in a directory (checkpoint.json names the file of arrays that goes with it), so
 * that whatever happens a whole checkpoint is there.
 * Returns: SAL_ERR_ARGUMENT (the trainer has failed; a path that is too long); SAL_ERR_IO;
 *          SAL_ERR_MEMORY. The checkpoint that was there is then unchanged.
 * Cost:    O(parameters + buffer V).
 * Threads: one at a time. */
SAL_API sal_status sal_trainer_save(sal_trainer *trainer, const char *directory, sal_error *err);

/* Take a checkpoint over again. To load from a directory without one does nothing.
 * Returns: SAL_ERR_DATA (not a checkpoint, or of another model, data or options);
 *          SAL_ERR_ARGUMENT (a path that is too long); SAL_ERR_IO; SAL_ERR_MEMORY. The trainer is
 *          then unchanged.
 * Cost:    O(parameters + buffer V).
 * Threads: one at a time. */
SAL_API sal_status sal_trainer_load(sal_trainer *trainer, const char *directory, sal_error *err);

/* Write a trajectory into `directory`/ladder beside a model that was saved there, for
 * sal_trajectory_open: levels that no call has written there before, and which of them belong to
 * the model. For the `report` callback, where report->model was written.
 * Returns: SAL_ERR_ARGUMENT (NULL, a path that is too long); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(new levels parameters).
 * Threads: one at a time. */
SAL_API sal_status sal_trajectory_save(const struct sal_trajectory *trajectory,
                                       const char *directory, const sal_model *model,
                                       const sal_train_report *report, sal_error *err);

/* The options that are known to suit the training of a ready-made model, and the setting of its
 * specification that goes with them ("base=1"; NULL: none; `settings` may be NULL).
 * Params:  specification: as sal_model_open takes it; only its name counts.
 * Returns: true; false where nothing is known: *options is then untouched.
 * Threads: any. */
SAL_API bool sal_train_suggest(const char *specification, sal_train_options *options,
                               const char **settings);

/* Give a ready-made model the starting parameters that suit training on `data`: small random
 * weights, biases from the data's mean; zeros for models without such a start of their own.
 * `specification` is what it was made from.
 * Returns: SAL_ERR_NOT_FOUND (no such ready-made model); SAL_ERR_ARGUMENT (a specification that is
 *          not acceptable, data that do not fit the space); SAL_ERR_MEMORY.
 * Cost:    O(rows V + parameters).
 * Threads: the model must not be in use elsewhere. */
SAL_API sal_status sal_model_train_start(sal_model *model, const char *specification,
                                         const sal_data *data, uint64_t seed, sal_error *err);

/* A preconditioner for pavg, [N x N] into M: the covariance of the data (with greys: of one drawing
 * of each row) in units in which neighbouring levels are 1 apart, with 0.01 added to variances
 * below 0.01 (Rhodes & Gutmann 2022, appendix F.1). As pavg's M stands for a Hessian of f, entries
 * are divided by the two variables' spacings, so that chains do not depend on the embedding: over
 * spins M is the covariance of the spins over 16.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit); SAL_ERR_MEMORY. M is then unspecified.
 * Cost:    O(rows N^2).
 * Threads: any. */
SAL_API sal_status sal_data_preconditioner(const sal_data *data, const sal_model *model, double *M,
                                           sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
