/* Ising models: a lattice, a graph from a file, a random graph, and dense couplings. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/lattice.h"
#include "models/zoo/random_graph.h"

/* ---- lists of edges */

/* f = theta sum_e w_e s_i(e) s_j(e) + sum_i (h_i + bias) s_i. */
typedef struct ising {
    sal_kind kind; /* of the n variables */
    int64_t n, edges;
    const int64_t *pairs;  /* [edges x 2] */
    const double *weights; /* [edges] */
    const double *h;       /* [n], or NULL: 0 */
    double theta, bias;
} ising;

static sal_status make_sparse(const ising *m, sal_dtype dtype, sal_model **out, sal_error *err)
{
    const char *block = m->kind == SAL_SPIN ? "spin" : "bit";
    sal_tape *tape = sali_builtin_tape(block, m->kind, m->n, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr s = sal_state(tape);
    sal_expr f = sal_mul(sal_param(tape, "bias", SAL_SCALAR), sal_sum(s));
    if (m->h) {
        f = sal_add(f, sal_dot(sal_constant(tape, m->h, SAL_SHAPE(m->n)), s));
    }
    if (m->edges > 0) {
        sal_expr w = sal_mul(sal_param(tape, "theta", SAL_SCALAR),
                             sal_constant(tape, m->weights, SAL_SHAPE(m->edges)));
        f = sal_add(sal_edges(s, w, m->edges, m->pairs), f);
    }
    sal_status status = sali_builtin_finish(tape, f, "ising", out, err);
    if (status == SAL_OK && m->edges > 0) {
        status = sal_model_set_params(*out, "theta", &m->theta, err);
    }
    return status ? status : sal_model_set_params(*out, "bias", &m->bias, err);
}

static double *scaled(int64_t n, const double *from, double factor)
{
    double *to = SALI_NEW_ARRAY(double, n);
    for (int64_t k = 0; to && k < n; k++) {
        to[k] = factor * from[k];
    }
    return to;
}

/* ---- lattice, or a graph from a file */

enum { SIDE, THETA, BIAS, CYCLIC, BETA };

static sal_status make_lattice(const double *values, sal_dtype dtype, sal_model **out,
                               sal_error *err)
{
    int64_t side = (int64_t)values[SIDE];
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 4 * side * side);
    double *weights = SALI_NEW_ARRAY(double, 2 * side * side);
    sal_status status = pairs && weights ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        ising m = { .kind = SAL_SPIN,
                    .n = side * side,
                    .edges = sali_lattice_edges(side, values[CYCLIC] != 0, pairs),
                    .pairs = pairs,
                    .weights = weights,
                    .theta = values[BETA] * values[THETA],
                    .bias = values[BETA] * values[BIAS] };
        for (int64_t e = 0; e < m.edges; e++) {
            weights[e] = 2.0; /* theta multiplies s'As: each neighbour pair twice */
        }
        status = make_sparse(&m, dtype, out, err);
    }
    sali_free(pairs);
    sali_free(weights);
    return status;
}

/* beta times m's theta and bias on a graph, whose edges count `each_edge` times: 2 in s'As.
 * Energies change their sign. */
static sal_status make_graph(const sali_graph *graph, ising m, double each_edge, double beta,
                             sal_dtype dtype, sal_model **out, sal_error *err)
{
    double sign = graph->vartype == SALI_VARTYPE_NONE ? 1 : -1;
    double *weights = scaled(graph->edges, graph->weights, sign * each_edge);
    double *h = graph->node_weights ? scaled(graph->nodes, graph->node_weights, sign * beta) : NULL;
    bool ok = weights && (h || !graph->node_weights);
    sal_status status = ok ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        m.kind = graph->vartype == SALI_VARTYPE_BINARY ? SAL_BINARY : SAL_SPIN;
        m.n = graph->nodes;
        m.edges = graph->edges;
        m.pairs = graph->pairs;
        m.weights = weights;
        m.h = h;
        m.theta *= beta;
        m.bias *= beta;
        status = make_sparse(&m, dtype, out, err);
    }
    sali_free(weights);
    sali_free(h);
    return status;
}

/* Energies are taken as they are: there theta is 1, and an edge counts once. */
static sal_status make_from_file(const double *values, const sali_content *content, sal_dtype dtype,
                                 sal_model **out, sal_error *err)
{
    const sali_graph *graph = &content->graph;
    bool energies = graph->vartype != SALI_VARTYPE_NONE;
    uint32_t unused = 1u << SIDE | 1u << CYCLIC | (energies ? 1u << THETA : 0);
    sal_status status = sali_builtin_refuse(&sali_builtin_ising, values, unused, err);
    status = status ? status : sali_graph_check("ising", graph, true, err);
    ising m = { .theta = energies ? 1 : values[THETA], .bias = values[BIAS] };
    return status ? status : make_graph(graph, m, energies ? 1 : 2, values[BETA], dtype, out, err);
}

