/* SPDX-License-Identifier: MIT */
#include "samplers/sampler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "samplers/kernels.h"

/* Chains with the arrays that hold one number a chain, without states. NULL if there is no memory
 * for the struct; later failures are kept in the object (core/object.h). */
static sali_chains *create_numbers(const sal_model *model, int64_t n, uint64_t seed)
{
    sali_chains *chains = SALI_OBJECT(sali_chains);
    if (!chains) {
        return NULL;
    }
    chains->model = model;
    chains->space = model->space;
    chains->n = n;
    chains->seed = seed;
    chains->bad_chain = -1;
    chains->element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    chains->f = SALI_OBJECT_ARRAY(chains, double, n);
    chains->id = SALI_OBJECT_ARRAY(chains, uint32_t, n);
    chains->beta = SALI_OBJECT_ARRAY(chains, double, n);
    chains->step_size = SALI_OBJECT_ARRAY(chains, double, n);
    chains->accepted_sum = SALI_OBJECT_ARRAY(chains, double, n);
    chains->acceptance_sum = SALI_OBJECT_ARRAY(chains, double, n);
    chains->jump_sum = SALI_OBJECT_ARRAY(chains, double, n);
    chains->step = SALI_OBJECT_ARRAY(chains, uint64_t, n);
    for (int64_t c = 0; chains->beta && c < n; c++) {
        chains->beta[c] = 1;
    }
    return chains;
}

sal_status sali_chains_create_remote(const sal_model *model, int64_t n, bool states, uint64_t seed,
                                     sali_chains **out, sal_error *err)
{
    sali_chains *chains = create_numbers(model, n, seed);
    if (chains && states) {
        chains->codes = SALI_OBJECT_ARRAY(chains, int32_t, n * chains->space->n_variables);
    }
    if (!chains || sali_object_failed(chains)) {
        sali_chains_destroy(chains);
        return sali_fail_memory(err);
    }
    *out = chains;
    return SAL_OK;
}

sal_status sali_chains_create(const sal_model *model, int64_t n, unsigned wants, uint64_t seed,
                              sali_chains **out, sal_error *err)
{
    sali_chains *chains = create_numbers(model, n, seed);
    if (!chains) {
        return sali_fail_memory(err);
    }
    const sal_space *space = model->space;
    chains->codes = SALI_OBJECT_ARRAY(chains, int32_t, n * space->n_variables);
    chains->codes_new = SALI_OBJECT_ARRAY(chains, int32_t, n * space->n_variables);
    chains->x = sali_object_array(chains, n * space->width, chains->element);
    chains->x_new = sali_object_array(chains, n * space->width, chains->element);
    chains->gradient = sali_object_array(chains, n * space->width, chains->element);
    chains->f_new = SALI_OBJECT_ARRAY(chains, double, n);
    chains->bad_codes = SALI_OBJECT_ARRAY(chains, int32_t, space->n_variables);
    chains->log_ratio = SALI_OBJECT_ARRAY(chains, double, n);
    chains->accepted = SALI_OBJECT_ARRAY(chains, bool, n);
    sal_status status = sali_object_failed(chains)
                            ? sali_fail_memory(err)
                            : sali_evaluator_create(model, n, wants, &chains->evaluator, err);
    if (status != SAL_OK) {
        sali_chains_destroy(chains);
        return status;
    }
    *out = chains;
    return SAL_OK;
}

void sali_chains_destroy(sali_chains *chains)
{
    if (chains) {
        sali_evaluator_destroy(chains->evaluator);
        sali_object_free(chains);
    }
}

bool sali_chains_together(const sali_chains *chains)
{
    bool same = true;
    for (int64_t c = 1; c < chains->n; c++) {
        same &= chains->step[c] == chains->step[0];
    }
    return same;
}

void sali_chains_embed(sali_chains *chains)
{
    sali_model_embed(chains->model, chains->n, chains->codes, chains->x);
}

