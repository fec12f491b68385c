/* Maximum independent set: the selected nodes' weight, less a penalty for each edge among them.
 *
 * Dropping an end of such an edge loses at most the largest weight, W, and saves the penalty, so
 * with a penalty above W every maximum of f is an independent set, and one of largest weight. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/random_graph.h"
#include "models/zoo/set_weight.h"

enum { NODES, DEGREE, SEED, BETA, PENALTY };

static sal_status make_set(const sali_graph *graph, double beta, double penalty, sal_dtype dtype,
                           sal_model **out, sal_error *err)
{
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 2 * graph->edges);
    double *penalties = SALI_NEW_ARRAY(double, graph->edges);
    double *weights = SALI_NEW_ARRAY(double, graph->nodes);
    int64_t edges = pairs && penalties && weights ? sali_graph_pairs(graph, pairs) : -1;
    sal_tape *tape = sali_builtin_tape("selected", SAL_BINARY, graph->nodes, 0, dtype);
    sal_status status = edges >= 0 && tape ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        double largest = sali_graph_node_weights(graph, weights);
        for (int64_t e = 0; e < edges; e++) {
            penalties[e] = -penalty * largest;
        }
        sal_expr s = sal_state(tape);
        sal_expr value = sal_dot(sal_constant(tape, weights, SAL_SHAPE(graph->nodes)), s);
        if (edges > 0) {
            sal_expr w = sal_constant(tape, penalties, SAL_SHAPE(edges));
            value = sal_add(value, sal_edges(s, w, edges, pairs));
        }
        sal_expr f = sal_mul(sal_param(tape, "beta", SAL_SCALAR), value);
        status = sali_builtin_finish(tape, f, "independent-set", out, err);
        status = status ? status : sal_model_set_params(*out, "beta", &beta, err);
        status = status ? status
                        : sali_report_set_weight(*out, edges, pairs, weights, largest, true, err);
    } else {
        sal_tape_destroy(tape);
    }
    sali_free(pairs);
    sali_free(penalties);
    sali_free(weights);
    return status;
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_random_graph spec = { .nodes = (int64_t)values[NODES], .seed = (uint64_t)values[SEED] };
    sali_graph graph = { 0 };
    sal_status status =
        sali_random_graph_degree("independent-set", spec.nodes, values[DEGREE], &spec.p, err);
    status = status ? status : sali_random_graph_draw(&spec, &graph, err);
    status = status ? status : make_set(&graph, values[BETA], values[PENALTY], dtype, out, err);
    sali_graph_free(&graph);
    return status;
}

static sal_status make_from_file(const double *values, const sali_content *content, sal_dtype dtype,
                                 sal_model **out, sal_error *err)
{
    const sali_graph *graph = &content->graph;
    uint32_t unused = 1u << NODES | 1u << DEGREE | 1u << SEED;
    sal_status status = sali_builtin_refuse(&sali_builtin_independent_set, values, unused, err);
    status = status ? status : sali_graph_check("independent-set", graph, false, err);
    return status ? status : make_set(graph, values[BETA], values[PENALTY], dtype, out, err);
}

const sali_builtin sali_builtin_independent_set = {
    .name = "independent-set",
    .doc =
        "beta (sum_i w_i s_i - penalty W sum_ij s_i s_j) over a graph's edges, s in {0,1}^nodes, "
        "w the nodes' weights or 1, W the largest",
    .source = "Karp 1972; Lucas 2014 sec. 4.2 (penalty)",
    .dtype = SAL_F64,
    .parameters = { [NODES] = { "nodes", 500, 1, 1e7, true, "nodes of the random graph", NULL },
                    [DEGREE] = { "degree", 4, 0, 1e7, false, "mean number of neighbours", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random graph", NULL },
                    [BETA] = { "beta", 1, 0, 1e6, false, "inverse temperature", NULL },
                    [PENALTY] = { "penalty", 2, 0, 1e6, false,
                                  "cost of an edge within the set, in units of the largest weight; "
                                  "above 1 the best state is an independent set",
                                  NULL } },
    .make = make,
    .content = SALI_CONTENT_GRAPH,
    .make_from = make_from_file,
};
