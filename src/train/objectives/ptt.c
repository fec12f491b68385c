/* SPDX-License-Identifier: MIT */
#include "train/objectives/ptt.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/fingerprint.h"
#include "stats/log_mean_exp.h"
#include "train/data.h"
#include "train/objectives/ptt_first.h"
#include "train/sync.h"
#include "train/trajectory_file.h"

/* Swap rates: below FREEZE a level is frozen, below REJECT the update is taken back. */
#define FREEZE 0.3
#define REJECT 0.1
#define MOST_REJECTIONS 30
/* The same limits for the share of the reservoir that counts. The share is computed every LOOK
 * updates, from LOOK_AT members a chain. */
#define FREEZE_SHARE 0.5
#define REJECT_SHARE 0.05
#define LOOK 10
#define LOOK_AT 10 /* members a chain */
/* The learning rate, at most the requested one, is steered so that a level lasts this many updates:
 * then a level costs about as much as its updates, and the noise of the updates, which lengthens
 * the path, is small. At a new level the rate changes by a factor from LEAST_FACTOR to MOST_FACTOR;
 * it rises by FASTER after each UPDATES updates without a new level. */
#define UPDATES 50
#define LEAST_FACTOR 0.6
#define MOST_FACTOR 1.5
#define FASTER 1.2
/* log of the probability of distinct rows of data, above which a mode was lost. */
#define MASS_LIMIT 10.0

/* ---- making and taking apart */

/* Allocate the arrays for n chains and M members of V variables. */
static sal_status allocate_arrays(sali_ptt *p, int64_t V, sal_error *err)
{
    sali_memory *m = &p->memory;
    const int64_t n = p->n, M = p->M, most = n > M ? n : M;
    p->stored = SALI_TAKE(m, int32_t, M * V);
    p->fresh = SALI_TAKE(m, int32_t, most * V);
    p->stored_f = SALI_TAKE(m, double, M);
    p->fresh_f = SALI_TAKE(m, double, most);
    p->stored_now = SALI_TAKE(m, double, M);
    p->family = SALI_TAKE(m, uint32_t, M);
    p->fresh_family = SALI_TAKE(m, uint32_t, M);
    p->influence = SALI_TAKE(m, double, SALI_PTT_FAMILIES);
    p->a = SALI_TAKE(m, double, most);
    p->b = SALI_TAKE(m, double, most);
    p->sorted = SALI_TAKE(m, double, most);
    p->below = SALI_TAKE(m, double, most + 1);
    p->pick = SALI_TAKE(m, uint32_t, n);
    p->work = SALI_TAKE(m, uint32_t, most);
    p->f_now = SALI_TAKE(m, double, n);
    p->f_last = SALI_TAKE(m, double, n);
    p->f_pick = SALI_TAKE(m, double, n);
    p->f_old = SALI_TAKE(m, double, n);
    p->weight = SALI_TAKE(m, double, n);
    return sali_memory_status(m, err);
}

/* Make parameters and workspaces of the last level. */
static sal_status open_last(const sal_trainer *t, sali_ptt *p, sal_error *err)
{
    p->last_ws = SALI_TAKE(&p->memory, sali_workspace *, t->n_shards);
    sal_status status = sali_memory_status(&p->memory, err);
    status = status ? status : sali_params_create(t->tape->program, &p->last, err);
    for (int64_t k = t->ranks.first; status == SAL_OK && k < t->ranks.end; k++) {
        status = sali_workspace_create(t->tape->program, p->last, t->shards[k].n, 0, &p->last_ws[k],
                                       err);
    }
    return status;
}

/* Make the path, of level 0 alone: independent variables fitted to the data. */
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

/* Copy the held-out rows to test_codes. */
static sal_status take_test(const sal_trainer *t, sali_ptt *p, sal_error *err)
{
    const sal_data *test = t->options.ptt.test;
    const int64_t rows = test ? test->rows : 0;
    if (rows == 0) {
        return SAL_OK;
    }
    p->test_codes = SALI_TAKE(&p->memory, int32_t, rows * test->variables);
    p->test_f = SALI_TAKE(&p->memory, double, rows);
    for (int64_t k = 0; p->test_codes && k < rows * test->variables; k++) {
        p->test_codes[k] = test->codes[k];
    }
    return sali_memory_status(&p->memory, err);
}

/* Make the objective's part of a trainer; the path to the starting model comes in `begin`. */
static sal_status create(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->own = SALI_NEW(sali_ptt);
    if (!p) {
        return sali_fail_memory(err);
    }
    p->n = t->options.batch;
    p->M = t->options.ptt.reservoir;
    p->beta = 1;
    sal_status status = allocate_arrays(p, t->model->space->n_variables, err);
    status = status ? status : take_test(t, p, err);
    status = status ? status : open_last(t, p, err);
    return status ? status : make_path(t, p, err);
}

