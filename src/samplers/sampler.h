/* SPDX-License-Identifier: MIT */
/* Samplers: a descriptor each, the chains of a shard that they move, and the kernels they share. */
#ifndef SALI_SAMPLER_H
#define SALI_SAMPLER_H

#include <saltus/sample.h>
#include <saltus/sampler.h>
#include "core/rng.h"
#include "core/specification.h"
#include "core/saved/run_state.h"
#include "models/model.h"
#include "parallel/ranks.h"

/* Acceptance rate that warm-up aims at for proposals by a gradient (Roberts & Rosenthal 1998). */
#define SALI_TARGET_ACCEPTANCE 0.574

/* The chains of one shard: the one owner of codes, embedding and f, present and proposed.
 *
 * Chain c targets exp(beta[c] f). f itself is stored as the model gives it; gradients and
 * differences, which guide proposals, are multiplied by beta. */
typedef struct sali_chains {
    const sal_model *model;
    const sal_space *space;
    sali_evaluator *evaluator;
    int64_t n;
    size_t element; /* bytes of a real */

    int32_t *codes;     /* [n x V] present */
    void *x;            /* real [n x N] */
    double *f;          /* [n] */
    int32_t *codes_new; /* proposed */
    void *x_new;
    double *f_new;
    void *gradient; /* real [n x N] beta times the gradient at the states that were evaluated
                       last */

    double *beta;      /* [n] inverse temperatures, > 0; 1 unless tempered */
    double coldest;    /* beta of the chains that draws come from; 0: the largest of this shard */
    double *step_size; /* [n] step sizes, for samplers that have one */
    double stay;       /* probability of rejecting a step whatever its ratio:
                          sali_stay_probability */

    /* Random streams: chain c of the shard draws from (seed, id[c], step[c]). */
    uint64_t seed;
    uint32_t *id;
    uint64_t *step; /* steps made so far by each chain: rises with every step */

    /* For pairs of coupled chains (samplers/coupled.h): the codes [n x V] of each chain's partner
     * before the next step; NULL: chains by themselves. `second`: of each pair. */
    const int32_t *partner;
    bool second;
    double *noise; /* [S + 2] scratch, with a partner */

    /* Filled by sali_chains_decide for each chain at every step. */
    double *log_ratio; /* [n] input: log of the Metropolis-Hastings ratio; INFINITY: accept
                          always */
    bool *accepted;
    bool take_all; /* accept every proposal: for inspecting proposals */

    /* [n] sums over the steps since they were last cleared. accepted_sum: steps accepted by
     * Metropolis and Hastings, including the ones that `stay` then rejected; acceptance_sum:
     * acceptance probabilities; jump_sum: L1 distances moved. */
    double *accepted_sum, *acceptance_sum, *jump_sum;

    /* The first NaN or +inf met: its chain in the shard (or -1), step and state [V]. */
    int64_t bad_chain;
    uint64_t bad_step;
    const char *bad_what; /* what the bad value is, for a value computed by the sampler; NULL: f,
                             its gradient or a difference */
    double bad_value;
    int32_t *bad_codes;
    /* Set during a refresh that steps follow immediately: a sampler that does not use f of the
     * present states need not compute it. */
    bool steps_follow;
} sali_chains;

/* The one record of a sampler, the library's or a user's. */
typedef sal_sampler_descriptor sali_sampler;

/* Options of a sampler with all defaults filled in. */
typedef struct sali_sampler_settings {
    const sali_sampler *sampler;  /* the sampler that has these settings; set for `share` and
                                     `create` */
    double step_size;             /* the first value, if warm-up adapts it */
    double values[SAL_SETTINGS];  /* values of the descriptor's settings, in their order */
    const double *preconditioner; /* [N x N] or NULL; read by `share` only */
    /* The model's parameters will change every few steps, so `share` must not build anything that
     * costs many evaluations for each set of parameters. Read by `share` only; draws do not have
     * the same bits with and without. */
    bool training;
    /* For sweeps over a trajectory (trajectory.h): its levels, the sampler that moves the states at
     * each level, and that sampler's settings. All NULL for any other sampler. */
    const struct sal_trajectory *trajectory;
    const sali_sampler *inner;
    const struct sali_sampler_settings *inner_settings;
    bool level_step_sizes; /* the inner sampler uses the step sizes of the levels */
    int64_t level_steps;   /* steps at each level, as a multiple of the number in training */
} sali_sampler_settings;

