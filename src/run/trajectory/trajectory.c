/* SPDX-License-Identifier: MIT */
/* Levels of a trajectory, and chains that visit them. */
#include "run/trajectory/trajectory.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/base.h"
#include "models/clamp.h"
#include "models/make/tape_copy.h"
#include "models/tape_model.h"

/* ---- levels */

sal_trajectory *sali_trajectory_create(int64_t parameters, int64_t states, const double *log_base,
                                       const char *sampler, int64_t steps)
{
    sal_trajectory *t = SALI_NEW(sal_trajectory);
    double *zeros = SALI_NEW_ARRAY(double, parameters);
    if (t) {
        *t = (sal_trajectory){ .parameters = parameters,
                               .states = states,
                               .log_base = sali_memdup(log_base, states, sizeof *log_base),
                               .sampler = sali_strdup(sampler),
                               .steps = steps,
                               .log_z = NAN,
                               .log_z_error = NAN };
    }
    const sal_trajectory_level first = { .acceptance = NAN };
    bool ok = t && zeros && t->log_base && t->sampler && sali_trajectory_push(t, &first, 0, zeros);
    sali_free(zeros);
    if (!ok) {
        sal_trajectory_destroy(t);
        return NULL;
    }
    return t;
}

sal_trajectory *sali_trajectory_of_noise(int64_t parameters, sali_noise *noise,
                                         const int64_t *steps, const double *sizes,
                                         const char *sampler)
{
    sal_trajectory *t = SALI_NEW(sal_trajectory);
    if (!t) {
        sali_noise_destroy(noise);
        return NULL;
    }
    *t = (sal_trajectory){ .noise = noise,
                           .noise_steps = sali_memdup(steps, noise->T, sizeof *steps),
                           .noise_step_sizes = sizes ? sali_memdup(sizes, noise->T, sizeof *sizes)
                                                     : SALI_NEW_ARRAY(double, noise->T),
                           .parameters = parameters,
                           .states = noise->space->n_states,
                           .sampler = sali_strdup(sampler),
                           .log_z = NAN,
                           .log_z_error = NAN };
    if (!t->noise_steps || !t->noise_step_sizes || !t->sampler) {
        sal_trajectory_destroy(t);
        return NULL;
    }
    return t;
}

bool sali_trajectory_fits(const sal_trajectory *t, const sal_model *model)
{
    const sali_levels *levels = sali_model_levels(model);
    const sal_model *formula = levels ? levels->joint : model;
    const sali_tape_model *tape = sali_model_tape(formula);
    if (!tape || sali_clamp_inner(formula) != formula ||
        tape->program->parameters_size != t->parameters) {
        return false;
    }
    const int64_t states = model->space->n_states - (levels ? 0 : sal_model_levels(model));
    return t->noise ? sal_model_levels(formula) == t->noise->T && states == t->states
                    : !levels && model->space->n_states == t->states;
}

sal_status sali_check_field_sampler(const sali_sampler *sampler, const char *who, sal_error *err)
{
    return sampler->needs_gradient && !sampler->unadjusted && !sali_engine(sampler)->coupled
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%sa denoising chain wants an exact sampler of independent chains that "
                           "goes by gradients, such as dlmcf or ncg; %s is none",
                           who, sampler->name);
}

sal_status sal_trajectory_model(const sal_trajectory *t, sal_model *model, sal_model **out,
                                sal_error *err)
{
    if (!t || !model || !out) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_trajectory_model: the trajectory, the model or the result is NULL");
    }
    if (!sali_trajectory_fits(t, model)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "the trajectory is of another model than %s",
                         model->name);
    }
    if (t->noise && !sali_model_levels(model)) {
        return sali_levels_create(model, out, err);
    }
    *out = sali_model_hold(model);
    return SAL_OK;
}

bool sali_trajectory_push(sal_trajectory *t, const sal_trajectory_level *info, double step_size,
                          const double *values)
{
    double *copy = sali_memdup(values, t->parameters, sizeof *values);
    if (!copy || sali_grow((void **)&t->levels, &t->room, t->n + 1, sizeof *t->levels) != 0) {
        sali_free(copy);
        return false;
    }
    t->levels[t->n++] = (sali_path_level){ .info = *info, .step_size = step_size, .values = copy };
    return true;
}

