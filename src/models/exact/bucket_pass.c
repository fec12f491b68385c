/* SPDX-License-Identifier: MIT */
/* The two passes over a bucket tree. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/threads/shard.h"
#include "core/vector/vmath.h"
#include "models/exact/bucket_block.h"

/* A table of fewer entries is computed by the calling thread alone. */
#define SHARED_ENTRIES (INT64_C(1) << 16)

/* A term's table or a child's message, to be added to the table of a clique. */
typedef struct operand {
    const double *table;
    int64_t own; /* stride of the bucket's variable */
    sali_operand_reach reach;
    int64_t strides; /* index in frame.strides of its strides over the outer axes */
    int64_t map;     /* index in frame.maps of its map */
} operand;

/* The current bucket of a pass. */
typedef struct frame {
    const sali_bucket_tree *tree;
    const sali_bucket *bucket;
    int32_t states; /* of its variable */
    int32_t outer;  /* number of axes of the separator that are not in a block */
    int32_t outer_states[SALI_MOST_AXES];
    int64_t block, n_blocks, n_shards;
    int64_t n_operands, operands_room, n_strides, strides_room, n_maps, maps_room;
    operand *operands;
    int64_t *strides;
    int32_t *maps;
    int64_t map_of[SALI_MOST_BLOCK]; /* index of the map for each set (as bits) of a block's axes
                                        that a table has; -1: none yet */
    double *sums;                    /* [n_shards x states x block] */
    int64_t sums_room;
} frame;

static void frame_free(frame *f)
{
    sali_free(f->operands);
    sali_free(f->strides);
    sali_free(f->maps);
    sali_free(f->sums);
}

/* ---- what a bucket adds up */

/* Set how the entries of a block of n axes use operand *o. Operands with the same axes in the block
 * share a map. */
static void find_reach(frame *f, operand *o, int32_t n, const int32_t *states,
                       const int64_t *strides)
{
    uint32_t present = 0;
    for (int32_t a = 0; a < n; a++) {
        present |= (uint32_t)(strides[a] > 0) << a;
    }
    o->map = f->map_of[present];
    o->reach = SALI_REACH_SOME;
    if (o->map < 0) {
        o->map = f->n_maps;
        o->reach = sali_block_reach(n, states, strides, f->block, f->maps + f->n_maps);
    }
    if (o->map == f->n_maps && o->reach == SALI_REACH_SOME) {
        f->map_of[present] = o->map;
        f->n_maps += f->block;
    }
}

/* Append an operand: `table` over the places scope [n_scope], a part of the clique. False when out
 * of memory. */
static bool add_operand(frame *f, const double *table, int32_t n_clique, const int32_t *clique,
                        int32_t n_scope, const int32_t *scope)
{
    int64_t strides[SALI_MOST_AXES];
    int32_t states[SALI_MOST_AXES];
    if (sali_grow((void **)&f->operands, &f->operands_room, f->n_operands + 1,
                  sizeof *f->operands) != 0 ||
        sali_grow((void **)&f->strides, &f->strides_room, f->n_strides + f->outer,
                  sizeof *f->strides) != 0 ||
        sali_grow((void **)&f->maps, &f->maps_room, f->n_maps + f->block, sizeof *f->maps) != 0) {
        return false;
    }
    for (int32_t a = 0; a < n_clique; a++) {
        states[a] = f->tree->states[clique[a]];
    }
    sali_block_strides(f->tree, n_clique, clique, n_scope, scope, strides);
    operand *o = &f->operands[f->n_operands++];
    *o = (operand){ table, strides[0], SALI_REACH_NONE, f->n_strides, 0 };
    find_reach(f, o, n_clique - f->outer - 1, states + f->outer + 1, strides + f->outer + 1);
    for (int32_t a = 0; a < f->outer; a++) {
        f->strides[f->n_strides++] = strides[a + 1];
    }
    return true;
}

/* Append the tables of the bucket's terms and the messages of its children; false when out of
 * memory. */