/* Discrete auxiliary variables u of a proposal, u[k] in 0 .. bound(k) - 1, so that they can be
 * enumerated. If size is 0, there are none and the engine's log_q is the whole proposal. A step
 * draws u and s' given s, and accepts with the ratio of pi(s') q(back(u), s | s') to pi(s) q(u, s'
 * | s). */
typedef struct sali_auxiliary {
    int64_t (*size)(const void *self, const sali_chains *chains);
    int32_t (*bound)(const void *self, const sali_chains *chains, int64_t k);
    /* log q(u, to | present state), [n], for one u, int32 [size]; `to` [n x V]. */
    void (*log_q)(void *self, sali_chains *chains, const void *u, const int32_t *to, double *log_q);
    /* The auxiliary variables of the reverse move, from `to` to `from`, into `back` [size]; NULL: u
     * itself. */
    void (*back)(const void *self, const sali_chains *chains, const int32_t *from,
                 const int32_t *to, const int32_t *u, int32_t *back);
} sali_auxiliary;

/* What `adapt` sees of all shards between two windows of warm-up.
 *
 * A window is any number of steps >= 1 that all chains have made since their sums (accepted_sum,
 * acceptance_sum, jump_sum) were cleared; the caller of `adapt` clears the sums afterwards. Between
 * two windows chains may get new codes, ids and steps (and a refresh), and the model new
 * parameters, so `adapt` learns across windows from its own sums only. The shards and their numbers
 * of chains stay.
 *
 * Adaptation that never ends, as in training, has a total of SALI_WARMUP_ENDLESS; `done` then
 * counts all steps since the start, over all runs of a resumed training. */
typedef struct sali_warmup {
    const sal_model *model;
    uint64_t seed;
    int64_t n_shards;
    const sali_ranks *ranks;    /* which rank owns each shard; NULL: this process owns all */
    sali_chains *const *chains; /* [n_shards]; shards of other ranks have only the numbers of
                                   each chain */
    void *const *selves;        /* [n_shards]; NULL for shards of other ranks */
    int64_t window;             /* steps since the last call */
    int64_t done, total;        /* steps of warm-up, this window included */
} sali_warmup;

#define SALI_WARMUP_ENDLESS INT64_MAX

/* The inverse temperature of the chains that draws come from. What is tuned for draws is learned
 * from these chains only; a shard may have none of them, but not all shards of a run. */
double sali_chains_coldest(const sali_chains *chains);

/* sali_warmup_has: whether this rank owns the shard. sali_warmup_gather: collect `each` numbers
 * from every shard, in the order of shards; `fill` writes the numbers of one shard of this rank.
 * *out [n_shards x each] is the same at every rank and is the caller's to free. Returns:
 * SAL_ERR_MEMORY, SAL_ERR_IO. */
static inline bool sali_warmup_has(const sali_warmup *warmup, int64_t shard)
{
    return !warmup->ranks || sali_ranks_own(warmup->ranks, shard);
}
sal_status sali_warmup_gather(const sali_warmup *warmup, int64_t each,
                              void (*fill)(void *context, int64_t shard, double *numbers),
                              void *context, double **out, sal_error *err);

/* Mean probability of acceptance, and mean distance moved, over the coldest chains and the steps of
 * the last window. */
double sali_warmup_acceptance(const sali_warmup *warmup);
double sali_warmup_jump(const sali_warmup *warmup);

/* The most items of a sampler's state. */
#define SALI_MOST_STATE 16

/* How a sampler makes its steps: functions over the chains of a shard. `self` is the sampler's
 * state for one shard; `shared` is what all shards of a run read and only `adapt` writes. A
 * function may be NULL where its comment says so. */
struct sal_sampler_engine {
    const char *alias;   /* another name that the sampler is found by, or NULL */
    bool rejection_free; /* every proposal is accepted */
    bool local;          /* each move is of one variable: see sali_stay_probability */
    bool coupled;        /* chains depend on each other: all are in one shard */
    bool preconditioned; /* takes a matrix */
    bool window;         /* its setting "radius" is a window of levels: 1 at most on counts without
                            a cap, which move by 1 */
    double most_step;    /* the step size, in units of the least move, beyond which proposals no
                            longer change; training stays below it. 0: there is no such step size */
    const char *cycle;   /* name of the setting that gives the steps of a cycle, in which each step
                            has a kernel of its own; windows of warm-up are whole cycles. NULL: no
                            cycle */
    /* Settings "key=value,..." for the contract tests to try, ending with NULL; NULL: the defaults
     * only. */
    const char *const *variants;

