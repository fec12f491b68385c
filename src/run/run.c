/* SPDX-License-Identifier: MIT */
/* Making runs and taking them apart. */
#include "run/run.h"

#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/vector/blas.h"
#include "core/error.h"
#include "core/shard.h"
#include "samplers/langevin/preconditioner.h"
#include "samplers/start.h"
#include "run/search.h"
#include "run/sync.h"
#include "run/trajectory.h"
#include "models/clamp.h"
#include "models/tape_model.h"

/* ---- the sampler, its step sizes and temperatures */

/* The sampler's shared state. */
static sal_status share_sampler(sal_run *run, sal_error *err)
{
    const double *given = run->options.preconditioner;
    double *part = NULL;
    if (given && !sali_engine(run->sampler)->preconditioned) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' takes no preconditioner",
                         run->sampler->name);
    }
    if (given && !(part = sali_preconditioner_restrict(run->base, run->model, given))) {
        return sali_fail_memory(err);
    }
    run->settings.preconditioner = part;
    sal_status status =
        sali_sampler_share(run->sampler, run->model, &run->settings, &run->shared, err);
    run->settings.preconditioner = NULL;
    sali_free(part);
    return status;
}

sal_status sali_run_check_independent(const sali_sampler *sampler, const char *who,
                                      const char *what, sal_error *err)
{
    const bool coupled = sali_engine(sampler)->coupled;
    return !sampler->unadjusted && !coupled
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%ssampler '%s' %s: %s want exact, independent chains", who,
                           sampler->name, coupled ? "couples its chains" : "is approximate", what);
}

/* Whether a run along a trajectory can be made as asked. */
static sal_status check_trajectory(const sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    const char *what = o->tempering.replicas > 1         ? "replicas at other temperatures"
                       : o->annealing.on                 ? "annealing"
                       : o->tuning                       ? "a tuning"
                       : o->step_size_rule               ? "a step size that is adapted"
                       : o->preconditioner               ? "a preconditioner"
                       : o->trajectory->noise && o->init ? "starting states"
                       : run->base->space->n_variables != run->model->space->n_variables ||
                               sali_clamp_inner(run->model) != run->model
                           ? "clamped variables"
                           : NULL;
    if (what) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "a run along a trajectory does not go together with %s", what);
    }
    if (!sali_trajectory_fits(o->trajectory, run->model)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "the trajectory is of another model than %s",
                         run->model->name);
    }
    return o->trajectory->noise
               ? sali_check_field_sampler(run->sampler, "", err)
               : sali_run_check_independent(run->sampler, "", "sweeps along a trajectory", err);
}

/* Whether a sampler is that of the training, however its settings are spelt. */
static bool is_trained(const sal_run *run)
{
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    return sali_sampler_choose_from(run->options.own_samplers, run->options.trajectory->sampler,
                                    run->model, 0, &sampler, &settings, NULL) == SAL_OK &&
           sampler == run->inner &&
           memcmp(settings.values, run->inner_settings.values, sizeof settings.values) == 0;
}

/* The sampler that was asked for moves states at each level of sweeps over all. */
static sal_status take_trajectory(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    if (!o->trajectory) {
        return SAL_OK;
    }
    sal_status status = check_trajectory(run, err);
    if (status != SAL_OK) {
        return status;
    }
    run->inner = run->sampler;
    const bool noise = o->trajectory->noise;
    run->levels = noise ? o->trajectory->noise->T : o->trajectory->n;
    run->inner_settings = run->settings;
    run->sampler = noise ? &sali_denoising_record : &sali_trajectory_record;
    run->settings = (sali_sampler_settings){
        .step_size = run->settings.step_size,
        .trajectory = o->trajectory,
        .level_steps = o->steps_per_level ? o->steps_per_level
                       : noise            ? 2
                                          : 1,
        .inner = run->inner,
        .inner_settings = &run->inner_settings,
        .level_step_sizes = o->step_size == 0 && is_trained(run),
    };
    return SAL_OK;
}

