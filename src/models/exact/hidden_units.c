/* SPDX-License-Identifier: MIT */
/* The oracle of RBMs with few hidden units, over variables of any kind. f = constant + b'x + sum_k
 * softplus(W x + c)_k hides units h in {0, 1}^H, given which the variables are independent:
 *
 *     Z = sum_h exp(constant + c'h) prod_i sum_v exp((b + W'h)'x_i(v)),
 *
 * with x_i(v) the reals of state v of variable i. All h are enumerated. Marginals and pairs are
 * means over h; a draw draws h, then each variable. A clamped variable's sum has one term. E f has
 * no closed form. */
#include <math.h>
#include <stdio.h>

#include <saltus/program.h>
#include "core/choose.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/threads/shard.h"
#include "core/vector/blas.h"
#include "core/vector/clones.h"
#include "core/vector/vmath.h"
#include "models/exact/exact.h"
#include "models/exact/hidden_weights.h"

#define ROWS SALI_HIDDEN_ROWS
/* Most shards; most numbers in the arrays of all shards together, unless there is one shard. */
#define MOST_SHARDS 64
#define MOST_NUMBERS (INT64_C(1) << 24)
/* Most terms computed for pairs. */
#define MOST_PAIR_TERMS 0x1p38

/* ---- the form of f */

typedef struct plan {
    sali_sum_reader sum;
    sali_affine_form units;
} plan;

static void release(void *content)
{
    plan *p = content;
    sali_sum_reader_close(&p->sum);
    sali_free(p);
}

/* Read the form of f into *form and p->units if f is known to be an RBM and nothing else. */
static sal_status find_units(const sali_question *q, const sali_tape_model *tape,
                             sali_sum_form *form, plan *p)
{
    const sali_program *program = tape->program;
    sal_status status = sali_sum_form_find(tape, form);
    if (status != SAL_OK) {
        return status;
    }
    const int32_t core = form->core;
    return core >= 0 && !form->rest && program->steps[core].op->hidden == SALI_HIDES_BITS &&
                   program->steps[core].size * program->space->width <= q->steps &&
                   sali_affine_form_find(program, program->nodes[core].in[0], &p->units)
               ? SAL_OK
               : SAL_ERR_UNSUPPORTED;
}

/* Fill *p if the model is an RBM with hidden units that have no more states than the limit, each
 * with a weight of 1 at the present parameters; the reader is to be closed in any case. Returns:
 * SAL_ERR_UNSUPPORTED if it is not, with the reason in `why`; SAL_ERR_MEMORY. */
static sal_status make_plan(const sali_question *q, plan *p, char *why, size_t room)
{
    const sali_tape_model *tape = sali_model_tape(q->model);
    sali_sum_form form;
    snprintf(why, room, "it is not known to be an RBM, b's + sum softplus(W s + c)");
    if (!tape || tape->program->state < 0 || tape->program->space->unbounded) {
        return SAL_ERR_UNSUPPORTED;
    }
    sal_status status = find_units(q, tape, &form, p);
    const int64_t H = p->units.size;
    if (status == SAL_OK && (H >= 62 || INT64_C(1) << H > q->options.limit)) {
        snprintf(why, room,
                 "it has %lld hidden units, and so 2^%lld states of them, more than the limit of "
                 "%lld",
                 (long long)H, (long long)H, (long long)q->options.limit);
        return SAL_ERR_UNSUPPORTED;
    }
    status = status ? status : sali_sum_reader_open(tape, &form, &p->sum);
    for (int64_t k = 0; status == SAL_OK && k < H; k++) {
        status = p->sum.weight[k] == 1 ? SAL_OK : SAL_ERR_UNSUPPORTED;
    }
    return status;
}

/* ---- sums over the hidden units */

typedef struct shard {
    double *p;         /* [most states of a variable x ROWS]; for pairs [R x ROWS] */
    double *marginals; /* [R] */
    double *pairs;     /* [R x R] upper triangle, or NULL */
    double *bits;      /* [H x ROWS] of draws, or NULL */
} shard;

typedef struct work {
    sali_memory memory;
    sali_hidden_weights weights;
    double *weight; /* [count] of the states of the hidden units, relative to the largest; for draws
                       sums of them up to each state */
    double total;   /* sum of the weights */
    int64_t n_blocks, n_shards;
    shard *shards;
    const sali_exact_draws *draws; /* or NULL */
    int64_t n_draw_blocks;
} work;

