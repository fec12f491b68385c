/* SPDX-License-Identifier: MIT */
#include "samplers/local/pairwise_moves.h"

#include <math.h>

#include "core/object.h"
#include "core/vector/fetch.h"
#include "core/vector/vmath.h"
#include "samplers/kernels.h"
#include "samplers/shared.h"

/* The largest |log t|: weights and their sums then are well within the range of double. */
#define MOST_LOG_T 300.0

sal_status sali_pairwise_moves_open(void *object, const sali_chains *chains,
                                    const sali_balance *balance, sali_pairwise_moves **out,
                                    sal_error *err)
{
    const int64_t V = chains->space->n_variables;
    sali_couplings *couplings = NULL;
    sal_status status =
        sali_own_couplings(object, chains->model, SALI_BIT_COUPLINGS, &couplings, err);
    sali_pairwise_moves *m = couplings ? sali_object_array(object, 1, sizeof *m) : NULL;
    *out = m;
    if (!m) {
        return status;
    }
    m->model = chains->model;
    m->balance = *balance;
    m->couplings = couplings;
    m->tree = sali_sum_tree_shape(V);
    m->nodes = SALI_OBJECT_ARRAY(object, double, chains->n * m->tree.size);
    m->rise = SALI_OBJECT_ARRAY(object, double, chains->n *V);
    m->site = SALI_OBJECT_ARRAY(object, int32_t, V);
    m->leaf = SALI_OBJECT_ARRAY(object, int32_t, V);
    m->new_rise = SALI_OBJECT_ARRAY(object, double, V);
    m->old_weight = SALI_OBJECT_ARRAY(object, double, V);
    m->weight = SALI_OBJECT_ARRAY(object, double, V);
    m->log_t = sali_object_array(object, V, chains->element);
    m->log_g = sali_object_array(object, V, chains->element);
    return SAL_OK;
}

/* ---- weights */

/* m->weight = g(t) of k flips, from m->log_t. */
static void weigh_flips(const sali_pairwise_moves *m, int64_t k)
{
    sal_dtype dtype = m->model->dtype;
    m->balance.log_g(m->balance.context, k, m->log_t, m->log_g);
    for (int64_t j = 0; j < k; j++) {
        m->weight[j] = sali_load(dtype, m->log_g, j);
    }
    sali_vexp_f64(k, m->weight, m->weight);
}

void sali_pairwise_moves_rebuild(sali_pairwise_moves *m, sali_chains *chains, int64_t c)
{
    int64_t V = m->pairs->n;
    const int32_t *codes = chains->codes + c * V;
    double *rise = m->rise + c * V, *nodes = m->nodes + c * m->tree.size;
    for (int64_t v = 0; v < V; v++) {
        rise[v] = sali_couplings_rise(m->pairs, codes, v);
        double sign = codes[v] ? -chains->beta[c] : chains->beta[c];
        sali_store(m->model->dtype, m->log_t, v, sign * rise[v]);
    }
    weigh_flips(m, V);
    double sum = m->pairs->constant;
    for (int64_t v = 0; v < V; v++) { /* a coupling is in the rises of both its variables */
        sum += codes[v] ? (m->pairs->linear[v] + rise[v]) / 2 : 0;
    }
    chains->f[c] = sum;
    /* A variable of one state cannot move, and is nobody's neighbour. */
    for (int64_t v = 0; v < V; v++) {
        nodes[v] = m->model->space->variables[v].states == 2 ? m->weight[v] : 0;
    }
    sali_sum_tree_build(&m->tree, nodes);
}

/* In large models 16 moves for each variable, so that rebuilding costs O(1) a move. */
int64_t sali_pairwise_moves_period(const sali_pairwise_moves *m, int64_t length)
{
    int64_t moves = m->pairs->n < 4096 ? 65536 : 16 * m->pairs->n;
    return moves > length ? moves / length : 1;
}

bool sali_pairwise_moves_refresh(sali_pairwise_moves *m, sali_chains *chains)
{
    m->pairs = sali_couplings_values(m->couplings);
    if (!m->pairs) {
        return false;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        if (!(chains->beta[c] * m->pairs->largest <= MOST_LOG_T)) {
            return false;
        }
    }
    for (int64_t c = 0; c < chains->n; c++) {
        sali_pairwise_moves_rebuild(m, chains, c);
    }
    return true;
}

/* ---- one move */

/* List variable i, as if flipped, and its neighbours in m->site, with their rises and weights after
 * the flip. Returns their number. */