/* Whether chains, or replicas of them, have temperatures other than 1. */
static bool is_tempered(const sal_run_options *o)
{
    int64_t replicas = o->tempering.replicas;
    if (o->tuning && replicas == 0) {
        sal_tuning_values(o->tuning, "temperatures", NULL, &replicas, NULL);
    }
    return o->annealing.on || replicas > 1;
}

/* The sampler of the options, or the usual one of the model that is sampled. */
static sal_status choose_sampler(sal_run *run, sal_error *err)
{
    sal_run_options *o = &run->options;
    sal_status status =
        o->sampler ? SAL_OK : sali_sampler_usual(run->model, !is_tempered(o), &o->sampler, err);
    status = status ? status
                    : sali_sampler_choose_from(o->own_samplers, o->sampler, run->model,
                                               o->step_size, &run->sampler, &run->settings, err);
    status = status ? status : take_trajectory(run, err);
    if (status == SAL_OK) {
        /* the caller's may not live on */
        run->options.sampler =
            sali_sampler_called(run->inner ? run->inner : run->sampler, o->sampler);
        status = share_sampler(run, err);
    }
    return status;
}

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

/* ---- creation */

/* Whether so many bytes fit into the machine's memory: it is promised to anyone who asks, and the
 * process killed when it is used. */
