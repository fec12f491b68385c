/* What a locally balanced sampler does on a model, from its first iteration on: the measurements of
 * Sansone (2022), and a figure's panels of them for all balancing functions. */
#ifndef TRACE_H
#define TRACE_H

#include "../panel.h"

/* The four functions of Zanella (2020), and those that warm-up learns. */
enum { BARKER, SQRT, MIN, MAX, LSB1, LSB2, METHODS };
enum { TRACE_POINTS = 40 };

/* An iteration is a step of all chains; burn-in is warm-up. */
typedef struct trace_options {
    int64_t chains, burn_in, iterations;
    int64_t lag;        /* between points of the autocorrelation function */
    int64_t picture_at; /* burn-in iteration at which a state is kept; 0: none */
} trace_options;

typedef struct trace {
    double first;                     /* mean f of the chains at the first iteration */
    double burn_in[TRACE_POINTS];     /* that at evenly spaced iterations of burn-in */
    double mixing[TRACE_POINTS];      /* f of one chain after it */
    double correlation[TRACE_POINTS]; /* of f at lags 0, lag, .. */
    double mean;                      /* of f after burn-in */
    int64_t arrival;                  /* see trace_arrivals */
    double ess[2], ess_sd[2];         /* of f, and of the distance to a random state, in 1000
                                         iterations: mean and deviation over chains */
    double acceptance;
    double g[TRACE_POINTS]; /* g(t) / g(1) at the t of trace_t */
    double *path;           /* [burn_in] mean f */
    uint8_t *picture;       /* [V], or NULL */
} trace;

/* t from 0.1 to 4. */
double trace_t(int point);

/* All functions on a model. Free what is in `traces` by trace_free, also on failure. */
sal_status trace_all(sal_model *model, const trace_options *options, trace traces[METHODS],
                     sal_error *err);
void trace_free(trace traces[METHODS]);

/* A line a function: when it arrives (the first iteration at which the mean f of the chains has
 * made 95% of the way from its start to the mean that BARKER has after burn-in; - if never), ESS by
 * 1000 iterations, acceptance and mean f; `paper` [METHODS], its ESS, may be NULL. */
void trace_print(const char *title, const trace traces[METHODS], const double *paper);

/* What a panel shows: mean f of the chains in burn-in, the autocorrelation of f after it, f of one
 * chain, and g. */
enum { BURN_IN, CORRELATION, MIXING, BALANCE, VIEWS };

void trace_draw(int view, const char *title, const trace_options *options,
                const trace traces[METHODS], sal_figure *figure);

#endif

/* SPDX-License-Identifier: MIT */
