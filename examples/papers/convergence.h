/* How far averages over single chains are from the exact answers while the chains run: what most
 * figures on sampling plot. Errors are those of each chain by itself, as in appendix J of Rhodes &
 * Gutmann 2022; what is kept is their mean over the chains. */
#ifndef PAPERS_CONVERGENCE_H
#define PAPERS_CONVERGENCE_H

#include <saltus/figure.h>
#include <saltus/saltus.h>

/* Exact answers of a model, and a state to measure distances from. */
typedef struct truth {
    sal_model *model;
    int64_t V, R;    /* variables; their states in all */
    int64_t *begin;  /* [V + 1] the first entry of each variable */
    double *p;       /* [R] marginals */
    double *moments; /* [V x V] E c_i c_j of the codes c */
    int32_t *random; /* [V] codes */
    int64_t counted; /* distances are over the first so many variables: V, unless changed */
} truth;

sal_status truth_open(const char *specification, truth *t, sal_error *err);
/* The same of a model, which belongs to *t from then on, also on failure. */
sal_status truth_of(sal_model *model, truth *t, sal_error *err);
void truth_free(truth *t);

/* Errors of a chain's averages q against the exact p. */
typedef enum metric {
    MARGINAL_KL, /* sum_k q_i(k) log(q_i(k) / p_i(k)), mean over the variables */
    MARGINAL,    /* |q_i(k) - p_i(k)|, mean over variables and states */
    MEAN_RMSE,   /* root of the mean of (q_i(k) - p_i(k))^2 */
    PAIR,       /* sum_kl |q_ij(k,l) - p_ij(k,l)|, mean over pairs i <= j; of two-level variables */
    COVARIANCE, /* Frobenius norm of the difference of the codes' covariances */
    REVERSE_KL, /* sum_k p_i(k) log(p_i(k) / q_i(k)), with 1e-5 added to all counts that q is of */
    METRICS
} metric;

enum { POINTS = 8, MOST_METHODS = 9 };

/* What a run showed. Errors are taken after draws / 2^7, .., draws / 2, draws. */
typedef struct curve {
    int64_t steps[POINTS];                                  /* after warm-up */
    double error[METRICS][POINTS], spread[METRICS][POINTS]; /* mean over chains, standard error */
    double ess[3]; /* quartiles over chains of effective samples in 1000 steps, by the L1 distance
                      to a random state; 0 for a chain that never moves */
    double step_size, acceptance, jump;
    double step_seconds; /* processor time of a step of all chains, errors included */
} curve;

/* Run `options` (threads 1) on the model. `related`: the first so many variables count in PAIR and
 * COVARIANCE. */
sal_status curve_run(const truth *t, int64_t related, const sal_run_options *options, curve *out,
                     sal_error *err);

enum { SEARCH = -1 };

/* A sampler of a comparison. Lists of them end with one without a name. */
typedef struct method {
    const char *name, *sampler;
    double step_size; /* 0: none, or adapted; SEARCH: found in warm-up, by the mean jump */
} method;

/* curve_run with the method's sampler and step size in place of those of `options`. */
sal_status method_run(const truth *t, int64_t related, const sal_run_options *options,
                      const method *m, curve *out, sal_error *err);

/* What of the curves is drawn. */
typedef struct curves_view {
    const char *title, *label; /* of the panels, and of errors; NULL: "RMSE of means" */
    metric metric;
    double scale;    /* of errors */
    bool per_second; /* effective samples of a second, not of 1000 steps */
} curves_view;

/* Three panels of `figure` (or NULL: nothing) for the curves of at most MOST_METHODS methods:
 * errors over steps and over processor time, with standard errors, and effective samples, the
 * median and quartiles over chains. */
void curves_draw(sal_figure *figure, const curves_view *view, const method *methods,
                 const curve *curves);

/* The time in which the fastest method makes so many steps. */
double curves_seconds(const method *methods, const curve *curves, int64_t steps);

/* The error at a time, on the line through the logarithms of the points around it. */
double curve_at_seconds(const curve *c, metric m, double seconds);

#endif

/* SPDX-License-Identifier: MIT */
