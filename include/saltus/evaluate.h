/* SPDX-License-Identifier: MIT */
/* Evaluation of a trained model: log Z by annealed importance sampling, the log-likelihood of data,
 * and whether the model's own samples are like the data. */
#ifndef SALTUS_EVALUATE_H
#define SALTUS_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/stats.h>
#include <saltus/status.h>
#include <saltus/train.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- independent variables */

/* Fit independent variables to the means of data. The probability of each of a variable's K states
 * is its share of the rows (by their weights), but at least 0.02 / K (0.01 to 0.99 for two states);
 * larger probabilities shrink in proportion.
 * Params:  log_base [R]: log-probabilities, R the sum of the variables' states, variable 0 first.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit the space); SAL_ERR_UNSUPPORTED (a count without
 *          a cap). On failure log_base is untouched.
 * Cost:    O(rows V + R).
 * Threads: any. */
SAL_API sal_status sal_base_fit(const sal_space *space, const sal_data *data, double *log_base,
                                sal_error *err);

/* The log-likelihood of rows of data. */
typedef struct sal_likelihood {
    double mean_f;         /* mean f of the rows, by their weights */
    double mean;           /* mean_f - log Z, in nats per row; -inf if a row is forbidden */
    double data_error;     /* standard error of mean_f if the rows are a sample; NaN for one row */
    double standard_error; /* of `mean`: data_error and the error of log Z combined */
} sal_likelihood;

/* Compute log p_0 [rows] of the rows of data under independent variables with the log-probabilities
 * log_base, and their mean as a log-likelihood. Either output may be NULL.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit the space, log_base that is no distribution);
 *          SAL_ERR_UNSUPPORTED (a count without a cap); SAL_ERR_MEMORY.
 * Cost:    O(rows V + R).
 * Threads: any. */
SAL_API sal_status sal_base_log_prob(const sal_space *space, const double *log_base,
                                     const sal_data *data, double *log_prob,
                                     sal_likelihood *likelihood, sal_error *err);

/* ---- annealed importance sampling */

/* The positions of the inverse temperatures beta_t, t = 0 .. T, with beta_0 = 0 and beta_T = 1. */
typedef enum sal_ais_schedule {
    SAL_AIS_LINEAR = 0, /* t / T */
    SAL_AIS_SIGMOID,    /* dense at both ends: sigmoid(8 t / T - 4), scaled to 0 .. 1 */
    SAL_AIS_GEOMETRIC,  /* dense at 0: the last interval is about 100 times the first */
} sal_ais_schedule;

/* Options of sal_ais. Fields left zero take their defaults. */
typedef struct sal_ais_options {
    int64_t chains;            /* number of independent chains; 0: 100 */
    int64_t temperatures;      /* T, the number of intervals; 0: 1000 */
    int64_t steps;             /* sampler steps at each temperature between the ends; 0: 1 */
    sal_ais_schedule schedule; /* 0: SAL_AIS_LINEAR */
    const char *sampler;       /* an exact sampler whose chains do not depend on each other; NULL:
                                  "block-gibbs" for layers and chains, "gwg", or "gibbs" where gradients
                                  mislead */
    double step_size; /* of samplers that have one, never adapted; 0: the sampler's default */
    uint64_t seed;    /* the same seed gives the same bits */
    int threads;      /* 0: OMP_NUM_THREADS, or all processors; the results do not depend on it */
    struct sal_comm *comm; /* processes that share the chains (mpi.h): all of them make the same
                              call but for threads and progress, which is called at rank 0. All get
                              the estimate. NULL: this process alone */

    const struct sal_sampler_descriptor *const *own_samplers; /* as in sal_run_options */

    /* The base distribution p_0 as finite log-probabilities [R], in the layout of sal_base_fit;
     * those of each variable form a distribution. A count without a cap has two, log(1 - t) and log
     * t of the geometric distribution P(k) = (1 - t) t^k. NULL: uniform. */
    const double *log_base;

    /* NULL: forward. Else codes [chains x V] with finite f, where the chains start: they go from
     * the model to p_0 (reverse), with other random numbers than forward chains of the same seed.
     * Errors are right only for independent starting states: use no more chains than you have such
     * states. */
    const int32_t *reverse_from;

    /* Receives the codes [chains x V] where the chains are at the end, which with the weights are
     * samples of the model (forward) or p_0; untouched if it fails or is stopped. NULL: not wanted.
     */
    int32_t *ends;

    /* Called from the calling thread after each of the T weights. A return value other than 0 stops
     * the estimate. NULL: not called. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */
} sal_ais_options;

