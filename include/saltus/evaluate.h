/* How good a model is: log Z by annealed importance sampling, and so the log-likelihood of data;
 * and whether its own samples are like the data. */
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

/* The probabilities of independent variables fitted to the means of data: of each variable the
 * share of the rows (by their weights) in each of its K states, kept 0.02 / K from 0 (0.01 from 0
 * and 1 for two states) by taking from the larger ones in proportion.
 * Params:  log_base [R]: log-probabilities, R the sum of the variables' states, variable 0 first.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit the space); SAL_ERR_UNSUPPORTED (a count without
 *          a cap). On failure log_base is untouched.
 * Cost:    O(rows V + R).
 * Threads: any. */
SAL_API sal_status sal_base_fit(const sal_space *space, const sal_data *data, double *log_base,
                                sal_error *err);

/* log p_0 [rows] of the rows of data under such probabilities.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit the space, log_base that is no distribution);
 *          SAL_ERR_UNSUPPORTED (a count without a cap); SAL_ERR_MEMORY.
 * Cost:    O(rows V + R).
 * Threads: any. */
SAL_API sal_status sal_base_log_prob(const sal_space *space, const double *log_base,
                                     const sal_data *data, double *log_prob, sal_error *err);

/* ---- annealed importance sampling */

/* Where the inverse temperatures beta_t lie, t = 0 .. T; always beta_0 = 0 and beta_T = 1. */
typedef enum sal_ais_schedule {
    SAL_AIS_LINEAR = 0, /* t / T */
    SAL_AIS_SIGMOID,    /* dense at both ends: sigmoid(8 t / T - 4), scaled to 0 .. 1 */
    SAL_AIS_GEOMETRIC,  /* dense at 0: the last interval is about 100 times the first */
} sal_ais_schedule;

/* Zeros stand for the defaults. */
typedef struct sal_ais_options {
    int64_t chains;            /* independent chains; default 100 */
    int64_t temperatures;      /* T, the number of intervals; default 1000 */
    int64_t steps;             /* sampler steps at each temperature between the ends; default 1 */
    sal_ais_schedule schedule; /* 0: SAL_AIS_LINEAR */
    const char *sampler; /* an exact one, whose chains do not depend on each other; default as in
                            sal_run_options */
    double step_size;    /* of samplers that have one; default the sampler's usual one, never
                            adapted */
    uint64_t seed;       /* same seed, same bits */
    int threads;         /* 0: OpenMP's choice; the results do not depend on it */

    const struct sal_sampler_descriptor *const *own_samplers; /* as in sal_run_options */

    /* The base distribution p_0 as log-probabilities [R], laid out as by sal_base_fit; finite, and
     * of each variable those of a distribution. NULL: uniform. */
    const double *log_base;

    /* NULL: forward. Else codes [chains x V], of finite f: the chains start there and go from the
     * model to p_0, by other random numbers than the forward ones of the same seed. Errors are
     * right for independent states only: no more chains than there are states. */
    const int32_t *reverse_from;

    /* Called after each of the T weights in the calling thread; a return value other than 0 stops.
     * NULL: none. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */
} sal_ais_options;

/* Those of them that texts can set, by their names in `saltus evaluate`. */
SAL_API const sal_option_table *sal_ais_option_table(void);

/* What sal_ais found. */
typedef struct sal_ais_estimate {
    double log_z;          /* estimated */
    double standard_error; /* of log_z, by the delta method on the weights; NaN for one chain */
    double jackknife;      /* the same by leaving out one chain at a time */
    double ess;            /* effective number of chains, (sum w)^2 / sum w^2 */
    int64_t dead; /* forward: chains that started at a forbidden state; their weight is 0 */
    double acceptance_rate; /* of the steps made; NaN if there were none */
    bool stopped;           /* by `progress`: the estimates are NaN */
} sal_ais_estimate;

