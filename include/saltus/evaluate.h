/* How good a model is: log Z by annealed importance sampling, and so the log-likelihood of data. */
#ifndef SALTUS_EVALUATE_H
#define SALTUS_EVALUATE_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/model.h>
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
    const char *sampler; /* default "gwg", or "gibbs" for a model without a gradient; exact ones,
                            whose chains do not depend on each other */
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

#ifdef __cplusplus
}
#endif
#endif