/* The result of sal_ais. */
typedef struct sal_ais_estimate {
    double log_z;          /* the estimate of log Z */
    double standard_error; /* of log_z, by the delta method on the weights; NaN for one chain */
    double jackknife;      /* standard error of log_z by the jackknife over the chains */
    double ess;            /* effective number of chains, (sum w)^2 / sum w^2 */
    int64_t dead; /* forward: chains that started at a forbidden state; their weight is 0 */
    double acceptance_rate; /* of all sampler steps; NaN if there were none */
    const char *sampler;    /* its name, never to be freed; that of an own sampler lives as long as
                               its descriptor */
    bool stopped;           /* `progress` stopped the estimate, which is then NaN */
} sal_ais_estimate;

/* Estimate log Z, the log of the sum of exp f over all states, by annealed importance sampling.
 * Math:    f_beta = (1 - beta) log p_0 + beta f. Forward: s_0 ~ p_0, and `steps` steps of the
 *          sampler at beta_t lead from s_{t-1} to s_t, t = 1 .. T - 1;
 *            log w = sum_{t=1}^T f_{beta_t}(s_{t-1}) - f_{beta_{t-1}}(s_{t-1}),
 *            log Z ~ log mean w.
 *          E w = Z exactly, so log Z is underestimated on average. Reverse: the same path in the
 *          other direction, from s ~ exp(f) / Z. E 1/w = 1/Z, so -log mean 1/w overestimates log Z
 *          on average, if the chains start at samples of the model. If they start at data instead,
 *          this bound holds only as far as the model is right about the data. If the model forbids
 *          states, a reverse path never reaches them, and log Z is overestimated by -log
 *          p_0(allowed states) more.
 *          The truth lies between the two estimates with high probability if both standard errors
 *          are small. If the ESS is only a few chains, do not trust the estimates.
 * Params:  options: NULL for the defaults. log_weights [chains] or NULL: log w of each chain, -inf
 *          for dead chains.
 * Returns: SAL_ERR_ARGUMENT (options; reverse_from out of range or forbidden, naming the chain);
 *          SAL_ERR_UNSUPPORTED (a sampler that is approximate, couples its chains or cannot serve
 *          the model; a count without a cap and no base); SAL_ERR_MODEL (f is NaN or +inf, showing
 *          the state; or every chain started at a forbidden state: p_0 is too far away);
 *          SAL_ERR_MEMORY. The outputs are then untouched.
 * Cost:    T (steps + 1) evaluations of all chains; the weights and the sampler share the
 *          evaluation at each new temperature. A tape model is copied as a formula with beta as a
 *          parameter. "block-gibbs" recognises its hidden chains and RBM layers; a
 *          Metropolis-Hastings step corrects draws of layers.
 * Threads: any, while nobody sets the model's parameters; works on `threads` threads.
 * Source:  Neal 2001, Annealed importance sampling; reverse: Burda, Grosse & Salakhutdinov 2015;
 *          for deep models: Grathwohl et al. 2021, sec. 7. */
SAL_API sal_status sal_ais(sal_model *model, const sal_ais_options *options,
                           sal_ais_estimate *estimate, double *log_weights, sal_error *err);

/* Estimate log Z from forward and reverse chains together, by Bennett's acceptance ratio of their
 * weights: of all estimates from these weights the one of least variance. It lies between the two
 * one-sided ones and needs them to overlap: some forward log w above some reverse ones.
 * Params:  forward [n_forward], reverse [n_reverse]: log_weights of sal_ais with the same options
 *          in both directions; the reverse chains started at samples of the model.
 *          standard_error: of the estimate, by the delta method over the chains; NaN where a side
 *          has one chain; inf where all forward weights are below all reverse ones, and the
 *          estimate is then the middle between them.
 * Returns: SAL_ERR_ARGUMENT (no chains; a weight that is NaN or +inf, or a reverse one that is
 *          -inf; forward chains that are all dead); SAL_ERR_MEMORY. On failure the outputs are
 *          untouched.
 * Cost:    O(chains) for each of some 60 iterations.
 * Threads: any; runs in the calling thread.
 * Source:  Bennett 1976, eq. 12; for weights of paths: Crooks 2000; Shirts et al. 2003. */
