/* SPDX-License-Identifier: MIT */
/* Diagnostics of Markov chains and distances between distributions, computed from arrays alone,
 * without models or samplers. Arrays are row-major. Any number of threads may call every function
 * at once. A number that is not defined for the given draws is NaN with SAL_OK: this is a finding
 * about the chains, not a failure of the call. */
#ifndef SALTUS_STATS_H
#define SALTUS_STATS_H

#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chains disagree if their R-hat is above this limit. */
#define SAL_RHAT_LIMIT 1.1

/* The result of sal_stats_diagnose for one scalar quantity. */
typedef struct sal_diagnostics {
    double mean;        /* mean over all draws of all chains */
    double sd;          /* standard deviation, with divisor (chains * draws - 1) */
    double rhat;        /* max(rhat_bulk, rhat_folded); rhat_bulk if |draw - median| is constant */
    double rhat_bulk;   /* split R-hat of the rank-normalised draws */
    double rhat_folded; /* rank-normalised split R-hat of |draw - median|: shows chains that differ
                           in spread */
    double rhat_basic;  /* split R-hat of the draws themselves */
    double ess_bulk;  /* effective sample size (ESS) of all chains together, of the rank-normalised
                         draws */
    double ess_tail;  /* the smaller ESS of [x <= q] for the 5% and 95% quantiles q; of [x < q]
                         where q is the largest draw */
    double ess_basic; /* ESS of the draws themselves; equals R's ess_mean */
    double ess_tfp;   /* sum of sal_stats_ess_tfp over the chains */
    double autocorrelation_time; /* integrated, in draws: (draws used) / ess_basic */
    double mcse_mean;            /* Monte Carlo standard error of `mean` */
    double mcse_sd;              /* Monte Carlo standard error of `sd` */
} sal_diagnostics;

/* Compute convergence diagnostics of one scalar quantity, as in R's package `posterior`.
 * Math:    Each chain is split into halves of n = floor(draws / 2) draws (without the middle draw
 *          of an odd number), which gives m = 2 chains half-chains. With W the mean of their
 *          variances and B / n the variance of their means,
 *            R-hat = sqrt((B / W + n - 1) / n),
 *            ESS   = m n / tau,   tau = -1 + 2 sum_k (rho_2k + rho_2k+1),
 *            rho_t = 1 - (W - mean autocovariance at lag t) / ((n - 1) / n W + B / n),
 *          where the sum is Geyer's: it stops at the first pair that is not positive, no pair
 *          counts for more than the previous one, and the even term of the last pair counts once.
 *          tau >= 1 / log10(m n): draws that alternate have ESS = m n log10(m n).
 *          Rank-normalised: x -> Phi^-1((rank - 3/8) / (m n + 1/4)), ties share their mean rank.
 *          mcse_mean = sd / sqrt(ess_basic); mcse_sd by the delta method from the ESS of
 *          (x - mean)^2.
 * Params:  chains, draws >= 1; series [chains x draws], any values; result not NULL.
 * Returns: SAL_OK; SAL_ERR_ARGUMENT; SAL_ERR_MEMORY (*result is then untouched).
 *          NaN stands for
 *          - R-hat with fewer than 4 draws per chain, ESS with fewer than 6;
 *          - a constant quantity (range under 2.2e-16). rhat_folded is also NaN when there are two
 *            values and exactly half of the draws have each: |draw - median| is then constant;
 *          - any NaN among the draws. Infinite draws leave rhat and ess_bulk, which need ranks
 *            only.
 *          rhat, rhat_basic and rhat_bulk are +inf when no half-chain moves but the half-chains
 *          differ.
 *          The codes of a nominal variable have no mean or rank: diagnose indicators instead.
 * Cost:    O(S log draws) for S = chains * draws; about 8 S + 30 draws doubles.
 * Threads: any.
 * Source:  Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), Bayesian Analysis 16(2); Geyer
 *          (1992), Statistical Science 7(4), initial monotone sequence. Agrees with posterior 1.4.0
 *          to 1e-6 but where not even the first pair of autocorrelations is positive (`posterior`
 *          then has ESS = m n / 2 instead of the cap), where 5% of the draws or more are at the
 *          largest value (ess_tail is NA there), and where rhat_folded is NaN (so is rhat there).
 */
SAL_API sal_status sal_stats_diagnose(int64_t chains, int64_t draws, const double *series,
                                      sal_diagnostics *result, sal_error *err);