void sali_chains_note_bad(sali_chains *chains, int64_t c, const int32_t *codes, double value)
{
    sali_chains_note_fault(chains, c, codes, NULL, value);
}

void sali_chains_note_fault(sali_chains *chains, int64_t c, const int32_t *codes, const char *what,
                            double value)
{
    if (chains->bad_chain < 0) {
        chains->bad_chain = c;
        chains->bad_what = what;
        chains->bad_step = chains->step[c];
        chains->bad_value = value;
        memcpy(chains->bad_codes, codes + c * chains->space->n_variables,
               (size_t)chains->space->n_variables * sizeof *codes);
    }
}

sal_status sali_chains_report(const sali_chains *chains, const sali_sampler *sampler, int64_t chain,
                              sal_error *err)
{
    char state[160] = "";
    for (int64_t v = 0; v < chains->space->n_variables && strlen(state) < 140; v++) {
        size_t used = strlen(state);
        snprintf(state + used, sizeof state - used, " %d", chains->bad_codes[v]);
    }
    const char *more = strlen(state) >= 140 ? " ..." : "";
    if (chains->bad_what) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sampler '%s': %s: %g, at chain %lld, step %llu, state%s%s", sampler->name,
                         chains->bad_what, chains->bad_value, (long long)chain,
                         (unsigned long long)chains->bad_step, state, more);
    }
    return sali_fail(
        err, SAL_ERR_MODEL,
        "%s: %s at chain %lld, step %llu, state%s%s; f must be a number or -inf, its gradient a "
        "number where f is one",
        chains->model->name, isnan(chains->bad_value) ? "f or its gradient is NaN" : "f is +inf",
        (long long)chain, (unsigned long long)chains->bad_step, state, more);
}

void sali_chains_note_bad_move(sali_chains *chains, int64_t c, const int32_t *codes, int64_t site,
                               int32_t code, double value)
{
    if (chains->bad_chain < 0) {
        sali_chains_note_bad(chains, c, codes, value);
        chains->bad_codes[site] = code;
    }
}

/* Whether none of the n values is NaN or +inf. */
static bool all_usable(sal_dtype dtype, const void *values, int64_t n)
{
    int bad = 0;
    if (dtype == SAL_F32) {
        for (int64_t k = 0; k < n; k++) {
            bad |= !(((const float *)values)[k] < INFINITY);
        }
    } else {
        for (int64_t k = 0; k < n; k++) {
            bad |= !(((const double *)values)[k] < INFINITY);
        }
    }
    return !bad;
}

/* Differences from a state of finite f must be numbers below +inf, as f is at all neighbours. */
static void check_differences(sali_chains *chains, const int32_t *codes, const double *f,
                              const void *slots)
{
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < chains->n; c++) {
        const void *row = sali_row(chains, (void *)slots, c, space->slots);
        if (!(f[c] > -INFINITY) || all_usable(chains->model->dtype, row, space->slots)) {
            continue;
        }
        int64_t slot = 0, site;
        int32_t code;
        while (sali_load(chains->model->dtype, row, slot) < INFINITY) {
            slot++;
        }
        sali_slot_move(space, codes + c * space->n_variables, slot, &site, &code);
        sali_chains_note_bad_move(chains, c, codes, site, code,
                                  sali_load(chains->model->dtype, row, slot));
    }
}

void sali_chains_check_f(sali_chains *chains, int64_t first, int64_t count, const int32_t *codes,
                         const double *f)
{
    for (int64_t c = first; c < first + count; c++) {
        if (!(f[c] < INFINITY)) {
            sali_chains_note_bad(chains, c, codes, f[c]);
        }
    }
}

void sali_chains_temper(const sali_chains *chains, int64_t c, int64_t width, void *row)
{
    for (int64_t k = 0; chains->beta[c] != 1 && k < width; k++) {
        sali_store(chains->model->dtype, row, k,
                   chains->beta[c] * sali_load(chains->model->dtype, row, k));
    }
}

