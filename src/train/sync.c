/* SPDX-License-Identifier: MIT */
#include "train/sync.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/fingerprint.h"

static bool has_several_ranks(const sal_trainer *t)
{
    return sali_ranks_several(&t->ranks);
}

/* Store a failure in the trainer, unless an earlier one is stored. */
static void note_failure(sal_trainer *t, sal_status status, const sal_error *err)
{
    if (status != SAL_OK && t->broken.status == SAL_OK) {
        t->broken = *err;
        t->broken.status = status;
    }
}

sal_status sali_train_sync_status(sal_trainer *t, sal_status status, sal_error *err)
{
    if (status == SAL_OK && t->broken.status != SAL_OK) {
        status = t->broken.status;
        if (err) {
            *err = t->broken;
        }
    }
    return sal_comm_agree(t->options.comm, status, err);
}

/* The numbers that are sent of each chain, and of each shard. */
enum { ACCEPTED, ACCEPTANCE, JUMP, STEP, F, OF_CHAIN };
enum { BAD, OF_SHARD };

/* ---- making */

sal_status sali_train_sync_create(sal_trainer *t, sal_error *err)
{
    const int64_t batch = t->options.batch, V = t->model->space->n_variables;
    sal_status status = sali_ranks_create(&t->ranks, t->options.comm, t->n_shards, &t->memory, err);
    t->row_begin = SALI_TAKE(&t->memory, int64_t, t->n_shards + 1);
    const int64_t levels = sali_levels_count(t->levels), rows = batch / levels;
    const int64_t shards = t->n_shards / levels; /* of a level */
    for (int64_t k = 0; t->row_begin && k <= t->n_shards; k++) {
        t->row_begin[k] = k / shards * rows + sali_shard_first(rows, shards, k % shards);
    }
    if (status == SAL_OK && has_several_ranks(t)) {
        t->sent.begin = SALI_TAKE(&t->memory, int64_t, t->n_shards + 1);
        t->sent.codes = SALI_TAKE(&t->memory, int32_t, batch * V);
        t->sent.numbers = SALI_TAKE(&t->memory, double,
                                    OF_CHAIN *batch + (t->centring.n_offsets + 2) * t->n_shards);
    }
    return status ? status : sali_memory_status(&t->memory, err);
}

sal_status sali_train_sync_compare(sal_trainer *t, sal_error *err)
{
    char *text = t->fingerprint ? json_dumps(t->fingerprint, JSON_SORT_KEYS) : NULL;
    uint64_t own[2] = { 0 }, first[2];
    sal_status status = sali_train_sync_status(t, text ? SAL_OK : sali_fail_memory(err), err);
    if (text) {
        own[0] = sali_hash(SALI_HASH_START, sal_version(), (int64_t)strlen(sal_version()));
        own[1] = sali_hash(SALI_HASH_START, text, (int64_t)strlen(text));
        own[1] = sali_hash(own[1], t->values, t->optimiser.n * (int64_t)sizeof *t->values);
    }
    free(text);
    memcpy(first, own, sizeof own);
    status = status ? status : sali_comm_broadcast(t->options.comm, 0, first, sizeof first, err);
    if (status == SAL_OK && memcmp(first, own, sizeof own) != 0) {
        status = sali_fail(
            err, SAL_ERR_ARGUMENT,
            "train: rank %lld of %lld has %s than rank 0; start all with the same "
            "program, model, data and options",
            (long long)sal_comm_rank(t->options.comm), (long long)sal_comm_size(t->options.comm),
            first[0] != own[0] ? "another version" : "another model, other data or other options");
    }
    return sali_train_sync_status(t, status, err);
}

/* ---- work of this rank's shards */

void sali_train_shards(sal_trainer *t, sali_pace *pace, void (*work)(void *context, int64_t shard),
                       void *context)
{
    sali_ranks_run(&t->ranks, pace, 1, t->options.threads, work, context);
}

/* ---- rows and chains */

void sali_train_sync_rows(sal_trainer *t, int64_t n, int64_t each, double *numbers)
{
    sal_error err = { 0 };
    if (!has_several_ranks(t)) {
        return;
    }
    for (int64_t k = 0; k <= t->n_shards; k++) {
        t->sent.begin[k] = sali_shard_first(n, t->n_shards, k);
    }
    const size_t bytes = (size_t)each * sizeof *numbers;
    note_failure(t, sali_ranks_gather(&t->ranks, numbers, t->sent.begin, bytes, &err), &err);
}

