/* SPDX-License-Identifier: MIT */
/* A run: its shards of chains, its options with defaults filled in, its progress, and its parts
 * (run/part.h).
 *
 * With tempering, a chain of the run is a ladder of `replicas` slots, each a chain of a shard, of
 * which the first, at temperature 1, is recorded. Slot number c replicas + r is replica r of chain
 * c, and is also the number of its random streams. The slots of a shard are consecutive: whole
 * ladders, or, where there are fewer chains than shards, a part of one ladder. Neighbouring slots
 * in different shards swap states across seams, the shard boundaries within a ladder
 * (parts/seams.c). */
#ifndef SALI_RUN_H
#define SALI_RUN_H

#include "core/saved/run_state.h"
#include "core/threads/shard.h"
#include "parallel/ranks.h"
#include "samplers/sampler.h"

/* The numbers of the parts. */
enum {
#define SALI_RUN_PART(name) SALI_PART_##name,
#include "run/parts.def"
#undef SALI_RUN_PART
    SALI_PARTS
};

/* The most replicas of a chain, and the least temperature. */
#define SALI_MOST_REPLICAS 1000
#define SALI_LEAST_TEMPERATURE 1e-100

/* A run that may end at any draw judges its draws after SALI_FIRST_LOOK draws of each chain, and
 * each time that their number has doubled; SALI_LOOKS doublings are the default end. */
#define SALI_FIRST_LOOK 100
#define SALI_LOOKS 10

/* The most steps of a window: in warm-up, where sali_run_adapt_window returns a few more to make
 * whole cycles of step sizes; and after warm-up, where sali_run_sample_window returns more if the
 * sampler makes whole sweeps in little time. A window has at most SALI_SAMPLE_WINDOW draws. */
#define SALI_ADAPT_WINDOW 25
#define SALI_SAMPLE_WINDOW 256
int64_t sali_run_adapt_window(const sal_run *run);
int64_t sali_run_sample_window(const sal_run *run);

/* Which functions the caller has at rank 0. */
typedef struct sali_run_calls {
    bool draw, state, progress;
} sali_run_calls;

/* A window: the steps that all shards make before the calling thread inspects them again. */
typedef struct sali_window {
    bool warmup;
    int64_t done;  /* steps before this window, of warm-up or after it */
    int64_t steps; /* of this window */
} sali_window;

/* Room for what ranks send each other after a window (sync.c); NULLs on one rank. */
typedef struct sali_run_sync {
    int64_t *begin; /* [n_shards + 1] the first byte of each shard, among */
    char *bytes;    /* [begin[n_shards]] */
} sali_run_sync;

/* One shard: its chains and the sampler's state. Only the shard writes the rows of the run's arrays
 * that belong to its chains. A shard of another rank has no `self`, and only counters and sums of
 * its chains (sali_chains_create_remote); at rank 0 also codes. */
typedef struct sali_run_shard {
    int64_t k;      /* its number */
    int64_t first;  /* the first chain of the run with its coldest slot here, or behind it */
    int64_t groups; /* how many such chains are here */
    sali_chains *chains;
    void *self;
    int32_t *full;     /* [V of base] scratch: one state of the whole space */
    uint64_t version;  /* of the model's parameters at the last refresh */
    bool follows;      /* sali_run_follows after the last window */
    sal_status status; /* of finding its starts, and of settling its stuck chains */
    sal_error error;
} sali_run_shard;

/* Facts about a search of several coolings (search/search.c), of which the run is the best. */
typedef struct sali_run_search {
    int64_t coolings, cooling;    /* number of coolings, and which of them this run is */
    double seconds;               /* of all */
    char failure[SAL_ERROR_SIZE]; /* why no more coolings were made, in sentences; empty: none was
                                     wanted */
} sali_run_search;

struct sal_run {
    sali_memory memory; /* owns all arrays of the run and its parts */
    sal_model *base;    /* as given */
    sal_model *model;   /* with clamped variables taken out: what is sampled */
    const sali_sampler *sampler;
    sal_run_options options; /* pointers in it are not kept */
    bool tuned;              /* a tuning was given, so nothing adapts */
    uint64_t stream_seed;    /* of the random streams: the seed, mixed with given starts */
    sali_sampler_settings settings;
    const sali_sampler *inner; /* moves states at the levels of a trajectory; NULL without one */
    int64_t levels;            /* number of levels of the trajectory */
    sali_sampler_settings inner_settings;
    void *shared; /* of the sampler; NULL without */

    int64_t sweep;    /* steps of a sweep that is best made as a whole; 1: there is none */
    int64_t replicas; /* slots of a chain */
    int64_t n_shards;
    sali_ranks ranks;     /* which shards are this rank's */
    int64_t rank;         /* results are at rank 0 only */
    int64_t *slot_begin;  /* [n_shards + 1] the first slot of each shard, and */
    int64_t *chain_begin; /* [n_shards + 1] the first chain with its coldest slot there or behind */
    sali_run_shard *shards;
    sali_chains **shard_chains; /* [n_shards], as in shards: for the sampler's adaptation */
    void **shard_selves;
    sali_run_calls calls;
    sali_run_sync sync;
    sali_pace pace;         /* of a step of all shards */
    sali_pace refresh_pace; /* of their refresh */

