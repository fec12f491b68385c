/* Samplers of your own: a descriptor says how states are proposed, and the library does the rest.
 *
 * A proposal is two functions: `draw` draws a state s' from q(. | s), and `log_q` tells log q(s' |
 * s). The library evaluates s', accepts it with the probability of Metropolis and Hastings,
 *
 *     min(1, exp(f(s') - f(s)) q(s | s') / q(s' | s)),
 *
 * and makes of it a sampler like its own: with tempering, annealing, adapted step sizes, training,
 * annealed importance sampling, checkpoints, and the same bits for any number of threads. Such a
 * sampler is right if `log_q` is the log-probability of what `draw` draws: sal_sampler_balance
 * proves that on a small model.
 *
 * A descriptor is given in the options (`own_samplers` of sal_run_options, sal_train_options,
 * sal_ais_options and sal_inpaint_options) and found by its name: .sampler = "name:key=value,...".
 */
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

/* ---- what a proposal may know */

/* A state s that a chain proposes from, and what is known of it; good during the call.
 *
 * f, gradient and differences are those of the chain's target: at an inverse temperature beta they
 * are multiplied by it, so that a sampler need not know of temperatures. */
typedef struct sal_origin {
    const sal_space *space;    /* of the model */
    int64_t variables;         /* V */
    int64_t reals;             /* N */
    const int64_t *real;       /* [V + 1] index of each variable's first real in x and gradient */
    const int64_t *entry;      /* [V + 1] of its first entry in differences */
    const int32_t *codes;      /* [V] */
    const double *x;           /* [N] the embedding of the codes */
    double f;                  /* -inf: forbidden. Chains may start so; gradient and differences
                                  are then zeros, and every finite state is accepted */
    const double *gradient;    /* [N] at x; NULL unless needs_gradient. An entry may be infinite
                                  where a move leads to a forbidden state */
    const double *differences; /* f(s') - f(s) of all moves of one variable, laid out as by
                                  sal_model_evaluate; NULL unless needs_differences */
    double beta;               /* of the chain's target, in all of the above */
    double step_size;          /* eps; NaN unless has_step_size */
    int64_t step;              /* steps that the chain has made; not for `prepare` */
    const double *values;      /* of the descriptor's parameters, in their order */
    const double *tuned;       /* of the descriptor's `tuned`, in their order */
    const double *row;         /* what `prepare` made of this state */
    void *work;                /* what `create` made: of one thread at a time */
    const void *data;          /* the descriptor's */
} sal_origin;

/* f(s with variable v at `code`) - f(s) to first order, g'(s' - s); 0 for the code that it has.
 * Needs the gradient. Threads: any. */
SAL_API double sal_origin_first_order(const sal_origin *s, int64_t v, int32_t code);

/* The same, exactly. Of a count without a cap only steps of 1 are known, others are NaN. Needs the
 * differences. Threads: any. */
SAL_API double sal_origin_difference(const sal_origin *s, int64_t v, int32_t code);

/* The random numbers of one proposal: each call takes the next ones. They depend on seed, chain and
 * step only. At most 2^25 of them; after that they come again. */
typedef struct sal_random sal_random;

SAL_API double sal_random_uniform(sal_random *random);               /* strictly inside (0, 1) */
SAL_API double sal_random_normal(sal_random *random);                /* standard */
SAL_API int64_t sal_random_below(sal_random *random, int64_t bound); /* 0 .. bound - 1; bound > 0 */

/* k with probability proportional to exp(log_weight[k]), k = 0 .. n - 1. Weights of -inf are never
 * drawn. If there is no other, or one is NaN or +inf: -1, and no number is taken. Cost: O(n). */
SAL_API int64_t sal_random_softmax(sal_random *random, int64_t n, const double *log_weight);

/* log of the sum of exp(log_weight[k]): what makes the weights of sal_random_softmax
 * log-probabilities. -inf for none. */
SAL_API double sal_log_sum_exp(int64_t n, const double *log_weight);

/* ---- the descriptor */

