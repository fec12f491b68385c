/* SPDX-License-Identifier: MIT */
/* A bound on the log-likelihood of rows by a denoising chain of conditional energies. With x_1 ..
 * x_T from the noise q, the coupling of levels cancels against log q, and
 *
 *     log p(x_0) >= E_q [ log p_0(x_T) + sum_t (f_t(x_t) - log Z_t(x_(t+1))) ],
 *     Z_t(x') = sum over x of exp(f_t(x) + log q(x' | x)).
 *
 * Each log Z_t(x') is estimated by annealed importance sampling of one chain for each row, from
 * independent variables whose logits are the gradient of the level's energy, averaged over a short
 * run from x': forward, where the estimate of log Z_t is too small on average and so the bound too
 * large; and in reverse, from x_t after some steps, where the estimate is too large and the bound
 * too small. */
#include <math.h>
#include <string.h>

#include <saltus/evaluate.h>
#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/threads/shard.h"
#include "core/vector/blas.h"
#include "models/base.h"
#include "run/trajectory/trajectory.h"
#include "stats/moments.h"

/* The short run that finds the independent variables: ROUNDS rounds of ROUND_STEPS steps; gradients
 * are averaged from round FIRST_ROUND on. */
enum { ROUNDS = 12, FIRST_ROUND = 4, ROUND_STEPS = 2 };
/* Steps from x_t before a reverse path, so that the path begins at a draw of its level. */
enum { SETTLE = 40 };

/* Numbers of temperatures of a chain of eight levels, lowest level first; chains of other lengths
 * use them in proportion. */
static const double usual[] = { 200, 120, 100, 80, 60, 40, 20, 10 };
enum { USUAL = sizeof usual / sizeof *usual };

typedef struct bound {
    const sal_trajectory *t;
    const sali_levels *levels;
    const sali_noise *noise;
    const sali_sampler *sampler;
    const sali_sampler_settings *settings;
    const uint8_t *rows;      /* [n x V] */
    int64_t n, shards, level; /* rows, their shards, and the level in work */
    double effort;
    uint64_t seed;
    double *forward, *reverse; /* [n] the bound so far, by either estimate */
    sal_status *status;        /* [shards] */
    sal_error *errors;
} bound;

/* What one shard needs at one level. */
typedef struct rung {
    const bound *b;
    int64_t level, n, V, N;
    sali_moved m;
    int32_t *below, *above; /* [n x V] x_t, x_(t+1) */
    void *coupling, *base;  /* real [n x N] */
    void *field;            /* real [n x N] in use */
    double *constant;       /* [n] of the coupling */
    double *log_base_z;     /* [n] */
    double *f;              /* [n] f_t(x_t) */
    double *log_w;          /* [n] */
    double *uniform;        /* [2 V] */
    double *log_p;          /* [R] of the independent variables of a row */
    sali_memory memory;
} rung;

static int64_t count_temperatures(const bound *b, int64_t level)
{
    const double place = (double)(level * USUAL) / (double)b->noise->T;
    return (int64_t)fmax(2, rint(b->effort * usual[(int64_t)place]));
}

/* ---- one rung */

