/* SPDX-License-Identifier: MIT */
#include "samplers/slice/pairwise_exchange.h"

#include <math.h>

#include "core/object.h"
#include "core/vector/vmath.h"
#include "samplers/kernels.h"
#include "samplers/shared.h"
#include "samplers/sum_tree.h"

/* The largest |beta times a difference|: weights and products of sums stay in double's range. */
#define MOST_LOG_T 300.0

struct sali_pairwise_exchange {
    const sal_model *model;
    sali_couplings *couplings;
    const sali_coupling_values *pairs; /* as of the last refresh */
    sali_sum_tree tree;
    double
        *nodes[2]; /* [chains x tree.size] weights of variables at code 0 (going up), at code 1 */
    double *rise;  /* [chains x V] f(b_i = 1) - f(b_i = 0) */
    /* Of the exchange that is tried: the two variables and their neighbours, perhaps twice, [2V].
     */
    int64_t changes;
    int32_t *site, *leaf;
    double *old_rise, *old_weight[2], *weight[2];
};

sal_status sali_pairwise_exchange_open(void *object, const sali_chains *chains,
                                       sali_pairwise_exchange **out, sal_error *err)
{
    const int64_t V = chains->space->n_variables;
    sali_couplings *couplings = NULL;
    *out = NULL;
    if (chains->space->n_blocks != 1 || !sali_two_level(&chains->space->stretches[0])) {
        return SAL_OK;
    }
    sal_status status =
        sali_own_couplings(object, chains->model, SALI_BIT_COUPLINGS, &couplings, err);
    sali_pairwise_exchange *e = couplings ? sali_object_array(object, 1, sizeof *e) : NULL;
    if (!e) {
        return status;
    }
    e->model = chains->model;
    e->couplings = couplings;
    e->tree = sali_sum_tree_shape(V);
    e->rise = SALI_OBJECT_ARRAY(object, double, chains->n *V);
    e->site = SALI_OBJECT_ARRAY(object, int32_t, 2 * V);
    e->leaf = SALI_OBJECT_ARRAY(object, int32_t, 2 * V);
    e->old_rise = SALI_OBJECT_ARRAY(object, double, 2 * V);
    for (int way = 0; way < 2; way++) {
        e->nodes[way] = SALI_OBJECT_ARRAY(object, double, chains->n * e->tree.size);
        e->old_weight[way] = SALI_OBJECT_ARRAY(object, double, 2 * V);
        e->weight[way] = SALI_OBJECT_ARRAY(object, double, 2 * V);
    }
    *out = e;
    return SAL_OK;
}

static double *nodes_of(const sali_pairwise_exchange *e, int64_t c, int way)
{
    return e->nodes[way] + c * e->tree.size;
}

/* Recompute rises, weights and f of chain c from its codes. */
static void rebuild(sali_pairwise_exchange *e, sali_chains *chains, int64_t c)
{
    const int64_t V = e->pairs->n;
    const int32_t *codes = chains->codes + c * V;
    double *rise = e->rise + c * V, *up = nodes_of(e, c, 0), *down = nodes_of(e, c, 1);
    double sum = e->pairs->constant;
    for (int64_t v = 0; v < V; v++) {
        rise[v] = sali_couplings_rise(e->pairs, codes, v);
        sum += codes[v] ? (e->pairs->linear[v] + rise[v]) / 2 : 0;
        up[v] = chains->beta[c] * rise[v] / 2;
        down[v] = -up[v];
    }
    chains->f[c] = sum;
    sali_vexp_f64(V, up, up);
    sali_vexp_f64(V, down, down);
    for (int64_t v = 0; v < V; v++) {
        *(codes[v] ? &up[v] : &down[v]) = 0;
    }
    sali_sum_tree_build(&e->tree, up);
    sali_sum_tree_build(&e->tree, down);
}

bool sali_pairwise_exchange_refresh(sali_pairwise_exchange *e, sali_chains *chains)
{
    e->pairs = sali_couplings_values(e->couplings);
    for (int64_t c = 0; e->pairs && c < chains->n; c++) {
        if (!(chains->beta[c] * e->pairs->largest <= MOST_LOG_T)) {
            e->pairs = NULL;
        }
    }
    for (int64_t c = 0; e->pairs && c < chains->n; c++) {
        rebuild(e, chains, c);
    }
    return e->pairs;
}

/* Flip variable i of chain c: its code, and the rises of its neighbours; lists it and them. */
static void flip(sali_pairwise_exchange *e, sali_chains *chains, int64_t c, int64_t i)
{
    const sali_coupling_values *p = e->pairs;
    int32_t *code = chains->codes + c * p->n + i;
    double *rise = e->rise + c * p->n;
    const double sign = *code ? -1 : 1;
    *code = 1 - *code;
    e->old_rise[e->changes] = rise[i];
    e->site[e->changes++] = (int32_t)i;
    for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) {
        const int32_t j = p->couplings[k].to;
        e->old_rise[e->changes] = rise[j];
        e->site[e->changes++] = j;
        rise[j] += sign * p->couplings[k].J;
    }
}

