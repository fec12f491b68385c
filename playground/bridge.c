/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/sampler.h>
#include <saltus/stats.h>

#include "core/error.h"
#include "models/zoo/builtin.h"
#include "run/tempering.h"
#include "samplers/sampler.h"
#include "samplers/start.h"

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#define PLAY EMSCRIPTEN_KEEPALIVE
#else
#define PLAY
#endif

static sal_error last;

/* 0, or -1. */
static int told(sal_status status)
{
    return status == SAL_OK ? 0 : -1;
}

PLAY const char *play_error(void)
{
    return last.message;
}

/* ---- models */

PLAY sal_model *play_model(const char *specification)
{
    sal_model *model = NULL;
    return sali_builtin_make(specification, NULL, SAL_F64, &model, &last) == SAL_OK ? model : NULL;
}

PLAY sal_model *play_formula_model(const char *text, int kind, int rows, int columns, int levels,
                                   double low, double high, int *place)
{
    const play_lattice lattice = { kind, rows, columns, levels, low, high };
    return play_formula(text, &lattice, place);
}

void play_fail(const char *message)
{
    sali_fail(&last, SAL_ERR_ARGUMENT, "%s", message);
}

sal_error *play_last(void)
{
    return &last;
}

PLAY int play_set(sal_model *model, const char *parameter, const double *values)
{
    return told(sal_model_set_params(model, parameter, values, &last));
}

PLAY int play_variables(const sal_model *model)
{
    return (int)sal_space_variables(sal_model_space(model));
}

PLAY int play_states(const sal_model *model, int variable)
{
    return (int)sal_space_states(sal_model_space(model), variable);
}

PLAY int play_f(const sal_model *model, int n, const int32_t *codes, double *f)
{
    return told(sal_model_evaluate(model, n, codes, f, NULL, NULL, &last));
}

PLAY int play_derivatives(const sal_model *model, const int32_t *codes, double *gradient,
                          double *differences)
{
    double f;
    return told(sal_model_evaluate(model, 1, codes, &f, gradient, differences, &last));
}

PLAY char *play_program(const sal_model *model)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) {
        sali_fail_memory(&last);
        return NULL;
    }
    sal_status status = sal_model_print_program(model, stream, &last);
    fclose(stream);
    if (status != SAL_OK) {
        free(text);
        return NULL;
    }
    return text;
}

PLAY void play_model_close(sal_model *model)
{
    sal_model_destroy(model);
}

/* ---- proposals */

PLAY int play_log_q(const sal_model *model, const char *sampler, double step_size,
                    const int32_t *from, int n, const int32_t *to, double *log_q)
{
    const sal_run_options o = { .sampler = sampler, .step_size = step_size };
    return told(sal_sampler_log_q(model, &o, from, n, to, log_q, &last));
}

PLAY int play_draw(const sal_model *model, const char *sampler, double step_size, double seed,
                   const int32_t *from, int n, int32_t *to)
{
    const sal_run_options o = { .sampler = sampler,
                                .step_size = step_size,
                                .seed = (uint64_t)seed };
    return told(sal_sampler_draw_proposals(model, &o, from, n, to, &last));
}

/* ---- chains that step */

struct play_walk {
    sal_model *model;
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    void *shared, *self;
    sali_chains *chains;
    sali_memory memory; /* of the swaps */
    sali_swaps swaps;
    int64_t steps; /* since the last means */
};

static sal_status start(play_walk *w, double seed, int chains, const int32_t *init,
                        const double *temperatures)
{
    sal_model *guide = NULL;
    sal_status status = sali_sampler_share(w->sampler, w->model, &w->settings, &w->shared, &last);
    status = status ? status
                    : sali_chains_create(w->model, chains, sali_sampler_wants(w->sampler),
                                         (uint64_t)seed, &w->chains, &last);
    for (int c = 0; status == SAL_OK && c < chains; c++) {
        w->chains->id[c] = (uint32_t)c;
        w->chains->beta[c] = temperatures ? 1 / temperatures[c] : 1;
    }
    status =
        status ? status
               : sali_sampler_open(w->sampler, &w->settings, w->shared, w->chains, &w->self, &last);
    for (int c = 0; status == SAL_OK && c < chains; c++) {
        w->chains->step_size[c] = w->settings.step_size;
    }
    status = status ? status : sali_swaps_create(&w->swaps, &w->memory, w->chains, chains, &last);
    if (status == SAL_OK && !init && w->model->ops->feasibility) {
        status = w->model->ops->feasibility(w->model, &guide, &last);
    }
    status = status ? status : sali_start(w->chains, init, guide, &last);
    sal_model_destroy(guide);
    return status;
}

