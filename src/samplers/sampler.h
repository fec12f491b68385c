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

/* What is aimed at in warm-up, of proposals by a gradient (Roberts & Rosenthal 1998). */
#define SALI_TARGET_ACCEPTANCE 0.574

/* The chains of one shard: the one owner of codes, embedding and f, present and proposed.
 *
 * Chain c targets exp(beta[c] f). f itself is kept as the model gives it; what guides proposals,
 * gradients and differences, comes multiplied by beta. */
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
    void *gradient; /* real [n x N]: beta times that of whatever was evaluated last */

    double *beta;      /* [n] inverse temperatures, > 0; 1 unless tempered */
    double coldest;    /* of the chains that draws come from; 0: the largest here */
    double *step_size; /* [n] of samplers that have one */
    double stay;       /* probability with which a step stays whatever its ratio: sali_stay_* */

    /* Random streams: chain c of the shard draws from (seed, id[c], step[c]). */
    uint64_t seed;
    uint32_t *id;
    uint64_t *step; /* steps made so far by each chain: rises with every step */

    /* Filled by sali_chains_decide for each chain at every step. */
    double *log_ratio; /* of the Metropolis-Hastings acceptance, input; INFINITY: taken unasked */
    bool *accepted;
    bool take_all; /* accept whatever is proposed: to look at proposals */

    /* By chain, sums over steps since they were last cleared: steps that Metropolis and Hastings
     * accept, those that stay all the same among them; their probabilities; L1 distances moved. */
    double *accepted_sum, *acceptance_sum, *jump_sum;

    /* The first NaN or +inf met: its chain in the shard (or -1), step and state [V]. */
    int64_t bad_chain;
    uint64_t bad_step;
    const char *bad_what; /* of the sampler's, in words; NULL: f or what is made of it */
    double bad_value;
    int32_t *bad_codes;
    /* During a refresh: steps follow at once, so that a sampler which does not use f of the present
     * states need not find it. */
    bool steps_follow;
} sali_chains;

/* The one record of a sampler, the library's or a user's. */
typedef sal_sampler_descriptor sali_sampler;

/* Options of a sampler, resolved: no zeros that stand for defaults. */
typedef struct sali_sampler_settings {
    const sali_sampler *sampler;  /* whose they are; set for `share` and `create` */
    double step_size;             /* start value when adapted */
    double values[SAL_SETTINGS];  /* of the descriptor's parameters, in their order */
    const double *preconditioner; /* [N x N] or NULL; read by `share` only */
    /* The model's parameters will change every few steps: what costs many evaluations to make of
     * them is not used. Read by `share` only; draws do not have the same bits with and without. */
    bool training;
    /* Of sweeps over a trajectory (trajectory.h): its levels, and the sampler that moves the states
     * there. All NULL for any other sampler. */
    const struct sal_trajectory *trajectory;
    const sali_sampler *inner;
    const struct sali_sampler_settings *inner_settings;
    bool level_step_sizes; /* the inner sampler's are those of the levels */
    int64_t level_steps;   /* times as many at each level as in training */
} sali_sampler_settings;

/* Discrete auxiliary variables u of a proposal, u[k] in 0 .. bound(k) - 1, so that they can be
 * enumerated; with a size of 0 there are none, and the engine's log_q tells all. A step draws u and
 * s' given s, and accepts with the ratio of pi(s') q(back(u), s | s') to pi(s) q(u, s' | s). */
typedef struct sali_auxiliary {
    int64_t (*size)(const void *self, const sali_chains *chains);
    int32_t (*bound)(const void *self, const sali_chains *chains, int64_t k);
    /* log q(u, to | present state), [n], for one u, int32 [size]; `to` [n x V]. */
    void (*log_q)(void *self, sali_chains *chains, const void *u, const int32_t *to, double *log_q);
    /* Of the way back; NULL: u itself. */
    void (*back)(const void *self, const sali_chains *chains, const int32_t *from,
                 const int32_t *to, const int32_t *u, int32_t *back);
} sali_auxiliary;

/* What the calling thread shows of all shards between two windows of warm-up.
 *
 * A window is any number of steps >= 1, which all chains have made since their sums (accepted_sum,
 * acceptance_sum, jump_sum) were cleared; whoever calls clears them afterwards. Between two windows
 * chains may be given other codes, ids and steps (and a refresh), and the model other parameters:
 * nothing is learned across windows but from sums. The shards and their numbers of chains stay.
 *
 * Adaptation that is never over, as in training, has a total of SALI_WARMUP_ENDLESS; `done` still
 * counts all steps since the start, over all runs of a training that was resumed. */
