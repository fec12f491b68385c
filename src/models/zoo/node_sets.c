/* SPDX-License-Identifier: MIT */
/* Sets of a graph's nodes of largest weight: independent ones, and cliques. f is the selected
 * nodes' weight, less a penalty for each conflict among them: an edge, or a pair without one.
 *
 * Dropping a node of such a pair loses at most the largest weight, W, and saves the penalty, so
 * with a penalty above W every maximum of f is a set without conflicts, and one of largest weight.
 *
 * Of k = sum s selected nodes, k (k - 1) / 2 less the edges among them are the pairs without one,
 * so no edge of the complement is listed. With (k^2 - s's) / 2 for the pairs the formula is
 * multilinear, and gradients give the exact differences. */
#include "core/error.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/making.h"
#include "models/zoo/node_sets.h"

/* CHANCE of an edge: the degree of independent sets, the density of cliques. OTHER: the density of
 * independent sets, the degree of cliques. */
enum { NODES, CHANCE, SEED, BETA, PENALTY, OTHER, FAMILY, MOST, GROUP, TIGHTNESS };

/* The settings of random graphs. */
#define OF_RANDOM_GRAPHS                                                                 \
    (1u << NODES | 1u << CHANCE | 1u << SEED | 1u << OTHER | 1u << FAMILY | 1u << MOST | \
     1u << GROUP | 1u << TIGHTNESS)

/* ---- the statistic: the weight of a set, less the largest weight of a node for each conflict.
 * Dropping one node of each conflict leaves a set without conflicts of at least this weight. */

/* A lower bound on the weight of a set without conflicts among the selected nodes. */
static double weight_without_conflicts(const sal_model *model, const int32_t *codes)
{
    const sali_node_set *g = model->statistic_data;
    double weight = 0, chosen = 0, inside = 0; /* each edge inside is met at both of its ends */
    for (int64_t v = 0; v < model->space->n_variables; v++) {
        weight += codes[v] ? g->weights[v] : 0;
        chosen += codes[v];
        for (int64_t k = g->begin[v]; codes[v] && k < g->begin[v + 1]; k++) {
            inside += codes[g->neighbours[k]];
        }
    }
    double conflicts = g->adjacent ? inside / 2 : (chosen * (chosen - 1) - inside) / 2;
    return weight - g->largest * conflicts;
}

static const sali_statistic statistic = { "weight without conflicts", weight_without_conflicts,
                                          NULL };

static const sali_decoding independent_sets = { "independent set",
                                                "no independent set: clamped nodes are neighbours",
                                                sali_node_set_decode };
static const sali_decoding cliques = { "clique", "no clique: clamped nodes are no neighbours",
                                       sali_node_set_decode };

/* Fill g->begin and g->neighbours from `pairs` [edges x 2], which are sorted and list each edge
 * once. */
static void list_neighbours(int64_t nodes, int64_t edges, const int64_t *pairs, sali_node_set *g)
{
    for (int64_t e = 0; e < 2 * edges; e++) {
        g->begin[pairs[e] + 1]++;
    }
    for (int64_t v = 0; v < nodes; v++) {
        g->begin[v + 1] += g->begin[v];
    }
    for (int64_t e = 0; e < 2 * edges; e++) { /* begin[v] moves to the end of v's list */
        g->neighbours[g->begin[pairs[e]]++] = pairs[e ^ 1];
    }
    for (int64_t v = nodes; v > 0; v--) {
        g->begin[v] = g->begin[v - 1];
    }
    g->begin[0] = 0;
}

/* ---- the models */

/* k (k - 1) / 2 of k selected nodes. */
static sal_expr all_pairs(sal_expr s)
{
    return sal_scale(sal_sub(sal_square(sal_sum(s)), sal_dot(s, s)), 0.5);
}

/* Record f. Conflicts are the pairs with an edge if `adjacent`, else the pairs without one.
 * `degree` as in sali_making_graph. */