void sal_trajectory_destroy(sal_trajectory *t)
{
    if (!t) {
        return;
    }
    for (int64_t k = 0; k < t->n; k++) {
        sali_free(t->levels[k].values);
    }
    sali_noise_destroy(t->noise);
    sali_free(t->noise_steps);
    sali_free(t->noise_step_sizes);
    sali_free(t->levels);
    sali_free(t->log_base);
    sali_free(t->sampler);
    sali_free(t);
}

bool sal_trajectory_level_at(const sal_trajectory *t, int64_t k, sal_trajectory_level *level)
{
    if (k < 0 || k >= t->n) {
        return false;
    }
    *level = t->levels[k].info;
    return true;
}

const char *sali_trajectory_sampler(const sal_trajectory *t, int64_t *steps)
{
    if (steps) {
        *steps = t->steps;
    }
    return t->sampler;
}

void sali_round_values(sal_dtype dtype, int64_t n, double *values)
{
    for (int64_t i = 0; dtype == SAL_F32 && i < n; i++) {
        values[i] = (double)(float)values[i];
    }
}

/* ---- chains that visit them */

enum { PLAIN, MIXED };

sal_status sali_moved_open(sali_moved *m, const sal_model *model, int64_t n, uint64_t seed,
                           sal_error *err)
{
    sal_status status =
        sali_chains_create(model, n, sali_sampler_wants(m->sampler), seed, &m->chains, err);
    status = status ? status : sali_sampler_share(m->sampler, model, &m->settings, &m->shared, err);
    return status
               ? status
               : sali_sampler_open(m->sampler, &m->settings, m->shared, m->chains, &m->self, err);
}

void sali_moved_close(sali_moved *m)
{
    sali_sampler_close(m->sampler, m->self);
    sali_sampler_unshare(m->sampler, m->shared);
    sali_chains_destroy(m->chains);
}

void sali_moved_go(sali_moved *m, int64_t K)
{
    sali_sampler_go(m->sampler, m->self, m->chains, K);
}

/* Make the bridge between independent variables and the model, and n chains on it. They move by the
 * visitor's sampler, or by gwg where that one cannot. */
static sal_status open_bridge(sali_visitor *v, int64_t n, uint64_t seed, sal_error *err)
{
    sali_moved *m = &v->at[MIXED];
    sal_status status = sali_bridge_create(v->model, v->log_base, &v->bridge, err);
    if (status != SAL_OK) {
        return status;
    }
    m->sampler = v->at[PLAIN].sampler;
    m->settings = v->at[PLAIN].settings;
    if (!sali_sampler_serves(m->sampler, v->bridge.model)) {
        status = sali_sampler_choose("gwg", v->bridge.model, 0, &m->sampler, &m->settings, err);
    }
    return status ? status : sali_moved_open(m, v->bridge.model, n, seed, err);
}

sal_status sali_visitor_create(sali_visitor *v, const sal_model *of, const double *log_base,
                               const sali_sampler *sampler, const sali_sampler_settings *settings,
                               bool mixed, int64_t n, uint64_t seed, sal_error *err)
{
    const int64_t parameters = sali_model_tape(of)->program->parameters_size;
    *v = (sali_visitor){ .log_base = log_base,
                         .at[PLAIN] = { .sampler = sampler, .settings = *settings },
                         .beta = 1 };
    v->at[PLAIN].settings.training = true; /* parameters change at every visit */
    v->flat = SALI_TAKE(&v->memory, double, parameters + 1);
    v->uniform = SALI_TAKE(&v->memory, double, of->space->n_variables);
    sal_status status = sali_memory_status(&v->memory, err);
    status = status ? status : sali_tape_model_copy(of, &v->model, err);
    status = status ? status : sali_moved_open(&v->at[PLAIN], v->model, n, seed, err);
    return status == SAL_OK && mixed ? open_bridge(v, n, seed, err) : status;
}

void sali_visitor_free(void *visitor)
{
    sali_visitor *v = visitor;
    for (int k = PLAIN; k <= MIXED; k++) {
        sali_moved_close(&v->at[k]);
    }
    sali_bridge_free(&v->bridge);
    sal_model_destroy(v->model);
    sali_memory_free(&v->memory);
    *v = (sali_visitor){ 0 };
}

