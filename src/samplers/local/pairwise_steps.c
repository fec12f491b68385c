/* SPDX-License-Identifier: MIT */
/* Steps of one move. */
#include "samplers/kernels.h"
#include "samplers/local/pairwise_moves.h"

/* Some chains take turns, so that a processor can work on several at a time. What many variables
 * need does not stay in the nearest caches: it is on its way for one chain while others work. */
enum { GROUP = SALI_SUM_TREE_PICKS };

/* The variable that a chain is to flip (-1: nothing can move), and the uniform that decides. */
typedef struct proposal {
    int64_t i;
    double u;
} proposal;

/* Of the chains first .. first + count - 1. */
static void propose(const sali_pairwise_moves *m, const sali_chains *chains, int64_t first,
                    int64_t count, proposal *made)
{
    double u[GROUP];
    int64_t picked[GROUP];
    for (int64_t c = 0; c < count; c++) {
        sali_stream stream = sali_chains_stream(chains, first + c, SALI_RNG_PROPOSAL);
        double two[2];
        sali_rng_uniform_f64(&stream, 2, two);
        u[c] = two[0];
        made[c].u = two[1];
    }
    sali_sum_tree_pick_each(&m->tree, count, m->nodes + first * m->tree.size, u, picked);
    for (int64_t c = 0; c < count; c++) {
        made[c].i = picked[c];
    }
}

static void decide(sali_pairwise_moves *m, sali_chains *chains, int64_t c, proposal made)
{
    chains->step[c]++;
    if (made.i < 0) { /* the proposal is to stay */
        chains->accepted_sum[c] += 1;
        chains->acceptance_sum[c] += 1;
        return;
    }
    sali_pairwise_move move = sali_pairwise_moves_try(m, chains, c, made.i);
    chains->acceptance_sum[c] += move.ratio < 1 ? move.ratio : 1;
    if (move.ratio >= 1 || made.u < move.ratio || chains->take_all) {
        sali_pairwise_moves_make(m, chains, c, move);
        sali_pairwise_moves_arrive(m, chains, c, made.i);
        chains->f[c] += move.df;
        chains->accepted_sum[c] += 1;
    } else {
        sali_pairwise_moves_put(m, c, move.changes, m->site, m->old_weight);
    }
}

/* ---- many steps */

static void fetch_rows(const sali_pairwise_moves *m, const proposal *made, int64_t count)
{
    for (int64_t c = 0; c < count; c++) {
        int64_t i = made[c].i < 0 ? 0 : made[c].i;
        __builtin_prefetch(&m->pairs->begin[i]);
        __builtin_prefetch(sali_space_kind(m->model->space, i));
    }
    for (int64_t c = 0; c < count; c++) {
        int64_t first = m->pairs->begin[made[c].i < 0 ? 0 : made[c].i];
        __builtin_prefetch(&m->pairs->couplings[first]);
    }
}

static void fetch_neighbours(const sali_pairwise_moves *m, const sali_chains *chains, int64_t c,
                             int64_t i)
{
    const sali_coupling_values *p = m->pairs;
    int64_t V = p->n, last = i < 0 ? 0 : p->begin[i + 1];
    __builtin_prefetch(sali_row(chains, chains->x, c * chains->space->width + (i < 0 ? 0 : i), 1));
    for (int64_t e = i < 0 ? 0 : p->begin[i]; e < last; e++) {
        int64_t j = p->couplings[e].to;
        __builtin_prefetch(&m->rise[c * V + j]);
        __builtin_prefetch(&chains->codes[c * V + j]);
        sali_sum_tree_fetch(&m->tree, m->nodes + c * m->tree.size, j);
    }
}

static void step_group(sali_pairwise_moves *m, sali_chains *chains, int64_t first, int64_t count)
{
    const int64_t period = sali_pairwise_moves_period(m, 1);
    proposal made[GROUP];
    for (int64_t c = 0; c < count; c++) {
        if (sali_pairwise_moves_due(chains->step[first + c], period)) {
            sali_pairwise_moves_rebuild(m, chains, first + c);
        }
    }
    propose(m, chains, first, count, made);
    fetch_rows(m, made, count);
    for (int64_t c = 0; c < count; c++) {
        fetch_neighbours(m, chains, first + c, made[c].i);
    }
    for (int64_t c = 0; c < count; c++) {
        decide(m, chains, first + c, made[c]);
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
