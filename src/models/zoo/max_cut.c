/* SPDX-License-Identifier: MIT */
/* Maximum cut: f is the weight of the edges between the nodes at 0 and those at 1. */
#include <string.h>

#include "core/error.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/making.h"

enum { NODES, DEGREE, WEIGHTS, SEED, BETA, DENSITY, FAMILY, MOST, GROUP, TIGHTNESS };

/* ---- the cut itself, whatever beta is */

typedef struct cut_edges {
    int64_t edges, *pairs;
    double *weights;
} cut_edges;

/* Weight of the edges between nodes of different codes. */
static double cut_of(const sal_model *model, const int32_t *codes)
{
    const cut_edges *cut = model->statistic_data;
    double sum = 0;
    for (int64_t e = 0; e < cut->edges; e++) {
        if (codes[cut->pairs[2 * e]] != codes[cut->pairs[2 * e + 1]]) {
            sum += cut->weights[e];
        }
    }
    return sum;
}

static const sali_statistic cut_statistic = { "cut", cut_of, NULL };

/* Make the cut of `graph` the statistic of the model. Edges and weights are copied to kept
 * memory. */
static sal_status report_cut(sali_making *m, const sali_graph *graph)
{
    cut_edges *cut = SALI_KEEP(m, cut_edges, 1);
    int64_t *pairs = SALI_KEEP(m, int64_t, 2 * graph->edges);
    double *weights = SALI_KEEP(m, double, graph->edges);
    if (!cut || !pairs || !weights) {
        return sali_fail_memory(m->err);
    }
    if (graph->edges > 0) {
        memcpy(pairs, graph->pairs, 2 * (size_t)graph->edges * sizeof *pairs);
        memcpy(weights, graph->weights, (size_t)graph->edges * sizeof *weights);
    }
    *cut = (cut_edges){ graph->edges, pairs, weights };
    m->statistic = &cut_statistic;
    m->statistic_data = cut;
    return SAL_OK;
}

/* ---- the model: [s_i != s_j] = s_i + s_j - 2 s_i s_j */

static sal_status max_cut(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    const sali_graph *graph;
    sali_random_graph spec = { .nodes = (int64_t)values[NODES],
                               .weights = (sali_edge_weights)values[WEIGHTS] };
    sal_status status = sali_making_graph(m, spec, values[DEGREE], &graph);
    if (status != SAL_OK) {
        return status;
    }
    int64_t n = graph->nodes, edges = graph->edges;
    double *degrees = SALI_BORROW(m, double, n), *couplings = SALI_BORROW(m, double, edges);
    if (!degrees || !couplings) {
        return sali_fail_memory(m->err);
    }
    for (int64_t e = 0; e < edges; e++) {
        degrees[graph->pairs[2 * e]] += graph->weights[e];
        degrees[graph->pairs[2 * e + 1]] += graph->weights[e];
        couplings[e] = -2 * graph->weights[e];
    }
    sal_expr s = sali_making_state(m, "side", SAL_BINARY, n, 0);
    sal_expr cut = sal_dot(sal_constant(m->tape, degrees, SAL_SHAPE(n)), s);
    if (edges > 0) {
        sal_expr w = sal_constant(m->tape, couplings, SAL_SHAPE(edges));
        cut = sal_add(cut, sal_edges(s, w, edges, graph->pairs));
    }
    *f = sal_mul(sali_making_number(m, "beta", values[BETA]), cut);
    return report_cut(m, graph);
}

const sali_builtin sali_builtin_max_cut = {
    .name = "max-cut",
    .doc = "beta times the cut: sum_ij w_ij [s_i != s_j] over a graph's edges, s in {0,1}^nodes",
    .source = "Karp 1972; random graphs as in the G-set of Helmberg & Rendl 2000",
    .dtype = SAL_F64,
    .settings = { [NODES] = { "nodes", 800, 1, 1e7, true, "nodes of the random graph", NULL },
                  [DEGREE] = SALI_DEGREE,
                  [WEIGHTS] = SALI_EDGE_WEIGHTS,
                  [SEED] = SALI_SEED("the random graph"),
                  [BETA] = SALI_BETA,
                  [DENSITY] = SALI_DENSITY,
                  [FAMILY] = SALI_GRAPH_FAMILY,
                  [MOST] = SALI_GRAPH_MOST,
                  [GROUP] = SALI_GRAPH_GROUP,
                  [TIGHTNESS] = SALI_GRAPH_TIGHTNESS },
    .formula = max_cut,
    .content = SALI_CONTENT_GRAPH,
    .unused = 1u << NODES | 1u << DEGREE | 1u << WEIGHTS | 1u << SEED | 1u << DENSITY |
              1u << FAMILY | 1u << MOST | 1u << GROUP | 1u << TIGHTNESS,
};
