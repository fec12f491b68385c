/* SPDX-License-Identifier: MIT */
/* Potts models: a lattice or a graph by tables of equal labels, and dense couplings of the one-hot
 * state. */
#include "core/error.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/making.h"

/* ---- lattice, or a graph from a file */

enum { SIDE, STATES, THETA, CYCLIC };

static sal_status potts(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    int64_t states = (int64_t)values[STATES];
    const sali_graph *graph;
    sal_status status = sali_making_lattice(m, (int64_t)values[SIDE], values[CYCLIC] != 0, &graph);
    if (status != SAL_OK) {
        return status;
    }
    sali_making_state(m, "site", SAL_CATEGORICAL, graph->nodes, states);
    sal_expr theta = sali_making_number(m, "theta", values[THETA]);
    /* theta multiplies x'Ax: every pair twice */
    return sali_graph_equal(sal_scale(theta, 2.0), states, graph, f, m->err);
}

const sali_builtin sali_builtin_potts = {
    .name = "potts",
    .doc = "theta sum_ij A_ij [s_i = s_j], side x side sites of `states` labels, A the lattice's "
           "adjacency, or the weighted one of a graph in a file",
    .source = "Potts 1952; van den Hoek's thesis sec. 2.2.3; Xiang et al. 2023 supplement 3.3",
    .dtype = SAL_F32,
    .settings = { [SIDE] = { "side", 4, 1, 2000, true, "sites along one side", NULL },
                  [STATES] = { "states", 3, 1, 256, true, "labels of a site", NULL },
                  [THETA] = SALI_THETA(0.5),
                  [CYCLIC] = SALI_CYCLIC(1) },
    .formula = potts,
    .content = SALI_CONTENT_GRAPH,
    .unused = 1u << SIDE | 1u << CYCLIC,
};

/* ---- dense */

enum { DIM, DENSE_STATES, SCALE, FIELD, SEED };

static sal_status potts_dense(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    int64_t dim = (int64_t)values[DIM], states = (int64_t)values[DENSE_STATES], N = dim * states;
    if (N > 20000) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "potts-dense: dim times states is %lld; expected 20000 at most",
                         (long long)N);
    }
    sal_expr x = sali_making_state(m, "site", SAL_CATEGORICAL, dim, states);
    sal_expr J = sali_making_normal(m, "J", SAL_SHAPE(N, N), values[SCALE], 0);
    *f = sal_add(sal_scale(sal_quad(x, J), 0.5),
                 sal_dot(sali_making_normal(m, "h", SAL_SHAPE(N), values[FIELD], 1), x));
    return SAL_OK;
}

const sali_builtin sali_builtin_potts_dense = {
    .name = "potts-dense",
    .doc = "x'Jx / 2 + h'x, x the one-hot of `dim` sites of `states` labels, J random normal "
           "(symmetrised), h random normal",
    .source = "Grathwohl et al. 2021 eq. 13, with a 1/2: there a pair counts twice, here once",
    .dtype = SAL_F32,
    .settings = { [DIM] = { "dim", 48, 1, 20000, true, "number of sites", NULL },
                  [DENSE_STATES] = { "states", 20, 1, 256, true, "labels of a site", NULL },
                  [SCALE] = SALI_DEVIATION(0.05, "J's entries"),
                  [FIELD] = { "field", 0.1, 0, 1e6, false, "standard deviation of h's entries",
                              NULL },
                  [SEED] = SALI_SEED("J and h") },
    .formula = potts_dense,
};