/* Choose the number of shards, which depends on the model only, and allocate all arrays. *w is to
 * be freed even on failure. */
static sal_status work_create(work *w, const sali_question *q, const plan *p, sal_error *err)
{
    const sal_space *space = q->model->space;
    const int64_t R = space->n_states, states = q->pairs ? R : space->max_states;
    const int64_t numbers = R + states * ROWS + (q->pairs ? R * R : 0);
    int64_t most = MOST_NUMBERS / numbers;
    sal_status status =
        sali_hidden_weights_read(q->model, &p->sum, &p->units, &w->memory, &w->weights, err);
    if (status != SAL_OK) {
        return status;
    }
    w->draws = q->draws;
    w->n_draw_blocks = q->draws ? (q->draws->n - 1) / ROWS + 1 : 0;
    w->n_blocks = w->weights.count / w->weights.rows;
    most = most < 1 ? 1 : most < MOST_SHARDS ? most : MOST_SHARDS;
    const int64_t blocks = w->n_blocks > w->n_draw_blocks ? w->n_blocks : w->n_draw_blocks;
    w->n_shards = blocks < most ? blocks : most;
    w->weight = SALI_TAKE(&w->memory, double, w->weights.count);
    w->shards = SALI_TAKE(&w->memory, shard, w->n_shards);
    for (int64_t k = 0; w->shards && k < w->n_shards; k++) {
        shard *s = &w->shards[k];
        s->p = SALI_TAKE(&w->memory, double, states *ROWS);
        s->marginals = SALI_TAKE(&w->memory, double, R);
        s->pairs = q->pairs ? SALI_TAKE(&w->memory, double, R *R) : NULL;
        s->bits = q->draws ? SALI_TAKE(&w->memory, double, w->weights.H *ROWS) : NULL;
    }
    return sali_memory_status(&w->memory, err);
}

/* Compute the logarithms of a shard's weights. */
static void weigh_shard(void *context, int64_t at)
{
    const work *w = context;
    const sali_hidden_weights *all = &w->weights;
    const int64_t end = sali_shard_first(w->n_blocks, w->n_shards, at + 1);
    for (int64_t k = sali_shard_first(w->n_blocks, w->n_shards, at); k < end; k++) {
        const sali_hidden_states h = { all->rows, k, NULL };
        sali_hidden_weigh(all, &h, w->shards[at].p, w->weight + k * all->rows);
    }
}

/* Set w->weight and w->total, and log Z. Returns: SAL_ERR_MODEL if log Z is not finite. */
static sal_status weigh_all(work *w, sali_question *q, sal_error *err)
{
    const int64_t rows = w->weights.rows;
    double most = -INFINITY;
    sal_threads_run(w->n_shards, q->options.threads, weigh_shard, w);
    for (int64_t i = 0; i < w->weights.count; i++) {
        most = fmax(most, w->weight[i]);
    }
    for (int64_t k = 0; most > -INFINITY && k < w->n_blocks; k++) {
        double *weight = w->weight + k * rows, sum = 0;
        for (int64_t j = 0; j < rows; j++) {
            weight[j] -= most;
        }
        sali_vexp_f64(rows, weight, weight);
        for (int64_t j = 0; j < rows; j++) {
            sum += weight[j];
        }
        w->total += sum;
    }
    q->log_z = most > -INFINITY ? most + log(w->total) : most;
    q->log_prob_mean = NAN;
    return isfinite(q->log_z)
               ? SAL_OK
               : sali_fail(
                     err, SAL_ERR_MODEL,
                     "%s: log Z is %g: f is NaN or +inf at some state, or -inf at all of them",
                     q->model->name, q->log_z);
}

/* Divide weights p by their sum; returns the sum over j of weight[j] p[j]. */
SALI_CLONES
static double mean_over(int64_t n, const double *restrict weight, const double *restrict sum,
                        double *restrict p)
{
    double mean = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t j = 0; j < n; j++) {
        p[j] /= sum[j];
        mean += weight[j] * p[j];
    }
    return mean;
}

/* Add p p' to the pairs, for the probabilities p [R x ROWS] of a block, each times the root of the
 * block's weight. */