/* Kinds of variables that a sampler moves. */
enum {
    SAL_MOVES_BINARY = 1 << SAL_BINARY,
    SAL_MOVES_SPIN = 1 << SAL_SPIN,
    SAL_MOVES_ORDINAL = 1 << SAL_ORDINAL,
    SAL_MOVES_CATEGORICAL = 1 << SAL_CATEGORICAL,
    SAL_MOVES_COUNT = 1 << SAL_COUNT, /* with a cap */
    SAL_MOVES_FINITE = SAL_MOVES_BINARY | SAL_MOVES_SPIN | SAL_MOVES_ORDINAL |
                       SAL_MOVES_CATEGORICAL | SAL_MOVES_COUNT,
    SAL_MOVES_UNBOUNDED = 1 << (SAL_COUNT + 1) /* counts without a cap */
};

/* A number of a sampler: a key of its specification, or one that it tunes. The library's own
 * samplers have the same ones. */
typedef struct sal_sampler_parameter {
    const char *name; /* at most 40 letters, digits, '_', '-'; NULL ends the list */
    double standard;  /* the default, or where tuning starts; in low .. high */
    double low;       /* finite */
    double high;      /* finite */
    bool whole;       /* whole numbers only */
    const char *doc;  /* may be NULL */
    /* Of a key: words that stand for 0, 1, ..., of at most 31 letters, digits, '_', '-'; the list
     * ends with NULL, and low, high and whole are not read. NULL: numbers. */
    const char *const *choices;
} sal_sampler_parameter;

#define SAL_SAMPLER_PARAMETERS 12 /* the most keys */
#define SAL_SAMPLER_TUNED 8       /* the most numbers that are tuned */

/* What `adapt` learns from: a window of warm-up, over the chains at temperature 1 (or the coldest
 * ones). */
typedef struct sal_sampler_window {
    double acceptance_rate; /* mean probability of acceptance of its steps */
    double jump;            /* mean L1 distance in the embedding that a step moved */
    int64_t steps;          /* of each chain */
    int64_t done;           /* steps of warm-up so far */
    int64_t total;          /* in all; 0: it never ends, as in training */
    const double *values;   /* of the descriptor's parameters */
} sal_sampler_window;

/* What makes a sampler. Fields left zero take the defaults that are told; `name`, `draw` and (but
 * for `unadjusted`) `log_q` are required. Descriptor, data and all strings are not copied: they
 * must live as long as the run or trainer, and be the same all that time.
 *
 * Functions of one run are called from several threads at once, but with one `work` from one thread
 * at a time. They may depend on nothing but their arguments, so that the same seed gives the same
 * bits. */
typedef struct sal_sampler_descriptor {
    const char *name;       /* at most 40 letters, digits, '_', '-'; none that the library has */
    const char *doc;        /* one line; may be NULL */
    const char *source;     /* paper and equation; may be NULL */
    unsigned kinds;         /* OR of SAL_MOVES_*; 0: SAL_MOVES_FINITE */
    bool needs_gradient;    /* of f, for sal_origin.gradient */
    bool needs_differences; /* exact ones, for sal_origin.differences */
    bool has_step_size;     /* sal_origin.step_size; adapted in warm-up unless given */
    bool unadjusted;        /* take every proposal that is not forbidden: approximate */
    const void *data;       /* passed through */

    /* Keys of the specification, SAL_SAMPLER_PARAMETERS at most; the list ends with a NULL name.
     * NULL: none. */
    const sal_sampler_parameter *parameters;

    /* NULL, or why the sampler cannot serve this model, as "it needs ..." (beyond kinds and the
     * gradient). Optional. */
    const char *(*obstacle)(const sal_model *model, const double *values, const void *data);

    /* Working memory, one for each shard of the chains; on failure *work stays as it is and
     * err->message says why. Both or none. */
    sal_status (*create)(const sal_model *model, const double *values, const void *data,
                         void **work, sal_error *err);
    void (*destroy)(void *work); /* the end of it */

    /* How many numbers (>= 1) are made once of each state and kept while chains stay there, such as
     * log-weights of all moves. Both this and `prepare`, or none. */
    int64_t (*row_size)(const sal_space *space, const double *values, const void *data);
    void (*prepare)(const sal_origin *s, double *row); /* makes them; s->row is NULL then */

    /* Draw a proposal; `to` [V] holds the codes of s when it is called. */
    void (*draw)(const sal_origin *s, sal_random *random, int32_t *to);

    /* log q(to | s), -inf where `draw` never gives `to`. Called for states s that are not
     * forbidden. Where several ways lead to `to` it is the log of their probabilities' sum. */
    double (*log_q)(const sal_origin *s, const int32_t *to);

    /* Numbers that warm-up tunes, SAL_SAMPLER_TUNED at most, for all chains. They can be saved
     * (sal_tuning_save) and are part of checkpoints. Both this and `adapt`, or none. */
    const sal_sampler_parameter *tuned;
    /* Their update after a window, kept within their ranges. */
    void (*adapt)(const sal_sampler_window *window, double *tuned, const void *data);
} sal_sampler_descriptor;