static sal_status node_set(sali_making *m, double degree, bool adjacent, sal_expr *f)
{
    const double *values = m->values;
    const sali_graph *graph;
    sali_random_graph spec = { .nodes = (int64_t)values[NODES], .p = values[CHANCE] };
    sal_status status = sali_making_graph(m, spec, degree, &graph);
    if (status != SAL_OK) {
        return status;
    }
    int64_t n = graph->nodes;
    int64_t *pairs = SALI_BORROW(m, int64_t, 2 * graph->edges);
    sali_node_set *g = SALI_KEEP(m, sali_node_set, 1);
    int64_t edges = pairs && g ? sali_graph_pairs(graph, pairs) : -1;
    double *weights = SALI_KEEP(m, double, n);
    int64_t *begin = edges < 0 ? NULL : SALI_KEEP(m, int64_t, n + 1);
    int64_t *neighbours = edges < 0 ? NULL : SALI_KEEP(m, int64_t, 2 * edges);
    if (!weights || !begin || !neighbours) {
        return sali_fail_memory(m->err);
    }
    *g = (sali_node_set){ begin, neighbours, weights, sali_graph_node_weights(graph, weights),
                          adjacent };
    list_neighbours(n, edges, pairs, g);
    m->statistic = &statistic;
    m->decoding = adjacent ? &independent_sets : &cliques;
    m->statistic_data = g;
    double cost = values[PENALTY] * g->largest;
    const double *each = sali_making_repeat(m, edges, adjacent ? -cost : 1);
    if (!each) {
        return sali_fail_memory(m->err);
    }
    sal_expr s = sali_making_state(m, "selected", SAL_BINARY, n, 0);
    sal_expr value = sal_dot(sal_constant(m->tape, weights, SAL_SHAPE(n)), s);
    /* adjacent: the weight, less penalties for edges; else the number of pairs without an edge,
     * which get penalties */
    sal_expr sum = adjacent ? value : all_pairs(s);
    if (edges > 0) {
        sal_expr w = sal_constant(m->tape, each, SAL_SHAPE(edges));
        sal_expr inside = sal_edges(s, w, edges, pairs);
        sum = adjacent ? sal_add(sum, inside) : sal_sub(sum, inside);
    }
    value = adjacent ? sum : sal_sub(value, sal_scale(sum, cost));
    *f = sal_mul(sali_making_number(m, "beta", values[BETA]), value);
    return SAL_OK;
}

static sal_status independent_set(sali_making *m, sal_expr *f)
{
    return node_set(m, m->values[CHANCE], true, f);
}

static sal_status clique(sali_making *m, sal_expr *f)
{
    return node_set(m, -1, false, f);
}

const sali_builtin sali_builtin_independent_set = {
    .name = "independent-set",
    .doc =
        "beta (sum_i w_i s_i - penalty W sum_ij s_i s_j) over a graph's edges, s in {0,1}^nodes, "
        "w the nodes' weights or 1, W the largest",
    .source = "Karp 1972; Lucas 2014 sec. 4.2 (penalty)",
    .dtype = SAL_F64,
    .settings = { [NODES] = { "nodes", 500, 1, 1e7, true, "nodes of the random graph", NULL },
                  [CHANCE] = SALI_DEGREE,
                  [SEED] = SALI_SEED("the random graph"),
                  [BETA] = SALI_BETA,
                  [PENALTY] = { "penalty", 2, 0, 1e6, false,
                                "cost of an edge within the set, in units of the largest weight; "
                                "above 1 the best state is an independent set",
                                NULL },
                  [OTHER] = SALI_DENSITY,
                  [FAMILY] = SALI_GRAPH_FAMILY,
                  [MOST] = SALI_GRAPH_MOST,
                  [GROUP] = SALI_GRAPH_GROUP,
                  [TIGHTNESS] = SALI_GRAPH_TIGHTNESS },
    .formula = independent_set,
    .content = SALI_CONTENT_GRAPH,
    .unused = OF_RANDOM_GRAPHS,
};

const sali_builtin sali_builtin_clique = {
    .name = "clique",
    .doc = "beta (sum_i w_i s_i - penalty W sum_ij s_i s_j) over the pairs without an edge, "
           "s in {0,1}^nodes, w the nodes' weights or 1, W the largest",
    .source = "Karp 1972; Lucas 2014 sec. 2.3, 4.2 (penalty)",
    .dtype = SAL_F64,
    .settings = { [NODES] = { "nodes", 200, 1, 1e7, true, "nodes of the random graph", NULL },
                  [CHANCE] = { "density", 0.5, 0, 1, false, "probability of an edge", NULL },
                  [SEED] = SALI_SEED("the random graph"),
                  [BETA] = SALI_BETA,
                  [PENALTY] = { "penalty", 2, 0, 1e6, false,
                                "cost of a pair without an edge, in units of the largest weight; "
                                "above 1 the best state is a clique",
                                NULL },
                  [OTHER] = { "degree", 4, 0, 1e7, false, "of ba: mean number of neighbours",
                              NULL },
                  [FAMILY] = SALI_GRAPH_FAMILY,
                  [MOST] = SALI_GRAPH_MOST,
                  [GROUP] = SALI_GRAPH_GROUP,
                  [TIGHTNESS] = SALI_GRAPH_TIGHTNESS },
    .formula = clique,
    .by_density = true,
    .content = SALI_CONTENT_GRAPH,
    .unused = OF_RANDOM_GRAPHS,
};