static void add_pairs(const sali_hidden_weights *all, const double *weight, shard *s)
{
    double root[ROWS];
    for (int64_t j = 0; j < all->rows; j++) {
        root[j] = sqrt(weight[j]);
    }
    for (int64_t a = 0; a < all->R; a++) {
        for (int64_t j = 0; j < all->rows; j++) {
            s->p[a * ROWS + j] *= root[j];
        }
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, (int)all->R, (int)all->rows, 1, s->p, ROWS,
                1, s->pairs, (int)all->R);
}

/* Add the probabilities of the variables' states, given the hidden units of a block, times the
 * weights of the block. */
static void add_block(const sali_hidden_weights *all, const sali_hidden_states *h,
                      const double *weight, shard *s)
{
    double most[ROWS], sum[ROWS];
    for (int64_t v = 0, first = 0; v < all->space->n_variables; v++) {
        const int64_t states = all->space->variables[v].states;
        double *p = s->p + (s->pairs ? first * ROWS : 0);
        sali_hidden_weigh_states(all, h, first, states, p, most, sum);
        for (int64_t a = 0; a < states; a++) {
            s->marginals[first + a] += mean_over(h->n, weight, sum, p + a * ROWS);
        }
        first += states;
    }
    if (s->pairs) {
        add_pairs(all, weight, s);
    }
}

/* Add the blocks of a shard, except those whose weights are too small for a double. */
static void add_shard(void *context, int64_t at)
{
    work *w = context;
    const sali_hidden_weights *all = &w->weights;
    const int64_t end = sali_shard_first(w->n_blocks, w->n_shards, at + 1);
    for (int64_t k = sali_shard_first(w->n_blocks, w->n_shards, at); k < end; k++) {
        const double *weight = w->weight + k * all->rows;
        const sali_hidden_states h = { all->rows, k, NULL };
        bool any = false;
        for (int64_t j = 0; j < all->rows; j++) {
            any |= weight[j] > 0;
        }
        if (any) {
            add_block(all, &h, weight, &w->shards[at]);
        }
    }
}

/* Add the sums of all shards, in their order, to the outputs of the request. */
static void combine_shards(const work *w, sali_question *q)
{
    const int64_t R = w->weights.R;
    for (int64_t k = 0; k < w->n_shards; k++) {
        for (int64_t a = 0; a < R; a++) {
            q->marginals[a] += w->shards[k].marginals[a] / w->total;
        }
        for (int64_t a = 0; q->pairs && a < R * R; a++) {
            q->pairs[a] += w->shards[k].pairs[a] / w->total;
        }
    }
}

static sal_status answer(sali_question *q, const sali_offer *offer, sal_error *err)
{
    work w = { 0 };
    sal_status status = work_create(&w, q, offer->plan, err);
    status = status ? status : weigh_all(&w, q, err);
    if (status == SAL_OK) {
        sal_threads_run(w.n_shards, q->options.threads, add_shard, &w);
        combine_shards(&w, q);
    }
    sali_memory_free(&w.memory);
    return status;
}

/* ---- draws */

/* Draw states of the hidden units by uniforms [n], w->weight being cumulative, into bits [H x
 * ROWS]. */
static void draw_units(const work *w, int64_t n, const double *uniforms, double *bits)
{
    for (int64_t j = 0; j < n; j++) {
        const int64_t state =
            sali_choose_cumulative(w->weights.count, w->weight, uniforms[j] * w->total);
        for (int64_t k = 0; k < w->weights.H; k++) {
            bits[k * ROWS + j] = (double)(state >> k & 1);
        }
    }
}

/* Add the weights p of the next state to `below`, and 1 to the codes of draws that lie above. */
SALI_CLONES
static void pass_state(int64_t n, const double *restrict uniforms, const double *restrict sum,
                       const double *restrict p, double *restrict below, int32_t *restrict code)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        below[j] += p[j];
        code[j] += uniforms[j] * sum[j] >= below[j];
    }
}

/* Draw a variable by uniforms [h->n], given the hidden units, into codes [h->n], `stride` apart. */
static void draw_variable(const sali_hidden_weights *all, const sali_hidden_states *h,
                          int64_t first, int64_t states, const double *uniforms, double *p,
                          int64_t stride, int32_t *codes)
{
    double most[ROWS], sum[ROWS], below[ROWS] = { 0 };
    int32_t code[ROWS] = { 0 };
    sali_hidden_weigh_states(all, h, first, states, p, most, sum);
    for (int64_t s = 0; s < states - 1; s++) {
        pass_state(h->n, uniforms, sum, p + s * ROWS, below, code);
    }
    for (int64_t j = 0; j < h->n; j++) {
        codes[j * stride] = code[j];
    }
}

