/* SPDX-License-Identifier: MIT */
/* Parallel trajectory tempering: how the reservoir of the next level is made from that of the last
 * one. */
#include "train/objectives/ptt_levels.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/base.h"
#include "train/sync.h"

/* A level keeps at least this share of the states of the level before; levels are put in between to
 * ensure that. And the shortest part of the way that is tried. */
#define LEAST_SHARE 0.4
#define SHORTEST 1e-6
#define LEAST_ALLOWED 10
/* Visits that states make to a model before it is frozen: portions of VISITS, until a portion does
 * not change mean f by more than CHECK_ERRORS standard errors, but at most MOST_VISITS. */
#define VISITS 2
#define MOST_VISITS 20
#define CHECK_ERRORS 3.0

/* ---- freezing */

void sali_ptt_free_visitors(const sal_trainer *t, sali_ptt *p)
{
    for (int64_t k = 0; p->visitors && k < t->n_shards; k++) {
        sali_visitor_free(&p->visitors[k]);
    }
    sali_free(p->visitors);
    p->visitors = NULL;
}

/* Move the chains of shard k by its visitor, K steps, in the buffer. */
static void move_visitor(void *context, int64_t k)
{
    sal_trainer *t = context;
    const sali_train_shard *shard = &t->shards[k];
    sali_visitor_move(&sali_ptt_of(t)->visitors[k], t->options.steps, 0,
                      t->buffer.slot + shard->first, t->buffer.life + shard->first,
                      t->buffer.codes + shard->first * t->model->space->n_variables);
}

/* Move all chains by the steps of a visit, without adapting anything. */
static sal_status move_chains(sal_trainer *t, sal_error *err)
{
    if (!sali_ptt_of(t)->visitors) {
        return sali_train_move(t, err);
    }
    sal_status status = SAL_OK;
    sali_train_shards(t, NULL, move_visitor, t);
    for (int64_t k = t->ranks.first; status == SAL_OK && k < t->ranks.end; k++) {
        const sali_chains *fault = sali_visitor_fault(&sali_ptt_of(t)->visitors[k]);
        if (fault) {
            status = sali_chains_report(fault, sali_ptt_of(t)->visitors[k].at[0].sampler,
                                        t->shards[k].first + fault->bad_chain, err);
        }
    }
    sali_train_sync_buffer(t);
    return sali_train_sync_status(t, status, err);
}

/* Draw M members of the reservoir, in their order, by their weights under the present model, p->b:
 * states into `fresh`, f into `fresh_f`. Each member comes M times its weight, rounded up or down,
 * so that the share of a mode changes by nothing but its weight. Independent draws would add noise
 * at every level, where nothing but the reservoir carries a mode on. Descendants of one member stay
 * side by side, so R-hat of verdicts can compare stretches of the reservoir. */
static void resample_reservoir(sal_trainer *t)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables;
    const sali_stream stream = sali_ptt_stream(t, SALI_PTT_RESAMPLE);
    const double shift = sali_rng_uniform_at(&stream, 0);
    double below = 0;
    int64_t m = 0, last = p->M - 1;
    while (p->b[last] == 0) {
        last--;
    }
    for (int64_t k = 0; k < p->M; k++) {
        double place = ((double)k + shift) / (double)p->M;
        while (m < last && below + p->b[m] < place) {
            below += p->b[m++];
        }
        memcpy(p->fresh + k * V, p->stored + m * V, (size_t)V * sizeof *p->fresh);
        p->fresh_family[k] = p->family[m];
        p->fresh_f[k] = p->stored_now[m];
    }
}

/* Move all of `fresh` by VISITS visits to the present model, in rounds of as many states as there
 * are chains. */
static sal_status move_fresh(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables, row = p->n * V;
    sal_status status = SAL_OK;
    for (int64_t r = 0; status == SAL_OK && r < p->M / p->n; r++) {
        memcpy(t->buffer.codes, p->fresh + r * row, (size_t)row * sizeof *p->fresh);
        for (int k = 0; status == SAL_OK && k < VISITS; k++) {
            status = move_chains(t, err);
        }
        memcpy(p->fresh + r * row, t->buffer.codes, (size_t)row * sizeof *p->fresh);
    }
    return status;
}

