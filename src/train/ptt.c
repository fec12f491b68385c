#include "train/ptt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/shard.h"
#include "models/base.h"
#include "stats/log_mean_exp.h"
#include "train/data.h"
#include "train/likelihood.h"
#include "train/trajectory_file.h"

/* Swap rates: below FREEZE a level is frozen, below REJECT the update is taken back. Levels on the
 * way to the first model are AIM apart. */
#define FREEZE 0.3
#define REJECT 0.1
#define AIM 0.5
#define MOST_REJECTIONS 30
/* The same for the share of the reservoir that counts, which is looked at every so many updates. */
#define FREEZE_SHARE 0.3
#define REJECT_SHARE 0.05
#define LOOK 10
#define LOOK_AT 10 /* members a chain */
/* Sweeps before a level is frozen: this many autocorrelation times of the chains' side, in
 * portions, and then so many between two rounds of states that are collected. */
#define RELAX_TIMES 20
#define PORTION 10
/* Chains that need more forget too slowly: the model is too far from the last level. */
#define MOST_SWEEPS 480
/* Updates from level to level that the learning rate is steered to, below what was asked for: with
 * these a level costs about as much as the updates, and the noise of the updates, which lengthens
 * the path, is small. The factors are for a level, and for so many updates without one. */
#define UPDATES 50
#define LEAST_FACTOR 0.6
#define MOST_FACTOR 1.5
#define FASTER 1.5
/* Members of the reservoir that a chain meets in a sweep while a level is frozen: f is known at all
 * of them then, so a meeting costs a comparison. */
#define MEETINGS 10
#define APART 2
/* Steps without swaps that the relaxation check makes, in visits, and standard errors. */
#define CHECK_VISITS 10
#define CHECK_ERRORS 3.0
/* log of the probability of distinct rows of data, above which a mode was lost. */
#define MASS_LIMIT 10.0

/* The streams of numbers of all chains together: meeting number k of a sweep has stream k, and ALL
 * - k for its choice of members. */
#define ALL UINT32_MAX
#define START_STREAM MEETINGS
#define BACK_STREAM (MEETINGS + 1)

/* ---- values */

static void mix(const sal_trainer *t, double beta, int64_t n, const int32_t *codes, double *f)
{
    const sal_space *space = t->model->space;
    for (int64_t c = 0; beta < 1 && c < n; c++) {
        double base =
            sali_base_value(space, t->ptt->path->log_base, codes + c * space->n_variables);
        f[c] = beta > 0 ? beta * f[c] + (1 - beta) * base : base;
    }
}

static const sali_path_level *last_level(const sali_ptt *p)
{
    return &p->path->levels[p->path->n - 1];
}

/* f of the present model. */
static void value_now(const sal_trainer *t, int64_t n, const int32_t *codes, double *f)
{
    sali_train_values(t, t->workspaces, n, codes, f);
    mix(t, t->ptt->beta, n, codes, f);
}

static void value_last(const sal_trainer *t, int64_t n, const int32_t *codes, double *f)
{
    const double beta = last_level(t->ptt)->info.beta;
    if (beta > 0) {
        sali_train_values(t, t->ptt->last_ws, n, codes, f);
    }
    mix(t, beta, n, codes, f);
}

/* ---- making and taking apart */

static bool allocate(sali_ptt *p, int64_t V)
{
    const int64_t n = p->n, M = p->M, most = n > M ? n : M;
    p->stored = SALI_NEW_ARRAY(int32_t, M * V);
    p->fresh = SALI_NEW_ARRAY(int32_t, most * V);
    p->stored_f = SALI_NEW_ARRAY(double, M);
    p->fresh_f = SALI_NEW_ARRAY(double, most);
    p->stored_now = SALI_NEW_ARRAY(double, M);
    p->a = SALI_NEW_ARRAY(double, most);
    p->b = SALI_NEW_ARRAY(double, most);
    p->sorted = SALI_NEW_ARRAY(double, most);
    p->below = SALI_NEW_ARRAY(double, most + 1);
    p->pick = SALI_NEW_ARRAY(uint32_t, n);
    p->work = SALI_NEW_ARRAY(uint32_t, most);
    p->f_now = SALI_NEW_ARRAY(double, n);
    p->f_last = SALI_NEW_ARRAY(double, n);
    p->f_pick = SALI_NEW_ARRAY(double, n);
    p->f_old = SALI_NEW_ARRAY(double, n);
    p->weight = SALI_NEW_ARRAY(double, n);
    p->side = SALI_NEW_ARRAY(int8_t, n * MOST_SWEEPS);
    return p->stored && p->fresh && p->stored_f && p->fresh_f && p->stored_now && p->a && p->b &&
           p->sorted && p->below && p->pick && p->work && p->f_now && p->f_last && p->f_pick &&
           p->f_old && p->weight && p->side;
}

