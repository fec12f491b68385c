/* SPDX-License-Identifier: MIT */
/* Draws of a trained model by climbing its training's trajectory. */
#include "train/trajectory_draw.h"

#include <math.h>
#include <string.h>

#include <saltus/sample.h>

#include "core/alloc.h"
#include "core/vector/blas.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/make/tape_copy.h"
#include "train/objectives/ptt_levels.h"

#define CHAINS 100
#define DRAWS 10
#define SPARE 10

/* SAL_ERR_ARGUMENT unless the trajectory is of the model and the numbers of chains, draws, steps
 * and states are possible. */
static sal_status check_request(const sal_model *model, const sal_trajectory *path,
                                const sal_trajectory_options *o, sal_error *err)
{
    if (!sali_trajectory_fits(path, model)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "the trajectory is of another model than %s",
                         model->name);
    }
    return o->chains >= 2 && o->draws >= 1 && o->steps >= 1 && o->chains <= INT32_MAX / o->draws &&
                   o->reservoir % o->chains == 0 && o->reservoir >= o->chains * o->draws &&
                   o->reservoir <= INT32_MAX
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "chains is %lld, draws %lld, steps %lld, reservoir %lld; expected 2, 1 "
                           "and 1 or more, and a multiple of chains that holds all draws",
                           (long long)o->chains, (long long)o->draws, (long long)o->steps,
                           (long long)o->reservoir);
}

sal_status sali_ptt_climb_open(sali_ptt_climb *climb, const sal_model *model,
                               const sal_trajectory *path, const sal_trajectory_options *o,
                               struct sal_comm *comm, sal_error *err)
{
    const int64_t V = model->space->n_variables;
    climb->rows = (sal_data){ .rows = o->chains,
                              .variables = V,
                              .codes = SALI_NEW_ARRAY(uint8_t, o->chains * V) };
    const sal_train_options options = { .objective = SAL_PTT,
                                        .sampler = o->sampler ? o->sampler : path->sampler,
                                        .steps = o->steps,
                                        .batch = o->chains,
                                        .ptt.reservoir = o->reservoir,
                                        .seed = ~o->seed, /* others than in training */
                                        .threads = o->threads,
                                        .comm = comm,
                                        .centring = SAL_CENTRING_OFF };
    sal_status status = climb->rows.codes ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sali_tape_model_copy(model, &climb->model, err);
    status = sal_comm_agree(comm, status, err);
    return status ? status
                  : sal_trainer_create(climb->model, &climb->rows, &options, &climb->trainer, err);
}

void sali_ptt_climb_close(sali_ptt_climb *climb)
{
    sal_trainer_destroy(climb->trainer);
    sal_model_destroy(climb->model);
    sal_data_destroy(&climb->rows);
}

/* Copy evenly spaced states of the reservoir into codes [chains x draws x V]. A chain is a stretch
 * of the reservoir, whose states have ancestors in common. */
static void take_draws(const sal_trainer *t, int64_t draws, int32_t *codes, double *log_prob)
{
    const sali_ptt *p = t->own;
    const int64_t V = t->model->space->n_variables, n = p->n * draws;
    for (int64_t at = 0; at < n; at++) {
        const int64_t m = (2 * at + 1) * p->M / (2 * n);
        memcpy(codes + at * V, p->stored + m * V, (size_t)V * sizeof *codes);
        if (log_prob) {
            log_prob[at] = p->stored_f[m];
        }
    }
}

/* Draw from a denoising chain by a run along it. */
static sal_status draw_passes(const sal_model *model, const sal_trajectory *path,
                              const sal_trajectory_options *o, int32_t *codes, double *log_prob,
                              sal_trajectory_draws *draws, sal_error *err)
{
    sal_run *run = NULL;
    const sal_run_options options = { .sampler = o->sampler,
                                      .trajectory = path,
                                      .steps_per_level = o->steps,
                                      .chains = o->chains,
                                      .draws = o->draws,
                                      .seed = ~o->seed,
                                      .threads = o->threads,
                                      .record.draws = true,
                                      .callbacks = { .progress = o->progress,
                                                     .progress_data = o->progress_data } };
    sal_run_summary s = { 0 };
    sal_status status = sal_sample((sal_model *)(uintptr_t)model, &options, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        *draws = (sal_trajectory_draws){
            .log_z = NAN, .log_z_error = NAN, .levels = path->noise->T, .stopped = s.stopped
        };
    }
    if (status == SAL_OK && !s.stopped) {
        int64_t chains, made, V;
        int bytes;
        sal_run_size(run, &chains, &made, &V);
        const uint8_t *drawn = sal_run_draws(run, &bytes); /* noise is for 256 states at most */
        for (int64_t i = 0; i < chains * made * V; i++) {
            codes[i] = drawn[i];
        }
        if (log_prob) {
            memcpy(log_prob, sal_run_log_probs(run), (size_t)(chains * made) * sizeof *log_prob);
        }
    }
    sal_run_destroy(run);
    return status;
}

sal_status sal_trajectory_draw(const sal_model *model, const sal_trajectory *path,
                               const sal_trajectory_options *options, int32_t *codes,
                               double *log_prob, sal_trajectory_draws *draws, sal_error *err)
{
    sal_trajectory_options o = options ? *options : (sal_trajectory_options){ 0 };
    sali_ptt_climb climb = { 0 };
    bool stopped = false;
    if (!model || !path || !codes || !draws) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_trajectory_draw: the model, the trajectory or a result is NULL");
    }
    o.chains = o.chains ? o.chains : CHAINS;
    o.draws = o.draws ? o.draws : DRAWS;
    if (path->noise) {
        return draw_passes(model, path, &o, codes, log_prob, draws, err);
    }
    o.steps = o.steps ? o.steps : path->steps;
    o.reservoir = o.reservoir ? o.reservoir : SPARE * o.chains * o.draws;
    sal_status status = check_request(model, path, &o, err);
    status = status ? status : sali_ptt_climb_open(&climb, model, path, &o, NULL, err);
    if (status == SAL_OK) {
        sali_blas_single_thread_begin();
        status = sali_ptt_replay(climb.trainer, path, o.progress, o.progress_data, &stopped, err);
        sali_blas_single_thread_end();
    }
    if (status == SAL_OK) {
        const sali_ptt *p = climb.trainer->own;
        const sal_trajectory *climbed = p->path;
        const sal_trajectory_level *last = &climbed->levels[climbed->n - 1].info;
        *draws = (sal_trajectory_draws){ .log_z = last->log_z,
                                         .log_z_error = last->log_z_error,
                                         .levels = climbed->n,
                                         .disturbed = p->disturbed,
                                         .stopped = stopped };
        if (!stopped) {
            take_draws(climb.trainer, o.draws, codes, log_prob);
        }
    }
    sali_ptt_climb_close(&climb);
    return status;
}
