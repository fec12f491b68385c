/* SPDX-License-Identifier: MIT */
/* The objective of learning: J(theta, s) = E[omega A log(A Q(s'|s) / p(s'))] with s' drawn by the
 * theta of before, omega = Q / Q_before (Sansone 2022, eq. 5), at states of the chains and at
 * random ones (eq. 6). The density p of eq. 5 is known up to a factor, on which J depends because
 * the normaliser of A Q was dropped; here it is p(s') / p(s), so that J depends on differences of f
 * only, as the sampler does, or the unnormalised density, as printed, if asked for. A = min(1, Z(s)
 * / Z(s')), Z the sum of g(t) over all moves. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/choose.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/object.h"
#include "samplers/kernels.h"
#include "samplers/local/lsb.h"
#include "samplers/start.h"

/* The random streams of one update. */
enum { STATES, PROPOSALS, SLOPES, STREAMS };

/* ---- the tape */

/* J as a function of the tape's "state": log g(t) of the S moves from s and of the S moves from s';
 * then log g(t), log t (or log p(s')) and log Q_before of the move that was drawn. */
static sal_expr record_objective(sal_tape *tape, int64_t S)
{
    sal_expr x = sal_state(tape), zero = sal_scalar(tape, 0);
    sal_expr log_Z = sal_logsumexp(sal_slice(x, 0, 0, S));
    sal_expr log_Z_new = sal_logsumexp(sal_slice(x, 0, S, S));
    sal_expr log_g = sal_sum(sal_slice(x, 0, 2 * S, 1));
    sal_expr log_t = sal_sum(sal_slice(x, 0, 2 * S + 1, 1));
    sal_expr log_Q_before = sal_sum(sal_slice(x, 0, 2 * S + 2, 1));
    sal_expr log_Q = sal_sub(log_g, log_Z);
    sal_expr log_A = sal_minimum(zero, sal_sub(log_Z, log_Z_new));
    sal_expr weight = sal_exp(sal_add(sal_sub(log_Q, log_Q_before), log_A));
    return sal_mul(weight, sal_sub(sal_add(log_A, log_Q), log_t));
}

/* Create the program, parameters and workspace of J as a function of its "state" (see
 * record_objective). */
static sal_status make_tape(sali_lsb_batch *batch, sal_error *err)
{
    sal_tape *tape = sali_lsb_tape(2 * batch->S + 3);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_status status =
        sali_program_create(tape, record_objective(tape, batch->S), &batch->program, err);
    status = status ? status : sali_params_create(batch->program, &batch->params, err);
    status = status ? status
                    : sali_workspace_create(batch->program, batch->params, 1,
                                            SALI_WANT_STATE_GRADIENT, &batch->ws, err);
    sal_tape_destroy(tape);
    return status;
}

/* ---- creation */

sal_status sali_lsb_batch_open(const sal_model *model, int64_t rows, int64_t radius,
                               sali_lsb_batch **out, sal_error *err)
{
    const int64_t S = model->space->slots;
    const size_t element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    sali_lsb_batch *batch = SALI_OBJECT(sali_lsb_batch);
    if (!batch) {
        return sali_fail_memory(err);
    }
    batch->S = S;
    batch->radius = radius > 0 ? radius : INT64_MAX;
    batch->rows = rows;
    batch->slots = sali_object_array(batch, rows * S, element);
    batch->log_t[0] = SALI_OBJECT_ARRAY(batch, double, rows *S);
    batch->log_t[1] = SALI_OBJECT_ARRAY(batch, double, rows *S);
    batch->log_g = SALI_OBJECT_ARRAY(batch, double, S);
    batch->move = SALI_OBJECT_ARRAY(batch, int64_t, rows);
    batch->shard = SALI_OBJECT_ARRAY(batch, int64_t, rows);
    batch->log_q = SALI_OBJECT_ARRAY(batch, double, rows);
    batch->t = SALI_OBJECT_ARRAY(batch, double, rows);
    batch->x = SALI_OBJECT_ARRAY(batch, double, 2 * S + 3);
    batch->slope = SALI_OBJECT_ARRAY(batch, double, 2 * S + 3);
    batch->weight = SALI_OBJECT_ARRAY(batch, double, S);
    sal_status status = sali_object_failed(batch) ? sali_fail_memory(err) : SAL_OK;
    status = status ? status
                    : sali_chains_create(model, rows, SALI_WANT_DIFFERENCES, 0, &batch->pool, err);
    status = status ? status : make_tape(batch, err);
    if (status != SAL_OK) {
        sali_lsb_batch_close(batch);
        return status;
    }
    *out = batch;
    return SAL_OK;
}

void sali_lsb_batch_close(sali_lsb_batch *batch)
{
    if (batch) {
        sali_workspace_destroy(batch->ws);
        sali_params_destroy(batch->params);
        sali_program_destroy(batch->program);
        sali_chains_destroy(batch->pool);
        sali_object_free(batch);
    }
}