SAL_API sal_status sal_ais_bennett(int64_t n_forward, const double *forward, int64_t n_reverse,
                                   const double *reverse, double *log_z, double *standard_error,
                                   sal_error *err);

/* ---- the log-likelihood of data */

/* Compute the mean log-likelihood of rows of data under a model whose log Z is known or estimated.
 * Params:  log_z_error: the standard error of log_z, >= 0; 0 for an exact log_z.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit the space; log_z); SAL_ERR_MODEL (f is NaN or
 *          +inf); SAL_ERR_MEMORY. *likelihood is then untouched.
 * Cost:    f of all rows.
 * Threads: any; runs in the calling thread. */
SAL_API sal_status sal_log_likelihood(const sal_model *model, const sal_data *data, double log_z,
                                      double log_z_error, sal_likelihood *likelihood,
                                      sal_error *err);

/* ---- denoising chains */

/* Options of sal_denoising_bound. Fields left zero take their defaults. */
typedef struct sal_bound_options {
    double effort; /* times as many temperatures at each level, 200 at the first and 10 at the last
                      of eight levels; above 0; 0: 1 */
    uint64_t seed; /* the same seed gives the same bits */
    int threads;   /* 0: OMP_NUM_THREADS, or all processors; the results do not depend on it */

    /* Called from the calling thread after each level. A return value other than 0 stops the call.
     * NULL: not called. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */
} sal_bound_options;

/* A bound on the mean log-likelihood of rows, in nats a row, from both sides: annealed importance
 * sampling makes `forward` too large and `reverse` too small on average. */
typedef struct sal_bound {
    double forward;       /* mean over the rows, by estimates of log Z in the forward direction */
    double forward_error; /* standard error of `forward`, the rows being a sample */
    double reverse;       /* the same by estimates in the reverse direction */
    double reverse_error; /* standard error of `reverse` */
    double gap;           /* forward - reverse */
    double gap_error;     /* standard error of `gap`, over the same rows */
    bool stopped;         /* `progress` stopped the call: there are no figures */
} sal_bound;

/* Bound the log-likelihood of rows by a denoising chain of conditional energies, the mean over rows
 * of the evidence lower bound. It lies below the log-likelihood, by as much as the noise q differs
 * from the posterior of the chain.
 * Math:    log p(x_0) >= E_q [ log p_0(x_T) + sum_t (f_t(x_t) - log Z_t(x_(t+1))) ],
 *          Z_t(x') = sum over x of exp(f_t(x) + log q(x' | x)),
 *          one draw of x_1 .. x_T for each row, and one path of annealed importance sampling for
 *          each log Z_t, from independent variables with the logits of the level's gradient.
 * Params:  model: as opened from the directory, and its `trajectory`. codes [rows x V] of x.
 * Returns: SAL_ERR_ARGUMENT (options; codes out of range; a trajectory that is a ladder, or of
 *          another model); SAL_ERR_UNSUPPORTED, SAL_ERR_MODEL, SAL_ERR_MEMORY as sal_sample.
 * Cost:    about 3000 evaluations of the gradient for each row, times the effort.
 * Threads: alone with `model`; works on `threads` threads.
 * Source:  Gao, Song, Poole, Wu & Kingma 2021; Sohl-Dickstein, Weiss, Maheswaranathan & Ganguli
 *          2015 (the bound); Neal 2001; Burda, Grosse & Salakhutdinov 2015 (in reverse). */
SAL_API sal_status sal_denoising_bound(sal_model *model, const struct sal_trajectory *trajectory,
                                       int64_t rows, const uint8_t *codes,
                                       const sal_bound_options *options, sal_bound *bound,
                                       sal_error *err);