static sal_status open_last(const sal_trainer *t, sali_ptt *p, sal_error *err)
{
    p->last_ws = SALI_NEW_ARRAY(sali_workspace *, t->n_shards);
    sal_status status =
        p->last_ws ? sali_params_create(t->tape->program, &p->last, err) : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < t->n_shards; k++) {
        status = sali_workspace_create(t->tape->program, p->last, t->shards[k].n, 0, &p->last_ws[k],
                                       err);
    }
    return status;
}

static sal_status make_path(const sal_trainer *t, sali_ptt *p, sal_error *err)
{
    const sal_space *space = t->model->space;
    double *log_base = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = log_base ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sal_base_fit(space, t->data, log_base, err);
    if (status == SAL_OK) {
        p->path = sali_trajectory_create(t->optimiser.n, space->n_states, log_base,
                                         t->options.sampler, t->options.steps);
        status = p->path ? SAL_OK : sali_fail_memory(err);
    }
    sali_free(log_base);
    return status;
}

sal_status sali_ptt_create(sal_trainer *t, sali_ptt **out, sal_error *err)
{
    sali_ptt *p = SALI_NEW(sali_ptt);
    if (!p) {
        return sali_fail_memory(err);
    }
    p->n = t->options.batch;
    p->M = t->options.reservoir;
    p->beta = 1;
    sal_status status = allocate(p, t->model->space->n_variables) ? SAL_OK : sali_fail_memory(err);
    status = status ? status : open_last(t, p, err);
    status = status ? status : make_path(t, p, err);
    if (status != SAL_OK) {
        sali_ptt_destroy(t, p);
        return status;
    }
    *out = p;
    return SAL_OK;
}

static void free_visitors(const sal_trainer *t, sali_ptt *p)
{
    for (int64_t k = 0; p->visitors && k < t->n_shards; k++) {
        sali_visitor_free(&p->visitors[k]);
    }
    sali_free(p->visitors);
    p->visitors = NULL;
}

void sali_ptt_destroy(const sal_trainer *t, sali_ptt *p)
{
    if (!p) {
        return;
    }
    free_visitors(t, p);
    for (int64_t k = 0; p->last_ws && k < t->n_shards; k++) {
        sali_workspace_destroy(p->last_ws[k]);
    }
    sali_free(p->last_ws);
    sali_params_destroy(p->last);
    sal_trajectory_destroy(p->path);
    sali_free(p->stored);
    sali_free(p->fresh);
    sali_free(p->stored_f);
    sali_free(p->fresh_f);
    sali_free(p->stored_now);
    sali_free(p->a);
    sali_free(p->b);
    sali_free(p->sorted);
    sali_free(p->below);
    sali_free(p->pick);
    sali_free(p->work);
    sali_free(p->f_now);
    sali_free(p->f_last);
    sali_free(p->f_pick);
    sali_free(p->f_old);
    sali_free(p->weight);
    sali_free(p->side);
    sali_free(p);
}

void sali_ptt_items(sali_ptt *p, int64_t V, sali_state_item items[SALI_PTT_ITEMS])
{
    const sali_state_item own[SALI_PTT_ITEMS] = {
        [SALI_PTT_STORED] = sali_state_i32("ptt.stored", p->M * V, p->stored),
        [SALI_PTT_STORED_F] = sali_state_f64("ptt.stored_f", p->M, p->stored_f),
        [SALI_PTT_PICK] = sali_state_u32("ptt.pick", p->n, p->pick),
        [SALI_PTT_F_NOW] = sali_state_f64("ptt.f_now", p->n, p->f_now),
        [SALI_PTT_F_LAST] = sali_state_f64("ptt.f_last", p->n, p->f_last),
        [SALI_PTT_F_PICK] = sali_state_f64("ptt.f_pick", p->n, p->f_pick),
        [SALI_PTT_WEIGHT] = sali_state_f64("ptt.weight", p->n, p->weight),
        [SALI_PTT_COUNTERS] = sali_state_i64("ptt.counters", 5, &p->sweeps),
        [SALI_PTT_ACCEPTANCE] = sali_state_f64("ptt.acceptance", 1, &p->acceptance),
        [SALI_PTT_LEVELS] = sali_state_i64("ptt.levels", 1, &p->path->n),
    };
    memcpy(items, own, sizeof own);
}

sal_status sali_ptt_read_levels(const sali_ptt *p, const char *directory, int64_t n,
                                sal_trajectory **out, sal_error *err)
{
    const sal_trajectory *from = p->path;
    sal_trajectory *path = sali_trajectory_create(from->parameters, from->states, from->log_base,
                                                  from->sampler, from->steps);
    sal_status status =
        path ? sali_trajectory_read_levels(path, directory, n, err) : sali_fail_memory(err);
    if (status != SAL_OK) {
        sal_trajectory_destroy(path);
        return status;
    }
    *out = path;
    return SAL_OK;
}

void sali_ptt_resume(const sal_trainer *t)
{
    sali_ptt *p = t->ptt;
    free_visitors(t, p); /* of a way to the first model that failed */
    p->beta = 1;
    sali_params_set(p->last, last_level(p)->values);
}

/* ---- one sweep */

