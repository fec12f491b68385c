/* SPDX-License-Identifier: MIT */
/* Making runs and taking them apart. */
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/vector/blas.h"
#include "models/clamp.h"
#include "run/run.h"
#include "run/sync.h"
#include "run/trajectory/trajectory.h"

/* ---- step sizes and temperatures */

/* How step sizes are found, ADAPT or SEARCH; USUAL: not at all. */
static sal_status choose_rule(const sal_run *run, sal_step_size_rule *rule, sal_error *err)
{
    const sal_run_options *o = &run->options;
    bool has_step_size = run->sampler->has_step_size;
    bool exact = !run->sampler->unadjusted;
    *rule = o->step_size_rule;
    if (*rule != SAL_STEP_SIZE_USUAL && !has_step_size) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' has no step size",
                         run->sampler->name);
    }
    if (*rule != SAL_STEP_SIZE_USUAL && !exact) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "sampler '%s' accepts every proposal, so nothing keeps a tuned step size "
                         "from growing: give one",
                         run->sampler->name);
    }
    if (o->step_size != 0 || !has_step_size || !exact || run->tuned) {
        *rule = SAL_STEP_SIZE_USUAL;
    } else if (*rule == SAL_STEP_SIZE_USUAL) {
        *rule = SAL_STEP_SIZE_ADAPT;
    }
    return *rule == SAL_STEP_SIZE_USUAL
               ? SAL_OK
               : sali_sampler_check_adapts(run->sampler, &run->settings, err);
}

/* Temperatures and step sizes, given ones or where they start from. */
static sal_status prepare_tuning(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    int64_t replicas = o->tempering.replicas > 0 ? o->tempering.replicas : 1;
    sal_step_size_rule rule;
    sal_status status = choose_rule(run, &rule, err);
    if (status == SAL_OK && o->tuning) {
        return sali_run_tune(run, err);
    }
    status = status ? status
                    : sali_ladder_create(&run->ladder, &run->memory, replicas,
                                         o->tempering.temperatures, err);
    run->ladder.adapt &= !run->tuned;
    status = status
                 ? status
                 : sali_step_sizes_create(&run->step_sizes, &run->memory, run->model->space,
                                          run->ladder.n, rule, run->settings.step_size, NULL, err);
    return status;
}

/* ---- records */

/* Whether so many bytes fit into the machine's memory: it is promised to anyone who asks, and the
 * process killed when it is used. */
