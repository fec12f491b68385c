/* SPDX-License-Identifier: MIT */
/* log Z of any model: options, warm-up, sweeps. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/option.h"
#include "core/specification.h"
#include "core/vector/blas.h"
#include "models/base.h"
#include "models/make/soften.h"
#include "models/states.h"
#include "models/tape_model.h"
#include "run/log_z/log_z.h"
#include "run/run.h"
#include "samplers/settle.h"
#include "samplers/start.h"

/* What a forbidden entry costs on the way: so much that hardly any state of the last level has
 * one. */
#define PRICE 30
#define SWEEPS 1000
#define MOST_SWEEPS 102400
#define LEAST_SWEEPS 20
#define FIRST_LOOK 100
/* Number of times that the levels are placed, at 1/64, 1/32, .. 1/2 of warm-up. */
#define PLACINGS 6
/* Steps in a sweep where each step costs evaluations. Counts without a cap move by one in each, so
 * each of them makes some moves on average, unless they are many. */
#define USUAL_STEPS 4
#define COUNT_MOVES 16
#define COUNT_STEPS 1024
/* Sweeps of the run that finds the means of counts without a cap. */
#define COUNT_SWEEPS 64
#define COUNT_CHAINS 8

/* ---- options */

#define LOG_Z(member) SALI_FIELD(sal_log_z_options, member)

static const sali_option entries[] = {
    SALI_OPTION("chains", WHOLE, "N", "independent ladders, which give the error", LOG_Z(chains),
                SALI_RANGE(2, 4096), SALI_USUAL(16)),
    SALI_OPTION("sweeps", WHOLE, "N", "sweeps over each ladder after warm-up; with --until at most",
                LOG_Z(sweeps), SALI_RANGE(LEAST_SWEEPS, INT64_C(1) << 40),
                .usual = "1000; with --until 102400"),
    SALI_OPTION("warmup", WHOLE, "N", "sweeps before, which place the levels", LOG_Z(warmup),
                SALI_RANGE(32, INT64_C(1) << 40), SALI_USUAL(512)),
    SALI_OPTION("until", TEXT, "error=E", "end when the standard error is E or less", LOG_Z(until)),
    SALI_OPTION("time", REAL, "T", "stop after so long: seconds, or with a unit as in 10m, 2h",
                LOG_Z(seconds), SALI_REAL_FROM(0), .range = SALI_ABOVE | SALI_TIME,
                .usual = "no limit"),
    SALI_OPTION("steps", WHOLE, "K", "sampler steps of each level in a sweep", LOG_Z(steps),
                SALI_RANGE(1, INT64_C(1) << 40),
                .usual = "as many as variables for gibbs, more for counts without a cap, else 4"),
    SALI_OPTION(
        "sampler", TEXT, "NAME",
        "name, see 'saltus list samplers'; settings as NAME:key=value,... or as their own options",
        LOG_Z(sampler), .usual = "gibbs where f follows single moves, else as in sample"),
    SALI_OPTION("step-size", REAL, "X", "step size of samplers that have one", LOG_Z(step_size),
                SALI_REAL_FROM(0), .range = SALI_ABOVE, .usual = "the sampler's default"),
    SALI_OPTION("seed", SEED, "N", "the same seed gives the same bits", LOG_Z(seed), SALI_FROM(0),
                SALI_USUAL(0)),
    SALI_OPTION("threads", INT, "N", "number of threads; results do not depend on it",
                LOG_Z(threads), .usual = "all", SALI_RANGE(0, 4096)),
};

static const sal_option_table table = { "log Z: ", sizeof entries / sizeof *entries, entries };

const sal_option_table *sali_log_z_option_table(void)
{
    return &table;
}

static const sal_setting aims[] = {
    { .name = "error", .high = 1e15, .doc = "the largest standard error of log Z" },
    { 0 },
};

/* *error receives the aim of the option `until`; 0: there is none. */
static sal_status read_until(const char *until, double *error, sal_error *err)
{
    double values[SAL_SETTINGS] = { 0 };
    if (!until) {
        return SAL_OK;
    }
    sal_status status = sali_specification_until(until, aims, values, err);
    *error = values[0];
    return status || *error > 0
               ? status
               : sali_fail(err, SAL_ERR_ARGUMENT, "until %s: expected error=E, E above 0", until);
}

/* ---- the work */