/* ---- whether the model's own samples are like the data */

/* An estimate with its standard error. */
typedef struct sal_verdict_value {
    double value;          /* NaN: not known, or not asked for */
    double standard_error; /* NaN: not known */
} sal_verdict_value;

/* One figure that compares samples with the held-out rows. */
typedef struct sal_verdict_figure {
    sal_verdict_value fresh;      /* of draws of the model from scratch */
    sal_verdict_value persistent; /* of the training's chains; NaN if there are none */
    sal_verdict_value train; /* of training rows, if possible as many as fresh draws: what a perfect
                                model reaches */
    sal_verdict_value test;  /* of the held-out rows themselves; NaN except for f */

    /* How much worse fresh draws are than training rows. Means and covariances: 1 - fresh / train,
     * both without the bias of a finite sample (jackknife). MMD: (fresh^2 - train^2) over the
     * kernel's variance among held-out rows, 1 - mean k. Classifier: fresh - train. f: the distance
     * of fresh from test; not judged. */
    sal_verdict_value shortfall;
    double margin; /* the largest shortfall that counts as close to the data; NaN: not judged */
    bool judged;   /* whether the figure is informative: see sal_verdict_judge */
    bool differs;  /* whether the shortfall is above SAL_VERDICT_DISTINCT standard errors */
} sal_verdict_figure;

/* The answer of a verdict. */
typedef enum sal_verdict_answer {
    SAL_VERDICT_UNKNOWN = 0, /* the question cannot be answered */
    SAL_VERDICT_LIKE,        /* so many of the model's own samples cannot be told from the data */
    SAL_VERDICT_UNLIKE,      /* they are not like the data */
    SAL_VERDICT_CLOSE        /* they can be told from the data, but are within all margins */
} sal_verdict_answer;

/* The reason for an answer. */
typedef enum sal_verdict_reason {
    SAL_VERDICT_WITHIN_MARGINS = 0, /* like: every judged shortfall is within its margin, and no
                                       figure differs */
    SAL_VERDICT_BEYOND_MARGIN,      /* unlike: `worst` names the figure that differs most */
    SAL_VERDICT_CHAINS_DISAGREE,    /* unknown: R-hat is too large */
    SAL_VERDICT_NO_ROUND_TRIPS, /* unknown: tempering made too few round trips between the hottest
                                   and the coldest temperature */
    SAL_VERDICT_IMPRECISE,   /* unknown: standard errors are too large for the margins, or no figure
                                is informative */
    SAL_VERDICT_WRONG_WAY,   /* unknown: log Z forward is far above reverse */
    SAL_VERDICT_LOG_Z_APART, /* unknown: log Z forward is far below reverse, and nothing else shows
                                that the fresh chains mixed */
    SAL_VERDICT_DISTINGUISHABLE, /* close: every judged shortfall is within its margin, but some
                                    figures differ */
    SAL_VERDICT_STEPS_MATTER     /* unknown: draws of a denoising chain with twice the steps at each
                                    level are others */
} sal_verdict_reason;

/* The figures of a verdict. */
typedef enum sal_verdict_kind {
    SAL_VERDICT_F = 0,       /* mean f; never judged */
    SAL_VERDICT_MEANS,       /* correlation of the means with those of the held-out rows */
    SAL_VERDICT_COVARIANCES, /* correlation of the covariances with those of the held-out rows */
    SAL_VERDICT_MMD, /* maximum mean discrepancy to the held-out rows; 0 where MMD^2 is negative */
    SAL_VERDICT_NEIGHBOURS, /* accuracy of a nearest-neighbour classifier that tells them from the
                               held-out rows; 1/2: it cannot */
    SAL_VERDICT_KINDS       /* number of figures */
} sal_verdict_kind;

/* Chains with fewer round trips, or with an R-hat of f above SAL_RHAT_LIMIT, have not mixed and
 * tell nothing. */
