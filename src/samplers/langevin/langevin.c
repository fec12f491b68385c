/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/langevin.h"

#include <math.h>
#include <string.h>

#include "core/object.h"
#include "samplers/coupled.h"

const char *const sali_schedule_forms[] = { "constant", "polynomial", "exponential", NULL };

/* y for labels that are coded by K - 1 reals, all zeros for label 0. The kernel has K reals a
 * label; the first one stands for label 0 if its y is 1/2 throughout, since then beta y + b = 0
 * there. So a move between label 0 and label j costs 1, and between labels j and k 2 (Xiang et al.
 * 2023, supplement 3.2). */
static const void *drop_first_reals(sali_langevin *l, const sali_chains *chains, const void *x)
{
    const sal_space *space = chains->space;
    memcpy(l->y, x, (size_t)space->width * chains->element);
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (space->variables[v].kind == SAL_CATEGORICAL) {
            sali_store(chains->model->dtype, l->y, space->variables[v].offset, 0.5);
        }
    }
    return l->y;
}

/* The norm-constrained proposal: a = D/2 + x/(eps d_k), b = -1/(2 eps d_k), with d_k the
 * preconditioner's scale; a cycle has another number than 1/2. */
static void weigh(sali_langevin *l, const sali_chains *chains, int64_t c, const int32_t *codes,
                  const void *x, const void *d, sali_move_row *row)
{
    double eps = chains->step_size[c] * sali_schedule_at(&l->schedule, chains->step[c]);
    const sali_factorised q = { .alpha = sali_schedule_balance(&l->schedule, chains->step[c]),
                                .beta = 1 / eps,
                                .b = -0.5 / eps,
                                .gradient = d,
                                .y = l->fewer_reals ? drop_first_reals(l, chains, x) : x,
                                .w = l->w };
    l->kernels->prepare(chains->space, codes, &q, row);
}

const char *sali_langevin_obstacle(const sal_model *model, double most)
{
    const char *why = sali_fixed_rows_obstacle(model, NULL, NULL);
    return !why && model->space->fixed && most > 0
               ? "it keeps either a fixed sum or a cap on variables that move (most), not both"
               : why;
}

sali_langevin *sali_langevin_open(sali_langevin *l, const sali_chains *chains,
                                  const sali_sampler_settings *settings)
{
    if (!l) {
        return NULL;
    }
    l->kernels = SALI_KERNELS_OF(chains->model->dtype, sali_factorised_kernels);
    l->adjusted = !settings->sampler->unadjusted;
    l->schedule =
        (sali_schedule){ (int)sali_sampler_value(settings->sampler, settings, "schedule"),
                         sali_sampler_value(settings->sampler, settings, "decay"),
                         sali_sampler_value(settings->sampler, settings, "horizon"),
                         (int64_t)sali_sampler_value(settings->sampler, settings, "cycle"), NULL };
    if (!l->adjusted || l->schedule.form != SALI_EPS_CONSTANT || l->schedule.cycle > 1) {
        l->held = sali_object_array(l, chains->n * chains->space->width, chains->element);
    }
    l->weigh = weigh;
    l->log_q = SALI_OBJECT_ARRAY(l, double, chains->n);
    sali_cap_create(l, chains->space,
                    (int64_t)sali_sampler_value(settings->sampler, settings, "most"), &l->cap);
    sali_fixed_rows_create(l, chains->space, &l->fixed);
    sali_move_rows_create(l, chains->space, chains->space->slots, chains->model->dtype, chains->n,
                          &l->moves);
    return l;
}

sal_status sali_langevin_couplings(sali_shared *shared, const sal_model *model,
                                   const sali_sampler_settings *settings, sal_error *err)
{
    return settings->training
               ? SAL_OK
               : sali_own_couplings(shared, model, SALI_FORM_COUPLINGS, &shared->couplings, err);
}

void sali_langevin_follow(sali_langevin *l, sali_chains *chains, bool proposed)
{
    if (!proposed) {
        sali_followed_gradient_start(&l->followed, chains);
    } else {
        sali_followed_gradient_propose(&l->followed, chains);
    }
}

/* beta D [N] of chain c at its proposed state (`proposed`) or its present one; it must have been
 * evaluated last. */
static const void *direction_at(const sali_langevin *l, const sali_chains *chains, int64_t c,
                                bool proposed)
{
    return proposed ? sali_followed_gradient_next(&l->followed, chains, c)
                    : sali_followed_gradient_now(&l->followed, chains, c);
}

/* Prepare the row of chain c from the direction d [N] at its state in codes [n x V] and x [n x N].
 */
static void prepare_row(sali_langevin *l, sali_chains *chains, int64_t c, const int32_t *codes,
                        void *x, const void *d, sali_move_row *row)
{
    const sal_space *space = chains->space;
    const int32_t *now = codes + c * space->n_variables;
    l->weigh(l, chains, c, now, sali_row(chains, x, c, space->width), d, row);
    if (l->cap.most > 0) {
        sali_cap_prepare(&l->cap, chains->model, now, row);
    }
    if (l->fixed.on) {
        sali_fixed_rows_prepare(&l->fixed, chains, c, codes, row);
    }
}

/* Prepare the rows of this step, where rows are not kept between steps. A row whose weights are not
 * numbers comes from a bad direction, which is noted, except at a forbidden state, where it is to
 * be expected. */