    /* Shared state; all three are NULL for a sampler without. `adapt` is called between windows of
     * warm-up, the last time when done = total, and never after that: *changed asks the run to
     * refresh all shards. */
    sal_status (*share)(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err);
    void (*unshare)(void *shared);
    sal_status (*adapt)(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err);

    /* List the state items and return their number, at most SALI_MOST_STATE. For `shared`, list all
     * that adaptation changes, but leave out what can be recomputed from the settings and the
     * model; called after `adapt`, once every pending observation has been used. For `self`, list
     * what a shard knows of its chains beyond their codes; this is valid only with these codes, and
     * all zeros mean that nothing is known. One of `shared` and `self` is NULL. The function is
     * NULL if the sampler has no state items. */
    int64_t (*state)(void *shared, void *self, sali_state_item *items);
    /* Called after items of `shared` were filled with numbers within their ranges. Checks that the
     * items are consistent, else SAL_ERR_DATA (`shared` may then only be passed to `unshare`), and
     * recomputes what depends on them. `at` shows the shards, but not window, done and total; NULL:
     * only TUNED items were filled. Items whose number depends on other items come last and exist
     * after a first call only: see sali_sampler_restore. NULL: nothing depends on the items. */
    sal_status (*changed)(void *shared, const sali_warmup *at, sal_error *err);

    /* What warm-up should have found but did not, why, and what would help: sentences for the run's
     * warning. Returns NULL if nothing was missed; the function is NULL where nothing can be
     * missed. */
    const char *(*missed)(const void *shared);

    sal_status (*create)(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err);
    void (*destroy)(void *self);
    /* Recompute all that is cached for the present states (after a start, new parameters, step
     * sizes, temperatures or shared state); sets f. The steps after it have the same bits as those
     * of a new `self` and a new shared state with the same `state` items on the model as it is now.
     * Safe for several shards at once, as parameters do not change meanwhile. */
    void (*refresh)(void *self, sali_chains *chains);
    /* Whether the sampler, since the last refresh, updates its cached values by small changes, so
     * that a refresh takes as long as many steps. NULL: never. */
    bool (*follows)(const void *self);
    /* One step of every chain. */
    void (*step)(void *self, sali_chains *chains);
    /* n steps, with the same bits as n calls of `step` but less overhead. May be NULL. */
    void (*steps)(void *self, sali_chains *chains, int64_t n);
    /* log q(present state -> to) of the next step's proposal, [n]; `to` [n x V]. Called after
     * refresh. NULL for auxiliary variables that cannot be summed out, such as Gaussian ones; the
     * result means nothing where the size of `auxiliary` is above 0. */
    void (*log_q)(void *self, sali_chains *chains, const int32_t *to, double *log_q);
    const sali_auxiliary *auxiliary; /* NULL: none */
    /* [n] 1 + the direction of each chain, 0 before the first refresh (saltus/sampler.h); log_q
     * uses the present directions. NULL: no directions. */
    int32_t *(*directions)(void *self);
    /* For a sweep: the number of pieces. Step t makes piece t mod pieces, which is exact by itself
     * and is the move that log_q describes. NULL: no sweep; then the step of an exact sampler of
     * the registry satisfies detailed balance, unless the sampler keeps a momentum. */
    int64_t (*pieces)(const void *self, const sali_chains *chains);
    /* Whether whole sweeps take little time, and less than as many calls of single steps: a run
     * then makes them between its looks at the chains. As soon as `self` is created; NULL: no. */
    bool (*sweeps)(const void *self);
    /* For these values of the settings: the size of the blocks of consecutive variables if each
     * step can take one block to all states that f allows given the other blocks, and to no other
     * states, in one way or by several steps. Returns 0 if moves are not like this; NULL: they
     * never are. */
    int64_t (*block_size)(const double *values);
};

/* The engine of all samplers that have none of their own: it calls `draw` and `log_q`
 * (own/own.c). */
extern const sal_sampler_engine sali_own_engine;

static inline const sal_sampler_engine *sali_engine(const sali_sampler *sampler)
{
    return sampler->engine ? sampler->engine : &sali_own_engine;
}

/* Number of directions, 1 without, and the reverse of one. */
static inline int64_t sali_sampler_directions(const sali_sampler *sampler)
{
    return sampler->directions > 1 ? sampler->directions : 1;
}
static inline int32_t sali_sampler_reverse(const sali_sampler *sampler, int32_t direction)
{
    const int32_t last = (int32_t)sali_sampler_directions(sampler) - 1;
    return last > 0 && sampler->reverse ? sampler->reverse[direction] : last - direction;
}

