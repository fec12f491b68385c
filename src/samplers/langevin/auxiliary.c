/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/auxiliary.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "core/vector/vmath.h"
#include "samplers/coupled.h"

/* The function for the model's type. */
#define BY_TYPE(chains, name) ((chains)->model->dtype == SAL_F32 ? name##_f32 : name##_f64)

/* ---- creation */

sal_status sali_auxiliary_create(const sali_chains *chains, const sali_sampler_settings *settings,
                                 void *preconditioner, void **self, sal_error *err)
{
    sali_auxiliary_state *a = SALI_OBJECT(sali_auxiliary_state);
    if (!a) {
        return sali_fail_memory(err);
    }
    int64_t n = chains->n, all = n * chains->space->width, rest = preconditioner ? all : 0;
    a->kernels = SALI_KERNELS_OF(chains->model->dtype, sali_factorised_kernels);
    a->preconditioner = preconditioner;
    a->gradient = sali_object_array(a, all, chains->element);
    a->noise = sali_object_array(a, all, chains->element);
    a->w = sali_object_array(a, rest, chains->element);
    a->product = sali_object_array(a, rest, chains->element);
    a->scale = sali_object_array(a, rest, chains->element);
    a->y = sali_object_array(a, all, chains->element);
    a->factor = SALI_OBJECT_ARRAY(a, double, n);
    a->delta = SALI_OBJECT_ARRAY(a, double, n);
    a->log_q = SALI_OBJECT_ARRAY(a, double, n);
    a->log_q_reverse = SALI_OBJECT_ARRAY(a, double, n);
    a->norm = SALI_OBJECT_ARRAY(a, double, n);
    a->norm_reverse = SALI_OBJECT_ARRAY(a, double, n);
    a->chains = chains;
    sali_momentum_create(a, chains, settings);
    sali_fixed_rows_create(a, chains->space, &a->fixed);
    sali_move_rows_create(a, chains->space, chains->space->slots, chains->model->dtype, 1,
                          &a->moves);
    return sali_object_give(a, self, err);
}

int64_t sali_auxiliary_state_of(void *self, sali_state_item *items)
{
    sali_auxiliary_state *a = self;
    return a ? sali_momentum_state(a, items) : 0;
}

/* ---- refresh */

/* H and delta of chain c by its step size and temperature (the text's f is beta f here). */
static void scale_chain(sali_auxiliary_state *a, const sali_chains *chains, int64_t c)
{
    const sali_preconditioner *p = a->preconditioner;
    double adapting = p ? sali_history_step_size(&p->adaptation) : 0;
    double step_size = adapting > 0 ? adapting : chains->step_size[c];
    a->factor[c] = a->flat ? 0 : p->gamma * chains->beta[c];
    double least = a->flat ? 0 : sali_preconditioner_least(p, a->factor[c]);
    a->delta[c] = 2 / step_size - fmin(0, least);
    for (int64_t k = 0; !a->flat && k < p->n; k++) {
        sali_store(p->dtype, a->scale, c * p->n + k,
                   sqrt(a->factor[c] * p->lambda[k] + a->delta[c]));
    }
}

/* Copy the gradient evaluated last to chain c's gradient of the present state. */
static void keep_gradient(sali_auxiliary_state *a, const sali_chains *chains, int64_t c)
{
    int64_t N = chains->space->width;
    memcpy(sali_row(chains, a->gradient, c, N), sali_row(chains, chains->gradient, c, N),
           (size_t)N * chains->element);
}

void sali_auxiliary_refresh(void *self, sali_chains *chains)
{
    sali_auxiliary_state *a = self;
    sali_momentum_settle(a);
    a->flat = true;
    if (a->preconditioner) {
        sali_preconditioner_refresh(a->preconditioner);
        a->flat = a->preconditioner->zero || a->preconditioner->gamma == 0;
    }
    sali_momentum_check(a);
    a->exact = !a->flat && a->preconditioner->kind == SALI_PRECONDITIONER_HESSIAN;
    a->momentum.corrects = a->momentum.phi > 0 && !a->exact;
    sali_chains_start(chains, true);
    for (int64_t c = 0; c < chains->n; c++) {
        keep_gradient(a, chains, c);
        scale_chain(a, chains, c);
    }
}

