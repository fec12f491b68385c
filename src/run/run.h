/* SPDX-License-Identifier: MIT */
/* A run: shards of chains, what is recorded of them, and its options with defaults filled in.
 *
 * With tempering, a chain of the run is a ladder of `replicas` slots, each a chain of a shard, of
 * which the first, at temperature 1, is what is recorded. Slot number c replicas + r is replica r
 * of chain c, and that is the number of its random streams. Shards have slots that follow each
 * other: whole ladders, or, where there are fewer chains than shards, a part of one ladder; its
 * neighbours in other shards swap states with them across seams (seams.c). */
#ifndef SALI_RUN_H
#define SALI_RUN_H

#include "core/saved/run_state.h"
#include "core/shard.h"
#include "models/decoding.h"
#include "parallel/ranks.h"
#include "samplers/sampler.h"
#include "run/parts/step_size.h"
#include "run/parts/tempering.h"

/* Mean and sum of squared deviations from it of some draws (Welford 1962). */
typedef struct sali_running {
    double mean, squares;
} sali_running;

/* Add the n-th draw's x. */
static inline void sali_running_add(sali_running *r, int64_t n, double x)
{
    double off = x - r->mean;
    r->mean += off / (double)n;
    r->squares += off * (x - r->mean);
}

/* Windows of warm-up have at most so many steps, or a few more to make whole cycles of step sizes:
 * sali_run_adapt_window. And those after it. */
#define SALI_ADAPT_WINDOW 25
#define SALI_SAMPLE_WINDOW 256
int64_t sali_run_adapt_window(const sal_run *run);

/* Sums over a chain's steps since its last draw, without what the chain itself has gathered in the
 * window under way; less than 0 if that draw was made in this window. */
typedef struct sali_queued_sums {
    double acceptance, jump;
} sali_queued_sums;

/* The draws of the window under way, on their way to the caller (draw_queue.c). */
typedef struct sali_draw_queue {
    int64_t room;             /* draws that a window may make */
    int64_t row0, rows;       /* chains that have a place here: all at rank 0, else its own */
    int64_t first;            /* the first draw of the window under way */
    int32_t *codes;           /* [room x rows x V of base]; NULL: nothing is shown */
    double *figures;          /* [room x SALI_NOTED x rows] */
    sali_queued_sums *before; /* [rows] */
} sali_draw_queue;

/* A chain among all, by its f. */
typedef struct sali_standing {
    double f;
    struct sali_run_shard *shard;
    int64_t chain; /* of the run */
} sali_standing;

/* Annealing that heats again (reheat.c). */
typedef struct sali_heating {
    int64_t reheats;          /* so far */
    int64_t begun;            /* the step after warm-up at which the present cooling began */
    int64_t looked;           /* draws at the last look whether the search stagnates */
    double peak;              /* the temperature to rise to; 0: not known yet */
    sali_standing *standings; /* [chains] to sort them; NULL: nothing heats */
    int32_t *best;            /* [V] the best state of all */
} sali_heating;

/* What decoding states takes (decode.c): the model with the rule, of which the free variables are
 * only some. */
typedef struct sali_decoder {
    const sal_model *rule;
    int64_t n;                 /* free variables */
    int64_t *place;            /* [n] where they are among all */
    int32_t *full;             /* [all] a state; those of fixed variables stay */
    bool *fixed;               /* [all] */
    int32_t *codes;            /* [n] */
    sali_decoding_item *items; /* [all] */
    bool feasible;             /* of the last one; all of a run are or none is */
} sali_decoder;

/* Which functions the caller has at rank 0. */
typedef struct sali_run_calls {
    bool draw, state, progress;
} sali_run_calls;

/* Between shards that have parts of one ladder (seams.c). */
typedef struct sali_seams {
    bool any;
    char *states[2]; /* of a lower and a higher slot, as they are sent; NULL without */
} sali_seams;

