/* SPDX-License-Identifier: MIT */
/* Samplers of your own: a descriptor says how states are proposed, and the library does the rest.
 *
 * A proposal is two functions: `draw` draws a state s' from q(. | s), and `log_q` returns log q(s'
 * | s). The library evaluates s' and accepts it with the Metropolis-Hastings probability
 *
 *     min(1, exp(f(s') - f(s)) q(s | s') / q(s' | s)).
 *
 * Your sampler then works like the library's own: with tempering, annealing, adapted step sizes,
 * training, annealed importance sampling, checkpoints, and the same bits for any number of threads.
 * It is right if `log_q` is the log-probability of what `draw` draws; sal_sampler_balance proves
 * that on a small model.
 *
 * Such a sampler is reversible. One that remembers where it was going can be faster: with
 * `directions` each chain keeps a direction, which proposals may depend on. See the descriptor.
 *
 * Pass descriptors in the options (`own_samplers` of sal_run_options, sal_train_options,
 * sal_ais_options and sal_inpaint_options), and select one by name: .sampler =
 * "name:key=value,...". */
#ifndef SALTUS_SAMPLER_H
#define SALTUS_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/model.h>
#include <saltus/sample.h>
#include <saltus/space.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a proposal may use */

/* The state s that a chain proposes from, and what is known of s. Valid during the call.
 *
 * f, gradient and differences are those of the chain's target: at inverse temperature beta they are
 * already multiplied by beta, so a sampler need not know about temperatures. */
typedef struct sal_origin {
    const sal_space *space; /* of the model */
    int64_t variables;      /* V */
    int64_t reals;          /* N */
    const int64_t *real;    /* [V + 1] index of each variable's first real in x and gradient */
    const int64_t *entry;   /* [V + 1] index of each variable's first entry in differences */
    const int32_t *codes;   /* [V] the codes of s */
    const double *x;        /* [N] the embedding of s */
    double f; /* -inf: s is forbidden, as a chain's start may be. Gradient and differences are then
                 zeros, and every state of finite f is accepted */
    const double *gradient; /* [N] at x; NULL unless needs_gradient. An entry may be infinite where
                               a move leads to a forbidden state */
    const double *differences; /* f(s') - f(s) of all moves of one variable, in the layout of
                                  sal_model_evaluate; NULL unless needs_differences */
    double beta;               /* inverse temperature of the chain's target */
    double step_size;          /* eps; NaN unless has_step_size */
    int64_t step;              /* number of steps that the chain has made; not for `prepare` */
    int32_t direction;    /* of the chain, 0 .. directions - 1; in `log_q` of a way back it is the
                             reverse. 0 without directions, -1 for `prepare` */
    const double *values; /* values of the descriptor's `settings`, in order */
    const double *tuned;  /* values of the descriptor's `tuned`, in order */
    const double *row;    /* what `prepare` computed for this state */
    void *work;           /* what `create` made; used by one thread at a time */
    const void *data;     /* the descriptor's `data` */
} sal_origin;

/* The first-order estimate g'(s' - s) of f(s with variable v at `code`) - f(s); 0 for the current
 * code. Needs the gradient.
 * Threads: any. */
SAL_API double sal_origin_first_order(const sal_origin *s, int64_t v, int32_t code);

/* The exact difference f(s with variable v at `code`) - f(s). For a count without a cap only steps
 * of 1 are known; other differences are NaN. Needs the differences.
 * Threads: any. */
SAL_API double sal_origin_difference(const sal_origin *s, int64_t v, int32_t code);

/* The random numbers of one proposal: each call takes the next ones. They depend only on seed,
 * chain and step. After 2^25 numbers they repeat. */
typedef struct sal_random sal_random;

SAL_API double sal_random_uniform(sal_random *random);               /* strictly inside (0, 1) */
SAL_API double sal_random_normal(sal_random *random);                /* standard */
SAL_API int64_t sal_random_below(sal_random *random, int64_t bound); /* 0 .. bound - 1; bound > 0 */

/* Draw k with probability proportional to exp(log_weight[k]), k = 0 .. n - 1. Weights of -inf are
 * never drawn. If all weights are -inf, or one is NaN or +inf, the result is -1 and no random
 * number is taken.
 * Cost:    O(n). */
SAL_API int64_t sal_random_softmax(sal_random *random, int64_t n, const double *log_weight);

/* log of the sum of exp(log_weight[k]); -inf for none. Subtract it from the weights of
 * sal_random_softmax to get log-probabilities. */
SAL_API double sal_log_sum_exp(int64_t n, const double *log_weight);

/* ---- the descriptor */