/* ---- the step */

/* Draw w of all chains, with momentum from the u they keep; returns the array [n x N] that holds w.
 */
static void *draw_noise(sali_auxiliary_state *a, const sali_chains *chains)
{
    int64_t N = chains->space->width;
    for (int64_t c = 0; c < chains->n; c++) {
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_AUXILIARY);
        void *noise = sali_row(chains, a->noise, c, N);
        a->kernels->normals(&stream, N, noise);
        if (a->momentum.zeta && !a->momentum.carried) {
            sali_momentum_draw(a, chains, c, noise);
        }
        if (a->flat) {
            BY_TYPE(chains, sali_scale_all)(N, sqrt(a->delta[c]), noise);
        } else {
            BY_TYPE(chains, sali_scale_each)(N, sali_row(chains, a->scale, c, N), noise);
        }
    }
    if (a->flat) {
        return a->noise;
    }
    if (a->momentum.carried) {
        sali_momentum_carry(a, chains, a->noise);
        return a->w;
    }
    BY_TYPE(chains, sali_auxiliary_product)
    (chains->n, N, a->noise, a->preconditioner->Q_panels, a->w);
    return a->w;
}

/* y of chain c: delta s + w, and for the reverse proposal minus H d, where `product` is M d (NULL
 * for the forward proposal). */
static void shift_y(sali_auxiliary_state *a, const sali_chains *chains, int64_t c, void *w,
                    void *product)
{
    int64_t N = chains->space->width;
    BY_TYPE(chains, sali_auxiliary_shift)
    (N, a->delta[c], sali_row(chains, chains->x, c, N), sali_row(chains, w, c, N), a->factor[c],
     product ? sali_row(chains, product, c, N) : NULL, sali_row(chains, a->y, c, N));
}

/* The proposal of chain c by gradient rows `gradient`. */
static sali_factorised proposal_of(sali_auxiliary_state *a, const sali_chains *chains, int64_t c,
                                   void *gradient)
{
    int64_t N = chains->space->width;
    return (sali_factorised){ .alpha = 1,
                              .beta = 1,
                              .b = -0.5 * a->delta[c],
                              .gradient = sali_row(chains, gradient, c, N),
                              .y = sali_row(chains, a->y, c, N) };
}

/* Prepare the row of q of chain c at `codes` [n x V], given the fixed sums. */
static void prepare_fixed(sali_auxiliary_state *a, sali_chains *chains, int64_t c,
                          const int32_t *codes, const sali_factorised *q)
{
    a->kernels->prepare(chains->space, codes + c * chains->space->n_variables, q,
                        &a->moves.rows[0]);
    sali_fixed_rows_prepare(&a->fixed, chains, c, codes, &a->moves.rows[0]);
}

/* Draw the proposed state of every chain from q(s' | z, s), given w [n x N]; log_q receives its log
 * probability plus log norm. */
static void draw_proposals(sali_auxiliary_state *a, sali_chains *chains, void *w)
{
    const sal_space *space = chains->space;
    int64_t V = space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        shift_y(a, chains, c, w, NULL);
        const sali_factorised q = proposal_of(a, chains, c, a->gradient);
        a->kernels->uniforms(&stream, V, a->moves.buffer);
        sali_coupled_uniforms(chains, c, a->moves.buffer);
        const int32_t *codes = chains->codes + c * V;
        int32_t *to = chains->codes_new + c * V;
        void *x = sali_row(chains, chains->x_new, c, space->width);
        sali_move_row *row = &a->moves.rows[0];
        if (a->fixed.on) {
            prepare_fixed(a, chains, c, chains->codes, &q);
            a->log_q[c] =
                sali_fixed_rows_draw(&a->fixed, chains->model, codes, a->moves.buffer, row, to, x);
            a->norm[c] = 1;
        } else {
            a->log_q[c] =
                a->kernels->propose(space, codes, &q, a->moves.buffer, row, to, x, &a->norm[c]);
        }
    }
}