#define SAL_VERDICT_LEAST_ROUND_TRIPS 0.5 /* round trips of tempering per chain */
/* Two estimates of log Z disagree if they differ by more than both of these limits. */
#define SAL_VERDICT_APART_ERRORS 5 /* standard errors */
#define SAL_VERDICT_APART_NATS 3   /* nats */
/* From so many standard errors on a figure differs: of samples that are the data's it says so in
 * one of a thousand verdicts. */
#define SAL_VERDICT_DISTINCT 3.5

/* How sal_verdict_judge draws samples from scratch. They never start from the training's chains.
 * Along the ladder of the training, if it saved one (sal_trajectory_draw); else by parallel
 * tempering, from independent variables with the frequencies of the training data, and once more,
 * four times as long, if the chains have not mixed. Down a denoising chain with twice the steps of
 * the training at each level, and as many draws with four times those of the training, to compare.
 * Fields left zero take their defaults. */
typedef struct sal_verdict_sampling {
    const char *directory; /* where a training saved its ladder and checkpoints; NULL: none */
    int64_t draws;         /* in all chains together, rounded up to whole chains; 0: 1000 */
    int64_t longest;       /* most swap intervals of a chain, with warm-up, at first; 0: no limit */
    uint64_t seed;         /* the same seed gives the same draws */
    int threads; /* 0: OMP_NUM_THREADS, or all processors; the draws do not depend on it */

    /* Called with the work done and the total of a run. A return value other than 0 stops the call.
     * NULL: not called. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */
} sal_verdict_sampling;

/* What a verdict is computed from. */
typedef struct sal_verdict_inputs {
    const sal_data *train; /* the rows that the model was trained on */
    const sal_data *test;  /* held-out rows */

    /* Draws of the model from scratch. The chains must be independent; the draws of one chain need
     * not be. With `fresh` NULL sal_verdict_judge draws them as `sampling` says, and sets chains,
     * draws, rhat, round_trips and bennett itself. */
    sal_verdict_sampling sampling;
    int64_t chains;       /* >= 4 */
    int64_t draws;        /* >= 1 */
    const uint8_t *fresh; /* [chains x draws x V] the codes of these draws */

    int64_t persistent_rows;   /* number of persistent states; 0: none, or with `fresh` NULL the
                                  chains of the last checkpoint in sampling.directory; -1: none */
    const uint8_t *persistent; /* [persistent_rows x V] the training's chains, or NULL */

    double rhat;        /* R-hat of f over the fresh chains; NaN: not known, and not judged */
    double round_trips; /* round trips of tempering per chain; NaN: no tempering */

    /* An estimate of log Z by sal_ais forward, or NULL. */
    const sal_verdict_value *forward;
    const sal_verdict_value *reverse; /* by sal_ais in reverse, from states assumed to be samples of
                                         the model; or NULL */
    const sal_verdict_value *bennett; /* by Bennett's acceptance ratio along a ladder; or NULL */
} sal_verdict_inputs;

/* The answer, its reason, and all figures. */
typedef struct sal_verdict {
    sal_verdict_answer answer; /* like, unlike or unknown */
    sal_verdict_reason reason; /* the reason for the answer */
    sal_verdict_kind worst;    /* the judged figure that differs most, relative to its margin */
    sal_verdict_figure figures[SAL_VERDICT_KINDS]; /* indexed by sal_verdict_kind */
    sal_verdict_value forward;                     /* log Z, as given; NaN: not given */
    sal_verdict_value reverse;                     /* log Z, as given; NaN: not given */
    sal_verdict_value bennett;                     /* log Z, as given; NaN: not given */
    /* Of a denoising chain whose samples were drawn here: in `fresh` the MMD of the fresh draws to
     * as many with twice the steps at each level, in `shortfall` its square over the kernel's
     * variance; near 0 if the steps suffice. Judged if known; the rest is NaN. With few draws only
     * large differences are seen. */
    sal_verdict_figure steps;
    double rhat;             /* as given */
    double round_trips;      /* as given */
    int64_t chains;          /* as given */
    int64_t draws;           /* of each chain, as given */
    int64_t persistent_rows; /* persistent states used in figures */
    int64_t train_rows;      /* training rows used in figures */
    int64_t test_rows;       /* held-out rows used in figures */
    int64_t levels; /* of noise, of a denoising chain, whose f is that of level 0; 0: it is none */
    bool stopped;   /* `progress` stopped the call: nothing else is set */
} sal_verdict;

