/* The options of a run in its state: what a run that goes on must share with it. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/fingerprint.h"
#include "run/run.h"

enum {
    CHAINS,
    WARMUP,
    DRAWS,
    THIN,
    SEED,
    RULE,
    REPLICAS,
    SWAP_EVERY,
    ANNEAL,
    TRACK_BEST,
    SHOW_WARMUP,
    TUNED,
    LEVELS,
    MODEL,
    DTYPE,
    N_WHOLE
};
enum { STEP_SIZE, ANNEAL_FROM, ANNEAL_TO, N_REAL };

static const char *const whole_names[N_WHOLE] = {
    "chains",         "warmup",   "draws",      "thin",   "seed",
    "step_size_rule", "replicas", "swap_every", "anneal", "track_best",
    "show_warmup",    "tuned",    "levels",     "model",  "dtype",
};
static const char *const real_names[N_REAL] = { "step_size", "anneal_from", "anneal_to" };

#define WHOLE "given"
#define REAL "given.real"
#define TEMPERATURES "given.temperatures"
#define VARIABLES "given.clamp_variables"
#define CODES "given.clamp_codes"
#define PRECONDITIONER "given.preconditioner"
#define SAMPLER "sampler"
#define NAME "model"

/* ---- noting them */

static bool put_text(sal_run_state *state, const char *name, const char *text)
{
    const sali_state_item item =
        sali_state_u8(name, (int64_t)strlen(text) + 1, (uint8_t *)(uintptr_t)text);
    return sali_run_state_put(state, &item);
}

