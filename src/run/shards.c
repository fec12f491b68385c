/* SPDX-License-Identifier: MIT */
/* The shards of a run: how chains and their replicas are divided among shards, threads and ranks;
 * making shards; work on all of them; and the items that a shard has. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/threads/shard.h"
#include "run/part.h"

/* ---- division */

/* With this many ladders or more, all threads are busy with whole ladders, and no ladder is cut
 * into parts that wait for each other. */
#define MANY_LADDERS 32

/* How many shards the run has. Each shard has whole ladders; or all ladders are cut into equally
 * many parts, of two or more slots each, so that the coldest slot of a ladder swaps within its
 * shard. */
static int64_t count_shards(const sal_run *run)
{
    const int64_t chains = run->options.chains, most = run->replicas / 2;
    const int64_t n = sali_shard_count(chains * run->replicas);
    const int64_t parts = n / chains < most ? n / chains : most;
    if (sali_engine(run->sampler)->coupled) {
        return 1;
    }
    if (run->apart) {
        return chains;
    }
    return n < chains ? n : parts > 1 && chains < MANY_LADDERS ? chains * parts : chains;
}

/* The first slot of shard k. */
static int64_t slot_begin(const sal_run *run, int64_t k)
{
    const int64_t chains = run->options.chains, replicas = run->replicas, n = run->n_shards;
    const int64_t parts = n > chains ? n / chains : 1;
    return parts > 1 ? k / parts * replicas + sali_shard_first(replicas, parts, k % parts)
                     : sali_shard_first(chains, n, k) * replicas;
}

sal_status sali_run_divide(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    run->n_shards = count_shards(run);
    run->slot_begin = SALI_TAKE(&run->memory, int64_t, run->n_shards + 1);
    run->chain_begin = SALI_TAKE(&run->memory, int64_t, run->n_shards + 1);
    sal_status status = sali_ranks_create(&run->ranks, o->comm, run->n_shards, &run->memory, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k <= run->n_shards; k++) {
        run->slot_begin[k] = slot_begin(run, k);
        run->chain_begin[k] = (run->slot_begin[k] + run->replicas - 1) / run->replicas;
    }
    run->rank = sal_comm_rank(o->comm);
    return SAL_OK;
}

bool sali_run_has_seams(const sal_run *run)
{
    bool any = false;
    for (int64_t k = 1; k < run->n_shards; k++) {
        any |= run->slot_begin[k] % run->replicas != 0;
    }
    return any;
}

int64_t sali_run_rows(const sal_run *run, bool all_ranks, int64_t *first)
{
    const bool all = all_ranks || run->rank == 0;
    *first = all ? 0 : run->chain_begin[run->ranks.first];
    return all ? run->options.chains : run->chain_begin[run->ranks.end] - *first;
}

/* ---- creation */

/* Number the random streams of a shard's chains. */
static void number_chains(sal_run *run, int64_t k)
{
    const sali_chains *chains = run->shards[k].chains;
    for (int64_t c = 0; c < chains->n; c++) {
        chains->id[c] = (uint32_t)(run->slot_begin[k] + c);
    }
}

/* Create the chains of a shard that another rank moves: counters only, and codes at rank 0. */
static sal_status create_remote(sal_run *run, sali_run_shard *shard, int64_t slots, sal_error *err)
{
    const bool first = sal_comm_rank(run->ranks.comm) == 0;
    return sali_chains_create_remote(run->model, slots, first, run->stream_seed, &shard->chains,
                                     err);
}

/* Create the chains of one of this rank's shards, [slots], and open the sampler on them. */
static sal_status create_own(sal_run *run, sali_run_shard *shard, int64_t slots, sal_error *err)
{
    unsigned wants = sali_sampler_wants(run->sampler);
    shard->version = sali_model_version(run->model);
    shard->full = SALI_TAKE(&run->memory, int32_t, run->base->space->n_variables);
    if (run->memory.refused) {
        return sali_fail_memory(err);
    }
    sal_status status =
        sali_chains_create(run->model, slots, wants, run->stream_seed, &shard->chains, err);
    return status ? status
                  : sali_sampler_open(run->sampler, &run->settings, run->shared, shard->chains,
                                      &shard->self, err);
}

/* Create shard k, which this rank or another one moves. */
static sal_status create_shard(sal_run *run, int64_t k, sal_error *err)
{
    sali_run_shard *shard = &run->shards[k];
    const bool own = sali_ranks_own(&run->ranks, k);
    const int64_t slots = run->slot_begin[k + 1] - run->slot_begin[k];
    shard->k = k;
    shard->first = run->chain_begin[k];
    shard->groups = run->chain_begin[k + 1] - shard->first;
    sal_status status =
        own ? create_own(run, shard, slots, err) : create_remote(run, shard, slots, err);
    if (status == SAL_OK) {
        number_chains(run, k);
    }
    return status;
}