/* Set the weights of the listed variables in both trees. */
static void put(sali_pairwise_exchange *e, int64_t c, double *const weight[2])
{
    for (int way = 0; way < 2; way++) {
        for (int64_t k = 0; k < e->changes; k++) {
            e->leaf[k] = e->site[k];
        }
        sali_sum_tree_set(&e->tree, nodes_of(e, c, way), e->changes, e->leaf, weight[way]);
    }
}

/* The weights of the listed variables at their present codes and rises, into the trees. */
static void weigh(sali_pairwise_exchange *e, const sali_chains *chains, int64_t c)
{
    const int32_t *codes = chains->codes + c * e->pairs->n;
    const double *rise = e->rise + c * e->pairs->n;
    for (int64_t k = 0; k < e->changes; k++) {
        e->old_weight[0][k] = nodes_of(e, c, 0)[e->site[k]];
        e->old_weight[1][k] = nodes_of(e, c, 1)[e->site[k]];
        e->weight[0][k] = chains->beta[c] * rise[e->site[k]] / 2;
        e->weight[1][k] = -e->weight[0][k];
    }
    sali_vexp_f64(e->changes, e->weight[0], e->weight[0]);
    sali_vexp_f64(e->changes, e->weight[1], e->weight[1]);
    for (int64_t k = 0; k < e->changes; k++) {
        e->weight[codes[e->site[k]] ? 0 : 1][k] = 0;
    }
    put(e, c, e->weight);
}

/* q of chain c's exchange of i, going up, and j, going down. */
static double chance(const sali_pairwise_exchange *e, int64_t c, int64_t i, int64_t j)
{
    const double *up = nodes_of(e, c, 0), *down = nodes_of(e, c, 1);
    return up[i] / sali_sum_tree_total(&e->tree, up) * down[j] /
           sali_sum_tree_total(&e->tree, down);
}

/* Exchange i and j of chain c, or take it back. */
static void try_exchange(sali_pairwise_exchange *e, sali_chains *chains, int64_t c, int64_t i,
                         int64_t j, double u)
{
    const int64_t V = e->pairs->n;
    int32_t *codes = chains->codes + c * V;
    double *rise = e->rise + c * V, df = rise[i];
    const double there = chance(e, c, i, j);
    e->changes = 0;
    flip(e, chains, c, i);
    df -= rise[j];
    flip(e, chains, c, j);
    weigh(e, chains, c);
    const double back = chance(e, c, j, i);
    if (sali_chains_accept(chains, c, exp(chains->beta[c] * df) * (back / there), u)) {
        void *x = sali_row(chains, chains->x, c, chains->space->width);
        const sali_variable *v = sali_space_kind(chains->space, i);
        sali_model_embed_one(chains->model, i, 1, x);
        sali_model_embed_one(chains->model, j, 0, x);
        chains->jump_sum[c] += 2 * (v->levels[1] - v->levels[0]);
        chains->f[c] += df;
        return;
    }
    codes[i] = 0;
    codes[j] = 1;
    for (int64_t k = e->changes; k-- > 0;) {
        rise[e->site[k]] = e->old_rise[k];
    }
    put(e, c, e->old_weight);
}

void sali_pairwise_exchange_step(sali_pairwise_exchange *e, sali_chains *chains)
{
    const uint64_t period = e->pairs->n < 4096 ? 65536 : 16 * (uint64_t)e->pairs->n;
    for (int64_t c = 0; c < chains->n; c++) {
        int64_t i, j;
        if (chains->step[c] > 0 && chains->step[c] % period == 0) {
            rebuild(e, chains, c);
        }
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        const double u[3] = { sali_rng_uniform_at(&stream, 0), sali_rng_uniform_at(&stream, 1),
                              sali_rng_uniform_at(&stream, 2) };
        sali_sum_tree_pick_each(&e->tree, 1, nodes_of(e, c, 0), &u[0], &i);
        sali_sum_tree_pick_each(&e->tree, 1, nodes_of(e, c, 1), &u[1], &j);
        if (i >= 0 && j >= 0) {
            try_exchange(e, chains, c, i, j, u[2]);
        } else { /* all variables have the same code */
            sali_chains_accept(chains, c, 1, u[2]);
        }
    }
    sali_chains_tick(chains);
}

void sali_pairwise_exchange_log_q(const sali_pairwise_exchange *e, const sali_chains *chains,
                                  const int32_t *to, double *log_q)
{
    const int64_t V = e->pairs->n;
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *codes = chains->codes + c * V, *target = to + c * V;
        const double up = sali_sum_tree_total(&e->tree, nodes_of(e, c, 0));
        const double down = sali_sum_tree_total(&e->tree, nodes_of(e, c, 1));
        int64_t i = -1, j = -1, moved = 0;
        for (int64_t v = 0; v < V; v++) {
            moved += codes[v] != target[v];
            i = codes[v] < target[v] ? v : i;
            j = codes[v] > target[v] ? v : j;
        }
        log_q[c] = moved == 2 && i >= 0 && j >= 0        ? log(chance(e, c, i, j))
                   : moved == 0 && !(up > 0 && down > 0) ? 0
                                                         : -INFINITY;
    }
}