sal_status sali_run_note_given(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    int64_t n = o->temperatures ? o->replicas : 0, N = run->base->space->width;
    const sali_state_item items[] = {
        sali_state_f64(TEMPERATURES, n, (double *)o->temperatures),
        sali_state_i64(VARIABLES, o->clamped, (int64_t *)o->clamp_variables),
        sali_state_i32(CODES, o->clamped, (int32_t *)o->clamp_codes),
        sali_state_f64(PRECONDITIONER, o->preconditioner ? N * N : 0, (double *)o->preconditioner),
    };
    run->state = run->state ? run->state : SALI_NEW(sal_run_state);
    bool ok = run->state != NULL;
    for (size_t k = 0; ok && k < sizeof items / sizeof *items; k++) {
        ok = sali_run_state_put(run->state, &items[k]);
    }
    ok = ok && put_text(run->state, NAME, run->base->name);
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* Of all that is said by one number each. */
static sal_status list_numbers(const sal_run *run, int64_t whole[N_WHOLE], double real[N_REAL],
                               sal_error *err)
{
    const sal_run_options *o = &run->options;
    uint64_t fingerprint = 0;
    sal_status status = sali_model_fingerprint(run->base, &fingerprint, err);
    const int64_t numbers[N_WHOLE] = {
        [CHAINS] = o->chains,
        [WARMUP] = o->warmup,
        [DRAWS] = o->draws,
        [THIN] = o->thin,
        [SEED] = (int64_t)o->seed,
        [RULE] = run->step_sizes.rule,
        [REPLICAS] = run->ladder.n,
        [SWAP_EVERY] = run->ladder.n > 1 ? run->ladder.every : 0,
        [ANNEAL] = o->anneal,
        [TRACK_BEST] = o->track_best,
        [SHOW_WARMUP] = o->show_warmup,
        [TUNED] = run->tuned,
        [LEVELS] = o->trajectory ? sal_trajectory_levels(o->trajectory) : 0,
        [MODEL] = (int64_t)fingerprint,
        [DTYPE] = run->model->dtype,
    };
    memcpy(whole, numbers, sizeof numbers);
    real[STEP_SIZE] = o->step_size;
    real[ANNEAL_FROM] = o->anneal_from;
    real[ANNEAL_TO] = o->anneal_to;
    return status;
}

sal_status sali_run_note_resolved(sal_run *run, sal_error *err)
{
    int64_t whole[N_WHOLE];
    double real[N_REAL];
    char sampler[SALI_SAMPLER_TEXT];
    sal_status status = list_numbers(run, whole, real, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_run_sampler_text(run, sampler);
    const sali_state_item items[] = { sali_state_i64(WHOLE, N_WHOLE, whole),
                                      sali_state_f64(REAL, N_REAL, real) };
    bool ok = sali_run_state_put(run->state, &items[0]) &&
              sali_run_state_put(run->state, &items[1]) && put_text(run->state, SAMPLER, sampler);
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* ---- reading them */

static sal_status read_numbers(const sal_run_state *state, int64_t whole[N_WHOLE],
                               double real[N_REAL], sal_error *err)
{
    sali_run_state_reader reader = { state, "" };
    const sali_state_item items[] = { sali_state_i64(WHOLE, N_WHOLE, whole),
                                      sali_state_f64(REAL, N_REAL, real) };
    return sali_state_fill(2, items, sali_run_state_fetch, &reader, err);
}

/* An array [n] of the state, NULL if it has none there; false: one of another size or type. */
static bool read_array(const sal_run_state *state, const char *name, sali_state_type type,
                       int64_t n, const void **out)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    *out = item && item->count > 0 ? item->data : NULL;
    return !item || item->count == 0 || (item->type == type && item->count == n);
}

static int64_t count_of(const sal_run_state *state, const char *name)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    return item ? item->count : 0;
}

sal_status sal_run_state_options(const sal_run_state *state, sal_run_options *options,
                                 sal_error *err)
{
    int64_t whole[N_WHOLE], clamped = count_of(state, VARIABLES);
    double real[N_REAL];
    const void *temperatures, *variables, *codes;
    sal_status status = read_numbers(state, whole, real, err);
    if (status != SAL_OK) {
        return status;
    }
    const char *sampler = sali_run_state_text(state, SAMPLER);
    bool ok = sampler &&
              read_array(state, TEMPERATURES, SALI_STATE_F64, whole[REPLICAS], &temperatures) &&
              read_array(state, VARIABLES, SALI_STATE_I64, clamped, &variables) &&
              read_array(state, CODES, SALI_STATE_I32, clamped, &codes) && !variables == !codes &&
              whole[RULE] >= 0 && whole[RULE] <= SAL_STEP_SIZE_SEARCH;
    if (!ok) {
        return sali_fail(err, SAL_ERR_DATA, "the options in the state of the run are damaged");
    }
    *options = (sal_run_options){
        .sampler = sampler,
        .chains = whole[CHAINS],
        .warmup = whole[WARMUP] > 0 ? whole[WARMUP] : -1,
        .draws = whole[DRAWS],
        .thin = whole[THIN],
        .seed = (uint64_t)whole[SEED],
        .step_size = real[STEP_SIZE],
        .step_size_rule = (sal_step_size_rule)whole[RULE],
        .replicas = whole[REPLICAS] > 1 || temperatures ? whole[REPLICAS] : 0,
        .temperatures = temperatures,
        .swap_every = whole[SWAP_EVERY],
        .anneal = whole[ANNEAL] != 0,
        .anneal_from = real[ANNEAL_FROM],
        .anneal_to = real[ANNEAL_TO],
        .track_best = whole[TRACK_BEST] != 0,
        .show_warmup = whole[SHOW_WARMUP] != 0,
        .clamped = clamped,
        .clamp_variables = variables,
        .clamp_codes = codes,
        .resume = state,
    };
    return SAL_OK;
}

const char *sal_run_state_model(const sal_run_state *state)
{
    const char *name = sali_run_state_text(state, NAME);
    return name ? name : "";
}

sal_status sali_run_take_given(sal_run *run, sal_error *err)
{
    sal_run_options *o = &run->options;
    int64_t whole[N_WHOLE], N = run->base->space->width, size;
    double real[N_REAL];
    const void *matrix;
    run->tuned = o->tuning != NULL;
    if (!o->resume) {
        return SAL_OK;
    }
    if (o->tuning) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "both tuning and resume are given: what the run found is in its state");
    }
    sal_status status = read_numbers(o->resume, whole, real, err);
    if (status != SAL_OK) {
        return status;
    }
    run->tuned = whole[TUNED] != 0;
    if (__builtin_mul_overflow(N, N, &size) ||
        !read_array(o->resume, PRECONDITIONER, SALI_STATE_F64, size, &matrix)) {
        return sali_fail(err, SAL_ERR_DATA, "the preconditioner in the state has the wrong size");
    }
    if (o->preconditioner &&
        (!matrix || memcmp(matrix, o->preconditioner, (size_t)size * sizeof(double)) != 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run had another preconditioner; leave it out to go on with that");
    }
    o->preconditioner = matrix;
    return SAL_OK;
}

