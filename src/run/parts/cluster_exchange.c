/* SPDX-License-Identifier: MIT */
#include "run/parts/cluster_exchange.h"

#include <math.h>

#include "models/structure/couplings.h"

/* Marks of a variable; 0: neither. */
enum { CANDIDATE = 1, MEMBER = 2 };

/* Fields count as none if they are smaller than this part of the largest sum of couplings of a
 * variable: couplings are sums, and rounded. */
#define NO_FIELD 1e-14

/* ---- what f is like */

bool sali_interactions_are_complete(const sali_interactions *graph)
{
    return graph->begin[graph->n] == graph->n * (graph->n - 1);
}

sal_status sali_is_flip_symmetric(const sal_model *model, bool *symmetric, sal_error *err)
{
    sali_couplings *couplings = NULL;
    sal_status status = sali_couplings_create(model, SALI_BIT_COUPLINGS, &couplings, err);
    const sali_coupling_values *values = couplings ? sali_couplings_values(couplings) : NULL;
    bool even = values != NULL;
    for (int64_t i = 0; even && i < values->n; i++) {
        double field = values->linear[i]; /* of a spin: half of this, with couplings J / 4 */
        for (int64_t k = values->begin[i]; k < values->begin[i + 1]; k++) {
            field += values->couplings[k].J / 2;
        }
        even = model->space->variables[i].states == 2 && fabs(field) <= NO_FIELD * values->largest;
    }
    sali_couplings_destroy(couplings);
    if (status == SAL_OK) {
        *symmetric = even;
    }
    return status;
}

/* ---- the exchange */

sal_status sali_cluster_exchange_create(sali_cluster_exchange *e, sali_memory *memory,
                                        const sali_interactions *graph, bool symmetric,
                                        sal_error *err)
{
    *e = (sali_cluster_exchange){ .graph = graph,
                                  .symmetric = symmetric,
                                  .mark = SALI_TAKE(memory, uint8_t, graph->n),
                                  .member = SALI_TAKE(memory, int32_t, graph->n + 1) };
    return sali_memory_status(memory, err);
}

int64_t sali_cluster_candidates(sali_cluster_exchange *e, const int32_t *s, const int32_t *t)
{
    const int64_t V = e->graph->n;
    int64_t differing = 0;
    for (int64_t v = 0; v < V; v++) {
        e->mark[v] = s[v] != t[v] ? CANDIDATE : 0;
        differing += s[v] != t[v];
    }
    e->flips = e->symmetric && 2 * differing > V;
    for (int64_t v = 0; e->flips && v < V; v++) {
        e->mark[v] ^= CANDIDATE;
    }
    e->candidates = e->flips ? V - differing : differing;
    return e->candidates;
}

/* Variable number `which` of the candidates. */
static int64_t candidate_at(const sali_cluster_exchange *e, int64_t which)
{
    int64_t v = 0;
    while (e->mark[v] == 0 || which-- > 0) {
        v++;
    }
    return v;
}

/* Mark the cluster of the candidate `first`; returns its size. Without branches that depend on
 * states, which processors cannot predict. */
static int64_t find_cluster(sali_cluster_exchange *e, int64_t first)
{
    const sali_interactions *graph = e->graph;
    int64_t size = 0;
    e->mark[first] = MEMBER;
    e->member[size++] = (int32_t)first;
    for (int64_t at = 0; at < size; at++) {
        const int64_t v = e->member[at];
        for (int64_t k = graph->begin[v]; k < graph->begin[v + 1]; k++) {
            const int64_t to = graph->neighbour[k];
            const bool joins = e->mark[to] == CANDIDATE;
            e->member[size] = (int32_t)to;
            size += joins;
            e->mark[to] = joins ? MEMBER : e->mark[to];
        }
    }
    return size;
}

int64_t sali_cluster_exchange_states(sali_cluster_exchange *e, int64_t which, int32_t *s,
                                     int32_t *t)
{
    const int64_t size = find_cluster(e, candidate_at(e, which));
    const uint8_t moves = 2 * size > e->candidates ? CANDIDATE : MEMBER;
    for (int64_t v = 0; v < e->graph->n; v++) {
        const int32_t change = e->flips ? 1 : s[v] ^ t[v];
        s[v] ^= e->mark[v] == moves ? change : 0;
        t[v] ^= e->mark[v] == moves ? change : 0;
    }
    return size;
}
