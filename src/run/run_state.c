/* SPDX-License-Identifier: MIT */
/* The state of a run at an anchor: recording it, and resuming a run from it. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/part.h"
#include "run/sync.h"

/* The last window of warm-up, and of the run, ends without an anchor: a longer run has another
 * window there. Draws are not in the state. A resumed run reads the earlier draws again
 * (run_replay.c), and makes once more what had been made after the anchor.
 *
 * Steps from one anchor to the next, whole windows. If a step costs about as much as a refresh: one
 * window of SALI_SAMPLE_WINDOW. If the sampler follows its chains by small changes: at
 * least about ANCHOR_SWEEPS sweeps. */
#define ANCHOR_SWEEPS 16

int64_t sali_run_anchor_steps(const sal_run *run)
{
    const int64_t V = run->model->space->n_variables, window = sali_run_sample_window(run);
    return sali_run_follows(run, &run->shards[0])
               ? window * ((ANCHOR_SWEEPS * V + window - 1) / window)
               : window;
}

bool sali_run_anchor_is_due(const sal_run *run, int64_t before, int64_t done)
{
    const int64_t every = sali_run_anchor_steps(run);
    return before / every != done / every;
}

/* ---- what is kept */

#define MOST_RUN_ITEMS 8

/* More steps than any run can have made. */
#define MOST_STEPS (INT64_C(1) << 61)

static int64_t list_kept(const sal_run *run, int64_t shard, sali_state_item *items)
{
    return sali_run_shard_items(run, &run->shards[shard], SALI_STATE_KEPT, items);
}

/* List the items of the run that belong to no part: how far it is, and how long it took; their
 * number. */
static int64_t list_run(sal_run *run, sali_state_item *items)
{
    const sali_state_item own[] = {
        sali_state_i64("sampling", 1, &run->sampling),
        sali_state_i64("warmup_done", 1, &run->warmup_done),
        sali_state_i64("steps", 1, &run->steps),
        sali_state_i64("draws_made", 1, &run->draws_made),
        sali_state_sums("seconds", 1, &run->seconds),
        sali_state_sums("warmup_seconds", 1, &run->warmup_seconds),
    };
    memcpy(items, own, sizeof own);
    return sizeof own / sizeof *own;
}

static const char *prefix_of(const sali_run_part *part)
{
    return part->prefix ? part->prefix : "";
}

/* ---- recording it */

/* Count the kept items of this rank's shards: total[i] grows by the elements of item i in all of
 * them. `items` receives the list of the last shard. Returns the number of items of a shard. */
static int64_t count_items(const sal_run *run, sali_state_item *items, int64_t *total)
{
    int64_t n = 0;
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        n = list_kept(run, k, items);
        for (int64_t i = 0; i < n; i++) {
            total[i] += items[i].count;
        }
    }
    return n;
}

/* Copy the kept items of this rank's shards to place[i], or from there if `restore`. Item i of a
 * shard follows that of the shard before; NULL: the item is not restored. */
static void carry_shards(const sal_run *run, bool restore, char **place)
{
    sali_state_item items[SALI_MOST_SHARD_ITEMS];
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        const int64_t n = list_kept(run, k, items);
        for (int64_t i = 0; i < n; i++) {
            size_t bytes = (size_t)items[i].count * sali_state_bytes(items[i].type);
            if (!restore) {
                memcpy(place[i], items[i].data, bytes);
            } else if (i > 0 && place[i]) { /* f is recomputed from the other items */
                memcpy(items[i].data, place[i], bytes);
            }
            place[i] = place[i] ? place[i] + bytes : NULL;
        }
    }
}

/* Put the items of this rank's shards into the run's state. If `asked`, rank 0's state also
 * receives those of other ranks. */
static sal_status note_shards(sal_run *run, bool asked, sal_error *err)
{
    sali_state_item items[SALI_MOST_SHARD_ITEMS];
    int64_t total[SALI_MOST_SHARD_ITEMS] = { 0 };
    char *place[SALI_MOST_SHARD_ITEMS];
    const int64_t n = count_items(run, items, total);
    sal_status status = SAL_OK;
    for (int64_t i = 0; status == SAL_OK && i < n; i++) {
        place[i] = sali_run_state_room(run->state, items[i].name, items[i].type, total[i]);
        status = place[i] || total[i] == 0 ? SAL_OK : sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        carry_shards(run, false, place);
    }
    if (!asked) {
        return status;
    }
    status = sali_sync_status(run, status, err);
    return status ? status : sali_sync_state(run, n, items, err);
}

