/* Options of a run: defaults and ranges. */
#include <math.h>

#include "core/error.h"
#include "run/run.h"

/* Steps from one swap to the next of samplers that move all variables at once. */
#define FEW_STEPS 5
/* The default warm-up, in steps, or in intervals where replicas swap; and how many intervals it has
 * at least: for a million variables, 1000 steps of one are nothing. */
#define WARMUP 1000
#define LEAST_INTERVALS 10
/* That of sweeps along a trajectory, which begin from a population that climbed it. */
#define WARMUP_SWEEPS 20

static sal_status check_tempering(const sal_run_options *o, sal_error *err)
{
    sal_status status = sali_check_range("replicas", o->replicas, 0, SALI_MOST_REPLICAS, err);
    status =
        status ? status : sali_check_range("swap_every", o->swap_every, 0, INT64_C(1) << 40, err);
    if (status == SAL_OK && o->temperatures && o->replicas < 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "temperatures are given, but replicas is 0");
    }
    if (status == SAL_OK && o->temperatures) {
        return sali_ladder_check(o->replicas, o->temperatures, "temperatures", err);
    }
    return status;
}

static sal_status check_annealing(const sal_run_options *o, sal_error *err)
{
    const double ends[] = { o->anneal_from, o->anneal_to };
    for (int k = 0; k < 2; k++) {
        if (ends[k] != 0 && !(ends[k] >= 1e-100 && ends[k] <= 1e100)) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "%s is %g; expected a positive temperature",
                             k ? "anneal_to" : "anneal_from", ends[k]);
        }
    }
    if (o->anneal && o->replicas > 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "a run either anneals or has replicas, not both");
    }
    return SAL_OK;
}

static sal_status check_step_size(const sal_run_options *o, sal_error *err)
{
    if (o->step_size != 0 && o->step_size_rule != SAL_STEP_SIZE_USUAL) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "step_size is given, so step_size_rule has nothing to find");
    }
    return sali_check_range("step_size_rule", o->step_size_rule, 0, SAL_STEP_SIZE_SEARCH, err);
}

static sal_status check_clamps(const sal_run_options *o, sal_error *err)
{
    if (o->clamped > 0 && (!o->clamp_variables || !o->clamp_codes)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "clamped is %lld, but %s is NULL",
                         (long long)o->clamped,
                         o->clamp_variables ? "clamp_codes" : "clamp_variables");
    }
    return SAL_OK;
}

/* Warm-up and draws, as far as they are known, must fit a counter of steps. */
static sal_status check_steps(const sal_run_options *o, sal_error *err)
{
    int64_t steps;
    if (__builtin_mul_overflow(o->draws, o->thin, &steps) ||
        __builtin_add_overflow(o->warmup, steps, &steps)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "draws times thin is more than 2^63 steps");
    }
    return SAL_OK;
}

sal_status sali_run_resolve(sal_run_options *o, const sal_model *model, sal_error *err)
{
    sal_status status = SAL_OK;
    if (!o->sampler && o->trajectory) {
        o->sampler = sal_trajectory_sampler(o->trajectory, NULL);
    } else if (!o->sampler) {
        status = sali_sampler_usual(model, &o->sampler, err);
    }
    o->chains = o->chains ? o->chains : 4;
    o->draws = o->draws ? o->draws : 1000;
    status = status ? status : check_tempering(o, err);
    status = status ? status : check_annealing(o, err);
    status = status ? status : check_step_size(o, err);
    int64_t replicas = o->replicas > 0 ? o->replicas : 1;
    status = status ? status
                    : sali_check_range("chains", o->chains, 1, (INT64_C(1) << 31) / replicas, err);
    status = status ? status : sali_check_range("draws", o->draws, 1, INT64_C(1) << 40, err);
    status = status ? status : sali_check_range("thin", o->thin, 0, INT64_C(1) << 40, err);
    status = status ? status : sali_check_range("warmup", o->warmup, -1, INT64_C(1) << 50, err);
    status = status ? status : sali_check_range("threads", o->threads, 0, 4096, err);
    status = status ? status : sali_check_range("clamped", o->clamped, 0, INT32_MAX, err);
    status = status ? status : check_clamps(o, err);
    return status ? status : check_steps(o, err);
}

/* Steps in which the sampler has moved, or tried to move, about all variables. */
static int64_t interval(const sal_run *run)
{
    const sali_run_shard *shard = &run->shards[0];
    if (run->sampler->flags & SALI_SAMPLER_STEP_SIZE) {
        return FEW_STEPS;
    }
    return run->sampler->flags & SALI_SAMPLER_SWEEP && run->sampler->pieces
               ? run->sampler->pieces(shard->self, shard->chains)
               : run->model->space->n_variables;
}

sal_status sali_run_resolve_intervals(sal_run *run, sal_error *err)
{
    sal_run_options *o = &run->options;
    bool by_interval = run->ladder.n > 1 || o->anneal;
    int64_t every = interval(run);
    run->ladder.every = o->swap_every ? o->swap_every : every;
    every = by_interval ? run->ladder.every : 1;
    o->thin = o->thin ? o->thin : every;
    if (o->warmup == 0 && run->inner) {
        o->warmup = WARMUP_SWEEPS;
    }
    if (o->warmup == 0) {
        int64_t least = 0;
        if (__builtin_mul_overflow(WARMUP, every, &o->warmup) ||
            __builtin_mul_overflow(LEAST_INTERVALS, interval(run), &least)) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "warmup is more than 2^63 steps");
        }
        o->warmup = o->warmup < least ? least : o->warmup;
    }
    o->warmup = o->warmup == -1 ? 0 : o->warmup;
    if (run->step_sizes.rule == SAL_STEP_SIZE_SEARCH && o->warmup < SALI_SEARCH_LEAST) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the search for a step size needs a warm-up of %d steps or more; warmup "
                         "is %lld",
                         SALI_SEARCH_LEAST, (long long)o->warmup);
    }
    return check_steps(o, err);
}