/* ---- looking at any sampler, the library's or one's own
 *
 * These take the options of a run and read of them sampler, own_samplers, step_size (0: the usual
 * one), preconditioner, seed, temperatures (if given, the last of `replicas` is the one looked at;
 * else 1), and where it says so draws. What warm-up would adapt is as before it. */

/* How far a sampler is from being right on a model with few states. P(i, j) is the probability of a
 * step from state i to j, pi those of the states. Of a sampler whose steps take turns (gibbs) each
 * kind of step is looked at, and the largest value told. */
typedef struct sal_balance {
    int64_t states;       /* how many the model has */
    double invariance;    /* max over j |sum_i pi_i P(i, j) - pi_j|: of an exact sampler 0 but for
                             rounding, 1e-12 in double */
    double reversibility; /* max over i, j |pi_i P(i, j) - pi_j P(j, i)|: detailed balance. Enough,
                             but not needed, for a sampler to be exact; 0 of all that are accepted
                             by Metropolis and Hastings, whatever log_q is */
    double normalisation; /* max over i |sum_j q(j | i) - 1|: 0 if log_q are log-probabilities */
    double frequency;     /* steps made, against P: a chi-square statistic turned into a standard
                             normal; above 5 `draw` does not draw what `log_q` tells (Wilson &
                             Hilferty 1931). NaN: none were made */
    int64_t unreached;    /* states of positive probability that no number of steps leads to from
                             the most probable one */
} sal_balance;

/* Build the exact matrix of a sampler from its log_q (summed over auxiliary variables) and
 * acceptance, and make steps from every state.
 * Params:  options.draws: steps made from each state; 0: 1000, -1: none.
 *          worst [2 x V], or NULL: the states i and j where the first of these is worst that is
 *          above 1e-12: reversibility, normalisation (j is i); else where the steps fit least.
 * Returns: SAL_ERR_ARGUMENT (no such sampler; a descriptor that is not right, or that proposes what
 *          it cannot); SAL_ERR_UNSUPPORTED (more than 4096 states; a sampler that does not serve
 *          the model, or cannot tell probabilities: those with Gaussian auxiliary variables and
 *          relaxations); SAL_ERR_MODEL; SAL_ERR_MEMORY. *balance is then untouched.
 * Cost:    states^2 calls of log_q (for each value of auxiliary variables), memory for as many
 *          numbers; and `draws` steps from each state. Models in double show errors best.
 * Threads: several calls may share a model whose parameters do not change. */
SAL_API sal_status sal_sampler_balance(const sal_model *model, const sal_run_options *options,
                                       sal_balance *balance, int32_t *worst, sal_error *err);

/* log q(to | from) of a sampler's first step, summed over auxiliary variables, for n states `to`
 * [n x V]; what is proposed, before it is accepted or refused.
 * Returns: as sal_sampler_balance, of models of any size; SAL_ERR_ARGUMENT for codes out of range,
 *          and for a forbidden `from`. log_q [n] is unspecified on failure.
 * Cost:    one evaluation, and n calls of log_q.
 * Threads: as sal_sampler_balance. */
SAL_API sal_status sal_sampler_log_q(const sal_model *model, const sal_run_options *options,
                                     const int32_t *from, int64_t n, const int32_t *to,
                                     double *log_q, sal_error *err);

/* n independent draws of what a sampler proposes from a state, to [n x V]: for every sampler, and
 * all there is to be known of those with Gaussian auxiliary variables (avg, pavg).
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
