/* SPDX-License-Identifier: MIT */
/* Training of energy-based models: persistent contrastive divergence, contrastive divergence,
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

/* The progress of a training. Its pointers are valid during the call. */
typedef struct sal_train_report {
    int64_t iteration;       /* number of updates made */
    int64_t iterations;      /* number of updates asked for */
    double seconds;          /* since the start or the last resume */
    double log_prob_data;    /* mean f over the data batch; over all rows where they take its place;
                                with SAL_PSEUDO_LIKELIHOOD the mean log pseudo-likelihood */
    double log_prob_samples; /* mean f over the samples, close to log_prob_data if training goes
                                well; NaN without samples */
    double acceptance_rate;  /* of the sampler, since the last report; NaN without steps */
    double mean_jump;        /* of the sampler, since the last report; NaN without steps */
    double step_size;        /* the current one; 0: the sampler has none */
    double gradient_norm;    /* of the last update, before clipping */
    double pearson; /* at the last report or step of sparsity, sal_stats_pair_correlation of data
                       and `samples`; NaN where it is not computed */
    double pearson_limit; /* what `pearson` is on average where as many independent samples have
                             the pair frequencies of the data: fewer samples show less; NaN where
                             it is not computed */
    double density;       /* share of the couplings that are active; NaN without sparsity */
    bool reached; /* training ends with this report, as it has the correlation `pearson`, and the
                     density that decimation was to reach */
    double sampling_seconds; /* of sampling, since the start or the last resume */
    double gradient_seconds; /* of gradients, since the start or the last resume */
    double learning_rate; /* of the last update, including warm-up, schedule and cool-down; SAL_PTT
                             controls it */
    /* Settings that the last resume changed: "learning rate 0.001 instead of 0.01". NULL: none, or
     * the training was not resumed. */
    const char *resumed_with;
    /* The fields from here to `trajectory` are for SAL_PTT, and `levels`, `log_likelihood`,
     * `disturbed`, `best` and `trajectory` for SAL_DENOISING too; else they are NaN, NULL and 0. In
     * calls of `progress` all but `levels` and `swap_rate` are those of the last report. */
    int64_t levels;        /* number of levels of the trajectory; in calls of `progress` while the
                              ladder of ptt.first is climbed, of those that are done */
    double swap_rate;      /* estimated swap rate between the chains and the last level */
    double log_z;          /* of the current model, by Bennett's acceptance ratio */
    double log_z_error;    /* standard error of log_z; grows with the number of levels */
    double log_likelihood; /* mean over the held-out rows; NaN without such rows. With SAL_DENOISING
                              the lower end of the bound on the first 100 of them
                              (sal_denoising_bound), if there is ptt.patience, else NaN */
    int64_t disturbed;     /* levels whose states were found not to be at equilibrium; with
                              SAL_DENOISING times that training went back, as f of a level ran
                              away from its chains (it then has more steps) or was not finite */
    bool best; /* whether no earlier report had a larger log_likelihood; true without one */
    const struct sal_trajectory *trajectory; /* the levels so far */
    const sal_model *model; /* the model with its current parameters; in calls of `progress` with
                               SAL_DENOISING with those of the last report */
    const double *averages; /* [parameters] exponential moving averages; NULL if there are none, and
                               with SAL_DENOISING, whose model has them at reports */
    int64_t buffer;         /* number of states in `samples` */
    const int32_t *samples; /* [buffer x V] the persistent chains (with SAL_CD the last samples);
                               NULL without samples, and with SAL_DENOISING */
} sal_train_report;

/* The quantity that training maximises. */
typedef enum sal_objective {
    SAL_PCD, /* log-likelihood, with samples from persistent chains (Tieleman 2008; Rhodes & Gutmann
                2022, algorithm L.6) */
    SAL_CD,  /* log-likelihood, with chains that start at the data batch in every iteration (Hinton
                2002): biased */
    SAL_PSEUDO_LIKELIHOOD, /* sum_i log p(s_i | the others) (Besag 1975), without samples */
    SAL_PTT, /* log-likelihood, with samples that parallel trajectory tempering keeps at equilibrium
               (Bereux, Decelle, Furtlehner & Seoane 2026); log Z is always known */
    SAL_DENOISING /* log-likelihood of each level of a chain of conditional energies, from which
                     noise is taken level by level (Gao, Song, Poole, Wu & Kingma 2021). The model
                     is f(x, t), whose last block is one categorical variable, the level t; x are
                     the data's variables, with two states or categorical */
} sal_objective;

