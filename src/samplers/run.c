/* The run loop. Shards advance independently in windows of steps; between windows the calling
 * thread adapts step sizes, looks for errors and reports progress. */
#include "samplers/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/blas.h"
#include "core/error.h"
#include "core/shard.h"
#include "samplers/preconditioner.h"
#include "samplers/start.h"

/* Steps of a window: of adaptation, and of sampling. */
#define ADAPT_WINDOW 25
#define SAMPLE_WINDOW 256

double sali_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- options */

static sal_status check_range(const char *name, int64_t value, int64_t low, int64_t high,
                              sal_error *err)
{
    return value >= low && value <= high
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "%s is %lld; expected %lld to %lld", name,
                           (long long)value, (long long)low, (long long)high);
}

/* Put defaults in place of zeros, and check ranges. */
static sal_status resolve(sal_run_options *o, const sal_model *model, sal_error *err)
{
    o->sampler = o->sampler ? o->sampler : model->has_gradient ? "gwg" : "gibbs";
    o->chains = o->chains ? o->chains : 4;
    o->warmup = o->warmup == -1 ? 0 : o->warmup ? o->warmup : 1000;
    o->draws = o->draws ? o->draws : 1000;
    o->thin = o->thin ? o->thin : 1;
    sal_status status = check_range("chains", o->chains, 1, INT64_C(1) << 31, err);
    status = status ? status : check_range("draws", o->draws, 1, INT64_C(1) << 40, err);
    status = status ? status : check_range("thin", o->thin, 1, INT64_C(1) << 40, err);
    status = status ? status : check_range("warmup", o->warmup, 0, INT64_C(1) << 50, err);
    status = status ? status : check_range("threads", o->threads, 0, 4096, err);
    status = status ? status : check_range("clamped", o->clamped, 0, INT32_MAX, err);
    int64_t steps;
    if (status == SAL_OK && (__builtin_mul_overflow(o->draws, o->thin, &steps) ||
                             __builtin_add_overflow(o->warmup, steps, &steps))) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "draws times thin is more than 2^63 steps");
    }
    if (status == SAL_OK && o->clamped > 0 && (!o->clamp_variables || !o->clamp_codes)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "clamped is %lld, but %s is NULL",
                         (long long)o->clamped,
                         o->clamp_variables ? "clamp_codes" : "clamp_variables");
    }
    return status;
}

/* The sampler's shared state. A preconditioner is read here and not kept. */
static sal_status share_sampler(sal_run *run, sal_error *err)
{
    const double *given = run->options.preconditioner;
    double *part = NULL;
    if (given && !(run->sampler->flags & SALI_SAMPLER_PRECONDITIONED)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' takes no preconditioner",
                         run->sampler->name);
    }
    run->options.preconditioner = NULL;
    if (!run->sampler->share) {
        return SAL_OK;
    }
    if (given && !(part = sali_preconditioner_restrict(run->base, run->model, given))) {
        return sali_fail_memory(err);
    }
    run->settings.preconditioner = part;
    sal_status status = run->sampler->share(run->model, &run->settings, &run->shared, err);
    run->settings.preconditioner = NULL;
    sali_free(part);
    return status;
}

static sal_status choose_sampler(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    sal_status status = sali_sampler_choose(o->sampler, run->model, o->step_size, &run->sampler,
                                            &run->settings, err);
    if (status == SAL_OK) {
        /* the caller's may not live on */
        run->options.sampler = sali_sampler_called(run->sampler, o->sampler);
        status = share_sampler(run, err);
    }
    return status;
}

