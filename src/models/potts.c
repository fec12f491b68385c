/* Potts models: a lattice by its table of couplings, and dense couplings of the one-hot state. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/builtin.h"
#include "models/lattice.h"

/* ---- lattice */

enum { SIDE, STATES, THETA, CYCLIC };

/* 2 where both ends of an edge are in the same state: theta multiplies x'Ax, each pair twice. */
static double *equality_tables(int64_t edges, int64_t states)
{
    double *tables = SALI_NEW_ARRAY(double, edges *states *states);
    for (int64_t e = 0; tables && e < edges; e++) {
        for (int64_t k = 0; k < states; k++) {
            tables[(e * states + k) * states + k] = 2.0;
        }
    }
    return tables;
}

static sal_expr lattice_formula(sal_tape *tape, int64_t states, int64_t edges, const int64_t *pairs,
                                const double *tables, const int64_t *begin)
{
    sal_expr theta = sal_param(tape, "theta", SAL_SCALAR);
    if (edges == 0) { /* one site: theta counts nothing */
        return sal_mul(theta, sal_scale(sal_sum(sal_state(tape)), 0.0));
    }
    sal_expr T = sal_constant(tape, tables, SAL_SHAPE(edges * states * states));
    return sal_table(tape, sal_mul(theta, T), edges, begin, pairs);
}

static sal_status make_lattice(const double *values, sal_dtype dtype, sal_model **out,
                               sal_error *err)
{
    int64_t side = (int64_t)values[SIDE], states = (int64_t)values[STATES];
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 4 * side * side);
    int64_t *begin = SALI_NEW_ARRAY(int64_t, 2 * side * side + 1);
    int64_t edges = pairs ? sali_lattice_edges(side, values[CYCLIC] != 0, pairs) : 0;
    double *tables = equality_tables(edges, states);
    sal_tape *tape = sali_builtin_tape("site", SAL_CATEGORICAL, side * side, states, dtype);
    sal_status status = SAL_OK;
    if (!pairs || !begin || !tables || !tape) {
        sal_tape_destroy(tape);
        status = sali_fail_memory(err);
        goto done;
    }
    for (int64_t e = 0; e <= edges; e++) {
        begin[e] = 2 * e;
    }
    status = sali_builtin_finish(tape, lattice_formula(tape, states, edges, pairs, tables, begin),
                                 "potts", out, err);
    if (status == SAL_OK) {
        status = sal_model_set_params(*out, "theta", &values[THETA], err);
    }
done:
    sali_free(pairs);
    sali_free(begin);
    sali_free(tables);
    return status;
}

const sali_builtin sali_builtin_potts = {
    .name = "potts",
    .doc = "theta sum_ij A_ij [s_i = s_j], side x side sites of `states` labels, A the lattice's "
           "adjacency",
    .source = "Potts 1952; van den Hoek's thesis sec. 2.2.3; Xiang et al. 2023 supplement 3.3",
    .dtype = SAL_F32,
    .parameters = { [SIDE] = { "side", 4, 1, 2000, true, "sites along one side", NULL },
                    [STATES] = { "states", 3, 1, 256, true, "labels of a site", NULL },
                    [THETA] = { "theta", 0.5, -1e6, 1e6, false, "coupling; an edge counts twice",
                                NULL },
                    [CYCLIC] = { "cyclic", 1, 0, 1, true, "1: a torus, 0: free borders", NULL } },
    .make = make_lattice,
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
    .source = "Grathwohl et al. 2021 eq. 13",
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
