/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/program.h>
#include <saltus/sampler.h>
#include <saltus/stats.h>

#include "core/error.h"
#include "models/formula/formula.h"
#include "models/levels/levels.h"
#include "models/levels/noise.h"
#include "models/zoo/builtin.h"
#include "run/denoising/pass.h"
#include "run/parts/tempering.h"
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

/* The most variables and characters of a page's formula. */
#define MOST_VARIABLES (1 << 16)
#define LONGEST 2000

/* The declaration of x; its length. */
static int declare(int kind, int rows, int columns, int levels, double low, double high,
                   char text[200])
{
    return kind == PLAY_ORDINAL
               ? snprintf(text, 200, "x: ordinal(%d, %.17g, %.17g)[%d, %d] cyclic;", levels, low,
                          high, rows, columns)
               : snprintf(text, 200, "x: %s[%d, %d] cyclic;",
                          kind == PLAY_SPINS ? "spin" : "binary", rows, columns);
}

PLAY sal_model *play_formula(const char *text, int kind, int rows, int columns, int levels,
                             double low, double high, int *place)
{
    char whole[200 + LONGEST + 1];
    sal_model *model = NULL;
    int64_t at;
    const bool long_text = strlen(text) > LONGEST;
    *place = long_text ? LONGEST : -1;
    if (long_text || rows < 1 || columns < 1 || (int64_t)rows * columns > MOST_VARIABLES) {
        sali_fail(&last, SAL_ERR_ARGUMENT,
                  "a formula has at most %d characters, and 1 to %d variables", LONGEST,
                  MOST_VARIABLES);
        return NULL;
    }
    const int before = declare(kind, rows, columns, levels, low, high, whole);
    strcpy(whole + before, text);
    if (sali_formula_read(whole, SAL_F64, &model, &at, &last) != SAL_OK) {
        *place = at >= before ? (int)at - before : -1;
        return NULL;
    }
    return model;
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

/* ---- passes down a denoising chain */

struct play_pass {
    sal_trajectory *trajectory;
    sal_model *model; /* over x, which stands for the levels */
    const sali_sampler *inner;
    sali_sampler_settings inner_settings;
    void *self;
    sali_chains *chains;
    int64_t level; /* of the states; T: noise, 0: at the end */
};

/* log p_0 of two states from each logit. */
static sal_status make_noise(const sal_model *joint, const double *keep, const double *logits,
                             sali_noise **noise)
{
    const int64_t T = sal_model_levels(joint);
    sal_space *space = sali_levels_space(joint);
    double *log_base = NULL;
    sal_status status = space ? SAL_OK : sali_fail_memory(&last);
    if (status == SAL_OK && space->n_states != 2 * space->n_variables) {
        status = sali_fail(&last, SAL_ERR_UNSUPPORTED, "a pass is of variables with two states");
    }
    if (status == SAL_OK) {
        log_base = calloc((size_t)space->n_states, sizeof *log_base);
        status = log_base ? SAL_OK : sali_fail_memory(&last);
    }
    for (int64_t v = 0; status == SAL_OK && v < space->n_variables; v++) {
        log_base[2 * v] = -log1p(exp(logits[v]));
        log_base[2 * v + 1] = -log1p(exp(-logits[v]));
    }
    status = status ? status : sali_noise_create(space, T, keep, log_base, noise, &last);
    free(log_base);
    sal_space_destroy(space);
    return status;
}

/* What was read of a training's denoising.json, and the model over x. */
static sal_status make_trajectory(play_pass *p, sal_model *joint, const char *sampler,
                                  const double *keep, const double *logits, const int32_t *steps,
                                  const double *step_sizes)
{
    const int64_t T = sal_model_levels(joint);
    sali_noise *noise = NULL;
    if (T < 1) {
        return sali_fail(&last, SAL_ERR_UNSUPPORTED, "a pass needs a model with levels");
    }
    int64_t *counts = calloc((size_t)T, sizeof *counts);
    sal_status status = counts ? make_noise(joint, keep, logits, &noise) : sali_fail_memory(&last);
    for (int64_t t = 0; status == SAL_OK && t < T; t++) {
        counts[t] = steps[t];
        if (steps[t] < 1 || !(step_sizes[t] >= 0)) {
            status = sali_fail(&last, SAL_ERR_ARGUMENT,
                               "level %d needs a number of steps and a step size", (int)t);
        }
    }
    if (status == SAL_OK) {
        p->trajectory = sali_trajectory_of_noise(sali_model_tape(joint)->program->parameters_size,
                                                 noise, counts, step_sizes, sampler);
        noise = NULL;
        status = p->trajectory ? SAL_OK : sali_fail_memory(&last);
    }
    sali_noise_destroy(noise);
    free(counts);
    return status ? status : sal_trajectory_model(p->trajectory, joint, &p->model, &last);
}

static sal_status open_pass(play_pass *p, const char *sampler, int chains, double seed)
{
    sal_status status =
        sali_sampler_choose(sampler, p->model, 0, &p->inner, &p->inner_settings, &last);
    status = status ? status : sali_check_field_sampler(p->inner, "", &last);
    const sali_sampler_settings settings = {
        .step_size = p->inner_settings.step_size,
        .trajectory = p->trajectory,
        .inner = p->inner,
        .inner_settings = &p->inner_settings,
        .level_step_sizes = true,
        .level_steps = 1,
    };
    status = status
                 ? status
                 : sali_chains_create(p->model, chains, sali_sampler_wants(&sali_denoising_record),
                                      (uint64_t)seed, &p->chains, &last);
    for (int c = 0; status == SAL_OK && c < chains; c++) {
        p->chains->id[c] = (uint32_t)c;
    }
    status = status ? status
                    : sali_sampler_open(&sali_denoising_record, &settings, NULL, p->chains,
                                        &p->self, &last);
    return status ? status : sali_start(p->chains, NULL, NULL, &last);
}

PLAY void play_pass_close(play_pass *p)
{
    if (p) {
        sali_sampler_close(&sali_denoising_record, p->self);
        sali_chains_destroy(p->chains);
        sal_model_destroy(p->model);
        sal_trajectory_destroy(p->trajectory);
        free(p);
    }
}

PLAY play_pass *play_pass_open(sal_model *model, const char *sampler, const double *keep,
                               const double *logits, const int32_t *steps, const double *step_sizes,
                               int chains, double seed)
{
    play_pass *p = calloc(1, sizeof *p);
    if (!p) {
        sali_fail_memory(&last);
        return NULL;
    }
    sal_status status =
        chains < 1 ? sali_fail(&last, SAL_ERR_ARGUMENT, "a pass needs a chain, found %d", chains)
                   : SAL_OK;
    status = status ? status : make_trajectory(p, model, sampler, keep, logits, steps, step_sizes);
    status = status ? status : open_pass(p, sampler, chains, seed);
    if (status != SAL_OK) {
        play_pass_close(p);
        return NULL;
    }
    play_pass_begin(p);
    return p;
}

PLAY void play_pass_begin(play_pass *p)
{
    if (p->level > 0) {
        sali_pass_end(p->self, p->chains); /* so that the noise is other noise */
    }
    sali_pass_begin(p->self, p->chains);
    p->level = p->trajectory->noise->T;
}

PLAY int play_pass_level(play_pass *p)
{
    if (p->level == 0) {
        sali_fail(&last, SAL_ERR_ARGUMENT, "the pass is at its end: it wants new noise");
        return -1;
    }
    sali_pass_level(p->self, p->chains, --p->level);
    if (p->level == 0) {
        sali_pass_end(p->self, p->chains);
    }
    if (p->chains->bad_chain >= 0) {
        return told(
            sali_chains_report(p->chains, &sali_denoising_record, p->chains->bad_chain, &last));
    }
    return (int)p->level;
}

PLAY int32_t *play_pass_codes(play_pass *p)
{
    return p->chains->codes;
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