static bool fits_memory(double bytes)
{
    return bytes < (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
}

/* So many ladders keep all threads busy, and shards do without waiting for each other. */
#define MANY_LADDERS 32

/* Each shard has whole ladders; or each ladder is cut into as many parts, of two or more slots, so
 * that the coldest one swaps within its shard. */
static int64_t count_shards(const sal_run *run)
{
    const int64_t chains = run->options.chains, most = run->ladder.n / 2;
    const int64_t n = sali_shard_count(chains * run->ladder.n);
    const int64_t parts = n / chains < most ? n / chains : most;
    if (sali_engine(run->sampler)->coupled) {
        return 1;
    }
    return n < chains ? n : parts > 1 && chains < MANY_LADDERS ? chains * parts : chains;
}

/* The first slot of shard k. */
static int64_t slot_begin(const sal_run *run, int64_t k)
{
    const int64_t chains = run->options.chains, replicas = run->ladder.n, n = run->n_shards;
    const int64_t parts = n > chains ? n / chains : 1;
    return parts > 1 ? k / parts * replicas + sali_shard_first(replicas, parts, k % parts)
                     : sali_shard_first(chains, n, k) * replicas;
}

/* Shards and ranks; and whose draws are recorded here. */
static sal_status divide(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    run->n_shards = count_shards(run);
    run->slot_begin = SALI_TAKE(&run->memory, int64_t, run->n_shards + 1);
    run->chain_begin = SALI_TAKE(&run->memory, int64_t, run->n_shards + 1);
    sal_status status = sali_ranks_create(&run->ranks, o->comm, run->n_shards, &run->memory, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k <= run->n_shards; k++) {
        run->slot_begin[k] = slot_begin(run, k);
        run->chain_begin[k] = (run->slot_begin[k] + run->ladder.n - 1) / run->ladder.n;
    }
    const bool all = sal_comm_rank(o->comm) == 0 || o->annealing.schedule == SAL_ANNEAL_REHEAT;
    run->rank = sal_comm_rank(o->comm);
    run->row0 = all ? 0 : run->chain_begin[run->ranks.first];
    run->rows = all ? o->chains : run->chain_begin[run->ranks.end] - run->row0;
    return SAL_OK;
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
    sal_status status = divide(run, err);
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

/* Random streams, temperatures and step sizes of a shard's chains. */
static void number_chains(sal_run *run, int64_t k)
{
    sali_run_shard *shard = &run->shards[k];
    shard->chains->coldest = run->ladder.n > 1 ? run->ladder.beta[0] : 0;
    for (int64_t c = 0; c < shard->chains->n; c++) {
        const int64_t slot = run->slot_begin[k] + c, replica = slot % run->ladder.n;
        shard->chains->id[c] = (uint32_t)slot;
        shard->chains->beta[c] = run->ladder.beta[replica];
        shard->chains->step_size[c] = run->step_sizes.value[replica];
    }
}

/* One that another rank moves. */
static sal_status create_remote(sal_run *run, sali_run_shard *shard, int64_t slots, sal_error *err)
{
    const bool first = sal_comm_rank(run->ranks.comm) == 0;
    return sali_chains_create_remote(run->model, slots, first, run->stream_seed, &shard->chains,
                                     err);
}

/* What all ranks know of a shard. */
static sal_status create_numbers(sal_run *run, sali_run_shard *shard, bool own, sal_error *err)
{
    sal_status status = SAL_OK;
    if (run->ladder.n > 1) {
        status = sali_swaps_create(&shard->swaps, &run->memory, shard->chains, run->ladder.n, err);
    }
    if (status == SAL_OK && (run->options.annealing.on || run->options.record.best)) {
        status = sali_best_create(run, shard, own, err);
        status = status ? status : sali_decoded_create(run, shard, own, err);
    }
    return status;
}

static sal_status create_own(sal_run *run, sali_run_shard *shard, int64_t slots, sal_error *err)
{
    const sal_space *space = run->model->space;
    unsigned wants = sali_sampler_wants(run->sampler);
    shard->reference = SALI_TAKE(&run->memory, int32_t, space->n_variables);
    shard->full = SALI_TAKE(&run->memory, int32_t, run->base->space->n_variables);
    if (run->memory.refused) {
        return sali_fail_memory(err);
    }
    sali_stream stream = { .seed = run->options.seed, .purpose = SALI_RNG_STATISTIC };
    sali_random_codes(space, &stream, shard->reference);
    sal_status status =
        sali_chains_create(run->model, slots, wants, run->stream_seed, &shard->chains, err);
    return status ? status
                  : sali_sampler_open(run->sampler, &run->settings, run->shared, shard->chains,
                                      &shard->self, err);
}

static sal_status create_shard(sal_run *run, int64_t k, sal_error *err)
{
    sali_run_shard *shard = &run->shards[k];
    const bool own = sali_ranks_own(&run->ranks, k);
    const int64_t slots = run->slot_begin[k + 1] - run->slot_begin[k];
    shard->first = run->chain_begin[k];
    shard->groups = run->chain_begin[k + 1] - shard->first;
    sal_status status =
        own ? create_own(run, shard, slots, err) : create_remote(run, shard, slots, err);
    status = status ? status : create_numbers(run, shard, own, err);
    if (status == SAL_OK) {
        number_chains(run, k);
    }
    return status;
}

static sal_status create_shards(sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        sali_run_shard *shard = &run->shards[k];
        status = create_shard(run, k, err);
        run->shard_chains[k] = shard->chains;
        run->shard_selves[k] = shard->self;
        run->shard_swaps[k] = &shard->swaps;
    }
    return status;
}

/* ---- starting states */

/* Starting codes of the free variables of all replicas, from those of the whole space by chain. */
static sal_status restrict_init(sal_run *run, const int32_t *init, int32_t **codes, sal_error *err)
{
    int64_t V = run->model->space->n_variables, whole = run->base->space->n_variables;
    *codes = NULL;
    if (!init) {
        return SAL_OK;
    }
    sal_status status = sali_codes_check(run->base->space, run->options.chains, init, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status, "init");
    }
    *codes = SALI_NEW_ARRAY(int32_t, run->options.chains * run->ladder.n * V);
    if (!*codes) {
        return sali_fail_memory(err);
    }
    for (int64_t c = 0; c < run->options.chains * run->ladder.n; c++) {
        sali_run_restrict(run, 1, init + c / run->ladder.n * whole, *codes + c * V);
    }
    return SAL_OK;
}

/* The searches for starting states, by shard. */
typedef struct start_work {
    sal_run *run;
    const int32_t *init;
    const sal_model *guide;
    sali_start_search **searches; /* [n_shards] NULL for shards of other ranks */
    bool *over;                   /* [n_shards] */
} start_work;