/* ---- comparing them */

static sal_status differs(const char *name, double was, double is, sal_error *err)
{
    return sali_fail(err, SAL_ERR_ARGUMENT,
                     "the run was made with %s %.10g and is to go on with %.10g; leave that option "
                     "out, or begin a new run",
                     name, was, is);
}

static sal_status compare_draws(int64_t was, int64_t is, bool annealed, sal_error *err)
{
    if (annealed && was != is) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "annealing over %lld draws cannot go on over %lld: it would cool in other "
                         "steps",
                         (long long)was, (long long)is);
    }
    return SAL_OK;
}

static sal_status compare_array(const sal_run *run, const char *name, const char *called,
                                sal_error *err)
{
    const sali_state_item *was = sali_run_state_find(run->options.resume, name);
    const sali_state_item *is = sali_run_state_find(run->state, name);
    int64_t count = was ? was->count : 0;
    bool same = is->count == count &&
                (count == 0 ||
                 (was->type == is->type &&
                  memcmp(was->data, is->data, (size_t)count * sali_state_bytes(is->type)) == 0));
    return same ? SAL_OK
                : sali_fail(err, SAL_ERR_ARGUMENT,
                            "the run was made with other %s; leave them out, or begin a new run",
                            called);
}

static sal_status compare_numbers(const sal_run *run, sal_error *err)
{
    int64_t was[N_WHOLE], is[N_WHOLE];
    double real_was[N_REAL], real_is[N_REAL];
    sal_status status = read_numbers(run->options.resume, was, real_was, err);
    status = status ? status : read_numbers(run->state, is, real_is, err);
    if (status == SAL_OK && was[MODEL] != is[MODEL]) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run was made with another model, other parameters or another type "
                         "(it was called %.200s)",
                         sal_run_state_model(run->options.resume));
    }
    for (int k = 0; status == SAL_OK && k < N_WHOLE; k++) {
        if (k != DRAWS && was[k] != is[k]) {
            return differs(whole_names[k], k == SEED ? (double)(uint64_t)was[k] : (double)was[k],
                           k == SEED ? (double)(uint64_t)is[k] : (double)is[k], err);
        }
    }
    for (int k = 0; status == SAL_OK && k < N_REAL; k++) {
        if (real_was[k] != real_is[k]) {
            return differs(real_names[k], real_was[k], real_is[k], err);
        }
    }
    return status ? status : compare_draws(was[DRAWS], is[DRAWS], is[ANNEAL], err);
}

sal_status sali_run_compare_given(const sal_run *run, sal_error *err)
{
    const char *was = sali_run_state_text(run->options.resume, SAMPLER);
    const char *is = sali_run_state_text(run->state, SAMPLER);
    sal_status status = compare_array(run, VARIABLES, "clamped variables", err);
    status = status ? status : compare_array(run, CODES, "clamped variables", err);
    if (status == SAL_OK && (!was || strcmp(was, is) != 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run was made with sampler %.200s and is to go on with %.200s; leave "
                         "that option out, or begin a new run",
                         was ? was : "(none)", is);
    }
    status = status ? status : compare_numbers(run, err);
    return status ? status : compare_array(run, TEMPERATURES, "temperatures", err);
}
