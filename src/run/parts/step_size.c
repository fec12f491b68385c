/* SPDX-License-Identifier: MIT */
#include "run/parts/step_size.h"

#include <math.h>

#include "core/error.h"
#include "core/saved/tuning.h"
#include "run/part.h"

/* Appendix H searches 0.05, 0.5, .. 500, and 0.2, 0.4, .. 1.8 times the best of them, in units of
 * the least move. */
#define FIRST_MAGNITUDE 0.05
/* Adaptation stays between two bounds: up to where the distance of the widest move no longer
 * counts, and down to what the steepest f that single precision can represent needs. */
#define LOWEST 1e-8
#define HIGHEST (1.8 * 500)

/* ---- stochastic approximation */

/* The largest |s' - s|^2 that a move of one variable can make. */
static double widest_move(const sal_space *space)
{
    double widest = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        const int32_t last = sali_last_code(variable);
        double range =
            variable->states == 0 ? 1 : sali_level(variable, last) - sali_level(variable, 0);
        widest = fmax(widest, variable->kind == SAL_CATEGORICAL ? 2 : range * range);
    }
    return widest;
}

sal_status sali_adapt_begin(sali_adaptation *a, sali_memory *memory, int64_t n,
                            const sal_space *space, double step_size, sal_error *err)
{
    double unit = sali_default_step_size(space, 1);
    *a = (sali_adaptation){
        .n = n,
        .windows = SALI_TAKE(memory, int64_t, n),
        .log_step = SALI_TAKE(memory, double, n),
        .low = log(LOWEST * unit),
        .high = log(HIGHEST * fmax(unit, widest_move(space))),
    };
    for (int64_t r = 0; a->log_step && r < n; r++) {
        a->log_step[r] = log(step_size);
    }
    return sali_memory_status(memory, err);
}

static double move_step_size(sali_adaptation *a, int64_t r, double gain, double acceptance)
{
    double log_step = a->log_step[r] + gain * (acceptance - SALI_TARGET_ACCEPTANCE);
    a->log_step[r] = fmin(fmax(log_step, a->low), a->high);
    return exp(a->log_step[r]);
}

int sali_adapt_bound(const sali_adaptation *a, int64_t r)
{
    return (a->log_step[r] >= a->high) - (a->log_step[r] <= a->low);
}

double sali_adapt_next(sali_adaptation *a, int64_t r, double acceptance)
{
    return move_step_size(a, r, 4 / pow((double)++a->windows[r], 0.6), acceptance);
}

double sali_adapt_follow(sali_adaptation *a, int64_t r, double acceptance)
{
    return move_step_size(a, r, 0.1, acceptance);
}

int64_t sali_adaptation_state(sali_adaptation *a, sali_state_item *items)
{
    items[0] = sali_state_counts("windows", a->n, a->windows);
    items[1] = sali_state_reals("log_step", a->n, a->log_step);
    return 2;
}

/* ---- the search */

/* Candidate number k of the present stage, for a rung whose step size is `centre`. */
static double candidate_size(const sali_step_sizes *s, double centre, int64_t k)
{
    return s->search.candidates == SALI_MAGNITUDES ? s->unit * FIRST_MAGNITUDE * pow(10, (double)k)
                                                   : centre * 0.2 * (double)(k + 1);
}

/* Begin the stage of n candidates, which takes a quarter of warm-up. */
static void begin_stage(sali_step_sizes *s, int64_t n, int64_t done, int64_t total)
{
    sali_jump_search_begin(&s->search, n, total / 4 / n, done);
}

/* Give every rung the candidate with the largest mean jump (of equal ones the smaller), and end the
 * stage. */
static void choose_candidates(sali_step_sizes *s)
{
    for (int64_t r = 0; r < s->rungs; r++) {
        s->value[r] = candidate_size(s, s->value[r], sali_jump_search_best(&s->search, r));
    }
    s->search.candidates = 0;
}

/* The run's chain and the rung of chain c of a shard, from its random stream. */
static int64_t group_of(const sali_step_sizes *s, const sali_chains *chains, int64_t c)
{
    return chains->id[c] / s->rungs;
}
static int64_t rung_of(const sali_step_sizes *s, const sali_chains *chains, int64_t c)
{
    return chains->id[c] % s->rungs;
}

/* Add the jumps of a window that began at step `started` to the candidates that the chains tried in
 * it. */