sal_status sali_run_collect_state(sal_run *run, sal_error *err)
{
    sali_state_item items[SALI_MOST_SHARD_ITEMS];
    const bool some = run->ranks.first < run->ranks.end;
    const int64_t n = some ? list_kept(run, run->ranks.first, items) : 0;
    return sali_sync_state(run, n, items, err);
}

/* Fill the items of this rank's shards, except f, from the state that is resumed. Collective. */
static sal_status restore_items(sal_run *run, sal_error *err)
{
    sali_state_item items[SALI_MOST_SHARD_ITEMS];
    int64_t own[SALI_MOST_SHARD_ITEMS] = { 0 }, first, total, n = count_items(run, items, own);
    char *place[SALI_MOST_SHARD_ITEMS];
    sal_status status = SAL_OK;
    int64_t all = n; /* of rank 0, which has shards */
    status = sali_sync_value(run, &all, sizeof all, err);
    for (int64_t i = 0; status == SAL_OK && i < all; i++) {
        status = sali_sync_place(run, own[i], &first, &total, err);
        const sali_state_item *kept =
            i < n ? sali_run_state_find(run->options.resume, items[i].name) : NULL;
        if (status == SAL_OK && i < n &&
            !(kept ? kept->type == items[i].type && kept->count == total : items[i].optional)) {
            status = sali_fail(err, SAL_ERR_DATA,
                               "the state of the run has no array '%s' of the right type and size",
                               items[i].name);
        }
        place[i] = status == SAL_OK && kept && kept->data
                       ? (char *)kept->data + (size_t)first * sali_state_bytes(kept->type)
                       : NULL;
        status = sali_sync_status(run, status, err);
    }
    if (status == SAL_OK) {
        carry_shards(run, true, place);
    }
    return status;
}

/* Copy n items into a state, their names preceded by `prefix`; false: out of memory. */
static bool put_all(sal_run_state *state, const char *prefix, int64_t n,
                    const sali_state_item *items)
{
    bool ok = true;
    for (int64_t k = 0; ok && k < n; k++) {
        char name[160];
        sali_state_item item = items[k];
        snprintf(name, sizeof name, "%s%s", prefix, item.name);
        item.name = name;
        ok = sali_run_state_put(state, &item);
    }
    return ok;
}

/* Copy the items of a part that belong to the whole run into the run's state; false: out of
 * memory. */
static bool put_part(sal_run *run, const sali_run_part *part, void *self)
{
    sali_state_item items[SALI_MOST_STATE];
    const int64_t n = part->items(self, NULL, items);
    if (part->prefix) { /* drop items that the part no longer lists */
        sali_run_state_retain(run->state, part->prefix, n, items);
    }
    return put_all(run->state, prefix_of(part), n, items);
}

sal_status sali_run_note_state(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    sali_state_item items[MOST_RUN_ITEMS];
    const int64_t n = list_run(run, items);
    sal_status status = note_shards(run, run->calls.state, err);
    if (status != SAL_OK) {
        return status;
    }
    bool ok = put_all(run->state, "", n, items);
    SALI_EACH_PART (run, k, part, items) {
        ok = ok && put_part(run, part, run->selves[k]);
    }
    if (!ok) {
        return sali_fail_memory(err);
    }
    if (o->callbacks.state && !run->stopped) { /* else it counts draws that nobody has seen */
        run->stopped = o->callbacks.state(run->state, o->callbacks.state_data) != 0;
    }
    return SAL_OK;
}

const sal_run_state *sal_run_last_state(const sal_run *run)
{
    return run->rank == 0 ? run->state : NULL;
}

/* ---- resuming: the run itself */

/* Whether the counters read from a state agree with each other (SAL_ERR_DATA) and with the options
 * of this run (SAL_ERR_ARGUMENT). */
static sal_status check_position(const sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    bool ok = run->warmup_done >= 0 && run->warmup_done <= o->warmup && run->steps >= 0 &&
              run->steps <= MOST_STEPS && run->draws_made == run->steps / o->thin &&
              (run->sampling == 1 ? run->warmup_done == o->warmup
                                  : run->sampling == 0 && run->steps == 0);
    if (!ok) {
        return sali_fail(err, SAL_ERR_DATA,
                         "the state is after %lld steps of warm-up, %lld others and %lld draws: "
                         "these do not go together",
                         (long long)run->warmup_done, (long long)run->steps,
                         (long long)run->draws_made);
    }
    int64_t made =
        o->resume->replay.made > run->draws_made ? o->resume->replay.made : run->draws_made;
    return run->endless || (made <= o->draws && run->steps <= sali_run_total(run))
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "draws is %lld, but the run has made %lld already; ask for as many or "
                           "more in all",
                           (long long)o->draws, (long long)made);
}