/* Make n draws from number `first` on, a multiple of ROWS. Number d of variable i takes its random
 * numbers from (seed, d, i) alone. */
static void draw_block(const work *w, int64_t first, int64_t n, shard *s)
{
    const sali_hidden_weights *all = &w->weights;
    const int64_t V = all->space->n_variables;
    const sali_hidden_states h = { n, 0, s->bits };
    double uniforms[2][ROWS];
    uint32_t chain[ROWS];
    for (int64_t j = 0; j < n; j++) {
        chain[j] = (uint32_t)(first + j);
    }
    for (int64_t i = 0, row = 0; i <= V; i++) { /* 0: the hidden units; i: variable i - 1 */
        const sali_stream stream = { .seed = w->draws->seed,
                                     .step = (uint64_t)first >> 32 | (uint64_t)i / 2 << 32,
                                     .purpose = SALI_RNG_EXACT_DRAW };
        if (i % 2 == 0) {
            sali_rng_uniform_pairs(&stream, n, chain, uniforms[0], uniforms[1]);
        }
        if (i == 0) {
            draw_units(w, n, uniforms[0], s->bits);
            continue;
        }
        const int64_t states = all->space->variables[i - 1].states;
        draw_variable(all, &h, row, states, uniforms[i % 2], s->p, V,
                      w->draws->codes + first * V + i - 1);
        row += states;
    }
}

static void draw_shard(void *context, int64_t at)
{
    const work *w = context;
    const int64_t end = sali_shard_first(w->n_draw_blocks, w->n_shards, at + 1);
    for (int64_t k = sali_shard_first(w->n_draw_blocks, w->n_shards, at); k < end; k++) {
        const int64_t first = k * ROWS, left = w->draws->n - first;
        draw_block(w, first, left < ROWS ? left : ROWS, &w->shards[at]);
    }
}

static sal_status draw(sali_question *q, const sali_offer *offer, sal_error *err)
{
    work w = { 0 };
    sal_status status = work_create(&w, q, offer->plan, err);
    status = status ? status : weigh_all(&w, q, err);
    if (status == SAL_OK) {
        w.total = 0;
        for (int64_t i = 0; i < w.weights.count; i++) {
            w.weight[i] = w.total += w.weight[i];
        }
        sal_threads_run(w.n_shards, q->options.threads, draw_shard, &w);
    }
    sali_memory_free(&w.memory);
    return status;
}

/* ---- the oracle */

/* Fill *offer for a model that has the form. Oracles that give E f are preferred for answers: this
 * one then only serves if it was requested by name, or for draws. */
static void make_offer(const sali_question *q, const plan *p, sali_offer *offer)
{
    const double count = (double)(INT64_C(1) << p->units.size);
    const double R = (double)q->model->space->n_states, pairs = q->with_pairs ? count * R * R : 0;
    const double n = q->draws ? (double)q->draws->n : 0;
    offer->cost = count * (20 + 3 * R) + pairs / 16 + n * R * (3 + (double)p->units.size / 8);
    if (pairs > MOST_PAIR_TERMS) {
        snprintf(offer->why, sizeof offer->why,
                 "pairs and covariances would take %.3g terms, more than %.3g; marginals alone can "
                 "be had",
                 pairs, MOST_PAIR_TERMS);
    } else if (q->affordable < INFINITY && !q->draws) {
        snprintf(offer->why, sizeof offer->why, "another oracle gives E f as well");
    } else {
        offer->serves = true;
    }
}

static sal_status offer(const sali_question *q, sali_offer *offer, sal_error *err)
{
    plan *p = SALI_NEW(plan);
    sal_status status = p ? make_plan(q, p, offer->why, sizeof offer->why) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        make_offer(q, p, offer);
    }
    if (offer->serves) {
        offer->plan = p;
    } else if (p) {
        release(p);
    }
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : SAL_OK;
}

const sali_oracle sali_oracle_hidden_units = {
    "enumeration of hidden units", false, offer, answer, release, draw
};