/* What ranks tell each other after a window (sync.c); NULLs on one rank. */
typedef struct sali_run_sync {
    int64_t *begin;  /* [n_shards + 1] of each shard, among */
    double *numbers; /* [begin[n_shards]] */
} sali_run_sync;

/* One shard: its chains, the sampler's state, and what it has recorded. Rows of the run's arrays
 * that belong to its chains are written by it alone. One of another rank has no `self`, and of its
 * chains numbers only (sali_chains_create_remote); at rank 0 also codes, best and last ones. */
typedef struct sali_run_shard {
    int64_t first;  /* the first chain of the run with its coldest slot here, or behind it */
    int64_t groups; /* how many such chains are here */
    sali_chains *chains;
    void *self;
    sali_swaps swaps;
    int32_t *reference; /* [V] a random state, for distances */
    int32_t *full;      /* [V of base] one state of the whole space */
    int32_t *inner;     /* [V of the model that base clamps, or of base] for the statistic */
    int64_t draws_made;
    double *best;        /* [chains->n] the largest f met; NULL: not tracked */
    int32_t *best_codes; /* [chains->n x V] */
    double *decoded; /* [chains->n] the largest statistic of a decoded state; NULL: none are made */
    int32_t *decoded_codes; /* [chains->n x V] */
    sali_decoder decoder;
    bool moved;        /* some chain was just moved to the best state of all */
    bool follows;      /* of another rank: sali_run_follows after its last window */
    sal_status status; /* of its start, and of its walk (walk.h) */
    sal_error error;
} sali_run_shard;

struct sal_run {
    sali_memory memory; /* all arrays of it and of its parts */
    sal_model *base;    /* as given */
    sal_model *model;   /* with clamped variables taken out: what is sampled */
    const sali_sampler *sampler;
    sal_run_options options; /* pointers in it are not kept */
    uint64_t stream_seed;    /* of all chains' random numbers: the seed, mixed with given starts */
    sali_sampler_settings settings;
    const sali_sampler *inner; /* moves states at the levels of a trajectory; NULL without one */
    int64_t levels;            /* of that */
    double *level_counts;      /* at the end [n_shards x (levels + 2)]: sali_trajectory_counts */
    sali_sampler_settings inner_settings;
    void *shared; /* of the sampler; NULL without */
    int64_t n_shards;
    sali_ranks ranks;     /* which shards are this rank's */
    int64_t *slot_begin;  /* [n_shards + 1] the first slot of each shard, and */
    int64_t *chain_begin; /* [n_shards + 1] the first chain with its coldest slot there or behind */
    sali_seams seams;
    sali_run_calls calls;
    sali_run_sync sync;
    sali_pace pace; /* of a step of all shards */
    sali_run_shard *shards;
    sali_chains **shard_chains; /* [n_shards], as in shards: for the sampler's adaptation */
    void **shard_selves;
    sali_swaps **shard_swaps;

    sali_ladder ladder;         /* of temperatures */
    sali_step_sizes step_sizes; /* by temperature */
    double anneal_from, anneal_to;
    sali_heating heating;

    /* By chain and draw; draws_made = draws unless the run was stopped, and after it the arrays are
     * [chains x draws_made]. At other ranks than the first of several they are of chains row0 ..
     * row0 + rows - 1 only, unless heating again looks at all. */
    int64_t row0, rows;
    int64_t rank; /* results are at rank 0 only */
    int64_t draws_made;
    double *log_prob;      /* [chains x draws] */
    double *distance;      /* [chains x draws] L1 distance to the reference state */
    uint32_t *counts;      /* [chains x 2 x bins] draws by half of the run, chain and bin: two-level
                              variables count code 1 */
    sali_running *moments; /* [chains x 2 x V] of counts without a cap; NULL if there are none */
    sali_running *statistic; /* [chains] the model's statistic over draws; NULL: it has none */
    void *draws;             /* [chains x draws x V of base], or NULL */
    int draw_bytes;

    sali_draw_queue queue;

