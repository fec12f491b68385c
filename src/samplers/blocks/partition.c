/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/partition.h"

#include "core/alloc.h"
#include "core/error.h"
#include "models/structure.h"

static bool allocate_blocks(const sal_space *space, int64_t n, sali_blocks *blocks)
{
    *blocks = (sali_blocks){ .n = n,
                             .begin = SALI_NEW_ARRAY(int64_t, n + 1),
                             .sites = SALI_NEW_ARRAY(int64_t, space->n_variables) };
    return blocks->begin && blocks->sites;
}

void sali_blocks_free(void *blocks)
{
    sali_blocks *b = blocks;
    sali_free(b->begin);
    sali_free(b->sites);
    *b = (sali_blocks){ 0 };
}

sal_status sali_blocks_consecutive(const sal_space *space, int64_t size, sali_blocks *blocks,
                                   sal_error *err)
{
    int64_t V = space->n_variables;
    if (!allocate_blocks(space, (V - 1) / size + 1, blocks)) {
        sali_blocks_free(blocks);
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < V; v++) {
        blocks->sites[v] = v;
        blocks->begin[v / size + 1] = v + 1;
    }
    return SAL_OK;
}

/* Variables with more states come first in `sites`, so that no block of this size has more states
 * than the first. */
sal_status sali_blocks_random(const sal_space *space, int64_t size, sali_blocks *blocks,
                              sal_error *err)
{
    sal_status status = sali_blocks_consecutive(space, size, blocks, err);
    int64_t at = 0;
    for (int32_t states = space->max_states, fewer; status == SAL_OK && at < space->n_variables;
         states = fewer) {
        fewer = 0; /* the next number of states that variables have */
        for (int64_t v = 0; v < space->n_variables; v++) {
            const int32_t has = space->variables[v].states;
            if (has == states) {
                blocks->sites[at++] = v;
            } else if (has < states && has > fewer) {
                fewer = has;
            }
        }
    }
    blocks->sweep = SALI_SWEEP_REGROUPED;
    return status;
}

sal_status sali_blocks_of_model(const sal_model *model, sali_blocks *blocks, sal_error *err)
{
    const sali_structure *structure = model->structure;
    int64_t V = model->space->n_variables, n = structure->groups(model);
    int64_t *next = SALI_NEW_ARRAY(int64_t, n);
    if (!allocate_blocks(model->space, n, blocks) || !next) {
        sali_blocks_free(blocks);
        sali_free(next);
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < V; v++) {
        blocks->begin[structure->group_of(model, v) + 1]++;
    }
    for (int64_t g = 0; g < n; g++) {
        next[g] = blocks->begin[g];
        blocks->begin[g + 1] += blocks->begin[g];
    }
    for (int64_t v = 0; v < V; v++) {
        blocks->sites[next[structure->group_of(model, v)]++] = v;
    }
    sali_free(next);
    return SAL_OK;
}