/* The change of mean f from `before` to `after` [M], in standard errors. At equilibrium it is 0 on
 * average. */
static double change_of_mean(const sali_ptt *p, const double *before, const double *after)
{
    const int64_t groups = p->M < SALI_PTT_FAMILIES ? p->M : SALI_PTT_FAMILIES;
    double mean = 0, squares = 0;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t first = g * p->M / groups, end = (g + 1) * p->M / groups;
        double d = 0;
        for (int64_t m = first; m < end; m++) {
            d += (after[m] - before[m]) / (double)(end - first);
        }
        const double from = d - mean;
        mean += from / (double)(g + 1);
        squares += from * (d - mean);
    }
    double error = sqrt(squares / (double)(groups - 1) / (double)groups);
    return error > 0 ? mean / error : 0;
}

/* Move `fresh` until further visits do not change mean f. *off receives the last change in standard
 * errors, *visits the visits made. */
static sal_status relax_fresh(sal_trainer *t, double *off, int64_t *visits, sal_error *err)
{
    sali_ptt *p = t->own;
    *visits = 0;
    do {
        sal_status status = move_fresh(t, err);
        if (status != SAL_OK) {
            return status;
        }
        *visits += VISITS;
        sali_ptt_value_now(t, p->M, p->fresh, p->b);
        *off = change_of_mean(p, p->fresh_f, p->b);
        memcpy(p->fresh_f, p->b, (size_t)p->M * sizeof *p->b);
    } while (fabs(*off) > CHECK_ERRORS && *visits < MOST_VISITS);
    return SAL_OK;
}

/* log Z of the present model minus log Z of the last level, from the states of both; NaN: no state
 * of one is allowed by the other. States descend from states of level 0, and what a family of them
 * adds to the error of log Z at one level it adds again at the next if nothing mixes; `influence`
 * receives the sums so far. */
static double ratio_of_fresh(sal_trainer *t, double influence[SALI_PTT_FAMILIES])
{
    sali_ptt *p = t->own;
    const sali_bennett_side a = { p->M, p->a, NULL }, b = { p->M, p->b, NULL };
    sali_ptt_value_last(t, p->M, p->fresh, p->b);
    for (int64_t m = 0; m < p->M; m++) {
        p->b[m] = p->fresh_f[m] - p->b[m];
    }
    const double ratio = sali_bennett_ratio(&a, &b);
    memcpy(influence, p->influence, SALI_PTT_FAMILIES * sizeof *influence);
    sali_bennett_influence(&a, p->family, influence, &b, p->fresh_family, influence, ratio);
    return ratio;
}

/* Append the present model to the path, its parameters rounded to its type. SAL_ERR_MODEL: too many
 * levels. */
static sal_status push_level(sal_trainer *t, const sal_trajectory_level *info, sal_error *err)
{
    sali_ptt *p = t->own;
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
    sali_params_set(p->last, sali_ptt_last(p)->values);
    return SAL_OK;
}

/* Make the present model, at which `stand_between` put the trainer, the last level: resample the
 * reservoir, move it to equilibrium, and estimate log Z. False in *frozen: no state of one of the
 * two models is allowed by the other. */
static sal_status freeze_level(sal_trainer *t, bool *frozen, sal_error *err)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables;
    sal_trajectory_level info = { .iteration = t->iteration,
                                  .beta = p->beta,
                                  .acceptance = sali_ptt_rate(p, p->M, p->a, p->b) };
    double influence[SALI_PTT_FAMILIES];
    resample_reservoir(t);
    sal_status status = relax_fresh(t, &info.relaxation, &info.visits, err);
    if (status != SAL_OK) {
        return status;
    }
    info.log_z = sali_ptt_last(p)->info.log_z + ratio_of_fresh(t, influence);
    info.log_z_error = sqrt(sali_bennett_squared_error(SALI_PTT_FAMILIES, influence));
    *frozen = isfinite(info.log_z) && isfinite(info.log_z_error);
    if (!*frozen) {
        return SAL_OK;
    }
    memcpy(p->influence, influence, sizeof influence);
    memcpy(p->family, p->fresh_family, (size_t)p->M * sizeof *p->family);
    memcpy(p->stored, p->fresh, (size_t)(p->M * V) * sizeof *p->stored);
    memcpy(p->stored_f, p->fresh_f, (size_t)p->M * sizeof *p->stored_f);
    p->disturbed += fabs(info.relaxation) > CHECK_ERRORS;
    p->sweeps++;
    return sali_train_sync_status(t, push_level(t, &info, err), err);
}

