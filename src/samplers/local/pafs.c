/* SPDX-License-Identifier: MIT */
/* Fast path auxiliary sampler: the sites of a path are drawn without replacement from the softmax
 * of balanced first-order differences at the present state, and all move; the way back is the same
 * path in reversed order by the differences at its end. One gradient a step. Sun et al. 2022. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/local/path_length.h"
#include "samplers/local/single_site_sampler.h"

static const char *const variants[] = {
    "length=2",
    "length=2,radius=1",
    "length=1,balance=barker",
    NULL,
};

typedef struct pafs {
    sali_single_site core;
    const sali_path_length *path;
    int64_t most;       /* most sites of a chain's path */
    bool one_slot_each; /* each variable with several states has one slot */
    sali_move_row left; /* while a path is drawn: moves of variables not yet moved */
} pafs;

/* ---- the path */

/* The moves that are left of a row after the sites of a path so far were taken out. Weights are
 * relative to exp(shift), `total` is the sum of those left. */
typedef struct walk {
    const sali_move_row *row;
    double shift, total;
    double least; /* once the sum is below this, p->left lists the weights that are left */
} walk;

/* A sum that has fallen to this part by subtractions has lost some of its digits. */
#define PART_LEFT (1. / 16)
/* Below this sum, weights are recomputed relative to the largest that is left. */
#define RENEW_BELOW 1e-15

static walk walk_begin(const pafs *p, const sali_move_row *row)
{
    double total = sali_move_total(p->core.moves, row);
    return (walk){
        .row = row, .shift = row->log_norm - log(total), .total = total, .least = PART_LEFT * total
    };
}

/* Copy all weights of the row to p->left. */
static void copy_weights(pafs *p, const sali_chains *chains, walk *w)
{
    int64_t S = p->core.moves;
    memcpy(p->left.weight, w->row->weight, (size_t)S * chains->element);
    memcpy(p->left.partial, w->row->partial, (size_t)(S / SALI_MOVE_BLOCK + 1) * sizeof(double));
    w->least = INFINITY;
}

static void slots_of(const sali_variable *v, int64_t *first, int64_t *count)
{
    *first = v->slot;
    *count = sali_is_two_level(v) ? 1 : sali_entries(v->states);
}

/* Recompute p->left from the row's log-weights without the moves of the first `made` sites. */
static void recompute_weights(pafs *p, const sali_chains *chains, walk *w, const int64_t *sites,
                              int64_t made)
{
    int64_t first, count;
    memcpy(p->left.log_weight, w->row->log_weight, (size_t)p->core.moves * chains->element);
    for (int64_t k = 0; k < made; k++) {
        slots_of(&chains->space->variables[sites[k]], &first, &count);
        for (int64_t slot = first; slot < first + count; slot++) {
            sali_store(chains->model->dtype, p->left.log_weight, slot, -INFINITY);
        }
    }
    p->core.kernels->prepare(p->core.moves, &p->left);
    w->total = sali_move_total(p->core.moves, &p->left);
    w->shift = w->total > 0 ? p->left.log_norm - log(w->total) : 0;
}

/* Take the last of `made` sites out: subtract its weights from the sum as long as this is accurate,
 * else remove its moves from p->left. */
static void take_out(pafs *p, const sali_chains *chains, walk *w, const int64_t *sites,
                     int64_t made)
{
    int64_t first, count, out = made - 1;
    slots_of(&chains->space->variables[sites[out]], &first, &count);
    if (w->least < INFINITY) {
        for (int64_t slot = first; slot < first + count; slot++) {
            w->total -= sali_load(chains->model->dtype, w->row->weight, slot);
        }
        if (w->total >= w->least) {
            return;
        }
        copy_weights(p, chains, w);
        out = 0;
    }
    for (; out < made; out++) {
        slots_of(&chains->space->variables[sites[out]], &first, &count);
        w->total = p->core.kernels->remove(p->core.moves, &p->left, first, count);
    }
    if (w->total < RENEW_BELOW) {
        recompute_weights(p, chains, w, sites, made);
    }
}

static double move_log_q(const sali_chains *chains, const walk *w, int64_t slot)
{
    return sali_load(chains->model->dtype, w->row->log_weight, slot) - w->shift - log(w->total);
}