/* ---- creation */

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
    double bytes = 2.0 * sizeof(double) * (double)kept + (o->keep_draws ? (double)codes : 0.0);
    if (!fits_memory(bytes)) {
        return sali_fail(err, SAL_ERR_MEMORY,
                         "%lld chains of %lld draws need %.1f GB, more than this machine has; thin "
                         "them, or ask for fewer",
                         (long long)o->chains, (long long)o->draws, bytes / 1e9);
    }
    run->log_prob = SALI_NEW_ARRAY(double, kept);
    run->distance = SALI_NEW_ARRAY(double, kept);
    run->counts = SALI_NEW_ARRAY(uint32_t, 2 * o->chains * run->model->space->bins);
    if (run->model->space->unbounded) {
        run->moments = SALI_NEW_ARRAY(sali_running, 2 * o->chains * run->model->space->n_variables);
    }
    run->n_shards = run->sampler->flags & SALI_SAMPLER_COUPLED ? 1 : sali_shard_count(o->chains);
    run->shards = SALI_NEW_ARRAY(sali_run_shard, run->n_shards);
    run->shard_chains = SALI_NEW_ARRAY(sali_chains *, run->n_shards);
    run->shard_selves = SALI_NEW_ARRAY(void *, run->n_shards);
    run->draw_bytes = whole->max_states > 256 || whole->unbounded ? 4 : 1;
    if (o->keep_draws) {
        run->draws = sali_alloc(codes, (size_t)run->draw_bytes);
    }
    bool ok = run->log_prob && run->distance && run->counts && run->shards && run->shard_chains &&
              run->shard_selves && (run->draws || !o->keep_draws) &&
              (run->moments || !run->model->space->unbounded);
    return ok ? SAL_OK : sali_fail_memory(err);
}

static sal_status create_shard(sal_run *run, int64_t k, sal_error *err)
{
    sali_run_shard *shard = &run->shards[k];
    const sal_space *space = run->model->space;
    int64_t end = sali_shard_first(run->options.chains, run->n_shards, k + 1);
    unsigned wants = sali_sampler_wants(run->sampler);
    shard->first = sali_shard_first(run->options.chains, run->n_shards, k);
    shard->reference = SALI_NEW_ARRAY(int32_t, space->n_variables);
    shard->full = SALI_NEW_ARRAY(int32_t, run->base->space->n_variables);
    if (!shard->reference || !shard->full) {
        return sali_fail_memory(err);
    }
    sali_stream stream = { .seed = run->options.seed, .purpose = SALI_RNG_STATISTIC };
    sali_random_codes(space, &stream, shard->reference);
    sal_status status = sali_chains_create(run->model, end - shard->first, wants, run->options.seed,
                                           &shard->chains, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t c = 0; c < shard->chains->n; c++) {
        shard->chains->id[c] = (uint32_t)(shard->first + c);
    }
    return sali_sampler_open(run->sampler, &run->settings, run->shared, shard->chains, &shard->self,
                             err);
}

/* Starting codes of the free variables, from those of the whole space. */
static sal_status restrict_init(sal_run *run, const int32_t *init, int32_t **codes, sal_error *err)
{
    *codes = NULL;
    if (!init) {
        return SAL_OK;
    }
    sal_status status = sali_codes_check(run->base->space, run->options.chains, init, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status, "init");
    }
    *codes = SALI_NEW_ARRAY(int32_t, run->options.chains * run->model->space->n_variables);
    if (!*codes) {
        return sali_fail_memory(err);
    }
    sali_run_restrict(run, run->options.chains, init, *codes);
    return SAL_OK;
}

/* ---- work of one shard, in parallel */

typedef struct start_work {
    sal_run *run;
    const int32_t *init;
    const sal_model *guide;
} start_work;

static void start_shard(void *context, int64_t k)
{
    start_work *work = context;
    sali_run_shard *shard = &work->run->shards[k];
    int64_t V = work->run->model->space->n_variables;
    shard->status = sali_start(shard->chains, work->init ? work->init + shard->first * V : NULL,
                               work->guide, &shard->error);
    if (shard->status == SAL_OK) {
        work->run->sampler->refresh(shard->self, shard->chains);
    }
}

typedef struct window {
    sal_run *run;
    int64_t steps;
    double step_size; /* to set first; 0: leave */
    bool refresh;     /* first: the sampler's shared state has changed */
    bool record;
    int64_t done; /* steps after warm-up before this window */
} window;

static void advance_shard(void *context, int64_t k)
{
    const window *w = context;
    sal_run *run = w->run;
    sali_run_shard *shard = &run->shards[k];
    for (int64_t c = 0; w->step_size > 0 && c < shard->chains->n; c++) {
        shard->chains->step_size[c] = w->step_size;
    }
    if (w->step_size > 0 || w->refresh) {
        run->sampler->refresh(shard->self, shard->chains);
    }
    for (int64_t done = w->done, end = w->done + w->steps, n; done < end; done += n) {
        int64_t thin = run->options.thin, before_draw = thin - done % thin;
        n = w->record && before_draw < end - done ? before_draw : end - done;
        sali_sampler_steps(run->sampler, shard->self, shard->chains, n);
        if (w->record && (done + n) % thin == 0) {
            sali_record_draw(run, shard, (done + n) / thin - 1);
        }
    }
}