static sali_stream swap_stream(const sal_trainer *t, uint32_t chain)
{
    return (sali_stream){ .seed = t->options.seed,
                          .chain = chain,
                          .step = (uint64_t)t->ptt->sweeps,
                          .purpose = SALI_RNG_SWAP };
}

/* Rows `at` of codes into rows 0 .. n - 1. */
static void gather(int64_t V, int64_t n, const uint32_t *at, const int32_t *codes, int32_t *to)
{
    for (int64_t c = 0; c < n; c++) {
        memcpy(to + c * V, codes + (int64_t)at[c] * V, (size_t)V * sizeof *to);
    }
}

/* Each chain its member of the reservoir, all different. */
static void choose_members(sal_trainer *t, uint32_t meeting)
{
    sali_ptt *p = t->ptt;
    const sali_stream stream = swap_stream(t, ALL - meeting);
    sali_rng_choose(&stream, (uint32_t)p->M, (uint32_t)p->n, p->work, p->pick);
}

/* All that the coming swap needs to know. */
static void measure(sal_trainer *t)
{
    sali_ptt *p = t->ptt;
    const int64_t V = t->model->space->n_variables;
    choose_members(t, 0);
    gather(V, p->n, p->pick, p->stored, p->fresh);
    value_now(t, p->n, t->buffer.codes, p->f_now);
    value_now(t, p->n, p->fresh, p->f_pick);
    value_last(t, p->n, t->buffer.codes, p->f_last);
}

/* Each chain goes to its member of the reservoir with the probability of Metropolis and Hastings,
 * the members being draws of the last level. `side` [n] of each that does becomes +1 or -1 at
 * random (NULL: not wanted): it stays for as long as the chain remembers. */
static void swap_with(sal_trainer *t, uint32_t meeting, int8_t *side)
{
    sali_ptt *p = t->ptt;
    const int64_t V = t->model->space->n_variables;
    const sali_stream stream = swap_stream(t, meeting);
    for (int64_t c = 0; c < p->n; c++) {
        int64_t m = p->pick[c];
        double log_ratio = p->f_pick[c] + p->f_last[c] - p->f_now[c] - p->stored_f[m];
        if (log(sali_rng_uniform_at(&stream, (uint32_t)c)) < log_ratio) {
            memcpy(t->buffer.codes + c * V, p->stored + m * V, (size_t)V * sizeof *p->stored);
            p->f_last[c] = p->stored_f[m];
            p->f_now[c] = p->f_pick[c];
            if (side) {
                side[c] = sali_rng_uniform_at(&stream, (uint32_t)(p->n + c)) < 0.5 ? 1 : -1;
            }
        }
    }
}

void sali_ptt_swap(sal_trainer *t)
{
    swap_with(t, 0, NULL);
}

/* All meetings of a sweep, f of the present model being known at the whole reservoir. */
static void meet(sal_trainer *t, int8_t *side)
{
    sali_ptt *p = t->ptt;
    for (uint32_t meeting = 0; meeting < MEETINGS; meeting++) {
        choose_members(t, meeting);
        for (int64_t c = 0; c < p->n; c++) {
            p->f_pick[c] = p->stored_now[p->pick[c]];
        }
        swap_with(t, meeting, side);
    }
}

static void move_visitor(void *context, int64_t k)
{
    sal_trainer *t = context;
    const sali_train_shard *shard = &t->shards[k];
    sali_visitor_move(&t->ptt->visitors[k], t->options.steps, 0, t->buffer.slot + shard->first,
                      t->buffer.life + shard->first,
                      t->buffer.codes + shard->first * t->model->space->n_variables);
}

/* The steps of a visit; nothing is adapted. */
static sal_status move(sal_trainer *t, sal_error *err)
{
    if (!t->ptt->visitors) {
        return sali_train_move(t, err);
    }
    sali_shard_run(t->n_shards, t->options.threads, move_visitor, t);
    for (int64_t k = 0; k < t->n_shards; k++) {
        const sali_chains *fault = sali_visitor_fault(&t->ptt->visitors[k]);
        if (fault) {
            return sali_chains_report(fault, t->ptt->visitors[k].sampler,
                                      t->shards[k].first + fault->bad_chain, err);
        }
    }
    return SAL_OK;
}

/* Of a model that does not change. */
static sal_status sweep(sal_trainer *t, int8_t *side, sal_error *err)
{
    sali_ptt *p = t->ptt;
    meet(t, side);
    sal_status status = move(t, err);
    p->sweeps++;
    value_now(t, p->n, t->buffer.codes, p->f_now);
    value_last(t, p->n, t->buffer.codes, p->f_last);
    return status;
}

/* ---- how far the present model is from the last level */

/* The weights [n] of states of one distribution under another, whose log-weights are d [n] up to a
 * constant; they sum to 1. False: none has any. */
static bool weigh_states(int64_t n, const double *d, double *weight)
{
    double most = -INFINITY, sum = 0;
    for (int64_t m = 0; m < n; m++) {
        most = fmax(most, d[m]);
    }
    for (int64_t m = 0; m < n; m++) {
        weight[m] = most > -INFINITY ? exp(d[m] - most) : 0;
        sum += weight[m];
    }
    for (int64_t m = 0; m < n && sum > 0; m++) {
        weight[m] /= sum;
    }
    return sum > 0;
}