typedef struct sali_warmup {
    const sal_model *model;
    uint64_t seed;
    int64_t n_shards;
    const sali_ranks *ranks;    /* whose the shards are; NULL: all are here */
    sali_chains *const *chains; /* [n_shards]; of other ranks only the chains' numbers */
    void *const *selves;        /* [n_shards]; NULL of other ranks */
    int64_t window;             /* steps since the last call */
    int64_t done, total;        /* steps of warm-up, this window included */
} sali_warmup;

#define SALI_WARMUP_ENDLESS INT64_MAX

/* The inverse temperature of the chains which draws come from. What is tuned for draws is learned
 * from these chains only; a shard may have none, but not all shards of a run. */
double sali_chains_coldest(const sali_chains *chains);

/* What is learned from shards themselves. Whether one is here; numbers of all shards, in their
 * order: `fill` writes `each` of them for one that is here, all the same at every rank. *out
 * [n_shards x each] is the caller's to free. Returns: SAL_ERR_MEMORY, SAL_ERR_IO. */
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
 * state for one shard; `shared` what all shards of a run read, and only `adapt` writes. Functions
 * may be NULL where it says so. */
struct sal_sampler_engine {
    const char *alias;   /* another name that the sampler is found by, or NULL */
    bool rejection_free; /* what log_q proposes is always taken */
    bool local;          /* each move is of one variable: see sali_stay_probability */
    bool coupled;        /* chains depend on each other: all are in one shard */
    bool preconditioned; /* takes a matrix */
    bool window;         /* its setting "radius" is a window of levels: 1 at most on counts without
                            a cap, which move by 1 */
    double most_step; /* step size, in units of the least move, beyond which proposals are the same;
                         0: there is none. Training stays below it */
    const char *cycle; /* the setting that says of how many steps a cycle is, each a kernel of its
                          own: windows of warm-up are of whole cycles; NULL: there are none */
    /* Settings "key=value,..." for the contract tests to try, NULL at the end; NULL: the defaults
     * only. */
    const char *const *variants;

    /* Shared state; all NULL without. `adapt` is called between windows of warm-up, never after
     * (it is over when done = total): *changed tells the run to refresh all shards. */
    sal_status (*share)(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err);
    void (*unshare)(void *shared);
    sal_status (*adapt)(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err);

    /* What is kept: the number of items, SALI_MOST_STATE at most. Of `shared` all that adaptation
     * changes, but not what follows from settings and model; asked for after `adapt`, when no shard
     * keeps what it has not learned from yet. Of `self` what a shard knows of its chains beyond
     * their codes, as long as these fit it; zeros everywhere stand for nothing. Either is NULL when
     * the other one is asked for. NULL: nothing is kept. */
    int64_t (*state)(void *shared, void *self, sali_state_item *items);
    /* After numbers within their ranges were put into items of `shared`: SAL_ERR_DATA if they do
     * not go together (then it is good for `unshare` only); else makes anew what is made of them.
     * `at` shows the shards, but not window, done and total; NULL: only what is TUNED was given.
     * Items whose number depends on others come last and are there after a first call only: see
     * sali_sampler_restore. NULL: nothing is made of them. */
    sal_status (*changed)(void *shared, const sali_warmup *at, sal_error *err);

    /* What warm-up was to find and did not, why, and what would help: sentences for the run's
     * warning. NULL: nothing; the function is NULL where nothing can be missed. */
    const char *(*missed)(const void *shared);