/* ---- from the last level to another model */

static void go_visitors(sal_trainer *t)
{
    for (int64_t k = t->ranks.first; k < t->ranks.end; k++) {
        sali_visitor_go(&sali_ptt_of(t)->visitors[k], t->values, sali_ptt_of(t)->beta);
    }
}

/* Make a visitor for each shard of this rank, if there are none. */
static sal_status open_visitors(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->own;
    if (p->visitors) {
        return SAL_OK;
    }
    p->visitors = SALI_NEW_ARRAY(sali_visitor, t->n_shards);
    sal_status status = p->visitors ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = t->ranks.first; status == SAL_OK && k < t->ranks.end; k++) {
        status = sali_visitor_create(&p->visitors[k], t->model, p->path->log_base, t->sampler,
                                     &t->settings, true, t->shards[k].n, t->options.seed, err);
    }
    return status;
}

/* Set the present model to the point that is `part` of the way from the last level to parameters
 * `to` at `beta`. p->b receives the weights of the reservoir under this model, *share the share of
 * the reservoir that counts. */
static sal_status stand_between(sal_trainer *t, const double *to, double beta, double part,
                                double *share, sal_error *err)
{
    sali_ptt *p = t->own;
    const sali_path_level *last = sali_ptt_last(p);
    const double *from = last->info.beta > 0 ? last->values : to;
    for (int64_t i = 0; i < t->optimiser.n; i++) {
        t->values[i] = part < 1 ? from[i] + part * (to[i] - from[i]) : to[i];
    }
    p->beta = part < 1 ? last->info.beta + part * (beta - last->info.beta) : beta;
    sali_params_set(t->tape->params, t->values);
    sal_status status = p->beta < 1 ? open_visitors(t, err) : SAL_OK;
    status = sali_train_sync_status(t, status, err);
    if (status == SAL_OK && p->beta < 1) {
        go_visitors(t);
    } else {
        sali_ptt_free_visitors(t, p);
    }
    if (status == SAL_OK) {
        sali_ptt_compare(t);
        *share = sali_ptt_weights(p->M, p->a, p->b);
    }
    return status;
}

sal_status sali_ptt_travel(sal_trainer *t, double beta, bool *arrived, sal_error *err)
{
    double *to = sali_memdup(t->values, t->optimiser.n, sizeof *to), part = 1, share = 0;
    sal_status status = sali_train_sync_status(t, to ? SAL_OK : sali_fail_memory(err), err);
    bool frozen = true;
    *arrived = false;
    while (status == SAL_OK && frozen && !*arrived) {
        status = stand_between(t, to, beta, part, &share, err);
        if (status == SAL_OK && share < LEAST_SHARE && part > SHORTEST) {
            part /= 2;
        } else if (status == SAL_OK) {
            frozen = share > 0;
            status = frozen ? freeze_level(t, &frozen, err) : SAL_OK;
            *arrived = status == SAL_OK && frozen && part == 1;
            part = fmin(1, part < 1 ? 2 * part / (1 - part) : 1);
        }
    }
    if (*arrived) {
        sali_ptt_take_chains(t);
    }
    sali_free(to);
    return status;
}

/* ---- the way to the first model */