static void destroy(sal_trainer *t)
{
    sali_ptt *p = t->own;
    sali_ptt_free_visitors(t, p);
    for (int64_t k = 0; p->last_ws && k < t->n_shards; k++) {
        sali_workspace_destroy(p->last_ws[k]);
    }
    sali_params_destroy(p->last);
    sal_trajectory_destroy(p->path);
    sali_memory_free(&p->memory);
    sali_free(p);
}

/* ---- checkpoints: the number of levels, which have files of their own, then the rest */

enum { LEVELS, ITEMS = 12 };

/* List the number of levels, the reservoir, the next swap, weights and counters; their number. */
static int list_items(const sal_trainer *t, sali_state_item items[SALI_OBJECTIVE_ITEMS])
{
    sali_ptt *p = t->own;
    const sal_space *space = t->model->space;
    const sali_state_item own[] = {
        [LEVELS] =
            sali_state_within(sali_state_i64("ptt.levels", 1, &p->path->n), 1, SALI_MOST_LEVELS),
        sali_state_codes("ptt.stored", space, p->M, p->stored),
        sali_state_f64("ptt.stored_f", p->M, p->stored_f),
        sali_state_within(sali_state_u32("ptt.family", p->M, p->family), 0, SALI_PTT_FAMILIES - 1),
        sali_state_f64("ptt.influence", SALI_PTT_FAMILIES, p->influence),
        sali_state_within(sali_state_u32("ptt.pick", p->n, p->pick), 0, (double)(p->M - 1)),
        sali_state_f64("ptt.f_now", p->n, p->f_now),
        sali_state_f64("ptt.f_last", p->n, p->f_last),
        sali_state_f64("ptt.f_pick", p->n, p->f_pick),
        sali_state_f64("ptt.weight", p->n, p->weight),
        sali_state_counts("ptt.counters", 5, &p->sweeps),
        sali_state_f64("ptt.acceptance", 1, &p->acceptance),
    };
    _Static_assert(sizeof own == ITEMS * sizeof *own && (int)ITEMS <= (int)SALI_OBJECTIVE_ITEMS,
                   "all of them are counted, and have room");
    memcpy(items, own, sizeof own);
    return ITEMS;
}

static sal_status write_levels(sal_trainer *t, const char *directory, sal_error *err)
{
    return sali_trajectory_write_levels(sali_ptt_of(t)->path, t->model->dtype, directory, err);
}

/* Forget the step sizes of the levels, which are another sampler's; the levels' files will be
 * written again. */
static void forget_step_sizes(sal_trajectory *levels)
{
    for (int64_t k = 0; k < levels->n; k++) {
        levels->levels[k].step_size = 0;
        levels->written = 0;
    }
}

/* *files receives the levels that the items count, read from the directory. */
static sal_status read_levels(sal_trainer *t, const char *directory, const sali_state_item *items,
                              bool same_sampler, void **files, sal_error *err)
{
    const int64_t *count = items[LEVELS].data;
    sal_trajectory *levels = NULL;
    const sal_status status =
        sali_trajectory_read_levels(sali_ptt_of(t)->path, directory, *count, &levels, err);
    if (status == SAL_OK && !same_sampler) {
        forget_step_sizes(levels);
    }
    *files = levels;
    return status;
}

static void exchange_levels(sal_trainer *t, void **files)
{
    sali_ptt *p = t->own;
    sal_trajectory *was = p->path;
    p->path = *files;
    *files = was;
}

static void destroy_levels(void *files)
{
    sal_trajectory_destroy(files);
}

static void resume(sal_trainer *t)
{
    sali_ptt *p = t->own;
    sali_ptt_free_visitors(t, p); /* left from a failed way to the first model */
    p->beta = 1;
    sali_params_set(p->last, sali_ptt_last(p)->values);
}

/* ---- following the updates */

/* Set the weights that the chains, drawn before the update, have after it. False: no chain has a
 * weight. */
static bool weigh_chains(sali_ptt *p)
{
    for (int64_t c = 0; c < p->n; c++) {
        p->a[c] = p->f_now[c] - p->f_old[c];
    }
    return sali_ptt_weights(p->n, p->a, p->weight) > 0;
}

/* The smaller of two estimates of the next swap's acceptance: from the chains and the members that
 * they meet; and from these members alone, which include modes that the chains have not reached
 * yet. */
