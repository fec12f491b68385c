/* SPDX-License-Identifier: MIT */
/* What is kept of every draw. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "run/run.h"

/* A categorical variable of so many states is hardly ever at that of the reference state, and its
 * distance to it hardly ever changes: the distance is to a random half of its states instead. */
#define MANY_STATES 32

static uint32_t half_of(const sal_run *run, int64_t v, int32_t code)
{
    const sali_stream stream = { run->options.seed, (uint64_t)code, (uint32_t)v,
                                 SALI_RNG_STATISTIC };
    return sali_rng_below(&stream, 0, 2);
}

/* L1 distance of chain c to the reference state, in the embedding. */
static double distance(const sal_run *run, const sali_run_shard *shard, int64_t c)
{
    const sal_space *space = shard->chains->space;
    const int32_t *codes = shard->chains->codes + c * space->n_variables;
    const int32_t *reference = shard->reference;
    double sum = sali_distance(space, codes, reference);
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        bool many = s->kind == SAL_CATEGORICAL && s->states > MANY_STATES;
        for (int64_t v = s->first; many && v < s->first + s->count; v++) {
            bool near = half_of(run, v, codes[v]) == half_of(run, v, reference[v]);
            sum -= near && codes[v] != reference[v] ? 2 : 0;
        }
    }
    return sum;
}

/* The bin of a count without a cap: codes past the last one belong to it. */
static int32_t bin_of(int32_t code)
{
    return code < SAL_COUNT_LEVELS - 1 ? code : SAL_COUNT_LEVELS - 1;
}

/* Add the counts without a cap among the codes, the n-th draw, to their moments [V]. */
static void add_moments(const sal_space *space, const int32_t *codes, int64_t n,
                        sali_running *moments)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (space->variables[v].states == 0) {
            sali_running_add(&moments[v], n, (double)codes[v]);
        }
    }
}

static void count(const sal_space *space, const int32_t *codes, uint32_t *counts)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int32_t *code = codes + s->first;
        uint32_t *to = counts + s->bin;
        for (int64_t i = 0; i < s->count; i++) {
            if (sali_two_level(s)) {
                to[i] += (uint32_t)code[i];
            } else if (s->states == 0) {
                to[i * SAL_COUNT_LEVELS + bin_of(code[i])]++;
            } else {
                to[i * s->states + code[i]]++;
            }
        }
    }
}

/* The draw of chain c in the whole space, one or four bytes a variable. */
static void keep(sal_run *run, const int32_t *full, int64_t row)
{
    int64_t V = run->base->space->n_variables;
    if (run->draw_bytes == 4) {
        memcpy((int32_t *)run->draws + row * V, full, (size_t)V * sizeof *full);
        return;
    }
    uint8_t *to = (uint8_t *)run->draws + row * V;
    for (int64_t v = 0; v < V; v++) {
        to[v] = (uint8_t)full[v];
    }
}

void sali_record_draw(sal_run *run, sali_run_shard *shard, int64_t draw)
{
    const sali_chains *chains = shard->chains;
    const sal_space *space = chains->space;
    int64_t half = draw < run->options.draws / 2 ? 0 : 1;
    for (int64_t g = 0; g < shard->groups; g++) {
        int64_t row = shard->first + g - run->row0, at = row * run->options.draws + draw;
        int64_t c = g * run->ladder.n;
        const int32_t *codes = chains->codes + c * space->n_variables;
        run->log_prob[at] = chains->f[c];
        run->distance[at] = distance(run, shard, c);
        count(space, codes, run->counts + (2 * row + half) * space->bins);
        if (run->moments) {
            add_moments(space, codes, draw + 1 - half * (run->options.draws / 2),
                        run->moments + (2 * row + half) * space->n_variables);
        }
        sali_statistic_note(run, shard, codes, row, draw);
        if (run->draws) {
            sali_run_expand(run, 1, codes, shard->full);
            keep(run, shard->full, at);
        }
    }
}
