/* SPDX-License-Identifier: MIT */
/* Locally self-balancing proposals (Sansone 2022): a balancing function g with parameters theta,
 * and their learning. g(t) = t g(1/t) holds for every theta, so a sampler that uses it is exact
 * whatever was learned. */
#ifndef SALI_LSB_H
#define SALI_LSB_H

#include "ad/workspace.h"
#include "core/optimiser.h"
#include "samplers/balance.h"
#include "samplers/shared.h"

/* An empty tape in double whose "state" is `count` reals, given off the lattice: the inputs of a
 * small net. NULL when out of memory. */
sal_tape *sali_lsb_tape(int64_t count);

/* ---- lsb_function.c: g and its gradient by theta */

/* The variable in which a network's lines are linear: log t, or t / (1 + t) - 1/2, as in the
 * author's program (github.com/emsansone/LSB), where h is bounded. */
enum { SALI_LINES_LOG, SALI_LINES_SHARE };

/* Shape of the network; 0 blocks: no network, LSB 1. */
typedef struct sali_lsb_shape {
    int64_t blocks, units;
    int lines;
} sali_lsb_shape;

/* LSB 1: the mixture of the ready-made functions with weights softmax(theta).
 * LSB 2: min(h(t), t h(1/t)), h = softplus(m(t)) with a monotonic network m (Sill 1997): the
 * least of `blocks` largest of `units` increasing lines. theta: logarithms of the lines' slopes,
 * then their heights at t = 1. Sampling and learning use h from a table (sali_balance_table). */
typedef struct sali_lsb_function {
    bool network;
    sali_lsb_shape shape;
    int64_t n;     /* parameters */
    double *theta; /* [n]; changed by sali_lsb_set only */
    sali_mixture mixture;
    sali_balance_table table;

    /* The tape of log g (LSB 1) or log h (LSB 2) as a function of its "state" log t, one real. */
    sali_program *program;
    sali_params *params;
    sali_workspace *ws;
    double node_weight[SALI_TABLE_NODES]; /* [nodes] sum of d objective / d log h */
    /* LSB 2: the tape of the regulariser, whose "state" is log 1/t and log 1/(t + epsilon). */
    sali_program *slope_program;
    sali_params *slope_params;
    sali_workspace *slope_ws;
    double *slope_gradient; /* [n] */
} sali_lsb_function;

/* Open a zeroed *g, with the start values of theta; after a failure the caller must still close it.
 */
sal_status sali_lsb_open(sali_lsb_function *g, sali_lsb_shape shape, sal_error *err);
void sali_lsb_close(sali_lsb_function *g);

void sali_lsb_set(sali_lsb_function *g, const double *theta);

/* Fit a network to a ready-made function, by least squares of log g for t between e^-4 and e^4
 * (lsb_fit.c). Adam from the start values: the same in every run. Returns: SAL_ERR_MEMORY. */
sal_status sali_lsb_fit(sali_lsb_function *g, int balance, sal_error *err);

/* g as a balancing function for samplers; it changes with sali_lsb_set. */
sali_balance sali_lsb_balance(const sali_lsb_function *g, sal_dtype dtype);

/* The gradient of an objective by theta, in four calls. begin; add: d objective / d log g at n
 * values of log t (values of weight 0 are skipped); slopes, for LSB 2: adds the regulariser's
 * gradient and returns the regulariser's mean over the n values t; end: the gradient into flat [n].
 */
void sali_lsb_gradient_begin(sali_lsb_function *g);
void sali_lsb_gradient_add(sali_lsb_function *g, int64_t n, const double *log_t,
                           const double *weight);
double sali_lsb_gradient_slopes(sali_lsb_function *g, int64_t n, const double *t);
void sali_lsb_gradient_end(sali_lsb_function *g, double *flat);

/* ---- lsb_objective.c: Sansone 2022, eq. 5, 6 and 10, algorithm 1 */

/* States at which the objective is estimated, with a proposed state for each. The first half are
 * states of chains, the second half uniformly random. */
typedef struct sali_lsb_batch {
    sali_chains *pool;
    int64_t S;         /* slots */
    int64_t radius;    /* window of ordinal moves */
    int64_t rows;      /* in use */
    bool density;      /* p(s') of the objective is the unnormalised density, not p(s') / p(s) */
    void *slots;       /* real [rows x S] */
    double *log_t[2];  /* [rows x S] of the moves from the states, and from the proposed ones */
    double *log_g;     /* [S] */
    int64_t *move;     /* [rows] slot proposed, -1: the row does not count */
    int64_t *shard;    /* [rows / 2] shard of the chain that the state is from */
    double *log_q;     /* [rows] log q of the move under the theta it was drawn with */
    double *t;         /* [rows] where the regulariser is evaluated */
    double *x, *slope; /* [2S + 3] the objective's tape's "state" and its gradient */
    double *weight;    /* [S] */
    sali_program *program;
    sali_params *params;
    sali_workspace *ws;
} sali_lsb_batch;

/* What all shards of a run share. */
typedef struct sali_lsb {
    sali_shared common;
    sali_lsb_function g;
    sali_lsb_batch *batch; /* NULL outside warm-up */
    sali_optimiser optimiser;
    double rate;
    int64_t radius;
    bool density;      /* see sali_lsb_batch */
    int64_t updates;   /* in each window of warm-up */
    uint64_t made;     /* updates so far */
    double *gradient;  /* [g.n] */
    double *candidate; /* [g.n] */
} sali_lsb;

/* Room for `rows` states of the model. */
sal_status sali_lsb_batch_open(const sal_model *model, int64_t rows, int64_t radius,
                               sali_lsb_batch **out, sal_error *err);
void sali_lsb_batch_close(sali_lsb_batch *batch); /* NULL is fine */

/* Number of chains to learn from: the coldest chains of all shards. */
int64_t sali_lsb_chains(const sali_warmup *warmup);

/* Fill the batch: states of the chains, random states, and a move from each proposed by g. The
 * random numbers depend on the seed and on `number`, the number of the update. */
sal_status sali_lsb_batch_draw(sali_lsb_batch *batch, const sali_lsb_function *g,
                               const sali_warmup *warmup, uint64_t number, sal_error *err);

/* The estimate of the objective at the present theta, from the states and moves of the batch;
 * gradient [n] receives its gradient. */
double sali_lsb_objective(sali_lsb_batch *batch, sali_lsb_function *g, double *gradient);

#endif