/* Allocate the arrays of a rung for the rows of `shard`, and open its chains, one for each row. */
static sal_status open_rung(rung *r, int64_t shard, sal_error *err)
{
    const bound *b = r->b;
    const sal_model *model = b->levels->at[r->level];
    const int64_t first = sali_shard_first(b->n, b->shards, shard);
    const size_t element = sali_dtype_size(model->dtype);
    r->n = sali_shard_first(b->n, b->shards, shard + 1) - first;
    r->V = model->space->n_variables;
    r->N = model->space->width;
    sali_memory *m = &r->memory;
    r->below = SALI_TAKE(m, int32_t, r->n * r->V);
    r->above = SALI_TAKE(m, int32_t, r->n * r->V);
    r->coupling = sali_memory_take(m, r->n * r->N, element);
    r->base = sali_memory_take(m, r->n * r->N, element);
    r->field = sali_memory_take(m, r->n * r->N, element);
    r->constant = SALI_TAKE(m, double, r->n);
    r->log_base_z = SALI_TAKE(m, double, r->n);
    r->f = SALI_TAKE(m, double, r->n);
    r->log_w = SALI_TAKE(m, double, r->n);
    r->uniform = SALI_TAKE(m, double, 2 * r->V);
    r->log_p = SALI_TAKE(m, double, model->space->n_states);
    r->m = (sali_moved){ .sampler = b->sampler, .settings = *b->settings };
    r->m.settings.training = true;
    sal_status status = sali_memory_status(m, err);
    status = status ? status : sali_moved_open(&r->m, model, r->n, b->seed, err);
    for (int64_t c = 0; status == SAL_OK && c < r->n; c++) {
        const double own = b->t->noise_step_sizes[r->level];
        r->m.chains->id[c] = (uint32_t)((first + c) * b->noise->T + r->level);
        r->m.chains->step_size[c] = own > 0 ? own : b->settings->step_size;
    }
    return status;
}

/* Fill below and above with x_t and x_(t+1) of the rows, and the coupling at x_(t+1). Noise is
 * drawn from level 0 on each time, so that all levels see the same states whichever level comes
 * first. */
static void make_states(rung *r, int64_t shard)
{
    const bound *b = r->b;
    const int64_t first = sali_shard_first(b->n, b->shards, shard);
    for (int64_t c = 0; c < r->n; c++) {
        int32_t *x = r->above + c * r->V;
        for (int64_t v = 0; v < r->V; v++) {
            x[v] = b->rows[(first + c) * r->V + v];
        }
        for (int64_t t = 0; t <= r->level; t++) {
            const sali_stream stream = { .seed = b->seed,
                                         .chain = (uint32_t)(first + c),
                                         .step = (uint64_t)t,
                                         .purpose = SALI_RNG_NOISE };
            memcpy(r->below + c * r->V, x, (size_t)r->V * sizeof *x);
            sali_noise_add(b->noise, t, t + 1, &stream, r->uniform, x, x);
        }
        r->constant[c] = sali_noise_field(b->noise, r->level, x, r->m.chains->model->dtype,
                                          sali_row(r->m.chains, r->coupling, c, r->N));
    }
}

static void start_at(rung *r, const int32_t *codes)
{
    memcpy(r->m.chains->codes, codes, (size_t)(r->n * r->V) * sizeof *codes);
    sali_chains_embed(r->m.chains);
}

/* Make the chains' target exp(beta (f + coupling) + (1 - beta) base), beta > 0. */
static void set_beta(rung *r, double beta)
{
    const sal_dtype dtype = r->m.chains->model->dtype;
    const double share = (1 - beta) / beta;
    for (int64_t k = 0; k < r->n * r->N; k++) {
        sali_store(dtype, r->field, k,
                   sali_load(dtype, r->coupling, k) + share * sali_load(dtype, r->base, k));
    }
    for (int64_t c = 0; c < r->n; c++) {
        r->m.chains->beta[c] = beta;
    }
    sali_evaluator_set_field(r->m.chains->evaluator, r->field);
}

static void move_rung(rung *r, int64_t steps)
{
    sali_moved_go(&r->m, steps);
}

/* The inner product of row c of the base with the state of chain c. */
static double base_at(const rung *r, int64_t c)
{
    const sal_dtype dtype = r->m.chains->model->dtype;
    const void *x = sali_row(r->m.chains, r->m.chains->x, c, r->N);
    const void *base = sali_row(r->m.chains, r->base, c, r->N);
    double sum = 0;
    for (int64_t i = 0; i < r->N; i++) {
        sum += sali_load(dtype, base, i) * sali_load(dtype, x, i);
    }
    return sum;
}

/* ---- where the paths begin */

