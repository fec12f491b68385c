/* SPDX-License-Identifier: MIT */
/* Forward and reverse chains of annealed importance sampling together. A path is a point of the
 * space of all paths. The densities of forward and reverse paths there have the ratio w / Z, so
 * Bennett's estimator for two distributions applies. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/ais/ais.h"
#include "stats/bennett.h"

/* SAL_ERR_ARGUMENT unless there are chains, their log-weights are below +inf, and one is finite.
 * -inf is allowed if `dead`. */
static sal_status check_weights(const char *direction, int64_t n, const double *log_weight,
                                bool dead, sal_error *err)
{
    int64_t finite = 0;
    if (n < 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "ais: %lld %s chains; expected 1 or more",
                         (long long)n, direction);
    }
    for (int64_t c = 0; c < n; c++) {
        if (!(log_weight[c] < INFINITY) || (!dead && log_weight[c] == -INFINITY)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "ais: the log-weight of %s chain %lld is %g; expected a finite number",
                             direction, (long long)c, log_weight[c]);
        }
        finite += log_weight[c] > -INFINITY;
    }
    return finite > 0 ? SAL_OK
                      : sali_fail(err, SAL_ERR_ARGUMENT,
                                  "ais: all %lld %s chains are dead (their log-weights are -inf)",
                                  (long long)n, direction);
}

/* *squared receives the squared standard error of log_z, each chain being independent of all
 * others. */
static sal_status squared_error(const sali_bennett_side *forward, const sali_bennett_side *reverse,
                                double log_z, double *squared, sal_error *err)
{
    const int64_t most = forward->n > reverse->n ? forward->n : reverse->n;
    uint32_t *chain = SALI_NEW_ARRAY(uint32_t, most);
    double *a = SALI_NEW_ARRAY(double, forward->n), *b = SALI_NEW_ARRAY(double, reverse->n);
    const bool room = chain && a && b;
    for (int64_t c = 0; room && c < most; c++) {
        chain[c] = (uint32_t)c;
    }
    if (room) {
        sali_bennett_influence(forward, chain, a, reverse, chain, b, log_z);
        *squared =
            sali_bennett_squared_error(forward->n, a) + sali_bennett_squared_error(reverse->n, b);
    }
    sali_free(chain);
    sali_free(a);
    sali_free(b);
    return room ? SAL_OK : sali_fail_memory(err);
}

/* *most receives the largest forward log-weight, *least the smallest reverse one. */
static void find_ends(const sali_bennett_side *forward, const sali_bennett_side *reverse,
                      double *most, double *least)
{
    *most = -INFINITY;
    *least = INFINITY;
    for (int64_t c = 0; c < forward->n; c++) {
        *most = fmax(*most, forward->difference[c]);
    }
    for (int64_t c = 0; c < reverse->n; c++) {
        *least = fmin(*least, reverse->difference[c]);
    }
}

sal_status sal_ais_bennett(int64_t n_forward, const double *forward, int64_t n_reverse,
                           const double *reverse, double *log_z, double *standard_error,
                           sal_error *err)
{
    sal_status status = check_weights("forward", n_forward, forward, true, err);
    status = status ? status : check_weights("reverse", n_reverse, reverse, false, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_bennett_side base = { n_forward, forward, NULL },
                            model = { n_reverse, reverse, NULL };
    double most, least, ratio, squared = NAN;
    find_ends(&base, &model, &most, &least);
    if (most < least) {
        ratio = 0.5 * (most + least);
        squared = INFINITY;
    } else {
        ratio = sali_bennett_ratio(&base, &model);
    }
    if (most >= least && n_forward > 1 && n_reverse > 1) {
        status = squared_error(&base, &model, ratio, &squared, err);
    }
    if (status == SAL_OK) {
        *log_z = ratio;
        *standard_error = sqrt(squared);
    }
    return status;
}