static void prepare_held(sali_langevin *l, sali_chains *chains)
{
    for (int64_t c = 0; l->held && c < chains->n; c++) {
        sali_move_row *row = sali_move_now(&l->moves, c);
        const void *d = sali_followed_gradient_active(&l->followed)
                            ? direction_at(l, chains, c, false)
                            : sali_row(chains, l->held, c, chains->space->width);
        prepare_row(l, chains, c, chains->codes, chains->x, d, row);
        if (!(row->log_norm < INFINITY) && chains->f[c] > -INFINITY) {
            sali_chains_note_bad(chains, c, chains->codes, NAN);
        }
    }
}

/* Fill l->w with 1 / d of every coordinate, from the present values of the shared scale. */
static void set_weights(sali_langevin *l, const sali_chains *chains)
{
    for (int64_t v = 0; l->scale && v < chains->space->n_variables; v++) {
        const sali_variable *variable = &chains->space->variables[v];
        for (int32_t k = 0; k < variable->width; k++) {
            sali_store(chains->model->dtype, l->w, variable->offset + k, 1 / l->scale[v]);
        }
    }
}

static void hold_gradient(sali_langevin *l, sali_chains *chains, int64_t c)
{
    int64_t N = chains->space->width;
    if (l->held && !sali_followed_gradient_active(&l->followed)) {
        memcpy(sali_row(chains, l->held, c, N), sali_row(chains, chains->gradient, c, N),
               (size_t)N * chains->element);
    }
}

void sali_langevin_refresh(void *self, sali_chains *chains)
{
    sali_langevin *l = self;
    set_weights(l, chains);
    l->evaluate(l, chains, false);
    for (int64_t c = 0; c < chains->n; c++) {
        hold_gradient(l, chains, c);
        if (!l->held) {
            prepare_row(l, chains, c, chains->codes, chains->x, direction_at(l, chains, c, false),
                        sali_move_now(&l->moves, c));
        }
    }
}

/* Draw the proposal of chain c under the cap on moved variables, and its log q. */
static void draw_capped(sali_langevin *l, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    l->log_q[c] =
        sali_cap_draw(&l->cap, chains->model, &stream, chains->codes + c * space->n_variables,
                      sali_row(chains, chains->x, c, space->width), sali_move_now(&l->moves, c),
                      chains->codes_new + c * space->n_variables,
                      sali_row(chains, chains->x_new, c, space->width));
}

/* Draw the proposal of every chain from its prepared row; l->log_q receives its log q. */
static void draw_proposals(sali_langevin *l, sali_chains *chains)
{
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < chains->n; c++) {
        if (l->cap.most > 0) {
            draw_capped(l, chains, c);
            continue;
        }
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        l->kernels->uniforms(&stream, space->n_variables, l->moves.buffer);
        sali_coupled_uniforms(chains, c, l->moves.buffer);
        const int32_t *codes = chains->codes + c * space->n_variables;
        const sali_move_row *row = sali_move_now(&l->moves, c);
        int32_t *to = chains->codes_new + c * space->n_variables;
        void *x = sali_row(chains, chains->x_new, c, space->width);
        l->log_q[c] = l->fixed.on ? sali_fixed_rows_draw(&l->fixed, chains->model, codes,
                                                         l->moves.buffer, row, to, x)
                                  : l->kernels->draw(space, codes, l->moves.buffer, row, to, x);
    }
}

/* The log-ratios by which proposals are accepted; unadjusted samplers accept all but forbidden
 * states. */
static void fill_log_ratios(sali_langevin *l, sali_chains *chains)
{
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < chains->n; c++) {
        if (!l->adjusted) {
            chains->log_ratio[c] = chains->f_new[c] > -INFINITY ? INFINITY : -INFINITY;
            continue;
        }
        sali_move_row *row = sali_move_next(&l->moves, c);
        prepare_row(l, chains, c, chains->codes_new, chains->x_new,
                    direction_at(l, chains, c, true), row);
        double log_q_reverse = l->kernels->log_q(space, chains->codes_new + c * space->n_variables,
                                                 chains->codes + c * space->n_variables, row);
        chains->log_ratio[c] = sali_chains_log_ratio(chains, c, l->log_q[c], log_q_reverse);
    }
}

void sali_langevin_step(void *self, sali_chains *chains)
{
    sali_langevin *l = self;
    if (sali_followed_gradient_due(&l->followed, chains)) {
        sali_langevin_refresh(l, chains);
    }
    prepare_held(l, chains);
    draw_proposals(l, chains);
    l->evaluate(l, chains, true);
    fill_log_ratios(l, chains);
    sali_chains_decide(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->accepted[c]) {
            hold_gradient(l, chains, c);
            sali_move_flip(&l->moves, c);
            sali_followed_gradient_flip(&l->followed, c);
        }
    }
    sali_chains_tick(chains);
}

int64_t sali_langevin_pieces(const void *self, const sali_chains *chains)
{
    const sali_langevin *l = self;
    (void)chains;
    return l->schedule.cycle > 1 ? l->schedule.cycle : 1;
}

void sali_langevin_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    sali_langevin *l = self;
    int64_t V = chains->space->n_variables;
    prepare_held(l, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        log_q[c] = sali_cap_allows(&l->cap, chains->space, chains->codes + c * V, to + c * V)
                       ? l->kernels->log_q(chains->space, chains->codes + c * V, to + c * V,
                                           sali_move_now(&l->moves, c))
                       : -INFINITY;
    }
}