/* Complete codes [batch x V], in which each rank has the rows of its shards, at all ranks. */
static void gather_codes(sal_trainer *t, int32_t *codes)
{
    sal_error err = { 0 };
    const size_t row = (size_t)t->model->space->n_variables * sizeof *codes;
    note_failure(t, sali_ranks_gather(&t->ranks, codes, t->row_begin, row, &err), &err);
}

/* Copy the sums, steps, f and the fault of a shard's chains to consecutive numbers (`pack`), or
 * back. */
static void carry_chains(sali_train_shard *shard, bool pack, double *numbers)
{
    sali_chains *chains = shard->chains;
    for (int64_t c = 0; c < shard->n; c++, numbers += OF_CHAIN) {
        if (pack) {
            numbers[ACCEPTED] = chains->accepted_sum[c];
            numbers[ACCEPTANCE] = chains->acceptance_sum[c];
            numbers[JUMP] = chains->jump_sum[c];
            numbers[STEP] = (double)chains->step[c];
            numbers[F] = chains->f[c];
        } else {
            chains->accepted_sum[c] = numbers[ACCEPTED];
            chains->acceptance_sum[c] = numbers[ACCEPTANCE];
            chains->jump_sum[c] = numbers[JUMP];
            chains->step[c] = (uint64_t)numbers[STEP];
            chains->f[c] = numbers[F];
        }
    }
    if (pack) {
        numbers[BAD] = (double)chains->bad_chain;
    } else {
        chains->bad_chain = (int64_t)numbers[BAD];
    }
}

void sali_train_sync_chains(sal_trainer *t)
{
    const int64_t V = t->model->space->n_variables;
    sal_error err = { 0 };
    if (!has_several_ranks(t)) {
        return;
    }
    double *numbers = t->sent.numbers;
    sal_status status = SAL_OK;
    for (int64_t k = 0; k < t->n_shards; k++) {
        t->sent.begin[k + 1] = t->sent.begin[k] + OF_CHAIN * t->shards[k].n + OF_SHARD;
    }
    for (int pack = 1; pack >= 0 && status == SAL_OK; pack--) {
        for (int64_t k = 0; k < t->n_shards; k++) {
            sali_train_shard *shard = &t->shards[k];
            int32_t *codes = t->sent.codes + shard->first * V, *own = shard->chains->codes;
            if (sali_ranks_own(&t->ranks, k) == (pack == 1)) {
                carry_chains(shard, pack, numbers + t->sent.begin[k]);
                memcpy(pack ? codes : own, pack ? own : codes,
                       (size_t)(shard->n * V) * sizeof *codes);
            }
        }
        if (pack) {
            status = sali_ranks_gather(&t->ranks, numbers, t->sent.begin, sizeof *numbers, &err);
            gather_codes(t, t->sent.codes);
        }
    }
    note_failure(t, status, &err);
    for (int64_t k = 0; k < t->n_shards; k++) {
        if (!sali_ranks_own(&t->ranks, k)) {
            sali_buffer_store(t, &t->shards[k]);
        }
    }
}

void sali_train_sync_buffer(sal_trainer *t)
{
    sal_error err = { 0 };
    if (has_several_ranks(t)) {
        gather_codes(t, t->buffer.codes);
        note_failure(t,
                     sali_ranks_gather(&t->ranks, t->buffer.life, t->row_begin,
                                       sizeof *t->buffer.life, &err),
                     &err);
    }
}

/* ---- the gradient */

