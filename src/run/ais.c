/* SPDX-License-Identifier: MIT */
/* Annealed importance sampling. Neal 2001; the reverse estimator: Burda et al. 2015.
 *
 * All shards share the model at the present temperature, so they meet after each stage. What a
 * sampler evaluates when it takes note of a new temperature is f_beta at the present states, which
 * is what the weights want: each increment is f before the change of temperature taken from f after
 * it. */
#include "run/ais.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vector/blas.h"
#include "core/error.h"
#include "core/shard.h"
#include "models/base.h"
#include "models/states.h"
#include "stats/log_mean_exp.h"

static bool is_reverse(const sali_ais *ais)
{
    return ais->options.reverse_from != NULL;
}

/* Of the present stage; a reverse path begins at beta_T = 1. */
static double present_beta(const sali_ais *ais)
{
    int64_t T = ais->options.temperatures, t = is_reverse(ais) ? T - ais->stage : ais->stage;
    return sali_ais_beta(ais->options.schedule, t, T);
}

/* ---- one shard at one stage */

/* f_beta of the present states into chains->f; at beta = 0 without the model, which may forbid
 * states that p_0 does not. */
static void evaluate(const sali_ais *ais, const sali_ais_shard *shard)
{
    sali_chains *chains = shard->chains;
    if (present_beta(ais) > 0) {
        sali_chains_start(chains, false);
        return;
    }
    for (int64_t c = 0; c < shard->n; c++) {
        chains->f[c] = sali_base_value(chains->space, ais->log_base,
                                       chains->codes + c * chains->space->n_variables);
    }
}

static void start_shard(void *context, int64_t k)
{
    const sali_ais *ais = context;
    const sali_ais_shard *shard = &ais->shards[k];
    sali_chains *chains = shard->chains;
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < shard->n; c++) {
        int32_t *codes = chains->codes + c * V;
        if (is_reverse(ais)) {
            memcpy(codes, ais->options.reverse_from + (shard->first + c) * V,
                   (size_t)V * sizeof *codes);
        } else {
            sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_INIT);
            sali_base_draw(chains->space, ais->log_base, &stream, shard->uniform, codes);
        }
    }
    sali_chains_embed(chains);
    evaluate(ais, shard);
}

/* A chain that starts where f = -inf has weight 0 whatever it does: it goes on from the state of
 * one that does not, so that samplers need not move forbidden states. False if there is none. */
static bool revive(const sali_ais_shard *shard)
{
    sali_chains *chains = shard->chains;
    int64_t V = chains->space->n_variables, alive = 0;
    while (alive < shard->n && chains->f[alive] == -INFINITY) {
        alive++;
    }
    for (int64_t c = 0; alive < shard->n && c < shard->n; c++) {
        if (chains->f[c] == -INFINITY) {
            memcpy(chains->codes + c * V, chains->codes + alive * V,
                   (size_t)V * sizeof *chains->codes);
            chains->f[c] = chains->f[alive];
        }
    }
    sali_chains_embed(chains);
    return alive < shard->n;
}

static bool is_dead(const sali_ais *ais, const sali_ais_shard *shard)
{
    for (int64_t c = 0; c < shard->n; c++) {
        if (ais->log_weight[shard->first + c] > -INFINITY) {
            return false;
        }
    }
    return true;
}

/* The increments of the log-weights, then the steps at this temperature. */
static void advance_shard(void *context, int64_t k)
{
    const sali_ais *ais = context;
    sali_ais_shard *shard = &ais->shards[k];
    sali_chains *chains = shard->chains;
    bool first = ais->stage == 1, last = ais->stage == ais->options.temperatures;
    if (is_dead(ais, shard)) {
        return;
    }
    memcpy(shard->f, chains->f, (size_t)shard->n * sizeof *shard->f);
    if (first || last) {
        evaluate(ais, shard);
    } else {
        sali_engine(ais->sampler)->refresh(shard->self, chains);
    }
    for (int64_t c = 0; c < shard->n; c++) {
        ais->log_weight[shard->first + c] += chains->f[c] - shard->f[c];
    }
    bool alive = !first || revive(shard);
    if (!last && alive && chains->bad_chain < 0) {
        if (first) {
            sali_engine(ais->sampler)->refresh(shard->self, chains);
        }
        sali_sampler_steps(ais->sampler, shard->self, chains, ais->options.steps);
        shard->moves += (double)shard->n * (double)ais->options.steps;
    }
}

/* ---- all shards */

static sal_status check_values(sali_ais *ais, sal_error *err)
{
    for (int64_t k = 0; k < ais->n_shards; k++) {
        const sali_chains *chains = ais->shards[k].chains;
        if (chains->bad_chain >= 0 && chains->bad_what) {
            return sali_chains_report(chains, ais->sampler,
                                      ais->shards[k].first + chains->bad_chain, err);
        }
        if (chains->bad_chain >= 0) {
            return sali_states_check(ais->bridge.model, 1, chains->bad_codes, &chains->bad_value,
                                     err);
        }
    }
    return SAL_OK;
}

