/* SPDX-License-Identifier: MIT */
/* Whether the parents of a Bayesian network form a cycle (Kahn 1962). */
#include "core/alloc.h"
#include "core/error.h"
#include "models/content.h"

/* The factors that have v as a parent are list[begin[v]] .. list[begin[v + 1] - 1]. */
static void list_children(const sali_factor_graph *g, int64_t *begin, int64_t *list)
{
    for (int64_t f = 0; f < g->factors; f++) {
        for (int64_t i = g->scope_begin[f]; i < g->scope_begin[f + 1] - 1; i++) {
            begin[g->scope[i]]++;
        }
    }
    for (int64_t v = 1; v <= g->variables; v++) {
        begin[v] += begin[v - 1]; /* the ends; filling from behind makes them the beginnings */
    }
    for (int64_t f = 0; f < g->factors; f++) {
        for (int64_t i = g->scope_begin[f]; i < g->scope_begin[f + 1] - 1; i++) {
            list[--begin[g->scope[i]]] = f;
        }
    }
}

/* Remove variables whose parents have all been removed, until none is left. Returns -1 if every
 * variable was removed, else one that was not: a cycle leads to it. `parents` and `queue`, both
 * [V], are scratch. */
static int64_t take_away(const sali_factor_graph *g, const int64_t *begin, const int64_t *list,
                         int64_t *parents, int32_t *queue)
{
    int64_t waiting = 0;
    for (int64_t f = 0; f < g->factors; f++) {
        int32_t child = g->scope[g->scope_begin[f + 1] - 1];
        parents[child] = g->scope_begin[f + 1] - g->scope_begin[f] - 1;
        if (parents[child] == 0) {
            queue[waiting++] = child;
        }
    }
    for (int64_t next = 0; next < waiting; next++) {
        for (int64_t k = begin[queue[next]]; k < begin[queue[next] + 1]; k++) {
            int32_t child = g->scope[g->scope_begin[list[k] + 1] - 1];
            if (--parents[child] == 0) {
                queue[waiting++] = child;
            }
        }
    }
    for (int64_t v = 0; v < g->variables; v++) {
        if (parents[v] > 0) {
            return v;
        }
    }
    return -1;
}

sal_status sali_factor_graph_cycle(const sali_factor_graph *graph, int64_t *variable,
                                   sal_error *err)
{
    int64_t n = graph->variables;
    int64_t *begin = SALI_NEW_ARRAY(int64_t, n + 1);
    int64_t *list = SALI_NEW_ARRAY(int64_t, graph->scope_begin[graph->factors]);
    int64_t *parents = SALI_NEW_ARRAY(int64_t, n);
    int32_t *queue = SALI_NEW_ARRAY(int32_t, n);
    sal_status status = begin && list && parents && queue ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        list_children(graph, begin, list);
        *variable = take_away(graph, begin, list, parents, queue);
    }
    sali_free(begin);
    sali_free(list);
    sali_free(parents);
    sali_free(queue);
    return status;
}