/* How the parameters follow the gradient. */
typedef enum sal_optimiser {
    SAL_ADAM,  /* Kingma & Ba 2015; weight decay is part of the gradient */
    SAL_ADAMW, /* Loshchilov & Hutter 2019; weight decay is separate from the gradient */
    SAL_SGD    /* stochastic gradient descent with momentum */
} sal_optimiser;

/* How the learning rate falls after its warm-up: t of T iterations are over. */
typedef enum sal_rate_schedule {
    SAL_RATE_CONSTANT,   /* the rate stays constant */
    SAL_RATE_COSINE,     /* falls to 0: times (1 + cos(pi t / T)) / 2 (Loshchilov & Hutter 2017) */
    SAL_RATE_EXPONENTIAL /* falls to a hundredth: times 0.01^(t / T) */
} sal_rate_schedule;

/* Which couplings are learned in centred coordinates (docs/tuning.md). */
typedef enum sal_centring {
    SAL_CENTRING_AUTO, /* those of an RBM: terms sum softplus(W s + c) + b's */
    SAL_CENTRING_ON,   /* also those of terms a s'Js + b's; an error if the formula has neither */
    SAL_CENTRING_OFF   /* none */
} sal_centring;

/* Where persistent chains start and restart. */
typedef enum sal_buffer_start {
    SAL_BUFFER_MEAN,    /* independent variables with the frequencies of the data */
    SAL_BUFFER_UNIFORM, /* uniformly random states */
    SAL_BUFFER_DATA     /* random rows of the data */
} sal_buffer_start;

/* Which persistent chains an iteration moves. */
typedef enum sal_buffer_order {
    SAL_BUFFER_RANDOM, /* random chains, drawn anew in each iteration (Rhodes & Gutmann 2022,
                          algorithm L.6) */
    SAL_BUFFER_PASSES  /* passes through the buffer, each in a new random order (the program behind
                          their tables). All chains then have the same age, and a scan in turn leaves
                          them all at the same variable: use scan=random */
} sal_buffer_order;

/* Persistent chains, for SAL_PCD only. */
typedef struct sal_buffer_options {
    int64_t chains;         /* number of chains, >= batch; 0: the larger of batch and 1000 */
    sal_buffer_start start; /* 0: SAL_BUFFER_MEAN */
    sal_buffer_order order; /* 0: SAL_BUFFER_RANDOM */
    double restart;         /* probability that a chain restarts before an iteration, 0 .. 1 */
} sal_buffer_options;

/* Parallel trajectory tempering, SAL_PTT (docs/training.md). The number of chains is that of the
 * batch. */
typedef struct sal_ptt_options {
    int64_t reservoir; /* equilibrium states of the last level, a multiple of batch; 0: 10 batch */
    const sal_data *test; /* held-out rows: reports give their log-likelihood, and the final model
                             has the parameters of the report where it was largest. Must live as
                             long as the trainer; NULL: none */
    int64_t patience;     /* training stops after this many reports in a row without a larger
                             log-likelihood; 0: never. SAL_DENOISING has it, too, with `test`: each
                             report then takes as long as 50 to 100 updates */
    /* The ladder of another training by SAL_PTT that this one goes on from. It must live until the
     * first iteration is over; a resume does not need it. NULL: the ladder begins at independent
     * variables */
    const struct sal_trajectory *first;
    /* The model of that training, which must live as long. It is a part of this model, such as an
     * RBM whose f a net is added to: its parameters are those of this model with the same names,
     * which start as they were trained; with all others at 0 both have the same f, up to a
     * constant */
    const sal_model *first_model;
} sal_ptt_options;

/* How parameters are updated. */
typedef struct sal_optimiser_options {
    sal_optimiser method; /* 0: SAL_ADAM */
    double momentum;      /* momentum of SAL_SGD, beta_1 of Adam; 0: 0.9, -1: none */
    double beta2;         /* of Adam; 0: 0.999, -1: none */
    double epsilon;       /* of Adam; 0: 1e-8 */
    double weight_decay; /* of all learned parameters except couplings with an l1 penalty; SAL_ADAMW
                            multiplies it by the learning rate */
    double clip_norm;    /* a longer gradient is scaled down to this norm; 0: no clipping */
} sal_optimiser_options;

