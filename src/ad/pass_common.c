/* SPDX-License-Identifier: MIT */
/* Common subexpressions: of nodes that compute the same numbers from the same inputs only the first
 * stays. Equal means equal in op, shape, inputs and every bit of the attributes, so no result
 * changes; a + b and b + a, a b and b a have the same bits too. */
#include <string.h>

#include "ad/passes.h"
#include "core/alloc.h"
#include "core/error.h"

static bool is_commutative(sali_op_id op)
{
    return op == SALI_OP_add || op == SALI_OP_mul;
}

/* Nodes that are never merged: parameters, which are known by name, and tables, because factors are
 * numbered in the order of all tables. */
static bool never_merges(const sali_node *node)
{
    return node->op == SALI_OP_param || node->op == SALI_OP_table;
}

static uint64_t mix_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* A hash of all that `nodes_equal` compares; both orders of inputs give the same hash if the op
 * commutes. */
static uint64_t hash_node(const sali_node *node)
{
    uint64_t hash = mix_hash(UINT64_C(0xcbf29ce484222325), &node->op, sizeof node->op);
    uint64_t inputs = 0;
    for (int32_t k = 0; is_commutative(node->op) && k < node->n_in; k++) {
        inputs += mix_hash(1, &node->in[k], sizeof *node->in); /* in whatever order */
    }
    hash = mix_hash(hash, &inputs, sizeof inputs);
    hash = is_commutative(node->op)
               ? hash
               : mix_hash(hash, node->in, (size_t)node->n_in * sizeof *node->in);
    hash = mix_hash(hash, node->shape.dim, (size_t)node->shape.rank * sizeof *node->shape.dim);
    hash = mix_hash(hash, node->ints, (size_t)node->n_ints * sizeof *node->ints);
    return mix_hash(hash, node->reals, (size_t)node->n_reals * sizeof *node->reals);
}

/* Whether two nodes of one op have the same inputs, in either order if the op commutes. */
static bool equal_inputs(const sali_node *a, const sali_node *b)
{
    if (a->n_in != b->n_in) {
        return false;
    }
    if (is_commutative(a->op) && a->in[0] == b->in[1] && a->in[1] == b->in[0]) {
        return true;
    }
    return memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in) == 0;
}

static bool nodes_equal(const sali_node *a, const sali_node *b)
{
    return a->op == b->op && equal_inputs(a, b) && sali_shape_equal(&a->shape, &b->shape) &&
           a->n_ints == b->n_ints && a->n_reals == b->n_reals &&
           memcmp(a->ints, b->ints, (size_t)a->n_ints * sizeof *a->ints) == 0 &&
           memcmp(a->reals, b->reals, (size_t)a->n_reals * sizeof *a->reals) == 0;
}

/* A table of nodes by hash, with open addresses; -1: free. */
typedef struct node_table {
    int64_t slots; /* a power of two */
    int32_t *node;
    uint64_t *hash;
} node_table;

/* The slot of a node equal to this one, or the free slot where it belongs. */
static int64_t find_slot(const node_table *table, const sal_tape *tape, const sali_node *node,
                         uint64_t hash)
{
    int64_t at = (int64_t)(hash & (uint64_t)(table->slots - 1));
    while (table->node[at] >= 0 &&
           (table->hash[at] != hash || !nodes_equal(&tape->nodes[table->node[at]], node))) {
        at = (at + 1) & (table->slots - 1);
    }
    return at;
}

/* Drop each node that equals an earlier one, and move the others down the list. map [n_nodes]
 * receives the new place of each old node, or of the node that it equals. */
static void merge_nodes(sal_tape *tape, node_table *table, int32_t *map)
{
    int64_t n = tape->n_nodes;
    tape->n_nodes = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t kept = map[i] = sali_tape_keep(tape, i, map);
        const sali_node *node = &tape->nodes[kept];
        if (never_merges(node)) {
            continue;
        }
        uint64_t hash = hash_node(node);
        int64_t at = find_slot(table, tape, node, hash);
        if (table->node[at] >= 0) {
            map[i] = table->node[at];
            sali_node_clear(&tape->nodes[--tape->n_nodes]);
        } else {
            table->node[at] = kept;
            table->hash[at] = hash;
        }
    }
}

sal_status sali_pass_common(sal_tape *tape, int32_t *output, sal_error *err)
{
    node_table table = { .slots = 2 };
    while (table.slots < 2 * tape->n_nodes) {
        table.slots *= 2;
    }
    table.node = SALI_NEW_ARRAY(int32_t, table.slots);
    table.hash = SALI_NEW_ARRAY(uint64_t, table.slots);
    int32_t *map = SALI_NEW_ARRAY(int32_t, tape->n_nodes);
    sal_status status = table.node && table.hash && map ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        memset(table.node, -1, (size_t)table.slots * sizeof *table.node);
        merge_nodes(tape, &table, map);
        *output = map[*output];
    }
    sali_free(table.node);
    sali_free(table.hash);
    sali_free(map);
    return status;
}