    void *selves[SALI_PARTS]; /* of the parts; NULL: the run is without that part */

    bool endless;    /* the caller makes the steps and reads the states (chains.c): there are no
                        draws, and no end */
    int64_t earlier; /* then: steps that the chains made in another run before, and */
    bool apart;      /* each chain is a shard */
    sal_status (*before)(int64_t chain, void *data, sal_error *err); /* called before the steps of
                                                                        a shard; NULL: none */
    void *before_data;

    sali_window window; /* the last one, */
    int64_t made;       /* of which so many steps are made */
    bool stale;         /* shards are to be refreshed before their next step: step sizes,
                           temperatures or the sampler's shared state have changed */

    int64_t draws_made;  /* options.draws unless the run was stopped */
    int64_t warmup_done; /* steps of warm-up */
    int64_t sampling;    /* 1: warm-up is over */
    int64_t steps;       /* after warm-up */
    double seconds, warmup_seconds;
    double begun; /* start of the run by the clock; 0: not started */
    bool stopped;
    bool enough; /* a part needs no more draws */
    bool over;   /* the parts have finished */

    sali_run_search search;
    sal_run_state *state; /* at the last anchor */
};

/* ---- making one */

/* The steps after warm-up (run_options.c). */
int64_t sali_run_total(const sal_run *run);

/* Replace zeros by defaults, except the sampler, and check ranges (run_options.c).
 * sali_run_resolve_intervals does the same for options that depend on the sampler's interval, once
 * there are chains. */
sal_status sali_run_resolve(sal_run_options *options, sal_error *err);
sal_status sali_run_resolve_intervals(sal_run *run, sal_error *err);

/* The first option that is set and that runs without draws do not have; NULL: none. */
const char *sali_run_option_of_draws(const sal_run_options *options);

/* SAL_ERR_ARGUMENT unless temperatures [n] rise from 1. `what` says in the message where they come
 * from. */
sal_status sali_run_check_temperatures(int64_t n, const double *temperatures, const char *what,
                                       sal_error *err);

/* UNSUPPORTED for a sampler that is approximate or couples its chains, which `what` cannot use. */
sal_status sali_run_check_independent(const sali_sampler *sampler, const char *who,
                                      const char *what, sal_error *err);

/* Choose the sampler of the options, or the default one, and create its shared state, once the
 * model that is sampled is known. run->options.sampler is its name afterwards (choose.c). Returns:
 * ARGUMENT, UNSUPPORTED, and what the sampler returns. */
sal_status sali_run_choose_sampler(sal_run *run, sal_error *err);

/* Divide slots among shards and ranks; and create the shards (shards.c). Returns: MEMORY, IO of
 * ranks, and what opening the sampler returns. */
sal_status sali_run_divide(sal_run *run, sal_error *err);
sal_status sali_run_create_shards(sal_run *run, sal_error *err);

/* Put the chains at their first states: given ones, init [chains x V of base], or if `init` is NULL
 * found by a search, which the caller may stop (start_chains.c). */
sal_status sali_run_start_chains(sal_run *run, const int32_t *init, sal_error *err);

/* Make one run, as sal_sample does without several coolings (make.c). */
sal_status sali_run_once(sal_model *model, const sal_run_options *options, sal_run **run,
                         sal_error *err);

/* Open a run without an end, of which no step is made (make.c). */
sal_status sali_run_endless(sal_model *model, const sal_run_options *options, bool apart,
                            int64_t earlier, sal_run **run, sal_error *err);

/* ---- the loop (loop.c) */

/* Make the steps of warm-up, and the steps after it. */
sal_status sali_run_warm_up(sal_run *run, sal_error *err);
sal_status sali_run_sample(sal_run *run, sal_error *err);

/* Steps made in a window that is not over, which the run's counters do not include yet. */
static inline int64_t sali_run_open_steps(const sal_run *run)
{
    return run->made < run->window.steps ? run->made : 0;
}

/* Make n more steps of a run without an end, in warm-up or after it: the same bits in one call or
 * in many. sali_run_end_window ends a window before its time, if one is begun: what follows may
 * change states or parameters. */
sal_status sali_run_advance(sal_run *run, int64_t n, sal_error *err);
sal_status sali_run_end_window(sal_run *run, sal_error *err);

/* Report progress, `done` steps of warm-up and sampling, to the caller, who may stop the run; all
 * ranks learn whether it stops. */
sal_status sali_run_ask(sal_run *run, int64_t done, sal_error *err);

/* ---- its shards (shards.c) */

/* The number of chains that have a row in arrays of this rank, beginning with chain *first: all
 * chains at rank 0 or if `all_ranks`, else this rank's own. */
int64_t sali_run_rows(const sal_run *run, bool all_ranks, int64_t *first);

/* Whether some ladder of the run is cut into parts that shards have. */
bool sali_run_has_seams(const sal_run *run);