/* How the learning rate changes over `iterations`. */
typedef struct sal_rate_options {
    int64_t warmup;             /* number of iterations over which the rate rises linearly from 0 */
    sal_rate_schedule schedule; /* after warm-up; 0: SAL_RATE_CONSTANT */
    double cooldown; /* share of the iterations, at the end, over which the rate falls to 0 */
} sal_rate_options;

/* Couplings between variables, and their penalties. */
typedef struct sal_couplings_options {
    const char *names; /* parameters, separated by commas; NULL: "J", if it exists. Square ones are
                          kept symmetric */
    double l1;         /* penalty: l1 sum |J_ij| over all entries */
    double group; /* penalty: group sum_{i<j} |J_ij|_F over the blocks between two variables; blocks
                     without effect become or stay 0. Couplings must be [N x N] */
    bool zero_diagonal; /* entries between a variable and itself stay 0, unless the parameter is
                           fixed */
} sal_couplings_options;

/* Which couplings of a Potts model are learned, element by element; all others are exactly 0. */
typedef enum sal_sparsity {
    SAL_SPARSITY_NONE,     /* all of them */
    SAL_SPARSITY_ACTIVATE, /* training begins with none and activates those by which the
                              log-likelihood gains most, until `pearson` is reached (eaDCA:
                              Calvanese, Lambert, Nghe, Zamponi & Weigt 2024). Needs SAL_PCD or
                              SAL_PTT */
    SAL_SPARSITY_DECIMATE  /* training begins with all, and whenever `pearson` is reached removes
                              those by which the log-likelihood loses least (edDCA: Barrat-Charlaix,
                              Muntoni, Shimagaki, Weigt & Zamponi 2021). Needs SAL_PCD */
} sal_sparsity;

/* Sparse couplings. f must have a term a s'Js beside b's, all variables labels; J is the parameter
 * of `couplings.names`. A coupling is J_kl = J_lk between labels of two variables. If some of them
 * are not 0 at the start, these are the active ones: so a sparse model can be trained further. */
typedef struct sal_sparsity_options {
    sal_sparsity method; /* 0: SAL_SPARSITY_NONE */
    double share; /* of the inactive couplings that a step activates at most (those that it proposes
                     may be active already), or of the active ones that it removes; 0: 0.001 to
                     activate, 0.01 to decimate */
    int64_t every;  /* updates between two steps; 0: 10 */
    double density; /* of SAL_SPARSITY_DECIMATE: share of the couplings that is left when training
                       ends; 0: 0.02 */
} sal_sparsity_options;

/* Checkpoints, saved after iterations that are multiples of `every` and after the last one. A
 * resume may change only the learning rate, steps, the sampler with its step size and
 * preconditioner, iterations, threads, reports, ptt.patience, pearson, sparsity.density,
 * checkpoints and largest_difference (docs/training.md). */
typedef struct sal_checkpoint_options {
    const char *directory; /* an existing directory; NULL: no checkpoints */
    int64_t every;         /* number of iterations; 0: report_every */
    bool resume;           /* resume from the checkpoint in the directory, if there is one */
} sal_checkpoint_options;

/* Functions that a training calls with the last report. A return value other than 0 stops the
 * training. NULL: not called. */
typedef struct sal_train_callbacks {
    /* Called after each iteration. If it stops the training, a report and a checkpoint follow. With
     * ptt.first also called while that ladder is climbed, with iteration 0 and in `levels` the
     * number of its levels that are done; if it stops the training there, neither follows. */
    int (*progress)(const sal_train_report *report, void *data);
    void *progress_data; /* passed to `progress` */

    /* Called after iterations that are multiples of report_every and after the last one. A negative
     * return value says that the report was lost, on a full disk for example: no checkpoint
     * follows, so that a resumed training makes it again. */
    int (*report)(const sal_train_report *report, void *data);
    void *report_data; /* passed to `report` */
} sal_train_callbacks;