/* Multiply the row [width] of every chain by the chain's beta. */
static void temper_rows(const sali_chains *chains, int64_t width, void *rows)
{
    for (int64_t c = 0; c < chains->n; c++) {
        sali_chains_temper(chains, c, width, sali_row(chains, rows, c, width));
    }
}

void sali_chains_differences_to(sali_chains *chains, const int32_t *codes, const void *x,
                                const int32_t *to, double *f, void *slots)
{
    sali_differences_to(chains->evaluator, chains->n, codes, x, to, f, slots);
    sali_chains_check_f(chains, 0, chains->n, codes, f);
}

void sali_chains_differences(sali_chains *chains, const int32_t *codes, const void *x, double *f,
                             void *slots)
{
    sali_chains_differences_to(chains, codes, x, NULL, f, slots);
    check_differences(chains, codes, f, slots);
    temper_rows(chains, chains->space->slots, slots);
}

/* Evaluate f [n] of the states `codes` [n x V], embedded as `x`, and with `gradient` beta times the
 * gradient into chains->gradient; note NaN and +inf. */
static void evaluate_states(sali_chains *chains, bool gradient, const int32_t *codes, const void *x,
                            double *f)
{
    if (gradient) {
        sali_gradient(chains->evaluator, chains->n, codes, x, f, chains->gradient);
        temper_rows(chains, chains->space->width, chains->gradient);
    } else {
        sali_value(chains->evaluator, chains->n, codes, x, f);
    }
    sali_chains_check_f(chains, 0, chains->n, codes, f);
}

void sali_chains_propose(sali_chains *chains, bool gradient)
{
    evaluate_states(chains, gradient, chains->codes_new, chains->x_new, chains->f_new);
}

void sali_chains_start(sali_chains *chains, bool gradient)
{
    evaluate_states(chains, gradient, chains->codes, chains->x, chains->f);
}

double sali_mh_log_ratio(double f, double f_new, double log_q_forward, double log_q_reverse)
{
    if (f_new == -INFINITY) {
        return -INFINITY;
    }
    if (f == -INFINITY) {
        return INFINITY;
    }
    return f_new - f + log_q_reverse - log_q_forward;
}

/* Chain c moves to its proposed state: codes, x and f; adds the distance to jump_sum. */
static void take_proposal(sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    chains->jump_sum[c] += sali_distance(space, chains->codes + c * space->n_variables,
                                         chains->codes_new + c * space->n_variables);
    memcpy(chains->codes + c * space->n_variables, chains->codes_new + c * space->n_variables,
           (size_t)space->n_variables * sizeof *chains->codes);
    memcpy(sali_row(chains, chains->x, c, space->width),
           sali_row(chains, chains->x_new, c, space->width),
           (size_t)space->width * chains->element);
    chains->f[c] = chains->f_new[c];
}

/* The least `stay` of samplers that move single variables, and of all other samplers. */
#define LEAST_LOCAL_STAY (1. / 64)
#define LEAST_STAY (1. / 256)

double sali_stay_probability(const sal_space *space, bool local)
{
    int64_t movable = 0;
    bool two_level = true;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        movable += s->states == 1 ? 0 : s->count;
        two_level &= s->states == 1 || s->states == 2;
    }
    const double one_of = local && two_level ? (double)movable + 1 : 4 * fmax(1, (double)movable);
    return fmax(1 / one_of, local ? LEAST_LOCAL_STAY : LEAST_STAY);
}

void sali_chains_decide(sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        double log_ratio = chains->log_ratio[c];
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_ACCEPT);
        if (isnan(log_ratio)) {
            sali_chains_note_bad(chains, c, chains->codes_new, log_ratio);
        }
        const double unasked = -1; /* below any probability */
        const double u = log_ratio == INFINITY ? unasked : sali_rng_uniform_at(&stream, 0);
        const double ratio = log_ratio < 0 ? exp(log_ratio) : log_ratio >= 0;
        chains->accepted[c] = sali_chains_accept(chains, c, ratio, u);
        if (chains->accepted[c]) {
            take_proposal(chains, c);
        }
    }
}

