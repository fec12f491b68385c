/* SPDX-License-Identifier: MIT */
/* Annealed importance sampling. Neal 2001; the reverse estimator: Burda et al. 2015.
 *
 * All shards share the model at the present temperature, so they meet after each stage. When the
 * temperature changes, a sampler evaluates f_beta at the present states, and the weights need just
 * this: an increment is f_beta at the new temperature minus f_beta at the old one, at the same
 * state. */
#include "run/ais/ais.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vector/blas.h"
#include "core/error.h"
#include "models/base.h"
#include "models/states.h"
#include "models/tape_model.h"
#include "stats/log_mean_exp.h"

static bool is_reverse(const sali_ais *ais)
{
    return ais->options.reverse_from != NULL;
}

/* beta of the present stage; a reverse path begins at beta_T = 1. */
static double present_beta(const sali_ais *ais)
{
    int64_t T = ais->options.temperatures, t = is_reverse(ais) ? T - ais->stage : ais->stage;
    return sali_ais_beta(ais->options.schedule, t, T);
}

/* ---- one shard at one stage */

/* f_beta of the present states into chains->f; at beta = 0 without the model, which may forbid
 * states that p_0 does not. */
static void evaluate_states(const sali_ais *ais, const sali_ais_shard *shard)
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

/* Put the chains of shard k at their start: draws from the base, or the given states of a reverse
 * path. */
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
    evaluate_states(ais, shard);
}

/* A chain that starts where f = -inf has weight 0 whatever it does later. Give it the state of a
 * chain of the shard that is allowed, so that samplers need not move forbidden states. False: no
 * chain is allowed. */
static bool revive_chains(const sali_ais_shard *shard)
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

/* Whether all chains of the shard have weight 0, so that nothing more needs to be computed for
 * it. */
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
        evaluate_states(ais, shard);
    } else {
        sali_engine(ais->sampler)->refresh(shard->self, chains);
    }
    for (int64_t c = 0; c < shard->n; c++) {
        ais->log_weight[shard->first + c] += chains->f[c] - shard->f[c];
    }
    bool alive = !first || revive_chains(shard);
    if (!last && alive && chains->bad_chain < 0) {
        if (first) {
            sali_engine(ais->sampler)->refresh(shard->self, chains);
        }
        sali_sampler_steps(ais->sampler, shard->self, chains, ais->options.steps);
        shard->moves += (double)shard->n * (double)ais->options.steps;
    }
}

/* ---- all shards */