/* Call work(context, k) for this rank's shards, on the run's threads. */
void sali_run_shards(const sal_run *run, void (*work)(void *context, int64_t shard), void *context);

/* The first status of the shards that is not SAL_OK, with its error. */
sal_status sali_run_shards_status(const sal_run *run, sal_error *err);

/* An error if a chain of this rank met NaN or +inf. */
sal_status sali_run_check(const sal_run *run, sal_error *err);

/* Recompute f, and what the sampler keeps of its chains, in a shard, and in all shards of this
 * rank. */
void sali_run_refresh_shard(const sal_run *run, sali_run_shard *shard);
void sali_run_refresh(sal_run *run);

/* SAL_ERR_MODEL if f is -inf at the state of a chain of the shard: samplers leave such states alone
 * or divide by their probability. */
sal_status sali_run_check_finite(const sal_run *run, const sali_run_shard *shard, sal_error *err);

/* Whether a shard of this rank follows its chains by small changes. */
bool sali_run_follows(const sal_run *run, const sali_run_shard *shard);

/* List the items of a shard whose `kept` includes `what` in items [SALI_MOST_SHARD_ITEMS], f first
 * if it is among them; returns their number. */
#define SALI_MOST_SHARD_ITEMS (32 + SALI_MOST_STATE)
int64_t sali_run_shard_items(const sal_run *run, sali_run_shard *shard, unsigned what,
                             sali_state_item *items);

/* Convert between codes of the model that is sampled and codes of the whole space, which is that of
 * the given model (itself perhaps a clamped one): as sali_clamp_expand and so on (clamp_map.c). */
void sali_run_expand(const sal_run *run, int64_t chains, const int32_t *codes, int32_t *full);
void sali_run_restrict(const sal_run *run, int64_t chains, const int32_t *full, int32_t *codes);
void sali_run_variables(const sal_run *run, int64_t *original);

/* SAL_ERR_ARGUMENT at all ranks except rank 0; `who` is the function that the message names. */
sal_status sali_run_check_results(const sal_run *run, const char *who, sal_error *err);

/* ---- the sampler in words (sampler_text.c) */

/* Write the sampler and its settings; settings at their standard values only if `all`. With `all`
 * the text is the same for the same sampler however it was asked for; sali_run_sampler_text writes
 * this text. */
void sali_run_write_sampler(const sal_run *run, bool all, char text[SALI_SAMPLER_TEXT]);
void sali_run_sampler_text(const sal_run *run, char text[SALI_SAMPLER_TEXT]);

/* Whether a specification means the sampler of the run. Settings that the specification does not
 * name, because they are newer than it for example, have their defaults. */
bool sali_run_means_sampler(const sal_run *run, const char *specification);

/* ---- its state */

/* Anchors are steps at which every run lets all shards recompute what they keep of their chains, so
 * that a run resumed from there continues with the same bits (run_state.c). The steps from one
 * anchor to the next; and whether an anchor lies between `before` and `done` steps of warm-up, or
 * of the steps after it. */
int64_t sali_run_anchor_steps(const sal_run *run);
bool sali_run_anchor_is_due(const sal_run *run, int64_t before, int64_t done);
/* Name of the item by which a state of chains that go on (chains.c) differs from that of a run: the
 * steps that they had made since. */
#define SALI_RUN_AHEAD "ahead"

/* Record the state of the run at an anchor, where its shards are fresh, in run->state, and pass it
 * to options.callbacks.state. */
sal_status sali_run_note_state(sal_run *run, sal_error *err);
/* Restore a run's progress, parts and chains from options.resume, and check them;
 * sali_run_restore_shards restores the chains only. SAL_ERR_DATA. */
sal_status sali_run_restore(sal_run *run, sal_error *err);
sal_status sali_run_restore_shards(sal_run *run, sal_error *err);

/* Bring the shards' items of the last recorded state together at rank 0. */
sal_status sali_run_collect_state(sal_run *run, sal_error *err);

/* Handle the draws that were made before the run was resumed as if they were made now
 * (run_replay.c). Overwrites the chains' codes and f. Returns: DATA. */
sal_status sali_run_replay(sal_run *run, sal_error *err);

/* The options of a run among the items of its state (resume_options.c). sali_run_note_options
 * stores them, when all are resolved and the caller's arrays are there; sali_run_note_present
 * stores again what may have changed since: the model's parameters and the end of warm-up, of a run
 * without an end. sali_run_take_given fetches what a resumed run needs before it is prepared:
 * whether it was tuned, and its preconditioner. sali_run_stream_seed is the seed of random streams,
 * of new and of resumed runs. sali_run_compare_given returns SAL_ERR_ARGUMENT if a resumed run has
 * other options than the first one. */
sal_status sali_run_note_options(sal_run *run, sal_error *err);
sal_status sali_run_note_present(sal_run *run, sal_error *err);
sal_status sali_run_take_given(sal_run *run, sal_error *err);
uint64_t sali_run_stream_seed(const sal_run *run);
sal_status sali_run_compare_given(const sal_run *run, sal_error *err);

#endif