/* Check the descriptors of a list that ends with NULL (or is NULL): functions and names are there,
 * no name appears twice or belongs to the library. SAL_ERR_ARGUMENT names the first descriptor that
 * fails. */
sal_status sali_own_check(const sali_sampler *const *own, sal_error *err);

/* The sampler of the registry with the name of a specification ("gwg" or "gwg:hops=2"), or NULL;
 * the sampler with number `index`, NULL past the end. */
const sali_sampler *sali_sampler_find(const char *specification);
const sali_sampler *sali_sampler_at(int64_t index);

/* Refuse a sampler that the model cannot serve, naming those that it can. */
sal_status sali_sampler_check(const sali_sampler *sampler, const sali_sampler_settings *settings,
                              const sal_model *model, sal_error *err);

/* Whether the sampler serves the model with its default settings. */
bool sali_sampler_serves(const sali_sampler *sampler, const sal_model *model);

/* Room for a specification with every setting spelt out. */
#define SALI_SAMPLER_TEXT 1024

/* The sampler's name or its alias, whichever the specification uses. */
const char *sali_sampler_called(const sali_sampler *sampler, const char *specification);

/* The sampler to use when none is named: "block-gibbs" where the structure of the model is known
 * (layers, chains, mixtures) and `pieces` allows exact draws of its pieces, which at temperatures
 * other than 1 are proposals only; else "gwg", or where a model has no gradient, or first-order
 * differences are off by more than half of the largest exact one at random states or after two
 * Gibbs sweeps from them, a sampler by exact differences: "gibbs", or "lb" with counts without a
 * cap. Cost: 256 evaluations, and 256 Gibbs steps of 8 states at most. */
sal_status sali_sampler_usual(const sal_model *model, bool pieces, const char **name,
                              sal_error *err);

/* Whether warm-up can find the sampler's step size: this needs an exact acceptance to judge a step
 * size by. */
bool sali_sampler_adapts(const sali_sampler *sampler);

/* Refuse to adapt the step size where chains move by another step size during warm-up (pavg's
 * setting adapt-step-size). SAL_ERR_ARGUMENT. */
sal_status sali_sampler_check_adapts(const sali_sampler *sampler,
                                     const sali_sampler_settings *settings, sal_error *err);

/* Find the sampler of a specification "name:key=value,...", which must serve the model, and resolve
 * its settings; a step size of 0 is not given: it is adapted, or for a sampler that cannot the
 * usual one of base 0.2. Samplers of the caller's own (NULL: none) are found too. Returns:
 * SAL_ERR_ARGUMENT (no such sampler; an option that it does not have or that is out of range; a
 * descriptor that is not right), SAL_ERR_UNSUPPORTED. */
sal_status sali_sampler_choose_from(const sali_sampler *const *own, const char *specification,
                                    const sal_model *model, double step_size,
                                    const sali_sampler **sampler, sali_sampler_settings *settings,
                                    sal_error *err);

/* sali_sampler_choose_from among the samplers of the registry only. */
sal_status sali_sampler_choose(const char *specification, const sal_model *model, double step_size,
                               const sali_sampler **sampler, sali_sampler_settings *settings,
                               sal_error *err);

/* The value of the sampler's setting `name`; 0 if it has no such setting. */
double sali_sampler_value(const sali_sampler *sampler, const sali_sampler_settings *settings,
                          const char *name);

/* What the evaluator of chains of this sampler must be able to give: SALI_WANT_*. */
unsigned sali_sampler_wants(const sali_sampler *sampler);

/* Create the sampler's state *self for a shard, and set the chains' step sizes and `stay`. */
sal_status sali_sampler_open(const sali_sampler *sampler, const sali_sampler_settings *settings,
                             void *shared, sali_chains *chains, void **self, sal_error *err);

/* Create the shared state of a sampler, if it has one (*shared is untouched otherwise); destroy a
 * shared state, or the state of a shard, which may be NULL. */
sal_status sali_sampler_share(const sali_sampler *sampler, const sal_model *model,
                              const sali_sampler_settings *settings, void **shared, sal_error *err);
void sali_sampler_unshare(const sali_sampler *sampler, void *shared);
void sali_sampler_close(const sali_sampler *sampler, void *self);

/* List the state items of `shared` or of `self` (pass NULL for the other) whose `kept` includes
 * `what`. Returns how many. */
int64_t sali_sampler_items(const sali_sampler *sampler, void *shared, void *self, unsigned what,
                           sali_state_item items[SALI_MOST_STATE]);

