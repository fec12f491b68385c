/* SPDX-License-Identifier: MIT */
/* How single-site samplers draw from a row of weights: one site or several hops, and a ball. */
#include "samplers/local/single_site_sampler.h"

#include <math.h>

#include "samplers/coupled.h"

/* ---- hops: `hops` sites independently from q(i | s), a value for each distinct one from
 * q(v | i, s). The ordered sites are an auxiliary variable, the same for the way back. One hop is
 * the usual single-site proposal. Grathwohl et al. 2021, sec. 6. */

/* log of the sum of exp(log_weight) over the moves of a site. */
static double site_log_weight(const sal_space *space, sal_dtype dtype, const sali_move_row *row,
                              int64_t site)
{
    const sali_variable *v = &space->variables[site];
    if (sali_is_two_level(v)) {
        return sali_load(dtype, row->log_weight, v->slot);
    }
    double largest = -INFINITY, sum = 0;
    for (int32_t k = 0; k < sali_entries(v->states); k++) {
        double weight = sali_load(dtype, row->log_weight, v->slot + k);
        largest = weight > largest ? weight : largest; /* with fmax GCC 12 fails for aarch64 */
    }
    if (largest == -INFINITY) {
        return -INFINITY;
    }
    for (int32_t k = 0; k < sali_entries(v->states); k++) {
        sum += exp(sali_load(dtype, row->log_weight, v->slot + k) - largest);
    }
    return largest + log(sum);
}

/* log q of drawing `sites` [hops] and moving them to the values of `to`, from the row of the state
 * `from`. */
static double hops_log_q(const sali_single_site *g, const sali_chains *chains,
                         const sali_move_row *row, const int64_t *sites, const int32_t *from,
                         const int32_t *to)
{
    const sal_space *space = chains->space;
    sal_dtype dtype = chains->model->dtype;
    double log_q = 0;
    if (g->options.hops == 1) {
        int64_t slot = sali_move_slot(space, sites[0], from[sites[0]], to[sites[0]]);
        return sali_move_log_q(dtype, row, slot);
    }
    for (int64_t h = 0; h < g->options.hops; h++) {
        double log_site = site_log_weight(space, dtype, row, sites[h]);
        if (log_site == -INFINITY) {
            return -INFINITY;
        }
        int64_t earlier = 0;
        while (sites[earlier] != sites[h]) {
            earlier++;
        }
        log_q += log_site - row->log_norm;
        if (earlier == h) {
            int64_t slot = sali_move_slot(space, sites[h], from[sites[h]], to[sites[h]]);
            log_q += sali_move_log_q(dtype, row, slot) + row->log_norm - log_site;
        }
    }
    return log_q;
}

bool sali_single_site_races(const sali_single_site *g, const sali_chains *chains)
{
    return chains->partner && g->options.rule == &sali_hops_rule && g->options.hops == 1;
}

/* The slot of hop h of chain c; -1: coupled chains stay. */
static int64_t pick_hop(const sali_single_site *g, const sali_chains *chains, int64_t c, int64_t h)
{
    const sali_move_row *row = sali_move_now(&g->rows, c);
    if (sali_single_site_races(g, chains)) {
        return sali_coupled_pick(chains, c, row->weight);
    }
    const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    return g->kernels->pick(g->moves, row, sali_rng_uniform_at(&stream, (uint32_t)h));
}

/* Draw hops of chain c: the rule's `draw`. A hop of a site that has moved already only adds the
 * site to the list. */
static void hops_draw(sali_single_site *g, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    const sali_move_row *row = sali_move_now(&g->rows, c);
    const int32_t *codes = chains->codes + c * space->n_variables;
    const int32_t *codes_new = chains->codes_new + c * space->n_variables;
    int64_t *sites = g->sites + c * g->options.hops;
    for (int64_t h = 0; h < g->options.hops; h++) {
        const int64_t slot = pick_hop(g, chains, c, h);
        int32_t code;
        if (slot < 0) {
            return;
        }
        sali_slot_move(space, codes, slot, &sites[h], &code);
        if (codes_new[sites[h]] == codes[sites[h]]) {
            sali_single_site_put(chains, c, sites[h], code);
        }
    }
    g->made[c] = g->options.hops;
    g->log_q[c] = hops_log_q(g, chains, row, sites, codes, codes_new);
}

