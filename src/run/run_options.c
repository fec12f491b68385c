/* SPDX-License-Identifier: MIT */
/* Options of a run: defaults and ranges. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/option.h"
#include "run/run.h"
#include "run/sync.h"
#include "run/trajectory/trajectory.h"

/* Default steps between swaps for samplers that move all variables at once. */
#define FEW_STEPS 5
/* The default warm-up, in steps; with tempering, in swap intervals. It has at least LEAST_INTERVALS
 * intervals: for a million variables, 1000 steps of one variable each are nothing. */
#define WARMUP 1000
#define LEAST_INTERVALS 10
/* Default warm-up of annealing: 1/ANNEAL_WARMUP of the sampling steps, but at least WARMUP. */
#define ANNEAL_WARMUP 10
#define DRAWS 1000
/* Default warm-up along a trajectory, in sweeps; they begin from a population that climbed the
 * trajectory. */
#define WARMUP_SWEEPS 20

/* ---- the table */

#define RUN(member) SALI_FIELD(sal_run_options, member)
#define STEPS SALI_RANGE(1, INT64_C(1) << 40)

static const char *const rules[] = { "", "adapt", "auto", NULL };
static const char *const schedules[] = { "", "linear", "reheat", "rlsa", NULL };

static const sali_option entries[] = {
    SALI_OPTION(
        "sampler", TEXT, "NAME",
        "name, see 'saltus list samplers'; settings as NAME:key=value,... or as their own options",
        RUN(sampler),
        .usual = "block-gibbs for layers, chains and mixtures; else gwg, or gibbs where gradients "
                 "mislead"),
    SALI_OPTION("chains", WHOLE, "N", "independent chains", RUN(chains), SALI_RANGE(1, INT32_MAX),
                SALI_USUAL(4)),
    SALI_OPTION("warmup", WHOLE, "N", "steps before the first draw", RUN(warmup),
                .usual =
                    "1000 or 10 sweeps, whichever is more; with tempering 1000 swap intervals; "
                    "with annealing a tenth of the draws' steps, and 1000 at least",
                SALI_RANGE(0, INT64_C(1) << 50), .range = SALI_OR_NONE),
    SALI_OPTION("draws", WHOLE, "N", "draws kept from each chain; with --until at most", RUN(draws),
                .resume = SAL_RESUME_NOTED, STEPS, .fill = DRAWS,
                .usual = "1000; with --until 102400"),
    SALI_OPTION("until", TEXT, "ess=N|rhat=X",
                "end when the ESS of all chains together is N or more (and they agree), or the "
                "largest R-hat X or less, looking at 100 draws, 200, 400 ..; both: ess=N,rhat=X",
                RUN(until), .resume = SAL_RESUME_NOTED),
    SALI_OPTION("time", REAL, "T",
                "stop after 60s, 10m or 2h; continue with --resume. With --anneal: fill it with "
                "coolings",
                RUN(seconds), .resume = SAL_RESUME_ANY, SALI_REAL_FROM(0),
                .range = SALI_ABOVE | SALI_TIME),
    SALI_OPTION("thin", WHOLE, "N", "steps between two draws", RUN(thin),
                .usual = "1; with tempering or annealing: one swap interval", STEPS),
    SALI_OPTION("steps-per-level", WHOLE, "N",
                "of a trained model's ladder or denoising chain: times as many steps at each level "
                "as in training",
                RUN(steps_per_level), .usual = "1; down a denoising chain 2", SALI_RANGE(1, 1000)),
    SALI_OPTION("step-size", REAL, "adapt|auto|X",
                "adapt: to an acceptance of 0.574; auto: largest mean jump; X: this size",
                RUN(step_size), .usual = "adapt", SALI_REAL_FROM(0), .range = SALI_ABOVE),
    SALI_OPTION("step-size", WORD, NULL, NULL, RUN(step_size_rule), .words = rules),
    SALI_OPTION("tempering", WHOLE, "N",
                "replicas of each chain, at temperatures that warm-up finds",
                RUN(tempering.replicas), SALI_RANGE(1, SALI_MOST_REPLICAS)),
    SALI_OPTION("swap-every", WHOLE, "N", "steps between two swaps", RUN(tempering.swap_every),
                .usual = "a sweep, or 5", STEPS),
    SALI_OPTION("houdayer", FLAG, NULL,
                "with tempering: pairs of chains exchange clusters of variables at each "
                "temperature where that helps",
                RUN(tempering.houdayer)),
    SALI_OPTION("anneal", WORD, "[linear|reheat|rlsa]",
                "search for large f by cooling down, and print the best f found; linear, with "
                "reheating, or by parallel flips",
                RUN(annealing.schedule), .usual = "by equal factors", .words = schedules),
    SALI_OPTION("anneal", FLAG, NULL, NULL, RUN(annealing.on)),
    SALI_OPTION("anneal-from", REAL, "T", "first temperature", RUN(annealing.from),
                .usual = "mean size of a difference of f",
                SALI_RANGE(SALI_LEAST_TEMPERATURE, 1e100)),
    SALI_OPTION("anneal-to", REAL, "T", "last temperature", RUN(annealing.to),
                .usual = "a small difference at high f / (1 + log V)",
                SALI_RANGE(SALI_LEAST_TEMPERATURE, 1e100)),
    SALI_OPTION("coolings", WHOLE, "N",
                "with --anneal: make so many coolings with seeds of their own, and keep the best",
                RUN(annealing.coolings), .usual = "one of --draws; with a time as many as fit",
                SALI_RANGE(1, INT32_MAX)),
    SALI_OPTION("anneal-seconds", REAL, "T",
                "with --anneal: make as many coolings as fit into this time, and keep the best",
                RUN(annealing.seconds), SALI_REAL_FROM(0), .range = SALI_ABOVE),
    SALI_OPTION("track-best", FLAG, NULL, "print the best f met", RUN(record.best)),
    SALI_OPTION("save-warmup", FLAG, NULL, "with --out FILE.nc: also save the states of warm-up",
                RUN(record.warmup)),
    SALI_OPTION("seed", SEED, "N", "the same seed gives the same bits", RUN(seed), SALI_FROM(0),
                SALI_USUAL(0)),
    SALI_OPTION("threads", INT, "N", "number of threads; results do not depend on it", RUN(threads),
                .usual = "all", .resume = SAL_RESUME_ANY, SALI_RANGE(0, 4096)),
};