/* The rate of swaps between the two, from states of the first alone; NaN where there are no
 * weights. */
static double rate_by_weights(sali_ptt *p, int64_t n, const double *d, double *weight)
{
    bool any = weigh_states(n, d, weight);
    const sali_bennett_side a = { n, d, NULL, n }, b = { n, d, weight, n };
    return any ? sali_swap_acceptance(&a, &b, p->sorted, p->below) : NAN;
}

/* f of the present model less that of the last level at the first n stored states, into p->a. */
static void stored_differences(sali_ptt *p, int64_t n)
{
    for (int64_t m = 0; m < n; m++) {
        p->a[m] = p->stored_now[m] - p->stored_f[m];
    }
}

/* The sum of their squared weights under the present model: 1 over their effective number; NaN:
 * none counts. Uses p->a and p->b. */
static double squared_weights(sali_ptt *p, int64_t n)
{
    double squares = 0;
    stored_differences(p, n);
    bool any = weigh_states(n, p->a, p->b);
    for (int64_t m = 0; m < n; m++) {
        squares += p->b[m] * p->b[m];
    }
    return any ? squares : NAN;
}

/* ---- freezing */

/* The larger of the integrated and the exponential autocorrelation time, in sweeps, of the chains'
 * sides, +1 and -1 with mean 0, over T sweeps; the first by Sokal's window. */
static double side_time(const sali_ptt *p, int64_t T)
{
    double integrated = 1, exponential = 0, before = 1;
    for (int64_t lag = 1; lag < T; lag++) {
        int64_t sum = 0, pairs = p->n * (T - lag);
        for (int64_t c = 0; c < p->n; c++) {
            const int8_t *side = p->side + c * MOST_SWEEPS;
            for (int64_t s = 0; s + lag < T; s++) {
                sum += side[s] * side[s + lag];
            }
        }
        double now = (double)sum / (double)pairs;
        if (exponential == 0 && now < exp(-1)) { /* between two lags */
            exponential = (double)lag - (exp(-1) - now) / (before - now);
        }
        before = now;
        integrated += 2 * now;
        if ((double)lag >= 5 * fmax(integrated, 1)) {
            break;
        }
    }
    return fmax(fmax(integrated, exponential > 0 ? exponential : (double)T), 1);
}

/* Sweeps until the chains have forgotten where they were, *tau being the time that takes; false in
 * *relaxed if that was not to be had. */
static sal_status relax(sal_trainer *t, double *tau, bool *relaxed, sal_error *err)
{
    sali_ptt *p = t->ptt;
    int8_t *now = (int8_t *)p->below; /* [n] bytes are there */
    int64_t T = 0;
    memset(now, 1, (size_t)p->n);
    sal_status status = SAL_OK;
    do {
        for (int k = 0; status == SAL_OK && k < PORTION; k++, T++) {
            status = sweep(t, now, err);
            for (int64_t c = 0; c < p->n; c++) {
                p->side[c * MOST_SWEEPS + T] = now[c];
            }
        }
        *tau = side_time(p, T);
    } while (status == SAL_OK && (double)T < RELAX_TIMES * *tau && T + PORTION <= MOST_SWEEPS);
    *relaxed = (double)T >= RELAX_TIMES * *tau;
    return status;
}

/* The new reservoir into `fresh`, f of the present model there into `fresh_f`. */
static sal_status collect(sal_trainer *t, int64_t apart, sal_error *err)
{
    sali_ptt *p = t->ptt;
    const int64_t V = t->model->space->n_variables, rounds = p->M / p->n;
    sal_status status = SAL_OK;
    for (int64_t r = 0; status == SAL_OK && r < rounds; r++) {
        for (int64_t s = 0; status == SAL_OK && s < apart; s++) {
            status = sweep(t, NULL, err);
        }
        memcpy(p->fresh + r * p->n * V, t->buffer.codes, (size_t)(p->n * V) * sizeof *p->fresh);
        memcpy(p->fresh_f + r * p->n, p->f_now, (size_t)p->n * sizeof *p->fresh_f);
    }
    return status;
}

/* log Z of the present model less that of the last level, from the states of both. */
static sali_bennett ratio_of_fresh(sal_trainer *t)
{
    sali_ptt *p = t->ptt;
    stored_differences(p, p->M);
    value_last(t, p->M, p->fresh, p->b);
    for (int64_t m = 0; m < p->M; m++) {
        p->b[m] = p->fresh_f[m] - p->b[m];
    }
    const sali_bennett_side a = { p->M, p->a, NULL, p->n }, b = { p->M, p->b, NULL, p->n };
    return sali_bennett_ratio(&a, &b);
}

/* A further run without swaps: by how many standard errors it moves mean f. Equilibrium is kept by
 * the sampler alone, so states that were at equilibrium stay there. */