/* log q(s | z', s') of chain c, plus log norm_reverse. */
static double judge(sali_auxiliary_state *a, sali_chains *chains, int64_t c,
                    const sali_factorised *q)
{
    const int64_t V = chains->space->n_variables;
    const int32_t *from = chains->codes_new + c * V, *to = chains->codes + c * V;
    if (a->fixed.on) {
        prepare_fixed(a, chains, c, chains->codes_new, q);
        a->norm_reverse[c] = 1;
        return a->kernels->log_q(chains->space, from, to, &a->moves.rows[0]);
    }
    return a->kernels->judge(chains->space, from, q, to, &a->moves.rows[0], &a->norm_reverse[c]);
}

/* M d of all chains, or NULL. */
static void *multiply_moves(sali_auxiliary_state *a, const sali_chains *chains)
{
    int64_t N = chains->space->width;
    if (a->flat) {
        return NULL;
    }
    BY_TYPE(chains, sali_subtract)(chains->n * N, chains->x_new, chains->x, a->noise);
    BY_TYPE(chains, sali_auxiliary_product)
    (chains->n, N, a->noise, a->preconditioner->M_panels, a->product);
    return a->product;
}

/* log N(z; R s', I) - log N(z; R s, I), or with a correction log N(u') - log N(u), of chain c. */
static double gaussian_ratio(const sali_auxiliary_state *a, const sali_chains *chains, int64_t c,
                             void *w, void *product)
{
    int64_t N = chains->space->width;
    if (a->momentum.corrects) {
        return sali_momentum_ratio(a, chains, c);
    }
    return BY_TYPE(chains, sali_auxiliary_ratio)(
        N, sali_row(chains, chains->x, c, N), sali_row(chains, chains->x_new, c, N),
        sali_row(chains, w, c, N), a->delta[c], a->factor[c],
        product ? sali_row(chains, product, c, N) : NULL);
}

/* log_q_reverse of all chains: the Gaussian ratio and log q(s | z', s') together, plus log
 * norm_reverse. `product` is M d or NULL. */
static void fill_log_q_reverse(sali_auxiliary_state *a, sali_chains *chains, void *w, void *product)
{
    for (int64_t c = 0; c < chains->n; c++) {
        if (product && !a->momentum.corrects) {
            shift_y(a, chains, c, w, product);
        }
        const sali_factorised q = proposal_of(a, chains, c, chains->gradient);
        double gaussian = gaussian_ratio(a, chains, c, w, product);
        a->log_q_reverse[c] = gaussian + judge(a, chains, c, &q);
    }
}

/* The log-ratios by which proposals are accepted, with one logarithm for the two norms of each
 * chain. */
static void fill_log_ratios(sali_auxiliary_state *a, sali_chains *chains, void *w, void *product)
{
    fill_log_q_reverse(a, chains, w, product);
    for (int64_t c = 0; c < chains->n; c++) {
        a->norm[c] = a->norm_reverse[c] / a->norm[c];
    }
    sali_vlog_f64(chains->n, a->norm, a->norm);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->log_ratio[c] =
            sali_chains_log_ratio(chains, c, a->log_q[c], a->log_q_reverse[c] - a->norm[c]);
    }
}

/* The log-ratios of proposals drawn from p(s' | z) itself: all are accepted but those with f =
 * -inf. */
static void compare_exact(sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        chains->log_ratio[c] = chains->f_new[c] > -INFINITY ? INFINITY : -INFINITY;
    }
}

void sali_auxiliary_step(void *self, sali_chains *chains)
{
    sali_auxiliary_state *a = self;
    void *w = draw_noise(a, chains);
    draw_proposals(a, chains, w);
    sali_chains_propose(chains, true);
    void *product = a->exact ? NULL : multiply_moves(a, chains);
    if (a->momentum.zeta) {
        sali_momentum_propose(a, chains, w, product);
    }
    if (a->exact) {
        compare_exact(chains);
    } else {
        fill_log_ratios(a, chains, w, product);
    }
    if (a->history) {
        sali_history_propose(a->history, chains, a->gradient);
    }
    sali_chains_decide(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->accepted[c]) {
            keep_gradient(a, chains, c);
        }
    }
    if (a->momentum.zeta) {
        sali_momentum_decide(a, chains);
    }
    if (a->history) {
        sali_history_decide(a->history, chains);
    }
    sali_chains_tick(chains);
}
