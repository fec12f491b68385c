/* SPDX-License-Identifier: MIT */
/* Steps of several moves. The acceptance ratio of a path is the product of its moves' ratios, in
 * which all sums of weights but the first and last cancel: it stays within range however long the
 * path is. */
#include <math.h>

#include "core/object.h"
#include "samplers/local/pairwise_moves.h"

/* Values before the path of the variables that it has touched, each listed once; `place` has the
 * index in this list of each variable that is listed. */
struct sali_pairwise_path {
    int64_t n;
    int32_t *place;        /* [V] */
    int32_t *site, *code;  /* [V] */
    double *rise, *weight; /* [V] */
};

/* Uniforms drawn at a time. */
enum { CHUNK = 64 };

void sali_pairwise_moves_take_paths(void *object, sali_pairwise_moves *m)
{
    const int64_t V = m->model->space->n_variables;
    sali_pairwise_path *p = m->path = sali_object_array(object, 1, sizeof *p);
    if (p) {
        p->place = SALI_OBJECT_ARRAY(object, int32_t, V);
        p->site = SALI_OBJECT_ARRAY(object, int32_t, V);
        p->code = SALI_OBJECT_ARRAY(object, int32_t, V);
        p->rise = SALI_OBJECT_ARRAY(object, double, V);
        p->weight = SALI_OBJECT_ARRAY(object, double, V);
    }
}

/* Before a tried move of chain c is made: store the values of the k variables that it changes,
 * unless the path has touched them already. */
static void store_values(const sali_pairwise_moves *m, const sali_chains *chains, int64_t c,
                         int64_t k)
{
    sali_pairwise_path *p = m->path;
    const int64_t V = m->pairs->n;
    for (int64_t j = 0; j < k; j++) {
        int32_t site = m->site[j], place = p->place[site];
        if (place < p->n && p->site[place] == site) {
            continue;
        }
        p->place[site] = (int32_t)p->n;
        p->site[p->n] = site;
        p->code[p->n] = chains->codes[c * V + site];
        p->rise[p->n] = m->rise[c * V + site];
        p->weight[p->n++] = m->old_weight[j];
    }
}

/* Restore codes, rises and weights of chain c before the path, bit by bit. */
static void take_back(sali_pairwise_moves *m, sali_chains *chains, int64_t c)
{
    const sali_pairwise_path *p = m->path;
    const int64_t V = m->pairs->n;
    for (int64_t k = 0; k < p->n; k++) {
        chains->codes[c * V + p->site[k]] = p->code[k];
        m->rise[c * V + p->site[k]] = p->rise[k];
    }
    sali_pairwise_moves_put(m, c, p->n, p->site, p->weight);
}

/* Accept the path of chain c: x and distances of the variables whose codes changed, and f. */
static void accept_path(sali_pairwise_moves *m, sali_chains *chains, int64_t c, double df)
{
    const sali_pairwise_path *p = m->path;
    const int64_t V = m->pairs->n;
    for (int64_t k = 0; k < p->n; k++) {
        if (chains->codes[c * V + p->site[k]] != p->code[k]) {
            sali_pairwise_moves_arrive(m, chains, c, p->site[k]);
        }
    }
    chains->f[c] += df;
}

/* Accept or take back the path of chain c; `whole` has the ratio and the change of f of all its
 * moves. */
static void decide_path(sali_pairwise_moves *m, sali_chains *chains, int64_t c,
                        sali_pairwise_move whole)
{
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_ACCEPT);
    if (sali_chains_accept(chains, c, whole.ratio, sali_rng_uniform_at(&stream, 0))) {
        accept_path(m, chains, c, whole.df);
    } else {
        take_back(m, chains, c);
    }
}

/* One step of chain c. Uniform number 0 of the step selects the path's length, the next ones its
 * moves. */
static void step_chain(sali_pairwise_moves *m, sali_chains *chains, int64_t c,
                       const sali_path_length *length)
{
    const int64_t most = (int64_t)length->length + 1;
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    sali_pairwise_move whole = { .ratio = 1 };
    double u[CHUNK];
    int64_t n = most;
    m->path->n = 0;
    for (int64_t k = 0; k < n; k++) {
        if (k % CHUNK == 0) {
            int64_t left = most - k;
            sali_rng_uniform_f64_from(&stream, (uint32_t)k, left < CHUNK ? left : CHUNK, u);
        }
        if (k == 0) {
            n = sali_path_length_draw(length, SALI_PATH_REVISITS, u[0]) + 1;
            continue;
        }
        int64_t i;
        sali_sum_tree_pick_each(&m->tree, 1, m->nodes + c * m->tree.size, &u[k % CHUNK], &i);
        if (i < 0) { /* nothing can move */
            break;
        }
        sali_pairwise_move move = sali_pairwise_moves_try(m, chains, c, i);
        store_values(m, chains, c, move.changes);
        sali_pairwise_moves_make(m, chains, c, move);
        whole.ratio *= move.ratio;
        whole.df += move.df;
    }
    decide_path(m, chains, c, whole);
    chains->step[c]++;
}

void sali_pairwise_moves_paths(sali_pairwise_moves *m, sali_chains *chains,
                               const sali_path_length *length, int64_t n)
{
    const int64_t period = sali_pairwise_moves_period(m, (int64_t)length->length);
    for (int64_t c = 0; c < chains->n; c++) {
        for (int64_t k = 0; k < n; k++) {
            sali_pairwise_moves_renew(m, chains, c, period);
            step_chain(m, chains, c, length);
        }
    }
}