static bool is_mixed(const sali_visitor *v)
{
    return v->beta > 0 && v->beta < 1;
}

void sali_visitor_go(sali_visitor *v, const double *values, double beta)
{
    const sali_tape_model *tape = sali_model_tape(v->model);
    v->beta = beta;
    if (!is_mixed(v)) {
        if (beta > 0) {
            sali_params_set(tape->params, values);
        }
        return;
    }
    const int64_t n = tape->program->parameters_size;
    memcpy(v->flat, values, (size_t)n * sizeof *values);
    v->flat[n] = beta;
    sali_params_set(sali_model_tape(v->bridge.model)->params, v->flat);
}

void sali_visitor_value(sali_visitor *v, int64_t n, const int32_t *codes, double *f)
{
    const sal_space *space = v->model->space;
    if (v->beta == 0) {
        for (int64_t c = 0; c < n; c++) {
            f[c] = sali_base_value(space, v->log_base, codes + c * space->n_variables);
        }
        return;
    }
    sali_chains *chains = v->at[is_mixed(v) ? MIXED : PLAIN].chains;
    sali_model_embed(v->model, n, codes, chains->x_new);
    sali_value(chains->evaluator, n, codes, chains->x_new, f);
}

/* Draw all states codes [n x V] from the independent variables, each by its own stream, and count a
 * step of each. */
static void draw_base(sali_visitor *v, const uint32_t *id, uint64_t *step, int32_t *codes)
{
    const sali_chains *chains = v->at[PLAIN].chains;
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = {
            .seed = chains->seed, .chain = id[c], .step = step[c], .purpose = SALI_RNG_INIT
        };
        sali_base_draw(v->model->space, v->log_base, &stream, v->uniform,
                       codes + c * v->model->space->n_variables);
        step[c]++;
    }
}

void sali_visitor_move(sali_visitor *v, int64_t K, double step_size, const uint32_t *id,
                       uint64_t *step, int32_t *codes)
{
    if (v->beta == 0) {
        draw_base(v, id, step, codes);
        return;
    }
    sali_moved *m = &v->at[is_mixed(v) ? MIXED : PLAIN];
    sali_chains *chains = m->chains;
    const size_t bytes = (size_t)(chains->n * chains->space->n_variables) * sizeof *codes;
    memcpy(chains->codes, codes, bytes);
    memcpy(chains->id, id, (size_t)chains->n * sizeof *id);
    memcpy(chains->step, step, (size_t)chains->n * sizeof *step);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->step_size[c] = step_size > 0 ? step_size : m->settings.step_size;
    }
    sali_chains_embed(chains);
    sali_moved_go(m, K);
    memcpy(codes, chains->codes, bytes);
    memcpy(step, chains->step, (size_t)chains->n * sizeof *step);
}

const sali_chains *sali_visitor_fault(const sali_visitor *v)
{
    for (int k = PLAIN; k <= MIXED; k++) {
        const sali_chains *chains = v->at[k].chains;
        if (chains && chains->bad_chain >= 0) {
            return chains;
        }
    }
    return NULL;
}

/* ---- jumps and faults of steps over levels */

void sali_levels_note_jumps(sali_chains *chains)
{
    const int64_t N = chains->space->width;
    for (int64_t c = 0; c < chains->n; c++) {
        double distance = 0;
        const void *now = sali_row(chains, chains->x, c, N);
        const void *before = sali_row(chains, chains->x_new, c, N);
        for (int64_t i = 0; i < N; i++) {
            distance += fabs(sali_load(chains->model->dtype, now, i) -
                             sali_load(chains->model->dtype, before, i));
        }
        chains->jump_sum[c] += distance;
    }
}

void sali_levels_take_fault(sali_chains *chains, const sali_chains *inner)
{
    if (inner && inner->bad_chain >= 0 && chains->bad_chain < 0) {
        chains->bad_chain = inner->bad_chain;
        chains->bad_what = inner->bad_what;
        chains->bad_step = inner->bad_step;
        chains->bad_value = inner->bad_value;
        memcpy(chains->bad_codes, inner->bad_codes,
               (size_t)chains->space->n_variables * sizeof *chains->bad_codes);
    }
}