static sal_status check_relaxed(sal_trainer *t, double *off, sal_error *err)
{
    sali_ptt *p = t->ptt;
    double mean = 0, squares = 0;
    sal_status status = SAL_OK;
    value_now(t, p->n, t->buffer.codes, p->f_old);
    for (int k = 0; status == SAL_OK && k < CHECK_VISITS; k++) {
        status = move(t, err);
    }
    value_now(t, p->n, t->buffer.codes, p->f_now);
    for (int64_t c = 0; c < p->n; c++) {
        double d = p->f_now[c] - p->f_old[c], from = d - mean;
        mean += from / (double)(c + 1);
        squares += from * (d - mean);
    }
    double error = sqrt(squares / (double)(p->n - 1) / (double)p->n);
    *off = error > 0 ? mean / error : 0;
    return status;
}

static void even_weights(sali_ptt *p)
{
    for (int64_t c = 0; c < p->n; c++) {
        p->weight[c] = 1 / (double)p->n;
    }
}

static sal_status push(sal_trainer *t, const sal_trajectory_level *info, sal_error *err)
{
    sali_ptt *p = t->ptt;
    double step_size = p->visitors ? 0 : sali_train_step_size(t);
    double *values = sali_memdup(t->values, t->optimiser.n, sizeof *values);
    if (values) {
        sali_round_values(t->model->dtype, t->optimiser.n, values);
    }
    bool ok = values && sali_trajectory_push(p->path, info, step_size, values);
    sali_free(values);
    if (!ok) {
        return sali_fail_memory(err);
    }
    if (p->path->n > SALI_MOST_LEVELS) {
        return sali_fail(err, SAL_ERR_MODEL,
                         "training needs more than %d levels: the model changes too fast for "
                         "states to follow; try a smaller learning rate or more steps",
                         SALI_MOST_LEVELS);
    }
    sali_params_set(p->last, last_level(p)->values);
    return SAL_OK;
}

/* The standard error of log Z that the states of a level inherit from those of the level before:
 * where modes do not mix they are those states, drawn by their weights. */
static double inherited(sali_ptt *p)
{
    double squares = squared_weights(p, p->M);
    return isnan(squares) ? NAN : sqrt(fmax(squares - 1 / (double)p->M, 0));
}

/* The present model becomes the last level, whose f `stored_now` holds at the stored states. False
 * in *frozen: it is too far from the last one. */
static sal_status freeze(sal_trainer *t, bool *frozen, sal_error *err)
{
    sali_ptt *p = t->ptt;
    const int64_t V = t->model->space->n_variables;
    double tau = 1;
    sal_trajectory_level info = { .iteration = t->iteration,
                                  .beta = p->beta,
                                  .acceptance = p->acceptance };
    value_now(t, p->n, t->buffer.codes, p->f_now);
    value_last(t, p->n, t->buffer.codes, p->f_last);
    int64_t before = p->sweeps;
    sal_status status = relax(t, &tau, frozen, err);
    if (status != SAL_OK || !(*frozen || p->insists)) {
        return status;
    }
    p->slow += !*frozen;
    *frozen = true;
    status = collect(t, (int64_t)ceil(APART * fmin(tau, MOST_SWEEPS / RELAX_TIMES)), err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_bennett ratio = ratio_of_fresh(t);
    *frozen = isfinite(ratio.log_ratio) && isfinite(ratio.standard_error);
    if (!*frozen) {
        return SAL_OK;
    }
    const sali_path_level *last = last_level(p);
    info.log_z = last->info.log_z + ratio.log_ratio;
    info.log_z_error = hypot(hypot(last->info.log_z_error, ratio.standard_error), inherited(p));
    info.sweeps = p->sweeps - before;
    memcpy(p->stored, p->fresh, (size_t)(p->M * V) * sizeof *p->stored);
    memcpy(p->stored_f, p->fresh_f, (size_t)p->M * sizeof *p->stored_f);
    status = check_relaxed(t, &info.relaxation, err);
    p->disturbed += fabs(info.relaxation) > CHECK_ERRORS;
    status = status ? status : push(t, &info, err);
    if (status == SAL_OK) {
        even_weights(p);
        p->sweeps++;
        measure(t);
    }
    return status;
}

/* ---- the way to the first model */

/* The swap rate between the last level and the model at beta, from the stored states; `p->b` holds
 * f - log p_0 there. */
static double rate_at(sali_ptt *p, double beta, double *weight)
{
    const double step = beta - last_level(p)->info.beta;
    for (int64_t m = 0; m < p->M; m++) {
        p->a[m] = step * p->b[m];
    }
    return rate_by_weights(p, p->M, p->a, weight);
}

/* The next beta: 1 if that is near enough. `p->fresh_f` receives the weights of stored states. */
static sal_status next_beta(sal_trainer *t, double *beta, sal_error *err)
{
    sali_ptt *p = t->ptt;
    double low = last_level(p)->info.beta, high = 1;
    p->beta = 1;
    value_now(t, p->M, p->stored, p->b);
    for (int64_t m = 0; m < p->M; m++) {
        p->b[m] -= sali_base_value(t->model->space, p->path->log_base,
                                   p->stored + m * t->model->space->n_variables);
        if (isnan(p->b[m]) || p->b[m] == INFINITY) {
            return sali_fail(err, SAL_ERR_MODEL,
                             "train: f of the starting model is not finite at a state drawn from "
                             "independent variables");
        }
    }
    *beta = 1;
    p->acceptance = rate_at(p, 1, p->fresh_f);
    if (isnan(p->acceptance)) {
        return sali_fail(err, SAL_ERR_MODEL,
                         "train: f is -inf at all %lld states drawn from independent variables: "
                         "the path to the model cannot begin there; train by pcd",
                         (long long)p->M);
    }
    for (int k = 0; p->acceptance < AIM && k < 40; k++) {
        double middle = 0.5 * (low + high), rate = rate_at(p, middle, p->fresh_f);
        *(rate < AIM ? &high : &low) = middle;
        *beta = high;
    }
    if (*beta < 1) {
        p->acceptance = rate_at(p, *beta, p->fresh_f);
    }
    return SAL_OK;
}

/* Chains at stored states, drawn by their weights in p->fresh_f. */
static void start_chains(sal_trainer *t)
{
    sali_ptt *p = t->ptt;
    const int64_t V = t->model->space->n_variables;
    const sali_stream stream = swap_stream(t, START_STREAM);
    double below = 0, shift = sali_rng_uniform_at(&stream, 0);
    int64_t m = 0;
    for (int64_t c = 0; c < p->n; c++) {
        double place = ((double)c + shift) / (double)p->n;
        while (m + 1 < p->M && below + p->fresh_f[m] < place) {
            below += p->fresh_f[m++];
        }
        memcpy(t->buffer.codes + c * V, p->stored + m * V, (size_t)V * sizeof *p->stored);
        t->buffer.slot[c] = (uint32_t)c;
    }
}

static void go_visitors(sal_trainer *t)
{
    for (int64_t k = 0; k < t->n_shards; k++) {
        sali_visitor_go(&t->ptt->visitors[k], t->values, t->ptt->beta);
    }
}

static sal_status open_visitors(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->ptt;
    if (p->visitors) {
        return SAL_OK;
    }
    p->visitors = SALI_NEW_ARRAY(sali_visitor, t->n_shards);
    sal_status status = p->visitors ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < t->n_shards; k++) {
        status = sali_visitor_create(&p->visitors[k], t->model, p->path->log_base, t->sampler,
                                     &t->settings, true, t->shards[k].n, t->options.seed, err);
    }
    return status;
}