sal_status sali_run_create_shards(sal_run *run, sal_error *err)
{
    run->shards = SALI_TAKE(&run->memory, sali_run_shard, run->n_shards);
    run->shard_chains = SALI_TAKE(&run->memory, sali_chains *, run->n_shards);
    run->shard_selves = SALI_TAKE(&run->memory, void *, run->n_shards);
    sal_status status = sali_memory_status(&run->memory, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        status = create_shard(run, k, err);
        run->shard_chains[k] = run->shards[k].chains;
        run->shard_selves[k] = run->shards[k].self;
    }
    return status;
}

/* ---- work on all of them */

void sali_run_shards(const sal_run *run, void (*work)(void *context, int64_t shard), void *context)
{
    sali_ranks_run(&run->ranks, NULL, 0, run->options.threads, work, context);
}

void sali_run_refresh_shard(const sal_run *run, sali_run_shard *shard)
{
    shard->version = sali_model_version(run->model);
    sali_engine(run->sampler)->refresh(shard->self, shard->chains);
}

static void refresh_shard(void *context, int64_t k)
{
    sali_run_refresh_shard(context, &((const sal_run *)context)->shards[k]);
}

sal_status sali_run_check_finite(const sal_run *run, const sali_run_shard *shard, sal_error *err)
{
    const sali_chains *chains = shard->chains;
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->f[c] == -INFINITY) {
            return sali_fail(err, SAL_ERR_MODEL,
                             "chain %lld: f is -inf at its state, which has no probability now; "
                             "set another state, or other parameters",
                             (long long)(chains->id[c] / run->replicas));
        }
    }
    return SAL_OK;
}

void sali_run_refresh(sal_run *run)
{
    sali_ranks_run(&run->ranks, &run->refresh_pace, 1, run->options.threads, refresh_shard, run);
}

sal_status sali_run_shards_status(const sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t k = run->ranks.first; status == SAL_OK && k < run->ranks.end; k++) {
        status = run->shards[k].status;
        if (status != SAL_OK && err) {
            *err = run->shards[k].error;
        }
    }
    return status;
}

sal_status sali_run_check(const sal_run *run, sal_error *err)
{
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        const sali_chains *chains = run->shards[k].chains;
        if (chains->bad_chain < 0) {
            continue;
        }
        return sali_chains_report(chains, run->sampler,
                                  chains->id[chains->bad_chain] / run->replicas, err);
    }
    return SAL_OK;
}

bool sali_run_follows(const sal_run *run, const sali_run_shard *shard)
{
    const sal_sampler_engine *engine = sali_engine(run->sampler);
    return engine->follows && (shard->self ? engine->follows(shard->self) : shard->follows);
}

/* ---- their items */

/* List the items that a shard has in every run, f first; their number. */
static int64_t list_chains(sali_run_shard *shard, sali_state_item *items)
{
    const sali_chains *c = shard->chains;
    const int64_t n = c->n;
    const sali_state_item own[] = {
        sali_state_for(SALI_STATE_KEPT | SALI_STATE_SENT, sali_state_f64("f", n, c->f)),
        sali_state_for(SALI_STATE_KEPT | SALI_STATE_LAST,
                       sali_state_codes("codes", c->space, n, c->codes)),
        sali_state_u64("step", n, c->step),
        sali_state_f64("step_size", n, c->step_size),
        sali_state_within(sali_state_f64("beta", n, c->beta), DBL_MIN, DBL_MAX),
        sali_state_for(SALI_STATE_SENT, sali_state_f64("accepted", n, c->accepted_sum)),
        sali_state_for(SALI_STATE_SENT, sali_state_f64("acceptance", n, c->acceptance_sum)),
        sali_state_for(SALI_STATE_SENT, sali_state_f64("jump", n, c->jump_sum)),
        sali_state_for(SALI_STATE_SENT, sali_state_u8("follows", 1, (uint8_t *)&shard->follows)),
    };
    memcpy(items, own, sizeof own);
    return sizeof own / sizeof *own;
}

int64_t sali_run_shard_items(const sal_run *run, sali_run_shard *shard, unsigned what,
                             sali_state_item *items)
{
    int64_t all = list_chains(shard, items), n = 0;
    SALI_EACH_PART (run, k, part, items) {
        all += part->items(run->selves[k], shard, items + all);
    }
    for (int64_t i = 0; i < all; i++) {
        if (items[i].kept & what) {
            items[n++] = items[i];
        }
    }
    return n;
}

/* ---- its results */

sal_status sali_run_check_results(const sal_run *run, const char *who, sal_error *err)
{
    return run->rank == 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "%s: this is rank %lld; results are at rank 0",
                           who, (long long)run->rank);
}
