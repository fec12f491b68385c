/* SPDX-License-Identifier: MIT */
/* Making runs and taking them apart. */
#include "core/alloc.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/saved/tuning.h"
#include "core/vector/blas.h"
#include "models/clamp.h"
#include "models/fingerprint.h"
#include "run/part.h"
#include "run/sync.h"
#include "run/trajectory/trajectory.h"

/* ---- replicas */

/* SAL_ERR_DATA unless `tuning` was found with the run's sampler and settings, for a model with as
 * many free variables. */
static sal_status check_owner(const sal_run *run, const sal_tuning *tuning, sal_error *err)
{
    if (!sali_run_means_sampler(run, tuning->sampler)) {
        char text[SALI_SAMPLER_TEXT];
        sali_run_sampler_text(run, text);
        return sali_fail(err, SAL_ERR_DATA, "the tuning is of sampler '%.200s', not '%s'",
                         tuning->sampler, text);
    }
    if (tuning->variables != run->model->space->n_variables) {
        return sali_fail(err, SAL_ERR_DATA,
                         "the tuning is of a model with %lld free variables, not %lld",
                         (long long)tuning->variables, (long long)run->model->space->n_variables);
    }
    return SAL_OK;
}

/* SAL_ERR_ARGUMENT or SAL_ERR_DATA if `o` has options that the tuning decides already; `replicas`
 * is the number of temperatures of the tuning. */
static sal_status check_conflicts(const sal_run_options *o, int64_t replicas, sal_error *err)
{
    const char *what = o->step_size != 0           ? "step_size"
                       : o->step_size_rule         ? "step_size_rule"
                       : o->tempering.temperatures ? "temperatures"
                                                   : NULL;
    if (what) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "both %s and tuning are given", what);
    }
    if (o->tempering.replicas > 0 && o->tempering.replicas != replicas) {
        return sali_fail(err, SAL_ERR_DATA, "the tuning has %lld temperatures, not %lld",
                         (long long)replicas, (long long)o->tempering.replicas);
    }
    if (o->annealing.on && replicas > 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "a run either anneals or has replicas, and the tuning has them");
    }
    return SAL_OK;
}

/* SAL_ERR_DATA unless `temperatures` [n] of a tuning can be those of replicas: 2 or more, 1 first,
 * then rising. */
static sal_status check_tuned(int64_t n, const double *temperatures, sal_error *err)
{
    if (n < 2 || n > SALI_MOST_REPLICAS) {
        return sali_fail(err, SAL_ERR_DATA, "the tuning has %lld temperatures; expected 2 to %d",
                         (long long)n, SALI_MOST_REPLICAS);
    }
    return sali_run_check_temperatures(n, temperatures, SALI_TUNED_TEMPERATURES, err) == SAL_OK
               ? SAL_OK
               : sali_fail_prefix(err, SAL_ERR_DATA, "the tuning");
}

/* Set run->replicas from the options or, if given, from their tuning, which must be of this sampler
 * and model. */
static sal_status count_replicas(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    run->replicas = o->tempering.replicas > 0 ? o->tempering.replicas : 1;
    if (!o->tuning) {
        return SAL_OK;
    }
    const double *temperatures;
    const bool listed = sal_tuning_values(o->tuning, SALI_TUNED_TEMPERATURES, &temperatures,
                                          &run->replicas, NULL) == SAL_OK;
    run->replicas = listed ? run->replicas : 1;
    sal_status status = check_owner(run, o->tuning, err);
    status = status ? status : check_conflicts(o, run->replicas, err);
    status = status || !listed ? status : check_tuned(run->replicas, temperatures, err);
    return status || run->replicas <= (INT64_C(1) << 31) / o->chains
               ? status
               : sali_fail(err, SAL_ERR_ARGUMENT, "chains times temperatures is more than 2^31");
}

/* ---- parts */

/* Allocate `self` of each part that the run wants, and call its `create`. Parts are created in
 * order, because `wanted` of a later part may ask for an earlier one. */
static sal_status create_parts(sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int k = 0; status == SAL_OK && k < SALI_PARTS; k++) {
        const sali_run_part *part = sali_run_parts[k];
        if (part->wanted && !part->wanted(run)) {
            continue;
        }
        void *self = part->size ? sali_memory_take(&run->memory, 1, part->size) : run;
        if (!self) {
            return sali_fail_memory(err);
        }
        if (part->size) {
            *(sal_run **)self = run;
        }
        run->selves[k] = self;
        status = part->create ? part->create(self, err) : SAL_OK;
    }
    return status;
}

static sal_status open_parts(sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    SALI_EACH_PART (run, k, part, open) {
        status = status ? status : part->open(run->selves[k], err);
    }
    return status;
}

static sal_status begin_parts(sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    SALI_EACH_PART (run, k, part, begin) {
        status = status ? status : part->begin(run->selves[k], err);
    }
    return status;
}

static sal_status finish_parts(sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    SALI_EACH_PART (run, k, part, finish) {
        status = status ? status : part->finish(run->selves[k], err);
    }
    return status;
}

/* ---- the whole run */