/* Set variable `site` of chain c to `code` in codes and x, and add the distance to jump_sum. The
 * sums of acceptances stay as they are. */
static void set_variable(sali_chains *chains, int64_t c, int64_t site, int32_t code)
{
    const sali_variable *v = &chains->space->variables[site];
    int32_t *now = &chains->codes[c * chains->space->n_variables + site];
    if (code == *now) {
        return;
    }
    chains->jump_sum[c] +=
        v->kind == SAL_CATEGORICAL ? 2 : fabs(sali_level(v, code) - sali_level(v, *now));
    *now = code;
    void *x = sali_row(chains, chains->x, c, chains->space->width);
    sali_model_embed_one(chains->model, site, code, x);
}

void sali_chains_move_several(sali_chains *chains, int64_t c, int64_t n, const int64_t *sites,
                              const int32_t *codes, double f)
{
    chains->acceptance_sum[c] += 1;
    chains->accepted_sum[c] += 1;
    chains->f[c] = f;
    for (int64_t k = 0; k < n; k++) {
        set_variable(chains, c, sites[k], codes[k]);
    }
}

void sali_chains_move(sali_chains *chains, int64_t c, int64_t site, int32_t code, double f)
{
    sali_chains_move_several(chains, c, 1, &site, &code, f);
}

sali_chains_sums sali_chains_take_sums(sali_chains *chains)
{
    sali_chains_sums sums = { 0 };
    for (int64_t c = 0; c < chains->n; c++) {
        sums.accepted += chains->accepted_sum[c];
        sums.acceptance += chains->acceptance_sum[c];
        sums.jump += chains->jump_sum[c];
        chains->accepted_sum[c] = chains->acceptance_sum[c] = chains->jump_sum[c] = 0;
    }
    return sums;
}

void sali_chains_tick(sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        chains->step[c]++;
    }
}

double sali_chains_coldest(const sali_chains *chains)
{
    double beta = chains->coldest;
    for (int64_t c = 0; chains->coldest == 0 && c < chains->n; c++) {
        beta = fmax(beta, chains->beta[c]);
    }
    return beta;
}

sal_status sali_warmup_gather(const sali_warmup *warmup, int64_t each,
                              void (*fill)(void *context, int64_t shard, double *numbers),
                              void *context, double **out, sal_error *err)
{
    const int64_t n = warmup->n_shards;
    double *all = SALI_NEW_ARRAY(double, n *each);
    int64_t *begin = SALI_NEW_ARRAY(int64_t, n + 1);
    sal_comm *comm = warmup->ranks ? warmup->ranks->comm : NULL;
    sal_status status = sal_comm_agree(comm, all && begin ? SAL_OK : sali_fail_memory(err), err);
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        begin[k + 1] = (k + 1) * each;
        if (sali_warmup_has(warmup, k)) {
            fill(context, k, all + k * each);
        }
    }
    if (status == SAL_OK && warmup->ranks) {
        status = sali_ranks_gather(warmup->ranks, all, begin, sizeof *all, err);
    }
    sali_free(begin);
    if (status != SAL_OK) {
        sali_free(all);
        return status;
    }
    *out = all;
    return SAL_OK;
}

/* The mean over the coldest chains, and over the steps of the window, of the jump (`jump`) or else
 * of the acceptance probability. */
static double warmup_mean(const sali_warmup *warmup, bool jump)
{
    double sum = 0, steps = 0;
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        const sali_chains *chains = warmup->chains[k];
        double coldest = sali_chains_coldest(chains);
        for (int64_t c = 0; c < chains->n; c++) {
            if (chains->beta[c] == coldest) {
                sum += jump ? chains->jump_sum[c] : chains->acceptance_sum[c];
                steps += (double)warmup->window;
            }
        }
    }
    return sum / steps;
}

double sali_warmup_acceptance(const sali_warmup *warmup)
{
    return warmup_mean(warmup, false);
}

double sali_warmup_jump(const sali_warmup *warmup)
{
    return warmup_mean(warmup, true);
}