/* How to train. Fields left zero take their defaults. */
typedef struct sal_train_options {
    sal_objective objective; /* 0: SAL_PCD */
    int64_t iterations;      /* number of parameter updates; 0: 2000 */
    int64_t batch;        /* data rows and chains in each iteration; 0: 50. Where f is affine in the
                             parameters, all rows take the place of a batch of rows with SAL_PTT, and
                             with SAL_PCD if there are no more: their gradient never changes */
    double learning_rate; /* the largest one; 0: 1e-3, or of plain ascent on an alignment (SAL_PCD,
                             SAL_SGD without momentum, f affine in the parameters) .04 (states /
                             5)^2, times 136 / sites if these are more */
    uint64_t seed;        /* the same seed gives the same bits */
    int threads; /* 0: OMP_NUM_THREADS, or all processors; the results do not depend on it */
    struct sal_comm *comm; /* processes that share the training (mpi.h): all of them make the same
                              calls with the same arguments but for threads and callbacks. Callbacks
                              are called, and checkpoints written, at rank 0; the trained model is
                              at all. Must outlive the trainer. NULL: this process alone */

    /* Sampling; SAL_PSEUDO_LIKELIHOOD has none. A chain whose start is forbidden (f = -inf) starts
     * at an allowed state near it, as in sal_sample. */
    const char *sampler; /* NULL: "gwg". With few steps use gibbs with scan=random: with a scan in
                            turn, chains that move together are all at the same variable */
    int64_t steps; /* K sampler steps per iteration; 0: 20; -1: the number of variables (a sweep of
                      single sites) */
    double step_size; /* of samplers that have one; 0: adapted to an acceptance rate of 0.574 */
    const double *preconditioner; /* [N x N] of samplers that take one; NULL: their own choice */

    /* Your own samplers (sampler.h), which `sampler` may also name; the list ends with NULL. They
     * must live as long as the trainer, and a resume needs the same ones. NULL: none. */
    const struct sal_sampler_descriptor *const *own_samplers;

    sal_buffer_options buffer;       /* persistent chains */
    sal_ptt_options ptt;             /* trajectory tempering */
    sal_optimiser_options optimiser; /* how parameters are updated */
    sal_rate_options rate;           /* the learning rate over time */
    sal_couplings_options couplings; /* penalties of couplings */
    sal_sparsity_options sparsity;   /* which couplings are active */

    sal_centring centring; /* 0: SAL_CENTRING_AUTO (docs/tuning.md) */
    double averaging; /* decay of exponential moving averages of the parameters, below 1; at update
                         t the decay is at most t / (t + 9); 0: no averages */
    double magnitude_penalty;  /* a in the penalty a mean(f(data)^2 + f(samples)^2) (Du & Mordatch
                                  2019) */
    const char *fixed;         /* parameters that training does not change, separated by commas */
    double largest_difference; /* |mean f(data) - mean f(samples)| above which training has
                                  diverged; 0: 1e4 */

    /* Training stops at a report in which the connected pair frequencies of data and samples have
     * this correlation (sal_stats_pair_correlation), below 1. -1: reports tell it, and training
     * goes on; 0: as -1 with an alignment, if the objective has samples, else it is not computed;
     * but 0.95 with sparsity, which looks for it at its steps too. Needs an objective with samples,
     * rows without greys, and variables with 256 states at most; takes 16 bytes for each pair of
     * states. The samples are those of the training, and flatter the model where they do not mix */
    double pearson;

    int64_t report_every;              /* iterations between two reports; 0: 100 */
    sal_checkpoint_options checkpoint; /* saving and resuming */
    sal_train_callbacks callbacks;     /* functions that the training calls */
} sal_train_options;

/* Fit the parameters of a tape model to data. Each iteration draws a minibatch of data and one of
 * the buffer's chains, moves these chains by K sampler steps, and follows the gradient of mean
 * f(data) - mean f(samples), less penalties. Training starts from the model's current parameters
 * (see sal_model_train_start).
 *
 * Centring makes training independent of which of two states is called 0, such as whether ink is 1
 * or 0. It applies to terms sum softplus(W s + c) + b's of any formula and, if asked for, also to
 * terms a s'Js + b's, provided that the biases are learned. The optimiser then updates (W, b~, c~)
 * or (J, b~). These give the same f with units counted from offsets near their means:
 *
 *     c~ = c + W lambda,  b~ = b + W'mu;    b~ = b + a (J + J')mu.
 *
 * After each update b and c are computed from the centred values. The offsets lambda and mu are
 * moving averages (decay 0.99) of the units' means over data and samples. Penalties, clip_norm and
 * the reported gradient_norm apply to the gradient in centred coordinates. Centring needs samples
 * and cannot be combined with magnitude_penalty.
 *
 * Math:    d log-likelihood / d theta = E_data df/dtheta - E_model df/dtheta
 * Returns: SAL_ERR_ARGUMENT (options, or data that do not fit the space); SAL_ERR_UNSUPPORTED (no
 *          parameters, or a sampler that cannot serve the model); SAL_ERR_MODEL (f or a parameter
 *          became NaN or infinite, or the difference became too large; the parameters are then
 *          those of the last good report); SAL_ERR_IO, SAL_ERR_DATA (checkpoints); SAL_ERR_MEMORY.
 * Cost:    an iteration: K steps of `batch` chains, and a gradient by the parameters at 2 `batch`
 *          states. Pseudo-likelihood: at two points per row where f is quadratic, else at all
 *          neighbours. Memory O(parameters + buffer V).
 * Threads: alone with its model. The same seed gives the same bits, for any number of threads and
 *          after a resume.
 * Source:  as sal_objective says; centring: Cho, Raiko & Ilin 2013, Melchior, Fischer & Wiskott
 *          2016. */