/* Estimate log Z, the log of the sum of exp f over all states, by annealed importance sampling.
 * Math:    f_beta = (1 - beta) log p_0 + beta f. Forward: s_0 ~ p_0, s_t made of s_{t-1} by `steps`
 *          steps of the sampler at beta_t, t = 1 .. T - 1;
 *            log w = sum_{t=1}^T f_{beta_t}(s_{t-1}) - f_{beta_{t-1}}(s_{t-1}),
 *            log Z ~ log mean w.
 *          E w = Z exactly, so that log Z is underestimated on average. Reverse: the same path the
 *          other way, from s ~ exp(f) / Z; E 1/w = 1/Z, and log Z ~ -log mean 1/w is overestimated
 *          on average, if the chains start at samples of the model. Chains that start at data
 *          instead give such a bound only as far as the model is right about the data.
 *          If the model forbids states, a reverse path never reaches them, and log Z is
 *          overestimated by -log p_0(allowed states) more.
 *          The truth lies between the two with high probability when both standard errors are
 *          small; an ESS of a few chains says that they are not to be trusted.
 * Params:  options: NULL for the defaults. log_weights [chains] or NULL: log w of each chain, -inf
 *          of the dead ones.
 * Returns: SAL_ERR_ARGUMENT (options; reverse_from out of range or forbidden, naming the chain);
 *          SAL_ERR_UNSUPPORTED (a sampler that is approximate or couples its chains, or cannot
 *          serve the model; a count without a cap); SAL_ERR_MODEL (f is NaN or +inf, showing the
 *          state; or every chain started at a forbidden state: p_0 is too far away);
 *          SAL_ERR_MEMORY. The outputs are then untouched.
 * Cost:    T (steps + 1) evaluations of all chains, as the weights and the sampler share the
 *          evaluation at each new temperature. A tape model is copied as a formula with beta as a
 *          parameter. Its hidden chains and RBM layers are known to "block-gibbs"; draws of layers
 *          are corrected by a Metropolis-Hastings step.
 * Threads: any, while nobody sets the model's parameters; works on `threads` threads.
 * Source:  Neal 2001, Annealed importance sampling; reverse: Burda, Grosse & Salakhutdinov 2015;
 *          for deep models: Grathwohl et al. 2021, sec. 7. */
SAL_API sal_status sal_ais(sal_model *model, const sal_ais_options *options,
                           sal_ais_estimate *estimate, double *log_weights, sal_error *err);

/* ---- the log-likelihood of data */

/* How likely rows of data are. */
typedef struct sal_likelihood {
    double mean_f;         /* of the rows, by their weights */
    double mean;           /* mean f - log Z: nats a row; -inf if a row is forbidden */
    double data_error;     /* the standard error of mean_f, if the rows are a sample; NaN for one */
    double standard_error; /* of `mean`: that and the error of log Z together */
} sal_likelihood;

/* The mean log-likelihood of the rows of data under a model whose log Z is known or estimated.
 * Params:  log_z_error: the standard error of log_z, >= 0; 0 for an exact one.
 * Returns: SAL_ERR_ARGUMENT (data that do not fit the space; log_z); SAL_ERR_MODEL (f is NaN or
 *          +inf); SAL_ERR_MEMORY. *likelihood is then untouched.
 * Cost:    f of all rows.
 * Threads: any; runs in the calling one. */
SAL_API sal_status sal_log_likelihood(const sal_model *model, const sal_data *data, double log_z,
                                      double log_z_error, sal_likelihood *likelihood,
                                      sal_error *err);

/* ---- whether the model's own samples are like the data */

/* An estimate. NaN: not known, or not asked for. */
typedef struct sal_verdict_value {
    double value;          /* the estimate; NaN: not known */
    double standard_error; /* its standard error; NaN: not known */
} sal_verdict_value;

