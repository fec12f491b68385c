/* SPDX-License-Identifier: MIT */
#include "run/sync.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "models/fingerprint.h"

/* ---- statuses and single values */

sal_status sali_sync_status(const sal_run *run, sal_status status, sal_error *err)
{
    return sal_comm_agree(run->options.comm, status, err);
}

sal_status sali_sync_value(const sal_run *run, void *value, int64_t bytes, sal_error *err)
{
    return sali_comm_broadcast(run->options.comm, 0, value, bytes, err);
}

sal_status sali_sync_begin(sal_run *run, sal_error *err)
{
    sal_run_callbacks *c = &run->options.callbacks;
    run->calls = (sali_run_calls){ .draw = c->draw, .state = c->state, .progress = c->progress };
    if (sal_comm_rank(run->options.comm) > 0) {
        *c = (sal_run_callbacks){ 0 };
    }
    return sali_comm_broadcast(run->options.comm, 0, &run->calls, sizeof run->calls, err);
}

/* ---- whether all ranks are asked for the same */

/* Something that must be the same on all ranks: its name, and a hash of its bytes. */
typedef struct trait {
    char name[56];
    uint64_t hash;
} trait;

static void set_trait(trait *t, const char *name, const void *data, int64_t bytes)
{
    snprintf(t->name, sizeof t->name, "%s", name);
    t->hash = sali_hash(SALI_HASH_START, data, bytes);
}

/* Fill traits [2 + run->state->n] with the program's version, the given starting states and the
 * items of the state; their number. */
static int64_t list_traits(const sal_run *run, trait *traits)
{
    const sal_run_options *o = &run->options;
    const int64_t V = run->base->space->n_variables;
    int64_t n = 0;
    set_trait(&traits[n++], "version", sal_version(), (int64_t)strlen(sal_version()));
    set_trait(&traits[n++], "init", o->init,
              o->init ? o->chains * V * (int64_t)sizeof *o->init : 0);
    for (int64_t k = 0; k < run->state->n; k++) {
        const sali_state_item *item = &run->state->items[k];
        set_trait(&traits[n++], item->name, item->data,
                  item->count * (int64_t)sali_state_bytes(item->type));
    }
    return n;
}

/* SAL_ERR_ARGUMENT, naming the trait, unless all n traits of this rank are also rank 0's, first
 * [n_first], in the same order. */
static sal_status compare_traits(const sal_run *run, int64_t n, const trait *own, int64_t n_first,
                                 const trait *first, sal_error *err)
{
    for (int64_t k = 0; k < n; k++) {
        const bool there = k < n_first && strcmp(own[k].name, first[k].name) == 0;
        if (!there || own[k].hash != first[k].hash) {
            const char *dot = strrchr(own[k].name, '.'); /* "given.chains" */
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "rank %lld of %lld has another '%s' than rank 0; start all with the "
                             "same program, options and model",
                             (long long)sal_comm_rank(run->options.comm),
                             (long long)sal_comm_size(run->options.comm),
                             dot ? dot + 1 : own[k].name);
        }
    }
    return SAL_OK;
}

sal_status sali_sync_compare(const sal_run *run, sal_error *err)
{
    sali_memory memory = { 0 };
    int64_t n_first = 2 + run->state->n;
    if (sal_comm_size(run->options.comm) == 1) {
        return SAL_OK;
    }
    trait *own = SALI_TAKE(&memory, trait, n_first);
    sal_status status = sali_memory_status(&memory, err);
    const int64_t n = status == SAL_OK ? list_traits(run, own) : 0;
    status = sali_sync_status(run, status, err);
    status = status ? status : sali_sync_value(run, &n_first, sizeof n_first, err);
    trait *first = status == SAL_OK ? SALI_TAKE(&memory, trait, n_first) : NULL;
    status = status ? status : sali_sync_status(run, sali_memory_status(&memory, err), err);
    if (status == SAL_OK && run->rank == 0) {
        memcpy(first, own, (size_t)n * sizeof *own);
    }
    status = status ? status : sali_sync_value(run, first, n_first * (int64_t)sizeof *first, err);
    status = status ? status : compare_traits(run, n, own, n_first, first, err);
    sali_memory_free(&memory);
    return status;
}

sal_status sali_sync_stop(sal_run *run, sal_error *err)
{
    const bool asks =
        run->calls.draw || run->calls.state || run->calls.progress || run->options.seconds > 0;
    return asks ? sali_sync_value(run, &run->stopped, sizeof run->stopped, err) : SAL_OK;
}