#define SAL_SAMPLER_TUNED 8       /* largest number of tuned values */
#define SAL_SAMPLER_DIRECTIONS 64 /* largest number of directions */

/* What `adapt` learns from: a window of warm-up, averaged over the chains at temperature 1 (or at
 * the coldest one). */
typedef struct sal_sampler_window {
    double acceptance_rate; /* mean acceptance probability of the window's steps */
    double jump;            /* mean L1 distance, in the embedding, that a step moved */
    int64_t steps;          /* of each chain */
    int64_t done;           /* steps of warm-up so far */
    int64_t total;          /* steps of warm-up in all; 0: adaptation never ends, as in training */
    const double *values;   /* values of the descriptor's `settings` */
} sal_sampler_window;

/* How the library's own samplers make their steps, inside the library. */
typedef struct sal_sampler_engine sal_sampler_engine;

/* The definition of a sampler, yours or the library's. Fields left zero take their defaults;
 * `name`, `draw` and (except for `unadjusted`) `log_q` are required. Descriptor, data and strings
 * are not copied: they must live as long as the run or trainer, and must not change meanwhile.
 *
 * Functions are called from several threads at once, but those with the same `work` from one thread
 * at a time. Their results may depend only on their arguments, so that the same seed gives the same
 * bits. */
typedef struct sal_sampler_descriptor {
    const char *name; /* at most 40 letters, digits, '_', '-'; not the name of a library sampler */
    const char *doc;  /* one line; may be NULL */
    const char *source;  /* paper and equation; may be NULL */
    unsigned kinds;      /* kinds of variables it moves: OR of SAL_MOVES_*; 0: SAL_MOVES_FINITE */
    bool needs_gradient; /* fill sal_origin.gradient */
    bool needs_differences; /* fill sal_origin.differences, with exact differences */
    bool has_step_size;     /* use sal_origin.step_size; adapted in warm-up unless given */
    bool unadjusted;        /* accept every proposal that is not forbidden: approximate */
    const void *data;       /* passed to the functions */

    /* The settings in a specification, at most SAL_SETTINGS; the list ends with a NULL name. NULL:
     * none. */
    const sal_setting *settings;

    /* Optional. Returns NULL, or why the sampler cannot serve this model, as "it needs ..."; kinds
     * and the gradient are checked without this function. */
    const char *(*obstacle)(const sal_model *model, const double *values, const void *data);

    /* Make working memory, once for each shard of the chains. On failure *work is untouched and
     * err->message gives the reason. Set both create and destroy, or neither. */
    sal_status (*create)(const sal_model *model, const double *values, const void *data,
                         void **work, sal_error *err);
    void (*destroy)(void *work); /* frees the working memory */

    /* How many numbers (>= 1) `prepare` computes once for each state and keeps while the chain
     * stays there, such as log-weights of all moves. Set both row_size and prepare, or neither. */
    int64_t (*row_size)(const sal_space *space, const double *values, const void *data);
    void (*prepare)(const sal_origin *s, double *row); /* s->row is NULL during the call */

    /* Draw a proposal into `to` [V], which holds the codes of s at the call. */
    void (*draw)(const sal_origin *s, sal_random *random, int32_t *to);

    /* log q(to | s); -inf if `draw` never gives `to`. Called for states s that are not forbidden.
     * Where several ways lead to `to`, return the log of the sum of their probabilities. */
    double (*log_q)(const sal_origin *s, const int32_t *to);

    /* Directions, for irreversible samplers (lifted, or guided, walks). Each chain keeps one of the
     * numbers v = 0 .. directions - 1, which `draw` and `log_q` read in sal_origin.direction. Write
     * r(v) for the reverse of v. A proposal is accepted with probability
     *
     *     min(1, exp(f(s') - f(s)) q(s | s', r(v)) / q(s' | s, v)),
     *
     * and v stays; after a rejection the chain stays and v becomes r(v). This leaves the states'
     * distribution invariant, with all directions equally likely at every state. A chain's first
     * direction is drawn, and with probability `refresh_direction` it is drawn anew before a step.
     * Without that a walk may be periodic, as on a flat f, though it reaches every state; and only
     * a rejection turns it, so an unadjusted sampler has no directions. Source: Gustafson 1998;
     * Turitsyn, Chertkov & Vucelja 2011. */
    int directions;           /* 2 .. SAL_SAMPLER_DIRECTIONS; 0 or 1: none */
    const int32_t *reverse;   /* [directions] r(v), with r(r(v)) = v; NULL: directions - 1 - v */
    double refresh_direction; /* 0 .. 1 */

    /* Values that warm-up tunes for all chains, at most SAL_SAMPLER_TUNED. They can be saved
     * (sal_tuning_save) and are part of checkpoints. Set both tuned and adapt, or neither. */
    const sal_setting *tuned;
    /* Update the tuned values after a window. The library keeps them in their ranges. */
    void (*adapt)(const sal_sampler_window *window, double *tuned, const void *data);

    /* NULL in yours. The library's own samplers have an engine in place of the functions from
     * `create` to `adapt`. */
    const sal_sampler_engine *engine;
} sal_sampler_descriptor;

