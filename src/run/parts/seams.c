/* SPDX-License-Identifier: MIT */
/* Swaps between shards that have parts of one ladder: where one ends and the next begins there is a
 * seam, across which two states change places, through messages where the shards are at two ranks.
 * Both sides decide alike, by the random stream of the lower slot. */
#include <string.h>

#include "run/part.h"
#include "run/parts/tempering.h"

typedef struct seams {
    sal_run *run;
    char *states[2]; /* states of a lower and a higher slot, in the form in which they are sent */
} seams;

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

static void pack_state(const sal_run *run, const sali_run_shard *shard, int64_t c, char *state)
{
    const sali_chains *chains = shard->chains;
    const int64_t V = chains->space->n_variables;
    const head h = { chains->f[c], sali_run_swaps(run, shard->k)->from_hottest[c] };
    memcpy(state, &h, sizeof h);
    memcpy(state + sizeof h, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
}

/* Take a sent state into chain c. f is not taken: the refresh after swaps computes it. */
static void unpack_state(const sal_run *run, const sali_run_shard *shard, int64_t c,
                         const char *state)
{
    sali_chains *chains = shard->chains;
    const int64_t V = chains->space->n_variables;
    head h;
    memcpy(&h, state, sizeof h);
    sali_run_swaps(run, shard->k)->from_hottest[c] = h.from_hottest != 0;
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

/* Fill s->states with the states of both sides of the seam above shard k, at each rank that has one
 * of its shards. */
static sal_status bring_together(const seams *s, int64_t k, sal_error *err)
{
    const sal_run *run = s->run;
    const sali_run_shard *lower = &run->shards[k], *higher = lower + 1;
    const bool own_lower = sali_ranks_own(&run->ranks, k);
    const bool own_higher = sali_ranks_own(&run->ranks, k + 1);
    char *const *states = s->states;
    if (own_lower) {
        pack_state(run, lower, lower->chains->n - 1, states[0]);
    }
    if (own_higher) {
        pack_state(run, higher, 0, states[1]);
    }
    if (own_lower && own_higher) {
        return SAL_OK;
    }
    return sali_comm_swap(run->ranks.comm, sali_ranks_owner(&run->ranks, own_lower ? k + 1 : k),
                          states[own_lower ? 0 : 1], states[own_lower ? 1 : 0], state_bytes(run),
                          err);
}

/* Try the swap across the seam above shard k, between `replica` and the next one, after step `step`
 * of the run. */
static sal_status swap_across(const seams *s, int64_t k, int64_t replica, uint64_t step,
                              sal_error *err)
{
    sal_run *run = s->run;
    const sali_ladder *ladder = sali_run_ladder(run);
    sali_run_shard *lower = &run->shards[k], *higher = lower + 1;
    const bool own_lower = sali_ranks_own(&run->ranks, k);
    const bool own_higher = sali_ranks_own(&run->ranks, k + 1);
    char *const *states = s->states;
    sal_status status = bring_together(s, k, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_stream stream = { .seed = run->stream_seed,
                                 .step = step,
                                 .chain = (uint32_t)(run->slot_begin[k + 1] - 1),
                                 .purpose = SALI_RNG_SWAP };
    const double log_ratio = sali_swap_log_ratio(ladder->beta[replica], ladder->beta[replica + 1],
                                                 f_of(states[0]), f_of(states[1]));
    const bool made = sali_swap_is_made(own_lower ? sali_run_swaps(run, k) : NULL, replica, stream,
                                        sali_swap_probability(run->model->space, log_ratio));
    if (made && own_lower) {
        unpack_state(run, lower, lower->chains->n - 1, states[1]);
    }
    if (made && own_higher) {
        unpack_state(run, higher, 0, states[0]);
    }
    return SAL_OK;
}

/* ---- all of them */

static sal_status open(void *self, sal_error *err)
{
    seams *s = self;
    for (int k = 0; k < 2; k++) {
        s->states[k] = SALI_TAKE(&s->run->memory, char, state_bytes(s->run));
    }
    return sali_memory_status(&s->run->memory, err);
}

static int64_t apart(const void *self, int64_t step)
{
    const seams *s = self;
    const int64_t every = sali_run_ladder(s->run)->every;
    return every - step % every;
}

/* Swap across the seams that are due at this step. *refresh also becomes true for swaps within
 * shards, whose refresh waits for the seams. */
static sal_status meet(void *self, int64_t step, bool *refresh, sal_error *err)
{
    seams *s = self;
    sal_run *run = s->run;
    const sali_ranks *ranks = &run->ranks;
    const int64_t every = sali_run_ladder(run)->every;
    sal_status status = SAL_OK;
    *refresh |= step % every == 0;
    if (step % every != 0 || ranks->first == ranks->end) {
        return SAL_OK;
    }
    /* first the seams above shards of even ranks, then of odd ones, so that no rank waits for
     * long */
    const int64_t from = ranks->first > 0 ? ranks->first - 1 : 0;
    for (int64_t pass = 0; pass < 2; pass++) {
        for (int64_t k = from; status == SAL_OK && k < ranks->end && k + 1 < run->n_shards; k++) {
            const int64_t replica = (run->slot_begin[k + 1] - 1) % run->replicas;
            if (replica + 1 < run->replicas && replica % 2 == step / every % 2 &&
                sali_ranks_owner(ranks, k) % 2 == pass) {
                status = swap_across(s, k, replica, (uint64_t)step, err);
            }
        }
    }
    return status;
}

const sali_run_part sali_part_seams = {
    .name = "seams",
    .wanted = sali_run_has_seams,
    .size = sizeof(seams),
    .open = open,
    .apart = apart,
    .meet = meet,
};