/* Call before a refresh if the states are not the ones that the sampler's steps left: clears what
 * the sampler keeps of the chains beyond their codes. */
void sali_sampler_forget(const sali_sampler *sampler, void *self);

/* Restore the state of a sampler into a newly created `shared`, with the shards opened: fills all
 * items and calls `changed`. Returns: SAL_ERR_DATA, SAL_ERR_MEMORY; `shared` may then only be
 * passed to `unshare`. The shards need a refresh. */
sal_status sali_sampler_restore(const sali_sampler *sampler, void *shared, const sali_warmup *at,
                                sali_run_state_reader *reader, sal_error *err);

/* n steps of every chain. */
static inline void sali_sampler_steps(const sali_sampler *sampler, void *self, sali_chains *chains,
                                      int64_t n)
{
    const sal_sampler_engine *engine = sali_engine(sampler);
    for (int64_t k = 0; !engine->steps && k < n; k++) {
        engine->step(self, chains);
    }
    if (engine->steps) {
        engine->steps(self, chains, n);
    }
}

/* n >= 1 steps from states that are not the ones that the sampler's steps left, perhaps with other
 * parameters. */
static inline void sali_sampler_go(const sali_sampler *sampler, void *self, sali_chains *chains,
                                   int64_t n)
{
    sali_sampler_forget(sampler, self);
    chains->steps_follow = true;
    sali_engine(sampler)->refresh(self, chains);
    chains->steps_follow = false;
    sali_sampler_steps(sampler, self, chains, n);
}

/* The usual step size of a space for a sampler with one: `base` for binary variables, scaled with
 * the squared spacing of levels (2 base for one-hot, 4 base for spins), so that the binary, spin
 * and one-hot forms of a model give the same chain. */
double sali_default_step_size(const sal_space *space, double base);

/* Check that eps and 1 / eps are numbers of the model's type, with room for levels and gradients; 0
 * means that no step size is given. SAL_ERR_ARGUMENT otherwise. */
sal_status sali_step_size_check(double step_size, sal_dtype dtype, sal_error *err);

/* ---- chains.c */

/* sali_chains_create: `wants` as for the evaluator; codes, id and step are the caller's to fill. */
/* sali_chains_create_remote: chains that another rank moves, with the numbers of each chain, and
 * codes if `states`, but nothing else. */
sal_status sali_chains_create_remote(const sal_model *model, int64_t n, bool states, uint64_t seed,
                                     sali_chains **out, sal_error *err);
sal_status sali_chains_create(const sal_model *model, int64_t n, unsigned wants, uint64_t seed,
                              sali_chains **out, sal_error *err);
void sali_chains_destroy(sali_chains *chains);

/* Whether all chains have made the same number of steps. */
bool sali_chains_together(const sali_chains *chains);

/* Recompute x from codes, after the caller changed codes. */
void sali_chains_embed(sali_chains *chains);

/* The stream of chain c at its present step for a purpose. */
static inline sali_stream sali_chains_stream(const sali_chains *chains, int64_t c,
                                             sali_purpose purpose)
{
    return (sali_stream){
        .seed = chains->seed, .step = chains->step[c], .chain = chains->id[c], .purpose = purpose
    };
}

/* Row c of an array of `width` elements a chain. */
static inline void *sali_row(const sali_chains *chains, void *rows, int64_t c, int64_t width)
{
    return (char *)rows + (size_t)(c * width) * chains->element;
}

/* A row of gradients or differences [width] of f times the inverse temperature of chain c. */
void sali_chains_temper(const sali_chains *chains, int64_t c, int64_t width, void *row);

/* Evaluate the proposed states: f_new, and the gradient when wanted; notes NaN and +inf. */
void sali_chains_propose(sali_chains *chains, bool gradient);

/* Evaluate the present states: f, and the gradient when wanted; notes NaN and +inf. */
void sali_chains_start(sali_chains *chains, bool gradient);

/* Exact differences of all moves from the states `codes`, beta times f(s') - f(s), real [n x S];
 * also f. Notes the state itself or a neighbour where f is NaN or +inf. */
void sali_chains_differences(sali_chains *chains, const int32_t *codes, const void *x, double *f,
                             void *slots);

/* Differences of some moves only, as sali_differences_to, and f itself: not multiplied by beta.
 * Notes bad values of f only; the caller knows which of the differences to check. */
void sali_chains_differences_to(sali_chains *chains, const int32_t *codes, const void *x,
                                const int32_t *to, double *f, void *slots);

