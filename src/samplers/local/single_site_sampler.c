/* SPDX-License-Identifier: MIT */
#include "samplers/local/single_site_sampler.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

/* ---- creation */

sali_single_site_options sali_single_site_settings(const sali_chains *chains,
                                                   const sali_sampler_settings *settings)
{
    const sali_sampler *sampler = settings->sampler;
    int64_t hops = (int64_t)sali_sampler_value(sampler, settings, "hops");
    int64_t ball = (int64_t)sali_sampler_value(sampler, settings, "ball");
    return (sali_single_site_options){
        .direction = sampler->needs_differences ? SALI_EXACT_DIFFERENCES : SALI_FIRST_ORDER,
        .balance = sali_balance_of(chains->model->dtype,
                                   (int)sali_sampler_value(sampler, settings, "balance")),
        .radius = (int64_t)sali_sampler_value(sampler, settings, "radius"),
        .hops = hops > 1 ? hops : 1,
        .ball = ball > 1 ? ball : 1,
    };
}

/* The fast path applies: one site a step, and all differences follow from pairwise couplings. */
static bool suits_pairs(const sali_single_site_options *options, const sal_model *model)
{
    return options->pairs && options->hops == 1 && options->ball == 1 &&
           (options->direction == SALI_EXACT_DIFFERENCES || model->multilinear);
}

/* Allocate rows, log t, sites and gradients for the options of g. */
static void allocate_arrays(sali_single_site *g, const sali_chains *chains)
{
    const sali_single_site_options *o = &g->options;
    const int64_t slots = chains->space->slots, n = chains->n;
    g->moves = g->ball.size > 0 ? g->ball.size : slots;
    g->log_t = sali_object_array(g, o->direction == SALI_EXACT_DIFFERENCES ? n * slots : slots + 1,
                                 chains->element);
    g->sites = SALI_OBJECT_ARRAY(g, int64_t, n * (o->ball > 1 ? o->ball : o->hops));
    g->made = SALI_OBJECT_ARRAY(g, int64_t, n);
    g->log_q = SALI_OBJECT_ARRAY(g, double, n);
    sali_move_rows_create(g, chains->space, g->moves, chains->model->dtype, n, &g->rows);
    sali_followed_gradient_open(&g->followed, g, chains, o->couplings, o->paths,
                                o->direction == SALI_FIRST_ORDER);
}

sal_status sali_single_site_open(sali_single_site *g, const sali_chains *chains,
                                 const sali_single_site_options *options, void **self,
                                 sal_error *err)
{
    if (!g) {
        return sali_fail_memory(err);
    }
    g->kernels = SALI_KERNELS_OF(chains->model->dtype, sali_site_kernels);
    g->options = *options;
    g->options.radius = options->radius > 0 ? options->radius : SALI_ALL_LEVELS;
    if (!options->rule) {
        g->options.rule = options->ball > 1 ? &sali_ball_rule : &sali_hops_rule;
    }
    if (options->ball > 1) {
        sali_ball_create(g, chains->space, options->ball, &g->ball);
    }
    allocate_arrays(g, chains);
    sal_status status =
        suits_pairs(options, chains->model)
            ? sali_pairwise_moves_open(g, chains, &g->options.balance, &g->pairwise, err)
            : SAL_OK;
    return sali_object_finish(g, status, self, err);
}

sal_status sali_single_site_create(const sali_chains *chains, const sali_sampler_settings *settings,
                                   void *shared, void **self, sal_error *err)
{
    sali_single_site_options options = sali_single_site_settings(chains, settings);
    options.couplings = shared ? ((const sali_shared *)shared)->couplings : NULL;
    options.pairs = true;
    return sali_single_site_open(SALI_OBJECT(sali_single_site), chains, &options, self, err);
}

/* ---- rows of weights */

static bool by_differences(const sali_single_site *g)
{
    return g->options.direction == SALI_EXACT_DIFFERENCES &&
           !sali_followed_gradient_active(&g->followed);
}