/* ---- states and proposals */

static sali_stream stream_of(const sali_lsb_batch *batch, uint64_t number, int64_t row, int what)
{
    return (sali_stream){ .seed = batch->pool->seed,
                          .step = number * STREAMS + (uint64_t)what,
                          .chain = (uint32_t)row,
                          .purpose = SALI_RNG_LEARNING };
}

/* Number of the shard's chains at the coldest temperature. */
static int64_t count_coldest(const sali_chains *chains)
{
    double coldest = sali_chains_coldest(chains);
    int64_t n = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        n += chains->beta[c] == coldest;
    }
    return n;
}

/* The shard of number `index` among the coldest chains of all shards; *place receives the chain's
 * index in this shard. */
static int64_t shard_of(const sali_warmup *warmup, int64_t index, int64_t *place)
{
    int64_t k = 0, c = 0;
    for (int64_t n; index >= (n = count_coldest(warmup->chains[k])); k++) {
        index -= n;
    }
    double coldest = sali_chains_coldest(warmup->chains[k]);
    while (warmup->chains[k]->beta[c] != coldest || index-- > 0) {
        c++;
    }
    *place = c;
    return k;
}

int64_t sali_lsb_chains(const sali_warmup *warmup)
{
    int64_t n = 0;
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        n += count_coldest(warmup->chains[k]);
    }
    return n;
}

/* Receive the codes of the first n rows from the ranks that own them; row r is a state of shard[r].
 */
static sal_status gather_rows(sali_lsb_batch *batch, const sali_warmup *warmup, int64_t n,
                              const int64_t *shard, sal_error *err)
{
    const sali_ranks *ranks = warmup->ranks;
    const int64_t V = batch->pool->space->n_variables;
    const size_t row = (size_t)V * sizeof *batch->pool->codes;
    if (!ranks || !sali_ranks_several(ranks)) {
        return SAL_OK;
    }
    sali_memory memory = { 0 };
    int64_t *begin = SALI_TAKE(&memory, int64_t, ranks->n_shards + 1);
    int64_t *next = SALI_TAKE(&memory, int64_t, ranks->n_shards + 1);
    char *rows = sali_memory_take(&memory, n, row);
    sal_status status = sal_comm_agree(ranks->comm, sali_memory_status(&memory, err), err);
    for (int64_t r = 0; status == SAL_OK && r < n; r++) {
        begin[shard[r] + 1]++;
    }
    for (int64_t k = 0; status == SAL_OK && k < ranks->n_shards; k++) {
        begin[k + 1] += begin[k];
    }
    for (int pack = 1; pack >= 0 && status == SAL_OK; pack--) {
        memcpy(next, begin, (size_t)ranks->n_shards * sizeof *next);
        for (int64_t r = 0; r < n; r++) {
            char *there = rows + (size_t)next[shard[r]]++ * row;
            int32_t *here = batch->pool->codes + r * V;
            if (sali_ranks_own(ranks, shard[r]) == (pack == 1)) {
                memcpy(pack ? (void *)there : here, pack ? (void *)here : there, row);
            }
        }
        status = pack ? sali_ranks_gather(ranks, rows, begin, row, err) : SAL_OK;
    }
    sali_memory_free(&memory);
    return status;
}

/* Fill the pool with states of the chains, in turn, and as many random states at the same
 * temperatures. */
static sal_status take_states(sali_lsb_batch *batch, const sali_warmup *warmup, uint64_t number,
                              sal_error *err)
{
    sali_chains *pool = batch->pool;
    int64_t V = pool->space->n_variables, half = batch->rows / 2, n = sali_lsb_chains(warmup);
    assert(n > 0);
    for (int64_t r = 0; r < half; r++) {
        int64_t place, index = (int64_t)((number * (uint64_t)half + (uint64_t)r) % (uint64_t)n);
        const int64_t k = batch->shard[r] = shard_of(warmup, index, &place);
        const sali_chains *chains = warmup->chains[k];
        sali_stream stream = stream_of(batch, number, half + r, STATES);
        if (sali_warmup_has(warmup, k)) {
            memcpy(pool->codes + r * V, chains->codes + place * V, (size_t)V * sizeof *pool->codes);
        }
        sali_random_codes(pool->space, &stream, pool->codes + (half + r) * V);
        pool->beta[r] = pool->beta[half + r] = chains->beta[place];
    }
    sal_status status = gather_rows(batch, warmup, half, batch->shard, err);
    sali_chains_embed(pool);
    return status;
}

/* log_t [rows x S] and f [rows] at the pool's present states; -inf for slots that are no move. */
static void fill_differences(sali_lsb_batch *batch, double *f, double *log_t)
{
    sali_chains *pool = batch->pool;
    sal_dtype dtype = pool->model->dtype;
    int64_t V = pool->space->n_variables, S = batch->S;
    sali_chains_differences(pool, pool->codes, pool->x, f, batch->slots);
    for (int64_t r = 0; r < batch->rows; r++) {
        void *row = sali_row(pool, batch->slots, r, S);
        SALI_KERNELS_OF(dtype, sali_site_kernels)
            ->exclude(pool->space, pool->codes + r * V, batch->radius, row);
        for (int64_t k = 0; k < S; k++) {
            log_t[r * S + k] = sali_load(dtype, row, k);
        }
    }
}