/* ---- inspecting any sampler, the library's or your own
 *
 * These functions read the following options of a run: sampler, own_samplers, step_size (0: the
 * default), preconditioner, seed, temperatures (the last of `replicas` is inspected; without them
 * 1), and, where stated, draws. Adapted values are as before warm-up. */

/* How far a sampler is from being right on a model with few states. P(i, j) is the probability of a
 * step from state i to j, and pi_i that of state i. If steps take turns (gibbs), each kind of step
 * is inspected, and the largest value reported.
 *
 * With directions i and j are pairs of a state and a direction, all directions of a state have the
 * same pi_i, and i* is i with its direction reversed; else i* is i. If pi P = pi on the pairs, the
 * states alone have their distribution too. */
typedef struct sal_balance {
    int64_t states;    /* number of states of the model */
    double invariance; /* max over j |sum_i pi_i P(i, j) - pi_j|: 0 for an exact sampler except for
                          rounding, 1e-12 in double */
    double reversibility; /* max over i, j |pi_i P(i, j) - pi_j P(j*, i*)|: detailed balance, or
                             generalised detailed balance with directions. It suffices for a sampler
                             to be exact, but is not needed. With Metropolis-Hastings acceptance it
                             is 0 whatever log_q is, unless directions are drawn anew */
    double normalisation; /* max over i |sum_j q(j | i) - 1|: 0 if log_q is right */
    double frequency; /* steps made, against P: a chi-square statistic turned into a standard normal
                         (Wilson & Hilferty 1931); above 5 `draw` does not draw what `log_q` says.
                         NaN: no steps were made */
    int64_t unreached;  /* number of states of positive probability that no number of steps reaches
                           from the most probable state (with directions: from that one of its
                           directions which reaches fewest) */
    int64_t directions; /* number of the sampler's directions; 1 without */
} sal_balance;

/* Build the exact transition matrix of a sampler from its log_q (summed over auxiliary variables)
 * and acceptance, and make steps from every state.
 * Params:  options.draws: steps made from each state; 0: 1000, -1: none.
 *          worst [2 x V], or NULL: the states i and j with the worst reversibility if that is above
 *          1e-12; else with the worst normalisation if that is above 1e-12 (j is i); else where the
 *          steps fit least.
 * Returns: SAL_ERR_ARGUMENT (no such sampler; a descriptor that is not right, or that proposes what
 *          it cannot); SAL_ERR_UNSUPPORTED (more than 4096 states times directions; a sampler that
 *          does not serve the model, or cannot tell probabilities: those with Gaussian auxiliary
 *          variables and relaxations); SAL_ERR_MODEL; SAL_ERR_MEMORY. *balance is then untouched.
 * Cost:    states^2 calls of log_q (for each direction and value of auxiliary variables), memory
 *          for (states directions)^2 numbers; and `draws` steps from each state and direction.
 *          Models in double show errors best.
 * Threads: several calls may share a model whose parameters do not change. */
SAL_API sal_status sal_sampler_balance(const sal_model *model, const sal_run_options *options,
                                       sal_balance *balance, int32_t *worst, sal_error *err);

/* Compute log q(to | from) of a sampler's first step, summed over auxiliary variables and averaged
 * over directions, for n states `to` [n x V]. q is the probability of the proposal, before
 * acceptance.
 * Returns: as sal_sampler_balance, of models of any size; SAL_ERR_ARGUMENT for codes out of range,
 *          and for a forbidden `from`. log_q [n] is unspecified on failure.
 * Cost:    one evaluation, and n calls of log_q for each direction.
 * Threads: as sal_sampler_balance. */
SAL_API sal_status sal_sampler_log_q(const sal_model *model, const sal_run_options *options,
                                     const int32_t *from, int64_t n, const int32_t *to,
                                     double *log_q, sal_error *err);

/* Draw n independent proposals of a sampler from a state, to [n x V]. This works for every sampler;
 * for those with Gaussian auxiliary variables (avg, pavg), nothing else can be computed.
 * Returns: as sal_sampler_log_q.
 * Cost:    n steps.
 * Threads: as sal_sampler_balance. */
SAL_API sal_status sal_sampler_draw_proposals(const sal_model *model,
                                              const sal_run_options *options, const int32_t *from,
                                              int64_t n, int32_t *to, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