typedef struct work {
    sal_log_z_options options; /* resolved */
    double aim;                /* of the standard error; 0: none */
    double begun;              /* on the clock */
    sal_model *model;          /* the caller's */
    sal_model *soft;           /* NULL: the model forbids nothing that is known */
    double *base;              /* [R] */
    sali_log_z_ladders ladders;
    sali_evaluator *evaluator; /* of the model, if it was softened */
    void *x;                   /* real [n x N] */
    double *beta;              /* [L] */
    double *energy;            /* [sweeps x L x n] */
    double *gap, *f;           /* [sweeps x n] */
    int64_t energy_room, gap_room, f_room;
    int64_t done;   /* sweeps, of warm-up too */
    int64_t sweeps; /* recorded */
    bool stopped;
} work;

/* Ask the caller's progress, and the clock, whether to stop. */
static bool is_stopped(void *data)
{
    work *w = data;
    const sal_log_z_options *o = &w->options;
    if (o->progress) {
        w->stopped |= o->progress(w->done, o->warmup + o->sweeps, o->progress_data) != 0;
    }
    w->stopped |= o->seconds > 0 && sali_now() - w->begun >= o->seconds;
    return w->stopped;
}

/* Means [V] of a short run of the model by the sampler of burn-in. */
static sal_status find_means(work *w, double *mean, sal_error *err)
{
    const sal_model *model = w->soft ? w->soft : w->model;
    const int64_t V = model->space->n_variables;
    sali_settling settling = { 0 };
    sali_chains *chains = NULL;
    sal_status status = sali_settling_open(&settling, model, err);
    status = status ? status
                    : sali_settling_chains(&settling, COUNT_CHAINS, w->options.seed, &chains, err);
    status = status ? status : sali_start(chains, NULL, NULL, err);
    for (int64_t k = 0; status == SAL_OK && k < 2 * COUNT_SWEEPS && !is_stopped(w); k++) {
        status = sali_settle(&settling, chains, 1, INT64_MAX, k, err);
        for (int64_t i = 0; status == SAL_OK && k >= COUNT_SWEEPS && i < COUNT_CHAINS * V; i++) {
            mean[i % V] += (double)chains->codes[i] / (COUNT_CHAINS * COUNT_SWEEPS);
        }
    }
    if (status == SAL_OK && chains->bad_chain >= 0) {
        status = sali_chains_report(chains, settling.sampler, chains->bad_chain, err);
    }
    sali_chains_destroy(chains);
    sali_settling_close(&settling);
    return status;
}

/* log_base [R]: uniform, or geometric with the means [V] of counts without a cap. */
static void fill_base(const sal_space *space, const double *mean, double *log_base)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        const int32_t states = space->variables[v].states;
        for (int32_t k = 0; k < states; k++) {
            *log_base++ = -log(states);
        }
        if (states == 0) { /* a mean of 0 is only a mean below what so many draws can tell */
            const double most = mean[v] + 1.0 / COUNT_SWEEPS;
            *log_base++ = -log1p(most);
            *log_base++ = log(most) - log1p(most);
        }
    }
}

/* Make w->base. */
static sal_status make_base(work *w, sal_error *err)
{
    const sal_space *space = w->model->space;
    if (w->options.log_base || !space->unbounded) {
        return sali_base_create(space, w->options.log_base, &w->base, err);
    }
    double *mean = SALI_NEW_ARRAY(double, space->n_variables);
    double *log_base = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = mean && log_base ? SAL_OK : sali_fail_memory(err);
    status = status ? status : find_means(w, mean, err);
    if (status == SAL_OK) {
        fill_base(space, mean, log_base);
        status = sali_base_create(space, log_base, &w->base, err);
    }
    sali_free(mean);
    sali_free(log_base);
    return status;
}

/* Choose the sampler and its steps on a bridge of the target. */
static sal_status choose_sampler(work *w, sal_model *target, sal_error *err)
{
    sal_log_z_options *o = &w->options;
    sali_log_z_ladders *l = &w->ladders;
    sali_bridge bridge = { 0 };
    sal_status status = sali_bridge_create(target, w->base, &bridge, err);
    if (status == SAL_OK && !o->sampler) {
        o->sampler = "gibbs";
        status = bridge.model->trackable && sali_settles(bridge.model)
                     ? SAL_OK
                     : sali_sampler_usual(bridge.model, false, &o->sampler, err);
    }
    status = status ? status
                    : sali_sampler_choose_from(o->own_samplers, o->sampler, bridge.model,
                                               o->step_size, &l->sampler, &l->settings, err);
    status = status ? status
                    : sali_run_check_independent(l->sampler, "log Z: ", "exchanges of levels", err);
    if (status == SAL_OK && o->steps == 0) {
        const int64_t V = target->space->n_variables, most = V > COUNT_STEPS ? V : COUNT_STEPS;
        const bool cheap = bridge.model->trackable && sali_engine(l->sampler)->rejection_free;
        o->steps = cheap                      ? V
                   : target->space->unbounded ? (V < most / COUNT_MOVES ? COUNT_MOVES * V : most)
                                              : USUAL_STEPS;
    }
    sali_bridge_free(&bridge);
    return status;
}

