/* SPDX-License-Identifier: MIT */
/* Chains that go on: a run without an end, whose steps the caller makes. */
#include <saltus/chains.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/vector/blas.h"
#include "models/clamp.h"
#include "models/tape_model.h"
#include "run/part.h"
#include "run/parts/movement.h"
#include "run/parts/step_size.h"

struct sal_chains {
    sal_run *run;
    const struct sal_sampler_descriptor **own; /* the samplers of the options, and NULL */
    bool changed;        /* states or parameters were set after the state that the run noted last */
    bool unfit;          /* f of a present state is NaN or infinite under the present parameters */
    bool failed;         /* chains have made different numbers of steps */
    _Atomic bool in_use; /* by a call that changes the chains */
};

/* ---- options */

/* *own receives a copy of a list of samplers that ends with NULL; NULL for NULL. */
static sal_status copy_own(const struct sal_sampler_descriptor *const *given,
                           const struct sal_sampler_descriptor ***own, sal_error *err)
{
    int64_t n = 0;
    *own = NULL;
    while (given && given[n]) {
        n++;
    }
    if (n > 0) {
        *own = SALI_NEW_ARRAY(const struct sal_sampler_descriptor *, n + 1);
        if (!*own) {
            return sali_fail_memory(err);
        }
        memcpy(*own, given, (size_t)n * sizeof **own);
    }
    return SAL_OK;
}

/* ---- creation */

/* Name of the item of a state with the steps of earlier runs of the chains. */
#define EARLIER "earlier"
#define MOST_EARLIER (INT64_C(1) << 61)

/* SAL_ERR_DATA unless a state of the run can have `ahead` steps after it, and `earlier` steps in
 * other runs before. */
static sal_status check_steps(const sal_run *run, int64_t ahead, int64_t earlier, sal_error *err)
{
    const int64_t most = sali_run_anchor_steps(run) + sali_run_adapt_window(run);
    return ahead >= 0 && ahead <= most && earlier >= 0 && earlier <= MOST_EARLIER
               ? SAL_OK
               : sali_fail(
                     err, SAL_ERR_DATA,
                     "%lld steps ahead of the state and %lld before; expected 0 to %lld, and 0 "
                     "or more",
                     (long long)ahead, (long long)earlier, (long long)most);
}

/* Open a run without an end. `earlier`: steps that its chains made before, in another run. */
static sal_status open_run(sal_model *model, const sal_run_options *options, bool apart,
                           int64_t earlier, sal_run **out, sal_error *err)
{
    sal_run *run = NULL;
    const sal_run_state *from = options ? options->resume : NULL;
    const int64_t ahead = from ? sali_run_state_whole(from, SALI_RUN_AHEAD) : 0;
    earlier = from ? sali_run_state_whole(from, EARLIER) : earlier;
    sali_model_use(model);
    sali_blas_single_thread_begin();
    sal_status status = sali_run_endless(model, options, apart, earlier, &run, err);
    if (status == SAL_OK && run->stopped) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "stopped while the chains looked for states of finite f");
    }
    if (status == SAL_OK && from && check_steps(run, ahead, earlier, err) != SAL_OK) {
        status = sali_fail_prefix(err, SAL_ERR_DATA, "%s", from->name ? from->name : "the state");
    }
    if (status == SAL_OK) { /* the caller, who may stop steps, knows nothing of these */
        const sal_run_callbacks callbacks = run->options.callbacks;
        run->options.callbacks = (sal_run_callbacks){ 0 };
        status = sali_run_advance(run, ahead, err);
        run->options.callbacks = callbacks;
    }
    sali_blas_single_thread_end();
    sali_model_release(model);
    return SALI_GIVE(status, run, out, sal_run_destroy);
}