static void add_jumps(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                      int64_t started)
{
    for (int64_t k = 0; k < n_shards; k++) {
        for (int64_t c = 0; c < chains[k]->n; c++) {
            int64_t group = group_of(s, chains[k], c), rung = rung_of(s, chains[k], c);
            int64_t tried = sali_jump_search_turn(&s->search, group, started);
            s->search.jump[rung * SALI_DECILES + tried] += chains[k]->jump_sum[c];
        }
    }
}

/* Give each chain the candidate whose turn it is from step `done` on. */
static void set_candidates(const sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                           int64_t done)
{
    for (int64_t k = 0; k < n_shards; k++) {
        for (int64_t c = 0; c < chains[k]->n; c++) {
            int64_t tried = sali_jump_search_turn(&s->search, group_of(s, chains[k], c), done);
            chains[k]->step_size[c] = candidate_size(s, s->value[rung_of(s, chains[k], c)], tried);
        }
    }
}

/* Learn from a window of the search, `done` being the steps of warm-up since its begin, and set the
 * chains' next candidates or the sizes found. Whether step sizes changed. */
static bool search_window(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                          int64_t window, int64_t done, int64_t total)
{
    bool magnitudes = s->search.candidates == SALI_MAGNITUDES;
    add_jumps(s, n_shards, chains, done - window);
    if (done >= total && !sali_jump_search_over(&s->search, done)) { /* warm-up was cut short */
        s->search.candidates = 0;
        sali_step_sizes_set(s, n_shards, chains);
        return true;
    }
    if (!sali_jump_search_over(&s->search, done)) {
        set_candidates(s, n_shards, chains, done);
        return (done - s->search.begin) % s->search.length == 0;
    }
    choose_candidates(s);
    sali_step_sizes_set(s, n_shards, chains);
    if (magnitudes && done < total) {
        begin_stage(s, SALI_DECILES, done, total);
        set_candidates(s, n_shards, chains, done);
    }
    return true;
}

/* ---- all rungs */

sal_status sali_step_sizes_create(sali_step_sizes *s, sali_memory *memory, const sal_space *space,
                                  int64_t rungs, sal_step_size_rule rule, double step_size,
                                  const double *given, sal_error *err)
{
    *s = (sali_step_sizes){
        .rule = rule,
        .rungs = rungs,
        .unit = sali_default_step_size(space, 1),
        .value = SALI_TAKE(memory, double, rungs),
        .search = { .rungs = rungs,
                    .room = SALI_DECILES,
                    .jump = SALI_TAKE(memory, double, rungs *SALI_DECILES) },
    };
    sal_status status = sali_adapt_begin(&s->adaptation, memory, rungs, space, step_size, err);
    for (int64_t r = 0; status == SAL_OK && r < rungs; r++) {
        s->value[r] = given ? given[r] : step_size;
        s->adaptation.log_step[r] = log(s->value[r]);
    }
    return status;
}

void sali_step_sizes_set(const sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains)
{
    for (int64_t k = 0; k < n_shards; k++) {
        for (int64_t c = 0; c < chains[k]->n; c++) {
            chains[k]->step_size[c] = s->value[rung_of(s, chains[k], c)];
        }
    }
}

int64_t sali_step_sizes_window(const sali_step_sizes *s, int64_t done, int64_t total, int64_t most)
{
    int64_t left = most;
    const sali_jump_search *search = &s->search;
    if (search->candidates) {
        left = search->length - (done - search->begin) % search->length;
    } else if (s->rule == SAL_STEP_SIZE_SEARCH && search->begin == 0) {
        left = total / 4 - done;
    }
    return left > 0 && left < most ? left : most;
}

/* Adapt the step size of each rung to the mean acceptance of its chains in a window of `window`
 * steps. */
static void approximate_window(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                               int64_t window)
{
    for (int64_t r = 0; r < s->rungs; r++) {
        double acceptance = 0, steps = 0;
        for (int64_t k = 0; k < n_shards; k++) {
            const int64_t from = (r - rung_of(s, chains[k], 0) + s->rungs) % s->rungs;
            for (int64_t c = from; c < chains[k]->n; c += s->rungs) {
                acceptance += chains[k]->acceptance_sum[c];
                steps += (double)window;
            }
        }
        s->value[r] = sali_adapt_next(&s->adaptation, r, acceptance / steps);
    }
    sali_step_sizes_set(s, n_shards, chains);
}

