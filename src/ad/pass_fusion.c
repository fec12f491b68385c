/* SPDX-License-Identifier: MIT */
#include "ad/fusion.h"

#include "ad/program.h"
#include "core/alloc.h"
#include "core/error.h"

/* Bytes of a node's rows in one tile: several nodes' fit the nearest cache. */
#define TILE_BYTES 8192

/* Whether node i may run with its neighbours, a few chains at a time: its value and inputs are not
 * pixel-major, and its op costs no more for few chains at a time. */
static bool fits_a_run(const sali_program *program, int32_t i)
{
    const sali_node *node = &program->nodes[i];
    bool by_chain = !node->pixel_major;
    for (int32_t k = 0; k < node->n_in; k++) {
        by_chain &= !program->nodes[node->in[k]].pixel_major;
    }
    const sali_op *op = program->steps[i].op;
    return by_chain && (op->by_rows || op->layout == SALI_LAYOUT_SAME);
}

/* Number of chains for which the widest row of node i and its inputs takes TILE_BYTES; at least
 * 1. */
static int64_t tile_of(const sali_program *program, int32_t i)
{
    int64_t widest = program->steps[i].size;
    for (int32_t k = 0; k < program->nodes[i].n_in; k++) {
        int64_t size = program->steps[program->nodes[i].in[k]].size;
        widest = size > widest ? size : widest;
    }
    int64_t tile = TILE_BYTES / (widest * (int64_t)sali_dtype_size(program->dtype));
    return tile < 1 ? 1 : tile;
}

/* Divide the calls into runs: neighbours that fit a run share one, with the smallest of their
 * tiles; every other call is a run by itself. A run of one call gets all chains in one tile. */
static void make_runs(const sali_program *program, sali_fusion *fusion)
{
    bool open = false; /* whether the last run can take another call */
    int32_t n_calls = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        fusion->run[i] = -1;
        if (!sali_is_called(program, i)) {
            continue;
        }
        bool fits = (program->passes & SAL_PASS_FUSION) && fits_a_run(program, i);
        int64_t tile = fits ? tile_of(program, i) : INT64_MAX;
        if (!open || !fits) {
            fusion->runs[fusion->n_runs++] = (sali_run){ n_calls, n_calls, tile };
        }
        open = fits;
        fusion->run[i] = fusion->n_runs - 1;
        sali_run *run = &fusion->runs[fusion->n_runs - 1];
        run->end = ++n_calls;
        run->tile = tile < run->tile ? tile : run->tile;
    }
    for (int32_t r = 0; r < fusion->n_runs; r++) {
        if (fusion->runs[r].end == fusion->runs[r].begin + 1) {
            fusion->runs[r].tile = INT64_MAX;
        }
    }
}

/* Set fusion->local: true for nodes that a run computes and no call outside of this run reads. The
 * root of f is never local. */
static void find_local(const sali_program *program, sali_fusion *fusion)
{
    for (int32_t i = 0; i < program->n_nodes; i++) {
        fusion->local[i] = fusion->run[i] >= 0;
    }
    for (int32_t i = 0; i < program->n_nodes; i++) {
        for (int32_t k = 0; fusion->run[i] >= 0 && k < program->nodes[i].n_in; k++) {
            int32_t read = program->steps[program->nodes[i].in[k]].storage;
            fusion->local[read] &= fusion->run[read] == fusion->run[i];
        }
    }
    fusion->local[program->steps[program->root].storage] = false;
}

sal_status sali_fusion_create(const sali_program *program, sali_fusion *fusion, sal_error *err)
{
    *fusion = (sali_fusion){
        .runs = SALI_NEW_ARRAY(sali_run, program->n_nodes),
        .run = SALI_NEW_ARRAY(int32_t, program->n_nodes),
        .local = SALI_NEW_ARRAY(bool, program->n_nodes),
    };
    if (!fusion->runs || !fusion->run || !fusion->local) {
        return sali_fail_memory(err);
    }
    make_runs(program, fusion);
    find_local(program, fusion);
    return SAL_OK;
}

void sali_fusion_clear(sali_fusion *fusion)
{
    sali_free(fusion->runs);
    sali_free(fusion->run);
    sali_free(fusion->local);
}
