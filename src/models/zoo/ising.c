/* SPDX-License-Identifier: MIT */
/* Ising models: a lattice, a graph from a file, a random graph, and dense couplings. */
#include "core/error.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/making.h"

/* ---- lists of edges */

/* from [n] times a factor, in borrowed memory; NULL if `from` is NULL or memory runs out. */
static const double *scaled(sali_making *m, int64_t n, const double *from, double factor)
{
    double *to = from ? SALI_BORROW(m, double, n) : NULL;
    for (int64_t k = 0; to && k < n; k++) {
        to[k] = factor * from[k];
    }
    return to;
}

/* Record beta (theta sum_e w_e s_i(e) s_j(e) + sum_i (h_i + bias) s_i) on a graph. Each edge counts
 * `each_edge` times (2 in s'As), with weight 1 if the graph has no weights. The numbers of an
 * energy, and its constant, change their sign. */
static sal_status on_graph(sali_making *m, const sali_graph *graph, double each_edge, double theta,
                           double bias, double beta, sal_expr *f)
{
    int64_t n = graph->nodes, edges = graph->edges;
    double sign = graph->vartype == SALI_VARTYPE_NONE ? 1 : -1;
    const double *weights = graph->weights ? scaled(m, edges, graph->weights, sign * each_edge)
                                           : sali_making_repeat(m, edges, each_edge);
    const double *h = scaled(m, n, graph->node_weights, sign * beta);
    if (!weights || (graph->node_weights && !h)) {
        return sali_fail_memory(m->err);
    }
    bool bits = graph->vartype == SALI_VARTYPE_BINARY;
    sal_expr s = sali_making_state(m, bits ? "bit" : "spin", bits ? SAL_BINARY : SAL_SPIN, n, 0);
    *f = sal_mul(sali_making_number(m, "bias", beta * bias), sal_sum(s));
    if (h) {
        *f = sal_add(*f, sal_dot(sal_constant(m->tape, h, SAL_SHAPE(n)), s));
    }
    if (edges > 0) {
        sal_expr w = sal_constant(m->tape, weights, SAL_SHAPE(edges));
        w = sal_mul(sali_making_number(m, "theta", beta * theta), w);
        *f = sal_add(sal_edges(s, w, edges, graph->pairs), *f);
    }
    if (graph->offset != 0) {
        *f = sal_add(*f, sal_scalar(m->tape, -beta * graph->offset));
    }
    return SAL_OK;
}

/* ---- lattice, or a graph from a file */

enum { SIDE, THETA, BIAS, CYCLIC, BETA, VARTYPE };

static const char *const vartype_choices[] = { "file", "spin", "binary", NULL };

/* Record f of the graph of a file. For an energy theta is 1 and an edge counts once. */
static sal_status of_file(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    const sali_graph *graph = &m->content->graph;
    bool energies = graph->vartype != SALI_VARTYPE_NONE;
    sal_status status =
        energies ? sali_builtin_refuse(m->builtin, values, 1u << THETA, "this file", m->err)
                 : SAL_OK;
    status = status ? status : sali_graph_check("ising", graph, true, m->err);
    return status ? status
                  : on_graph(m, graph, energies ? 1 : 2, energies ? 1 : values[THETA], values[BIAS],
                             values[BETA], f);
}

static sal_status ising(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    const sali_graph *lattice;
    if (m->content) {
        return of_file(m, f);
    }
    sal_status status = sali_builtin_refuse(m->builtin, values, 1u << VARTYPE, "a lattice", m->err);
    status = status ? status
                    : sali_making_lattice(m, (int64_t)values[SIDE], values[CYCLIC] != 0, &lattice);
    return status ? status : on_graph(m, lattice, 2, values[THETA], values[BIAS], values[BETA], f);
}

