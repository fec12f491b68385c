/* SPDX-License-Identifier: MIT */
#include "run/parts/houdayer.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "run/part.h"
#include "run/parts/cluster_exchange.h"
#include "run/parts/tempering.h"

typedef struct houdayer {
    sal_run *run;
    sali_interactions graph;
    bool symmetric;                  /* sali_is_flip_symmetric */
    sali_cluster_exchange *exchange; /* [n_shards] */
    /* Of the exchanges whose lower chain is in shard k, by replica, since counts were last cleared:
     * candidates for a cluster, and how many of them clusters had. */
    int64_t **candidates, **taken; /* [n_shards][replicas] */
    /* [replicas] Both summed over the second half of warm-up and all shards; 0 before its end. */
    int64_t *warm_candidates, *warm_taken;
    double *share;      /* [replicas] for the summary */
    int32_t *states[2]; /* [V] of a lower and a higher chain, of which one is at another rank */
} houdayer;

static bool is_wanted(const sal_run *run)
{
    return run->options.tempering.houdayer;
}

/* ---- the graph */

/* SAL_ERR_ARGUMENT unless the run has two chains or more, with replicas. */
static sal_status check_chains(const sal_run *run, sal_error *err)
{
    if (run->replicas == 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "houdayer wants tempering or temperatures");
    }
    if (run->options.chains == 1) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "houdayer exchanges clusters between two chains, and there is one: give 2 "
            "chains, or better 4, so that R-hat compares chains that exchange nothing");
    }
    return SAL_OK;
}

/* SAL_ERR_UNSUPPORTED unless clusters can be something else than all variables. */
static sal_status check_graph(const sal_run *run, const sali_interactions *graph, bool known,
                              sal_error *err)
{
    if (!known || run->model->fields) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "houdayer wants to know which variables interact: f must be a formula "
                         "whose terms have few variables each");
    }
    if (sali_interactions_are_complete(graph)) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "houdayer: every two variables interact, so a cluster always has all "
                         "variables in which two replicas differ, and its exchange does nothing");
    }
    return SAL_OK;
}

/* Find the graph of interactions, in memory of the run. */
static sal_status create(void *self, sal_error *err)
{
    houdayer *h = self;
    sal_run *run = h->run;
    sali_interactions graph = { 0 };
    bool known = false;
    sal_status status = check_chains(run, err);
    status = status ? status
                    : sali_space_check_free(run->model->space, run->base->name,
                                            "an exchange of clusters", err);
    status = status ? status : sali_interactions_create(run->model, &graph, &known, err);
    status = status ? status : check_graph(run, &graph, known, err);
    status = status ? status : sali_is_flip_symmetric(run->model, &h->symmetric, err);
    if (status == SAL_OK) {
        h->graph = (sali_interactions){
            .n = graph.n,
            .begin = sali_memory_copy(&run->memory, graph.begin, graph.n + 1, sizeof *graph.begin),
            .neighbour = sali_memory_copy(&run->memory, graph.neighbour, graph.begin[graph.n],
                                          sizeof *graph.neighbour),
        };
        status = sali_memory_status(&run->memory, err);
    }
    sali_interactions_free(&graph);
    return status;
}

static sal_status open(void *self, sal_error *err)
{
    houdayer *h = self;
    sal_run *run = h->run;
    const int64_t R = run->replicas;
    h->exchange = SALI_TAKE(&run->memory, sali_cluster_exchange, run->n_shards);
    h->candidates = SALI_TAKE(&run->memory, int64_t *, run->n_shards);
    h->taken = SALI_TAKE(&run->memory, int64_t *, run->n_shards);
    h->warm_candidates = SALI_TAKE(&run->memory, int64_t, R);
    h->warm_taken = SALI_TAKE(&run->memory, int64_t, R);
    h->share = SALI_TAKE(&run->memory, double, R);
    for (int k = 0; k < 2; k++) {
        h->states[k] = SALI_TAKE(&run->memory, int32_t, run->model->space->n_variables);
    }
    sal_status status = sali_memory_status(&run->memory, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        h->candidates[k] = SALI_TAKE(&run->memory, int64_t, R);
        h->taken[k] = SALI_TAKE(&run->memory, int64_t, R);
        status = sali_cluster_exchange_create(&h->exchange[k], &run->memory, &h->graph,
                                              h->symmetric, err);
    }
    return status;
}

/* ---- one exchange */

/* Whether replicas r exchange clusters, now. */
static bool exchanges_at(const houdayer *h, int64_t r)
{
    return h->warm_candidates[r] == 0 ||
           (double)h->warm_taken[r] < SALI_HOUDAYER_LIMIT * (double)h->warm_candidates[r];
}

/* A pair of slots that exchange a cluster, with the shards that have them. */
typedef struct slots {
    int64_t lower, higher, lower_shard, higher_shard;
} slots;

/* Whether slot `lower` of shard k is the lower one of a pair that exchanges now; *pair receives
 * it. */