sal_status sali_sync_any(const sal_run *run, bool *any, sal_error *err)
{
    const bool own = *any;
    sal_status status = SAL_OK;
    for (int64_t r = 0; status == SAL_OK && r < sal_comm_size(run->options.comm); r++) {
        bool theirs = own;
        status = sali_comm_broadcast(run->options.comm, r, &theirs, sizeof theirs, err);
        *any |= theirs;
    }
    return status;
}

/* ---- windows */

/* Copy the items of shard k that are sent to other ranks to (`pack`) or from consecutive bytes at
 * `at`. NULL `at`: copy nothing. Returns how many bytes these items have. */
static int64_t carry_shard(sal_run *run, int64_t k, bool pack, char *at)
{
    sali_state_item items[SALI_MOST_SHARD_ITEMS];
    const int64_t n = sali_run_shard_items(run, &run->shards[k], SALI_STATE_SENT, items);
    int64_t all = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t bytes = items[i].count * (int64_t)sali_state_bytes(items[i].type);
        if (at && bytes > 0) {
            memcpy(pack ? at + all : items[i].data, pack ? items[i].data : at + all, (size_t)bytes);
        }
        all += bytes;
    }
    return all;
}

sal_status sali_sync_create(sal_run *run, sal_error *err)
{
    const int64_t n = run->n_shards;
    sali_run_sync *e = &run->sync;
    if (!sali_ranks_several(&run->ranks)) {
        return SAL_OK;
    }
    e->begin = SALI_TAKE(&run->memory, int64_t, n + 1);
    for (int64_t k = 0; e->begin && k < n; k++) {
        e->begin[k + 1] = e->begin[k] + carry_shard(run, k, true, NULL);
    }
    e->bytes = e->begin ? SALI_TAKE(&run->memory, char, e->begin[n]) : NULL;
    return sali_memory_status(&run->memory, err);
}

sal_status sali_sync_window(sal_run *run, sal_status status, sal_error *err)
{
    if (!sali_ranks_several(&run->ranks)) {
        return status;
    }
    status = sali_sync_status(run, status, err);
    const sali_run_sync *e = &run->sync;
    for (int64_t k = run->ranks.first; status == SAL_OK && k < run->ranks.end; k++) {
        run->shards[k].follows = sali_run_follows(run, &run->shards[k]);
        carry_shard(run, k, true, e->bytes + e->begin[k]);
    }
    status = status ? status : sali_ranks_gather(&run->ranks, e->bytes, e->begin, 1, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        if (!sali_ranks_own(&run->ranks, k)) {
            carry_shard(run, k, false, e->bytes + e->begin[k]);
        }
    }
    return status;
}

/* ---- draws, for all ranks */

sal_status sali_sync_log_probs(sal_run *run, double *log_prob, int64_t before, sal_error *err)
{
    const int64_t *begin = run->chain_begin, n = run->draws_made - before;
    const int64_t chains = run->options.chains, draws = run->options.draws;
    if (!sali_ranks_several(&run->ranks) || n == 0) {
        return SAL_OK;
    }
    double *buffer = SALI_NEW_ARRAY(double, chains *n);
    sal_status status = sali_sync_status(run, buffer ? SAL_OK : sali_fail_memory(err), err);
    for (int64_t c = begin[run->ranks.first]; status == SAL_OK && c < begin[run->ranks.end]; c++) {
        memcpy(buffer + c * n, log_prob + c * draws + before, (size_t)n * sizeof *buffer);
    }
    status = status
                 ? status
                 : sali_ranks_gather(&run->ranks, buffer, begin, (size_t)n * sizeof *buffer, err);
    for (int64_t c = 0; status == SAL_OK && c < chains; c++) {
        memcpy(log_prob + c * draws + before, buffer + c * n, (size_t)n * sizeof *buffer);
    }
    sali_free(buffer);
    return status;
}

/* ---- draws, window by window */

/* At rank 0: copy what came from another rank, n elements of each draw and list, for its chains
 * from `first` on, into queue [draws x lists x chains]. *came is moved past what was copied. */
static void take_rows(const char **came, int64_t draws, int64_t n, int64_t first, int64_t chains,
                      int64_t lists, size_t bytes, void *queue)
{
    for (int64_t d = 0; d < draws * lists; d++) {
        memcpy((char *)queue + (size_t)(d * chains + first) * bytes, *came, (size_t)n * bytes);
        *came += (size_t)n * bytes;
    }
}