/* How many of n moves f allows. */
static int64_t count_allowed(sal_dtype dtype, int64_t n, const void *log_weight)
{
    const double *in_double = log_weight;
    const float *in_float = log_weight;
    int64_t count = 0;
    for (int64_t k = 0; dtype == SAL_F64 && k < n; k++) {
        count += in_double[k] > -INFINITY;
    }
    for (int64_t k = 0; dtype == SAL_F32 && k < n; k++) {
        count += in_float[k] > -INFINITY;
    }
    return count;
}

/* How many variables have a move that f allows, but at most p->most. */
static int64_t count_free(const pafs *p, const sali_chains *chains, const sali_move_row *row)
{
    const sal_space *space = chains->space;
    int64_t count = 0;
    if (p->one_slot_each) {
        count = count_allowed(chains->model->dtype, p->core.moves, row->log_weight);
        return count < p->most ? count : p->most;
    }
    for (int64_t v = 0; v < space->n_variables && count < p->most; v++) {
        int64_t slot, left;
        bool free = false;
        if (space->variables[v].states == 1) {
            continue;
        }
        for (slots_of(&space->variables[v], &slot, &left); !free && left > 0; slot++, left--) {
            free = sali_load(chains->model->dtype, row->log_weight, slot) > -INFINITY;
        }
        count += free;
    }
    return count;
}

/* log q of the path that moves `made` >= 1 sites in this order from `from` to `to`, including the
 * probability of its length; `row` is of the state `from`. */
static double path_log_q(pafs *p, const sali_chains *chains, const sali_move_row *row,
                         const int64_t *sites, int64_t made, const int32_t *from, const int32_t *to)
{
    double log_q = sali_path_length_log_q(p->path, count_free(p, chains, row), made);
    walk w = walk_begin(p, row);
    for (int64_t k = 0; k < made && log_q > -INFINITY; k++) {
        if (w.total == 0) {
            return -INFINITY;
        }
        int64_t slot = sali_move_slot(chains->space, sites[k], from[sites[k]], to[sites[k]]);
        if (slot < 0) {
            return -INFINITY;
        }
        log_q += move_log_q(chains, &w, slot);
        take_out(p, chains, &w, sites, k + 1);
    }
    return log_q;
}

/* Draw a path of chain c by its present row: the rule's `draw` (single_site_sampler.h). */
static void pafs_draw(sali_single_site *g, sali_chains *chains, int64_t c)
{
    pafs *p = (pafs *)g;
    const int32_t *codes = chains->codes + c * chains->space->n_variables;
    int64_t *sites = g->sites + c * p->most, made = 0;
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    walk w = walk_begin(p, sali_move_now(&g->rows, c));
    copy_weights(p, chains, &w);
    const int64_t free = count_free(p, chains, sali_move_now(&g->rows, c));
    const int64_t length = sali_path_length_draw(p->path, free, sali_rng_uniform_at(&stream, 0));
    g->log_q[c] += free > 0 ? sali_path_length_log_q(p->path, free, length) : 0;
    while (made < length && w.total > 0) {
        double u = sali_rng_uniform_at(&stream, (uint32_t)made + 1);
        int64_t slot = g->kernels->pick(g->moves, &p->left, u);
        int32_t code;
        sali_slot_move(chains->space, codes, slot, &sites[made++], &code);
        sali_single_site_put(chains, c, sites[made - 1], code);
        g->log_q[c] += move_log_q(chains, &w, slot);
        take_out(p, chains, &w, sites, made);
    }
    g->made[c] = made;
}

/* log q of the reverse path; reverses `sites` of chain c. */
static double pafs_reverse(sali_single_site *g, sali_chains *chains, int64_t c,
                           const sali_move_row *row)
{
    pafs *p = (pafs *)g;
    int64_t *sites = g->sites + c * p->most, made = g->made[c];
    for (int64_t k = 0; k < made / 2; k++) {
        int64_t site = sites[k];
        sites[k] = sites[made - 1 - k];
        sites[made - 1 - k] = site;
    }
    int64_t first = c * chains->space->n_variables;
    return made == 0 ? 0
                     : path_log_q(p, chains, row, sites, made, chains->codes_new + first,
                                  chains->codes + first);
}

static const sali_site_rule path_rule = { pafs_draw, pafs_reverse };

/* ---- auxiliary variables: by how much the path is shorter than L, and the order of its sites (0
 * past its end). None with L = 1. */

static int64_t pafs_size(const void *self, const sali_chains *chains)
{
    const pafs *p = self;
    (void)chains;
    return p->path->length > 1 ? 1 + p->most : 0;
}

static int32_t pafs_bound(const void *self, const sali_chains *chains, int64_t k)
{
    const pafs *p = self;
    return k == 0 ? (int32_t)p->path->length : (int32_t)chains->space->n_variables;
}