PLAY void play_walk_close(play_walk *w)
{
    if (w) {
        sali_sampler_close(w->sampler, w->self);
        sali_chains_destroy(w->chains);
        sali_sampler_unshare(w->sampler, w->shared);
        sali_memory_free(&w->memory);
        sal_model_destroy(w->model);
        free(w);
    }
}

static int check(const play_walk *w)
{
    return w->chains->bad_chain < 0
               ? 0
               : told(sali_chains_report(w->chains, w->sampler, w->chains->bad_chain, &last));
}

PLAY int play_walk_refresh(play_walk *w)
{
    if (sali_codes_check(w->chains->space, w->chains->n, w->chains->codes, &last) != SAL_OK) {
        return -1;
    }
    sali_chains_embed(w->chains);
    sali_sampler_forget(w->sampler, w->self);
    sali_engine(w->sampler)->refresh(w->self, w->chains);
    return check(w);
}

PLAY play_walk *play_walk_open(sal_model *model, const char *sampler, double step_size, int chains,
                               double seed, const int32_t *init, const double *temperatures)
{
    play_walk *w = calloc(1, sizeof *w);
    if (!w) {
        sali_fail_memory(&last);
        return NULL;
    }
    w->model = sali_model_hold(model);
    sal_status status =
        chains < 1 ? sali_fail(&last, SAL_ERR_ARGUMENT, "a walk needs a chain, found %d", chains)
        : init     ? sali_codes_check(sal_model_space(model), chains, init, &last)
                   : SAL_OK;
    status = status
                 ? status
                 : sali_sampler_choose(sampler, model, step_size, &w->sampler, &w->settings, &last);
    if (status != SAL_OK || start(w, seed, chains, init, temperatures) != SAL_OK ||
        play_walk_refresh(w) != 0) {
        play_walk_close(w);
        return NULL;
    }
    return w;
}

PLAY int play_walk_step(play_walk *w, int steps)
{
    sali_sampler_steps(w->sampler, w->self, w->chains, steps);
    w->steps += steps;
    return check(w);
}

PLAY int32_t *play_walk_codes(play_walk *w)
{
    return w->chains->codes;
}

PLAY double *play_walk_f(play_walk *w)
{
    return w->chains->f;
}

PLAY void play_walk_set_step_size(play_walk *w, double step_size)
{
    for (int64_t c = 0; c < w->chains->n; c++) {
        w->chains->step_size[c] = step_size;
    }
}

PLAY void play_walk_set_temperature(play_walk *w, int chain, double temperature)
{
    w->chains->beta[chain] = 1 / temperature;
}

PLAY void play_walk_means(play_walk *w, double means[2])
{
    const double moves = (double)w->steps * (double)w->chains->n;
    means[0] = means[1] = 0;
    for (int64_t c = 0; c < w->chains->n; c++) {
        means[0] += w->chains->acceptance_sum[c] / moves;
        means[1] += w->chains->jump_sum[c] / moves;
    }
    sali_chains_take_sums(w->chains);
    w->steps = 0;
}

PLAY int play_walk_swap(play_walk *w, int parity, uint8_t *made)
{
    sali_swaps_clear(&w->swaps, false);
    sali_swap(&w->swaps, w->chains, parity);
    for (int64_t r = 0; r < w->swaps.replicas; r++) {
        made[r] = w->swaps.made[r] > 0;
    }
    sali_engine(w->sampler)->refresh(w->self, w->chains);
    return check(w);
}

PLAY double play_tune(sal_model *model, const char *sampler, int chains, int warmup, double seed)
{
    const sal_run_options o = {
        .sampler = sampler, .chains = chains, .warmup = warmup, .draws = 4, .seed = (uint64_t)seed
    };
    sal_run *run = NULL;
    sal_run_summary s = { .step_size = -1 };
    sal_status status = sal_sample(model, &o, &run, &last);
    status = status ? status : sal_run_summarise(run, &s, &last);
    sal_run_destroy(run);
    return status == SAL_OK ? s.step_size : -1;
}

/* ---- figures */

PLAY double play_ess(int n, const double *x)
{
    double ess = NAN;
    return sal_stats_ess_tfp(n, x, &ess, &last) == SAL_OK ? ess : NAN;
}

PLAY double play_rhat(int chains, int n, const double *x)
{
    sal_diagnostics d;
    return sal_stats_diagnose(chains, n, x, &d, &last) == SAL_OK ? d.rhat : NAN;
}