static const sal_option_table table = { "", sizeof entries / sizeof *entries, entries };

const sal_option_table *sali_run_option_table(void)
{
    return &table;
}

/* ---- what goes together */

sal_status sali_run_check_temperatures(int64_t n, const double *temperatures, const char *what,
                                       sal_error *err)
{
    for (int64_t r = 0; r < n; r++) {
        double least = r == 0 ? 1 : temperatures[r - 1];
        bool fits =
            r == 0 ? temperatures[0] == 1 : temperatures[r] > least && temperatures[r] <= 1e100;
        if (!fits) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: number %lld is %g; expected 1 first, then rising ones up to "
                             "1e100",
                             what, (long long)(r + 1), temperatures[r]);
        }
    }
    return SAL_OK;
}

/* SAL_ERR_ARGUMENT unless temperatures, replicas, chains and annealing go together. */
static sal_status check_tempering(const sal_run_options *o, sal_error *err)
{
    const sal_tempering_options *t = &o->tempering;
    if (o->annealing.on && t->replicas > 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "a run either anneals or has replicas, not both");
    }
    if (t->temperatures && t->replicas < 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "temperatures are given, but replicas is 0");
    }
    const int64_t most = INT32_MAX / (t->replicas > 0 ? t->replicas : 1);
    sal_status status = sali_check_range("chains", o->chains, 1, most, err);
    return status || !t->temperatures
               ? status
               : sali_run_check_temperatures(t->replicas, t->temperatures, "temperatures", err);
}

/* Refuse options of annealing or tempering in a new run that does neither: they would have no
 * effect. */