    double accepted_sum, jump_sum; /* after warm-up, over chains and steps */
    double *moved;                 /* [chains] jumps after warm-up, over steps and all replicas */
    int64_t warmup_done;           /* steps of warm-up */
    int64_t sampling;              /* 1: warm-up is over */
    int64_t steps;                 /* after warm-up */
    double seconds, warmup_seconds;
    bool stopped;
    bool over; /* arrays of draws have rows of draws_made */

    int64_t coolings, cooling; /* of a search: how many, and which of them this is (search.c) */
    double search_seconds;     /* of all */
    char search_failure[SAL_ERROR_SIZE]; /* why there were no more, in sentences; empty: none was
                                            wanted */

    bool tuned;           /* what adapts was given: nothing does */
    sal_run_state *state; /* at the last anchor */
};

/* Put defaults in place of zeros but for the sampler, and check ranges (run_options.c); and those
 * that depend on the sampler's interval, once there are chains. */
sal_status sali_run_resolve(sal_run_options *options, sal_error *err);
sal_status sali_run_resolve_intervals(sal_run *run, sal_error *err);

/* UNSUPPORTED for a sampler that is approximate or couples its chains, which `what` cannot use. */
sal_status sali_run_check_independent(const sali_sampler *sampler, const char *who,
                                      const char *what, sal_error *err);

/* The sampler of the options or the usual one, and its shared state, once the model that is sampled
 * is known; run->options.sampler is its name then (choose.c). Returns: ARGUMENT, UNSUPPORTED, and
 * what the sampler returns. */
sal_status sali_run_choose_sampler(sal_run *run, sal_error *err);

/* How slots are divided among shards and ranks, and whose draws are recorded here; and the shards
 * (shards.c). Returns: MEMORY, IO of ranks, and what opening the sampler returns. */
sal_status sali_run_divide(sal_run *run, sal_error *err);
sal_status sali_run_create_shards(sal_run *run, sal_error *err);

/* The chains' first states: given ones [chains x V of base], or found by a search where `init` is
 * NULL; the caller may stop it (start_chains.c). */
sal_status sali_run_start_chains(sal_run *run, const int32_t *init, sal_error *err);

/* One run, as sal_sample (make.c). */
sal_status sali_run_once(sal_model *model, const sal_run_options *options, sal_run **run,
                         sal_error *err);

/* The loop (loop.c): warm-up, and the steps after it. */
sal_status sali_run_warm_up(sal_run *run, sal_error *err);
sal_status sali_run_sample(sal_run *run, sal_error *err);
/* Report progress, `done` steps of warm-up and sampling, to the caller, who may stop the run; all
 * ranks learn whether it stops. */
sal_status sali_run_ask(sal_run *run, int64_t done, sal_error *err);

/* The first status of the shards that is not SAL_OK, with its error. */
sal_status sali_run_shards_status(const sal_run *run, sal_error *err);

/* Swaps of states between shards (seams.c): room for them, once there are shards; and, `made` steps
 * into the present window, the swaps at all seams if they are due, which *due tells.
 * Returns: SAL_ERR_IO of ranks. */
sal_status sali_seams_create(sal_run *run, sal_error *err);
sal_status sali_seams_swap(sal_run *run, int64_t made, bool *due, sal_error *err);

/* Call work(context, k) for this rank's shards, on the run's threads. */
void sali_run_shards(const sal_run *run, void (*work)(void *context, int64_t shard), void *context);

/* NaN or +inf in any shard as an error. */
sal_status sali_run_check(const sal_run *run, sal_error *err);

/* Record the present states of a shard as draw number `draw`. */
void sali_record_draw(sal_run *run, sali_run_shard *shard, int64_t draw);

/* Call options.callbacks.draw, if there is one, for a draw; what it returns may stop the run. */
void sali_queue_call(sal_run *run, const sal_draw *draw);

/* Draws for the caller (draw_queue.c): room for them; before the first draw of warm-up, and of what
 * comes after it; the present states of a shard as draw number `draw`; a shard's sums before they
 * are cleared; and the calls for draws up to number `made`, after a window. */