sal_status sali_run_shards_status(const sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t k = run->ranks.first; status == SAL_OK && k < run->ranks.end; k++) {
        status = run->shards[k].status;
        if (status != SAL_OK && err) {
            *err = run->shards[k].error;
        }
    }
    return status;
}

static void begin_shard(void *context, int64_t k)
{
    start_work *work = context;
    sali_run_shard *shard = &work->run->shards[k];
    const int64_t first = work->run->slot_begin[k] * work->run->model->space->n_variables;
    shard->status = sali_start_search_create(shard->chains, work->init ? work->init + first : NULL,
                                             work->guide, &work->searches[k], &shard->error);
}

static void step_shard(void *context, int64_t k)
{
    start_work *work = context;
    work->over[k] = sali_start_search_step(work->searches[k]);
}

/* End a shard's search: its chains have their states, unless the run was stopped. */
static void end_shard(void *context, int64_t k)
{
    start_work *work = context;
    sali_run_shard *shard = &work->run->shards[k];
    shard->status = sali_start_search_status(work->searches[k], &shard->error);
    if (shard->status == SAL_OK && work->over[k]) {
        sali_engine(work->run->sampler)->refresh(shard->self, shard->chains);
    }
}

/* Step all shards' searches until they are over, or the caller stops the run: the caller is asked
 * between steps. */
static sal_status search_starts(start_work *work, sal_error *err)
{
    sal_run *run = work->run;
    bool more = true;
    sali_run_shards(run, begin_shard, work);
    sal_status status = sali_sync_status(run, sali_run_shards_status(run, err), err);
    while (status == SAL_OK && more && !run->stopped) {
        sali_run_shards(run, step_shard, work);
        more = false;
        for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
            more |= !work->over[k];
        }
        status = sali_sync_any(run, &more, err);
        if (status == SAL_OK && more) {
            status = sali_run_ask(run, 0, err);
        }
    }
    if (status == SAL_OK) {
        sali_run_shards(run, end_shard, work);
        status = sali_run_shards_status(run, err);
    }
    return status;
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

static sal_status start_chains(sal_run *run, const int32_t *init, sal_error *err)
{
    int32_t *codes = NULL;
    sal_model *guide = NULL;
    start_work work = { .run = run };
    sal_status status = restrict_init(run, init, &codes, err);
    if (status == SAL_OK && run->model->ops->feasibility) {
        status = run->model->ops->feasibility(run->model, &guide, err);
    }
    work.init = codes;
    work.guide = guide;
    work.searches = SALI_NEW_ARRAY(sali_start_search *, run->n_shards);
    work.over = SALI_NEW_ARRAY(bool, run->n_shards);
    if (status == SAL_OK && !(work.searches && work.over)) {
        status = sali_fail_memory(err);
    }
    status = sali_sync_status(run, status, err);
    status = status ? status : search_starts(&work, err);
    for (int64_t k = 0; work.searches && k < run->n_shards; k++) {
        sali_start_search_destroy(work.searches[k]);
    }
    sali_free(work.searches);
    sali_free(work.over);
    sal_model_destroy(guide);
    sali_free(codes);
    status = status ? status : sali_run_check(run, err);
    return sali_sync_status(run, status, err);
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
    status = status ? status : choose_sampler(run, err);
    status = status ? status : prepare_tuning(run, err);
    status = status || run->ladder.n == 1
                 ? status
                 : sali_run_check_independent(run->sampler, "", "swaps between temperatures", err);
    status = status ? status : allocate(run, err);
    run->stream_seed = status ? 0 : sali_run_stream_seed(run);
    status = status ? status : create_shards(run, err);
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
        status = start_chains(run, run->options.init, err);
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

sal_status sal_sample(sal_model *model, const sal_run_options *options, sal_run **out,
                      sal_error *err)
{
    if (!model) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_sample: the model is NULL");
    }
    return sali_is_search(options) ? sali_search(model, options, out, err)
                                   : sali_run_once(model, options, out, err);
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