static int64_t look_ahead(sali_pairwise_moves *m, const sali_chains *chains, int64_t c, int64_t i)
{
    const sali_coupling_values *p = m->pairs;
    const int32_t *codes = chains->codes + c * p->n;
    const double *rise = m->rise + c * p->n, *nodes = m->nodes + c * m->tree.size;
    const double beta = chains->beta[c], sign = codes[i] ? -1 : 1;
    int64_t k = 1, first = p->begin[i], n = p->begin[i + 1] - first;
    m->site[0] = (int32_t)i;
    m->new_rise[0] = rise[i];
    m->old_weight[0] = nodes[i];
    sali_store(m->model->dtype, m->log_t, 0, -beta * sign * rise[i]);
    for (int64_t e = first; e < first + n; e++, k++) {
        int32_t j = p->couplings[e].to;
        m->site[k] = j;
        m->new_rise[k] = rise[j] + sign * p->couplings[e].J;
        m->old_weight[k] = nodes[j];
        sali_store(m->model->dtype, m->log_t, k, (codes[j] ? -beta : beta) * m->new_rise[k]);
    }
    weigh_flips(m, k);
    return k;
}

void sali_pairwise_moves_put(sali_pairwise_moves *m, int64_t c, int64_t k, const int32_t *site,
                             const double *weight)
{
    for (int64_t j = 0; j < k; j++) {
        m->leaf[j] = site[j];
    }
    sali_sum_tree_set(&m->tree, m->nodes + c * m->tree.size, k, m->leaf, weight);
}

sali_pairwise_move sali_pairwise_moves_try(sali_pairwise_moves *m, const sali_chains *chains,
                                           int64_t c, int64_t i)
{
    double *nodes = m->nodes + c * m->tree.size;
    double df = m->rise[c * m->pairs->n + i] * (chains->codes[c * m->pairs->n + i] ? -1 : 1);
    double there = nodes[i] / sali_sum_tree_total(&m->tree, nodes);
    int64_t k = look_ahead(m, chains, c, i);
    sali_pairwise_moves_put(m, c, k, m->site, m->weight);
    double back = nodes[i] / sali_sum_tree_total(&m->tree, nodes);
    return (sali_pairwise_move){ k, df, exp(chains->beta[c] * df) * (back / there) };
}

void sali_pairwise_moves_make(sali_pairwise_moves *m, sali_chains *chains, int64_t c,
                              sali_pairwise_move move)
{
    const int64_t V = m->pairs->n;
    int32_t *code = chains->codes + c * V + m->site[0];
    for (int64_t j = 1; j < move.changes; j++) {
        m->rise[c * V + m->site[j]] = m->new_rise[j];
    }
    *code = 1 - *code;
}

void sali_pairwise_moves_arrive(const sali_pairwise_moves *m, sali_chains *chains, int64_t c,
                                int64_t i)
{
    const sali_variable *v = sali_space_kind(m->model->space, i);
    void *x = sali_row(chains, chains->x, c, chains->space->width);
    sali_model_embed_one(m->model, i, chains->codes[c * m->pairs->n + i], x);
    chains->jump_sum[c] += v->kind == SAL_CATEGORICAL ? 2 : fabs(v->levels[1] - v->levels[0]);
}

/* ---- the proposal's probability */

/* log q of chain c's move to `to`; 0 for staying where nothing can move. */
static double log_q_of(const sali_pairwise_moves *m, const sali_chains *chains, int64_t c,
                       const int32_t *to)
{
    const int32_t *from = chains->codes + c * m->pairs->n;
    const double *nodes = m->nodes + c * m->tree.size;
    double total = sali_sum_tree_total(&m->tree, nodes);
    int64_t site = 0, moved = sali_sites_moved(chains->space, from, to, &site);
    if (moved == 1) {
        return log(nodes[site] / total);
    }
    return moved == 0 && total == 0 ? 0 : -INFINITY;
}

void sali_pairwise_moves_log_q(const sali_pairwise_moves *m, const sali_chains *chains,
                               const int32_t *to, double *log_q)
{
    for (int64_t c = 0; c < chains->n; c++) {
        log_q[c] = log_q_of(m, chains, c, to + c * m->pairs->n);
    }
}

/* ---- steps of one move
 *
 * The chains of a group make a step together: all propose, then all decide. The data that many
 * variables need are in no nearby cache: between proposing and deciding they are prefetched for all
 * chains at once, so that the chains wait for memory together. */
enum { GROUP = SALI_SUM_TREE_PICKS };

/* The number of variables from which on prefetching pays. */
enum { FAR = 2048 };

/* For each chain of a group: the variable to flip (-1: nothing can move), and the uniform that
 * decides. */
typedef struct proposals {
    int64_t i[GROUP];
    double u[GROUP];
} proposals;

/* Two uniforms, u and v, for each of the chains first .. first + count - 1: in one call if the
 * chains have made the same number of steps. */
