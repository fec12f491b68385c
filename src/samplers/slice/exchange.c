/* SPDX-License-Identifier: MIT */
/* Balanced exchanges: two variables of a block whose sum or labels are fixed move together, chosen
 * by first-order differences. Of a sum, one variable goes up by r levels and another one down by r.
 * With the differences d of single variables
 *
 *     q(i up, j down, r) = exp(d_i(+r) / 2) exp(d_j(-r) / 2) / sum over r of A_r B_r,
 *
 * A_r and B_r the sums over all variables of the two factors: O(V) for O(V^2) moves. This is the
 * locally balanced proposal (Zanella 2020) with g(t) = sqrt(t), by the gradient as in Grathwohl et
 * al. 2021, of pairs. Two variables exchange their labels with a weight g(t) that does not come
 * apart: all pairs of a block are listed. Several fixed blocks are chosen at random by their sizes.
 */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/balance.h"
#include "samplers/followed_gradient.h"
#include "samplers/kernels.h"
#include "samplers/sampler.h"
#include "samplers/slice/pairwise_exchange.h"

enum { RADIUS, BALANCE };

static const sal_setting known_settings[] = {
    { "radius", 1, 1, INT32_MAX, true, "levels that one count gives another at most", NULL },
    { "balance", 0, 0, 0, true, "balancing function g of exchanged labels; of sums it is sqrt",
      sali_balance_names },
    { 0 },
};

static const char *const variants[] = { "", "radius=2", NULL };

/* Whether the block's pairs are listed. */
static bool lists_pairs(const sali_stretch *s)
{
    return s->fixed_codes && !sali_two_level(s);
}

/* The most pairs of a block that are listed. */
#define MOST_PAIRS (INT64_C(1) << 24)

static const char *obstacle(const sal_model *model, const double *values, const void *data)
{
    const sal_space *space = model->space;
    bool labels = false;
    (void)data;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (!sali_is_fixed(s)) {
            return "it exchanges variables of fixed sums or labels, and not all blocks have them; "
                   "pair-gibbs, ncg and dlmc move free variables too";
        }
        if (lists_pairs(s) && s->count > 1 && s->count - 1 > 2 * MOST_PAIRS / s->count) {
            return "it lists all pairs of a block with labels, and a block has too many; take "
                   "pair-gibbs";
        }
        labels |= lists_pairs(s);
    }
    return values[BALANCE] != SALI_BALANCE_SQRT && !labels
               ? "of fixed sums its balancing function is sqrt"
               : NULL;
}

/* An exchange: i goes up by r and j down; labels are exchanged, whatever r. */
typedef struct move {
    int64_t i, j; /* -1: nothing can move */
    int32_t r;
} move;

typedef struct exchange {
    sali_pairwise_exchange *pairwise; /* NULL: the model is not pairwise */
    bool fast;                        /* since the last refresh steps use `pairwise` */
    sali_followed_gradient followed;
    void *held; /* real [n x N] gradients at the present states, if they are not followed */
    int64_t radius;
    sali_balance balance;
    void *slots;                /* real [S] first-order differences of single variables */
    double *up, *down;          /* [radius x variables of a block] log-weights of a sum */
    double *norm;               /* [radius] log A_r B_r */
    void *log_t, *log_g;        /* real [pairs of a block] of labels */
    double *weight;             /* [pairs of a block] log g */
    move *made;                 /* [n] */
    const sali_stretch **block; /* [n] */
    double *log_q;              /* [n] */
} exchange;

/* ---- creation */

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    const sali_shared *s = shared;
    const sal_space *space = chains->space;
    int64_t variables = 1, pairs = 1, levels = 1;
    exchange *e = SALI_OBJECT(exchange);
    if (!e) {
        return sali_fail_memory(err);
    }
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *block = &space->stretches[b];
        const int64_t n = block->count, all = lists_pairs(block) ? n * (n - 1) / 2 : 1;
        variables = n > variables ? n : variables;
        pairs = all > pairs ? all : pairs;
        levels = block->fixed_total >= 0 && block->states - 1 > levels ? block->states - 1 : levels;
    }
    e->radius = (int64_t)fmin(settings->values[RADIUS], (double)levels);
    e->balance = sali_balance_of(chains->model->dtype, (int)settings->values[BALANCE]);
    e->slots = sali_object_array(e, space->slots, chains->element);
    e->up = SALI_OBJECT_ARRAY(e, double, e->radius *variables);
    e->down = SALI_OBJECT_ARRAY(e, double, e->radius *variables);
    e->norm = SALI_OBJECT_ARRAY(e, double, e->radius);
    e->log_t = sali_object_array(e, pairs, chains->element);
    e->log_g = sali_object_array(e, pairs, chains->element);
    e->weight = SALI_OBJECT_ARRAY(e, double, pairs);
    e->made = SALI_OBJECT_ARRAY(e, move, chains->n);
    e->block = SALI_OBJECT_ARRAY(e, const sali_stretch *, chains->n);
    e->log_q = SALI_OBJECT_ARRAY(e, double, chains->n);
    e->held = sali_object_array(e, chains->n * space->width, chains->element);
    sali_followed_gradient_open(&e->followed, e, chains, s->couplings, true, true);
    return sali_object_finish(e, sali_pairwise_exchange_open(e, chains, &e->pairwise, err), self,
                              err);
}