static bool fits_memory(double bytes)
{
    return bytes < (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
}

static sal_status allocate(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    const sal_space *whole = run->base->space;
    int64_t kept = 0, codes = 0;
    if (__builtin_mul_overflow(o->chains, o->draws, &kept) ||
        __builtin_mul_overflow(kept, whole->n_variables, &codes)) {
        return sali_fail_memory(err);
    }
    run->draw_bytes = whole->max_states > 256 || whole->unbounded ? 4 : 1;
    double bytes = 2.0 * sizeof(double) * (double)kept +
                   (o->record.draws ? (double)run->draw_bytes * (double)codes : 0.0);
    if (!fits_memory(bytes)) {
        return sali_fail(err, SAL_ERR_MEMORY,
                         "%lld chains of %lld draws need %.1f GB, more than this machine has; thin "
                         "them, or ask for fewer",
                         (long long)o->chains, (long long)o->draws, bytes / 1e9);
    }
    sali_memory *m = &run->memory;
    sal_status status = sali_run_divide(run, err);
    if (status != SAL_OK) {
        return status;
    }
    run->log_prob = SALI_TAKE(m, double, run->rows * o->draws);
    run->distance = SALI_TAKE(m, double, run->rows * o->draws);
    run->moved = SALI_TAKE(m, double, o->chains);
    run->counts = SALI_TAKE(m, uint32_t, 2 * run->rows * run->model->space->bins);
    if (run->model->space->unbounded) {
        run->moments = SALI_TAKE(m, sali_running, 2 * run->rows * run->model->space->n_variables);
    }
    run->shards = SALI_TAKE(m, sali_run_shard, run->n_shards);
    run->shard_chains = SALI_TAKE(m, sali_chains *, run->n_shards);
    run->shard_selves = SALI_TAKE(m, void *, run->n_shards);
    run->shard_swaps = SALI_TAKE(m, sali_swaps *, run->n_shards);
    if (o->annealing.schedule == SAL_ANNEAL_REHEAT) {
        run->heating.standings = SALI_TAKE(m, sali_standing, o->chains);
        run->heating.best = SALI_TAKE(m, int32_t, run->model->space->n_variables);
    }
    if (o->record.draws) {
        run->draws =
            sali_memory_take(m, run->rows * o->draws * whole->n_variables, (size_t)run->draw_bytes);
    }
    return sali_memory_status(m, err);
}

/* Rows of `draws` entries of `size` bytes become rows of `made`. */
static void close_gaps(void *array, int64_t chains, int64_t draws, int64_t made, size_t size)
{
    char *bytes = array;
    for (int64_t c = 1; bytes && made < draws && c < chains; c++) {
        memmove(bytes + (size_t)(c * made) * size, bytes + (size_t)(c * draws) * size,
                (size_t)made * size);
    }
}

/* Draws that a stopped run did not make leave no gaps between the chains. */
static void compact(sal_run *run)
{
    int64_t chains = run->rows, draws = run->options.draws, made = run->draws_made;
    close_gaps(run->log_prob, chains, draws, made, sizeof *run->log_prob);
    close_gaps(run->distance, chains, draws, made, sizeof *run->distance);
    close_gaps(run->draws, chains, draws, made,
               (size_t)(run->base->space->n_variables * run->draw_bytes));
}

static sal_status prepare(sal_run *run, sal_model *model, sal_error *err)
{
    const sal_run_options *o = &run->options;
    const bool noise = o->trajectory && o->trajectory->noise;
    sal_status made = noise ? sal_trajectory_model(o->trajectory, model, &run->base, err) : SAL_OK;
    run->base = run->base ? run->base : sali_model_hold(model);
    model = run->base;
    sal_status status = sali_sync_begin(run, err);
    status = sali_sync_status(run, status ? status : made, err);
    status = status ? status : sali_run_resolve(&run->options, err);
    status = status || o->trajectory ? status : sali_model_check_joint(model, err);
    if (status == SAL_OK && o->clamps.n > 0) {
        status = sal_model_clamp(model, o->clamps.n, o->clamps.variables, o->clamps.codes,
                                 &run->model, err);
    } else {
        run->model = sali_model_hold(model);
    }
    status = status ? status : sali_run_take_given(run, err);
    status = status ? status : sali_run_choose_sampler(run, err);
    status = status ? status : prepare_tuning(run, err);
    status = status || run->ladder.n == 1
                 ? status
                 : sali_run_check_independent(run->sampler, "", "swaps between temperatures", err);
    status = status ? status : allocate(run, err);
    run->stream_seed = status ? 0 : sali_run_stream_seed(run);
    status = status ? status : sali_run_create_shards(run, err);
    status = status ? status : sali_statistic_create(run, err);
    status = status ? status : sali_seams_create(run, err);
    status = status ? status : sali_sync_create(run, err);
    status = sali_sync_status(run, status, err);
    status = status ? status : sali_run_resolve_intervals(run, err);
    status = sali_sync_status(run, status ? status : sali_run_note_options(run, err), err);
    status = status ? status : sali_sync_compare(run, err);
    status = status ? status : sali_queue_create(run, err);
    return sali_sync_status(run, status, err);
}

/* Warm-up at the first temperature of annealing. */
static sal_status prepare_annealing(sal_run *run, sal_error *err)
{
    if (!run->options.annealing.on) {
        return SAL_OK;
    }
    sal_status status = sali_anneal_range(run, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        sali_run_shard *shard = &run->shards[k];
        sali_set_temperature(shard->chains, run->anneal_from);
        if (sali_ranks_own(&run->ranks, k)) {
            sali_engine(run->sampler)->refresh(shard->self, shard->chains);
        }
    }
    return status;
}

/* The chains where they start, or where an earlier run left them; both an anchor. A run that is
 * stopped while it searches for its starts has no anchor: there is nothing to resume. */
static sal_status begin(sal_run *run, sal_error *err)
{
    sal_status status;
    if (run->options.resume) {
        status = sali_sync_status(run, sali_run_compare_given(run, err), err);
        status = status ? status : sali_run_restore(run, err);
    } else {
        status = sali_run_start_chains(run, run->options.init, err);
        if (status != SAL_OK || run->stopped) {
            return status;
        }
        status = prepare_annealing(run, err);
    }
    return status ? status : sali_run_note_state(run, err);
}

/* All of a run. */
static sal_status run_all(sal_run *run, sal_model *model, sal_error *err)
{
    sal_status status = prepare(run, model, err);
    status = status ? status : begin(run, err);
    if (status != SAL_OK && run->options.resume && run->options.resume->name) {
        return sali_fail_prefix(err, status, "%s", run->options.resume->name);
    }
    if (status == SAL_OK && !run->sampling && !run->stopped) {
        status = sali_run_warm_up(run, err);
    }
    if (status == SAL_OK && !run->stopped) {
        status = sali_run_sample(run, err);
    }
    return status;
}

static void count_shard(void *context, int64_t k, double *counts)
{
    sali_trajectory_counts(((sal_run *)context)->shard_selves[k], counts);
}

/* What the shards counted of a trajectory's levels. */
static sal_status count_levels(sal_run *run, sal_error *err)
{
    const sali_warmup shown = { .n_shards = run->n_shards, .ranks = &run->ranks };
    return run->sampler == &sali_trajectory_record
               ? sali_warmup_gather(&shown, run->levels + 2, count_shard, run, &run->level_counts,
                                    err)
               : SAL_OK;
}

/* Pointers of the caller's are not kept. */
static void forget_pointers(sal_run_options *o)
{
    o->comm = NULL;
    o->own_samplers = NULL;
    o->trajectory = NULL;
    o->init = NULL;
    o->resume = NULL;
    o->tempering.temperatures = NULL;
    o->tuning = NULL;
    o->preconditioner = NULL;
    o->clamps.variables = NULL;
    o->clamps.codes = NULL;
}

sal_status sali_run_once(sal_model *model, const sal_run_options *options, sal_run **out,
                         sal_error *err)
{
    sal_run *run = SALI_NEW(sal_run);
    if (!run) {
        return sali_fail_memory(err);
    }
    run->options = options ? *options : (sal_run_options){ 0 };
    run->coolings = 1;
    sali_blas_single_thread_begin(); /* once for all windows */
    sal_status status = run_all(run, model, err);
    sali_blas_single_thread_end();
    if (status == SAL_OK) {
        sali_decoded_finish(run);
        status = count_levels(run, err);
        status = status ? status : sali_sync_finish(run, err);
        status = status || run->calls.state ? status : sali_run_collect_state(run, err);
    }
    if (status == SAL_OK) {
        compact(run);
        run->over = true;
        status = sali_run_keep_past(run, err);
    }
    if (status != SAL_OK) {
        sal_run_destroy(run);
        return status;
    }
    if (run->ladder.n > 1) {
        sali_ladder_finish(&run->ladder, run->options.chains, run->n_shards, run->shard_swaps);
    }
    forget_pointers(&run->options);
    *out = run;
    return SAL_OK;
}

void sal_run_model(const sal_run *run, sal_model **model)
{
    *model = sali_model_hold(run->base);
}

void sal_run_destroy(sal_run *run)
{
    if (!run) {
        return;
    }
    for (int64_t k = 0; run->shards && k < run->n_shards; k++) {
        sali_run_shard *shard = &run->shards[k];
        sali_sampler_close(run->sampler, shard->self);
        sali_chains_destroy(shard->chains);
    }
    sali_sampler_unshare(run->sampler, run->shared);
    sali_free(run->level_counts);
    sali_memory_free(&run->memory);
    sal_run_state_destroy(run->state);
    sal_model_destroy(run->model);
    sal_model_destroy(run->base);
    sali_free(run);
}