static double hops_reverse(sali_single_site *g, sali_chains *chains, int64_t c,
                           const sali_move_row *row)
{
    int64_t first = c * chains->space->n_variables;
    return hops_log_q(g, chains, row, g->sites + c * g->options.hops, chains->codes_new + first,
                      chains->codes + first);
}

const sali_site_rule sali_hops_rule = { hops_draw, hops_reverse };

static int64_t hops_size(const void *self, const sali_chains *chains)
{
    const sali_single_site *g = self;
    (void)chains;
    return g->options.hops > 1 ? g->options.hops : 0;
}

static int32_t hops_bound(const void *self, const sali_chains *chains, int64_t k)
{
    (void)self;
    (void)k;
    return (int32_t)chains->space->n_variables;
}

/* Whether `sites` [hops] are exactly the variables in which `from` and `to` differ. */
static bool changes_are(const sal_space *space, const int64_t *sites, int64_t hops,
                        const int32_t *from, const int32_t *to)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        bool drawn = false;
        for (int64_t h = 0; h < hops; h++) {
            drawn |= sites[h] == v;
        }
        if (drawn != (from[v] != to[v])) {
            return false;
        }
    }
    return true;
}

/* log q(u, to | present state). A chain that cannot move stays, with all sites 0. */
static void hops_auxiliary(void *self, sali_chains *chains, const void *u, const int32_t *to,
                           double *log_q)
{
    sali_single_site *g = self;
    const sal_space *space = chains->space;
    int64_t V = space->n_variables, hops = g->options.hops, *sites = g->sites;
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_move_row *row = sali_move_now(&g->rows, c);
        const int32_t *from = chains->codes + c * V, *target = to + c * V;
        bool zero = true;
        for (int64_t h = 0; h < hops; h++) {
            sites[h] = ((const int32_t *)u)[h];
            zero &= sites[h] == 0;
        }
        if (row->log_norm == -INFINITY) {
            bool stays = changes_are(space, NULL, 0, from, target);
            log_q[c] = zero && stays ? 0 : -INFINITY;
        } else {
            log_q[c] = changes_are(space, sites, hops, from, target)
                           ? hops_log_q(g, chains, row, sites, from, target)
                           : -INFINITY;
        }
    }
}

const sali_auxiliary sali_single_site_hops = {
    .size = hops_size,
    .bound = hops_bound,
    .log_q = hops_auxiliary,
};

/* ---- ball: all moves of up to r sites, one row entry each. Rhodes & Gutmann 2022, eq. 29. */

/* Draw a move of the ball for chain c and make it: the rule's `draw`. */
static void ball_draw(sali_single_site *g, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    const sali_move_row *row = sali_move_now(&g->rows, c);
    const int32_t *codes = chains->codes + c * space->n_variables;
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    int64_t move = g->kernels->pick(g->moves, row, sali_rng_uniform_at(&stream, 0));
    const int32_t *slots = g->ball.slots + move * g->ball.radius;
    for (int64_t k = 0; k < g->ball.radius && slots[k] < space->slots; k++) {
        int64_t site;
        int32_t code;
        sali_slot_move(space, codes, slots[k], &site, &code);
        sali_single_site_put(chains, c, site, code);
    }
    g->made[c] = 1;
    g->log_q[c] = sali_move_log_q(chains->model->dtype, row, move);
}

static double ball_reverse(sali_single_site *g, sali_chains *chains, int64_t c,
                           const sali_move_row *row)
{
    int64_t V = chains->space->n_variables;
    int64_t move =
        sali_ball_find(&g->ball, chains->space, chains->codes_new + c * V, chains->codes + c * V);
    return sali_move_log_q(chains->model->dtype, row, move);
}

const sali_site_rule sali_ball_rule = { ball_draw, ball_reverse };