/* ---- the weights of a block's exchanges at one state */

/* log of the sum of exp(x[k]), and the entry that u selects by the softmax of x; -1 for none. */
static double log_sum(int64_t n, const double *x, double u, int64_t *chosen)
{
    double largest = -INFINITY, sum = 0;
    *chosen = -1;
    for (int64_t k = 0; k < n; k++) {
        largest = x[k] > largest || isnan(x[k]) ? x[k] : largest;
    }
    for (int64_t k = 0; largest > -INFINITY && k < n; k++) {
        sum += exp(x[k] - largest);
    }
    double left = u * sum;
    for (int64_t k = 0; k < n && left >= 0; k++) {
        const double w = largest > -INFINITY ? exp(x[k] - largest) : 0;
        *chosen = w > 0 ? k : *chosen;
        left -= w;
    }
    return largest + log(sum);
}

static double slot_of(const exchange *e, const sali_chains *chains, int64_t v, int32_t now,
                      int32_t code)
{
    return sali_load(chains->model->dtype, e->slots, sali_move_slot(chains->space, v, now, code));
}

/* Fill up, down and norm for a block whose sum is fixed; the row of r levels is row r - 1. */
static void weigh_sum(exchange *e, const sali_chains *chains, const sali_stretch *s,
                      const int32_t *codes)
{
    int64_t unused;
    for (int64_t r = 1; r <= e->radius; r++) {
        double *up = e->up + (r - 1) * s->count, *down = e->down + (r - 1) * s->count;
        for (int64_t k = 0; k < s->count; k++) {
            const int64_t v = s->first + k, now = codes[v];
            const bool above = now + r < s->states, below = now - r >= 0;
            up[k] = above ? slot_of(e, chains, v, (int32_t)now, (int32_t)(now + r)) / 2 : -INFINITY;
            down[k] =
                below ? slot_of(e, chains, v, (int32_t)now, (int32_t)(now - r)) / 2 : -INFINITY;
        }
        e->norm[r - 1] = log_sum(s->count, up, 0, &unused) + log_sum(s->count, down, 0, &unused);
    }
}

/* Fill weight for a block whose labels are fixed: of the pairs (i, j), i < j, in order. */
static void weigh_labels(exchange *e, const sali_chains *chains, const sali_stretch *s,
                         const int32_t *codes)
{
    const sal_dtype dtype = chains->model->dtype;
    const int64_t n = s->count, pairs = n * (n - 1) / 2;
    int64_t at = 0;
    for (int64_t i = s->first; i < s->first + n; i++) {
        for (int64_t j = i + 1; j < s->first + n; j++, at++) {
            const int32_t a = codes[i], b = codes[j];
            sali_store(dtype, e->log_t, at,
                       a == b ? -INFINITY
                              : slot_of(e, chains, i, a, b) + slot_of(e, chains, j, b, a));
        }
    }
    e->balance.log_g(e->balance.context, pairs, e->log_t, e->log_g);
    for (int64_t k = 0; k < pairs; k++) {
        e->weight[k] = sali_load(dtype, e->log_g, k);
    }
}

/* Weigh a block's exchanges at a state of chain c with beta times the gradient d. Returns the log
 * of the sum of weights; *chosen: one that the uniforms u select. */
