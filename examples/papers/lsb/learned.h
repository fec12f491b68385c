/* The balancing functions that a run used, also learned ones. */
#ifndef LEARNED_H
#define LEARNED_H

#include "trace.h"

/* g at n points t, of a run with the sampler of `method`. */
sal_status balancing_function(const sal_run *run, int method, int n, const double *t, double *g,
                              sal_error *err);

/* One of the four functions, and the mixture of them by softmax(theta [4]), in the order sqrt(t),
 * t/(1+t), min(1,t), max(1,t). */
void ready_made_function(int method, int n, const double *t, double *g);
void mixture_function(const double *theta, int n, const double *t, double *g);

#endif