sal_status sali_queue_create(sal_run *run, sal_error *err);
void sali_queue_begin(sal_run *run);
void sali_queue_note(sal_run *run, sali_run_shard *shard, int64_t draw);
void sali_queue_carry(sal_run *run, const sali_run_shard *shard);
sal_status sali_queue_hand_over(sal_run *run, int64_t made, bool warmup, sal_error *err);

/* The code of variable v of the whole space in a draw of a chain; the run must have kept them. */
static inline int32_t sali_run_draw(const sal_run *run, int64_t chain, int64_t draw, int64_t v)
{
    int64_t at = (chain * run->draws_made + draw) * run->base->space->n_variables + v;
    return run->draw_bytes == 1 ? ((const uint8_t *)run->draws)[at]
                                : ((const int32_t *)run->draws)[at];
}

/* Between the codes of the model that is sampled and those of the whole space, the model's that was
 * given (which may be a clamped one itself): as sali_clamp_expand and so on. */
void sali_run_expand(const sal_run *run, int64_t chains, const int32_t *codes, int32_t *full);
void sali_run_restrict(const sal_run *run, int64_t chains, const int32_t *full, int32_t *codes);
void sali_run_variables(const sal_run *run, int64_t *original);

/* Note states better than any before (best.c). */
sal_status sali_best_create(sal_run *run, sali_run_shard *shard, bool own, sal_error *err);
void sali_best_note(sali_run_shard *shard);
/* Which shard has the best of all chains' best states, or of their best decoded ones, and which of
 * its chains; the first one among equals. *largest: its f, or its statistic. NULL: none. */
const sali_run_shard *sali_best_of_all(const sal_run *run, bool decoded, int64_t *chain,
                                       double *largest);

/* Where the model has a rule for it, decode the chains' states, and after the run the best ones,
 * and note the best of all that come of it (decode.c). */
sal_status sali_decoded_create(sal_run *run, sali_run_shard *shard, bool own, sal_error *err);
void sali_decoded_note(const sal_run *run, sali_run_shard *shard);
void sali_decoded_finish(const sal_run *run);

/* What a decoded state of the run is, in words; NULL: it has none. */
const char *sali_decoded_name(const sal_run *run);

/* The model's statistic, if it has one (run_statistic.c): room for it, once there are shards; of
 * the present codes [V of model] of the chain of a row, draw number `draw`; and in the summary,
 * whose best_log_prob is there. */
sal_status sali_statistic_create(sal_run *run, sal_error *err);
void sali_statistic_note(sal_run *run, sali_run_shard *shard, const int32_t *codes, int64_t row,
                         int64_t draw);
sal_status sali_statistic_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* R-hat of the variables, numbered as in the whole space, in a summary that has that of f
 * (agreement.c). */
sal_status sali_agreement_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* Variables that never changed in any chain, in a summary that has its unmoved chains
 * (unchanged.c). Cost: O(chains R), and f of some thousand states if there are any. */
sal_status sali_unchanged_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* A chain of fewer draws has no ESS even if it moves. */
#define SALI_FEW_DRAWS 4

/* States that f allows and that the sampler cannot reach, where there are at most 256
 * (unreached.c). Cost: f of all states, and a transition matrix if f forbids some and they are few,
 * or O(states V) where the sampler moves known blocks. */
sal_status sali_unreached_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* The number of states that f [all states] allows and that moves of blocks of `size` consecutive
 * variables, each to any state that f allows, do not reach from a most probable state. Returns:
 * SAL_ERR_MEMORY. Cost: O(states V / size). */
sal_status sali_unreached_by_blocks(const sal_space *space, const double *f, int64_t size,
                                    int64_t *unreached, sal_error *err);

/* The range of temperatures of annealing; the temperature when a share of it is done, but for
 * heating; that at a step after warm-up; and the number of steps at one temperature (annealing.c).
 */
