/* Maximum clique: the selected nodes' weight, less a penalty for each pair of them without an edge.
 *
 * Of k = sum s selected nodes, k (k - 1) / 2 less the edges among them are such pairs, so no edge
 * of the complement is listed. With (k^2 - s's) / 2 for the pairs the formula is multilinear, and
 * gradients give the exact differences. Above the largest weight, W, the penalty makes every
 * maximum of f a clique of largest weight: see independent_set.c. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/random_graph.h"
#include "models/zoo/set_weight.h"

enum { NODES, DENSITY, SEED, BETA, PENALTY };

/* k (k - 1) / 2 less the edges among the selected nodes. */
static sal_expr missing_edges(sal_expr s, int64_t edges, const int64_t *pairs, const double *ones)
{
    sal_expr of_all = sal_scale(sal_sub(sal_square(sal_sum(s)), sal_dot(s, s)), 0.5);
    if (edges == 0) {
        return of_all;
    }
    sal_expr w = sal_constant(s.tape, ones, SAL_SHAPE(edges));
    return sal_sub(of_all, sal_edges(s, w, edges, pairs));
}

static sal_status make_clique(const sali_graph *graph, double beta, double penalty, sal_dtype dtype,
                              sal_model **out, sal_error *err)
{
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 2 * graph->edges);
    double *ones = SALI_NEW_ARRAY(double, graph->edges);
    double *weights = SALI_NEW_ARRAY(double, graph->nodes);
    int64_t edges = pairs && ones && weights ? sali_graph_pairs(graph, pairs) : -1;
    sal_tape *tape = sali_builtin_tape("selected", SAL_BINARY, graph->nodes, 0, dtype);
    sal_status status = edges >= 0 && tape ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        double largest = sali_graph_node_weights(graph, weights);
        for (int64_t e = 0; e < edges; e++) {
            ones[e] = 1;
        }
        sal_expr s = sal_state(tape);
        sal_expr value = sal_dot(sal_constant(tape, weights, SAL_SHAPE(graph->nodes)), s);
        sal_expr cost = sal_scale(missing_edges(s, edges, pairs, ones), penalty * largest);
        sal_expr f = sal_mul(sal_param(tape, "beta", SAL_SCALAR), sal_sub(value, cost));
        status = sali_builtin_finish(tape, f, "clique", out, err);
        status = status ? status : sal_model_set_params(*out, "beta", &beta, err);
        status = status ? status
                        : sali_report_set_weight(*out, edges, pairs, weights, largest, false, err);
    } else {
        sal_tape_destroy(tape);
    }
    sali_free(pairs);
    sali_free(ones);
    sali_free(weights);
    return status;
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_random_graph spec = { .nodes = (int64_t)values[NODES],
                               .p = values[DENSITY],
                               .seed = (uint64_t)values[SEED] };
    sali_graph graph = { 0 };
    sal_status status = sali_random_graph_draw(&spec, &graph, err);
    status = status ? status : make_clique(&graph, values[BETA], values[PENALTY], dtype, out, err);
    sali_graph_free(&graph);
    return status;
}

static sal_status make_from_file(const double *values, const sali_content *content, sal_dtype dtype,
                                 sal_model **out, sal_error *err)
{
    const sali_graph *graph = &content->graph;
    uint32_t unused = 1u << NODES | 1u << DENSITY | 1u << SEED;
    sal_status status = sali_builtin_refuse(&sali_builtin_clique, values, unused, err);
    status = status ? status : sali_graph_check("clique", graph, false, err);
    return status ? status : make_clique(graph, values[BETA], values[PENALTY], dtype, out, err);
}

const sali_builtin sali_builtin_clique = {
    .name = "clique",
    .doc = "beta (sum_i w_i s_i - penalty W sum_ij s_i s_j) over the pairs without an edge, "
           "s in {0,1}^nodes, w the nodes' weights or 1, W the largest",
    .source = "Karp 1972; Lucas 2014 sec. 2.3, 4.2 (penalty)",
    .dtype = SAL_F64,
    .parameters = { [NODES] = { "nodes", 200, 1, 1e7, true, "nodes of the random graph", NULL },
                    [DENSITY] = { "density", 0.5, 0, 1, false, "probability of an edge", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random graph", NULL },
                    [BETA] = { "beta", 1, 0, 1e6, false, "inverse temperature", NULL },
                    [PENALTY] = { "penalty", 2, 0, 1e6, false,
                                  "cost of a pair without an edge, in units of the largest weight; "
                                  "above 1 the best state is a clique",
                                  NULL } },
    .make = make,
    .content = SALI_CONTENT_GRAPH,
    .make_from = make_from_file,
};
