/* SPDX-License-Identifier: MIT */
/* Swaps between shards that have parts of one ladder: where one ends and the next begins there is a
 * seam, across which two states change places, through messages where the shards are at two ranks.
 * Both sides decide alike, by the random stream of the lower slot. */
#include <string.h>

#include "run/run.h"

/* ---- states as they are sent: f, whether it was at the hot end, codes [V] */

typedef struct head {
    double f;
    int64_t from_hottest;
} head;

static int64_t state_bytes(const sal_run *run)
{
    return (int64_t)sizeof(head) +
           run->model->space->n_variables * (int64_t)sizeof(*run->shards->chains->codes);
}

static void pack(const sali_run_shard *shard, int64_t c, char *state)
{
    const sali_chains *chains = shard->chains;
    const int64_t V = chains->space->n_variables;
    const head h = { chains->f[c], shard->swaps.from_hottest[c] };
    memcpy(state, &h, sizeof h);
    memcpy(state + sizeof h, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
}

/* All but f, which the refresh after swaps computes. */
static void unpack(const sali_run_shard *shard, int64_t c, const char *state)
{
    sali_chains *chains = shard->chains;
    const int64_t V = chains->space->n_variables;
    head h;
    memcpy(&h, state, sizeof h);
    shard->swaps.from_hottest[c] = h.from_hottest != 0;
    memcpy(chains->codes + c * V, state + sizeof h, (size_t)V * sizeof *chains->codes);
    sali_model_embed(chains->model, 1, chains->codes + c * V,
                     sali_row(chains, chains->x, c, chains->space->width));
}

static double f_of(const char *state)
{
    head h;
    memcpy(&h, state, sizeof h);
    return h.f;
}

/* ---- one seam */

/* Both states, at each rank that has one of the shards. */
static sal_status bring_together(sal_run *run, int64_t k, sal_error *err)
{
    const sali_run_shard *lower = &run->shards[k], *higher = lower + 1;
    const bool own_lower = sali_ranks_own(&run->ranks, k);
    const bool own_higher = sali_ranks_own(&run->ranks, k + 1);
    char *const *states = run->seams.states;
    if (own_lower) {
        pack(lower, lower->chains->n - 1, states[0]);
    }
    if (own_higher) {
        pack(higher, 0, states[1]);
    }
    if (own_lower && own_higher) {
        return SAL_OK;
    }
    return sali_comm_swap(run->ranks.comm, sali_ranks_owner(&run->ranks, own_lower ? k + 1 : k),
                          states[own_lower ? 0 : 1], states[own_lower ? 1 : 0], state_bytes(run),
                          err);
}

/* The seam above shard k. */
static sal_status swap_across(sal_run *run, int64_t k, int64_t replica, uint64_t step,
                              sal_error *err)
{
    sali_run_shard *lower = &run->shards[k], *higher = lower + 1;
    const bool own_lower = sali_ranks_own(&run->ranks, k);
    const bool own_higher = sali_ranks_own(&run->ranks, k + 1);
    char *const *states = run->seams.states;
    sal_status status = bring_together(run, k, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_stream stream = { .seed = run->stream_seed,
                                 .step = step,
                                 .chain = (uint32_t)(run->slot_begin[k + 1] - 1),
                                 .purpose = SALI_RNG_SWAP };
    const double log_ratio = sali_swap_log_ratio(
        run->ladder.beta[replica], run->ladder.beta[replica + 1], f_of(states[0]), f_of(states[1]));
    const bool made = sali_swap_is_made(own_lower ? &lower->swaps : NULL, replica, stream,
                                        sali_swap_probability(run->model->space, log_ratio));
    if (made && own_lower) {
        unpack(lower, lower->chains->n - 1, states[1]);
    }
    if (made && own_higher) {
        unpack(higher, 0, states[0]);
    }
    return SAL_OK;
}

/* ---- all of them */

sal_status sali_seams_create(sal_run *run, sal_error *err)
{
    sali_seams *seams = &run->seams;
    for (int64_t k = 1; k < run->n_shards; k++) {
        seams->any |= run->slot_begin[k] % run->ladder.n != 0;
    }
    for (int k = 0; seams->any && k < 2; k++) {
        seams->states[k] = SALI_TAKE(&run->memory, char, state_bytes(run));
    }
    return sali_memory_status(&run->memory, err);
}

sal_status sali_seams_swap(sal_run *run, int64_t made, bool *due, sal_error *err)
{
    const sali_ranks *ranks = &run->ranks;
    const int64_t step = run->warmup_done + run->steps + made, every = run->ladder.every;
    sal_status status = SAL_OK;
    *due = run->seams.any && step % every == 0;
    if (!*due || ranks->first == ranks->end) {
        return SAL_OK;
    }
    /* first those above shards of even ranks, then of odd ones, so that no rank waits for long */
    const int64_t from = ranks->first > 0 ? ranks->first - 1 : 0;
    for (int64_t pass = 0; pass < 2; pass++) {
        for (int64_t k = from; status == SAL_OK && k < ranks->end && k + 1 < run->n_shards; k++) {
            const int64_t replica = (run->slot_begin[k + 1] - 1) % run->ladder.n;
            if (replica + 1 < run->ladder.n && replica % 2 == step / every % 2 &&
                sali_ranks_owner(ranks, k) % 2 == pass) {
                status = swap_across(run, k, replica, (uint64_t)step, err);
            }
        }
    }
    return status;
}