static sal_status restore_run(sal_run *run, sal_error *err)
{
    sali_run_state_reader reader = { .state = run->options.resume, .prefix = "" };
    sali_state_item items[MOST_RUN_ITEMS];
    int64_t n = list_run(run, items);
    sal_status status = sali_run_state_fill(&reader, n, items, err);
    return status ? status : check_position(run, err);
}

/* ---- resuming: its shards */

/* Checks of a restored shard beyond the ranges of its items: all chains have made the run's steps,
 * step sizes fit the model's type, and parts accept what was restored. SAL_ERR_DATA. */
static sal_status check_shard(const sal_run *run, const sali_run_shard *shard, sal_error *err)
{
    const sali_chains *chains = shard->chains;
    uint64_t step = (uint64_t)(run->warmup_done + run->steps);
    sal_status status = SAL_OK;
    for (int64_t c = 0; status == SAL_OK && c < chains->n; c++) {
        if (chains->step[c] != step) {
            status = sali_fail(err, SAL_ERR_DATA, "step: a chain has made %llu steps, not %llu",
                               (unsigned long long)chains->step[c], (unsigned long long)step);
        } else if (sali_step_size_check(chains->step_size[c], chains->model->dtype, err) !=
                   SAL_OK) {
            status = sali_fail_prefix(err, SAL_ERR_DATA, "step_size");
        }
    }
    SALI_EACH_PART (run, k, part, restored) {
        status = status ? status : part->restored(run->selves[k], shard, err);
    }
    return status;
}

sal_status sali_run_restore_shards(sal_run *run, sal_error *err)
{
    sali_state_item items[SALI_MOST_SHARD_ITEMS];
    sal_status status = restore_items(run, err);
    for (int64_t k = run->ranks.first; status == SAL_OK && k < run->ranks.end; k++) {
        const sali_run_shard *shard = &run->shards[k];
        int64_t n = list_kept(run, k, items);
        status = sali_state_check_all(n - 1, items + 1, err);
        status = status ? status : check_shard(run, shard, err);
        if (status == SAL_OK) {
            sali_chains_embed(shard->chains);
        }
    }
    if (status == SAL_OK) {
        sali_run_refresh(run);
        status = sali_run_check(run, err);
    }
    return sali_sync_window(run, status, err);
}

/* SAL_ERR_ARGUMENT unless the model gives the same f, bit by bit, as the state that is resumed. */
static sal_status compare_f(const sal_run *run, sal_error *err)
{
    const sali_state_item *item = sali_run_state_find(run->options.resume, "f");
    int64_t at = run->chain_begin[run->ranks.first] * run->replicas;
    bool same = true;
    for (int64_t k = run->ranks.first; same && k < run->ranks.end; k++) {
        const sali_chains *chains = run->shards[k].chains;
        same = memcmp((const double *)item->data + at, chains->f,
                      (size_t)chains->n * sizeof(double)) == 0;
        at += chains->n;
    }
    return same ? SAL_OK
                : sali_fail(err, SAL_ERR_ARGUMENT,
                            "f of the states where the run stopped is not what it was: the model "
                            "is another one (or the library, or the machine)");
}

/* ---- resuming: its parts */

/* Fill the items of a part that belong to the whole run from the state that is resumed, and let the
 * part check them. */
static sal_status restore_part(const sal_run *run, const sali_run_part *part, void *self,
                               sal_error *err)
{
    sali_run_state_reader reader = { .state = run->options.resume, .prefix = prefix_of(part) };
    sali_state_item items[SALI_MOST_STATE];
    sal_status status =
        part->restore ? part->restore(self, &reader, err)
                      : sali_run_state_fill(&reader, part->items(self, NULL, items), items, err);
    return status || !part->restored ? status : part->restored(self, NULL, err);
}

static sal_status restore_parts(sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    SALI_EACH_PART (run, k, part, items) {
        status = status ? status : restore_part(run, part, run->selves[k], err);
    }
    return status;
}

sal_status sali_run_restore(sal_run *run, sal_error *err)
{
    const bool started = sali_run_state_find(run->options.resume, "sampling") != NULL;
    sal_status status =
        started ? restore_run(run, err)
                : sali_fail(err, SAL_ERR_DATA,
                            "the run was stopped before it had its starting states, so there is "
                            "nothing to resume; run it again without resuming");
    status = status ? status : restore_parts(run, err);
    status = sali_sync_status(run, status, err);
    status = status ? status : sali_run_restore_shards(run, err);
    status = status ? status : compare_f(run, err);
    status = status ? status : sali_run_replay(run, err);
    status = sali_sync_status(run, status, err);
    return status ? status : sali_run_restore_shards(run, err);
}