/* ---- between windows */

/* The first bad value of the lowest chain, as an error with the state it happened at. */
static sal_status check_shards(const sal_run *run, sal_error *err)
{
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_chains *chains = run->shards[k].chains;
        if (chains->bad_chain < 0) {
            continue;
        }
        char state[160] = "";
        for (int64_t v = 0; v < chains->space->n_variables && strlen(state) < 140; v++) {
            size_t used = strlen(state);
            snprintf(state + used, sizeof state - used, " %d", chains->bad_codes[v]);
        }
        return sali_fail(
            err, SAL_ERR_MODEL,
            "%s: %s at chain %lld, step %llu, state%s%s; f must be a number or -inf, its gradient "
            "a number where f is one",
            run->model->name, isnan(chains->bad_value) ? "f or its gradient is NaN" : "f is +inf",
            (long long)(run->shards[k].first + chains->bad_chain),
            (unsigned long long)chains->bad_step, state, strlen(state) >= 140 ? " ..." : "");
    }
    return SAL_OK;
}

/* Take the sums gathered since the last call out of the shards, in their order. */
static sali_chains_sums collect(sal_run *run)
{
    sali_chains_sums all = { 0 };
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains_sums sums = sali_chains_take_sums(run->shards[k].chains);
        all.accepted += sums.accepted;
        all.acceptance += sums.acceptance;
        all.jump += sums.jump;
    }
    return all;
}

static bool asked_to_stop(sal_run *run, int64_t done, int64_t total)
{
    const sal_run_options *o = &run->options;
    if (o->progress && o->progress(done, total, o->progress_data) != 0) {
        run->stopped = true;
    }
    return run->stopped;
}

/* The sampler's own adaptation, after a window of warm-up. */
static sal_status adapt_shared(sal_run *run, window *w, int64_t done, sal_error *err)
{
    sali_warmup warmup = {
        .model = run->model,
        .seed = run->options.seed,
        .n_shards = run->n_shards,
        .chains = run->shard_chains,
        .selves = run->shard_selves,
        .window = w->steps,
        .done = done,
        .total = run->options.warmup,
    };
    w->refresh = false;
    return run->sampler->adapt ? run->sampler->adapt(run->shared, &warmup, &w->refresh, err)
                               : SAL_OK;
}

/* The step size for the next window, from the chains' sums of this one. */
static void adapt_step_size(sal_run *run, window *w, sali_adaptation *adaptation)
{
    sali_chains_sums sums = collect(run);
    if (run->settings.adapt_step_size) {
        double steps = (double)(w->steps * run->options.chains);
        w->step_size = sali_adapt_next(adaptation, sums.acceptance / steps);
        run->settings.step_size = w->step_size;
    }
}

static sal_status warm_up(sal_run *run, int64_t total, sal_error *err)
{
    const sal_run_options *o = &run->options;
    sali_adaptation adaptation;
    double start = sali_now();
    sal_status status = SAL_OK;
    window w = { .run = run };
    sali_adapt_begin(&adaptation, run->model->space, run->settings.step_size);
    for (int64_t done = 0; status == SAL_OK && done < o->warmup; done += w.steps) {
        w.steps = o->warmup - done < ADAPT_WINDOW ? o->warmup - done : ADAPT_WINDOW;
        sali_shard_run(run->n_shards, o->threads, advance_shard, &w);
        status = check_shards(run, err);
        status = status ? status : adapt_shared(run, &w, done + w.steps, err);
        adapt_step_size(run, &w, &adaptation);
        if (status == SAL_OK && asked_to_stop(run, done + w.steps, total)) {
            break;
        }
    }
    if (status == SAL_OK && (w.step_size > 0 || w.refresh)) { /* what the last window found */
        w.steps = 0;
        sali_shard_run(run->n_shards, o->threads, advance_shard, &w);
    }
    run->warmup_seconds = sali_now() - start;
    return status;
}