sal_status sal_chains_create(sal_model *model, const sal_run_options *options, bool apart,
                             sal_chains **out, sal_error *err)
{
    sal_chains *chains = SALI_NEW(sal_chains);
    const char *option = options ? sali_run_option_of_draws(options) : NULL;
    sal_status status = SAL_OK;
    if (!chains) {
        return sali_fail_memory(err);
    }
    if (!model) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "sal_chains_create: the model is NULL");
    } else if (option) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "%s: chains go on for as long as steps are made, and do not have this "
                           "option",
                           option);
    }
    status = status || !options ? status : copy_own(options->own_samplers, &chains->own, err);
    status = status ? status : open_run(model, options, apart, 0, &chains->run, err);
    if (status == SAL_OK && apart && chains->run->n_shards < chains->run->options.chains) {
        status = sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "sampler '%s' moves its chains together: they cannot be apart",
                           chains->run->sampler->name);
    }
    return SALI_GIVE(status, chains, out, sal_chains_destroy);
}

void sal_chains_destroy(sal_chains *chains)
{
    if (chains) {
        sal_run_destroy(chains->run);
        sali_free(chains->own);
        sali_free(chains);
    }
}

/* ---- use, by one call at a time */

/* Every call that changes the chains begins and ends so. SAL_ERR_ARGUMENT from a callback of
 * another such call, or in another thread meanwhile. */
static sal_status begin_use(sal_chains *chains, sal_error *err)
{
    if (atomic_exchange(&chains->in_use, true)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the chains are making steps: call this when the steps are made, not from "
                         "a callback or another thread");
    }
    if (chains->failed) {
        chains->in_use = false;
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "a call of the function before the steps of a chain failed, and the chains "
            "have made different numbers of steps: go on from a saved state, or "
            "create others");
    }
    sali_blas_single_thread_begin();
    return SAL_OK;
}

/* The status of the call that ends. */
static sal_status end_use(sal_chains *chains, sal_status status)
{
    sali_blas_single_thread_end();
    chains->in_use = false;
    return status;
}

/* ---- what was set */

/* Whether the parameters of the model have changed since some shard was refreshed. */
static bool is_stale(const sal_run *run)
{
    bool stale = false;
    for (int64_t k = 0; k < run->n_shards; k++) {
        stale |= run->shards[k].version != sali_model_version(run->model);
    }
    return stale;
}

/* Compute f, and what the sampler keeps, at the present states with the present parameters. This
 * ends the window: adaptation learns from windows with the same parameters throughout. */
static sal_status renew(sal_chains *chains, sal_error *err)
{
    sal_run *run = chains->run;
    sali_model_use(run->base);
    chains->changed = true;
    for (int64_t k = 0; k < run->n_shards; k++) {
        run->shards[k].chains->bad_chain = -1; /* NaN or +inf was of other states or parameters */
    }
    sal_status status = sali_run_end_window(run, err);
    sali_run_refresh(run);
    run->stale = false;
    status = status ? status : sali_run_check(run, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        status = sali_run_check_finite(run, &run->shards[k], err);
    }
    sali_model_release(run->base);
    chains->unfit = status != SAL_OK;
    return status;
}

/* `renew`, if parameters have changed, or what the caller set before cannot be. */
static sal_status see_parameters(sal_chains *chains, sal_error *err)
{
    return chains->unfit || is_stale(chains->run) ? renew(chains, err) : SAL_OK;
}

/* ---- steps */

static sal_status make_steps(sal_chains *chains, int64_t n, sal_error *err)
{
    sal_run *run = chains->run;
    run->stopped = false;
    /* a function of the caller's own may be another one now, and says nothing */
    run->stale |= !sali_clamp_inner(run->model)->ops->version;
    return n >= 0 ? sali_run_advance(run, n, err)
                  : sali_fail(err, SAL_ERR_ARGUMENT, "steps is %lld; expected 0 or more",
                              (long long)n);
}

sal_status sal_chains_step(sal_chains *chains, int64_t n, sal_error *err)
{
    sal_status status = begin_use(chains, err);
    if (status != SAL_OK) {
        return status;
    }
    const sal_run *run = chains->run;
    sali_model_use(run->base);
    status = see_parameters(chains, err);
    status = status ? status : make_steps(chains, n, err);
    sali_model_release(run->base);
    return end_use(chains, status);
}

/* Whether some chain has made more steps than another one. */
static bool has_parted(const sal_run *run)
{
    bool parted = false;
    for (int64_t k = 1; k < run->n_shards; k++) {
        parted |= run->shards[k].chains->step[0] != run->shards[0].chains->step[0];
    }
    return parted;
}

