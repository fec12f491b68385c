/* SPDX-License-Identifier: MIT */
/* What a locally balanced sampler does on a model, from its first iteration on: the measurements of
 * Sansone (2022), and a figure's panels of them for all balancing functions. */
#ifndef TRACE_H
#define TRACE_H

#include "../panel.h"

/* The four functions of Zanella (2020), and those that warm-up learns. The last one is LSB 2 as the
 * author's program has it, which makes and records two steps of burn-in as one. */
enum { BARKER, SQRT, MIN, MAX, LSB1, LSB2, LSB2_TWICE, METHODS };
enum { TRACE_POINTS = 40 };

/* What is followed: f, or the sum of the variables' codes. */
enum { OF_F, OF_SUM, STATISTICS };

/* An iteration is a step of all chains; burn-in is warm-up. */
typedef struct trace_options {
    /* Number `k` of the models; several are of one kind and differ by chance. */
    sal_status (*open)(const void *data, int k, sal_model **model, sal_error *err);
    const void *data;
    int models;
    int64_t chains;          /* of each model */
    const char *lsb1, *lsb2; /* samplers */
    const int32_t *init;     /* [V] where chains start; NULL: at random */
    sal_clamps evidence;     /* fixed for LSB, and for the other methods too if `all_clamped` */
    bool all_clamped;
    int64_t burn_in, iterations;
    int64_t lags;       /* of the ESS of the author's program */
    int64_t lag;        /* between points of the autocorrelation function */
    int64_t picture_at; /* burn-in iteration at which a state is kept; 0: none */
    int statistic;      /* that the panels show */
} trace_options;

/* Means and deviations over all chains of all models. */
typedef struct trace {
    double *path[STATISTICS];     /* [burn_in] mean over the chains */
    double mean[STATISTICS];      /* after burn-in */
    int64_t arrival[STATISTICS];  /* see trace_print */
    double burn_in[TRACE_POINTS]; /* the statistic shown at evenly spaced iterations of burn-in */
    double mixing[TRACE_POINTS];  /* that of one chain after it */
    double correlation[TRACE_POINTS]; /* and its autocorrelation at lags 0, lag, .. */
    double ess_program, ess_program_sd;
    double ess_f, ess_distance; /* by TFP's estimator, in 1000 iterations */
    double acceptance;
    double g[TRACE_POINTS]; /* g(t) / g(1) at the t of trace_t, on the first model */
    uint8_t *picture;       /* [V], or NULL */
} trace;

/* t from 0.1 to 4. */
double trace_t(int point);

/* All functions. Free what is in `traces` by trace_free, also on failure. */
sal_status trace_all(const trace_options *options, trace traces[METHODS], sal_error *err);
void trace_free(trace traces[METHODS]);

/* A line a function: when it arrives by f and by the sum (the first iteration at which the mean of
 * the chains has made 95% of the way from its start to the mean that BARKER has after burn-in, or
 * LSB 1, where only LSB has the evidence; - if never), the ESS of the author's program, its
 * deviation, and the paper's (`paper`, that of the first six, may be NULL), ESS of f and of the
 * distance by 1000 iterations, acceptance, mean f. */
void trace_print(const char *title, const trace traces[METHODS], const double *paper);

/* What a panel shows: the statistic in burn-in, its autocorrelation after it, that of one chain,
 * and g. */
enum { BURN_IN, CORRELATION, MIXING, BALANCE, VIEWS };

void trace_draw(int view, const char *title, const trace_options *options,
                const trace traces[METHODS], sal_figure *figure);

#endif