static void draw_independent(sal_trainer *t, double *uniform)
{
    sali_ptt *p = t->ptt;
    const sal_space *space = t->model->space;
    for (int64_t m = 0; m < p->M; m++) {
        const sali_stream stream = { .seed = t->options.seed,
                                     .chain = (uint32_t)m,
                                     .purpose = SALI_RNG_INIT };
        sali_base_draw(space, p->path->log_base, &stream, uniform,
                       p->stored + m * space->n_variables);
    }
    value_last(t, p->M, p->stored, p->stored_f);
}

/* One level up the bridge; half as far where chains forget too slowly. */
static sal_status climb(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->ptt;
    const double from = last_level(p)->info.beta;
    bool frozen = false;
    double beta;
    sal_status status = next_beta(t, &beta, err);
    for (int k = 0; status == SAL_OK && !frozen && k < MOST_REJECTIONS; k++) {
        p->acceptance = rate_at(p, beta, p->fresh_f);
        status = beta < 1 ? open_visitors(t, err) : SAL_OK;
        if (beta == 1) {
            free_visitors(t, p);
        }
        if (status == SAL_OK) {
            p->beta = beta;
            start_chains(t);
            if (p->visitors) {
                go_visitors(t);
            }
            value_now(t, p->M, p->stored, p->stored_now);
            status = freeze(t, &frozen, err);
        }
        beta = from + (beta - from) / 2;
    }
    return status || frozen ? status
                            : sali_fail(err, SAL_ERR_MODEL,
                                        "train: states do not mix on the way from independent "
                                        "variables to the starting model, at beta %g; try more "
                                        "steps, or a start with smaller parameters",
                                        from);
}

sal_status sali_ptt_begin(sal_trainer *t, sal_error *err)
{
    double *uniform = SALI_NEW_ARRAY(double, t->model->space->n_variables);
    sal_status status = uniform ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        draw_independent(t, uniform);
    }
    while (status == SAL_OK && last_level(t->ptt)->info.beta < 1) {
        status = climb(t, err);
    }
    sali_free(uniform);
    return status;
}

/* ---- the levels of another training once more */

