/* SPDX-License-Identifier: MIT */
/* Marginals of a bucket's joint table. */
#include <string.h>

#include <saltus/program.h>
#include "core/threads/shard.h"
#include "models/exact/bucket_block.h"

/* A table of fewer entries is summed by the calling thread alone. */
#define SHARED_ENTRIES (INT64_C(1) << 16)

/* The axes outside the block that are kept, or the axes that are summed out, with their strides in
 * the joint table and in `out`. */
typedef struct axes {
    int32_t n;
    int32_t states[SALI_MOST_AXES];
    int64_t joint[SALI_MOST_AXES], out[SALI_MOST_AXES]; /* strides */
    int64_t size;
} axes;

typedef struct reduction {
    const double *joint;
    double *out;
    axes kept, summed;
    int64_t block, section; /* entries of a block, and entries of `out` that a block is added to */
    sali_operand_reach reach;
    int64_t n_shards;
    int32_t *map; /* [block] */
} reduction;

static void add_axis(axes *a, int32_t states, int64_t joint, int64_t out)
{
    a->states[a->n] = states;
    a->joint[a->n] = joint;
    a->out[a->n++] = out;
    a->size *= states;
}

/* Add a block `from` [block] of the joint table to the section `to` of the output. */
static void add_block(const reduction *r, const double *from, double *to)
{
    double sum = 0;
    switch (r->reach) {
    case SALI_REACH_WHOLE:
        for (int64_t j = 0; j < r->block; j++) {
            to[j] += from[j];
        }
        break;
    case SALI_REACH_NONE:
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < r->block; j++) {
            sum += from[j];
        }
        to[0] += sum;
        break;
    case SALI_REACH_SOME:
        for (int64_t j = 0; j < r->block; j++) {
            to[r->map[j]] += from[j];
        }
        break;
    }
}

/* Compute the sections of `out` that belong to `shard`. No two shards write to the same section, so
 * results do not depend on the number of threads. */
static void run_shard(void *context, int64_t shard)
{
    const reduction *r = context;
    int64_t end = sali_shard_first(r->kept.size, r->n_shards, shard + 1);
    for (int64_t o = sali_shard_first(r->kept.size, r->n_shards, shard); o < end; o++) {
        const double *from =
            r->joint + sali_block_offset(o, r->kept.n, r->kept.states, r->kept.joint);
        double *to = r->out + sali_block_offset(o, r->kept.n, r->kept.states, r->kept.out);
        memset(to, 0, (size_t)r->section * sizeof *to);
        for (int64_t s = 0; s < r->summed.size; s++) {
            add_block(
                r, from + sali_block_offset(s, r->summed.n, r->summed.states, r->summed.joint), to);
        }
    }
}

void sali_bucket_sums(const sali_bucket_tree *tree, int32_t p, const int32_t *scope, int32_t n,
                      double *out)
{
    int32_t clique[SALI_MOST_AXES], states[SALI_MOST_AXES];
    int64_t joint[SALI_MOST_AXES], strides[SALI_MOST_AXES];
    int32_t n_clique = sali_bucket_clique(tree, p, clique);
    reduction r = { .joint = tree->joint, .out = out, .map = tree->map, .section = 1 };
    r.kept.size = r.summed.size = 1;
    for (int32_t a = 0; a < n_clique; a++) {
        states[a] = tree->states[clique[a]];
    }
    int32_t outer = n_clique - sali_block_axes(n_clique, states, SALI_MOST_BLOCK, &r.block);
    int64_t size = sali_block_strides(tree, n_clique, clique, n_clique, clique, joint);
    sali_block_strides(tree, n_clique, clique, n, scope, strides);
    r.reach = sali_block_reach(n_clique - outer, states + outer, strides + outer, r.block, r.map);
    for (int32_t a = 0; a < n_clique; a++) {
        if (a < outer) {
            add_axis(strides[a] > 0 ? &r.kept : &r.summed, states[a], joint[a], strides[a]);
        } else {
            r.section *= strides[a] > 0 ? states[a] : 1;
        }
    }
    r.n_shards = size < SHARED_ENTRIES              ? 1
                 : r.kept.size < SALI_BUCKET_SHARDS ? r.kept.size
                                                    : SALI_BUCKET_SHARDS;
    if (r.n_shards == 1) {
        run_shard(&r, 0);
    } else {
        sal_threads_run(r.n_shards, tree->threads, run_shard, &r);
    }
}
