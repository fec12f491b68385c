/* SPDX-License-Identifier: MIT */
#include "models/exact/ancestral.h"

#include <math.h>

#include <saltus/program.h>
#include "core/error.h"
#include "core/rng.h"
#include "core/threads/shard.h"
#include "core/vector/clones.h"

/* Draws of a block; variables whose codes are handed out together. */
#define BLOCK 128
#define TILE 16
/* Most bytes of all shards' codes, unless there is one shard. */
#define MOST_SCRATCH (INT64_C(1) << 28)

/* ---- the network */

sal_status sali_ancestral_create(int64_t variables, int64_t nodes, int64_t given,
                                 int64_t thresholds, sali_ancestral *net, sal_error *err)
{
    *net = (sali_ancestral){ .variables = variables, .rows = variables };
    net->nodes = SALI_TAKE(&net->memory, sali_ancestral_node, nodes);
    net->given = SALI_TAKE(&net->memory, int32_t, given);
    net->strides = SALI_TAKE(&net->memory, int32_t, given);
    net->high = SALI_TAKE(&net->memory, uint32_t, thresholds);
    net->low = SALI_TAKE(&net->memory, uint32_t, thresholds);
    if (net->memory.refused) {
        sali_ancestral_free(net);
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

void sali_ancestral_free(sali_ancestral *net)
{
    sali_memory_free(&net->memory);
    *net = (sali_ancestral){ 0 };
}

void sali_ancestral_add(sali_ancestral *net, int32_t states, int32_t row, int32_t n_given,
                        const int32_t *given)
{
    int64_t size = states - 1;
    for (int32_t g = n_given - 1; g >= 0; g--) {
        net->given[net->n_given + g] = net->nodes[given[g]].row;
        net->strides[net->n_given + g] = (int32_t)size;
        size *= net->nodes[given[g]].states;
    }
    net->nodes[net->n++] =
        (sali_ancestral_node){ states, row, n_given, net->n_given, net->n_thresholds };
    net->n_given += n_given;
    net->rows = row < net->rows ? net->rows : (int64_t)row + 1;
    net->n_thresholds += size;
}

/* A threshold that no random number reaches. */
#define ALWAYS UINT64_MAX

void sali_ancestral_set(const sali_ancestral *net, int64_t node, int64_t at, const double *weights,
                        int64_t stride)
{
    const sali_ancestral_node *v = &net->nodes[node];
    int64_t first = v->table + at * (v->states - 1);
    double total = 0, sum = 0;
    for (int32_t k = 0; k < v->states; k++) {
        total += weights[k * stride];
    }
    for (int32_t k = 0; k < v->states - 1; k++) {
        sum += weights[k * stride];
        const double below = fmin(sum / total, 1 - 0x1p-53);
        const uint64_t threshold = sum < total ? (uint64_t)(below * 0x1p64) : ALWAYS;
        net->high[first + k] = (uint32_t)(threshold >> 32);
        net->low[first + k] = (uint32_t)threshold;
    }
}

/* ---- a block of draws */

typedef struct block {
    int32_t *codes;  /* [rows x BLOCK] */
    uint32_t *words; /* [4 x BLOCK] random words of four nodes */
    uint32_t *again; /* [4 x BLOCK] their low words */
    uint32_t chain[BLOCK];
    int32_t index[BLOCK]; /* of the first threshold of each draw */
} block;

/* index[j] += stride codes[j]. A function of its own, since compilers join these loops of several
 * nodes and then do not vectorise them. */
SALI_CLONES
static void add_given(int32_t stride, const int32_t *restrict codes, int32_t *restrict index)
{
    for (int j = 0; j < BLOCK; j++) {
        index[j] += stride * codes[j];
    }
}

/* Draw node *v by the high words of its thresholds: the code is the number of thresholds that are
 * not above the draw's word. Returns whether a word equals a high word, so that low words
 * decide. */
SALI_CLONES
static bool draw_node(const sali_ancestral *net, const sali_ancestral_node *v,
                      const uint32_t *restrict words, const int32_t *codes, int32_t *restrict index,
                      int32_t *restrict to)
{
    const uint32_t *restrict high = net->high + v->table;
    uint32_t tie = 0;
    for (int j = 0; j < BLOCK; j++) {
        index[j] = 0;
        to[j] = 0;
    }
    for (int32_t g = 0; g < v->n_given; g++) {
        add_given(net->strides[v->given + g], codes + (int64_t)net->given[v->given + g] * BLOCK,
                  index);
    }
    for (int32_t k = 0; k < v->states - 1; k++) {
#pragma omp simd reduction(| : tie)
        for (int j = 0; j < BLOCK; j++) {
            const uint32_t threshold = high[index[j] + k];
            to[j] += words[j] >= threshold;
            tie |= words[j] == threshold;
        }
    }
    return tie;
}

/* Draw node *v by high and low words. */
static void draw_node_again(const sali_ancestral *net, const sali_ancestral_node *v,
                            const uint32_t *words, const uint32_t *again, const int32_t *index,
                            int32_t *to)
{
    for (int j = 0; j < BLOCK; j++) {
        const uint64_t u = (uint64_t)words[j] << 32 | again[j];
        to[j] = 0;
        for (int32_t k = 0; k < v->states - 1; k++) {
            const int64_t at = v->table + index[j] + k;
            const uint64_t threshold = (uint64_t)net->high[at] << 32 | net->low[at];
            to[j] += u >= threshold && threshold != ALWAYS;
        }
    }
}

/* Copy the codes of the first n draws of the block to `to` [n x variables]. */
static void hand_out(const sali_ancestral *net, const block *b, int64_t n, int32_t *to)
{
    const int64_t V = net->variables;
    for (int64_t v = 0; v < V; v += TILE) {
        const int64_t tile = V - v < TILE ? V - v : TILE;
        for (int64_t j = 0; j < n; j++) {
            for (int64_t k = 0; k < tile; k++) {
                to[j * V + v + k] = b->codes[(v + k) * BLOCK + j];
            }
        }
    }
}

/* Draw n <= BLOCK states, from number `first` on, a multiple of BLOCK. */
static void draw_block(const sali_ancestral *net, uint64_t seed, int64_t first, int64_t n, block *b,
                       int32_t *to)
{
    for (int j = 0; j < BLOCK; j++) {
        b->chain[j] = (uint32_t)(first + j);
    }
    for (int64_t i = 0; i < net->n; i++) {
        const sali_ancestral_node *v = &net->nodes[i];
        const uint32_t *words = b->words + i % 4 * BLOCK;
        int32_t *codes = b->codes + (int64_t)v->row * BLOCK;
        const uint64_t lot = (uint64_t)i / 4; /* the block counter of a stream has 24 bits */
        sali_stream stream = { .seed = seed,
                               .step = (uint64_t)first >> 32 | lot >> 24 << 32,
                               .purpose = SALI_RNG_EXACT_DRAW };
        if (i % 4 == 0) {
            sali_rng_words_by_chain(&stream, lot & 0xffffff, BLOCK, b->chain, b->words);
        }
        if (draw_node(net, v, words, b->codes, b->index, codes)) {
            stream.step |= UINT64_C(1) << 63;
            sali_rng_words_by_chain(&stream, lot & 0xffffff, BLOCK, b->chain, b->again);
            draw_node_again(net, v, words, b->again + i % 4 * BLOCK, b->index, codes);
        }
    }
    hand_out(net, b, n, to);
}

/* ---- all blocks */

typedef struct work {
    const sali_ancestral *net;
    int64_t n, n_blocks, n_shards;
    uint64_t seed;
    int32_t *codes;
    block *blocks; /* [n_shards] */
} work;

static void draw_shard(void *context, int64_t shard)
{
    const work *w = context;
    const int64_t end = sali_shard_first(w->n_blocks, w->n_shards, shard + 1);
    for (int64_t k = sali_shard_first(w->n_blocks, w->n_shards, shard); k < end; k++) {
        const int64_t first = k * BLOCK, left = w->n - first;
        draw_block(w->net, w->seed, first, left < BLOCK ? left : BLOCK, &w->blocks[shard],
                   w->codes + first * w->net->variables);
    }
}

/* Two shards a thread, in case threads wait, but fewer if their blocks take much memory. */
static int64_t count_shards(int64_t n_blocks, int64_t block_bytes, int threads)
{
    const int64_t most = MOST_SCRATCH / block_bytes, wanted = 2 * sal_threads_number(threads);
    const int64_t n = wanted < most ? wanted : most;
    return n > n_blocks ? n_blocks : n > 1 ? n : 1;
}

sal_status sali_ancestral_draw(const sali_ancestral *net, int64_t n, uint64_t seed, int threads,
                               int32_t *codes, sal_error *err)
{
    const int64_t rows = net->rows;
    sali_memory memory = { 0 };
    work w = { .net = net, .n = n, .seed = seed, .codes = codes, .n_blocks = (n - 1) / BLOCK + 1 };
    w.n_shards = count_shards(w.n_blocks, rows * BLOCK * (int64_t)sizeof(int32_t), threads);
    w.blocks = SALI_TAKE(&memory, block, w.n_shards);
    for (int64_t k = 0; w.blocks && k < w.n_shards; k++) {
        w.blocks[k].codes = SALI_TAKE(&memory, int32_t, rows * BLOCK);
        w.blocks[k].words = SALI_TAKE(&memory, uint32_t, 4 * BLOCK);
        w.blocks[k].again = SALI_TAKE(&memory, uint32_t, 4 * BLOCK);
    }
    const bool refused = memory.refused;
    if (!refused) {
        sal_threads_run(w.n_shards, threads, draw_shard, &w);
    }
    sali_memory_free(&memory);
    return refused ? sali_fail_memory(err) : SAL_OK;
}