static double weigh(exchange *e, const sali_chains *chains, const sali_stretch *s,
                    const int32_t *codes, const void *d, const double u[3], move *chosen)
{
    int64_t k, i, j;
    sali_taylor_slots(chains->model, 1, codes, d, e->slots);
    *chosen = (move){ -1, -1, 0 };
    if (lists_pairs(s)) {
        weigh_labels(e, chains, s, codes);
        const double norm = log_sum(s->count * (s->count - 1) / 2, e->weight, u[0], &k);
        for (i = 0; k >= s->count - 1 - i; i++) {
            k -= s->count - 1 - i;
        }
        if (k >= 0) {
            *chosen = (move){ s->first + i, s->first + i + 1 + k, 0 };
        }
        return norm;
    }
    weigh_sum(e, chains, s, codes);
    const double norm = log_sum(e->radius, e->norm, u[0], &k);
    if (k >= 0) {
        log_sum(s->count, e->up + k * s->count, u[1], &i);
        log_sum(s->count, e->down + k * s->count, u[2], &j);
        *chosen = (move){ s->first + i, s->first + j, (int32_t)k + 1 };
    }
    return norm;
}

/* The log-weight of a move, at the state that was weighed last. */
static double weight_of(const exchange *e, const sali_stretch *s, move m)
{
    if (lists_pairs(s)) {
        const int64_t a = (m.i < m.j ? m.i : m.j) - s->first, b = m.i + m.j - 2 * s->first - a;
        return e->weight[a * (2 * s->count - a - 1) / 2 + b - a - 1];
    }
    const int64_t row = (m.r - 1) * s->count - s->first;
    return e->up[row + m.i] + e->down[row + m.j];
}

/* ---- the step */

static void hold(exchange *e, const sali_chains *chains, int64_t c)
{
    if (!sali_followed_gradient_active(&e->followed)) {
        const int64_t N = chains->space->width;
        memcpy(sali_row(chains, e->held, c, N), sali_row(chains, chains->gradient, c, N),
               (size_t)N * chains->element);
    }
}

static const void *gradient_now(const exchange *e, const sali_chains *chains, int64_t c)
{
    return sali_followed_gradient_active(&e->followed)
               ? sali_followed_gradient_now(&e->followed, chains, c)
               : sali_row(chains, e->held, c, chains->space->width);
}

static void refresh(void *self, sali_chains *chains)
{
    exchange *e = self;
    e->fast = e->pairwise && sali_pairwise_exchange_refresh(e->pairwise, chains);
    if (!e->fast) {
        sali_followed_gradient_start(&e->followed, chains);
        for (int64_t c = 0; c < chains->n; c++) {
            hold(e, chains, c);
        }
    }
}

static bool follows(const void *self)
{
    const exchange *e = self;
    return e->fast || sali_followed_gradient_active(&e->followed);
}

/* Set the proposed state of chain c to the present one after move m. */
static void set_proposed(sali_chains *chains, int64_t c, const sali_stretch *s, move m)
{
    const sal_space *space = chains->space;
    const int64_t V = space->n_variables, N = space->width;
    int32_t *codes = chains->codes_new + c * V;
    void *x = sali_row(chains, chains->x_new, c, N);
    memcpy(codes, chains->codes + c * V, (size_t)V * sizeof *codes);
    memcpy(x, sali_row(chains, chains->x, c, N), (size_t)N * chains->element);
    if (m.i < 0 || m.i == m.j) {
        return;
    }
    const int32_t a = codes[m.i], b = codes[m.j];
    codes[m.i] = lists_pairs(s) ? b : a + m.r;
    codes[m.j] = lists_pairs(s) ? a : b - m.r;
    sali_model_embed_one(chains->model, m.i, codes[m.i], x);
    sali_model_embed_one(chains->model, m.j, codes[m.j], x);
}

static void propose(exchange *e, sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        const double u[3] = { sali_rng_uniform_at(&stream, 1), sali_rng_uniform_at(&stream, 2),
                              sali_rng_uniform_at(&stream, 3) };
        const int64_t v = sali_rng_below(&stream, 0, (uint32_t)chains->space->n_variables);
        e->block[c] = sali_space_stretch(chains->space, v);
        const double norm =
            weigh(e, chains, e->block[c], chains->codes + c * chains->space->n_variables,
                  gradient_now(e, chains, c), u, &e->made[c]);
        const bool none = norm == -INFINITY || chains->f[c] == -INFINITY;
        e->log_q[c] = e->made[c].i >= 0 ? weight_of(e, e->block[c], e->made[c]) - norm
                      : none            ? 0
                                        : (double)NAN; /* a bad gradient */
        set_proposed(chains, c, e->block[c], e->made[c]);
    }
}