bool sali_step_sizes_learn(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                           int64_t window, int64_t done, int64_t total)
{
    if (s->rule == SAL_STEP_SIZE_USUAL) {
        return false;
    }
    if (s->search.candidates) {
        return search_window(s, n_shards, chains, window, done, total);
    }
    if (s->rule == SAL_STEP_SIZE_SEARCH && s->search.begin > 0) {
        return false; /* found */
    }
    approximate_window(s, n_shards, chains, window);
    if (s->rule == SAL_STEP_SIZE_SEARCH && done >= total / 4 && done < total) {
        begin_stage(s, SALI_MAGNITUDES, done, total);
        set_candidates(s, n_shards, chains, done);
    }
    return true;
}

/* ---- the state */

int64_t sali_step_sizes_state(sali_step_sizes *s, sali_state_item *items)
{
    int64_t n = sali_adaptation_state(&s->adaptation, items);
    sali_jump_search *search = &s->search;
    sali_state_item length = sali_state_i64("length", 1, &search->length);
    items[n++] = sali_state_f64("value", s->rungs, s->value);
    items[n++] = sali_state_sums("jump", s->rungs * SALI_DECILES, search->jump);
    items[n++] = sali_state_i64("begin", 1, &search->begin);
    items[n++] = sali_state_within(length, 0, SALI_STATE_MOST / 4);
    items[n++] = sali_state_i64("candidates", 1, &search->candidates);
    return n;
}

/* SAL_ERR_DATA unless the restored stage of the search is possible after `done` steps: none began
 * later, and the first began at a quarter of warm-up. */
static sal_status restore_stage(sali_step_sizes *s, int64_t done, int64_t total, sal_error *err)
{
    double last = s->rule == SAL_STEP_SIZE_SEARCH ? (double)done : 0;
    const int64_t n = s->search.candidates;
    sali_state_item begin =
        sali_state_within(sali_state_i64("begin", 1, &s->search.begin), 0, last);
    bool stage = s->rule == SAL_STEP_SIZE_SEARCH && s->search.begin > 0 && s->search.length > 0;
    bool magnitudes = n == SALI_MAGNITUDES, deciles = n == SALI_DECILES;
    sal_status status = sali_state_check(&begin, err);
    if (status == SAL_OK && n != 0 && !(stage && (magnitudes || deciles))) {
        status = sali_fail(err, SAL_ERR_DATA, "candidates is %lld; expected 0, %d or %d",
                           (long long)n, SALI_MAGNITUDES, SALI_DECILES);
    }
    if (status == SAL_OK && s->rule == SAL_STEP_SIZE_SEARCH && s->search.begin == 0 &&
        done >= total / 4 && done < total) {
        status = sali_fail(err, SAL_ERR_DATA, "begin is 0 after %lld steps of %lld",
                           (long long)done, (long long)total);
    }
    return status;
}

sal_status sali_step_sizes_restored(sali_step_sizes *s, sal_dtype dtype, int64_t done,
                                    int64_t total, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t r = 0; status == SAL_OK && r < s->rungs; r++) {
        status = s->value[r] == 0 ? sali_fail(err, SAL_ERR_DATA, "value: a step size is 0")
                                  : sali_step_size_check(s->value[r], dtype, err);
    }
    status = status == SAL_ERR_ARGUMENT ? sali_fail_prefix(err, SAL_ERR_DATA, "value") : status;
    return status ? status : restore_stage(s, done, total, err);
}

/* ---- the part of a run */

/* *rule receives how step sizes are found: ADAPT, SEARCH, or USUAL if they are not. Returns an
 * error if the options ask for what the sampler cannot do. */
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

/* Read step sizes given [replicas] from the run's tuning. SAL_ERR_DATA. */
static sal_status take_tuned(const sal_run *run, double *given, sal_error *err)
{
    const sali_state_item item = sali_state_f64(SALI_TUNED_STEP_SIZE, run->replicas, given);
    sal_status status = sali_tuning_take(run->options.tuning, &item, err);
    for (int64_t r = 0; status == SAL_OK && r < run->replicas; r++) {
        status = given[r] == 0 ? sali_fail(err, SAL_ERR_DATA, "step_size is 0")
                               : sali_step_size_check(given[r], run->model->dtype, err);
        status = status ? sali_fail_prefix(err, SAL_ERR_DATA, "the tuning") : SAL_OK;
    }
    return status;
}

