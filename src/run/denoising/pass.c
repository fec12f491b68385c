/* SPDX-License-Identifier: MIT */
/* Sampling a denoising chain of conditional energies: a step of a chain is a pass from independent
 * variables down all levels (models/levels/noise.h). At level t the state starts at x_(t+1), moves
 * by f_t + log q(x_(t+1) | .), and is x_t. Each pass draws anew, so draws are independent given the
 * model, and like its distribution as far as the steps of each level forget where they start. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "models/base.h"
#include "run/denoising/pass.h"

typedef struct pass {
    const sal_trajectory *t; /* may be freed before the run is destroyed */
    const sali_noise *noise;
    int64_t T, n, V, N;
    int64_t times; /* the steps of a level are those of training, multiplied by this */
    bool level_step_sizes;
    sali_moved *at;  /* [T] chains on each level */
    void *field;     /* real [n x N] linear term of the present level */
    double *uniform; /* [V] */
} pass;

/* ---- making and taking apart */

static void destroy(void *self)
{
    pass *p = self;
    for (int64_t t = 0; p && p->at && t < p->T; t++) {
        sali_moved_close(&p->at[t]);
    }
    sali_object_free(p);
}

/* Open chains on all levels, whose linear terms are p->field. They move by the run's inner
 * sampler. */
static sal_status open_levels(pass *p, const sali_chains *chains,
                              const sali_sampler_settings *settings, sal_error *err)
{
    const sali_levels *levels = sali_model_levels(chains->model);
    sal_status status = SAL_OK;
    for (int64_t t = 0; status == SAL_OK && t < p->T; t++) {
        p->at[t].sampler = settings->inner;
        p->at[t].settings = *settings->inner_settings;
        p->at[t].settings.training = true; /* chains have linear terms, which change at each pass */
        status = sali_moved_open(&p->at[t], levels->at[t], p->n, chains->seed, err);
        if (status == SAL_OK) {
            sali_evaluator_set_field(p->at[t].chains->evaluator, p->field);
        }
    }
    return status;
}

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    (void)shared;
    pass *p = SALI_OBJECT(pass);
    if (!p) {
        return sali_fail_memory(err);
    }
    p->t = settings->trajectory;
    p->noise = p->t->noise;
    p->T = p->noise->T;
    p->level_step_sizes = settings->level_step_sizes;
    p->times = settings->level_steps;
    p->n = chains->n;
    p->V = chains->space->n_variables;
    p->N = chains->space->width;
    p->at = SALI_OBJECT_ARRAY(p, sali_moved, p->T);
    p->field = sali_object_array(p, p->n * p->N, chains->element);
    p->uniform = SALI_OBJECT_ARRAY(p, double, p->V);
    sal_status status = sali_object_failed(p) ? sali_fail_memory(err) : SAL_OK;
    status = status ? status : open_levels(p, chains, settings, err);
    if (status != SAL_OK) {
        destroy(p);
        return status;
    }
    *self = p;
    return SAL_OK;
}

static void refresh(void *self, sali_chains *chains)
{
    (void)self;
    sali_chains_start(chains, false);
}

/* ---- a pass */

static void draw_base(const pass *p, sali_chains *chains)
{
    for (int64_t c = 0; c < p->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_INIT);
        sali_base_draw(chains->space, p->noise->log_base, &stream, p->uniform,
                       chains->codes + c * p->V);
    }
}

/* Move the chains from x_(t+1) to x_t by the steps of level t; codes [n x V] hold both in turn. */
static void move_to_level(pass *p, sali_chains *chains, int64_t t)
{
    sali_moved *m = &p->at[t];
    const int64_t T = p->T, K = p->t->noise_steps[t] * p->times;
    const size_t bytes = (size_t)(p->n * p->V) * sizeof *chains->codes;
    const double own = p->level_step_sizes ? p->t->noise_step_sizes[t] : 0;
    memcpy(m->chains->codes, chains->codes, bytes);
    for (int64_t c = 0; c < p->n; c++) {
        (void)sali_noise_field(p->noise, t, chains->codes + c * p->V, chains->model->dtype,
                               sali_row(chains, p->field, c, p->N));
        m->chains->id[c] = (uint32_t)((uint64_t)chains->id[c] * (uint64_t)T + (uint64_t)t);
        m->chains->step[c] = chains->step[c] * (uint64_t)K;
        m->chains->step_size[c] = own > 0 ? own : m->settings.step_size;
    }
    sali_chains_embed(m->chains);
    sali_moved_go(m, K);
    memcpy(chains->codes, m->chains->codes, bytes);
}

/* Add the acceptance of level t to the sums of the outer chains, so that all levels together count
 * as one step; pass on a fault. */
static void note_sums(const pass *p, sali_chains *chains, int64_t t)
{
    sali_chains *inner = p->at[t].chains;
    const double steps = (double)(p->t->noise_steps[t] * p->times * p->T);
    for (int64_t c = 0; c < p->n; c++) {
        chains->accepted_sum[c] += inner->accepted_sum[c] / steps;
        chains->acceptance_sum[c] += inner->acceptance_sum[c] / steps;
    }
    (void)sali_chains_take_sums(inner);
    sali_levels_take_fault(chains, inner);
}

void sali_pass_begin(void *self, sali_chains *chains)
{
    const pass *p = self;
    memcpy(chains->x_new, chains->x, (size_t)(p->n * p->N) * chains->element);
    draw_base(p, chains);
}

void sali_pass_level(void *self, sali_chains *chains, int64_t t)
{
    pass *p = self;
    move_to_level(p, chains, t);
    note_sums(p, chains, t);
}

void sali_pass_end(void *self, sali_chains *chains)
{
    (void)self;
    sali_chains_embed(chains);
    sali_levels_note_jumps(chains);
    sali_chains_start(chains, false);
    sali_chains_tick(chains);
}

/* A whole pass, from independent variables down all levels. */
static void step(void *self, sali_chains *chains)
{
    const pass *p = self;
    sali_pass_begin(self, chains);
    for (int64_t t = p->T - 1; t >= 0; t--) {
        sali_pass_level(self, chains, t);
    }
    sali_pass_end(self, chains);
}

const sali_sampler sali_denoising_record = {
    .name = "denoising",
    .doc = "passes from independent variables down the levels of a denoising chain",
    .source = "Gao, Song, Poole, Wu & Kingma 2021",
    .engine =
        &(const sal_sampler_engine){
            .create = create,
            .destroy = destroy,
            .refresh = refresh,
            .step = step,
        },
};
