/* SPDX-License-Identifier: MIT */
/* How the error of marginals falls while draws come in. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "cli/compare.h"

/* Set out [n] to the numbers of draws of a chain at which errors are computed: about evenly spaced
 * in the logarithm, up to all draws. Returns n. */
static int64_t choose_draws(int64_t draws, int64_t out[COMPARE_TRACE])
{
    int64_t n = 0;
    for (int k = 0; k < COMPARE_TRACE; k++) {
        double share = (double)k / (COMPARE_TRACE - 1);
        int64_t d = (int64_t)floor(pow((double)draws, share) + 0.5);
        if (n == 0 || d > out[n - 1]) {
            out[n++] = d;
        }
    }
    return n;
}

/* Add draw d of all chains to the counts [R] of the states of all variables. */
static void add_draw(const void *draws, int bytes, int64_t chains, int64_t n, int64_t d,
                     const sal_space *space, double *counts)
{
    int64_t V = sal_space_variables(space), row = 0;
    for (int64_t v = 0; v < V; row += sal_space_states(space, v++)) {
        for (int64_t c = 0; c < chains; c++) {
            int64_t at = (c * n + d) * V + v;
            counts[row +
                   (bytes == 1 ? ((const uint8_t *)draws)[at] : ((const int32_t *)draws)[at])]++;
        }
    }
}

/* Mean over variables and states of |share - p|, where share = counts / draws [R]. */
static double mean_error(const double *counts, const double *exact, int64_t R, int64_t draws)
{
    double sum = 0;
    for (int64_t r = 0; r < R; r++) {
        sum += fabs(counts[r] / (double)draws - exact[r]);
    }
    return sum / (double)R;
}

sal_status compare_trace_errors(const sal_run *run, const sal_model *model, const double *exact,
                                compare_trace *trace, sal_error *err)
{
    const sal_space *space = sal_model_space(model);
    sal_run_summary s;
    int bytes;
    const void *draws = sal_run_draws(run, &bytes);
    int64_t R;
    double *counts = cli_marginals(space, &R);
    assert(R > 0);
    sal_status status = sal_run_summarise(run, &s, err);
    if (status != SAL_OK || !counts || !draws) {
        free(counts);
        return status == SAL_OK && !counts ? SAL_ERR_MEMORY : status;
    }
    trace->n = choose_draws(s.draws, trace->draws);
    for (int64_t k = 0, d = 0; k < trace->n; k++) {
        for (; d < trace->draws[k]; d++) {
            add_draw(draws, bytes, s.chains, s.draws, d, space, counts);
        }
        trace->seconds[k] = s.seconds * (double)d / (double)s.draws;
        trace->error[k] = mean_error(counts, exact, R, d * s.chains);
    }
    free(counts);
    return SAL_OK;
}