static bool find_pair(const houdayer *h, int64_t k, int64_t lower, slots *pair)
{
    const sal_run *run = h->run;
    const int64_t R = run->replicas, chain = lower / R;
    if (chain % 2 != 0 || chain + 1 == run->options.chains || !exchanges_at(h, lower % R)) {
        return false;
    }
    *pair = (slots){ lower, lower + R, k, k };
    while (run->slot_begin[pair->higher_shard + 1] <= pair->higher) {
        pair->higher_shard++;
    }
    return true;
}

/* The codes of a slot of shard k. */
static int32_t *codes_of(const sal_run *run, int64_t k, int64_t slot)
{
    return run->shards[k].chains->codes +
           (slot - run->slot_begin[k]) * run->model->space->n_variables;
}

/* Embed the codes of a slot of shard k. f is not computed: the refresh after exchanges does it. */
static void embed_slot(const sal_run *run, int64_t k, int64_t slot)
{
    sali_chains *chains = run->shards[k].chains;
    sali_model_embed(chains->model, 1, codes_of(run, k, slot),
                     sali_row(chains, chains->x, slot - run->slot_begin[k], chains->space->width));
}

/* Let states s and t of a pair exchange a cluster after step `step` of the run. The exchange is
 * counted by the rank that has the lower slot. */
static void exchange_states(const houdayer *h, const slots *pair, uint64_t step, int32_t *s,
                            int32_t *t)
{
    const sal_run *run = h->run;
    const bool counts = sali_ranks_own(&run->ranks, pair->lower_shard);
    sali_cluster_exchange *e = &h->exchange[pair->lower_shard];
    const sali_stream stream = { .seed = run->stream_seed,
                                 .step = step,
                                 .chain = (uint32_t)pair->lower,
                                 .purpose = SALI_RNG_EXCHANGE };
    const int64_t candidates = sali_cluster_candidates(e, s, t);
    if (candidates == 0) {
        return;
    }
    const int64_t size =
        sali_cluster_exchange_states(e, sali_rng_below(&stream, 0, (uint32_t)candidates), s, t);
    const int64_t r = pair->lower % run->replicas;
    h->candidates[pair->lower_shard][r] += counts ? candidates : 0;
    h->taken[pair->lower_shard][r] += counts ? size : 0;
}

/* ---- all exchanges after a step */

typedef struct meeting {
    const houdayer *h;
    uint64_t step; /* of the run */
} meeting;

/* Make the exchanges whose lower slot is in shard k, unless the higher one is at another rank. */
static void exchange_in_shard(void *context, int64_t k)
{
    const meeting *m = context;
    const houdayer *h = m->h;
    const sal_run *run = h->run;
    slots pair;
    for (int64_t slot = run->slot_begin[k]; slot < run->slot_begin[k + 1]; slot++) {
        if (find_pair(h, k, slot, &pair) && sali_ranks_own(&run->ranks, pair.higher_shard)) {
            exchange_states(h, &pair, m->step, codes_of(run, k, pair.lower),
                            codes_of(run, pair.higher_shard, pair.higher));
            embed_slot(run, k, pair.lower);
            embed_slot(run, pair.higher_shard, pair.higher);
        }
    }
}

/* Make the exchange of a pair of which one slot is at another rank, which does the same. */
static sal_status exchange_with_rank(const houdayer *h, const slots *pair, uint64_t step,
                                     sal_error *err)
{
    const sal_run *run = h->run;
    const int own = sali_ranks_own(&run->ranks, pair->lower_shard) ? 0 : 1;
    const int64_t shard = own == 0 ? pair->lower_shard : pair->higher_shard;
    const int64_t other = own == 0 ? pair->higher_shard : pair->lower_shard;
    const int64_t slot = own == 0 ? pair->lower : pair->higher;
    const int64_t bytes = run->model->space->n_variables * (int64_t)sizeof **h->states;
    int32_t *codes = codes_of(run, shard, slot);
    memcpy(h->states[own], codes, (size_t)bytes);
    sal_status status = sali_comm_swap(run->ranks.comm, sali_ranks_owner(&run->ranks, other),
                                       h->states[own], h->states[1 - own], bytes, err);
    if (status == SAL_OK) {
        exchange_states(h, pair, step, h->states[0], h->states[1]);
        memcpy(codes, h->states[own], (size_t)bytes);
        embed_slot(run, shard, slot);
    }
    return status;
}

/* Make the exchanges between this rank and others. All ranks go through the pairs in the same
 * order, so that none waits for one that waits for it. */
static sal_status exchange_with_ranks(const houdayer *h, uint64_t step, sal_error *err)
{
    const sal_run *run = h->run;
    sal_status status = SAL_OK;
    slots pair;
    for (int64_t k = 0; k < run->n_shards; k++) {
        for (int64_t slot = run->slot_begin[k]; slot < run->slot_begin[k + 1]; slot++) {
            if (status == SAL_OK && find_pair(h, k, slot, &pair) &&
                sali_ranks_own(&run->ranks, k) != sali_ranks_own(&run->ranks, pair.higher_shard)) {
                status = exchange_with_rank(h, &pair, step, err);
            }
        }
    }
    return status;
}