/* Judge a trained model by its own samples. Do not judge by the persistent chains alone: if they do
 * not mix, they show where training has been, not what the model is.
 * Math:    T is the set of held-out rows, and S is the fresh draws, the persistent chains or
 *          training rows. Means: Pearson's correlation of mean_S x_i and mean_T x_i over the
 *          columns i: one column for each variable (its code), or one for each state of a
 *          categorical variable of three or more states. Covariances: the correlation of cov_S(x_i,
 *          x_j) and cov_T(x_i, x_j) over the pairs of columns of two different variables (of more
 *          than 2048 columns, evenly spaced ones). MMD: as sal_stats_mmd, without pairs of one
 *          group. Classifier: a row is told to be of S or of T by its nearest neighbour, by the
 *          number of variables that differ, among as many rows of S as of T, none of its own group;
 *          of as many rows of S as of T. Ties count in parts. With fewer held-out rows than
 *          groups the figure is NaN, and not judged.
 *          Errors are the jackknife's, leaving out one group at a time: at most 50 groups of
 *          chains, or of rows. Errors of the training rows' figures leave out the held-out rows'
 *          noise, which both figures of a shortfall share.
 *          A correlation is judged if that of the training rows, less three standard errors, is at
 *          least 0.5, and noise is at most 0.2 of the variance of their means (covariances). The
 *          MMD and the classifier are judged wherever they are known. Margins: 0.05 of the means'
 *          correlation, 0.15 of the covariances', 0.02 of the kernel's variance, 0.25 of the
 *          classifier's accuracy.
 *          The first of these rules that applies gives the answer. Unknown: R-hat above
 *          SAL_RHAT_LIMIT; fewer round trips per chain than SAL_VERDICT_LEAST_ROUND_TRIPS; the
 *          shortfall of `steps` less two standard errors is beyond the margin. Unlike:
 *          a judged figure's shortfall less two standard errors is beyond its margin. Unknown: log
 *          Z forward is above reverse by more than 5 standard errors (of both) and 3 nats; or it is
 *          below reverse by as much, without tempering. Like: there are 20 held-out rows or more,
 *          and every judged shortfall is within its margin, as are three of its standard errors,
 *          except figures that training rows in the place of fresh draws could not tell so
 *          precisely; only close, if any figure differs by more than SAL_VERDICT_DISTINCT standard
 *          errors. Otherwise unknown.
 * Params:  model: gives f and the space; inputs: see sal_verdict_inputs. Rows count by their
 *          weights, except in the MMD and the classifier, where all count alike. samples: receives
 *          the draws that were made here [verdict->chains x verdict->draws x V], to be freed by
 *          sal_free; NULL if `progress` stopped the call; else untouched. `samples` may be NULL.
 * Returns: SAL_ERR_ARGUMENT (data or codes that do not fit the space; fewer than 4 chains);
 *          SAL_ERR_MODEL (f is NaN or +inf); SAL_ERR_UNSUPPORTED, SAL_ERR_DATA and SAL_ERR_IO
 *          (drawing samples); SAL_ERR_MEMORY. *verdict is then untouched.
 * Cost:    sampling; f of all rows; O(rows C^2) for C columns, O(rows^2 V / 64).
 *          Memory 24 C^2 bytes.
 * Threads: any, while nobody sets the model's parameters.
 * Source:  the problem: Nijkamp, Hill, Han, Zhu & Wu 2020; Decelle, Furtlehner & Seoane 2021. The
 *          classifier: Schilling 1986; Lopez-Paz & Oquab 2017. */
SAL_API sal_status sal_verdict_judge(sal_model *model, const sal_verdict_inputs *inputs,
                                     sal_verdict *verdict, uint8_t **samples, sal_error *err);

/* Write the verdict as one sentence: the answer, what differs most or is not known, and what to do.
 * The text is cut to `room` bytes, including the NUL; 512 are enough.
 * Cost:    O(1).
 * Threads: any. */
SAL_API void sal_verdict_sentence(const sal_verdict *verdict, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