void sali_train_sync_sums(sal_trainer *t)
{
    sal_error err = { 0 };
    const int64_t means = t->centring.n_offsets;
    if (!has_several_ranks(t)) {
        return;
    }
    for (int64_t k = 0; k < t->n_shards; k++) {
        t->sent.begin[k + 1] = t->sent.begin[k] + t->shards[k].n + means + 2;
    }
    double *numbers = t->sent.numbers;
    sal_status status = SAL_OK;
    for (int pack = 1; pack >= 0 && status == SAL_OK; pack--) {
        for (int64_t k = 0; k < t->n_shards; k++) {
            sali_train_shard *shard = &t->shards[k];
            double *at = numbers + t->sent.begin[k];
            double *of[] = { &shard->sum_data, &shard->sum_samples, shard->f, shard->means };
            const int64_t n[] = { 1, 1, shard->n, means };
            for (int j = 0; j < 4 && sali_ranks_own(&t->ranks, k) == (pack == 1); at += n[j++]) {
                if (n[j] > 0) {
                    memcpy(pack ? at : of[j], pack ? of[j] : at, (size_t)n[j] * sizeof *at);
                }
            }
        }
        status = pack ? sali_ranks_gather(&t->ranks, numbers, t->sent.begin, sizeof *numbers, &err)
                      : SAL_OK;
    }
    note_failure(t, status, &err);
}

/* ws[to] += ws[from], by a message if two ranks have them; this rank may have both, one or none.
 * `room` is scratch of `bytes`. */
static sal_status add_part(sal_trainer *t, sali_workspace *const *ws, int64_t to, int64_t from,
                           void *room, int64_t bytes, sal_error *err)
{
    const bool has_to = sali_ranks_own(&t->ranks, to), has_from = sali_ranks_own(&t->ranks, from);
    if (has_to && has_from) {
        sali_workspace_param_add(ws[to], ws[from]);
    } else if (has_from) {
        sali_workspace_param_pack(ws[from], room);
        return sali_comm_send(t->options.comm, sali_ranks_owner(&t->ranks, to), room, bytes, err);
    } else if (has_to) {
        sal_status status =
            sali_comm_receive(t->options.comm, sali_ranks_owner(&t->ranks, from), room, bytes, err);
        if (status != SAL_OK) {
            return status;
        }
        sali_workspace_param_add_packed(ws[to], room);
    }
    return SAL_OK;
}

/* Sum what the workspaces of shards first .. first + n - 1 gathered into flat, at all ranks. The
 * workspaces must be of one program. */
static void reduce_workspaces(sal_trainer *t, sali_workspace *const *ws, int64_t first, int64_t n,
                              double *flat)
{
    sal_error err = { 0 };
    if (!has_several_ranks(t)) {
        sali_workspace_param_reduce(ws + first, n, t->options.threads, flat);
        return;
    }
    int64_t own = first; /* the first shard of this rank among them */
    while (own < first + n && !sali_ranks_own(&t->ranks, own)) {
        own++;
    }
    const int64_t bytes = own < first + n ? sali_workspace_param_bytes(ws[own]) : 0;
    void *room = sali_alloc(bytes, 1);
    sal_status status =
        sal_comm_agree(t->options.comm, room ? SAL_OK : sali_fail_memory(&err), &err);
    for (int64_t stride = 1; stride < n; stride *= 2) {
        for (int64_t k = 0; status == SAL_OK && k + stride < n; k += 2 * stride) {
            status = add_part(t, ws, first + k, first + k + stride, room, bytes, &err);
        }
    }
    if (status == SAL_OK && sali_ranks_own(&t->ranks, first)) {
        sali_workspace_param_flat(ws[first], flat);
    }
    status = status ? status
                    : sali_comm_broadcast(t->options.comm, sali_ranks_owner(&t->ranks, first), flat,
                                          t->optimiser.n * (int64_t)sizeof *flat, &err);
    note_failure(t, status, &err);
    sali_free(room);
}

void sali_train_reduce(sal_trainer *t, sali_workspace *const *ws, double *flat)
{
    const int64_t levels = sali_levels_count(t->levels), n = t->n_shards / levels;
    reduce_workspaces(t, ws, 0, n, flat);
    for (int64_t level = 1; level < levels; level++) {
        reduce_workspaces(t, ws, level * n, n, t->part);
        for (int64_t i = 0; i < t->optimiser.n; i++) {
            flat[i] += t->part[i];
        }
    }
}

void sali_train_sync_answer(sal_trainer *t, bool *stopped, bool *lost)
{
    sal_error err = { 0 };
    bool answer[] = { *stopped, *lost };
    note_failure(t, sali_comm_broadcast(t->options.comm, 0, answer, sizeof answer, &err), &err);
    *stopped = answer[0];
    *lost = answer[1];
}