const sali_builtin sali_builtin_ising = {
    .name = "ising",
    .doc =
        "beta (theta s'As + bias sum s), s in {-1,+1}^(side x side), A the lattice's adjacency; "
        "of a graph in a file: A its weighted adjacency, plus beta h's with the nodes' weights h; "
        "of energies E of spin or binary variables: beta (-E(s) + bias sum s)",
    .source = "Grathwohl et al. 2021 eq. 10; Rhodes & Gutmann 2022 sec. 5.3, as run (s'Js)",
    .dtype = SAL_F32,
    .settings = { [SIDE] = { "side", 10, 1, 10000, true, "spins along one side", NULL },
                  [THETA] = SALI_THETA(0.2),
                  [BIAS] = { "bias", 0, -1e6, 1e6, false, "linear term of every spin", NULL },
                  [CYCLIC] = SALI_CYCLIC(1),
                  [BETA] = { "beta", 1, 0, 1e6, false, "multiplies all of f", NULL },
                  [VARTYPE] = { "vartype", SALI_VARTYPE_NONE, 0, 2, true,
                                "what the numbers of a graph in a file are: as the file says; an "
                                "energy of spins; of binary variables",
                                vartype_choices } },
    .formula = ising,
    .content = SALI_CONTENT_GRAPH,
    .unused = 1u << SIDE | 1u << CYCLIC,
};

/* ---- a random graph */

enum {
    ER_NODES,
    ER_DEGREE,
    ER_THETA,
    ER_WEIGHTS,
    ER_BIAS,
    ER_SEED,
    DENSITY,
    FAMILY,
    MOST,
    GROUP,
    TIGHTNESS
};

static sal_status ising_er(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    const sali_graph *graph;
    sali_random_graph spec = { .nodes = (int64_t)values[ER_NODES],
                               .weights = (sali_edge_weights)values[ER_WEIGHTS] };
    sal_status status = sali_making_graph(m, spec, values[ER_DEGREE], &graph);
    return status ? status : on_graph(m, graph, 2, values[ER_THETA], values[ER_BIAS], 1, f);
}

const sali_builtin sali_builtin_ising_er = {
    .name = "ising-er",
    .doc =
        "theta s'As + bias sum s, s in {-1,+1}^nodes, A the weighted adjacency of a random graph "
        "with `degree` neighbours a node on average",
    .source = "Grathwohl et al. 2021 eq. 10, sec. 7.1 (sizes and weights are not in the paper)",
    .dtype = SAL_F32,
    .settings = { [ER_NODES] = { "nodes", 100, 1, 1e7, true, "number of spins", NULL },
                  [ER_DEGREE] = SALI_DEGREE,
                  [ER_THETA] = SALI_THETA(0.2),
                  [ER_WEIGHTS] = SALI_EDGE_WEIGHTS,
                  [ER_BIAS] = { "bias", 0, -1e6, 1e6, false, "linear term of every spin", NULL },
                  [ER_SEED] = SALI_SEED("the random graph"),
                  [DENSITY] = SALI_DENSITY,
                  [FAMILY] = SALI_GRAPH_FAMILY,
                  [MOST] = SALI_GRAPH_MOST,
                  [GROUP] = SALI_GRAPH_GROUP,
                  [TIGHTNESS] = SALI_GRAPH_TIGHTNESS },
    .formula = ising_er,
};

/* ---- dense */

enum { DIM, SCALE, SEED };

static sal_status ising_dense(sali_making *m, sal_expr *f)
{
    int64_t dim = (int64_t)m->values[DIM];
    sal_expr s = sali_making_state(m, "spin", SAL_SPIN, dim, 0);
    sal_expr J = sali_making_normal(m, "J", SAL_SHAPE(dim, dim), m->values[SCALE], 0);
    *f = sal_add(sal_scale(sal_quad(s, J), 0.5),
                 sal_dot(sal_param(m->tape, "b", SAL_SHAPE(dim)), s));
    return SAL_OK;
}

const sali_builtin sali_builtin_ising_dense = {
    .name = "ising-dense",
    .doc = "s'Js / 2 + b's, s in {-1,+1}^dim, J random normal (symmetrised), b = 0",
    .source = "Rhodes & Gutmann 2022 eq. 23 (what they fit is s'Js, without the 1/2)",
    .dtype = SAL_F32,
    .settings = { [DIM] = { "dim", 100, 1, 20000, true, "number of spins", NULL },
                  [SCALE] = SALI_DEVIATION(0.1, "J's entries"),
                  [SEED] = SALI_SEED("the random J") },
    .formula = ising_dense,
};