/* One way of holding samples against the held-out rows. */
typedef struct sal_verdict_figure {
    sal_verdict_value fresh;      /* of the model's own samples */
    sal_verdict_value persistent; /* of the training's chains; NaN without */
    sal_verdict_value train;      /* of training rows, as many as there are fresh draws if possible:
                                     what a perfect model reaches */
    sal_verdict_value test;       /* of the held-out rows themselves; NaN but for f */

    /* How much worse fresh draws are than training rows, and the most that still counts as like
     * the data. Means and covariances: 1 - fresh / train, both with the bias of a finite sample
     * taken off by the jackknife. MMD: (fresh^2 - train^2) over the variance of the kernel among
     * held-out rows, 1 - mean k. */
    sal_verdict_value shortfall;
    double margin; /* NaN: not judged */
    bool judged;   /* the figure tells something: see sal_verdict_judge */
} sal_verdict_figure;

/* What a verdict says. */
typedef enum sal_verdict_answer {
    SAL_VERDICT_UNKNOWN = 0, /* cannot tell */
    SAL_VERDICT_LIKE,        /* the model's own samples are like the data */
    SAL_VERDICT_UNLIKE       /* they are not */
} sal_verdict_answer;

/* Why. */
typedef enum sal_verdict_reason {
    SAL_VERDICT_WITHIN_MARGINS = 0, /* like */
    SAL_VERDICT_BEYOND_MARGIN,      /* unlike: `worst` says in which figure most */
    SAL_VERDICT_CHAINS_DISAGREE,    /* unknown: R-hat */
    SAL_VERDICT_NO_ROUND_TRIPS,     /* unknown: tempering did not reach the coldest from the hottest
                                       temperature and back */
    SAL_VERDICT_IMPRECISE,  /* unknown: standard errors too large for the margins, or no figure that
                               tells anything */
    SAL_VERDICT_WRONG_WAY,  /* unknown: log Z forward is far above reverse */
    SAL_VERDICT_LOG_Z_APART /* unknown: log Z forward is far below reverse, and nothing else says
                               that the fresh chains mixed */
} sal_verdict_reason;

/* The figures of a verdict. */
typedef enum sal_verdict_kind {
    SAL_VERDICT_F = 0,       /* mean f; never judged */
    SAL_VERDICT_MEANS,       /* correlation of the means with those of the held-out rows */
    SAL_VERDICT_COVARIANCES, /* correlation of the covariances with theirs */
    SAL_VERDICT_MMD,         /* maximum mean discrepancy to them; 0 where MMD^2 is negative */
    SAL_VERDICT_KINDS        /* how many there are */
} sal_verdict_kind;

/* Chains with fewer, or with an R-hat of f above SAL_RHAT_LIMIT, have not mixed and tell nothing.
 */
#define SAL_VERDICT_LEAST_ROUND_TRIPS 0.5 /* of tempering, per chain */
/* Two estimates of log Z that differ by more than both do not agree. */
#define SAL_VERDICT_APART_ERRORS 5 /* standard errors */
#define SAL_VERDICT_APART_NATS 3   /* and nats */

/* What a verdict is made of. */
typedef struct sal_verdict_inputs {
    const sal_data *train; /* the rows that the model was trained on */
    const sal_data *test;  /* held-out rows */

    /* Draws of the model from scratch, codes [chains x draws x V]. The chains must be independent;
     * the draws of one need not be. */
    int64_t chains;       /* >= 4 */
    int64_t draws;        /* >= 1 */
    const uint8_t *fresh; /* see above */

    int64_t persistent_rows;   /* 0: none */
    const uint8_t *persistent; /* [persistent_rows x V] the training's chains, or NULL */

    double rhat;        /* of f over the fresh chains; NaN: not known, and not judged */
    double round_trips; /* of tempering, per chain; NaN: no tempering */

    /* Estimates of log Z: sal_ais each way, and Bennett's between neighbours of a ladder; or NULL.
     */
    const sal_verdict_value *forward;
    const sal_verdict_value *reverse; /* from states that the model is taken to be at */
    const sal_verdict_value *bennett; /* along a ladder */
} sal_verdict_inputs;

