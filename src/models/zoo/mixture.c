/* SPDX-License-Identifier: MIT */
/* A mixture of products of categorical distributions, the component summed out. */
#include <math.h>

#include "core/error.h"
#include "core/rng.h"
#include "models/log_sum.h"
#include "models/zoo/making.h"

enum { DIM, STATES, COMPONENTS, SCALE, SEED };

/* Most entries of theta. */
#define MOST_NUMBERS 100000000

/* Draw log-probabilities [rows x states], in borrowed memory: exp of each row sums to 1. NULL when
 * out of memory. */
static const double *draw_rows(sali_making *m, int64_t rows, int64_t states, double scale)
{
    sali_stream stream = sali_making_stream(m, 0);
    double *theta = SALI_BORROW(m, double, rows *states);
    if (theta) {
        sali_rng_normal(&stream, rows * states, theta);
    }
    for (int64_t i = 0; theta && i < rows * states; i++) {
        theta[i] *= scale;
    }
    for (int64_t r = 0; theta && r < rows; r++) {
        double total = sali_log_sum(states, theta + r * states);
        for (int64_t i = 0; i < states; i++) {
            theta[r * states + i] -= total;
        }
    }
    return theta;
}

/* Components have equal weights at the start, so that Z = 1. */
static sal_status mixture(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    int64_t dim = (int64_t)values[DIM], states = (int64_t)values[STATES];
    int64_t K = (int64_t)values[COMPONENTS];
    if (dim * states > MOST_NUMBERS / K) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "mixture: dim x states x components is %lld x %lld x %lld; at most %d",
                         (long long)dim, (long long)states, (long long)K, MOST_NUMBERS);
    }
    const double *rows = draw_rows(m, K * dim, states, values[SCALE]);
    if (!rows) {
        return sali_fail_memory(m->err);
    }
    sal_expr x = sali_making_state(m, "x", SAL_CATEGORICAL, dim, states);
    sal_expr w = sali_making_filled(m, "log_weight", SAL_SHAPE(K), -log((double)K));
    sal_expr theta = sali_making_param(m, "theta", SAL_SHAPE(K, dim * states), rows);
    *f = sal_logsumexp(sal_add(w, sal_matvec(theta, x)));
    return SAL_OK;
}

const sali_builtin sali_builtin_mixture = {
    .name = "mixture",
    .doc = "log sum_k exp(log_weight_k + theta_k'x), x the one-hot form of `dim` categorical "
           "variables",
    .source = "van den Hoek's thesis sec. 2.2.6, eq. 23; theta the normalised logarithms of "
              "exp N(0, scale^2), equal weights: log Z = 0",
    .dtype = SAL_F64,
    .settings = { [DIM] = { "dim", 20, 1, 1e6, true, "number of variables", NULL },
                  [STATES] = { "states", 4, 2, 256, true, "states of a variable", NULL },
                  [COMPONENTS] = { "components", 5, 1, 1e4, true, "of the mixture", NULL },
                  [SCALE] = { "scale", 2, 0, 1e6, false,
                              "how far apart components are, and how sharp", NULL },
                  [SEED] = SALI_SEED("theta") },
    .formula = mixture,
};