/* The present model is that of a level, or with k = path->n the one whose parameters are `top`. */
static sal_status visit(sal_trainer *t, const sal_trajectory *path, int64_t k, const double *top,
                        sal_error *err)
{
    sali_ptt *p = t->ptt;
    const sali_path_level *level = k < path->n ? &path->levels[k] : NULL;
    const double step_size = level ? level->step_size : path->step_size;
    sal_status status = SAL_OK;
    bool frozen;
    memcpy(t->values, level ? level->values : top, (size_t)t->optimiser.n * sizeof *top);
    sali_params_set(t->tape->params, t->values);
    if (t->follows && step_size > 0) {
        t->step_size.log_step[0] = log(step_size);
    }
    p->beta = level ? level->info.beta : 1;
    if (p->beta < 1) {
        status = open_visitors(t, err);
    } else {
        free_visitors(t, p);
    }
    if (status != SAL_OK) {
        return status;
    }
    if (p->visitors) {
        go_visitors(t);
    }
    value_now(t, p->M, p->stored, p->stored_now);
    stored_differences(p, p->M);
    p->acceptance = rate_by_weights(p, p->M, p->a, p->fresh_f);
    if (isnan(p->acceptance)) {
        return sali_fail(err, SAL_ERR_MODEL,
                         "level %lld of the ladder forbids all states of the level before",
                         (long long)k);
    }
    start_chains(t);
    return freeze(t, &frozen, err);
}

sal_status sali_ptt_replay(sal_trainer *t, const sal_trajectory *path,
                           int (*progress)(int64_t done, int64_t total, void *data), void *data,
                           bool *stopped, sal_error *err)
{
    sali_ptt *p = t->ptt;
    double *uniform = SALI_NEW_ARRAY(double, t->model->space->n_variables);
    double *top = sali_memdup(t->values, t->optimiser.n, sizeof *top);
    sal_status status = uniform && top ? SAL_OK : sali_fail_memory(err);
    *stopped = false;
    p->insists = true;
    if (status == SAL_OK) {
        memcpy(p->path->log_base, path->log_base, (size_t)path->states * sizeof *path->log_base);
        draw_independent(t, uniform);
    }
    for (int64_t k = 1; status == SAL_OK && !*stopped && k <= path->n; k++) {
        status = visit(t, path, k, top, err);
        *stopped = status == SAL_OK && progress && progress(k, path->n, data) != 0;
    }
    sali_free(uniform);
    sali_free(top);
    return status;
}

/* ---- following the updates */

/* Chains were drawn before the update: their weights after it. */
static void weigh(sali_ptt *p)
{
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < p->n; c++) {
        p->weight[c] = p->f_now[c] - p->f_old[c];
        most = fmax(most, p->weight[c]);
    }
    for (int64_t c = 0; c < p->n; c++) {
        p->weight[c] = exp(p->weight[c] - most);
        sum += p->weight[c];
    }
    for (int64_t c = 0; c < p->n; c++) {
        p->weight[c] /= sum;
    }
}

/* From the chains and the members that they meet; and from these members alone, which know of modes
 * that the chains have not reached yet. The smaller one. */
static double estimate_acceptance(sali_ptt *p)
{
    for (int64_t c = 0; c < p->n; c++) {
        p->a[c] = p->f_pick[c] - p->stored_f[p->pick[c]];
        p->b[c] = p->f_now[c] - p->f_last[c];
    }
    const sali_bennett_side a = { p->n, p->a, NULL, p->n }, b = { p->n, p->b, p->weight, p->n };
    double met = sali_swap_acceptance(&a, &b, p->sorted, p->below);
    double alone = rate_by_weights(p, p->n, p->a, p->fresh_f);
    return isnan(met) || isnan(alone) ? 0 : fmin(met, alone);
}

/* The share of the reservoir that counts under the present model: its effective size, from the
 * weights, over its size. Few members that weigh much are a mode that grows, which the rates of
 * swaps hardly see. */
static double share_that_counts(sal_trainer *t)
{
    sali_ptt *p = t->ptt;
    const int64_t some = LOOK_AT * p->n, n = some < p->M ? some : p->M;
    value_now(t, n, p->stored, p->stored_now);
    double squares = squared_weights(p, n);
    return isnan(squares) ? 0 : 1 / (squares * (double)n);
}

/* Back to the last level with half the learning rate. */
static sal_status take_back(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->ptt;
    const int64_t V = t->model->space->n_variables;
    const size_t bytes = (size_t)t->optimiser.n * sizeof *t->values;
    if (++p->rejections > MOST_REJECTIONS) {
        return sali_fail(err, SAL_ERR_MODEL,
                         "training diverged at iteration %lld: %d updates in a row took the model "
                         "too far from its chains, the last with learning rate %g; the parameters "
                         "are those of the last report, or of the best one by held-out rows",
                         (long long)t->iteration, MOST_REJECTIONS, t->optimiser.learning_rate);
    }
    memcpy(t->values, last_level(p)->values, bytes);
    sali_params_set(t->tape->params, t->values);
    if (t->averages) {
        memcpy(t->averages, t->values, bytes);
    }
    sali_optimiser_forget(&t->optimiser);
    t->optimiser.learning_rate /= 2;
    for (int64_t k = 0; k < t->n_shards; k++) {
        t->chains[k]->bad_chain = -1;
    }
    const sali_stream stream = swap_stream(t, BACK_STREAM);
    sali_rng_choose(&stream, (uint32_t)p->M, (uint32_t)p->n, p->work, p->pick);
    gather(V, p->n, p->pick, p->stored, t->buffer.codes);
    even_weights(p);
    p->sweeps++;
    measure(t);
    p->acceptance = 1;
    return SAL_OK;
}