    sal_status (*create)(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err);
    void (*destroy)(void *self);
    /* Make what is cached of the present states (after a start, new parameters, step sizes,
     * temperatures or shared state); sets f. What comes next then has the bits of a new `self` and
     * a new shared state of the same `state` on the model as it is now. Safe for several shards at
     * once, as parameters do not change meanwhile. */
    void (*refresh)(void *self, sali_chains *chains);
    /* Whether, since the last refresh, it follows the chains by small changes, so that a refresh
     * takes as long as many steps. NULL: it does not. */
    bool (*follows)(const void *self);
    /* One step of every chain. */
    void (*step)(void *self, sali_chains *chains);
    /* n steps: the same bits as n calls of `step`, with less to do between them. May be NULL. */
    void (*steps)(void *self, sali_chains *chains, int64_t n);
    /* log q(present state -> to) of the next step's proposal, [n]; `to` [n x V]. After refresh.
     * NULL with auxiliary variables that cannot be summed out, such as Gaussian ones; means nothing
     * where their size is above 0. */
    void (*log_q)(void *self, sali_chains *chains, const int32_t *to, double *log_q);
    const sali_auxiliary *auxiliary; /* NULL: none */
    /* 1 + the direction of each chain, [n], 0 before the first refresh (saltus/sampler.h); log_q
     * uses the present ones. NULL: without directions. */
    int32_t *(*directions)(void *self);
    /* Of a sweep: step t makes piece t mod pieces(self), which is exact by itself and which log_q
     * is that of. NULL: no sweep; then the step of an exact sampler of the list satisfies detailed
     * balance, unless it keeps a momentum. */
    int64_t (*pieces)(const void *self, const sali_chains *chains);
    /* With these values of its settings: the size of blocks of consecutive variables, each of which
     * a step can take to all states that f allows beside the other blocks, and to no other states,
     * in one way or by several steps. 0: moves are not such. NULL: they never are. */
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

/* What is right with all descriptors of a list that ends with NULL (or is NULL): that functions and
 * names are there, and no name twice or known to the library. SAL_ERR_ARGUMENT says which is not.
 */
sal_status sali_own_check(const sali_sampler *const *own, sal_error *err);

/* The record of a name ("gwg" or "gwg:hops=2"), or NULL; entry `index`, NULL past the end. */
const sali_sampler *sali_sampler_find(const char *specification);
const sali_sampler *sali_sampler_at(int64_t index);

/* Refuse a sampler that the model cannot serve, naming those that it can. */
sal_status sali_sampler_check(const sali_sampler *sampler, const sali_sampler_settings *settings,
                              const sal_model *model, sal_error *err);

/* Whether it serves the model with its usual settings. */
bool sali_sampler_serves(const sali_sampler *sampler, const sal_model *model);

/* Room for a specification with every setting spelt out. */
#define SALI_SAMPLER_TEXT 1024

/* The name that a specification calls it by: its name or its alias. */
const char *sali_sampler_called(const sali_sampler *sampler, const char *specification);

/* The sampler to use when none is named: "block-gibbs" where the structure of the model is known
 * (layers, chains, mixtures) and `pieces` allows exact draws of its pieces, which at temperatures
 * other than 1 are proposals only; else "gwg", or where a model has no gradient, or first-order
 * differences are off by more than half of the largest exact one at random states or after two
 * Gibbs sweeps from them, a sampler by exact differences: "gibbs", or "lb" with counts without a
 * cap. Cost: 256 evaluations, and 256 Gibbs steps of 8 states at most. */
sal_status sali_sampler_usual(const sal_model *model, bool pieces, const char **name,
                              sal_error *err);

/* Whether its step size can be found in warm-up: not without an exact acceptance to judge it by. */
bool sali_sampler_adapts(const sali_sampler *sampler);

/* Refuse to find the step size in warm-up where chains move by another one meanwhile (pavg's
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

/* The same among the samplers of the registry. */
sal_status sali_sampler_choose(const char *specification, const sal_model *model, double step_size,
                               const sali_sampler **sampler, sali_sampler_settings *settings,
                               sal_error *err);

/* The value of the descriptor's parameter `name` among the settings; 0 if it has none such. */
double sali_sampler_value(const sali_sampler *sampler, const sali_sampler_settings *settings,
                          const char *name);

/* What the evaluator of chains of this sampler must be able to give: SALI_WANT_*. */
unsigned sali_sampler_wants(const sali_sampler *sampler);

/* The sampler's state for a shard, the chains' step sizes set. */
sal_status sali_sampler_open(const sali_sampler *sampler, const sali_sampler_settings *settings,
                             void *shared, sali_chains *chains, void **self, sal_error *err);

/* The shared state of a sampler, if it has one; and the end of it and of a shard's, NULL or not. */
sal_status sali_sampler_share(const sali_sampler *sampler, const sal_model *model,
                              const sali_sampler_settings *settings, void **shared, sal_error *err);
void sali_sampler_unshare(const sali_sampler *sampler, void *shared);
void sali_sampler_close(const sali_sampler *sampler, void *self);

/* The items of the state of `shared`, or of `self` with the other one NULL, that are kept for
 * `what`; their number. */
int64_t sali_sampler_items(const sali_sampler *sampler, void *shared, void *self, unsigned what,
                           sali_state_item items[SALI_MOST_STATE]);

/* Before a refresh with states that are not those that the steps left: drops what is kept of the
 * chains beyond their codes. */
void sali_sampler_forget(const sali_sampler *sampler, void *self);

/* Bring the state of a sampler back into a freshly shared one, with the shards opened: fills all
 * items and calls `changed`. Returns: SAL_ERR_DATA, SAL_ERR_MEMORY; `shared` is
 * good for `unshare` only then. The shards need a refresh. */
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

/* n >= 1 steps from states that are not those that the steps left, perhaps with other parameters.
 */
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
 * the squared spacing of levels (2 base for one-hot, 4 base for spins). */
double sali_default_step_size(const sal_space *space, double base);

/* eps and 1 / eps must be numbers of the model's type, with room for levels and gradients; 0 stands
 * for none. SAL_ERR_ARGUMENT otherwise. */
sal_status sali_step_size_check(double step_size, sal_dtype dtype, sal_error *err);

/* ---- chains.c */

/* `wants` as for the evaluator; codes, id and step are the caller's to fill. */
/* Chains that another rank moves: the numbers of each chain, and its codes if `states`; no more. */
sal_status sali_chains_create_remote(const sal_model *model, int64_t n, bool states, uint64_t seed,
                                     sali_chains **out, sal_error *err);
sal_status sali_chains_create(const sal_model *model, int64_t n, unsigned wants, uint64_t seed,
                              sali_chains **out, sal_error *err);
void sali_chains_destroy(sali_chains *chains);

/* Whether all chains have made the same number of steps. */
bool sali_chains_together(const sali_chains *chains);

/* Make x from codes, after the caller changed them. */
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

/* The same for the present states: f, and the gradient when wanted. */
void sali_chains_start(sali_chains *chains, bool gradient);

/* Exact differences of all moves from the states `codes`, beta times f(s') - f(s), real [n x S];
 * also f. Notes the state itself or a neighbour where f is NaN or +inf. */
void sali_chains_differences(sali_chains *chains, const int32_t *codes, const void *x, double *f,
                             void *slots);

/* Differences of some moves only, as sali_differences_to, and of f itself: without beta, and notes
 * f only: the caller knows which of the differences to look at. */
void sali_chains_differences_to(sali_chains *chains, const int32_t *codes, const void *x,
                                const int32_t *to, double *f, void *slots);

/* Note a value that must not be, of chain c at `codes` [n x V]; the first one is kept. With `what`
 * it is not f but something of the sampler's, in these words. */
void sali_chains_note_bad(sali_chains *chains, int64_t c, const int32_t *codes, double value);
void sali_chains_note_fault(sali_chains *chains, int64_t c, const int32_t *codes, const char *what,
                            double value);

/* Note f [n] of chains first .. first + count - 1 at `codes` [n x V] where it is NaN or +inf. */
void sali_chains_check_f(sali_chains *chains, int64_t first, int64_t count, const int32_t *codes,
                         const double *f);

/* The error that tells of it, after the name of model or sampler; `chain` is its number. */
sal_status sali_chains_report(const sali_chains *chains, const sali_sampler *sampler, int64_t chain,
                              sal_error *err);

/* The same of the neighbour with variable `site` at `code`, whose difference is `value`. */
void sali_chains_note_bad_move(sali_chains *chains, int64_t c, const int32_t *codes, int64_t site,
                               int32_t code, double value);

/* Log of the Metropolis-Hastings ratio f' - f + log q(s' -> s) - log q(s -> s'), with the rules for
 * infinities: a forbidden s' is never accepted, a finite one always from a forbidden s. */
double sali_mh_log_ratio(double f, double f_new, double log_q_forward, double log_q_reverse);

/* That of chain c, from f to f_new at its temperature. */
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

/* Accept or reject by log_ratio and `stay`; accepted chains take codes_new, x_new, f_new; counts
 * and jumps. */
void sali_chains_decide(sali_chains *chains);

/* Chain c moves one variable by an exact conditional to a state of value f; sums as for an
 * acceptance of 1. */
void sali_chains_move(sali_chains *chains, int64_t c, int64_t site, int32_t code, double f);

/* The same for n variables at once. */
void sali_chains_move_several(sali_chains *chains, int64_t c, int64_t n, const int64_t *sites,
                              const int32_t *codes, double f);

/* The sums over chains of accepted_sum, acceptance_sum and jump_sum, which are cleared. */
typedef struct sali_chains_sums {
    double accepted, acceptance, jump;
} sali_chains_sums;
sali_chains_sums sali_chains_take_sums(sali_chains *chains);

/* Samplers carry f along by differences. At steps that are multiples of this number they recompute
 * it, so that rounding cannot drift, and a resumed run sees the same numbers. */
#define SALI_RENEWAL_STEPS 65536

/* Every chain's step counter rises by one. */
void sali_chains_tick(sali_chains *chains);

#endif