sal_status sali_sync_draw_rows(sal_run *run, int64_t draws, int64_t lists, size_t bytes,
                               void *queue, sal_error *err)
{
    const sali_ranks *ranks = &run->ranks;
    if (!sali_ranks_several(ranks)) {
        return SAL_OK;
    }
    const int64_t *begin = run->chain_begin, chains = run->options.chains;
    const int64_t here = begin[sali_ranks_first(ranks, 1)];
    const bool root = sal_comm_rank(ranks->comm) == 0;
    for (int64_t r = 0; r < sal_comm_size(ranks->comm); r++) {
        ranks->bytes[r] =
            r == 0
                ? 0
                : draws * lists *
                      (begin[sali_ranks_first(ranks, r + 1)] - begin[sali_ranks_first(ranks, r)]) *
                      (int64_t)bytes;
    }
    char *buffer = root ? sali_alloc(draws * lists * (chains - here), bytes) : NULL;
    const char *came = buffer;
    sal_status status =
        sali_sync_status(run, buffer || !root ? SAL_OK : sali_fail_memory(err), err);
    status = status ? status : sali_comm_collect(ranks->comm, queue, buffer, ranks->bytes, err);
    for (int64_t r = 1; status == SAL_OK && root && r < sal_comm_size(ranks->comm); r++) {
        const int64_t first = begin[sali_ranks_first(ranks, r)];
        take_rows(&came, draws, begin[sali_ranks_first(ranks, r + 1)] - first, first, chains, lists,
                  bytes, queue);
    }
    sali_free(buffer);
    return status;
}

/* ---- the state */

sal_status sali_sync_place(const sal_run *run, int64_t own, int64_t *first, int64_t *total,
                           sal_error *err)
{
    sal_comm *comm = run->ranks.comm;
    const int64_t ranks = sal_comm_size(comm), rank = sal_comm_rank(comm);
    int64_t *counts = run->ranks.counts, *bytes = run->ranks.bytes;
    for (int64_t r = 0; r < ranks; r++) {
        bytes[r] = sizeof *counts;
    }
    counts[rank] = own;
    sal_status status = sali_comm_gather(comm, counts, bytes, err);
    *first = *total = 0;
    for (int64_t r = 0; status == SAL_OK && r < ranks; r++) {
        *first += r < rank ? counts[r] : 0;
        *total += counts[r];
    }
    return status;
}

/* Replace one item of the state at rank 0 by the item of the shards of all ranks. `item` gives its
 * name; NULL on a rank that has no shards. */
static sal_status collect_item(sal_run *run, const sali_state_item *item, sal_error *err)
{
    sal_comm *comm = run->ranks.comm;
    const bool root = sal_comm_rank(comm) == 0;
    const sali_state_item *part = item ? sali_run_state_find(run->state, item->name) : NULL;
    const size_t size = part ? sali_state_bytes(part->type) : 0;
    int64_t first, total;
    sal_status status =
        sali_sync_place(run, part ? part->count * (int64_t)size : 0, &first, &total, err);
    if (status != SAL_OK) {
        return status;
    }
    memcpy(run->ranks.bytes, run->ranks.counts, (size_t)sal_comm_size(comm) * sizeof total);
    char *all = root ? sali_alloc(total, 1) : NULL;
    status = sali_sync_status(run, all || !root ? SAL_OK : sali_fail_memory(err), err);
    if (status == SAL_OK && root) {
        memcpy(all, part->data, (size_t)run->ranks.bytes[0]);
    }
    status = status ? status
                    : sali_comm_collect(comm, part ? part->data : NULL, all, run->ranks.bytes, err);
    if (status == SAL_OK && root) {
        sali_state_item whole = *part;
        whole.count = total / (int64_t)size;
        whole.data = all;
        status = sali_run_state_put(run->state, &whole) ? SAL_OK : sali_fail_memory(err);
    }
    sali_free(all);
    return status;
}

sal_status sali_sync_state(sal_run *run, int64_t n, const sali_state_item *items, sal_error *err)
{
    const bool some = run->ranks.first < run->ranks.end;
    sal_status status = SAL_OK;
    if (!sali_ranks_several(&run->ranks)) {
        return SAL_OK;
    }
    status = sali_sync_value(run, &n, sizeof n, err);
    for (int64_t i = 0; status == SAL_OK && i < n; i++) {
        status = collect_item(run, some ? &items[i] : NULL, err);
    }
    return sali_sync_status(run, status, err);
}

