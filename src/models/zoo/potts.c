/* Potts models: a lattice or a graph by tables of equal labels, and dense couplings of the one-hot
 * state. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/lattice.h"

/* ---- lattice, or a graph from a file */

enum { SIDE, STATES, THETA, CYCLIC };

static sal_status make_sparse(const sali_graph *graph, const double *values, sal_dtype dtype,
                              sal_model **out, sal_error *err)
{
    int64_t states = (int64_t)values[STATES];
    sal_tape *tape = sali_builtin_tape("site", SAL_CATEGORICAL, graph->nodes, states, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr f, theta = sal_param(tape, "theta", SAL_SCALAR);
    sal_expr each = sal_scale(theta, 2.0); /* theta multiplies x'Ax: every pair twice */
    sal_status status = sali_graph_equal(each, states, graph, &f, err);
    if (status != SAL_OK) {
        sal_tape_destroy(tape);
        return status;
    }
    status = sali_builtin_finish(tape, f, "potts", out, err);
    return status ? status : sal_model_set_params(*out, "theta", &values[THETA], err);
}

static sal_status make_lattice(const double *values, sal_dtype dtype, sal_model **out,
                               sal_error *err)
{
    sali_graph lattice;
    sal_status status =
        sali_lattice_graph((int64_t)values[SIDE], values[CYCLIC] != 0, &lattice, err);
    status = status ? status : make_sparse(&lattice, values, dtype, out, err);
    sali_graph_free(&lattice);
    return status;
}

static sal_status make_from_file(const double *values, const sali_content *content, sal_dtype dtype,
                                 sal_model **out, sal_error *err)
{
    const sali_graph *graph = &content->graph;
    sal_status status =
        sali_builtin_refuse(&sali_builtin_potts, values, 1u << SIDE | 1u << CYCLIC, err);
    status = status ? status : sali_graph_check("potts", graph, false, err);
    return status ? status : make_sparse(graph, values, dtype, out, err);
}

const sali_builtin sali_builtin_potts = {
    .name = "potts",
    .doc = "theta sum_ij A_ij [s_i = s_j], side x side sites of `states` labels, A the lattice's "
           "adjacency, or the weighted one of a graph in a file",
    .source = "Potts 1952; van den Hoek's thesis sec. 2.2.3; Xiang et al. 2023 supplement 3.3",
    .dtype = SAL_F32,
    .parameters = { [SIDE] = { "side", 4, 1, 2000, true, "sites along one side", NULL },
                    [STATES] = { "states", 3, 1, 256, true, "labels of a site", NULL },
                    [THETA] = { "theta", 0.5, -1e6, 1e6, false, "coupling; an edge counts twice",
                                NULL },
                    [CYCLIC] = { "cyclic", 1, 0, 1, true, "1: a torus, 0: free borders", NULL } },
    .make = make_lattice,
    .content = SALI_CONTENT_GRAPH,
    .make_from = make_from_file,
};

/* ---- dense */

enum { DIM, DENSE_STATES, SCALE, FIELD, SEED };

static sal_status make_dense(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t dim = (int64_t)values[DIM], states = (int64_t)values[DENSE_STATES], N = dim * states;
    uint64_t seed = (uint64_t)values[SEED];
    if (N > 20000) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "potts-dense: dim times states is %lld; expected 20000 at most",
                         (long long)N);
    }
    sal_tape *tape = sali_builtin_tape("site", SAL_CATEGORICAL, dim, states, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr x = sal_state(tape), J = sal_param(tape, "J", SAL_SHAPE(N, N));
    sal_expr f =
        sal_add(sal_scale(sal_quad(x, J), 0.5), sal_dot(sal_param(tape, "h", SAL_SHAPE(N)), x));
    sal_status status = sali_builtin_finish(tape, f, "potts-dense", out, err);
    if (status == SAL_OK) {
        status = sali_builtin_randomise(*out, "J", values[SCALE], seed, 0, err);
    }
    if (status == SAL_OK) {
        status = sali_builtin_randomise(*out, "h", values[FIELD], seed, 1, err);
    }
    return status;
}

const sali_builtin sali_builtin_potts_dense = {
    .name = "potts-dense",
    .doc = "x'Jx / 2 + h'x, x the one-hot of `dim` sites of `states` labels, J random normal "
           "(symmetrised), h random normal",
    .source = "Grathwohl et al. 2021 eq. 13, with a 1/2: there a pair counts twice, here once",
    .dtype = SAL_F32,
    .parameters = { [DIM] = { "dim", 48, 1, 20000, true, "number of sites", NULL },
                    [DENSE_STATES] = { "states", 20, 1, 256, true, "labels of a site", NULL },
                    [SCALE] = { "scale", 0.05, 0, 1e6, false, "standard deviation of J's entries",
                                NULL },
                    [FIELD] = { "field", 0.1, 0, 1e6, false, "standard deviation of h's entries",
                                NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of J and h", NULL } },
    .make = make_dense,
};