/* Fill `sites` from u. Returns whether they are the `made` variables in which the states differ,
 * each once. */
static bool sites_of(const pafs *p, const int32_t *u, const int32_t *from, const int32_t *to,
                     int64_t made, int64_t *sites)
{
    bool fits = made <= p->most;
    for (int64_t k = 0; fits && k < p->most; k++) {
        sites[k] = u[1 + k];
        fits = k < made ? from[sites[k]] != to[sites[k]] : sites[k] == 0;
        for (int64_t j = 0; j < k && k < made; j++) {
            fits &= sites[j] != sites[k];
        }
    }
    return fits;
}

/* log q(u, to | present state); -inf unless u lists each changed site once and has the right
 * length. */
static void pafs_auxiliary(void *self, sali_chains *chains, const void *u, const int32_t *to,
                           double *log_q)
{
    pafs *p = self;
    int64_t V = chains->space->n_variables;
    int64_t length = (int64_t)p->path->length - *(const int32_t *)u;
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *from = chains->codes + c * V, *target = to + c * V;
        const sali_move_row *row = sali_move_now(&p->core.rows, c);
        int64_t last, *sites = p->core.sites;
        int64_t made = sali_sites_moved(chains->space, from, target, &last);
        const bool stuck = row->log_norm == -INFINITY; /* then u is 0 */
        log_q[c] = -INFINITY;
        if (sites_of(p, u, from, target, made, sites) && (made == 0) == stuck &&
            (stuck ? *(const int32_t *)u == 0 : made == length)) {
            log_q[c] = stuck ? 0 : path_log_q(p, chains, row, sites, made, from, target);
        }
    }
}

/* u with its sites in reversed order. */
static void pafs_back(const void *self, const sali_chains *chains, const int32_t *from,
                      const int32_t *to, const int32_t *u, int32_t *back)
{
    const pafs *p = self;
    int64_t last, made = sali_sites_moved(chains->space, from, to, &last);
    back[0] = u[0];
    for (int64_t k = 0; k < p->most; k++) {
        back[1 + k] = k < made ? u[made - k] : 0;
    }
}

static const sali_auxiliary auxiliary = {
    .size = pafs_size,
    .bound = pafs_bound,
    .log_q = pafs_auxiliary,
    .back = pafs_back,
};

/* ---- the descriptor */

/* Creates a shard's state, with room for the longest path. */
static sal_status pafs_create(const sali_chains *chains, const sali_sampler_settings *settings,
                              void *shared, void **self, sal_error *err)
{
    const sali_path_shared *s = shared;
    const sali_path_length *path = &s->path;
    int64_t S = chains->space->slots;
    sali_single_site_options options = sali_single_site_settings(chains, settings);
    options.hops = (int64_t)(path->adapted ? path->most : fmin(path->length, path->most));
    options.rule = &path_rule;
    options.couplings = s->common.couplings;
    options.paths = true;
    pafs *p = SALI_OBJECT(pafs);
    if (p) {
        p->path = path;
        p->most = options.hops;
        p->one_slot_each = true;
        for (int64_t v = 0; v < chains->space->n_variables; v++) {
            const sali_variable *variable = &chains->space->variables[v];
            p->one_slot_each &= variable->states == 1 || sali_is_two_level(variable);
        }
        p->left.log_weight = sali_object_array(p, S, chains->element);
        p->left.weight = sali_object_array(p, S, chains->element);
        p->left.partial = SALI_OBJECT_ARRAY(p, double, S / SALI_MOVE_BLOCK + 1);
    }
    return sali_single_site_open((sali_single_site *)p, chains, &options, self, err);
}

const sali_sampler sali_sampler_pafs = {
    .name = "pafs",
    .doc = "fast path auxiliary: L sites without replacement by one gradient",
    .source = "Sun, Dai, Xia & Ramamurthy 2022",
    .needs_gradient = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED,
    .settings = sali_path_settings,
    .engine =
        &(const sal_sampler_engine){
            .local = true,
            .window = true,
            .variants = variants,
            .share = sali_path_share,
            SALI_SHARED_FUNCTIONS,
            .create = pafs_create,
            .destroy = sali_object_free,
            .refresh = sali_single_site_refresh,
            .follows = sali_single_site_follows,
            .step = sali_single_site_step,
            .log_q = sali_single_site_log_q,
            .auxiliary = &auxiliary,
        },
};