static sal_status check_without_effect(const sal_run_options *o, sal_error *err)
{
    const sal_annealing_options *a = &o->annealing;
    if (!a->on && (a->from != 0 || a->to != 0 || a->coolings != 0 || a->seconds != 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "anneal-from, anneal-to, anneal-seconds and coolings want anneal");
    }
    if (o->tempering.swap_every > 0 && !a->on && o->tempering.replicas == 0 && !o->tuning) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "swap-every wants tempering or temperatures");
    }
    return SAL_OK;
}

static sal_status check_step_size(const sal_run_options *o, sal_error *err)
{
    if (o->step_size != 0 && o->step_size_rule != SAL_STEP_SIZE_USUAL) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "step_size is given, so step_size_rule has nothing to find");
    }
    return SAL_OK;
}

static sal_status check_clamps(const sal_clamps *c, sal_error *err)
{
    sal_status status = sali_check_range("clamps.n", c->n, 0, INT32_MAX, err);
    return status || c->n == 0 || (c->variables && c->codes)
               ? status
               : sali_fail(err, SAL_ERR_ARGUMENT, "clamps.n is %lld, but %s is NULL",
                           (long long)c->n, c->variables ? "clamps.codes" : "clamps.variables");
}

/* SAL_ERR_ARGUMENT if warm-up and draws, as far as they are known, do not fit a counter of
 * steps. */
static sal_status check_steps(const sal_run_options *o, sal_error *err)
{
    int64_t steps;
    if (__builtin_mul_overflow(o->draws, o->thin, &steps) ||
        __builtin_add_overflow(o->warmup, steps, &steps)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "draws times thin is more than 2^63 steps");
    }
    return SAL_OK;
}

/* Switch annealing on if a schedule is given; the schedule `rlsa` also sets the sampler, or refuses
 * another one. */
static sal_status resolve_schedule(sal_run_options *o, sal_error *err)
{
    o->annealing.on |= o->annealing.schedule != SAL_ANNEAL_GEOMETRIC;
    if (o->annealing.schedule != SAL_ANNEAL_RLSA) {
        return SAL_OK;
    }
    o->sampler = o->sampler ? o->sampler : "rlsa";
    return strcspn(o->sampler, ":") == 4 && strncmp(o->sampler, "rlsa", 4) == 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "annealing by rlsa has the sampler rlsa, not '%s'; 'linear' is its "
                           "schedule with any sampler",
                           o->sampler);
}

sal_status sali_run_resolve(sal_run_options *o, sal_error *err)
{
    sal_status status = resolve_schedule(o, err);
    status = status || o->resume ? status : check_without_effect(o, err);
    if (status == SAL_OK && !o->sampler && o->trajectory) {
        o->sampler = sali_trajectory_sampler(o->trajectory, NULL);
    }
    if (o->until && o->draws == 0) {
        o->draws = SALI_FIRST_LOOK << SALI_LOOKS;
    }
    status = status ? status : sal_option_resolve(&table, o, err);
    status = status ? status : check_tempering(o, err);
    status = status ? status : check_step_size(o, err);
    status = status ? status : check_clamps(&o->clamps, err);
    return status ? status : check_steps(o, err);
}

int64_t sali_run_total(const sal_run *run)
{
    return run->endless ? INT64_MAX : run->options.draws * run->options.thin;
}

const char *sali_run_option_of_draws(const sal_run_options *o)
{
    const sal_annealing_options *a = &o->annealing;
    const struct {
        const char *name;
        bool set;
    } options[] = {
        { "draws", o->draws != 0 && !o->resume }, /* else that of the state */
        { "thin", o->thin != 0 && !o->resume },
        { "until", o->until != NULL },
        { "time", o->seconds != 0 },
        { "anneal", a->on || a->schedule || a->coolings || a->seconds != 0 },
        { "trajectory", o->trajectory != NULL },
        { "steps_per_level", o->steps_per_level != 0 },
        { "houdayer", o->tempering.houdayer }, /* parameters may change after warm-up */
        { "record", o->record.draws || o->record.best || o->record.warmup },
        { "comm", o->comm != NULL },
        { "callbacks.draw", o->callbacks.draw != NULL },
        { "callbacks.state", o->callbacks.state != NULL },
    };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        if (options[k].set) {
            return options[k].name;
        }
    }
    return NULL;
}