/* Draw a move of row r by g: the pool's codes become the proposed state, and log_q receives the
 * move's log-probability. move[r] stays -1 where f or the sum of g(t) is not finite. */
static void propose_move(sali_lsb_batch *batch, const sali_balance *g, int64_t r, uint64_t number)
{
    sali_chains *pool = batch->pool;
    int64_t site, V = pool->space->n_variables, S = batch->S;
    const double *log_t = batch->log_t[0] + r * S;
    int32_t code, *codes = pool->codes + r * V;
    sali_stream stream = stream_of(batch, number, r, PROPOSALS);
    g->log_g(g->context, S, log_t, batch->log_g);
    double log_Z = sal_log_sum_exp(S, batch->log_g);
    batch->move[r] = -1;
    if (isfinite(pool->f[r]) && isfinite(log_Z)) {
        int64_t move = sali_choose_log(S, batch->log_g, log_Z, sali_rng_uniform_at(&stream, 0));
        sali_slot_move(pool->space, codes, move, &site, &code);
        codes[site] = code;
        batch->move[r] = move;
        batch->log_q[r] = batch->log_g[move] - log_Z;
    }
}

/* Exclude rows whose proposed state has an f or a sum of g(t) that is not finite. */
static void drop_rows(sali_lsb_batch *batch, const sali_balance *g)
{
    for (int64_t r = 0; r < batch->rows; r++) {
        g->log_g(g->context, batch->S, batch->log_t[1] + r * batch->S, batch->log_g);
        if (!isfinite(batch->pool->f_new[r]) ||
            !isfinite(sal_log_sum_exp(batch->S, batch->log_g))) {
            batch->move[r] = -1;
        }
    }
}

sal_status sali_lsb_batch_draw(sali_lsb_batch *batch, const sali_lsb_function *g,
                               const sali_warmup *warmup, uint64_t number, sal_error *err)
{
    sali_balance balance = sali_lsb_balance(g, SAL_F64);
    batch->pool->seed = warmup->seed;
    sal_status status = take_states(batch, warmup, number, err);
    if (status != SAL_OK) {
        return status;
    }
    fill_differences(batch, batch->pool->f, batch->log_t[0]);
    for (int64_t r = 0; r < batch->rows; r++) {
        propose_move(batch, &balance, r, number);
    }
    sali_chains_embed(batch->pool);
    fill_differences(batch, batch->pool->f_new, batch->log_t[1]);
    drop_rows(batch, &balance);
    sali_stream stream = stream_of(batch, number, 0, SLOPES);
    sali_rng_uniform_f64(&stream, batch->rows, batch->t);
    for (int64_t r = 0; r < batch->rows; r++) {
        batch->t[r] *= 2;
    }
    return SAL_OK;
}

/* ---- the estimate */

/* Returns `share` times J of row r, and adds the gradient of this to g's. */
static double add_row(sali_lsb_batch *batch, sali_lsb_function *g, int64_t r, double share)
{
    int64_t S = batch->S, move = batch->move[r];
    sali_balance balance = sali_lsb_balance(g, SAL_F64);
    double J, *x = batch->x;
    for (int k = 0; k < 2; k++) {
        balance.log_g(balance.context, S, batch->log_t[k] + r * S, x + k * S);
    }
    x[2 * S] = x[move];
    x[2 * S + 1] = batch->log_t[0][r * S + move];
    x[2 * S + 1] += batch->density ? batch->pool->beta[r] * batch->pool->f[r] : 0;
    x[2 * S + 2] = batch->log_q[r];
    sali_workspace_gradient(batch->ws, 1, NULL, x, &J, batch->slope);
    batch->slope[move] += batch->slope[2 * S];
    for (int k = 0; k < 2; k++) {
        for (int64_t j = 0; j < S; j++) {
            batch->weight[j] = share * batch->slope[k * S + j];
        }
        sali_lsb_gradient_add(g, S, batch->log_t[k] + r * S, batch->weight);
    }
    return share * J;
}

double sali_lsb_objective(sali_lsb_batch *batch, sali_lsb_function *g, double *gradient)
{
    double sum = 0, share = 2 / (double)batch->rows;
    sali_lsb_gradient_begin(g);
    for (int64_t r = 0; r < batch->rows; r++) {
        sum += batch->move[r] >= 0 ? add_row(batch, g, r, share) : 0;
    }
    if (g->network) {
        sum += sali_lsb_gradient_slopes(g, batch->rows, batch->t);
    }
    sali_lsb_gradient_end(g, gradient);
    return sum;
}