const sali_builtin sali_builtin_ising = {
    .name = "ising",
    .doc =
        "beta (theta s'As + bias sum s), s in {-1,+1}^(side x side), A the lattice's adjacency; "
        "of a graph in a file: A its weighted adjacency, plus beta h's with the nodes' weights h; "
        "of energies E of spin or binary variables: beta (-E(s) + bias sum s)",
    .source = "Grathwohl et al. 2021 eq. 10; Rhodes & Gutmann 2022 sec. 5.3, as run (s'Js)",
    .dtype = SAL_F32,
    .parameters = { [SIDE] = { "side", 10, 1, 10000, true, "spins along one side", NULL },
                    [THETA] = { "theta", 0.2, -1e6, 1e6, false, "coupling; an edge counts twice",
                                NULL },
                    [BIAS] = { "bias", 0, -1e6, 1e6, false, "linear term of every spin", NULL },
                    [CYCLIC] = { "cyclic", 1, 0, 1, true, "1: a torus, 0: free borders", NULL },
                    [BETA] = { "beta", 1, 0, 1e6, false, "multiplies all of f", NULL } },
    .make = make_lattice,
    .content = SALI_CONTENT_GRAPH,
    .make_from = make_from_file,
};

/* ---- a random graph */

enum { ER_NODES, ER_DEGREE, ER_THETA, ER_WEIGHTS, ER_BIAS, ER_SEED };

static sal_status make_er(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_random_graph spec = { .nodes = (int64_t)values[ER_NODES],
                               .weights = (sali_edge_weights)values[ER_WEIGHTS],
                               .seed = (uint64_t)values[ER_SEED] };
    sali_graph graph = { 0 };
    sal_status status =
        sali_random_graph_degree("ising-er", spec.nodes, values[ER_DEGREE], &spec.p, err);
    status = status ? status : sali_random_graph_draw(&spec, &graph, err);
    if (status == SAL_OK) {
        ising m = { .theta = values[ER_THETA], .bias = values[ER_BIAS] };
        status = make_graph(&graph, m, 2, 1, dtype, out, err);
    }
    sali_graph_free(&graph);
    return status;
}

const sali_builtin sali_builtin_ising_er = {
    .name = "ising-er",
    .doc =
        "theta s'As + bias sum s, s in {-1,+1}^nodes, A the weighted adjacency of a random graph "
        "with `degree` neighbours a node on average",
    .source = "Grathwohl et al. 2021 eq. 10, sec. 7.1 (sizes and weights are not in the paper)",
    .dtype = SAL_F32,
    .parameters = { [ER_NODES] = { "nodes", 100, 1, 1e7, true, "number of spins", NULL },
                    [ER_DEGREE] = { "degree", 4, 0, 1e7, false, "mean number of neighbours", NULL },
                    [ER_THETA] = { "theta", 0.2, -1e6, 1e6, false, "coupling; an edge counts twice",
                                   NULL },
                    [ER_WEIGHTS] = { "weights", SALI_WEIGHTS_ONE, 0, 2, true,
                                     "1, or -1 or 1 at random, or standard normal",
                                     sali_edge_weights_choices },
                    [ER_BIAS] = { "bias", 0, -1e6, 1e6, false, "linear term of every spin", NULL },
                    [ER_SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random graph",
                                  NULL } },
    .make = make_er,
};

/* ---- dense */

enum { DIM, SCALE, SEED };

static sal_status make_dense(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t dim = (int64_t)values[DIM];
    sal_tape *tape = sali_builtin_tape("spin", SAL_SPIN, dim, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr s = sal_state(tape), J = sal_param(tape, "J", SAL_SHAPE(dim, dim));
    sal_expr f =
        sal_add(sal_scale(sal_quad(s, J), 0.5), sal_dot(sal_param(tape, "b", SAL_SHAPE(dim)), s));
    sal_status status = sali_builtin_finish(tape, f, "ising-dense", out, err);
    if (status == SAL_OK) {
        status = sali_builtin_randomise(*out, "J", values[SCALE], (uint64_t)values[SEED], 0, err);
    }
    return status;
}

const sali_builtin sali_builtin_ising_dense = {
    .name = "ising-dense",
    .doc = "s'Js / 2 + b's, s in {-1,+1}^dim, J random normal (symmetrised), b = 0",
    .source = "Rhodes & Gutmann 2022 eq. 23 (what they fit is s'Js, without the 1/2)",
    .dtype = SAL_F32,
    .parameters = { [DIM] = { "dim", 100, 1, 20000, true, "number of spins", NULL },
                    [SCALE] = { "scale", 0.1, 0, 1e6, false, "standard deviation of J's entries",
                                NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random J", NULL } },
    .make = make_dense,
};