/* Compute the effective sample size of one chain, as TensorFlow Probability's effective_sample_size
 * with filter_beyond_positive_pairs. The papers on gradient-based discrete samplers report this
 * figure.
 * Math:    c_k = 1/(n-k) sum_t (x_t - mean)(x_t+k - mean), rho_k = c_k / c_0,
 *          ESS = n / (-1 + 2 sum_k [(n-2k)/n rho_2k + (n-2k-1)/n rho_2k+1])
 *          over the pairs before the first whose rho_2k + rho_2k+1 is negative. An odd last lag is
 *          not used.
 * Params:  n >= 1; series [n]; ess not NULL.
 * Returns: SAL_OK; SAL_ERR_ARGUMENT; SAL_ERR_MEMORY (*ess is then untouched).
 *          *ess is NaN for a chain that never moves, for fewer than 4 draws, and when a draw is not
 *          finite. It exceeds n for antithetic chains, and there is no cap: for a chain that
 *          alternates almost perfectly the divisor is near 0, and the estimate may be infinite or
 *          negative. ess_basic of sal_stats_diagnose is capped.
 * Cost:    O(n log n); 10 n to 20 n doubles.
 * Threads: any.
 * Source:  TensorFlow Probability, mcmc.effective_sample_size; Geyer (1992). */
SAL_API sal_status sal_stats_ess_tfp(int64_t n, const double *series, double *ess, sal_error *err);

/* Compute the integrated autocorrelation time: how many draws of the chains are worth one
 * independent draw.
 * Math:    tau = 1 + 2 sum_{t=1}^{M} C(t) / C(0), where C(t) is the autocovariance (divisor draws,
 *          each chain about its own mean) averaged over the chains, and the window M is the
 *          smallest with M >= 5 max(tau, 1), tau being the sum so far.
 * Params:  chains, draws >= 1; series [chains x draws]; tau not NULL.
 * Returns: SAL_OK; SAL_ERR_ARGUMENT; SAL_ERR_MEMORY (*tau is then untouched).
 *          *tau is NaN when no chain moves, with fewer than 4 draws, and when a draw is not finite.
 *          It is below 1 for antithetic chains. Chains shorter than about 50 tau give too small a
 *          tau. For a time in steps, multiply tau by the steps between draws.
 * Cost:    O(chains draws log draws); 10 draws to 20 draws doubles.
 * Threads: any.
 * Source:  Sokal (1997), Monte Carlo methods in statistical mechanics, sec. 3; Goodman & Weare
 *          (2010); van den Hoek's thesis, eq. 26. */
SAL_API sal_status sal_stats_autocorrelation_time(int64_t chains, int64_t draws,
                                                  const double *series, double *tau,
                                                  sal_error *err);

/* Estimators of a squared MMD. Papers report both, and natural and decimal logarithms of either:
 * say which one a number is. */
typedef enum sal_mmd_estimator {
    SAL_MMD_U, /* U-statistic: without pairs of a state with itself; unbiased, may be negative */
    SAL_MMD_V  /* V-statistic: with them; never negative, too large by about
                  (1 - mean k) (1 / na + 1 / nb) */
} sal_mmd_estimator;

/* Compute the squared maximum mean discrepancy between two samples of states. It tells how far
 * apart the distributions of the samples are, and is 0 for equal distributions.
 * Math:    k(x, y) = exp(-#{i : x_i != y_i} / d), d = variables,
 *          MMD^2 = mean_{i,j} k(a_i, a_j) + mean_{i,j} k(b_i, b_j) - 2 mean_{i,j} k(a_i, b_j);
 *          in the first two means of SAL_MMD_U only over pairs i != j. Its estimate may be
 *          negative; its expectation is 0 for equal distributions. Take sqrt(max(0, .)) for a
 *          distance. SAL_MMD_V is the estimate of the programs of Grathwohl et al.
 * Params:  variables d >= 1; a [na x d] and b [nb x d], the codes of the states; na, nb >= 2;
 *          estimator; mmd2 not NULL. a and b may overlap.
 * Returns: SAL_OK; SAL_ERR_ARGUMENT; SAL_ERR_MEMORY (*mmd2 is then untouched).
 * Cost:    O((na + nb)^2 d / 64 log2(states)): codes are packed into bits and pairs counted by
 *          distance. 7000 against 2000 binary states of 256 variables: about 0.2 s on one core.
 * Threads: any; works on OMP_NUM_THREADS threads, or on all processors; the number does not change
 *          the result.
 * Source:  Gretton, Borgwardt, Rasch, Schoelkopf & Smola (2012), JMLR 13, eq. 3 (U) and 5 (V, its
 *          square); kernel: Grathwohl,
 *          Swersky, Hashemi, Duvenaud & Maddison (2021), ICML, sec. 6. */
SAL_API sal_status sal_stats_mmd(int64_t variables, int64_t na, const uint8_t *a, int64_t nb,
                                 const uint8_t *b, sal_mmd_estimator estimator, double *mmd2,
                                 sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