/* Whether the model's own samples are like the data, and all figures. */
typedef struct sal_verdict {
    sal_verdict_answer answer; /* like, unlike or unknown */
    sal_verdict_reason reason; /* why */
    sal_verdict_kind worst;    /* the judged figure that differs most, relative to its margin */
    sal_verdict_figure figures[SAL_VERDICT_KINDS]; /* by kind */
    sal_verdict_value forward;                     /* log Z as given; NaN: not given */
    sal_verdict_value reverse;                     /* likewise */
    sal_verdict_value bennett;                     /* likewise */
    double rhat;                                   /* as given */
    double round_trips;                            /* as given */
    int64_t chains;                                /* as given */
    int64_t draws;                                 /* of each chain, as given */
    int64_t persistent_rows;                       /* that figures are made of */
    int64_t train_rows;                            /* likewise */
    int64_t test_rows;                             /* likewise */
} sal_verdict;

/* Judge a trained model by its own samples. Persistent chains flatter a model in which they do not
 * mix: they show where training has been, not what the model is.
 * Math:    With the held-out rows T, and S the fresh draws, the persistent chains or training rows:
 *          means: Pearson's correlation of mean_S x_i and mean_T x_i over the columns i, one for
 *          each variable (its code), for a categorical one of three or more states one for each
 *          state; covariances: of cov_S(x_i, x_j) and cov_T(x_i, x_j) over the pairs of columns of
 *          two different variables (of more than 2048 columns, evenly spaced ones); MMD: as
 *          sal_stats_mmd, without pairs of one group.
 *          Errors are the jackknife's, leaving out one group at a time: at most 50 groups of
 *          chains, or of rows. Those of the training rows' figures do not hold the held-out rows'
 *          noise, which both figures of a shortfall share.
 *          A correlation is judged if that of the training rows, less three standard errors, is at
 *          least 0.5, and at least 0.8 of the variance of their means (covariances) is not their
 *          own noise; the MMD always. Margins: 0.05 of the means' correlation, 0.15 of the
 *          covariances', 0.02 of the kernel's variance.
 *          Unknown: R-hat above SAL_RHAT_LIMIT; fewer round trips per chain than
 *          SAL_VERDICT_LEAST_ROUND_TRIPS. Unlike: a judged
 *          figure's shortfall less two standard errors is beyond its margin. Unknown: log Z forward
 *          above reverse by more than 5 standard errors (of both) and 3 nats; below it so, without
 *          tempering. Like: every judged shortfall, and three standard errors of it, are within
 *          the margin, correlations aside that training rows in the place of fresh draws could not
 *          tell so precisely, and there are 20 held-out rows or more. Otherwise unknown. In this
 *          order.
 * Params:  model: gives f and the space; inputs: see there. Rows count by their weights, in the MMD
 *          all alike.
 * Returns: SAL_ERR_ARGUMENT (data or codes that do not fit the space; fewer than 4 chains);
 *          SAL_ERR_MODEL (f is NaN or +inf); SAL_ERR_MEMORY. *verdict is then untouched.
 * Cost:    f of all rows; O(rows C^2) for C columns, O(rows^2 V / 64). Memory 24 C^2 bytes.
 * Threads: any, while nobody sets the model's parameters.
 * Source:  the problem: Nijkamp, Hill, Han, Zhu & Wu 2020; Decelle, Furtlehner & Seoane 2021. */
SAL_API sal_status sal_verdict_judge(const sal_model *model, const sal_verdict_inputs *inputs,
                                     sal_verdict *verdict, sal_error *err);

/* The verdict in one sentence: what the answer is, what differs most or is not known, and what to
 * do. Cut to `room` bytes, with the NUL; 512 are enough.
 * Cost:    O(1).
 * Threads: any. */
SAL_API void sal_verdict_sentence(const sal_verdict *verdict, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
