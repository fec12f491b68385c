/* What is kept of every draw. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "samplers/run.h"

/* L1 distance of chain c to the reference state, in the embedding. */
static double distance(const sali_chains *chains, const int32_t *reference, int64_t c)
{
    const int32_t *codes = chains->codes + c * chains->space->n_variables;
    return sali_distance(chains->space, codes, reference);
}

static void count(const sal_space *space, const int32_t *codes, uint32_t *counts)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int32_t *code = codes + s->first;
        uint32_t *to = counts + s->slot;
        for (int64_t i = 0; i < s->count; i++) {
            if (sali_two_level(s)) {
                to[i] += (uint32_t)code[i];
            } else {
                to[i * s->states + code[i]]++;
            }
        }
    }
}

/* The draw of chain c in the whole space, one or four bytes a variable. */
static void keep(sal_run *run, const sali_run_shard *shard, int64_t c, int64_t draw)
{
    const sali_chains *chains = shard->chains;
    int64_t V = run->base->space->n_variables;
    int64_t row = (shard->first + c) * run->options.draws + draw;
    const int32_t *codes = chains->codes + c * chains->space->n_variables;
    if (run->draw_bytes == 4) {
        sali_run_expand(run, 1, codes, (int32_t *)run->draws + row * V);
        return;
    }
    uint8_t *to = (uint8_t *)run->draws + row * V;
    sali_run_expand(run, 1, codes, shard->full);
    for (int64_t v = 0; v < V; v++) {
        to[v] = (uint8_t)shard->full[v];
    }
}

void sali_record_draw(sal_run *run, sali_run_shard *shard, int64_t draw)
{
    const sali_chains *chains = shard->chains;
    const sal_space *space = chains->space;
    int64_t half = draw < run->options.draws / 2 ? 0 : 1;
    for (int64_t c = 0; c < chains->n; c++) {
        int64_t chain = shard->first + c, at = chain * run->options.draws + draw;
        run->log_prob[at] = chains->f[c];
        run->distance[at] = distance(chains, shard->reference, c);
        count(space, chains->codes + c * space->n_variables,
              run->counts + (2 * chain + half) * space->slots);
        if (run->draws) {
            keep(run, shard, c, draw);
        }
    }
}