static double estimate_acceptance(sali_ptt *p)
{
    for (int64_t c = 0; c < p->n; c++) {
        p->a[c] = p->f_pick[c] - p->stored_f[p->pick[c]];
        p->b[c] = p->f_now[c] - p->f_last[c];
    }
    const sali_bennett_side a = { p->n, p->a, NULL }, b = { p->n, p->b, p->weight };
    double met = sali_swap_acceptance(&a, &b, p->sorted, p->below);
    bool any = sali_ptt_weights(p->n, p->a, p->fresh_f) > 0;
    return any && !isnan(met) ? fmin(met, sali_ptt_rate(p, p->n, p->a, p->fresh_f)) : 0;
}

/* Return to the last level, which may be half-way to the present model, with half the learning
 * rate. SAL_ERR_MODEL: too many updates in a row were taken back. */
static sal_status take_back(sal_trainer *t, sal_error *err)
{
    sali_ptt *p = t->own;
    const size_t bytes = (size_t)t->optimiser.n * sizeof *t->values;
    if (++p->rejections > MOST_REJECTIONS) {
        return sali_fail(err, SAL_ERR_MODEL,
                         "training diverged at iteration %lld: %d updates in a row took the model "
                         "too far from its chains, the last with learning rate %g; the parameters "
                         "are those of the last report, or of the best one by held-out rows",
                         (long long)t->iteration, MOST_REJECTIONS, t->optimiser.learning_rate);
    }
    memcpy(t->values, sali_ptt_last(p)->values, bytes);
    sali_params_set(t->tape->params, t->values);
    if (t->averages) {
        memcpy(t->averages, t->values, bytes);
    }
    sali_optimiser_forget(&t->optimiser);
    t->optimiser.learning_rate /= 2;
    sali_train_forget_faults(t);
    sali_ptt_take_chains(t);
    p->acceptance = 1;
    return SAL_OK;
}

/* Multiply the learning rate by a factor, up to the rate that was asked for. */
static void steer_rate(sal_trainer *t, double factor)
{
    t->optimiser.learning_rate =
        fmin(t->options.learning_rate, t->optimiser.learning_rate * factor);
}

/* The share of the reservoir that counts under the present model, from evenly spaced members. */
static double reservoir_share(sal_trainer *t)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables;
    const int64_t some = LOOK_AT * p->n, n = some < p->M ? some : p->M;
    for (int64_t k = 0; k < n; k++) {
        p->work[k] = (uint32_t)(k * p->M / n);
    }
    sali_ptt_gather(V, n, p->work, p->stored, p->fresh);
    sali_ptt_value_now(t, n, p->fresh, p->a);
    for (int64_t k = 0; k < n; k++) {
        p->a[k] -= p->stored_f[p->work[k]];
    }
    return sali_ptt_weights(n, p->a, p->b);
}

/* How far an update went shows in the chains' weights exp(f_new - f_old), and in the members of the
 * reservoir that the chains meet. Beginning, freezing a level and climbing another training's
 * ladder are one journey, sali_ptt_travel. */
sal_status sali_ptt_follow(sal_trainer *t, bool good, sal_error *err)
{
    sali_ptt *p = t->own;
    p->sweeps++;
    if (good) {
        for (int64_t k = 0; k < t->n_shards; k++) {
            memcpy(p->f_old + t->shards[k].first, t->shards[k].f,
                   (size_t)t->shards[k].n * sizeof *p->f_old);
        }
        sali_ptt_measure(t);
        good = weigh_chains(p);
        p->acceptance = estimate_acceptance(p);
    }
    bool near = good && p->acceptance >= FREEZE;
    double share = 1;
    if (good && (!near || (p->held + 1) % LOOK == 0)) {
        share = reservoir_share(t);
    }
    if (near && share >= FREEZE_SHARE) {
        p->frozen = p->rejections = 0;
        if (++p->held % UPDATES == 0) {
            steer_rate(t, FASTER);
        }
        return SAL_OK;
    }
    bool frozen = false,
         far = !good || p->frozen || !(p->acceptance >= REJECT) || share < REJECT_SHARE;
    sal_status status = SAL_OK;
    p->frozen = 1;
    if (!far) {
        status = sali_ptt_travel(t, 1, &frozen, err);
    }
    if (frozen) {
        double factor = sqrt((double)p->held / UPDATES);
        steer_rate(t, fmin(fmax(factor, LEAST_FACTOR), MOST_FACTOR));
    }
    p->held = 0;
    return status || frozen ? status : take_back(t, err);
}

/* ---- log Z and the likelihood */