/* Set the base to the mean gradient over a short run from x_(t+1). */
static void find_base(rung *r)
{
    sali_chains *chains = r->m.chains;
    const sal_dtype dtype = chains->model->dtype;
    start_at(r, r->above);
    set_beta(r, 1);
    memset(r->base, 0, (size_t)(r->n * r->N) * chains->element);
    for (int round = 0; round < ROUNDS; round++) {
        move_rung(r, ROUND_STEPS);
        if (round < FIRST_ROUND) {
            continue;
        }
        sali_chains_start(chains, true);
        for (int64_t k = 0; k < r->n * r->N; k++) {
            const double more = sali_load(dtype, chains->gradient, k) / (ROUNDS - FIRST_ROUND);
            sali_store(dtype, r->base, k, sali_load(dtype, r->base, k) + more);
        }
    }
}

/* The logit of a code of variable v in row c of the base. */
static double weight_of(const rung *r, int64_t c, const sali_variable *v, int32_t code)
{
    const sal_dtype dtype = r->m.chains->model->dtype;
    const void *base = sali_row(r->m.chains, r->base, c, r->N);
    return v->kind == SAL_CATEGORICAL ? sali_load(dtype, base, v->offset + code)
                                      : sali_load(dtype, base, v->offset) * sali_level(v, code);
}

/* log of the sum over a variable's codes of exp of their logits in row c of the base. */
static double log_total(const rung *r, int64_t c, const sali_variable *v)
{
    double most = -INFINITY, sum = 0;
    for (int32_t k = 0; k < v->states; k++) {
        most = fmax(most, weight_of(r, c, v, k));
    }
    for (int32_t k = 0; k < v->states; k++) {
        sum += exp(weight_of(r, c, v, k) - most);
    }
    return most + log(sum);
}

/* Draw the state of chain c from its independent variables, and set log_base_z[c]. */
static void draw_row(rung *r, int64_t c)
{
    const sal_space *space = r->m.chains->space;
    const sali_stream stream = sali_chains_stream(r->m.chains, c, SALI_RNG_INIT);
    double *log_p = r->log_p;
    r->log_base_z[c] = 0;
    for (int64_t i = 0; i < r->V; i++) {
        const sali_variable *v = &space->variables[i];
        const double total = log_total(r, c, v);
        for (int32_t k = 0; k < v->states; k++) {
            *log_p++ = weight_of(r, c, v, k) - total;
        }
        r->log_base_z[c] += total;
    }
    sali_base_draw(space, r->log_p, &stream, r->uniform, r->m.chains->codes + c * r->V);
}

/* ---- annealing */

/* Add (to - from) (f + coupling - base'x) at the present states to log_w. chains->f was evaluated
 * at inverse temperature `beta`. */
static void add_weights(rung *r, double beta, double from, double to)
{
    const double share = (1 - beta) / beta;
    for (int64_t c = 0; c < r->n; c++) {
        const double base = base_at(r, c), whole = r->m.chains->f[c] - share * base;
        r->log_w[c] += (to - from) * (whole - base);
    }
}

/* Forward annealing. Afterwards log_base_z + log_w estimates log Z - constant of each row. */
static void anneal_up(rung *r)
{
    const int64_t B = count_temperatures(r->b, r->level);
    for (int64_t c = 0; c < r->n; c++) {
        draw_row(r, c);
        r->log_w[c] = 0;
    }
    sali_chains_tick(r->m.chains);
    sali_chains_embed(r->m.chains);
    set_beta(r, 1);
    sali_chains_start(r->m.chains, false);
    add_weights(r, 1, 0, 1 / (double)B);
    for (int64_t k = 1; k < B; k++) {
        const double beta = (double)k / (double)B;
        set_beta(r, beta);
        move_rung(r, 1);
        add_weights(r, beta, beta, (double)(k + 1) / (double)B);
    }
}

/* Reverse annealing from x_t. Afterwards log_base_z + log_w estimates log Z - constant of each row;
 * uses log_base_z of the forward path. */