static void draw_pairs(const sali_chains *chains, int64_t first, int64_t count, double *u,
                       double *v)
{
    const uint64_t *step = chains->step + first;
    bool together = true;
    for (int64_t c = 1; c < count; c++) {
        together &= step[c] == step[0];
    }
    for (int64_t c = 0, n = together ? count : 1; c < count; c += n) {
        sali_stream stream = sali_chains_stream(chains, first + c, SALI_RNG_PROPOSAL);
        sali_rng_uniform_pairs(&stream, n, chains->id + first + c, u + c, v + c);
    }
}

static void propose_flips(const sali_pairwise_moves *m, const sali_chains *chains, int64_t first,
                          int64_t count, proposals *made)
{
    double u[GROUP];
    draw_pairs(chains, first, count, u, made->u);
    sali_sum_tree_pick_each(&m->tree, count, m->nodes + first * m->tree.size, u, made->i);
}

/* Flip variable i of chain c, or reject, by the uniform u; i < 0: stay. */
static void decide_flip(sali_pairwise_moves *m, sali_chains *chains, int64_t c, int64_t i, double u)
{
    chains->step[c]++;
    if (i < 0) { /* the proposal is to stay */
        chains->accepted_sum[c] += 1;
        chains->acceptance_sum[c] += 1;
        return;
    }
    sali_pairwise_move move = sali_pairwise_moves_try(m, chains, c, i);
    if (sali_chains_accept(chains, c, move.ratio, u)) {
        sali_pairwise_moves_make(m, chains, c, move);
        sali_pairwise_moves_arrive(m, chains, c, i);
        chains->f[c] += move.df;
    } else {
        sali_pairwise_moves_put(m, c, move.changes, m->site, m->old_weight);
    }
}

/* ---- many steps */

/* Prefetch kinds and couplings of the variables i [count] that may be flipped. */
static void fetch_rows(const sali_pairwise_moves *m, int64_t count, const int64_t *i)
{
    for (int64_t c = 0; c < count; c++) {
        if (i[c] >= 0) {
            sali_fetch(&m->pairs->begin[i[c]]);
            sali_fetch(sali_space_kind(m->model->space, i[c]));
        }
    }
    for (int64_t c = 0; c < count; c++) {
        if (i[c] >= 0) {
            sali_fetch(&m->pairs->couplings[m->pairs->begin[i[c]]]);
        }
    }
}

/* Prefetch what a flip of variable i reads and writes of chain c. */
static void fetch_neighbours(const sali_pairwise_moves *m, const sali_chains *chains, int64_t c,
                             int64_t i)
{
    const sali_coupling_values *p = m->pairs;
    const int64_t V = p->n;
    sali_fetch(sali_row(chains, chains->x, c * chains->space->width + i, 1));
    for (int64_t e = p->begin[i]; e < p->begin[i + 1]; e++) {
        int64_t j = p->couplings[e].to;
        sali_fetch(&m->rise[c * V + j]);
        sali_fetch(&chains->codes[c * V + j]);
        sali_sum_tree_fetch(&m->tree, m->nodes + c * m->tree.size, j);
    }
}

/* Prefetch what the proposed flips i [count] of chains first .. first + count - 1 read and write.
 */
static void prefetch_flips(const sali_pairwise_moves *m, const sali_chains *chains, int64_t first,
                           int64_t count, const int64_t *i)
{
    fetch_rows(m, count, i);
    for (int64_t c = 0; c < count; c++) {
        if (i[c] >= 0) {
            fetch_neighbours(m, chains, first + c, i[c]);
        }
    }
}

/* One step of the chains first .. first + count - 1; count is at most GROUP. */
static void step_group(sali_pairwise_moves *m, sali_chains *chains, int64_t first, int64_t count)
{
    const int64_t period = sali_pairwise_moves_period(m, 1);
    proposals made;
    for (int64_t c = 0; c < count; c++) {
        sali_pairwise_moves_renew(m, chains, first + c, period);
    }
    propose_flips(m, chains, first, count, &made);
    if (m->pairs->n >= FAR) {
        prefetch_flips(m, chains, first, count, made.i);
    }
    for (int64_t c = 0; c < count; c++) {
        decide_flip(m, chains, first + c, made.i[c], made.u[c]);
    }
}

void sali_pairwise_moves_steps(sali_pairwise_moves *m, sali_chains *chains, int64_t n)
{
    for (int64_t first = 0; first < chains->n; first += GROUP) {
        int64_t left = chains->n - first;
        for (int64_t k = 0; k < n; k++) {
            step_group(m, chains, first, left < GROUP ? left : GROUP);
        }
    }
}
