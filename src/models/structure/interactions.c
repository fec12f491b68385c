/* SPDX-License-Identifier: MIT */
#include "models/structure/interactions.h"

#include <stdlib.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/structure/scopes.h"

/* With more pairs than this, the graph is not known. */
#define MOST_PAIRS (INT64_C(1) << 25)

typedef struct builder {
    sali_scopes scopes;
    uint64_t *pairs;
    int64_t n_pairs, pairs_room;
    bool all, memory;
} builder;

/* ---- pairs */

/* List the pair of two variables in both orders. Sets b->all beyond MOST_PAIRS, and b->memory when
 * memory is refused. */
static void add_pair(builder *b, int32_t i, int32_t j)
{
    b->memory |=
        sali_grow((void **)&b->pairs, &b->pairs_room, b->n_pairs + 2, sizeof *b->pairs) != 0;
    b->all |= b->n_pairs > MOST_PAIRS;
    if (i != j && !b->memory && !b->all) {
        b->pairs[b->n_pairs++] = (uint64_t)i << 32 | (uint64_t)j;
        b->pairs[b->n_pairs++] = (uint64_t)j << 32 | (uint64_t)i;
    }
}

/* Pair every two variables of a term, a visitor of sali_scopes_visit. False: there are too many
 * pairs, or no memory. */
static bool add_clique(void *context, const sali_term *term)
{
    builder *b = context;
    const int32_t *list = b->scopes.list;
    int64_t n = b->scopes.n_list, V = b->scopes.program->space->n_variables;
    b->all |= term->kind == SALI_TERM_WHOLE || (n == V && n > 2) || n * n > MOST_PAIRS;
    for (int64_t i = 0; i < n && !b->all; i++) {
        for (int64_t j = 0; j < i; j++) {
            add_pair(b, list[i], list[j]);
        }
    }
    return !b->all && !b->memory;
}

/* ---- the graph */

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Replace the tape's variables in the pairs by the model's, index [variables of the tape], and drop
 * pairs with a clamped variable (-1). Returns how many are left. */
static int64_t restrict_pairs(builder *b, const int32_t *index)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < b->n_pairs; k++) {
        int32_t i = index[b->pairs[k] >> 32], j = index[b->pairs[k] & UINT32_MAX];
        if (i >= 0 && j >= 0) {
            b->pairs[kept++] = (uint64_t)i << 32 | (uint64_t)j;
        }
    }
    return kept;
}

/* Make the graph of the free variables from the pairs, which are sorted. False: no memory. */
static bool make_graph(builder *b, const sal_model *model, sali_interactions *graph)
{
    int64_t n = model->space->n_variables, whole = b->scopes.program->space->n_variables, used = 0;
    int32_t *index = SALI_NEW_ARRAY(int32_t, whole), *code = SALI_NEW_ARRAY(int32_t, whole);
    graph->n = n;
    graph->begin = SALI_NEW_ARRAY(int64_t, n + 1);
    graph->neighbour = SALI_NEW_ARRAY(int64_t, b->n_pairs + 1);
    bool ok = index && code && graph->begin && graph->neighbour &&
              sali_clamp_index(model, index, code) == SAL_OK;
    if (ok) {
        b->n_pairs = restrict_pairs(b, index);
        if (b->n_pairs > 0) {
            qsort(b->pairs, (size_t)b->n_pairs, sizeof *b->pairs, compare_pairs);
        }
    }
    for (int64_t k = 0; ok && k < b->n_pairs; k++) {
        if (k == 0 || b->pairs[k] != b->pairs[k - 1]) {
            graph->begin[(b->pairs[k] >> 32) + 1]++;
            graph->neighbour[used++] = (int64_t)(b->pairs[k] & UINT32_MAX);
        }
    }
    for (int64_t v = 0; ok && v < n; v++) {
        graph->begin[v + 1] += graph->begin[v];
    }
    sali_free(index);
    sali_free(code);
    return ok;
}

sal_status sali_interactions_create(const sal_model *model, sali_interactions *graph, bool *known,
                                    sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    *graph = (sali_interactions){ 0 };
    *known = false;
    if (!tape) {
        return SAL_OK;
    }
    builder b = { 0 };
    bool ok = sali_scopes_create(tape, INT64_MAX, &b.scopes) == SAL_OK;
    if (ok) {
        sali_scopes_visit(&b.scopes, add_clique, &b);
    }
    ok = ok && !b.memory && (b.all || make_graph(&b, model, graph));
    *known = ok && !b.all;
    sali_scopes_free(&b.scopes);
    sali_free(b.pairs);
    if (!ok) {
        sali_interactions_free(graph);
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

void sali_interactions_free(sali_interactions *graph)
{
    sali_free(graph->begin);
    sali_free(graph->neighbour);
    *graph = (sali_interactions){ 0 };
}

int64_t sali_interactions_colour(const sali_interactions *graph, int64_t *colour)
{
    /* taken[k]: 1 + the last variable with a neighbour of colour k */
    int64_t *taken = SALI_NEW_ARRAY(int64_t, graph->n + 1), colours = 0;
    for (int64_t v = 0; taken && v < graph->n; v++) {
        for (int64_t k = graph->begin[v]; k < graph->begin[v + 1]; k++) {
            if (graph->neighbour[k] < v) {
                taken[colour[graph->neighbour[k]]] = v + 1;
            }
        }
        colour[v] = 0;
        while (taken[colour[v]] == v + 1) {
            colour[v]++;
        }
        colours = colour[v] + 1 > colours ? colour[v] + 1 : colours;
    }
    sali_free(taken);
    return taken ? colours : -1;
}