static void anneal_down(rung *r)
{
    const int64_t B = count_temperatures(r->b, r->level);
    memset(r->log_w, 0, (size_t)r->n * sizeof *r->log_w);
    start_at(r, r->below);
    set_beta(r, 1);
    move_rung(r, SETTLE);
    add_weights(r, 1, (double)(B - 1) / (double)B, 1);
    for (int64_t k = B - 1; k > 0; k--) {
        const double beta = (double)k / (double)B;
        set_beta(r, beta);
        move_rung(r, 1);
        add_weights(r, beta, (double)(k - 1) / (double)B, beta);
    }
}

/* Set f to f_t(x_t), without the coupling. */
static void evaluate_rung(rung *r)
{
    start_at(r, r->below);
    sali_evaluator_set_field(r->m.chains->evaluator, NULL);
    for (int64_t c = 0; c < r->n; c++) {
        r->m.chains->beta[c] = 1;
    }
    sali_chains_start(r->m.chains, false);
    memcpy(r->f, r->m.chains->f, (size_t)r->n * sizeof *r->f);
}

/* Add the level's term of the bound, f_t(x_t) - log Z_t, to the rows of `shard` in sums [n]. */
static void add_to(const rung *r, int64_t shard, double *sums)
{
    const int64_t first = sali_shard_first(r->b->n, r->b->shards, shard);
    for (int64_t c = 0; c < r->n; c++) {
        sums[first + c] += r->f[c] - (r->log_base_z[c] + r->log_w[c] + r->constant[c]);
    }
}

/* Add log p_0(x_T) to both bounds, at the last level only. */
static void add_base(const rung *r, int64_t shard)
{
    const bound *b = r->b;
    const int64_t first = sali_shard_first(b->n, b->shards, shard);
    for (int64_t c = 0; r->level == b->noise->T - 1 && c < r->n; c++) {
        const double value =
            sali_base_value(b->noise->space, b->noise->log_base, r->above + c * r->V);
        b->forward[first + c] += value;
        b->reverse[first + c] += value;
    }
}

/* Add the terms of level b->level to the bounds of the rows of `shard`. */
static void add_level_terms(void *context, int64_t shard)
{
    bound *b = context;
    rung r = { .b = b, .level = b->level };
    sal_error *err = &b->errors[shard];
    sal_status status = open_rung(&r, shard, err);
    if (status == SAL_OK) {
        make_states(&r, shard);
        evaluate_rung(&r);
        find_base(&r);
        anneal_up(&r);
        add_to(&r, shard, b->forward);
        anneal_down(&r);
        add_to(&r, shard, b->reverse);
        add_base(&r, shard);
        if (r.m.chains->bad_chain >= 0) {
            status = sali_chains_report(r.m.chains, r.m.sampler, r.m.chains->bad_chain, err);
        }
    }
    b->status[shard] = status;
    sali_moved_close(&r.m);
    sali_memory_free(&r.memory);
}

/* ---- all of it */

/* All levels in turn; *stopped: the caller stopped the estimate after one of them. */
static sal_status run_levels(bound *b, const sal_bound_options *o, bool *stopped, sal_error *err)
{
    sal_status status = SAL_OK;
    sali_blas_single_thread_begin();
    for (b->level = 0; status == SAL_OK && !*stopped && b->level < b->noise->T; b->level++) {
        sal_threads_run(b->shards, o->threads, add_level_terms, b);
        for (int64_t k = 0; status == SAL_OK && k < b->shards; k++) {
            status = b->status[k] == SAL_OK
                         ? SAL_OK
                         : sali_fail(err, b->status[k], "%s", b->errors[k].message);
        }
        *stopped = status == SAL_OK && o->progress &&
                   o->progress(b->level + 1, b->noise->T, o->progress_data) != 0;
    }
    sali_blas_single_thread_end();
    return status;
}

/* Mean and standard error of the mean. */
static void mean_and_error(int64_t n, const double *values, double *mean, double *error)
{
    double variance;
    sali_moments(n, values, mean, &variance);
    *error = sqrt(variance / (double)n);
}