/* ---- the end */

/* Copy n rows of `bytes` each from `apart`, where they begin `stride` bytes apart, to `together`,
 * where rows follow each other (`pack`), or back. */
static void carry_rows(bool pack, char *apart, size_t stride, char *together, size_t bytes,
                       int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        char *there = apart + (size_t)k * stride, *here = together + (size_t)k * bytes;
        memcpy(pack ? here : there, pack ? there : here, bytes);
    }
}

sal_status sali_sync_rows(sal_run *run, int64_t row0, void *rows, int64_t stride, int64_t each,
                          size_t size, sal_error *err)
{
    const int64_t *begin = run->chain_begin, chains = run->options.chains;
    const int64_t first = begin[run->ranks.first], own = begin[run->ranks.end] - first;
    const size_t bytes = (size_t)each * size, apart = (size_t)stride * size;
    const bool root = run->rank == 0;
    if (!rows || !sali_ranks_several(&run->ranks)) {
        return SAL_OK;
    }
    char *all = sali_alloc(root ? chains : own, bytes),
         *mine = (char *)rows + (size_t)(first - row0) * apart;
    sal_status status = sali_sync_status(run, all ? SAL_OK : sali_fail_memory(err), err);
    char *part = all && root ? all + (size_t)first * bytes : all;
    if (status == SAL_OK) {
        carry_rows(true, mine, apart, part, bytes, own);
        status = sali_ranks_collect_part(&run->ranks, part, all, begin, bytes, err);
    }
    if (status == SAL_OK && root) {
        carry_rows(false, rows, apart, all, bytes, chains);
    }
    sali_free(all);
    return status;
}

/* *item receives the i-th item of a shard that is brought to rank 0 at the end; false: the shard
 * has fewer such items. */
static bool last_item(sal_run *run, int64_t shard, int64_t i, sali_state_item *item)
{
    sali_state_item items[SALI_MOST_SHARD_ITEMS];
    const int64_t n = sali_run_shard_items(run, &run->shards[shard], SALI_STATE_LAST, items);
    if (i < n) {
        *item = items[i];
    }
    return i < n;
}

/* Bring the i-th item of other ranks' shards that is wanted at the end to rank 0; each chain has
 * `bytes` in it. */
static sal_status collect_last(sal_run *run, int64_t i, size_t bytes, sal_error *err)
{
    const sali_ranks *ranks = &run->ranks;
    const bool root = run->rank == 0;
    const int64_t *begin = run->slot_begin, first = begin[ranks->first];
    const int64_t own = begin[ranks->end] - first;
    sali_state_item item;
    char *buffer = sali_alloc(root ? begin[run->n_shards] : own, bytes);
    char *part = buffer + (root ? (size_t)first * bytes : 0);
    sal_status status = sali_sync_status(run, buffer ? SAL_OK : sali_fail_memory(err), err);
    for (int64_t k = ranks->first; status == SAL_OK && k < ranks->end; k++) {
        if (last_item(run, k, i, &item)) {
            memcpy(part + (size_t)(begin[k] - first) * bytes, item.data,
                   (size_t)(begin[k + 1] - begin[k]) * bytes);
        }
    }
    status = status ? status : sali_ranks_collect_part(ranks, part, buffer, begin, bytes, err);
    for (int64_t k = 0; status == SAL_OK && root && k < run->n_shards; k++) {
        if (!sali_ranks_own(ranks, k) && last_item(run, k, i, &item)) {
            memcpy(item.data, buffer + (size_t)begin[k] * bytes,
                   (size_t)(begin[k + 1] - begin[k]) * bytes);
        }
    }
    sali_free(buffer);
    return status;
}

sal_status sali_sync_finish(sal_run *run, sal_error *err)
{
    sali_state_item item;
    if (!sali_ranks_several(&run->ranks)) {
        return SAL_OK;
    }
    sal_status status = sali_sync_window(run, SAL_OK, err);
    for (int64_t i = 0; status == SAL_OK && last_item(run, 0, i, &item); i++) {
        const int64_t chains = run->shards[0].chains->n;
        status =
            collect_last(run, i, (size_t)(item.count / chains) * sali_state_bytes(item.type), err);
    }
    return status;
}