static bool add_operands(frame *f, int32_t n_clique, const int32_t *clique)
{
    const sali_bucket_tree *tree = f->tree;
    const sali_bucket *b = f->bucket;
    bool ok = true;
    for (int64_t m = b->term; ok && m < b->term_end; m++) {
        const sali_local_term *t = &tree->terms[m];
        ok = add_operand(f, tree->source->tables + t->table, n_clique, clique, t->n,
                         tree->source->scopes + t->scope);
    }
    for (int32_t c = b->children; ok && c >= 0; c = tree->bucket[c].sibling) {
        const sali_bucket *child = &tree->bucket[c];
        ok = add_operand(f, child->message, n_clique, clique, child->n_separator,
                         tree->separators + child->separator);
    }
    return ok;
}

/* Make p the current bucket: choose blocks and shards, and collect the operands. False when out of
 * memory. */
static bool frame_open(frame *f, int32_t p)
{
    const sali_bucket_tree *tree = f->tree;
    int32_t clique[SALI_MOST_AXES];
    int32_t n_clique = sali_bucket_clique(tree, p, clique);
    f->bucket = &tree->bucket[p];
    f->states = tree->states[p];
    for (int32_t a = 1; a < n_clique; a++) {
        f->outer_states[a - 1] = tree->states[clique[a]];
    }
    f->outer =
        n_clique - 1 -
        sali_block_axes(n_clique - 1, f->outer_states, SALI_MOST_BLOCK / f->states, &f->block);
    assert(f->block > 0 && f->states > 0);
    f->n_blocks = f->bucket->size / f->block;
    f->n_shards = f->bucket->size < SHARED_ENTRIES / f->states ? 1
                  : f->n_blocks < SALI_BUCKET_SHARDS           ? f->n_blocks
                                                               : SALI_BUCKET_SHARDS;
    f->n_operands = f->n_strides = f->n_maps = 0;
    for (int64_t k = 0; k < INT64_C(1) << (n_clique - 1 - f->outer); k++) {
        f->map_of[k] = -1;
    }
    return add_operands(f, n_clique, clique) &&
           sali_grow((void **)&f->sums, &f->sums_room, f->n_shards * f->states * f->block,
                     sizeof *f->sums) == 0;
}

/* Add to the block `to` [block] the entries of an operand, whose part for this block begins at
 * `from`. */
static void add_row(const frame *f, const operand *o, const double *from, double *to)
{
    const int32_t *map = f->maps + o->map;
    switch (o->reach) {
    case SALI_REACH_WHOLE:
        for (int64_t j = 0; j < f->block; j++) {
            to[j] += from[j];
        }
        break;
    case SALI_REACH_NONE:
        for (int64_t j = 0; j < f->block; j++) {
            to[j] += from[0];
        }
        break;
    case SALI_REACH_SOME:
        for (int64_t j = 0; j < f->block; j++) {
            to[j] += from[map[j]];
        }
        break;
    }
}

/* Fill rows [states x block], a row for each state of the bucket's variable, with the clique's
 * table at block number `at` of the separator. */
static void add_up(const frame *f, int64_t at, double *rows)
{
    memset(rows, 0, (size_t)(f->states * f->block) * sizeof *rows);
    for (int64_t i = 0; i < f->n_operands; i++) {
        const operand *o = &f->operands[i];
        const double *from =
            o->table + sali_block_offset(at, f->outer, f->outer_states, f->strides + o->strides);
        for (int32_t k = 0; k < f->states; k++) {
            add_row(f, o, from + k * o->own, rows + k * f->block);
        }
    }
}

/* Set all rows but row `code` to -inf: the bucket's variable is pinned to this code. */
static void forbid_others(const frame *f, int32_t code, double *rows)
{
    for (int32_t k = 0; k < f->states; k++) {
        for (int64_t j = 0; j < f->block && k != code; j++) {
            rows[k * f->block + j] = -INFINITY;
        }
    }
}

/* A sum and the rounding errors that it lost (Neumaier 1974). */
typedef struct long_sum {
    double sum, lost;
} long_sum;