/* The learning rate times a factor, at most the one that was asked for. */
static void steer(sal_trainer *t, double factor)
{
    t->optimiser.learning_rate =
        fmin(t->options.learning_rate, t->optimiser.learning_rate * factor);
}

sal_status sali_ptt_follow(sal_trainer *t, bool good, sal_error *err)
{
    sali_ptt *p = t->ptt;
    p->sweeps++;
    if (good) {
        for (int64_t k = 0; k < t->n_shards; k++) {
            memcpy(p->f_old + t->shards[k].first, t->shards[k].f,
                   (size_t)t->shards[k].n * sizeof *p->f_old);
        }
        measure(t);
        weigh(p);
        p->acceptance = estimate_acceptance(p);
    }
    bool near = good && p->acceptance >= FREEZE;
    double share = 1;
    if (good && (!near || (p->held + 1) % LOOK == 0)) {
        share = share_that_counts(t);
    }
    if (near && share >= FREEZE_SHARE) {
        p->frozen = p->rejections = 0;
        if (++p->held % UPDATES == 0) {
            steer(t, FASTER);
        }
        return SAL_OK;
    }
    bool frozen = false,
         far = !good || p->frozen || !(p->acceptance >= REJECT) || share < REJECT_SHARE;
    sal_status status = SAL_OK;
    p->frozen = 1;
    if (!far) {
        value_now(t, p->M, p->stored, p->stored_now);
        status = freeze(t, &frozen, err);
    }
    if (frozen) {
        double factor = sqrt((double)p->held / UPDATES);
        steer(t, fmin(fmax(factor, LEAST_FACTOR), MOST_FACTOR));
    }
    p->held = 0;
    return status || frozen ? status : take_back(t, err);
}

/* ---- what is known by the way */

sali_bennett sali_ptt_log_z(sal_trainer *t)
{
    sali_ptt *p = t->ptt;
    const sali_path_level *last = last_level(p);
    value_now(t, p->M, p->stored, p->a);
    for (int64_t m = 0; m < p->M; m++) {
        p->a[m] -= p->stored_f[m];
    }
    for (int64_t c = 0; c < p->n; c++) {
        p->b[c] = p->f_now[c] - p->f_last[c];
    }
    const sali_bennett_side a = { p->M, p->a, NULL, p->n }, b = { p->n, p->b, p->weight, p->n };
    sali_bennett ratio = sali_bennett_ratio(&a, &b);
    return (sali_bennett){
        .log_ratio = last->info.log_z + ratio.log_ratio,
        .standard_error = hypot(last->info.log_z_error, ratio.standard_error),
    };
}

static int compare_rows(const void *a, const void *b)
{
    const int32_t *const *x = a, *const *y = b;
    return memcmp(*x + 1, *y + 1, (size_t) * *x * sizeof **x);
}

sal_status sali_ptt_check_mass(sal_trainer *t, double log_z, sal_error *err)
{
    sali_ptt *p = t->ptt;
    const int64_t V = t->model->space->n_variables, n = p->n;
    int32_t *rows = SALI_NEW_ARRAY(int32_t, n * (V + 1));
    const int32_t **order = SALI_NEW_ARRAY(const int32_t *, n);
    if (!rows || !order) {
        sali_free(rows);
        sali_free(order);
        return sali_fail_memory(err);
    }
    for (int64_t c = 0; c < n; c++) {
        order[c] = rows + c * (V + 1);
        rows[c * (V + 1)] = (int32_t)V;
        sali_train_row(t, c, rows + c * (V + 1) + 1);
    }
    qsort(order, (size_t)n, sizeof *order, compare_rows);
    int64_t distinct = 0;
    for (int64_t c = 0; c < n; c++) {
        if (c == 0 || compare_rows(&order[c - 1], &order[c]) != 0) {
            memcpy(p->fresh + distinct++ * V, order[c] + 1, (size_t)V * sizeof *p->fresh);
        }
    }
    sali_free(rows);
    sali_free(order);
    value_now(t, distinct, p->fresh, p->fresh_f);
    const double mass =
        sali_log_mean_exp(distinct, p->fresh_f).value + log((double)distinct) - log_z;
    return mass <= MASS_LIMIT
               ? SAL_OK
               : sali_fail(err, SAL_ERR_MODEL,
                           "training lost a mode: %lld different rows of data would have a "
                           "probability of exp(%.3g) together, so log Z is too small: the chains "
                           "miss states that the model holds likely; try more steps, a larger "
                           "reservoir or batch, or a smaller learning rate",
                           (long long)distinct, mass);
}

double sali_ptt_held_out(sal_trainer *t, double log_z)
{
    const sal_data *test = t->options.test;
    if (!test || test->rows == 0 || !t->test_codes) {
        return NAN;
    }
    value_now(t, test->rows, t->test_codes, t->test_f);
    return sali_likelihood_of(test, t->test_f, log_z, 0).mean;
}