double sali_ptt_log_z(sal_trainer *t, double *error)
{
    sali_ptt *p = t->own;
    double influence[SALI_PTT_FAMILIES];
    sali_ptt_compare(t);
    for (int64_t c = 0; c < p->n; c++) {
        p->b[c] = p->f_now[c] - p->f_last[c];
        p->work[c] = (uint32_t)c;
    }
    const sali_bennett_side a = { p->M, p->a, NULL }, b = { p->n, p->b, p->weight };
    const double ratio = sali_bennett_ratio(&a, &b);
    memcpy(influence, p->influence, sizeof influence);
    memset(p->sorted, 0, (size_t)p->n * sizeof *p->sorted);
    sali_bennett_influence(&a, p->family, influence, &b, p->work, p->sorted, ratio);
    *error = sqrt(sali_bennett_squared_error(SALI_PTT_FAMILIES, influence) +
                  sali_bennett_squared_error(p->n, p->sorted));
    return sali_ptt_last(p)->info.log_z + ratio;
}

/* SAL_ERR_MODEL if the distinct rows of the batch together have a probability far above 1, so that
 * log_z is too small. */
static sal_status check_mass(sal_trainer *t, double log_z, sal_error *err)
{
    sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables, bytes = V * (int64_t)sizeof *p->fresh;
    int64_t distinct = 0;
    for (int64_t c = 0; c < p->n; c++) {
        int32_t *row = p->fresh + distinct * V;
        sali_train_row(t, c, row);
        const uint32_t hash = p->work[distinct] = (uint32_t)sali_hash(SALI_HASH_START, row, bytes);
        int64_t k = 0; /* index of the first row that equals this one */
        while (p->work[k] != hash || memcmp(p->fresh + k * V, row, (size_t)bytes) != 0) {
            k++;
        }
        distinct += k == distinct;
    }
    sali_ptt_value_now(t, distinct, p->fresh, p->fresh_f);
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

/* Mean log-likelihood of the held-out rows by log_z; NaN without such rows. */
static double held_out(sal_trainer *t, double log_z)
{
    const sali_ptt *p = t->own;
    const sal_data *test = t->options.ptt.test;
    if (!p->test_codes) {
        return NAN;
    }
    sali_ptt_value_now(t, test->rows, p->test_codes, p->test_f);
    return sali_likelihood_of(test, p->test_f, log_z, 0).mean;
}

static sal_status judge(sal_trainer *t, sal_error *err)
{
    t->now.log_z = sali_ptt_log_z(t, &t->now.log_z_error);
    t->now.log_likelihood = held_out(t, t->now.log_z);
    return check_mass(t, t->now.log_z, err);
}

static void report(const sal_trainer *t, sal_train_report *r)
{
    const sali_ptt *p = t->own;
    r->levels = p->climbed > 0 ? p->climbed : p->path->n;
    r->swap_rate = p->acceptance;
    r->disturbed = p->disturbed;
    r->trajectory = p->path;
}

/* ---- the record */

static int64_t chains(const sal_train_options *options)
{
    return options->batch;
}

/* SAL_ERR_UNSUPPORTED for samplers that are approximate or couple their chains. */
static sal_status check_sampler(const sal_sampler_descriptor *sampler, sal_error *err)
{
    return sampler->unadjusted || sali_engine(sampler)->coupled
               ? sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "train: trajectory tempering (ptt) wants an exact sampler whose chains "
                           "do not depend on each other, which %s is not; objective pcd takes any",
                           sampler->name)
               : SAL_OK;
}

static sal_status begin(sal_trainer *t, bool *stopped, sal_error *err)
{
    if (sali_ptt_of(t)->path->n > 1) {
        return SAL_OK;
    }
    return t->options.ptt.first ? sali_ptt_begin_after(t, stopped, err) : sali_ptt_begin(t, err);
}

/* SAL_ERR_ARGUMENT unless ptt.first is the ladder of ptt.first_model, over the same variables; or
 * neither is given. */
static sal_status check(const sal_train_options *o, const sal_model *model, sal_error *err)
{
    if (!o->ptt.first && !o->ptt.first_model) {
        return SAL_OK;
    }
    const sal_model *part = o->ptt.first_model;
    if (!o->ptt.first || !part || !sali_trajectory_fits(o->ptt.first, part) ||
        o->ptt.first->noise) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: ptt.first is to be the ladder of a training of ptt.first_model");
    }
    return sali_space_equal(part->space, model->space)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: %s and %s, whose training it is to go on from, have other "
                           "variables",
                           model->name, part->name);
}

const sali_objective sali_objective_ptt = {
    .reservoir = true,
    .steers = true,
    .whole_data = true,
    .compares = true,
    .activates = true,
    .chains = chains,
    .check = check,
    .check_sampler = check_sampler,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .choose = sali_ptt_swap,
    .after = sali_ptt_follow,
    .judge = judge,
    .report = report,
    .items = list_items,
    .write_files = write_levels,
    .read_files = read_levels,
    .exchange_files = exchange_levels,
    .destroy_files = destroy_levels,
    .resumed = resume,
};