SAL_API sal_status sal_train(sal_model *model, const sal_data *data,
                             const sal_train_options *options, sal_error *err);

/* A training that you run piece by piece. The model, the data, ptt.test, own_samplers, and what
 * progress_data and report_data point to must outlive the trainer; everything else that the options
 * point to is copied. After a failed sal_trainer_run, call only sal_trainer_destroy or
 * sal_trainer_load. */
typedef struct sal_trainer sal_trainer;

/* Create a trainer that has not made any update.
 * Returns: SAL_ERR_ARGUMENT, SAL_ERR_UNSUPPORTED, SAL_ERR_MEMORY as sal_train.
 * Cost:    O(parameters + buffer V + rows V).
 * Threads: alone with its model. */
SAL_API sal_status sal_trainer_create(sal_model *model, const sal_data *data,
                                      const sal_train_options *options, sal_trainer **out,
                                      sal_error *err);

/* Free a trainer; NULL is fine. The model keeps its parameters. */
SAL_API void sal_trainer_destroy(sal_trainer *trainer);

/* Run at most `count` more iterations, with reports and checkpoints when they are due. The training
 * is complete when a report's `iteration` equals its `iterations`.
 * Returns: SAL_ERR_MODEL, SAL_ERR_IO, SAL_ERR_MEMORY as sal_train; SAL_ERR_ARGUMENT after a
 *          failure.
 * Cost:    as sal_train.
 * Threads: alone with its model. */
SAL_API sal_status sal_trainer_run(sal_trainer *trainer, int64_t count, sal_error *err);

/* Get a report of the current progress. */
SAL_API void sal_trainer_report(const sal_trainer *trainer, sal_train_report *report);

/* Save a checkpoint in a directory: checkpoint.json, which names the file of arrays that belongs to
 * it. The directory holds a complete checkpoint at every moment.
 * Returns: SAL_ERR_ARGUMENT (the trainer has failed; a path that is too long); SAL_ERR_IO;
 *          SAL_ERR_MEMORY. The previous checkpoint is then unchanged.
 * Cost:    O(parameters + buffer V).
 * Threads: one at a time. */
SAL_API sal_status sal_trainer_save(sal_trainer *trainer, const char *directory, sal_error *err);

/* Load a checkpoint into a trainer. If the directory has none, nothing changes.
 * Returns: SAL_ERR_DATA (not a checkpoint, or of another model, data or options); SAL_ERR_ARGUMENT
 *          (a path that is too long); SAL_ERR_IO; SAL_ERR_MEMORY. The trainer is then unchanged.
 * Cost:    O(parameters + buffer V).
 * Threads: one at a time. */
SAL_API sal_status sal_trainer_load(sal_trainer *trainer, const char *directory, sal_error *err);

/* Write what a report tells into a directory, for sal_model_open and `saltus evaluate`: model.xml
 * and model.safetensors, the moving averages as ema.safetensors, and for sal_trajectory_open the
 * trajectory: a ladder into `directory`/ladder, a denoising chain as `directory`/denoising.json.
 * Each call writes the levels that are not there yet, and notes which levels belong to the model.
 * Nothing is written unless the report is the best so far. Call it from the `report` callback.
 * Params:  model  the one in training, report->model. The averages take its parameters' place for
 *                 a moment.
 * Returns: SAL_ERR_ARGUMENT (NULL, a path that is too long); SAL_ERR_IO; SAL_ERR_MEMORY.
 * Cost:    O(parameters), and of each new level.
 * Threads: alone with its model. */