void sali_single_site_evaluate(sali_single_site *g, sali_chains *chains)
{
    if (by_differences(g)) {
        sali_chains_differences(chains, chains->codes_new, chains->x_new, chains->f_new, g->log_t);
    } else {
        sali_followed_gradient_propose(&g->followed, chains);
    }
}

/* The gradient of chain c at `codes`, which must be its present or its proposed state. */
static const void *gradient_at(const sali_single_site *g, const sali_chains *chains, int64_t c,
                               const int32_t *codes)
{
    return codes == chains->codes + c * chains->space->n_variables
               ? sali_followed_gradient_now(&g->followed, chains, c)
               : sali_followed_gradient_next(&g->followed, chains, c);
}

/* log t [S] of the moves of chain c from `codes`, -inf for slots that are no move. Where gradients
 * are followed, exact differences are derived from them. */
static void *log_ratios(sali_single_site *g, sali_chains *chains, int64_t c, const int32_t *codes)
{
    const sal_space *space = chains->space;
    void *log_t = g->log_t;
    if (by_differences(g)) {
        log_t = sali_row(chains, g->log_t, c, space->slots);
    } else {
        sali_taylor_slots(chains->model, 1, codes, gradient_at(g, chains, c, codes), log_t);
        if (g->options.direction == SALI_EXACT_DIFFERENCES && !chains->model->multilinear) {
            sali_followed_gradient_correct(&g->followed, chains, c, codes, log_t);
        }
    }
    g->kernels->exclude(space, codes, g->options.radius, log_t);
    return log_t;
}

void sali_single_site_prepare(sali_single_site *g, sali_chains *chains, int64_t c,
                              const int32_t *codes, sali_move_row *row)
{
    const sali_balance *balance = &g->options.balance;
    void *log_t = log_ratios(g, chains, c, codes);
    if (g->ball.size > 0) {
        g->kernels->combine(g->moves, g->ball.radius, g->ball.slots, log_t, g->rows.buffer);
        log_t = g->rows.buffer;
    }
    balance->log_g(balance->context, g->moves, log_t, row->log_weight);
    g->kernels->prepare(g->moves, row);
}

/* ---- the step */

/* Prepare the rows of the present states of all chains from the last evaluation. */
static void prepare_all(sali_single_site *g, sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        sali_single_site_prepare(g, chains, c, chains->codes + c * chains->space->n_variables,
                                 sali_move_now(&g->rows, c));
    }
}

void sali_single_site_refresh(void *self, sali_chains *chains)
{
    sali_single_site *g = self;
    if (g->options.searched) {
        g->options.radius = (int64_t)*g->options.searched;
    }
    if (g->options.adapted_hops) {
        g->options.hops = (int64_t)*g->options.adapted_hops;
    }
    g->fast = g->pairwise && !sali_single_site_races(g, chains) &&
              sali_pairwise_moves_refresh(g->pairwise, chains);
    if (g->fast) {
        g->followed.values = NULL;
        return;
    }
    if (g->options.couplings || g->options.direction == SALI_FIRST_ORDER) {
        sali_followed_gradient_start(&g->followed, chains);
    }
    if (by_differences(g)) {
        sali_chains_differences(chains, chains->codes, chains->x, chains->f, g->log_t);
    }
    prepare_all(g, chains);
}

void sali_single_site_look(sali_single_site *g, sali_chains *chains)
{
    if (g->fast) {
        sali_chains_differences(chains, chains->codes, chains->x, chains->f_new, g->log_t);
        prepare_all(g, chains);
    }
}

bool sali_single_site_follows(const void *self)
{
    const sali_single_site *g = self;
    return g->fast || sali_followed_gradient_active(&g->followed);
}

