/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "samplers/local/lsb.h"

/* Values of log t at which g is fitted, from 0 down to -4; positive ones follow by balance. */
enum { POINTS = 33, UPDATES = 1000 };
#define STEP 0.125
#define RATE 0.02

/* gradient = minus the gradient by theta of the mean of (log g - log target)^2 over the points u.
 */
static void negative_gradient(sali_lsb_function *g, const double *u, const double *target,
                              double *gradient)
{
    double log_g[POINTS], weight[POINTS];
    sali_balance balance = sali_lsb_balance(g, SAL_F64);
    balance.log_g(balance.context, POINTS, u, log_g);
    for (int k = 0; k < POINTS; k++) {
        weight[k] = 2 * (target[k] - log_g[k]) / POINTS;
    }
    sali_lsb_gradient_begin(g);
    sali_lsb_gradient_add(g, POINTS, u, weight);
    sali_lsb_gradient_end(g, gradient);
}

sal_status sali_lsb_fit(sali_lsb_function *g, int balance, sal_error *err)
{
    double u[POINTS], target[POINTS];
    sali_memory memory = { 0 };
    double *gradient = SALI_TAKE(&memory, double, g->n), *theta = SALI_TAKE(&memory, double, g->n);
    sali_optimiser adam = sali_optimiser_usual(SALI_ADAM, RATE);
    bool ok = sali_optimiser_create(&adam, g->n) && gradient && theta;
    for (int k = 0; k < POINTS; k++) {
        u[k] = -STEP * k;
    }
    sali_log_balance_f64[balance](NULL, POINTS, u, target);
    for (int k = 0; ok && k < UPDATES; k++) {
        negative_gradient(g, u, target, gradient);
        memcpy(theta, g->theta, (size_t)g->n * sizeof *theta);
        sali_optimiser_update(&adam, 1, gradient, theta);
        sali_lsb_set(g, theta);
    }
    sali_optimiser_free(&adam);
    sali_memory_free(&memory);
    return ok ? SAL_OK : sali_fail_memory(err);
}
