/* SPDX-License-Identifier: MIT */
/* What the page asks of the library: functions of plain numbers, pointers and texts, which
 * JavaScript can call. Sizes are int, as numbers of JavaScript fit them.
 *
 * A function that fails returns NULL or -1, and play_error() says why. Nothing is thread-safe. */
#ifndef PLAY_BRIDGE_H
#define PLAY_BRIDGE_H

#include <stdint.h>

#include <saltus/sample.h>

/* The message of the last failure. */
const char *play_error(void);

/* ---- models */

/* A ready-made model, "ising:side=20,theta=0.2", in double. */
sal_model *play_model(const char *specification);

enum play_kind {
    PLAY_SPINS,   /* -1 and +1 */
    PLAY_BINARY,  /* 0 and 1 */
    PLAY_ORDINAL, /* 2 to 256 levels from low to high at equal distances */
};

/* The model of f given by a text (models/formula/formula.h), of the variables x on a lattice whose
 * sides meet, or with one row and two columns a pair. A mistake in it sets *place to the number of
 * its first character; else that is -1. */
sal_model *play_formula(const char *text, int kind, int rows, int columns, int levels, double low,
                        double high, int *place);

int play_set(sal_model *model, const char *parameter, const double *values);

int play_variables(const sal_model *model);
int play_states(const sal_model *model, int variable);

/* f of n states [n x V]. */
int play_f(const sal_model *model, int n, const int32_t *codes, double *f);

/* The gradient [N] and exact differences [sum of states] at one state. */
int play_derivatives(const sal_model *model, const int32_t *codes, double *gradient,
                     double *differences);

/* What the tape computes, as text; to be freed. */
char *play_program(const sal_model *model);

void play_model_close(sal_model *model);

/* ---- what a sampler proposes from a state */

/* log q of n states `to` [n x V]. */
int play_log_q(const sal_model *model, const char *sampler, double step_size, const int32_t *from,
               int n, const int32_t *to, double *log_q);

/* n draws of it [n x V]. */
int play_draw(const sal_model *model, const char *sampler, double step_size, double seed,
              const int32_t *from, int n, int32_t *to);

/* ---- chains that step */

typedef struct play_walk play_walk;

/* Chains at random states, or `init` [chains x V]; at temperatures [chains], or all at 1; with a
 * step size, or 0: the usual one. */
play_walk *play_walk_open(sal_model *model, const char *sampler, double step_size, int chains,
                          double seed, const int32_t *init, const double *temperatures);
int play_walk_step(play_walk *walk, int steps);
void play_walk_close(play_walk *walk);

/* Present states [chains x V] and f [chains]; they move with the walk. */
int32_t *play_walk_codes(play_walk *walk);
double *play_walk_f(play_walk *walk);

/* After codes, temperatures or the step size were changed; codes that no state has are refused. */
int play_walk_refresh(play_walk *walk);
void play_walk_set_step_size(play_walk *walk, double step_size);
void play_walk_set_temperature(play_walk *walk, int chain, double temperature);

/* Means over chains and steps since the last call: acceptance, and the distance moved. */
void play_walk_means(play_walk *walk, double means[2]);

/* Swaps of states between neighbouring temperatures; made[r]: r and r + 1 changed places. */
int play_walk_swap(play_walk *walk, int parity, uint8_t *made);

/* The step size that warm-up of so many steps finds; NaN for a sampler without one; negative:
 * it failed. */
double play_tune(sal_model *model, const char *sampler, int chains, int warmup, double seed);

/* ---- chains that go down a denoising chain of conditional energies (run/denoising/pass.h) */

typedef struct play_pass play_pass;

/* On a model with T levels: shares keep [T + 1], logits of p_0 [V] of binary variables, the sampler
 * with its steps [T] and step sizes [T] (0: it has none) at each level. The model's parameters are
 * to be set before. */
play_pass *play_pass_open(sal_model *model, const char *sampler, const double *keep,
                          const double *logits, const int32_t *steps, const double *step_sizes,
                          int chains, double seed);

/* New noise: draws of p_0. A pass is opened with noise. */
void play_pass_begin(play_pass *pass);

/* One level down; returns its number: T - 1 after the noise, 0 at the end, where new noise is to
 * follow. */
int play_pass_level(play_pass *pass);

/* Present states [chains x V]; they move with the pass. */
int32_t *play_pass_codes(play_pass *pass);

void play_pass_close(play_pass *pass);

/* ---- figures of chains */

double play_ess(int n, const double *x);
double play_rhat(int chains, int n, const double *x);

#endif