static void add_to(long_sum *s, double x)
{
    double next = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? s->sum - next + x : x - next + s->sum;
    s->sum = next;
}

/* Whether a pass with this pin visits bucket p. */
static bool is_passed(const sali_bucket_tree *tree, sali_pin pin, int32_t p)
{
    return pin.place < 0 || tree->bucket[p].root == tree->bucket[pin.place].root;
}

/* ---- upward */

typedef struct pass {
    frame frame;
    const sali_bucket_tree *tree;
    int32_t code;        /* code of the bucket's variable if it is pinned, else -1 */
    sali_ancestral *net; /* the network that sali_bucket_conditionals makes */
    int64_t node;        /* of the bucket in it */
} pass;

/* Replace rows [states x block] by exp(rows[k][j] - message[j]), message[j] being the largest of
 * column j. */
static void scale_rows(const frame *f, double *rows, double *message)
{
    int64_t B = f->block;
    memcpy(message, rows, (size_t)B * sizeof *message);
    for (int32_t k = 1; k < f->states; k++) {
        for (int64_t j = 0; j < B; j++) {
            message[j] = rows[k * B + j] > message[j] ? rows[k * B + j] : message[j];
        }
    }
    for (int32_t k = 0; k < f->states; k++) {
        for (int64_t j = 0; j < B; j++) {
            rows[k * B + j] -= message[j] > -INFINITY ? message[j] : 0;
        }
    }
    sali_vexp_f64(f->states * B, rows, rows);
}

/* message[j] = log of the sum over k of exp rows[k][j]; rows are overwritten. */
static void log_sum(const frame *f, double *rows, double *message)
{
    int64_t B = f->block;
    scale_rows(f, rows, message);
    for (int32_t k = 1; k < f->states; k++) {
        for (int64_t j = 0; j < B; j++) {
            rows[j] += rows[k * B + j];
        }
    }
    sali_vlog_f64(B, rows, rows);
    for (int64_t j = 0; j < B; j++) {
        message[j] += rows[j];
    }
}

/* Compute the blocks of the current bucket's message that belong to `shard`. */
static void upward_shard(void *context, int64_t shard)
{
    const pass *s = context;
    const frame *f = &s->frame;
    double *rows = f->sums + shard * f->states * f->block;
    int64_t end = sali_shard_first(f->n_blocks, f->n_shards, shard + 1);
    for (int64_t at = sali_shard_first(f->n_blocks, f->n_shards, shard); at < end; at++) {
        add_up(f, at, rows);
        if (s->code >= 0) {
            forbid_others(f, s->code, rows);
        }
        log_sum(f, rows, f->bucket->message + at * f->block);
    }
}

/* Subtract the largest entry of the message from all of its entries, and keep it in b->shift. */
static void take_shift(sali_bucket *b)
{
    b->shift = -INFINITY;
    for (int64_t j = 0; j < b->size; j++) {
        b->shift = b->message[j] > b->shift ? b->message[j] : b->shift;
    }
    for (int64_t j = 0; j < b->size && b->shift > -INFINITY; j++) {
        b->message[j] -= b->shift;
    }
}

static void run_shards(pass *s, void (*work)(void *, int64_t))
{
    if (s->frame.n_shards == 1) {
        work(s, 0);
    } else {
        sal_threads_run(s->frame.n_shards, s->tree->threads, work, s);
    }
}