/* Means and errors of both bounds and of their difference [n], which is overwritten, into `out`. */
static void conclude_bounds(const bound *b, double *difference, sal_bound *out)
{
    mean_and_error(b->n, b->forward, &out->forward, &out->forward_error);
    mean_and_error(b->n, b->reverse, &out->reverse, &out->reverse_error);
    for (int64_t i = 0; i < b->n; i++) {
        difference[i] = b->forward[i] - b->reverse[i];
    }
    mean_and_error(b->n, difference, &out->gap, &out->gap_error);
}

/* SAL_ERR_ARGUMENT unless the trajectory is a denoising chain of the model, and rows, codes and
 * effort are in range. */
static sal_status check_request(const sal_model *model, const sal_trajectory *t, int64_t rows,
                                const uint8_t *codes, const sal_bound_options *o, sal_error *err)
{
    if (!t->noise || !sali_trajectory_fits(t, model)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_denoising_bound: %s",
                         t->noise ? "the denoising chain is of another model"
                                  : "the trajectory is a ladder, not a denoising chain");
    }
    if (rows < 1 || rows > INT32_MAX / t->noise->T || !(o->effort > 0) || o->effort > 1e6) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_denoising_bound: %lld rows, effort %g; expected 1 to %lld rows, and "
                         "an effort above 0, at most 1e6",
                         (long long)rows, o->effort, (long long)(INT32_MAX / t->noise->T));
    }
    const sal_space *space = t->noise->space;
    for (int64_t i = 0; i < rows * space->n_variables; i++) {
        const sali_variable *v = &space->variables[i % space->n_variables];
        if (!sali_has_code(v, codes[i])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "sal_denoising_bound: row %lld, variable %lld: code %d; expected 0 to "
                             "%d",
                             (long long)(i / space->n_variables),
                             (long long)(i % space->n_variables), codes[i], sali_last_code(v));
        }
    }
    return SAL_OK;
}

sal_status sal_denoising_bound(sal_model *model, const sal_trajectory *trajectory, int64_t rows,
                               const uint8_t *codes, const sal_bound_options *options,
                               sal_bound *out, sal_error *err)
{
    sal_bound_options o = options ? *options : (sal_bound_options){ 0 };
    sali_sampler_settings settings = { 0 };
    sali_memory memory = { 0 };
    sal_model *view = NULL;
    bool stopped = false;
    if (!model || !trajectory || !codes || !out) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_denoising_bound: the model, the chain, the rows or the result are "
                         "NULL");
    }
    o.effort = o.effort == 0 ? 1 : o.effort;
    sal_status status = check_request(model, trajectory, rows, codes, &o, err);
    status = status ? status : sal_trajectory_model(trajectory, model, &view, err);
    if (status != SAL_OK) {
        return status;
    }
    bound b = { .t = trajectory,
                .levels = sali_model_levels(view),
                .noise = trajectory->noise,
                .settings = &settings,
                .rows = codes,
                .n = rows,
                .shards = sali_shard_count(rows),
                .effort = o.effort,
                .seed = o.seed };
    b.forward = SALI_TAKE(&memory, double, rows);
    b.reverse = SALI_TAKE(&memory, double, rows);
    b.status = SALI_TAKE(&memory, sal_status, b.shards);
    b.errors = SALI_TAKE(&memory, sal_error, b.shards);
    double *difference = SALI_TAKE(&memory, double, rows);
    status = sali_memory_status(&memory, err);
    status = status ? status
                    : sali_sampler_choose(trajectory->sampler, view, 0, &b.sampler, &settings, err);
    status = status ? status : sali_check_field_sampler(b.sampler, "", err);
    status = status ? status : run_levels(&b, &o, &stopped, err);
    if (status == SAL_OK) {
        *out = (sal_bound){ NAN, NAN, NAN, NAN, NAN, NAN, stopped };
        if (!stopped) {
            conclude_bounds(&b, difference, out);
        }
    }
    sali_memory_free(&memory);
    sal_model_destroy(view);
    return status;
}
