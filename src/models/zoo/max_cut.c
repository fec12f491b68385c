/* Maximum cut: f is the weight of the edges between the nodes at 0 and those at 1. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/random_graph.h"
#include "models/statistic.h"

enum { NODES, DEGREE, WEIGHTS, SEED, BETA };

/* [s_i != s_j] = s_i + s_j - 2 s_i s_j: degrees [nodes] and -2 w [edges]. */
static void make_terms(const sali_graph *graph, double *degrees, double *couplings)
{
    for (int64_t e = 0; e < graph->edges; e++) {
        degrees[graph->pairs[2 * e]] += graph->weights[e];
        degrees[graph->pairs[2 * e + 1]] += graph->weights[e];
        couplings[e] = -2 * graph->weights[e];
    }
}

/* ---- the cut itself, whatever beta is */

typedef struct cut_edges {
    int64_t edges, *pairs;
    double *weights;
} cut_edges;

static void destroy_edges(void *data)
{
    cut_edges *cut = data;
    if (cut) {
        sali_free(cut->pairs);
        sali_free(cut->weights);
        sali_free(cut);
    }
}

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

static const sali_statistic cut_statistic = { "cut", cut_of, destroy_edges };

static sal_status report_cut(const sali_graph *graph, sal_model *model, sal_error *err)
{
    cut_edges *cut = SALI_NEW(cut_edges);
    if (!cut) {
        return sali_fail_memory(err);
    }
    cut->edges = graph->edges;
    cut->pairs = sali_memdup(graph->pairs, 2 * graph->edges, sizeof *graph->pairs);
    cut->weights = sali_memdup(graph->weights, graph->edges, sizeof *graph->weights);
    if (!cut->pairs || !cut->weights) {
        destroy_edges(cut);
        return sali_fail_memory(err);
    }
    sali_model_set_statistic(model, &cut_statistic, cut);
    return SAL_OK;
}

/* ---- the model */

static sal_status make_cut(const sali_graph *graph, double beta, sal_dtype dtype, sal_model **out,
                           sal_error *err)
{
    double *degrees = SALI_NEW_ARRAY(double, graph->nodes);
    double *couplings = SALI_NEW_ARRAY(double, graph->edges);
    sal_tape *tape = sali_builtin_tape("side", SAL_BINARY, graph->nodes, 0, dtype);
    sal_status status = SAL_OK;
    if (!degrees || !couplings || !tape) {
        sal_tape_destroy(tape);
        status = sali_fail_memory(err);
        goto done;
    }
    make_terms(graph, degrees, couplings);
    sal_expr s = sal_state(tape);
    sal_expr cut = sal_dot(sal_constant(tape, degrees, SAL_SHAPE(graph->nodes)), s);
    if (graph->edges > 0) {
        sal_expr w = sal_constant(tape, couplings, SAL_SHAPE(graph->edges));
        cut = sal_add(cut, sal_edges(s, w, graph->edges, graph->pairs));
    }
    sal_expr f = sal_mul(sal_param(tape, "beta", SAL_SCALAR), cut);
    status = sali_builtin_finish(tape, f, "max-cut", out, err);
    status = status ? status : sal_model_set_params(*out, "beta", &beta, err);
    status = status ? status : report_cut(graph, *out, err);
done:
    sali_free(degrees);
    sali_free(couplings);
    return status;
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_random_graph spec = { .nodes = (int64_t)values[NODES],
                               .weights = (sali_edge_weights)values[WEIGHTS],
                               .seed = (uint64_t)values[SEED] };
    sali_graph graph = { 0 };
    sal_status status =
        sali_random_graph_degree("max-cut", spec.nodes, values[DEGREE], &spec.p, err);
    status = status ? status : sali_random_graph_draw(&spec, &graph, err);
    status = status ? status : make_cut(&graph, values[BETA], dtype, out, err);
    sali_graph_free(&graph);
    return status;
}

static sal_status make_from_file(const double *values, const sali_content *content, sal_dtype dtype,
                                 sal_model **out, sal_error *err)
{
    uint32_t unused = 1u << NODES | 1u << DEGREE | 1u << WEIGHTS | 1u << SEED;
    sal_status status = sali_builtin_refuse(&sali_builtin_max_cut, values, unused, err);
    status = status ? status : sali_graph_check("max-cut", &content->graph, false, err);
    return status ? status : make_cut(&content->graph, values[BETA], dtype, out, err);
}

const sali_builtin sali_builtin_max_cut = {
    .name = "max-cut",
    .doc = "beta times the cut: sum_ij w_ij [s_i != s_j] over a graph's edges, s in {0,1}^nodes",
    .source = "Karp 1972; random graphs as in the G-set of Helmberg & Rendl 2000",
    .dtype = SAL_F64,
    .parameters = { [NODES] = { "nodes", 800, 1, 1e7, true, "nodes of the random graph", NULL },
                    [DEGREE] = { "degree", 4, 0, 1e7, false, "mean number of neighbours", NULL },
                    [WEIGHTS] = { "weights", SALI_WEIGHTS_ONE, 0, 2, true,
                                  "1, or -1 or 1 at random, or standard normal",
                                  sali_edge_weights_choices },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random graph", NULL },
                    [BETA] = { "beta", 1, 0, 1e6, false, "inverse temperature", NULL } },
    .make = make,
    .content = SALI_CONTENT_GRAPH,
    .make_from = make_from_file,
};
