/* SPDX-License-Identifier: MIT */
/* Errors of a run's averages against exact ones. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/exact/exact.h"
#include "run/parts/record.h"
#include "run/results/results.h"

/* Set the errors of the marginals q [R] against the exact ones, p [R]. */
static void marginal_errors(const sal_space *space, const double *q, const double *p,
                            sal_run_errors *e)
{
    double sum = 0;
    for (int64_t a = 0; a < space->n_states; a++) {
        double error = fabs(q[a] - p[a]);
        sum += error;
        e->marginal_max = fmax(e->marginal_max, error);
    }
    e->marginal_mean = sum / (double)space->n_states;
    e->marginal_l1 = sum / (double)space->n_variables;
}

/* Shares of the draws in which variables i < j have two states, into pairs [R x R]. */
static void count_pairs(const sal_run *run, double *pairs)
{
    const sal_space *space = run->base->space;
    int64_t V = space->n_variables, R = space->n_states, C = run->options.chains;
    double share = 1 / ((double)C * (double)run->draws_made);
    for (int64_t c = 0; c < C; c++) {
        for (int64_t d = 0; d < run->draws_made; d++) {
            int64_t at = 0;
            for (int64_t i = 0; i < V; at += space->variables[i++].states) {
                int64_t next = at + space->variables[i].states;
                double *row = pairs + (at + sali_run_draw(run, c, d, i)) * R;
                for (int64_t j = i + 1; j < V; next += space->variables[j++].states) {
                    row[next + sali_run_draw(run, c, d, j)] += 1;
                }
            }
        }
    }
    for (int64_t a = 0; a < R * R; a++) {
        pairs[a] *= share;
    }
}

/* The mean over pairs of variables i <= j of the L1 distance of their joint distributions in q and
 * p [R x R], which are complete: entries at and above the diagonal blocks count. */
static double pair_l1(const sal_space *space, const double *q, const double *p)
{
    int64_t R = space->n_states, V = space->n_variables, at = 0;
    double sum = 0;
    for (int64_t i = 0; i < V; at += space->variables[i++].states) {
        for (int64_t a = at; a < at + space->variables[i].states; a++) {
            for (int64_t b = at; b < R; b++) {
                sum += fabs(q[a * R + b] - p[a * R + b]);
            }
        }
    }
    return sum / (0.5 * (double)V * (double)(V + 1));
}

static double frobenius_distance(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* Set the errors of pairs and covariances. `marginals` are the run's; `exact` and `pairs` are the
 * true marginals and pairs. */
static sal_status pair_errors(const sal_run *run, const double *marginals, const double *exact,
                              const double *pairs, sal_run_errors *e, sal_error *err)
{
    const sal_space *space = run->base->space;
    int64_t N = space->width, R = space->n_states;
    double *q = SALI_NEW_ARRAY(double, R *R);
    double *covariance = SALI_NEW_ARRAY(double, 2 * N * N);
    sal_status status = q && covariance ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        count_pairs(run, q);
        sali_pairs_complete(space, marginals, q);
        e->pair_l1 = pair_l1(space, q, pairs);
        sali_pairs_covariance(space, marginals, q, covariance);
        sali_pairs_covariance(space, exact, pairs, covariance + N * N);
        e->covariance = frobenius_distance(N * N, covariance, covariance + N * N);
    }
    sali_free(q);
    sali_free(covariance);
    return status;
}

sal_status sal_run_measure_errors(const sal_run *run, const double *marginals, const double *pairs,
                                  sal_run_errors *errors, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_measure_errors", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    const sal_space *space = run->base->space;
    sal_run_errors e = { .pair_l1 = NAN, .covariance = NAN };
    if (space->unbounded) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: counts without a cap have no finite marginals to compare; give them "
                         "a cap",
                         run->base->name);
    }
    double *q = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = q ? sal_run_marginals(run, q, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        marginal_errors(space, q, marginals, &e);
    }
    if (status == SAL_OK && pairs && sali_run_record(run)->draws) {
        status = pair_errors(run, q, marginals, pairs, &e, err);
    }
    if (status == SAL_OK) {
        *errors = e;
    }
    sali_free(q);
    return status;
}