/* Fill the reservoir with draws of the independent variables, in families of neighbours. */
static sal_status draw_independent(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->own;
    double *uniform = SALI_NEW_ARRAY(double, t->model->space->n_variables);
    const sal_status status =
        sali_train_sync_status(t, uniform ? SAL_OK : sali_fail_memory(err), err);
    if (status != SAL_OK) {
        sali_free(uniform);
        return status;
    }
    const sal_space *space = t->model->space;
    for (int64_t m = 0; m < p->M; m++) {
        const sali_stream stream = { .seed = t->options.seed,
                                     .chain = (uint32_t)m,
                                     .purpose = SALI_RNG_INIT };
        sali_base_draw(space, p->path->log_base, &stream, uniform,
                       p->stored + m * space->n_variables);
        p->family[m] = (uint32_t)(m * SALI_PTT_FAMILIES / p->M);
    }
    sali_ptt_value_last(t, p->M, p->stored, p->stored_f);
    sali_free(uniform);
    return SAL_OK;
}

/* SAL_ERR_MODEL if f of the starting model is NaN or +inf at a state of independent variables, or
 * -inf at nearly all of them. */
static sal_status check_start(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->own;
    int64_t allowed = 0;
    p->beta = 1;
    sali_ptt_value_now(t, p->M, p->stored, p->stored_now);
    for (int64_t m = 0; m < p->M; m++) {
        if (isnan(p->stored_now[m]) || p->stored_now[m] == INFINITY) {
            return sali_fail(err, SAL_ERR_MODEL,
                             "train: f of the starting model is not finite at a state drawn from "
                             "independent variables");
        }
        allowed += p->stored_now[m] > -INFINITY;
    }
    return allowed >= LEAST_ALLOWED
               ? SAL_OK
               : sali_fail(err, SAL_ERR_MODEL,
                           "train: f is -inf at all but %lld of %lld states drawn from independent "
                           "variables: the path to the model cannot begin there; train by pcd",
                           (long long)allowed, (long long)p->M);
}

sal_status sali_ptt_begin(sal_trainer *t, sal_error *err)
{
    bool arrived = true;
    sal_status status = draw_independent(t, err);
    status = status ? status : check_start(t, err);
    status = status ? status : sali_ptt_travel(t, 1, &arrived, err);
    return status || arrived ? status
                             : sali_fail(err, SAL_ERR_MODEL,
                                         "train: no states are left on the way from independent "
                                         "variables to the starting model; try a start with "
                                         "smaller parameters");
}

/* ---- climbing the levels of another training */

/* Travel to the model of level k of a path, or with k = path->n to the one with parameters
 * `top`. */
static sal_status visit_level(sal_trainer *t, const sal_trajectory *path, int64_t k,
                              const double *top, sal_error *err)
{
    const sali_path_level *level = k < path->n ? &path->levels[k] : NULL;
    const double step_size = level ? level->step_size : path->step_size;
    sal_status status;
    bool arrived;
    memcpy(t->values, level ? level->values : top, (size_t)t->optimiser.n * sizeof *top);
    if (t->follows && step_size > 0) {
        t->step_size.log_step[0] = log(step_size);
    }
    status = sali_ptt_travel(t, level ? level->info.beta : 1, &arrived, err);
    return status || arrived
               ? status
               : sali_fail(err, SAL_ERR_MODEL,
                           "level %lld of the ladder allows no state of the level before",
                           (long long)k);
}

sal_status sali_ptt_replay(sal_trainer *t, const sal_trajectory *path,
                           int (*progress)(int64_t done, int64_t total, void *data), void *data,
                           bool *stopped, sal_error *err)
{
    double *top = sali_memdup(t->values, t->optimiser.n, sizeof *top);
    *stopped = false;
    memcpy(sali_ptt_of(t)->path->log_base, path->log_base,
           (size_t)path->states * sizeof *path->log_base);
    sal_status status = sali_train_sync_status(t, top ? SAL_OK : sali_fail_memory(err), err);
    status = status ? status : draw_independent(t, err);
    for (int64_t k = 1; status == SAL_OK && !*stopped && k <= path->n; k++) {
        status = visit_level(t, path, k, top, err);
        *stopped = status == SAL_OK && progress && progress(k, path->n, data) != 0;
    }
    sali_free(top);
    return status;
}