sal_status sali_bucket_upward(sali_bucket_tree *tree, sali_pin pin, double *log_z, sal_error *err)
{
    pass s = { .frame = { .tree = tree }, .tree = tree };
    long_sum sum = { 0 };
    bool ok = true;
    for (int32_t p = 0; ok && p < tree->n && sum.sum > -INFINITY; p++) {
        sali_bucket *b = &tree->bucket[p];
        if (!is_passed(tree, pin, p)) {
            continue;
        }
        s.code = p == pin.place ? pin.code : -1;
        ok = frame_open(&s.frame, p);
        if (ok) {
            run_shards(&s, upward_shard);
            take_shift(b);
            add_to(&sum, b->shift);
        }
    }
    frame_free(&s.frame);
    *log_z = sum.sum > -INFINITY ? sum.sum + sum.lost : -INFINITY;
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* ---- conditional distributions */

/* Set the distributions of the current bucket's variable at the shard's states of its separator. */
static void conditional_shard(void *context, int64_t shard)
{
    const pass *s = context;
    const frame *f = &s->frame;
    double *rows = f->sums + shard * f->states * f->block;
    int64_t end = sali_shard_first(f->n_blocks, f->n_shards, shard + 1);
    for (int64_t at = sali_shard_first(f->n_blocks, f->n_shards, shard); at < end; at++) {
        add_up(f, at, rows);
        scale_rows(f, rows, s->tree->scratch + at * f->block);
        for (int64_t j = 0; j < f->block; j++) {
            sali_ancestral_set(s->net, s->node, at * f->block + j, rows + j, f->block);
        }
    }
}

/* Append the node of bucket p, whose separator's nodes are in the network already. */
static void add_node(const sali_bucket_tree *tree, int32_t p, sali_ancestral *net)
{
    const sali_bucket *b = &tree->bucket[p];
    int32_t given[SALI_MOST_AXES];
    for (int32_t k = 0; k < b->n_separator; k++) {
        given[k] = tree->n - 1 - tree->separators[b->separator + k];
    }
    sali_ancestral_add(net, tree->states[p], tree->variable[p], b->n_separator, given);
}

sal_status sali_bucket_conditionals(sali_bucket_tree *tree, sali_ancestral *net, sal_error *err)
{
    pass s = { .frame = { .tree = tree }, .tree = tree, .code = -1, .net = net };
    int64_t given = 0, thresholds = 0;
    for (int32_t p = 0; p < tree->n; p++) {
        given += tree->bucket[p].n_separator;
        thresholds += tree->bucket[p].size * (tree->states[p] - 1);
    }
    sal_status status =
        sali_ancestral_create(tree->n - tree->source->hidden, tree->n, given, thresholds, net, err);
    for (int32_t p = tree->n - 1; status == SAL_OK && p >= 0; p--) {
        s.node = net->n;
        add_node(tree, p, net);
        status = frame_open(&s.frame, p) ? SAL_OK : sali_fail_memory(err);
        if (status == SAL_OK) {
            run_shards(&s, conditional_shard);
        }
    }
    frame_free(&s.frame);
    if (status != SAL_OK) {
        sali_ancestral_free(net);
    }
    return status;
}

/* ---- downward */

/* Fill the shard's blocks of tree->joint: exp of the clique's table, times p(separator) / message.
 * The logarithm of this ratio has replaced the message (turn_message). */
static void joint_shard(void *context, int64_t shard)
{
    const pass *s = context;
    const frame *f = &s->frame;
    int64_t B = f->block, end = sali_shard_first(f->n_blocks, f->n_shards, shard + 1);
    double *rows = f->sums + shard * f->states * B;
    for (int64_t at = sali_shard_first(f->n_blocks, f->n_shards, shard); at < end; at++) {
        const double *ratio = f->bucket->message + at * B;
        add_up(f, at, rows);
        if (s->code >= 0) {
            forbid_others(f, s->code, rows);
        }
        for (int32_t k = 0; k < f->states; k++) {
            for (int64_t j = 0; j < B; j++) {
                rows[k * B + j] += ratio[j];
            }
            sali_vexp_f64(B, rows + k * B, s->tree->joint + k * f->bucket->size + at * B);
        }
    }
}

/* Replace a child's message by log (p(separator) / message), with p(separator) summed from the
 * joint table of its parent, which is the current bucket. */
static void turn_message(const sali_bucket_tree *tree, int32_t parent, sali_bucket *child)
{
    double *p = tree->scratch;
    sali_bucket_sums(tree, parent, tree->separators + child->separator, child->n_separator, p);
    sali_vlog_f64(child->size, p, p);
    for (int64_t j = 0; j < child->size; j++) {
        double m = child->message[j];
        child->message[j] = m > -INFINITY ? p[j] - m - child->shift : -INFINITY;
    }
}

/* Write the normalised marginals of bucket p's variable. Returns the sum of the joint table: 1 up
 * to rounding errors. */
static double write_marginals(const sali_bucket_tree *tree, int32_t p, double *marginals)
{
    double sum = 0;
    sali_bucket_sums(tree, p, &p, 1, marginals);
    for (int32_t k = 0; k < tree->states[p]; k++) {
        sum += marginals[k];
    }
    for (int32_t k = 0; k < tree->states[p]; k++) {
        marginals[k] /= sum;
    }
    return sum;
}

/* Write the pairs of bucket p's variable and each other variable of the clique, unless hidden;
 * `all` is the sum of the joint table. */
static void write_pairs(const sali_bucket_tree *tree, int32_t p, const int64_t *begin, double all,
                        double *pairs)
{
    const sali_bucket *b = &tree->bucket[p];
    const int32_t V = tree->n - tree->source->hidden;
    int64_t R = begin[V], i = begin[tree->variable[p]];
    for (int32_t c = 0; c < b->n_separator; c++) {
        int32_t scope[2] = { p, tree->separators[b->separator + c] };
        int64_t j = begin[tree->variable[scope[1]]];
        if (tree->variable[p] >= V || tree->variable[scope[1]] >= V) {
            continue;
        }
        const double *sum = tree->scratch;
        sali_bucket_sums(tree, p, scope, 2, tree->scratch);
        for (int64_t k = 0; k < tree->states[p]; k++) {
            for (int64_t l = 0; l < tree->states[scope[1]]; l++) {
                pairs[i < j ? (i + k) * R + j + l : (j + l) * R + i + k] = *sum++ / all;
            }
        }
    }
}

/* Mean of the sum of bucket p's terms under the joint table, which is not normalised. */
static double mean_of_terms(const sali_bucket_tree *tree, int32_t p)
{
    double mean = 0;
    for (int64_t m = tree->bucket[p].term; m < tree->bucket[p].term_end; m++) {
        const sali_local_term *t = &tree->terms[m];
        const double *table = tree->source->tables + t->table;
        sali_bucket_sums(tree, p, tree->source->scopes + t->scope, t->n, tree->scratch);
        for (int64_t k = 0; k < t->size; k++) {
            mean += tree->scratch[k] > 0 ? tree->scratch[k] * table[k] : 0;
        }
    }
    return mean;
}

sal_status sali_bucket_downward(sali_bucket_tree *tree, sali_pin pin, const int64_t *begin,
                                double *marginals, double *pairs, double *mean, sal_error *err)
{
    pass s = { .frame = { .tree = tree }, .tree = tree };
    long_sum sum = { 0 };
    bool ok = true;
    for (int32_t p = tree->n - 1; ok && p >= 0; p--) {
        sali_bucket *b = &tree->bucket[p];
        if (!is_passed(tree, pin, p)) {
            continue;
        }
        if (b->parent < 0) {
            b->message[0] = -b->shift;
        }
        s.code = p == pin.place ? pin.code : -1;
        ok = frame_open(&s.frame, p);
        if (!ok) {
            break;
        }
        run_shards(&s, joint_shard);
        for (int32_t c = b->children; c >= 0; c = tree->bucket[c].sibling) {
            turn_message(tree, p, &tree->bucket[c]);
        }
        double all = write_marginals(tree, p, marginals + begin[tree->variable[p]]);
        if (pairs) {
            write_pairs(tree, p, begin, all, pairs);
        }
        add_to(&sum, mean ? mean_of_terms(tree, p) / all : 0);
    }
    frame_free(&s.frame);
    if (mean) {
        *mean = sum.sum + sum.lost;
    }
    return ok ? SAL_OK : sali_fail_memory(err);
}