/* Note a bad value of chain c at `codes` [n x V]; only the first one is kept. `what` names a value
 * of the sampler's; without, the value is f. */
void sali_chains_note_bad(sali_chains *chains, int64_t c, const int32_t *codes, double value);
void sali_chains_note_fault(sali_chains *chains, int64_t c, const int32_t *codes, const char *what,
                            double value);

/* Note f [n] of chains first .. first + count - 1 at `codes` [n x V] where it is NaN or +inf. */
void sali_chains_check_f(sali_chains *chains, int64_t first, int64_t count, const int32_t *codes,
                         const double *f);

/* The error that reports the noted bad value, beginning with the name of the model or sampler;
 * `chain` is the chain's number in the run. */
sal_status sali_chains_report(const sali_chains *chains, const sali_sampler *sampler, int64_t chain,
                              sal_error *err);

/* Note a bad difference `value` from `codes` to the neighbour with variable `site` at `code`; the
 * neighbour is what is reported. */
void sali_chains_note_bad_move(sali_chains *chains, int64_t c, const int32_t *codes, int64_t site,
                               int32_t code, double value);

/* Log of the Metropolis-Hastings ratio f' - f + log q(s' -> s) - log q(s -> s'), with the rules for
 * infinities: a forbidden s' is never accepted, a finite one always from a forbidden s. */
double sali_mh_log_ratio(double f, double f_new, double log_q_forward, double log_q_reverse);

/* The log ratio of chain c, from f to f_new at its temperature. */
static inline double sali_chains_log_ratio(const sali_chains *chains, int64_t c,
                                           double log_q_forward, double log_q_reverse)
{
    return sali_mh_log_ratio(chains->beta[c] * chains->f[c], chains->beta[c] * chains->f_new[c],
                             log_q_forward, log_q_reverse);
}

/* Two-level variables that change in every step of a sampler that moves one variable change the
 * parity of the state each time, and draws at every second step would see half of the states;
 * samplers that move all variables at once can exchange the two halves of a chessboard for ever. So
 * a step that Metropolis and Hastings would accept is taken with probability 1 - stay: the kernel
 * is stay I + (1 - stay) P, whose eigenvalues are at least 2 stay - 1 whatever f is.
 *
 * The probability is 1 / (4 V) for V variables that can move: eigenvalues of at least 1 / (2 V)
 * - 1. For samplers that move single variables (`local`), if all variables have two levels, it is
 * 1 / (V + 1): as if the state were one of its own V neighbours, so that the parity under a flat f
 * is forgotten as fast as a single variable. It is never below 1/256, of local samplers 1/64: of
 * many variables f may leave only a few free to move. */
double sali_stay_probability(const sal_space *space, bool local);

/* Whether chain c takes a step with this ratio of Metropolis and Hastings, by a uniform number;
 * counts its acceptance, not its distance. NaN: no. */
static inline bool sali_chains_accept(sali_chains *chains, int64_t c, double ratio, double uniform)
{
    const double probability = ratio >= 1 ? 1 : ratio > 0 ? ratio : 0;
    chains->acceptance_sum[c] += probability;
    chains->accepted_sum[c] += chains->take_all || uniform < probability;
    return chains->take_all || uniform < (1 - chains->stay) * probability;
}

/* Accept or reject all proposals by log_ratio and `stay`; accepted chains move to codes_new, x_new,
 * f_new. Updates `accepted`, and the sums of acceptances and jumps. */
void sali_chains_decide(sali_chains *chains);

/* Set one variable of chain c, drawn from an exact conditional; f is its value afterwards. The sums
 * count an acceptance of 1. */
void sali_chains_move(sali_chains *chains, int64_t c, int64_t site, int32_t code, double f);

/* sali_chains_move for n variables at once. */
void sali_chains_move_several(sali_chains *chains, int64_t c, int64_t n, const int64_t *sites,
                              const int32_t *codes, double f);

/* The sums over chains of accepted_sum, acceptance_sum and jump_sum; clears the three arrays. */
typedef struct sali_chains_sums {
    double accepted, acceptance, jump;
} sali_chains_sums;
sali_chains_sums sali_chains_take_sums(sali_chains *chains);

/* Samplers update f by differences. At steps that are multiples of this number they recompute f, so
 * that rounding cannot drift and a resumed run sees the same numbers. */
#define SALI_RENEWAL_STEPS 65536

/* Increment every chain's step counter. */
void sali_chains_tick(sali_chains *chains);

#endif