/* Check the options, and make all that the sweeps need. */
static sal_status prepare(work *w, const sal_log_z_options *options, sal_error *err)
{
    w->options = options ? *options : w->options;
    sal_status status = sal_option_resolve(&table, &w->options, err);
    status = status ? status : read_until(w->options.until, &w->aim, err);
    if (w->options.sweeps == 0) {
        w->options.sweeps = w->aim > 0 ? MOST_SWEEPS : SWEEPS;
    }
    status = status ? status : sali_soften(w->model, PRICE, &w->soft, err);
    sal_model *target = w->soft ? w->soft : w->model;
    status = status ? status : make_base(w, err);
    status = status ? status : choose_sampler(w, target, err);
    status =
        status ? status : sali_log_z_ladders_create(&w->ladders, target, w->base, &w->options, err);
    if (status == SAL_OK && w->soft) {
        const int64_t n = w->options.chains;
        w->x = sali_alloc(n * w->model->space->width,
                          w->model->dtype == SAL_F32 ? sizeof(float) : sizeof(double));
        status = w->x ? sali_evaluator_create(w->model, n, SALI_WANT_VALUE, &w->evaluator, err)
                      : sali_fail_memory(err);
    }
    return status;
}

static void release(work *w)
{
    sali_log_z_ladders_free(&w->ladders);
    sali_evaluator_destroy(w->evaluator);
    sal_model_destroy(w->soft);
    sali_free(w->base);
    sali_free(w->x);
    sali_free(w->beta);
    sali_free(w->energy);
    sali_free(w->gap);
    sali_free(w->f);
}

/* The sweeps of warm-up, with the placing of the levels. */
static sal_status warm_up(work *w, sal_error *err)
{
    const int64_t total = w->options.warmup;
    sal_status status = SAL_OK;
    int placed = 0;
    while (status == SAL_OK && w->done < total && !is_stopped(w)) {
        status = sali_log_z_sweep(&w->ladders, NULL, is_stopped, w, err);
        if (status != SAL_OK || w->stopped) {
            return status;
        }
        sali_log_z_exchange(&w->ladders);
        w->done++;
        if (placed < PLACINGS && w->done >= total >> (PLACINGS - placed)) {
            status = sali_log_z_place(&w->ladders, err);
            placed++;
        }
    }
    sali_log_z_clear(&w->ladders);
    return status;
}

/* Append f at the last level's states, whose energies in this sweep are `energy` [n]. A softened f
 * is f itself where the model allows the state. */
static void record_values(work *w, const double *energy)
{
    const sal_space *space = w->model->space;
    const sali_chains *chains = w->ladders.levels[w->ladders.L - 1].moved.chains;
    double *f = w->f + w->sweeps * w->ladders.n;
    for (int64_t c = 0; c < chains->n; c++) {
        f[c] = energy[c] + sali_base_value(space, w->base, chains->codes + c * space->n_variables);
    }
}

/* Append the differences between f and its softened form at the last level's states. */
static sal_status record_gaps(work *w, sal_error *err)
{
    const sali_chains *chains = w->ladders.levels[w->ladders.L - 1].moved.chains;
    double *gap = w->gap + w->sweeps * w->ladders.n;
    sali_model_embed(w->model, chains->n, chains->codes, w->x);
    sali_value(w->evaluator, chains->n, chains->codes, w->x, gap);
    sal_status status = sali_states_check(w->model, chains->n, chains->codes, gap, err);
    for (int64_t c = 0; c < chains->n; c++) {
        gap[c] = gap[c] == -INFINITY ? -INFINITY : 0;
    }
    return status;
}