sal_status sal_chains_step_each(sal_chains *chains, int64_t n,
                                sal_status (*before)(int64_t chain, void *data, sal_error *err),
                                void *data, sal_error *err)
{
    sal_status status = begin_use(chains, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run *run = chains->run;
    if (!run->apart || !before) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           run->apart ? "sal_chains_step_each: the function is NULL"
                                      : "the chains are moved together; create them apart");
        return end_use(chains, status);
    }
    run->before = before;
    run->before_data = data;
    chains->changed = true;
    status = sali_run_end_window(run, err);
    status = status ? status : make_steps(chains, n, err);
    run->before = NULL;
    chains->failed = has_parted(run);
    return end_use(chains, status);
}

/* ---- adaptation */

/* Let the present warm-up end with the steps that are made; with the next one, if its last window
 * is over. */
static sal_status end_adaptation(sal_run *run, sal_error *err)
{
    const int64_t made = sali_run_open_steps(run);
    run->options.warmup = run->warmup_done + (made > 0 ? made : 1);
    return sali_run_end_window(run, err);
}

/* Put the run in the place of the present one, from which it goes on. */
static sal_status begin_anew(sal_chains *chains, int64_t steps, sal_error *err)
{
    sal_run *old = chains->run, *run = NULL;
    sal_chains_info info;
    sal_run_options o;
    sal_chains_describe(chains, &info);
    int32_t *codes = SALI_NEW_ARRAY(int32_t, info.chains * info.variables);
    sal_status status = codes ? sal_run_state_options(old->state, &o, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        sal_chains_codes(chains, codes);
        o.resume = NULL;
        o.draws = o.thin = 0;
        o.warmup = steps;
        o.init = codes;
        o.own_samplers = chains->own;
        o.threads = old->options.threads;
        o.callbacks = old->options.callbacks;
        status = open_run(old->base, &o, old->apart, info.steps, &run, err);
    }
    sali_free(codes);
    if (status == SAL_OK) {
        sal_run_destroy(old);
        chains->run = run;
        chains->changed = false;
    }
    return status;
}

sal_status sal_chains_adapt(sal_chains *chains, int64_t steps, sal_error *err)
{
    sal_status status = begin_use(chains, err);
    if (status != SAL_OK) {
        return status;
    }
    status = steps >= 0 ? see_parameters(chains, err)
                        : sali_fail(err, SAL_ERR_ARGUMENT,
                                    "adapt: steps is %lld; expected 0 or more", (long long)steps);
    if (status == SAL_OK && steps > 0) {
        status = begin_anew(chains, steps, err);
    } else if (status == SAL_OK && !chains->run->sampling) {
        chains->changed = true; /* a state would have the old end of warm-up */
        status = end_adaptation(chains->run, err);
    }
    return end_use(chains, status);
}

/* ---- states */

void sal_chains_codes(const sal_chains *chains, int32_t *codes)
{
    sal_run_last(chains->run, codes, NULL);
}

/* SAL_ERR_ARGUMENT unless codes [chains x V of base] are states of the run, with clamped variables
 * as they are. `scratch` [V of base] is overwritten. */
static sal_status check_codes(const sal_run *run, const int32_t *codes, int32_t *scratch,
                              sal_error *err)
{
    const int64_t V = run->base->space->n_variables;
    sal_status status = sali_codes_check(run->base->space, run->options.chains, codes, err);
    for (int64_t c = 0; status == SAL_OK && c < run->options.chains; c++) {
        sali_run_restrict(run, 1, codes + c * V, scratch);
        sali_run_expand(run, 1, scratch, scratch + V);
        for (int64_t v = 0; status == SAL_OK && v < V; v++) {
            if (scratch[V + v] != codes[c * V + v]) {
                status = sali_fail(err, SAL_ERR_ARGUMENT,
                                   "chain %lld: variable %lld is clamped to code %d, not %d",
                                   (long long)c, (long long)v, scratch[V + v], codes[c * V + v]);
            }
        }
    }
    return status;
}