/* All that comes before the first state: resolve the options, clamp, choose the sampler, divide the
 * chains, create shards and parts, and compare options across ranks. Collective. */
static sal_status prepare_run(sal_run *run, sal_model *model, sal_error *err)
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
    status = status ? status : count_replicas(run, err);
    status = status ? status : sali_run_divide(run, err);
    run->stream_seed = status ? 0 : sali_run_stream_seed(run);
    if (run->earlier > 0 && !o->resume) { /* new numbers, though the starts may be the same */
        run->stream_seed = sali_hash_whole(run->stream_seed, run->earlier);
    }
    status = status ? status : create_parts(run, err);
    status = status ? status : sali_run_create_shards(run, err);
    status = sali_sync_status(run, status, err);
    status = status ? status : sali_run_resolve_intervals(run, err);
    status = status ? status : open_parts(run, err);
    status = sali_sync_status(run, status ? status : sali_run_note_options(run, err), err);
    status = status ? status : sali_sync_compare(run, err);
    return sali_sync_status(run, status ? status : sali_sync_create(run, err), err);
}

/* Put the chains where they start, or where an earlier run left them, and record the state: both
 * places are anchors. A run that is stopped while it searches for its starts has no anchor: there
 * is nothing to resume. */
static sal_status begin_run(sal_run *run, sal_error *err)
{
    sal_status status;
    if (run->options.resume) {
        status = sali_sync_status(run, sali_run_compare_given(run, err), err);
        status = status ? status : sali_run_restore(run, err);
        run->begun = sali_now(); /* reading earlier draws again takes none of the time */
    } else {
        status = sali_run_start_chains(run, run->options.init, err);
        if (status != SAL_OK || run->stopped) {
            return status;
        }
        status = begin_parts(run, err);
    }
    status = status ? status : sali_run_note_state(run, err);
    return status ? status : sali_sync_stop(run, err); /* a callback may have stopped it */
}

/* All that comes before the first step. */
static sal_status open_run(sal_run *run, sal_model *model, sal_error *err)
{
    sal_status status = prepare_run(run, model, err);
    status = status ? status : begin_run(run, err);
    return status && run->options.resume && run->options.resume->name
               ? sali_fail_prefix(err, status, "%s", run->options.resume->name)
               : status;
}

/* A run from its options to its last step, without `finish_run`. */
static sal_status run_all(sal_run *run, sal_model *model, sal_error *err)
{
    sal_status status = open_run(run, model, err);
    if (status == SAL_OK && !run->sampling && !run->stopped) {
        status = sali_run_warm_up(run, err);
    }
    if (status == SAL_OK && !run->stopped) {
        status = sali_run_sample(run, err);
    }
    return status;
}

/* What follows the last step. On several ranks all results go to rank 0, which alone answers later
 * questions. */
static sal_status finish_run(sal_run *run, sal_error *err)
{
    sal_status status = sali_sync_status(run, finish_parts(run, err), err);
    status = status ? status : sali_sync_finish(run, err);
    const bool begun = sali_run_state_find(run->state, "sampling") != NULL; /* it has an anchor */
    status = status || run->calls.state || !begun ? status : sali_run_collect_state(run, err);
    run->over = true;
    return status;
}

/* Set the caller's pointers to NULL: what they point to may not outlive the call. */
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

/* A run that has its options, and nothing else. */
static sal_status create_run(const sal_run_options *options, sal_run **out, sal_error *err)
{
    sal_run *run = SALI_NEW(sal_run);
    sal_status status =
        sal_comm_agree(options ? options->comm : NULL, run ? SAL_OK : sali_fail_memory(err), err);
    if (status != SAL_OK) {
        sali_free(run);
        return status;
    }
    run->options = options ? *options : (sal_run_options){ 0 };
    run->search.coolings = 1;
    run->begun = sali_now();
    *out = run;
    return SAL_OK;
}

sal_status sali_run_once(sal_model *model, const sal_run_options *options, sal_run **out,
                         sal_error *err)
{
    sal_run *run;
    sal_status status = create_run(options, &run, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_blas_single_thread_begin(); /* once for all windows */
    status = run_all(run, model, err);
    sali_blas_single_thread_end();
    status = status ? status : finish_run(run, err);
    forget_pointers(&run->options);
    return SALI_GIVE(status, run, out, sal_run_destroy);
}

sal_status sali_run_endless(sal_model *model, const sal_run_options *options, bool apart,
                            int64_t earlier, sal_run **out, sal_error *err)
{
    sal_run *run;
    sal_status status = create_run(options, &run, err);
    if (status != SAL_OK) {
        return status;
    }
    run->endless = true;
    run->apart = apart;
    run->earlier = earlier;
    status = open_run(run, model, err);
    if (status == SAL_OK && !run->sampling && run->options.warmup == 0) {
        status = sali_run_warm_up(run, err);
    }
    forget_pointers(&run->options);
    return SALI_GIVE(status, run, out, sal_run_destroy);
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
    sali_memory_free(&run->memory);
    sal_run_state_destroy(run->state);
    sal_model_destroy(run->model);
    sal_model_destroy(run->base);
    sali_free(run);
}
