/* SPDX-License-Identifier: MIT */
/* Parallel trajectory tempering: f of the present model and of the last level at states; and the
 * swaps of chains with members of the reservoir. */
#include "train/objectives/ptt_reservoir.h"

#include <math.h>
#include <string.h>

#include "core/threads/shard.h"
#include "models/base.h"
#include "train/sync.h"

/* ---- values */

typedef struct values_work {
    const sal_trainer *t;
    sali_workspace *const *ws;
    int64_t n;
    const int32_t *codes;
    double *f;
} values_work;

/* Compute f of the rows that fall to shard k, in pieces that fit its room. */
static void values_shard(void *context, int64_t k)
{
    const values_work *w = context;
    const sal_trainer *t = w->t;
    const sali_train_shard *shard = &t->shards[k];
    const int64_t V = t->model->space->n_variables;
    int64_t from = sali_shard_first(w->n, t->n_shards, k);
    int64_t end = sali_shard_first(w->n, t->n_shards, k + 1);
    while (from < end) {
        int64_t n = end - from < shard->n ? end - from : shard->n;
        sali_model_embed(t->model, n, w->codes + from * V, shard->x);
        sali_workspace_value(w->ws[k], n, w->codes + from * V, shard->x, w->f + from);
        from += n;
    }
}

/* Compute f [n] of states, codes [n x V], by the shards' workspaces `ws` on all threads and ranks.
 * Overwrites the shards' room for data. */
static void find_values(sal_trainer *t, sali_workspace *const *ws, int64_t n, const int32_t *codes,
                        double *f)
{
    values_work work = { .t = t, .ws = ws, .n = n, .codes = codes, .f = f };
    sali_train_shards(t, NULL, values_shard, &work);
    sali_train_sync_rows(t, n, 1, f);
}

/* Change f [n] of the formula at codes [n x V] to beta f + (1 - beta) times the log-probability
 * under independent variables. */
static void mix_with_base(const sal_trainer *t, double beta, int64_t n, const int32_t *codes,
                          double *f)
{
    const sal_space *space = t->model->space;
    for (int64_t c = 0; beta < 1 && c < n; c++) {
        double base =
            sali_base_value(space, sali_ptt_of(t)->path->log_base, codes + c * space->n_variables);
        f[c] = beta > 0 ? beta * f[c] + (1 - beta) * base : base;
    }
}

void sali_ptt_value_now(sal_trainer *t, int64_t n, const int32_t *codes, double *f)
{
    find_values(t, t->workspaces, n, codes, f);
    mix_with_base(t, sali_ptt_of(t)->beta, n, codes, f);
}

void sali_ptt_value_last(sal_trainer *t, int64_t n, const int32_t *codes, double *f)
{
    const double beta = sali_ptt_last(sali_ptt_of(t))->info.beta;
    if (beta > 0) {
        find_values(t, sali_ptt_of(t)->last_ws, n, codes, f);
    }
    mix_with_base(t, beta, n, codes, f);
}

/* ---- how far the present model is from the last level */

double sali_ptt_weights(int64_t n, const double *d, double *weight)
{
    double most = -INFINITY, sum = 0, squares = 0, allowed = 0;
    for (int64_t m = 0; m < n; m++) {
        most = fmax(most, d[m]);
    }
    for (int64_t m = 0; m < n; m++) {
        weight[m] = most > -INFINITY ? exp(d[m] - most) : 0;
        sum += weight[m];
        allowed += d[m] > -INFINITY;
    }
    for (int64_t m = 0; m < n && sum > 0; m++) {
        weight[m] /= sum;
        squares += weight[m] * weight[m];
    }
    return sum > 0 ? 1 / (squares * allowed) : 0;
}

double sali_ptt_rate(sali_ptt *p, int64_t n, const double *d, const double *weight)
{
    const sali_bennett_side a = { n, d, NULL }, b = { n, d, weight };
    return sali_swap_acceptance(&a, &b, p->sorted, p->below);
}

void sali_ptt_compare(sal_trainer *t)
{
    sali_ptt *p = t->own;
    sali_ptt_value_now(t, p->M, p->stored, p->stored_now);
    for (int64_t m = 0; m < p->M; m++) {
        p->a[m] = p->stored_now[m] - p->stored_f[m];
    }
}

/* ---- swaps of chains with members */

sali_stream sali_ptt_stream(const sal_trainer *t, uint32_t chain)
{
    return (sali_stream){ .seed = t->options.seed,
                          .chain = chain,
                          .step = (uint64_t)sali_ptt_of(t)->sweeps,
                          .purpose = SALI_RNG_SWAP };
}

void sali_ptt_gather(int64_t V, int64_t n, const uint32_t *at, const int32_t *codes, int32_t *to)
{
    for (int64_t c = 0; c < n; c++) {
        memcpy(to + c * V, codes + (int64_t)at[c] * V, (size_t)V * sizeof *to);
    }
}

void sali_ptt_measure(sal_trainer *t)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables;
    const sali_stream stream = sali_ptt_stream(t, SALI_PTT_CHOICE);
    sali_rng_choose(&stream, (uint32_t)p->M, (uint32_t)p->n, p->work, p->pick);
    sali_ptt_gather(V, p->n, p->pick, p->stored, p->fresh);
    sali_ptt_value_now(t, p->n, t->buffer.codes, p->f_now);
    sali_ptt_value_now(t, p->n, p->fresh, p->f_pick);
    sali_ptt_value_last(t, p->n, t->buffer.codes, p->f_last);
}

void sali_ptt_swap(sal_trainer *t)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables;
    const sali_stream stream = sali_ptt_stream(t, SALI_PTT_SWAP);
    for (int64_t c = 0; c < p->n; c++) {
        int64_t m = p->pick[c];
        double log_ratio = p->f_pick[c] + p->f_last[c] - p->f_now[c] - p->stored_f[m];
        if (log(sali_rng_uniform_at(&stream, (uint32_t)c)) < log_ratio) {
            memcpy(t->buffer.codes + c * V, p->stored + m * V, (size_t)V * sizeof *p->stored);
            p->f_last[c] = p->stored_f[m];
            p->f_now[c] = p->f_pick[c];
        }
    }
}

void sali_ptt_take_chains(sal_trainer *t)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables, apart = p->M / p->n;
    for (int64_t c = 0; c < p->n; c++) {
        memcpy(t->buffer.codes + c * V, p->stored + (c * apart + apart / 2) * V,
               (size_t)V * sizeof *p->stored);
        t->buffer.slot[c] = (uint32_t)c;
        p->weight[c] = 1 / (double)p->n;
    }
    p->sweeps++;
    sali_ptt_measure(t);
}
