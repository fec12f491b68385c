/* SPDX-License-Identifier: MIT */
#include "models/zoo/node_sets.h"

/* Selected nodes are ranked by their conflicts for each unit of weight, and kept in this order
 * unless they conflict with one that is kept. Each node dropped has an edge (or a missing one) of
 * its own to a kept node, so the weight falls by at most the largest weight for each conflict. Then
 * nodes without conflicts are added; nodes of large weight that rule out few others come first. */

/* ---- a heap, the smallest key first, then the smallest node */

static bool before(const sali_decoding_item *a, const sali_decoding_item *b)
{
    return a->key < b->key || (a->key == b->key && a->v < b->v);
}

/* Move the item at place `at` of a heap [n] down to where it belongs. */
static void sift_down(sali_decoding_item *heap, int64_t n, int64_t at)
{
    const sali_decoding_item moved = heap[at];
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &moved)) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void make_heap(sali_decoding_item *heap, int64_t n)
{
    for (int64_t at = n / 2 - 1; at >= 0; at--) {
        sift_down(heap, n, at);
    }
}

/* Remove the first item of the heap; returns its node. */
static int64_t pop(sali_decoding_item *heap, int64_t *n)
{
    const int64_t v = heap[0].v;
    heap[0] = heap[--*n];
    sift_down(heap, *n, 0);
    return v;
}

/* ---- sets; a node's code is 1 if it is selected */

/* Whether node v conflicts with one of the `kept` selected nodes; v itself is not selected. */
static bool conflicts_with_any(const sali_node_set *g, const int32_t *codes, int64_t v,
                               int64_t kept)
{
    int64_t inside = 0;
    for (int64_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
        inside += codes[g->neighbours[k]];
    }
    return (g->adjacent ? inside : kept - inside) > 0;
}

/* Move the selected nodes from `codes`, which become 0, to `items`, with keys by which they are
 * ranked; fixed nodes come first. Returns the number of items. */
static int64_t take_out(const sali_node_set *g, int64_t V, const bool *fixed, int32_t *codes,
                        sali_decoding_item *items)
{
    int64_t n = 0, chosen = 0;
    for (int64_t v = 0; v < V; v++) {
        chosen += codes[v];
    }
    for (int64_t v = 0; v < V; v++) {
        if (!codes[v]) {
            continue;
        }
        int64_t inside = 0;
        for (int64_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
            inside += codes[g->neighbours[k]];
        }
        const int64_t conflicts = g->adjacent ? inside : chosen - 1 - inside;
        const double w = g->weights[v];
        items[n++] = (sali_decoding_item){ fixed && fixed[v] ? -1
                                           : w > 0           ? (double)conflicts / w
                                                             : INFINITY,
                                           v };
    }
    for (int64_t k = 0; k < n; k++) {
        codes[items[k].v] = 0;
    }
    return n;
}

/* Select the nodes of items [n] again in the order of their keys, except those that conflict with a
 * selected node or have no positive weight; fixed nodes are always selected. *feasible: no fixed
 * nodes conflict. Returns the number of selected nodes. */
static int64_t put_back(const sali_node_set *g, const bool *fixed, int32_t *codes, int64_t n,
                        sali_decoding_item *items, bool *feasible)
{
    int64_t kept = 0;
    *feasible = true;
    make_heap(items, n);
    while (n > 0) {
        const int64_t v = pop(items, &n);
        const bool stays = fixed && fixed[v], conflicts = conflicts_with_any(g, codes, v, kept);
        *feasible &= !(stays && conflicts);
        if (stays || (g->weights[v] > 0 && !conflicts)) {
            codes[v] = 1;
            kept++;
        }
    }
    return kept;
}

/* List in `items` the nodes of positive weight that are not fixed and conflict with none of the
 * `kept` selected nodes. Returns how many there are. */
static int64_t find_free(const sali_node_set *g, int64_t V, const bool *fixed, const int32_t *codes,
                         int64_t kept, sali_decoding_item *items)
{
    int64_t n = 0;
    for (int64_t v = 0; v < V; v++) {
        if (!codes[v] && !(fixed && fixed[v]) && g->weights[v] > 0 &&
            !conflicts_with_any(g, codes, v, kept)) {
            items[n++] = (sali_decoding_item){ 0, v };
        }
    }
    return n;
}

bool sali_node_set_decode(const sal_model *model, const bool *fixed, int32_t *codes,
                          sali_decoding_item *work)
{
    const sali_node_set *g = model->statistic_data;
    const int64_t V = model->space->n_variables;
    bool feasible;
    int64_t kept = put_back(g, fixed, codes, take_out(g, V, fixed, codes, work), work, &feasible);
    int64_t n = find_free(g, V, fixed, codes, kept, work);
    /* Free nodes have code 2 here, to count the free neighbours of each: selecting a node rules
     * these out of an independent set, and all others out of a clique. */
    for (int64_t k = 0; k < n; k++) {
        codes[work[k].v] = 2;
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t v = work[k].v;
        int64_t near = 0;
        for (int64_t e = g->begin[v]; e < g->begin[v + 1]; e++) {
            near += codes[g->neighbours[e]] == 2;
        }
        work[k].key = (double)(1 + (g->adjacent ? near : n - 1 - near)) / g->weights[v];
    }
    for (int64_t k = 0; k < n; k++) {
        codes[work[k].v] = 0;
    }
    make_heap(work, n);
    while (n > 0) {
        const int64_t v = pop(work, &n);
        if (!conflicts_with_any(g, codes, v, kept)) {
            codes[v] = 1;
            kept++;
        }
    }
    return feasible;
}