void sali_single_site_stay(const sali_chains *chains, int64_t c)
{
    int64_t V = chains->space->n_variables, N = chains->space->width;
    memcpy(chains->codes_new + c * V, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
    memcpy(sali_row(chains, chains->x_new, c, N), sali_row(chains, chains->x, c, N),
           (size_t)N * chains->element);
}

void sali_single_site_put(const sali_chains *chains, int64_t c, int64_t site, int32_t code)
{
    chains->codes_new[c * chains->space->n_variables + site] = code;
    sali_model_embed_one(chains->model, site, code,
                         sali_row(chains, chains->x_new, c, chains->space->width));
}

void sali_single_site_renew(sali_single_site *g, sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        if (sali_followed_gradient_renew(&g->followed, chains, c)) {
            sali_single_site_prepare(g, chains, c, chains->codes + c * chains->space->n_variables,
                                     sali_move_now(&g->rows, c));
        }
    }
}

/* Draw the proposed state of chain c; it stays where nothing can move. */
static void draw_proposal(sali_single_site *g, sali_chains *chains, int64_t c)
{
    const sali_move_row *row = sali_move_now(&g->rows, c);
    sali_single_site_stay(chains, c);
    g->made[c] = 0;
    g->log_q[c] = 0;
    if (isnan(row->log_norm)) {
        sali_chains_note_bad(chains, c, chains->codes, NAN);
    } else if (row->log_norm > -INFINITY) {
        g->options.rule->draw(g, chains, c);
    }
}

void sali_single_site_decide(sali_single_site *g, sali_chains *chains)
{
    const double stay = chains->stay;
    /* Coupled chains have drawn to stay among their moves. */
    chains->stay = sali_single_site_races(g, chains) ? 0 : stay;
    sali_chains_decide(chains);
    chains->stay = stay;
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->accepted[c]) {
            sali_move_flip(&g->rows, c);
            sali_followed_gradient_flip(&g->followed, c);
        }
    }
    sali_chains_tick(chains);
}

void sali_single_site_step(void *self, sali_chains *chains)
{
    sali_single_site *g = self;
    if (g->fast) {
        sali_pairwise_moves_steps(g->pairwise, chains, 1);
        return;
    }
    sali_single_site_renew(g, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        draw_proposal(g, chains, c);
    }
    sali_single_site_evaluate(g, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        sali_move_row *row = sali_move_next(&g->rows, c);
        sali_single_site_prepare(g, chains, c, chains->codes_new + c * chains->space->n_variables,
                                 row);
        double back = g->made[c] > 0 ? g->options.rule->reverse(g, chains, c, row) : 0;
        chains->log_ratio[c] = sali_chains_log_ratio(chains, c, g->log_q[c], back);
    }
    sali_single_site_decide(g, chains);
}

void sali_single_site_steps(void *self, sali_chains *chains, int64_t n)
{
    sali_single_site *g = self;
    if (g->fast) {
        sali_pairwise_moves_steps(g->pairwise, chains, n);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        sali_single_site_step(g, chains);
    }
}

/* ---- the proposal's probability */

/* log q of chain c's move to `to` from its present row; 0 for staying where nothing can move. */
static double log_q_of(const sali_single_site *g, const sali_chains *chains, int64_t c,
                       const int32_t *to)
{
    const sal_space *space = chains->space;
    const int32_t *from = chains->codes + c * space->n_variables;
    const sali_move_row *row = sali_move_now(&g->rows, c);
    int64_t site = 0, moved = sali_sites_moved(space, from, to, &site), move = -1;
    if (moved == 0 || row->log_norm == -INFINITY) {
        return moved == 0 && row->log_norm == -INFINITY ? 0 : -INFINITY;
    }
    if (g->ball.size > 0) {
        move = sali_ball_find(&g->ball, space, from, to);
    } else if (moved == 1) {
        move = sali_move_slot(space, site, from[site], to[site]);
    }
    return sali_move_log_q(chains->model->dtype, row, move);
}

void sali_single_site_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    const sali_single_site *g = self;
    if (g->fast) {
        sali_pairwise_moves_log_q(g->pairwise, chains, to, log_q);
        return;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        log_q[c] = log_q_of(self, chains, c, to + c * chains->space->n_variables);
    }
}