/* What a shard's sampler says: the steps in which it has moved, or tried to move, about all
 * variables, and those of a sweep that is best made as a whole, or 1. */
typedef struct sampler_steps {
    int64_t interval, sweep;
} sampler_steps;

static sampler_steps sampler_steps_of(const sal_run *run)
{
    const sali_run_shard *shard = &run->shards[0];
    const sal_sampler_engine *engine = sali_engine(run->sampler);
    const int64_t pieces = engine->pieces ? engine->pieces(shard->self, shard->chains) : 0;
    const bool all = run->sampler->has_step_size || run->sampler->unadjusted; /* at once */
    return (sampler_steps){ .interval = all          ? FEW_STEPS
                                        : pieces > 0 ? pieces
                                                     : run->model->space->n_variables,
                            .sweep = engine->sweeps && engine->sweeps(shard->self) ? pieces : 1 };
}

/* The most updates of single variables, in all chains, of a window of whole sweeps: they take a
 * second or two where an update takes 100 ns. */
#define WINDOW_UPDATES (INT64_C(1) << 24)
#define WINDOW_SWEEPS 64

int64_t sali_run_sample_window(const sal_run *run)
{
    const int64_t sweep = run->sweep;
    int64_t slots;
    /* annealing looks at its chains between windows */
    if (sweep < 2 || run->options.annealing.on ||
        __builtin_mul_overflow(run->options.chains, run->replicas, &slots) ||
        sweep > WINDOW_UPDATES / slots) {
        return SALI_SAMPLE_WINDOW;
    }
    const int64_t most = WINDOW_UPDATES / slots / sweep;
    const int64_t least = (SALI_SAMPLE_WINDOW + sweep - 1) / sweep;
    const int64_t sweeps = most < WINDOW_SWEEPS ? most : WINDOW_SWEEPS;
    const int64_t window = sweep * (sweeps > least ? sweeps : least);
    return (window + SALI_SAMPLE_WINDOW - 1) / SALI_SAMPLE_WINDOW <= run->options.thin
               ? window
               : SALI_SAMPLE_WINDOW;
}

sal_status sali_run_resolve_intervals(sal_run *run, sal_error *err)
{
    sal_run_options *o = &run->options;
    bool by_interval = run->replicas > 1 || o->annealing.on;
    sampler_steps of_shard =
        sali_ranks_own(&run->ranks, 0) ? sampler_steps_of(run) : (sampler_steps){ 0 };
    sal_status status = sali_sync_value(run, &of_shard, sizeof of_shard, err);
    if (status != SAL_OK) {
        return status;
    }
    run->sweep = of_shard.sweep;
    int64_t every = o->tempering.swap_every ? o->tempering.swap_every : of_shard.interval;
    o->tempering.swap_every = run->replicas > 1 ? every : 0;
    every = by_interval ? every : 1;
    o->thin = o->thin ? o->thin : every;
    if (o->warmup == 0 && run->inner) {
        o->warmup = o->trajectory->noise ? -1 : WARMUP_SWEEPS;
    }
    if (o->warmup == 0 && o->annealing.on) {
        int64_t steps = 0; /* too many are refused below */
        bool many = __builtin_mul_overflow(o->draws, o->thin, &steps);
        o->warmup = many || steps / ANNEAL_WARMUP < WARMUP ? WARMUP : steps / ANNEAL_WARMUP;
    }
    if (o->warmup == 0) {
        int64_t least = 0;
        if (__builtin_mul_overflow(WARMUP, every, &o->warmup) ||
            __builtin_mul_overflow(LEAST_INTERVALS, of_shard.interval, &least)) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "warmup is more than 2^63 steps");
        }
        o->warmup = o->warmup < least ? least : o->warmup;
    }
    o->warmup = o->warmup == -1 ? 0 : o->warmup;
    return check_steps(o, err);
}