/* SAL_ERR_MODEL or what the chains report if a chain of this rank met NaN or +inf. */
static sal_status check_values(sali_ais *ais, sal_error *err)
{
    for (int64_t k = ais->ranks.first; k < ais->ranks.end; k++) {
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

/* SAL_ERR_ARGUMENT if a chain of this rank is to start a reverse path at a state with f = -inf. */
static sal_status check_reverse(const sali_ais *ais, sal_error *err)
{
    for (int64_t k = ais->ranks.first; k < ais->ranks.end; k++) {
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
static sal_status start_chains(sali_ais *ais, sal_error *err)
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
    sali_ranks_run(&ais->ranks, NULL, 0, o->threads, start_shard, ais);
    status = check_values(ais, err);
    return status == SAL_OK && is_reverse(ais) ? check_reverse(ais, err) : status;
}

/* Go to the next stage: add its increments to the weights, and make the steps at its temperature,
 * unless the stage is the last. */
static sal_status advance_stage(sali_ais *ais, sal_error *err)
{
    ais->stage++;
    sali_bridge_set(&ais->bridge, present_beta(ais));
    sali_ranks_run(&ais->ranks, &ais->pace, 1, ais->options.threads, advance_shard, ais);
    for (int64_t k = ais->ranks.first; k < ais->ranks.end; k++) {
        ais->accepted += sali_chains_take_sums(ais->shards[k].chains).accepted;
    }
    return check_values(ais, err);
}

/* ---- the estimate */

/* *estimate receives the results of the weights of all chains; NaN for what a stopped path does not
 * give. */
static sal_status estimate_from(const sali_ais *ais, bool stopped, sal_ais_estimate *estimate,
                                sal_error *err)
{
    const sal_ais_options *o = &ais->options;
    const double moves = ais->moves;
    sal_ais_estimate e = { .log_z = NAN,
                           .standard_error = NAN,
                           .jackknife = NAN,
                           .ess = NAN,
                           .acceptance_rate = moves > 0 ? ais->accepted / moves : NAN,
                           .sampler = sali_sampler_called(ais->sampler, o->sampler),
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

/* Copy the present states of this rank's chains into their rows of ends [chains x V]. */
static void copy_ends(const sali_ais *ais, int32_t *ends)
{
    const int64_t V = ais->bridge.model->space->n_variables;
    for (int64_t k = ais->ranks.first; k < ais->ranks.end; k++) {
        const sali_chains *chains = ais->shards[k].chains;
        memcpy(ends + ais->shards[k].first * V, chains->codes,
               (size_t)(chains->n * V) * sizeof *ends);
    }
}

/* Stages from one meeting of ranks to the next: ranks need nothing of each other in between. */
#define MEETING 64

/* Make the stages up to the next meeting, or one stage on a single rank. *stopped receives, on all
 * ranks, whether rank 0's caller asks to stop. */
static sal_status advance_to_meeting(sali_ais *ais, bool *stopped, sal_error *err)
{
    const sal_ais_options *o = &ais->options;
    const bool first = sal_comm_rank(o->comm) == 0, several = sali_ranks_several(&ais->ranks);
    const int64_t left = o->temperatures - ais->stage, n = left < MEETING ? left : MEETING;
    const int64_t end = ais->stage + (several ? n : 1);
    sal_status status = SAL_OK;
    while (status == SAL_OK && ais->stage < end) {
        status = advance_stage(ais, err);
        if (status == SAL_OK && first && o->progress && !*stopped) {
            *stopped = o->progress(ais->stage, o->temperatures, o->progress_data) != 0;
        }
    }
    status = sal_comm_agree(o->comm, status, err);
    return status ? status : sali_comm_broadcast(o->comm, 0, stopped, sizeof *stopped, err);
}

/* Bring log-weights, numbers of moves and, if `ends`, last states of all chains to all ranks.
 * Numbers of moves are whole, so their sums are the same in any order. */
static sal_status gather_results(sali_ais *ais, bool ends, sal_error *err)
{
    sal_comm *comm = ais->options.comm;
    const int64_t V = ais->bridge.model->space->n_variables, ranks = sal_comm_size(comm);
    double *made = SALI_NEW_ARRAY(double, 2 * ranks), *own = made + 2 * sal_comm_rank(comm);
    sal_status status = sal_comm_agree(comm, made ? SAL_OK : sali_fail_memory(err), err);
    if (status != SAL_OK) {
        sali_free(made);
        return status;
    }
    for (int64_t k = ais->ranks.first; k < ais->ranks.end; k++) {
        own[0] += ais->shards[k].moves;
    }
    own[1] = ais->accepted;
    for (int64_t r = 0; r < ranks; r++) {
        ais->ranks.bytes[r] = 2 * sizeof *made;
    }
    status = sali_comm_gather(comm, made, ais->ranks.bytes, err);
    ais->moves = ais->accepted = 0;
    for (int64_t r = 0; r < ranks; r++) {
        ais->moves += made[2 * r];
        ais->accepted += made[2 * r + 1];
    }
    sali_free(made);
    status = status ? status
                    : sali_ranks_gather(&ais->ranks, ais->log_weight, ais->chain_begin,
                                        sizeof *ais->log_weight, err);
    if (status == SAL_OK && ends && ais->options.ends) {
        copy_ends(ais, ais->options.ends);
        status = sali_ranks_gather(&ais->ranks, ais->options.ends, ais->chain_begin,
                                   (size_t)V * sizeof *ais->options.ends, err);
    }
    return status;
}

/* All stages, or as many as the caller wants, and the estimate. Collective. */
static sal_status run_stages(sali_ais *ais, sal_ais_estimate *estimate, sal_error *err)
{
    const sal_ais_options *o = &ais->options;
    bool stopped = false;
    sal_status status = sal_comm_agree(o->comm, start_chains(ais, err), err);
    while (status == SAL_OK && !stopped && ais->stage < o->temperatures) {
        status = advance_to_meeting(ais, &stopped, err);
    }
    stopped &= ais->stage < o->temperatures;
    status = status ? status : gather_results(ais, !stopped, err);
    return status ? status : estimate_from(ais, stopped, estimate, err);
}

sal_status sal_ais(sal_model *model, const sal_ais_options *options, sal_ais_estimate *estimate,
                   double *log_weights, sal_error *err)
{
    if (!model || !estimate) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_ais: the model or the estimate is NULL");
    }
    sali_ais ais = { 0 };
    sali_model_use(model);
    sali_blas_single_thread_begin();
    sal_status status = sali_model_check_joint(model, err);
    status = status ? status
                    : sali_space_check_free(model->space, model->name,
                                            "annealing from independent variables", err);
    status = status ? status : sali_ais_prepare(&ais, model, options, err);
    status = sal_comm_agree(options ? options->comm : NULL, status, err);
    status = status ? status : run_stages(&ais, estimate, err);
    sali_blas_single_thread_end();
    sali_model_release(model);
    for (int64_t c = 0; status == SAL_OK && log_weights && c < ais.options.chains; c++) {
        log_weights[c] = is_reverse(&ais) ? -ais.log_weight[c] : ais.log_weight[c];
    }
    sali_ais_free(&ais);
    return status;
}