/* One sweep, recorded. */
static sal_status record_sweep(work *w, sal_error *err)
{
    sali_log_z_ladders *l = &w->ladders;
    const int64_t size = l->L * l->n;
    if (sali_grow((void **)&w->energy, &w->energy_room, (w->sweeps + 1) * size,
                  sizeof *w->energy) != 0 ||
        sali_grow((void **)&w->f, &w->f_room, (w->sweeps + 1) * l->n, sizeof *w->f) != 0 ||
        (w->soft &&
         sali_grow((void **)&w->gap, &w->gap_room, (w->sweeps + 1) * l->n, sizeof *w->gap) != 0)) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_log_z_sweep(l, w->energy + w->sweeps * size, is_stopped, w, err);
    if (status != SAL_OK || w->stopped) {
        return status;
    }
    record_values(w, w->energy + w->sweeps * size + (l->L - 1) * l->n);
    status = w->soft ? record_gaps(w, err) : SAL_OK;
    sali_log_z_exchange(l);
    w->sweeps++;
    w->done++;
    return status;
}

/* The least mean probability of an exchange of neighbouring levels. */
static double least_swaps(const sali_log_z_ladders *l)
{
    double least = INFINITY;
    for (int64_t k = 0; k + 1 < l->L; k++) {
        least = fmin(least, l->swaps[k] / (double)(l->n * l->counted));
    }
    return least;
}

/* The estimate by the sweeps so far. */
static sal_status estimate(work *w, sal_log_z_estimate *z, sal_error *err)
{
    const sali_log_z_ladders *l = &w->ladders;
    z->sweeps = w->sweeps;
    z->aim = w->aim;
    if (w->sweeps < LEAST_SWEEPS) {
        z->log_z = z->standard_error = z->forward = z->reverse = z->rhat = NAN;
        z->least_swaps = z->arrivals = z->allowed = z->entropy = z->entropy_error = NAN;
        return SAL_OK;
    }
    const sali_log_z_record record = { .n = l->n,
                                       .L = l->L,
                                       .sweeps = w->sweeps,
                                       .beta = w->beta,
                                       .energy = w->energy,
                                       .gap = w->gap,
                                       .f = w->f,
                                       .epsilon =
                                           w->model->dtype == SAL_F32 ? FLT_EPSILON : DBL_EPSILON };
    z->least_swaps = least_swaps(l);
    z->arrivals = (double)l->arrivals / (double)l->n;
    return sali_log_z_estimate(&record, z, err);
}

/* The sweeps after warm-up, until they are enough. */
static sal_status make_sweeps(work *w, sal_log_z_estimate *z, sal_error *err)
{
    const sali_log_z_ladders *l = &w->ladders;
    w->beta = SALI_NEW_ARRAY(double, l->L);
    sal_status status = w->beta ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < l->L; k++) {
        w->beta[k] = sali_log_z_beta(l, k);
    }
    int64_t look = FIRST_LOOK;
    bool enough = false;
    while (status == SAL_OK && !enough && w->sweeps < w->options.sweeps && !is_stopped(w)) {
        status = record_sweep(w, err);
        if (status == SAL_OK && w->aim > 0 && w->sweeps == look && look < w->options.sweeps) {
            look *= 2;
            status = estimate(w, z, err);
            enough =
                status == SAL_OK && z->standard_error <= w->aim && z->doubt == SAL_LOG_Z_TRUSTED;
            status = status == SAL_ERR_MODEL ? SAL_OK : status; /* no state was allowed so far */
        }
    }
    return status || enough ? status : estimate(w, z, err);
}

sal_status sal_log_z(sal_model *model, const sal_log_z_options *options, sal_log_z_estimate *result,
                     sal_error *err)
{
    if (!model || !result) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_log_z: the model or the estimate is NULL");
    }
    work w = { .model = model, .begun = sali_now() };
    sal_log_z_estimate z = { 0 };
    sali_model_use(model);
    sali_blas_single_thread_begin();
    sal_status status = sali_model_check_joint(model, err);
    status = status ? status
                    : sali_space_check_free(model->space, model->name,
                                            "a ladder from independent variables", err);
    status = status ? status : prepare(&w, options, err);
    status = status ? status : warm_up(&w, err);
    status = status ? status : make_sweeps(&w, &z, err);
    sali_blas_single_thread_end();
    sali_model_release(model);
    if (status == SAL_OK) {
        z.levels = w.ladders.L;
        z.chains = w.options.chains;
        z.steps = w.options.steps;
        z.softened = w.soft != NULL;
        z.stopped = w.stopped;
        snprintf(z.sampler, sizeof z.sampler, "%s", w.options.sampler);
        *result = z;
    }
    release(&w);
    return status;
}