typedef struct run_step_sizes {
    sal_run *run;
    sali_step_sizes sizes;
} run_step_sizes;

/* Choose the rule, which run->options then has, and make the step sizes: given, from a tuning, or
 * to be found. */
static sal_status create_part(void *self, sal_error *err)
{
    run_step_sizes *s = self;
    sal_run *run = s->run;
    const bool tuned = run->options.tuning && run->sampler->has_step_size;
    double given[SALI_MOST_REPLICAS];
    sal_step_size_rule rule;
    sal_status status = choose_rule(run, &rule, err);
    status = status || !tuned ? status : take_tuned(run, given, err);
    if (status != SAL_OK) {
        return status;
    }
    run->options.step_size_rule = rule;
    return sali_step_sizes_create(&s->sizes, &run->memory, run->model->space, run->replicas, rule,
                                  run->settings.step_size, tuned ? given : NULL, err);
}

/* Set the chains' first step sizes; SAL_ERR_ARGUMENT if warm-up is too short for the search. */
static sal_status open_part(void *self, sal_error *err)
{
    const run_step_sizes *s = self;
    const sal_run *run = s->run;
    const int64_t warmup = run->options.warmup;
    sali_step_sizes_set(&s->sizes, run->n_shards, run->shard_chains);
    return s->sizes.rule != SAL_STEP_SIZE_SEARCH || warmup >= SALI_SEARCH_LEAST ||
                   run->options.resume /* which may have cut its warm-up short */
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "the search for a step size needs a warm-up of %d steps or more; warmup "
                           "is %lld",
                           SALI_SEARCH_LEAST, (long long)warmup);
}

static int64_t longest_of_part(const void *self, const sali_window *w)
{
    const run_step_sizes *s = self;
    return w->warmup ? sali_step_sizes_window(&s->sizes, w->done, s->run->options.warmup, w->steps)
                     : SALI_NEVER;
}

/* Learn in warm-up, and with annealing after it too, because the temperature falls. */
static sal_status window_of_part(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    run_step_sizes *s = self;
    const sal_run *run = s->run;
    (void)err;
    if (w->warmup || run->options.annealing.on) {
        *refresh |= sali_step_sizes_learn(&s->sizes, run->n_shards, run->shard_chains, w->steps,
                                          run->warmup_done, run->options.warmup);
    }
    return SAL_OK;
}

static int64_t items_of_part(void *self, sali_run_shard *shard, sali_state_item *items)
{
    run_step_sizes *s = self;
    return shard ? 0 : sali_step_sizes_state(&s->sizes, items);
}

static sal_status restored_part(void *self, const sali_run_shard *shard, sal_error *err)
{
    run_step_sizes *s = self;
    const sal_run *run = s->run;
    return shard ? SAL_OK
                 : sali_step_sizes_restored(&s->sizes, run->model->dtype, run->warmup_done,
                                            run->options.warmup, err);
}

/* Report the step size, and what its adaptation came to: in warm-up, of exact samplers that were
 * given no step size. */
static sal_status summarise_part(const void *self, sal_run_summary *summary, sal_error *err)
{
    const run_step_sizes *s = self;
    const sal_run *run = s->run;
    bool adapts = s->sizes.rule == SAL_STEP_SIZE_ADAPT && !run->tuned &&
                  sali_sampler_adapts(run->sampler) && run->options.warmup > 0;
    (void)err;
    summary->step_size = run->sampler->has_step_size ? s->sizes.value[0] : NAN;
    summary->step_size_bound = adapts ? sali_adapt_bound(&s->sizes.adaptation, 0) : 0;
    summary->step_size_target = adapts ? SALI_TARGET_ACCEPTANCE : NAN;
    return SAL_OK;
}

const sali_run_part sali_part_step_size = {
    .name = "step_size",
    .prefix = "step_sizes.",
    .size = sizeof(run_step_sizes),
    .create = create_part,
    .open = open_part,
    .longest = longest_of_part,
    .window = window_of_part,
    .items = items_of_part,
    .restored = restored_part,
    .summarise = summarise_part,
};

const sali_step_sizes *sali_run_step_sizes(const sal_run *run)
{
    const run_step_sizes *s = run->selves[SALI_PART_step_size];
    return &s->sizes;
}