static int64_t apart(const void *self, int64_t step)
{
    const houdayer *h = self;
    const int64_t every = sali_run_ladder(h->run)->every;
    return every - step % every;
}

/* Exchange clusters if that is due at this step. *refresh also becomes true for swaps between
 * temperatures, whose refresh waits for the exchanges. */
static sal_status meet(void *self, int64_t step, bool *refresh, sal_error *err)
{
    const houdayer *h = self;
    meeting m = { h, (uint64_t)step };
    if (step % sali_run_ladder(h->run)->every != 0) {
        return SAL_OK;
    }
    *refresh = true;
    sali_run_shards(h->run, exchange_in_shard, &m);
    return sali_ranks_several(&h->run->ranks) ? exchange_with_ranks(h, (uint64_t)step, err)
                                              : SAL_OK;
}

/* ---- what is measured */

static void clear_counts(const houdayer *h)
{
    const size_t bytes = (size_t)h->run->replicas * sizeof(int64_t);
    for (int64_t k = 0; k < h->run->n_shards; k++) {
        memset(h->candidates[k], 0, bytes);
        memset(h->taken[k], 0, bytes);
    }
}

/* Begin the measurement when half of warm-up is over: temperatures are final then. */
static sal_status window(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    const houdayer *h = self;
    const int64_t half = h->run->options.warmup / 2;
    (void)refresh;
    (void)err;
    if (w->warmup && w->done < half && half <= w->done + w->steps) {
        clear_counts(h);
    }
    return SAL_OK;
}

/* Decide at which temperatures draws have exchanges. */
static void warmed_up(void *self)
{
    const houdayer *h = self;
    for (int64_t r = 0; r < h->run->replicas; r++) {
        for (int64_t k = 0; k < h->run->n_shards; k++) {
            h->warm_candidates[r] += h->candidates[k][r];
            h->warm_taken[r] += h->taken[k][r];
        }
    }
    clear_counts(h);
}

static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    const houdayer *h = self;
    const int64_t R = h->run->replicas;
    items[0] = shard ? sali_state_counts("houdayer.candidates", R, h->candidates[shard->k])
                     : sali_state_counts("houdayer.warm_candidates", R, h->warm_candidates);
    items[1] = shard ? sali_state_counts("houdayer.taken", R, h->taken[shard->k])
                     : sali_state_counts("houdayer.warm_taken", R, h->warm_taken);
    for (int k = 0; k < 2; k++) {
        items[k].kept |= shard ? SALI_STATE_SENT : 0;
    }
    return 2;
}

/* SAL_ERR_DATA if clusters had more variables than there were candidates. */
static sal_status restored(void *self, const sali_run_shard *shard, sal_error *err)
{
    const houdayer *h = self;
    const int64_t *candidates = shard ? h->candidates[shard->k] : h->warm_candidates;
    const int64_t *taken = shard ? h->taken[shard->k] : h->warm_taken;
    for (int64_t r = 0; r < h->run->replicas; r++) {
        if (taken[r] > candidates[r]) {
            return sali_fail(err, SAL_ERR_DATA, "houdayer: clusters had %lld of %lld variables",
                             (long long)taken[r], (long long)candidates[r]);
        }
    }
    return SAL_OK;
}

/* ---- results */

/* Set the shares of the summary from warm-up, or without one from all shards' counts. */
static sal_status finish(void *self, sal_error *err)
{
    const houdayer *h = self;
    (void)err;
    for (int64_t r = 0; r < h->run->replicas; r++) {
        int64_t candidates = h->warm_candidates[r], taken = h->warm_taken[r];
        for (int64_t k = 0; k < h->run->n_shards && h->warm_candidates[r] == 0; k++) {
            candidates += h->candidates[k][r];
            taken += h->taken[k][r];
        }
        h->share[r] = candidates > 0 ? (double)taken / (double)candidates : NAN;
    }
    return SAL_OK;
}

static sal_status summarise(const void *self, sal_run_summary *s, sal_error *err)
{
    const houdayer *h = self;
    (void)err;
    s->houdayer_shares = h->share;
    for (int64_t r = 0; r < h->run->replicas; r++) {
        s->houdayer_levels += exchanges_at(h, r);
    }
    return SAL_OK;
}

const sali_run_part sali_part_houdayer = {
    .name = "houdayer",
    .wanted = is_wanted,
    .size = sizeof(houdayer),
    .create = create,
    .open = open,
    .apart = apart,
    .meet = meet,
    .window = window,
    .warmed_up = warmed_up,
    .items = items,
    .restored = restored,
    .finish = finish,
    .summarise = summarise,
};