/* Write the states of the chains at temperature 1, whose samplers forget what they know of them. */
static void put_codes(sal_run *run, const int32_t *codes)
{
    const int64_t V = run->model->space->n_variables, whole = run->base->space->n_variables;
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_run_shard *shard = &run->shards[k];
        for (int64_t g = 0; g < shard->groups; g++) {
            sali_run_restrict(run, 1, codes + (shard->first + g) * whole,
                              shard->chains->codes + g * run->replicas * V);
        }
        sali_chains_embed(shard->chains);
        sali_sampler_forget(run->sampler, shard->self);
    }
}

sal_status sal_chains_set_codes(sal_chains *chains, const int32_t *codes, sal_error *err)
{
    sal_status status = begin_use(chains, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run *run = chains->run;
    const int64_t V = run->base->space->n_variables, n = run->options.chains * V;
    int32_t *before = SALI_NEW_ARRAY(int32_t, n), *scratch = SALI_NEW_ARRAY(int32_t, 2 * V);
    status = before && scratch ? check_codes(run, codes, scratch, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        sal_chains_codes(chains, before);
        status = sali_run_end_window(run, err);
    }
    if (status == SAL_OK) {
        put_codes(run, codes);
        status = renew(chains, err);
        if (status != SAL_OK) {
            put_codes(run, before);
            renew(chains, NULL);
        }
    }
    sali_free(before);
    sali_free(scratch);
    return end_use(chains, status);
}

sal_status sal_chains_log_prob(sal_chains *chains, double *f, sal_error *err)
{
    sal_status status = begin_use(chains, err);
    if (status != SAL_OK) {
        return status;
    }
    const sal_run *run = chains->run;
    status = see_parameters(chains, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        const sali_run_shard *shard = &run->shards[k];
        for (int64_t g = 0; g < shard->groups; g++) {
            f[shard->first + g] = shard->chains->f[g * run->replicas];
        }
    }
    return end_use(chains, status);
}

/* ---- what is known of them */

void sal_chains_describe(const sal_chains *chains, sal_chains_info *info)
{
    const sal_run *run = chains->run;
    const int64_t open = sali_run_open_steps(run);
    *info = (sal_chains_info){
        .chains = run->options.chains,
        .variables = run->base->space->n_variables,
        .seed = run->options.seed,
        .steps = run->earlier + run->warmup_done + run->steps + open,
        .adapting = run->sampling ? 0 : run->options.warmup - run->warmup_done - open,
        .step_size = run->sampler->has_step_size ? sali_run_step_sizes(run)->value[0] : NAN,
    };
    sali_run_rates(run, &info->acceptance_rate, &info->mean_jump);
}

sal_status sal_chains_tuning(const sal_chains *chains, sal_tuning **tuning, sal_error *err)
{
    return chains->run->sampling
               ? sal_run_tuning(chains->run, tuning, err)
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "the chains still adapt: make the steps of their warm-up first, or end "
                           "it (sal_chains_adapt)");
}

/* The state is the one that the run noted last, at an anchor (run_state.c), with the number of
 * steps after it; so chains that go on from it have the same bits. When states or parameters were
 * set after the anchor, the present step becomes one. */
sal_status sal_chains_state(sal_chains *chains, const sal_run_state **state, sal_error *err)
{
    sal_status status = begin_use(chains, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run *run = chains->run;
    if (chains->changed || is_stale(run)) {
        status = renew(chains, err);
        status = status ? status : sali_run_note_present(run, err);
        status = status ? status : sali_run_note_state(run, err);
        chains->changed = status != SAL_OK;
    }
    const int64_t noted =
        sali_run_state_whole(run->state, "warmup_done") + sali_run_state_whole(run->state, "steps");
    int64_t ahead = run->warmup_done + run->steps + sali_run_open_steps(run) - noted;
    const sali_state_item items[] = { sali_state_i64(SALI_RUN_AHEAD, 1, &ahead),
                                      sali_state_i64(EARLIER, 1, &run->earlier) };
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        status = sali_run_state_put(run->state, &items[k]) ? SAL_OK : sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        *state = run->state;
    }
    return end_use(chains, status);
}