static sal_status sample(sal_run *run, int64_t total, sal_error *err)
{
    const sal_run_options *o = &run->options;
    double start = sali_now();
    int64_t steps = o->draws * o->thin;
    sal_status status = SAL_OK;
    window w = { .run = run, .record = true };
    while (status == SAL_OK && w.done < steps && !run->stopped) {
        w.steps = steps - w.done < SAMPLE_WINDOW ? steps - w.done : SAMPLE_WINDOW;
        sali_shard_run(run->n_shards, o->threads, advance_shard, &w);
        sali_chains_sums sums = collect(run);
        run->accepted_sum += sums.accepted;
        run->jump_sum += sums.jump;
        w.done += w.steps;
        run->steps = w.done;
        run->draws_made = w.done / o->thin;
        status = check_shards(run, err);
        asked_to_stop(run, o->warmup + w.done, total);
    }
    run->seconds = sali_now() - start;
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
    int64_t chains = run->options.chains, draws = run->options.draws, made = run->draws_made;
    close_gaps(run->log_prob, chains, draws, made, sizeof *run->log_prob);
    close_gaps(run->distance, chains, draws, made, sizeof *run->distance);
    close_gaps(run->draws, chains, draws, made,
               (size_t)(run->base->space->n_variables * run->draw_bytes));
}

static sal_status start_chains(sal_run *run, const int32_t *init, sal_error *err)
{
    int32_t *codes = NULL;
    sal_model *guide = NULL;
    sal_status status = restrict_init(run, init, &codes, err);
    if (status == SAL_OK && run->model->ops->feasibility) {
        status = run->model->ops->feasibility(run->model, &guide, err);
    }
    if (status == SAL_OK) {
        start_work work = { .run = run, .init = codes, .guide = guide };
        sali_shard_run(run->n_shards, run->options.threads, start_shard, &work);
    }
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        status = run->shards[k].status;
        if (status != SAL_OK && err) {
            *err = run->shards[k].error;
        }
    }
    sal_model_destroy(guide);
    sali_free(codes);
    return status == SAL_OK ? check_shards(run, err) : status;
}

static sal_status prepare(sal_run *run, sal_model *model, sal_error *err)
{
    const sal_run_options *o = &run->options;
    run->base = sali_model_hold(model);
    sal_status status = resolve(&run->options, model, err);
    if (status == SAL_OK && o->clamped > 0) {
        status = sal_model_clamp(model, o->clamped, o->clamp_variables, o->clamp_codes, &run->model,
                                 err);
    } else {
        run->model = sali_model_hold(model);
    }
    status = status ? status : choose_sampler(run, err);
    status = status ? status : allocate(run, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        status = create_shard(run, k, err);
        run->shard_chains[k] = run->shards[k].chains;
        run->shard_selves[k] = run->shards[k].self;
    }
    return status;
}

sal_status sal_sample(sal_model *model, const sal_run_options *options, sal_run **out,
                      sal_error *err)
{
    if (!model) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_sample: the model is NULL");
    }
    sal_run *run = SALI_NEW(sal_run);
    if (!run) {
        return sali_fail_memory(err);
    }
    run->options = options ? *options : (sal_run_options){ 0 };
    sali_blas_single_thread_begin(); /* once for all windows */
    sal_status status = prepare(run, model, err);
    status = status ? status : start_chains(run, run->options.init, err);
    int64_t total = run->options.warmup + run->options.draws * run->options.thin;
    status = status ? status : warm_up(run, total, err);
    if (status == SAL_OK && !run->stopped) {
        status = sample(run, total, err);
    }
    sali_blas_single_thread_end();
    if (status != SAL_OK) {
        sal_run_destroy(run);
        return status;
    }
    compact(run);
    run->options.init = NULL;
    *out = run;
    return SAL_OK;
}

void sal_run_destroy(sal_run *run)
{
    if (!run) {
        return;
    }
    for (int64_t k = 0; run->shards && k < run->n_shards; k++) {
        sali_run_shard *shard = &run->shards[k];
        if (shard->self) {
            run->sampler->destroy(shard->self);
        }
        sali_chains_destroy(shard->chains);
        sali_free(shard->reference);
        sali_free(shard->full);
    }
    if (run->shared) {
        run->sampler->unshare(run->shared);
    }
    sali_free(run->shard_chains);
    sali_free(run->shard_selves);
    sali_free(run->shards);
    sali_free(run->log_prob);
    sali_free(run->distance);
    sali_free(run->counts);
    sali_free(run->moments);
    sali_free(run->draws);
    sal_model_destroy(run->model);
    sal_model_destroy(run->base);
    sali_free(run);
}