SAL_API sal_status sal_train_save(const sal_train_report *report, sal_model *model,
                                  const char *directory, sal_error *err);

/* Set the options of a training that are not given to what suits a ready-made model, and say which
 * settings to add to its specification. The suggestions go with what is given:
 * - Another objective than the suggested one: nothing is suggested. The same holds if no objective
 *   is given, but `buffer` or magnitude_penalty, unless the suggested objective is SAL_PCD.
 * - Another sampler than the suggested one: no number of steps is suggested. Another optimiser: no
 *   learning rate, momentum or beta2.
 * - SAL_SPARSITY_ACTIVATE: a larger learning rate.
 * - A suggested batch is no larger than a given number of persistent chains or, except with
 *   SAL_PCD, the number of rows. A reservoir is suggested for the suggested batch only.
 *
 * Params:  specification: as sal_model_open takes it; its name matters, and what it says of
 *          levels, units, base and kinds of variables.
 *          given: the names that `saltus train` has for the options that are given, separated by
 *          commas: "objective,buffer". Other names count for nothing. NULL: all options that are
 *          not 0; SAL_PCD is 0, and must be named to count.
 *          rows: rows to train on; 0: not known yet.
 *          options: what is given; receives the suggestions. Options that are neither given nor
 *          suggested become 0. Fields that are no options of `saltus train`, such as callbacks,
 *          stay.
 *          settings: receives "base=1,units=64", or NULL for none; may be NULL.
 * Returns: true; false if nothing is suggested: *options and *settings are then untouched.
 * Cost:    O(1).
 * Threads: any. */
SAL_API bool sal_train_suggest(const char *specification, const char *given, int64_t rows,
                               sal_train_options *options, const char **settings);

/* The ready-made model that is to be trained first where the suggestions for `specification` are
 * followed, and whose ladder the training goes on from (sal_ptt_options.first): "rbm:hidden=64" of
 * a net of bits without levels of noise. NULL in *first: none, or nothing is known. Freed with
 * sal_free.
 * Returns: SAL_ERR_ARGUMENT (NULL); SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: any. */
SAL_API sal_status sal_train_first(const char *specification, char **first, sal_error *err);

/* Complete the specification of a ready-made model for training on data: add "visible=V" where the
 * model has that setting first and the specification does not give it; "alphabet=LETTERS" to rbm
 * with kind=categorical if the data are an alignment, and the specification gives no alphabet and
 * as many states or none; else "states=K" to rbm with kind=categorical or kind=ordinal if the
 * specification gives no states and no alphabet, the largest code and one; and, if `suggested`, the
 * setting of sal_train_suggest unless "base" or "quadratic" is given.
 * Params:  data: NULL: only what is suggested is added. text: the result, to be freed by sal_free.
 * Returns: SAL_ERR_ARGUMENT (NULL; alphabet=auto twice); SAL_ERR_MEMORY. Other mistakes in the
 *          specification are found when it is opened.
 * Cost:    O(length).
 * Threads: any. */
SAL_API sal_status sal_train_specification(const char *specification, const sal_data *data,
                                           bool suggested, char **text, sal_error *err);

/* Give a ready-made model starting parameters that suit training on `data`: small random weights,
 * and biases from the data's mean; zeros for models that define no start. `specification` is the
 * one that the model was made from.
 * Returns: SAL_ERR_NOT_FOUND (no such ready-made model); SAL_ERR_ARGUMENT (a specification that is
 *          not acceptable, data that do not fit the space); SAL_ERR_MEMORY.
 * Cost:    O(rows V + parameters).
 * Threads: the model must not be in use elsewhere. */
SAL_API sal_status sal_model_train_start(sal_model *model, const char *specification,
                                         const sal_data *data, uint64_t seed, sal_error *err);

/* Compute a preconditioner M [N x N] for pavg: the covariance of the data, in units in which
 * neighbouring levels are 1 apart (of grey data, one drawing of each row counts). 0.01 is added to
 * variances below 0.01 (Rhodes & Gutmann 2022, appendix F.1). As pavg's M stands for a Hessian of
 * f, entries are divided by the two variables' spacings, so that chains do not depend on the
 * embedding: over spins M is the covariance of the spins over 16.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit); SAL_ERR_MEMORY. M is then unspecified.
 * Cost:    O(rows N^2).
 * Threads: any. */
SAL_API sal_status sal_data_preconditioner(const sal_data *data, const sal_model *model, double *M,
                                           sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