sal_status sali_anneal_range(sal_run *run, sal_error *err);
double sali_anneal_temperature(const sal_run *run, double share);
double sali_anneal_temperature_at(const sal_run *run, int64_t step);
int64_t sali_anneal_level(const sal_run *run);

/* Annealing that heats again (reheat.c): the temperature at a step after warm-up; the last of n
 * falling temperatures at which the specific heat is a tenth of the largest; and, after a window,
 * heating if it is due: whether chains have another temperature, and perhaps other states, and are
 * to be refreshed. Where it heats, the quarter of the chains with the smallest f, of equal ones the
 * first, go on from the best state met; cost: O(chains log chains). */
#define SALI_HEAT_BINS 16
#define SALI_LEAST_TEMPERATURE 1e-100
double sali_reheat_temperature(const sal_run *run, int64_t step);
int64_t sali_heat_edge(int64_t n, const double *heat);
double sali_heat_temperature(const sal_run *run); /* where chains freeze, over all draws made */
sal_status sali_reheat(sal_run *run, bool *changed, sal_error *err);
sal_status sali_share_best(sal_run *run, sal_error *err);
void sali_set_temperature(sali_chains *chains, double temperature);

/* Take over step sizes, temperatures and the sampler's values from options.tuning; before there are
 * chains (tuning.c). */
sal_status sali_run_tune(sal_run *run, sal_error *err);

/* The sampler as "name:key=value,..." with every setting spelt out: the same for the same sampler
 * however it was asked for (tuning.c). */
void sali_run_sampler_text(const sal_run *run, char text[SALI_SAMPLER_TEXT]);

/* For people: the sampler, settings other than the standard ones, and what warm-up found, but for
 * lists. */
void sali_run_print_sampler(const sal_run *run, FILE *stream);

/* Anchors: steps at which every run lets all shards make anew what they keep of their chains, so
 * that a run which begins there goes on with the same bits (run_state.c). Whether one lies between
 * `before` and `done` steps of warm-up, or of what comes after it; */
bool sali_run_anchor_is_due(const sal_run *run, int64_t before, int64_t done);
/* (whether a shard of this rank follows its chains by small changes, on which that depends); */
bool sali_run_follows(const sal_run *run, const sali_run_shard *shard);
/* what the run is there (its shards are fresh), into run->state, and for options.callbacks.state;
 */
sal_status sali_run_note_state(sal_run *run, sal_error *err);
/* and a run's place, chains and adaptation from options.resume, checked: SAL_ERR_DATA. */
sal_status sali_run_restore(sal_run *run, sal_error *err);
sal_status sali_run_restore_shards(sal_run *run, sal_error *err);

/* Make anew what all shards keep of their chains, and f. */
void sali_run_refresh(sal_run *run);

/* The draws that were made before, as if they were made now (run_replay.c). Uses the chains' codes
 * and f. Returns: DATA. And draws in memory, for another run to go on from: run->state's. */
sal_status sali_run_replay(sal_run *run, sal_error *err);
sal_status sali_run_keep_past(sal_run *run, sal_error *err);

/* The options of a run among the items of its state (resume_options.c): noting them, when all are
 * resolved and the caller's arrays are there. What a run that goes on needs before it is prepared:
 * whether it was tuned; its preconditioner. The seed of random streams, of new runs and of those
 * that go on. And whether it has the same options: SAL_ERR_ARGUMENT. */
sal_status sali_run_note_options(sal_run *run, sal_error *err);
sal_status sali_run_take_given(sal_run *run, sal_error *err);
uint64_t sali_run_stream_seed(const sal_run *run);
sal_status sali_run_compare_given(const sal_run *run, sal_error *err);

/* The shards' parts of the last state noted, at rank 0 in one (run_state.c). */
sal_status sali_run_collect_state(sal_run *run, sal_error *err);

/* SAL_ERR_ARGUMENT at other ranks than the first of several, naming the function. */
sal_status sali_run_check_results(const sal_run *run, const char *who, sal_error *err);

#endif