static void fill_log_ratios(exchange *e, sali_chains *chains)
{
    static const double none[3] = { 0 };
    for (int64_t c = 0; c < chains->n; c++) {
        const move m = e->made[c], back = { m.j, m.i, m.r };
        move unused;
        if (m.i < 0 || m.i == m.j) { /* the same state, and the same way back */
            chains->log_ratio[c] = m.i < 0 ? e->log_q[c] : 0;
            continue;
        }
        const double norm =
            weigh(e, chains, e->block[c], chains->codes_new + c * chains->space->n_variables,
                  sali_followed_gradient_next(&e->followed, chains, c), none, &unused);
        chains->log_ratio[c] =
            sali_chains_log_ratio(chains, c, e->log_q[c], weight_of(e, e->block[c], back) - norm);
    }
}

static void step(void *self, sali_chains *chains)
{
    exchange *e = self;
    if (e->fast) {
        sali_pairwise_exchange_step(e->pairwise, chains);
        return;
    }
    if (sali_followed_gradient_due(&e->followed, chains)) {
        refresh(e, chains);
    }
    propose(e, chains);
    sali_followed_gradient_propose(&e->followed, chains);
    fill_log_ratios(e, chains);
    sali_chains_decide(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->accepted[c]) {
            hold(e, chains, c);
            sali_followed_gradient_flip(&e->followed, c);
        }
    }
    sali_chains_tick(chains);
}

/* ---- the proposal's probability */

/* The move of a block that leads from one state to another one; i is -1 if there is none, and i = j
 * for staying. */
static move move_to(const exchange *e, const sali_stretch *s, const int32_t *from,
                    const int32_t *to)
{
    move m = { -1, -1, 0 };
    int64_t moved = 0;
    for (int64_t v = s->first; v < s->first + s->count; v++) {
        moved += from[v] != to[v];
        m.i = to[v] > from[v] ? v : m.i;
        m.j = to[v] < from[v] ? v : m.j;
    }
    if (moved != 2 || m.i < 0 || m.j < 0) {
        return (move){ -1, -1, 0 };
    }
    m.r = to[m.i] - from[m.i];
    const bool fits = lists_pairs(s) ? to[m.i] == from[m.j] && to[m.j] == from[m.i]
                                     : from[m.j] - to[m.j] == m.r && m.r <= e->radius;
    return fits ? m : (move){ -1, -1, 0 };
}

/* q(to | present state) of one block's exchange in chain c. */
static double chance(exchange *e, const sali_chains *chains, int64_t c, const sali_stretch *s,
                     const int32_t *to)
{
    static const double none[3] = { 0 };
    const int32_t *from = chains->codes + c * chains->space->n_variables;
    move some;
    const double norm = weigh(e, chains, s, from, gradient_now(e, chains, c), none, &some);
    int64_t site;
    if (sali_sites_moved(chains->space, from, to, &site) == 0) {
        double stays = some.i < 0;
        for (int64_t k = 0; !lists_pairs(s) && some.i >= 0 && k < e->radius * s->count; k++) {
            stays += exp(e->up[k] + e->down[k] - norm);
        }
        return stays;
    }
    const move m = move_to(e, s, from, to);
    return m.i < 0 || some.i < 0 ? 0 : exp(weight_of(e, s, m) - norm);
}

static void log_q(void *self, sali_chains *chains, const int32_t *to, double *out)
{
    exchange *e = self;
    const sal_space *space = chains->space;
    if (e->fast) {
        sali_pairwise_exchange_log_q(e->pairwise, chains, to, out);
        return;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *from = chains->codes + c * space->n_variables;
        const int32_t *target = to + c * space->n_variables;
        double sum = 0;
        for (int64_t b = 0; b < space->n_blocks; b++) {
            const sali_stretch *s = &space->stretches[b];
            int64_t elsewhere =
                sali_codes_moved(s->first, from, target) +
                sali_codes_moved(space->n_variables - s->first - s->count,
                                 from + s->first + s->count, target + s->first + s->count);
            sum += elsewhere ? 0
                             : (double)s->count / (double)space->n_variables *
                                   chance(e, chains, c, s, target);
        }
        out[c] = log(sum);
    }
}

const sali_sampler sali_sampler_exchange = {
    .name = "exchange",
    .doc = "two variables of a fixed sum or fixed labels, by first-order differences of both",
    .source = "Zanella 2020 and Grathwohl et al. 2021, of pairs",
    .needs_gradient = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_FIXED,
    .settings = known_settings,
    .obstacle = obstacle,
    .engine =
        &(const sal_sampler_engine){
            .local = true,
            .variants = variants,
            .share = sali_followed_gradient_share,
            .unshare = sali_object_free,
            .create = create,
            .destroy = sali_object_free,
            .refresh = refresh,
            .follows = follows,
            .step = step,
            .log_q = log_q,
        },
};