static sal_status check_reverse(const sali_ais *ais, sal_error *err)
{
    for (int64_t k = 0; k < ais->n_shards; k++) {
        const sali_ais_shard *shard = &ais->shards[k];
        for (int64_t c = 0; c < shard->n; c++) {
            if (shard->chains->f[c] == -INFINITY) {
                return sali_fail(err, SAL_ERR_ARGUMENT,
                                 "ais: f is -inf at the state where chain %lld is to start; a "
                                 "reverse path starts at states that the model allows",
                                 (long long)(shard->first + c));
            }
        }
    }
    return SAL_OK;
}

/* Put all chains at their start, stage 0. */
static sal_status start(sali_ais *ais, sal_error *err)
{
    const sal_ais_options *o = &ais->options;
    sal_status status = is_reverse(ais) ? sali_codes_check(ais->bridge.model->space, o->chains,
                                                           o->reverse_from, err)
                                        : SAL_OK;
    if (status != SAL_OK) {
        return status;
    }
    ais->stage = 0;
    sali_bridge_set(&ais->bridge, present_beta(ais));
    sali_shard_run(ais->n_shards, o->threads, start_shard, ais);
    status = check_values(ais, err);
    return status == SAL_OK && is_reverse(ais) ? check_reverse(ais, err) : status;
}

/* The next stage: the weights of its temperature, and the steps there unless it is the last. */
static sal_status advance(sali_ais *ais, sal_error *err)
{
    ais->stage++;
    sali_bridge_set(&ais->bridge, present_beta(ais));
    sali_shard_run_paced(&ais->pace, 1, ais->n_shards, ais->options.threads, advance_shard, ais);
    for (int64_t k = 0; k < ais->n_shards; k++) {
        ais->accepted += sali_chains_take_sums(ais->shards[k].chains).accepted;
    }
    return check_values(ais, err);
}

/* ---- the estimate */

static sal_status estimate_from(const sali_ais *ais, bool stopped, sal_ais_estimate *estimate,
                                sal_error *err)
{
    const sal_ais_options *o = &ais->options;
    double moves = 0;
    for (int64_t k = 0; k < ais->n_shards; k++) {
        moves += ais->shards[k].moves;
    }
    sal_ais_estimate e = { .log_z = NAN,
                           .standard_error = NAN,
                           .jackknife = NAN,
                           .ess = NAN,
                           .acceptance_rate = moves > 0 ? ais->accepted / moves : NAN,
                           .stopped = stopped };
    for (int64_t c = 0; c < o->chains; c++) {
        e.dead += ais->log_weight[c] == -INFINITY;
    }
    if (!stopped && e.dead == o->chains) {
        return sali_fail(err, SAL_ERR_MODEL,
                         "ais: f is -inf at the starts of all %lld chains; take more chains, or a "
                         "base distribution nearer to %s",
                         (long long)o->chains, ais->bridge.model->name);
    }
    if (!stopped) {
        sali_log_mean mean = sali_log_mean_exp(o->chains, ais->log_weight);
        e.log_z = is_reverse(ais) ? -mean.value : mean.value;
        e.standard_error = mean.standard_error;
        e.jackknife = mean.jackknife;
        e.ess = mean.ess;
    }
    *estimate = e;
    return SAL_OK;
}

static sal_status run(sali_ais *ais, sal_ais_estimate *estimate, sal_error *err)
{
    const sal_ais_options *o = &ais->options;
    bool stopped = false;
    sal_status status = start(ais, err);
    while (status == SAL_OK && !stopped && ais->stage < o->temperatures) {
        status = advance(ais, err);
        stopped = status == SAL_OK && o->progress &&
                  o->progress(ais->stage, o->temperatures, o->progress_data) != 0;
    }
    stopped &= ais->stage < o->temperatures;
    return status ? status : estimate_from(ais, stopped, estimate, err);
}

/* Where all chains are. */
static void copy_ends(const sali_ais *ais, int32_t *ends)
{
    const int64_t V = ais->bridge.model->space->n_variables;
    for (int64_t k = 0; k < ais->n_shards; k++) {
        const sali_chains *chains = ais->shards[k].chains;
        memcpy(ends + ais->shards[k].first * V, chains->codes,
               (size_t)(chains->n * V) * sizeof *ends);
    }
}

sal_status sal_ais(sal_model *model, const sal_ais_options *options, sal_ais_estimate *estimate,
                   double *log_weights, sal_error *err)
{
    if (!model || !estimate) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_ais: the model or the estimate is NULL");
    }
    sali_ais ais = { 0 };
    sali_blas_single_thread_begin();
    sal_status status = sali_ais_prepare(&ais, model, options, err);
    status = status ? status : run(&ais, estimate, err);
    sali_blas_single_thread_end();
    for (int64_t c = 0; status == SAL_OK && log_weights && c < ais.options.chains; c++) {
        log_weights[c] = is_reverse(&ais) ? -ais.log_weight[c] : ais.log_weight[c];
    }
    if (status == SAL_OK && ais.options.ends && !estimate->stopped) {
        copy_ends(&ais, ais.options.ends);
    }
    sali_ais_free(&ais);
    return status;
}
